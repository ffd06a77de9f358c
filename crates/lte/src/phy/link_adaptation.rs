//! From the channel to an MCS: what a UE reports, what the eNodeB makes of it, and the outer loop
//! that corrects both.

use backlane_param::words;

use super::coding::{CodeBlocks, Grid};
use super::curves::{Waterfall, distance_for};
use super::mutual_information::MutualInformation;
use super::tables::{CqiTable, McsTable, Modulation, rbg_size, rows};

words! {
    /// How a CQI is made from SINR, and an MCS from a CQI.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Adaptation {
        /// The highest CQI whose block on the reference resource of TS 36.213 §7.2.3 meets the target
        /// error rate with the mean information of all groups. The eNodeB takes the CQI for the signal
        /// at which it begins, adds the outer loop's offset and picks the highest MCS that it carries
        /// on the allocation.
        EffectiveInformation = "effective-information",
        /// LENA's "Vienna": the highest MCS of which a block of the reported width meets 10 %, turned
        /// into the highest CQI whose efficiency is *below* that of the MCS, so that up to two steps of
        /// MCS are lost. By LENA's own curves, which ask for up to 0.9 dB more than ours: the steps are
        /// those of ns-3 3.37 on a flat channel (`lena_reports.csv`).
        LenaErrorModel = "lena-mi",
        /// LENA's older one, by Piro et al.: η = log₂(1 + SINR/Γ), Γ = −ln(5 BER)/1.5 with BER 5·10⁻⁵;
        /// the highest CQI with an efficiency below η.
        Piro = "lena-piro",
    }
}

/// Efficiencies with two decimals, as R1-081483 rounds them and LENA compares them: of CQI 0 to 15,
/// and of MCS 0 to 28.
const ROUNDED_CQI: [f64; 16] = [
    0.0, 0.15, 0.23, 0.38, 0.60, 0.88, 1.18, 1.48, 1.91, 2.41, 2.73, 3.32, 3.90, 4.52, 5.12, 5.55,
];
const ROUNDED_MCS: [f64; 29] = [
    0.15, 0.19, 0.23, 0.31, 0.38, 0.49, 0.60, 0.74, 0.88, 1.03, 1.18, 1.33, 1.48, 1.70, 1.91, 2.16,
    2.41, 2.57, 2.73, 3.03, 3.32, 3.61, 3.90, 4.21, 4.52, 4.82, 5.12, 5.33, 5.55,
];

/// What a UE reports of a set of resource block groups, and what an eNodeB takes it for.
#[derive(Debug)]
pub struct LinkAdaptation {
    adaptation: Adaptation,
    /// For each CQI from 1: what the mean over all groups must reach (information or SINR), and the
    /// signal at which a flat channel does.
    steps: Vec<Step>,
    /// The same for a single group, which LENA judges by a narrower block.
    group_steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    modulation: Modulation,
    information: f32,
    sinr: f32,
}

impl LinkAdaptation {
    /// Reports about `n_rb` resource blocks (the carrier, or one sub-band) of a carrier with
    /// `ports` antenna ports, each block of `layers` layers (1 or 2). LENA's two know 64QAM, one
    /// layer and the carrier as a whole.
    pub fn new(
        adaptation: Adaptation,
        table: CqiTable,
        n_rb: u16,
        ports: u8,
        layers: u8,
        target_error: f64,
    ) -> Self {
        let steps = match adaptation {
            Adaptation::EffectiveInformation => {
                let grid = Grid::Downlink { ports };
                let layers = u32::from(layers.clamp(1, 2));
                let elements = grid.resource_elements(3) * u32::from(n_rb.max(1)) * layers;
                reference_steps(table, elements, target_error)
            }
            Adaptation::LenaErrorModel => lena_steps(n_rb),
            Adaptation::Piro => piro_steps(),
        };
        let group_steps = match adaptation {
            Adaptation::LenaErrorModel => lena_steps(rbg_size(n_rb)),
            Adaptation::EffectiveInformation | Adaptation::Piro => steps.clone(),
        };
        Self {
            adaptation,
            steps,
            group_steps,
        }
    }

