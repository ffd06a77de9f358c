//! The rate sample, as this version reads it.

use crate::congestion::Ack;
use crate::congestion::bbr::bandwidth::Bandwidth;

/// The rate sample of one acknowledgment, as this version reads it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) bandwidth: Bandwidth,
    /// The sample is valid and something was delivered.
    pub(super) is_valid: bool,
    pub(super) lost_pkts: u64,
    pub(super) tx_in_flight_pkts: u32,
    pub(super) delivered_pkts: u32,
    pub(super) delivered_ce_pkts: u32,
    pub(super) is_app_limited: bool,
}

impl Sample {
    pub(super) fn of(ack: &Ack) -> Self {
        let rate = &ack.rate;
        let has_interval = rate.interval_us > 0;
        Self {
            bandwidth: if has_interval {
                Bandwidth::at_least(rate.delivered_pkts.into(), rate.interval_us.into())
            } else {
                Bandwidth::default()
            },
            is_valid: has_interval && ack.acked_pkts > 0,
            lost_pkts: if rate.tx_in_flight_pkts > 0 {
                ack.lost_pkts.saturating_sub(rate.prior_lost_pkts)
            } else {
                0
            },
            tx_in_flight_pkts: rate.tx_in_flight_pkts,
            delivered_pkts: rate.delivered_pkts,
            delivered_ce_pkts: rate.delivered_ce_pkts,
            is_app_limited: rate.is_app_limited,
        }
    }
}
