//! Channel quality reports.

use crate::mac::scheduler::MAX_GROUPS;
use crate::phy::link_adaptation::LinkAdaptation;
use crate::phy::mutual_information::MutualInformation;
use crate::phy::tables::Modulation;

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
    /// The report on a channel with these SINRs, and the mean information of 256QAM over it;
    /// `per_group` values belong to a group.
    pub(super) fn of(
        sinr: &[f32],
        per_group: usize,
        adaptation: &LinkAdaptation,
        sub_band: bool,
    ) -> (Self, f32) {
        if per_group > 1 {
            return Self::of_blocks(sinr, per_group, adaptation, sub_band);
        }
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
        let report = Self {
            known_at: 0,
            cqi,
            sub_band: sub_band && sinr.len() > 1,
            groups,
        };
        let information = if sinr.len() > 1 {
            MutualInformation::curves().mean(Modulation::Qam256, sinr)
        } else {
            0.0
        };
        (report, information)
    }

    fn of_blocks(
        sinr: &[f32],
        per_group: usize,
        adaptation: &LinkAdaptation,
        sub_band: bool,
    ) -> (Self, f32) {
        let curves = MutualInformation::curves();
        let mut groups = [0; MAX_GROUPS];
        let mut whole = [0.0f32; 4];
        for (group, blocks) in groups.iter_mut().zip(sinr.chunks(per_group)) {
            let sums = curves.sums(blocks);
            if sub_band {
                *group = adaptation.group_cqi(blocks, &sums);
            }
            for (whole, sum) in whole.iter_mut().zip(sums) {
                *whole += sum;
            }
        }
        let cqi = adaptation.whole_cqi(sinr, &whole);
        if !sub_band {
            groups = [cqi; MAX_GROUPS];
        }
        let report = Self {
            known_at: 0,
            cqi,
            sub_band,
            groups,
        };
        (
            report,
            whole[Modulation::Qam256.index()] / sinr.len() as f32,
        )
    }
}