    /// The CQI for groups of equal size with these SINRs (ratios); 0 is "out of range".
    pub fn cqi(&self, sinr: &[f32]) -> u8 {
        match self.adaptation {
            Adaptation::EffectiveInformation | Adaptation::LenaErrorModel => {
                self.cqi_by_information(sinr)
            }
            Adaptation::Piro => {
                let sum: usize = sinr.iter().map(|s| usize::from(self.step_at(*s))).sum();
                (sum / sinr.len().max(1)) as u8
            }
        }
    }

    /// The CQI of one group with this SINR (ratio).
    pub fn step_at(&self, sinr: f32) -> u8 {
        self.group_steps.partition_point(|step| step.sinr <= sinr) as u8
    }

    /// The CQI of one group whose resource blocks have these SINRs: that of their mean
    /// information, given as `sums` over them ([`MutualInformation::sums`]); with Piro's rule the
    /// whole part of the mean of their CQIs.
    ///
    /// LENA does the same: its error model judges a block over the group, and Piro's rule, which
    /// knows single resource blocks only, is averaged over the group.
    pub fn group_cqi(&self, sinr: &[f32], sums: &[f32; 4]) -> u8 {
        match self.adaptation {
            Adaptation::EffectiveInformation | Adaptation::LenaErrorModel => {
                highest(&self.group_steps, sums, sinr.len())
            }
            Adaptation::Piro => self.cqi(sinr),
        }
    }

    /// The CQI of resource blocks with these SINRs and these sums of information.
    pub fn whole_cqi(&self, sinr: &[f32], sums: &[f32; 4]) -> u8 {
        match self.adaptation {
            Adaptation::EffectiveInformation | Adaptation::LenaErrorModel => {
                highest(&self.steps, sums, sinr.len())
            }
            Adaptation::Piro => self.cqi(sinr),
        }
    }

    /// The signal, as a ratio, at which a flat channel begins to report `cqi`. For 0, 2 dB below
    /// that of CQI 1, the usual distance of two steps.
    pub fn sinr(&self, cqi: u8) -> f32 {
        const TWO_DECIBEL: f32 = 1.584_893_2;
        match cqi {
            0 => self.steps[0].sinr / TWO_DECIBEL,
            _ => self.steps[usize::from(cqi).min(self.steps.len()) - 1].sinr,
        }
    }

    /// The MCS for a CQI as LENA has it: the highest whose rounded efficiency is not above that of
    /// the CQI.
    pub fn lena_mcs(cqi: u8) -> u8 {
        let efficiency = ROUNDED_CQI[usize::from(cqi).min(15)];
        (ROUNDED_MCS.partition_point(|mcs| *mcs <= efficiency) as u8).saturating_sub(1)
    }

    fn cqi_by_information(&self, sinr: &[f32]) -> u8 {
        let curves = MutualInformation::curves();
        let mut of = None;
        for (at, step) in self.steps.iter().enumerate().rev() {
            let mean = match of {
                Some((modulation, mean)) if modulation == step.modulation => mean,
                _ => curves.mean(step.modulation, sinr),
            };
            of = Some((step.modulation, mean));
            if mean >= step.information {
                return at as u8 + 1;
            }
        }
        0
    }
}

/// The highest CQI whose information `blocks` resource blocks with these sums have in the mean.
fn highest(steps: &[Step], sums: &[f32; 4], blocks: usize) -> u8 {
    let share = 1.0 / blocks.max(1) as f32;
    let reached = |step: &Step| sums[step.modulation.index()] * share >= step.information;
    steps.iter().rposition(reached).map_or(0, |at| at as u8 + 1)
}

fn reference_steps(table: CqiTable, elements: u32, target_error: f64) -> Vec<Step> {
    let curves = MutualInformation::curves();
    (1..=15)
        .filter_map(|cqi| table.cqi(cqi))
        .map(|cqi| {
            let coded_bits = elements * cqi.modulation.bits();
            let bits = (cqi.code_rate() * f64::from(coded_bits)) as u32;
            let blocks = CodeBlocks::of_bits(bits.max(1));
            let waterfall = Waterfall::of(cqi.modulation, blocks.size(), cqi.code_rate());
            let information = waterfall.information_at(distance_for(target_error, blocks.count));
            Step {
                modulation: cqi.modulation,
                information: information as f32,
                sinr: curves.sinr(cqi.modulation, information as f32),
            }
        })
        .collect()
}

