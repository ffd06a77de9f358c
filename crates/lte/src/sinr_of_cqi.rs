//! The SINR for a recorded CQI.

use crate::config::{CarrierConfig, RanConfig};
use crate::phy::link_adaptation::LinkAdaptation;
use crate::phy::tables::CqiTable;

/// The SINR, as a ratio, that a reported CQI stands for: the middle, in decibels, between what it
/// asks for and what the next one does.
pub(crate) struct SinrOfCqi([f32; 16]);

impl SinrOfCqi {
    pub(crate) fn new(config: &RanConfig) -> Self {
        let table = if config.qam256 {
            CqiTable::Qam256
        } else {
            CqiTable::Qam64
        };
        let n_rb = config.carrier.first().map_or(100, CarrierConfig::n_rb);
        let adaptation = LinkAdaptation::new(
            config.adaptation.rule,
            table,
            n_rb,
            config.ports(),
            if config.layers() == 4 { 2 } else { 1 },
            config.adaptation.target_bler,
        );
        let asks = |cqi: u8| adaptation.sinr(cqi);
        let middle = |cqi: u8| (asks(cqi) * asks(cqi.saturating_add(1).min(15))).sqrt();
        Self(std::array::from_fn(|cqi| middle(cqi as u8)))
    }

    pub(crate) fn ratio(&self, cqi: f64) -> f32 {
        self.0[(cqi.round() as usize).min(15)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sinr_that_stands_for_a_cqi_is_reported_as_it() {
        for qam256 in [false, true] {
            let config = RanConfig {
                qam256,
                ..RanConfig::default()
            };
            let sinr = SinrOfCqi::new(&config);
            let table = if qam256 {
                CqiTable::Qam256
            } else {
                CqiTable::Qam64
            };
            let adaptation = LinkAdaptation::new(
                config.adaptation.rule,
                table,
                config.carrier[0].n_rb(),
                config.ports(),
                1,
                config.adaptation.target_bler,
            );
            for cqi in 0..=15 {
                assert_eq!(adaptation.cqi(&[sinr.ratio(f64::from(cqi))]), cqi);
            }
        }
    }
}
