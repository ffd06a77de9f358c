//! Channel quality reports.

use crate::mac::scheduler::MAX_GROUPS;
use crate::phy::link_adaptation::LinkAdaptation;

/// A channel quality report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    /// From when on the scheduler has it.
    pub(crate) known_at: u64,
    /// Wideband CQI; 0 is "out of range".
    pub(crate) cqi: u8,
    /// Groups have reports of their own.
    pub(crate) sub_band: bool,
    /// CQI of each group; as the wideband one without sub-band reports.
    pub(crate) groups: [u8; MAX_GROUPS],
}

impl Report {
    pub(super) fn of(sinr: &[f32], adaptation: &LinkAdaptation, sub_band: bool) -> Self {
        let cqi = adaptation.cqi(sinr);
        let mut groups = [cqi; MAX_GROUPS];
        if sub_band {
            // A flat channel has one SINR for all groups.
            if let [flat] = sinr {
                groups.fill(adaptation.step_at(*flat));
            }
            for (group, &sinr) in groups.iter_mut().zip(sinr) {
                *group = adaptation.step_at(sinr);
            }
        }
        Self {
            known_at: 0,
            cqi,
            sub_band: sub_band && sinr.len() > 1,
            groups,
        }
    }
}