/// Where LENA's CQIs begin when it judges a block over `n_rb` resource blocks.
fn lena_steps(n_rb: u16) -> Vec<Step> {
    let curves = MutualInformation::curves();
    rows(include_str!("../../data/lena_reports.csv"))
        .filter(|row| row[0] == f64::from(n_rb))
        .map(|row| {
            let modulation = McsTable::Qam64.modulation(LinkAdaptation::lena_mcs(row[1] as u8));
            let sinr = libm::pow(10.0, row[3] / 10.0) as f32;
            Step {
                modulation,
                information: curves.information(modulation, sinr),
                sinr,
            }
        })
        .collect()
}

fn piro_steps() -> Vec<Step> {
    let gap = -libm::log(5.0 * 5e-5) / 1.5;
    ROUNDED_CQI[1..]
        .iter()
        .map(|efficiency| Step {
            modulation: Modulation::Qpsk,
            information: 0.0,
            // The least signal above the one at which η equals the efficiency.
            sinr: ((libm::exp2(*efficiency) - 1.0) * gap) as f32 * (1.0 + f32::EPSILON),
        })
        .collect()
}

/// A correction of the reported signal by the outcome of the blocks: up a little with each first
/// transmission that is decoded, down a lot with each that is not, so that the target error rate
/// keeps it where it is.
///
/// All in decibels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OuterLoop {
    offset: f64,
    up: f64,
    down: f64,
    limit: f64,
}

impl OuterLoop {
    /// A loop that rises by `up_db` and falls by `up_db` (1 − target)/target, between ±`limit_db`.
    pub fn new(up_db: f64, limit_db: f64, target_error: f64) -> Self {
        Self {
            offset: 0.0,
            up: up_db,
            down: up_db * (1.0 - target_error) / target_error,
            limit: limit_db,
        }
    }

    /// A first transmission was decoded, or was not.
    pub fn on_first_transmission(&mut self, decoded: bool) {
        let step = if decoded { self.up } else { -self.down };
        self.offset = (self.offset + step).clamp(-self.limit, self.limit);
    }

    /// The correction in decibels.
    pub fn offset_db(&self) -> f64 {
        self.offset
    }

    /// The correction as a factor of the signal.
    pub fn factor(&self) -> f32 {
        const DOUBLINGS_PER_DECIBEL: f64 = core::f64::consts::LOG2_10 / 10.0;
        libm::exp2f((self.offset * DOUBLINGS_PER_DECIBEL) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::error_model::{CodeRate, Combining, ErrorModel, ErrorModelConfig};

    fn ours(n_rb: u16) -> LinkAdaptation {
        LinkAdaptation::new(
            Adaptation::EffectiveInformation,
            CqiTable::Qam64,
            n_rb,
            2,
            1,
            0.1,
        )
    }

    fn decibel(ratio: f32) -> f64 {
        10.0 * libm::log10(f64::from(ratio))
    }

    fn ratio(decibel: f64) -> f32 {
        libm::pow(10.0, decibel / 10.0) as f32
    }

    /// The file has one code block of 6144 bits; a block of many is lost a little earlier.
    #[test]
    fn each_cqi_begins_where_a_block_of_its_rate_meets_ten_percent() {
        let wide = ours(100);
        let piro = LinkAdaptation::new(Adaptation::Piro, CqiTable::Qam64, 100, 2, 1, 0.1);
        for row in rows(include_str!("../../data/cqi_snr_thresholds.csv")) {
            let cqi = row[0] as u8;
            let begins = decibel(wide.sinr(cqi));
            assert!((begins - row[4]).abs() < 0.25, "{row:?}: {begins}");
            assert_eq!(wide.cqi(&[ratio(begins + 0.01)]), cqi);
            assert_eq!(wide.cqi(&[ratio(begins - 0.01)]), cqi - 1);
            let begins = decibel(piro.sinr(cqi));
            // The file takes efficiencies with four decimals, LENA with two: 2.3 % at CQI 2.
            assert!((begins - row[6]).abs() < 0.12, "{row:?}: {begins}");
        }
        assert!((decibel(wide.sinr(1)) - decibel(wide.sinr(0)) - 2.0).abs() < 1e-4);
    }

    #[test]
    fn an_uneven_channel_is_worth_its_mean_information() {
        let wide = ours(100);
        // Half at 18 dB and half at 6 dB: 16QAM information 0.9996 and 0.543, 0.77 in the mean,
        // which 16QAM has at 9.6 dB; 64QAM 0.91 and 0.34, 0.63, which it has at 12.0 dB.
        let uneven = [ratio(18.0), ratio(6.0)];
        let worth = wide.cqi(&uneven);
        assert!(wide.cqi(&[ratio(11.0)]) <= worth && worth <= wide.cqi(&[ratio(12.5)]));
        assert!(
            worth < wide.cqi(&[ratio(15.0)]),
            "not the mean of the signals"
        );
        assert_eq!(wide.cqi(&[0.0; 25]), 0);
        assert_eq!(wide.cqi(&[]), 0);
        assert_eq!(wide.cqi(&[f32::INFINITY; 25]), 15);
    }

    #[test]
    fn lena_takes_from_a_cqi_the_mcs_of_its_efficiency() {
        let by_cqi: Vec<u8> = (1..=15).map(LinkAdaptation::lena_mcs).collect();
        assert_eq!(
            by_cqi,
            [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28]
        );
    }

    #[test]
    fn lena_asks_for_more_signal_than_our_curves_and_judges_a_carrier_by_one_wide_block() {
        let lena = LinkAdaptation::new(Adaptation::LenaErrorModel, CqiTable::Qam64, 100, 1, 1, 0.1);
        let model = ErrorModel::new(ErrorModelConfig {
            table: McsTable::Qam64,
            grid: Grid::Downlink { ports: 1 },
            n_rb: 4,
            layers: 1,
            code_rate: CodeRate::Nominal,
            code_rate_limit: None,
            combining: Combining::Lena,
            target_error: 0.1,
        });
        // The MCS above the one below which a CQI is reported: an MCS with exactly the efficiency
        // of a CQI is reported as the one before.
        for (cqi, mcs) in [(2, 3), (7, 13), (11, 21), (13, 25), (14, 27), (15, 28)] {
            let begins = lena.group_steps[cqi - 1].sinr;
            let beyond = decibel(begins) - decibel(model.format(mcs, 4, 1).required_sinr);
            assert!((0.3..1.0).contains(&beyond), "CQI {cqi}: {beyond} dB");
        }
        for (sinr_db, group, carrier) in [(17.0, 13, 12), (10.0, 8, 9), (19.75, 14, 15)] {
            let sinr = ratio(sinr_db);
            assert_eq!(lena.step_at(sinr), group, "{sinr_db} dB");
            assert_eq!(lena.cqi(&[sinr; 25]), carrier, "{sinr_db} dB");
        }
        assert_eq!(lena.cqi(&[ratio(-7.0); 25]), 0);
        for n_rb in [6, 15, 25, 50, 75, 100] {
            let lena =
                LinkAdaptation::new(Adaptation::LenaErrorModel, CqiTable::Qam64, n_rb, 1, 1, 0.1);
            assert_eq!(
                (lena.steps.len(), lena.group_steps.len()),
                (15, 15),
                "{n_rb}"
            );
            assert!(lena.steps.is_sorted_by(|a, b| a.sinr < b.sinr));
        }
    }

    #[test]
    fn the_outer_loop_rests_at_its_target() {
        let mut outer = OuterLoop::new(0.05, 6.0, 0.1);
        for _ in 0..50 {
            for block in 0..10 {
                outer.on_first_transmission(block != 0);
            }
        }
        assert!(outer.offset_db().abs() < 1e-9, "{outer:?}");
        for _ in 0..100 {
            outer.on_first_transmission(false);
        }
        assert_eq!(outer.offset_db(), -6.0);
        assert!((outer.factor() - 0.251_19).abs() < 1e-4);
    }
}
