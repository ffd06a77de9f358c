//! From the channel to an MCS: what a UE reports, what the eNodeB makes of it, and the outer loop
//! that corrects both.

use super::coding::{CodeBlocks, Grid};
use super::curves::{Waterfall, distance_for};
use super::error_model::{CodeRate, Combining, ErrorModel, ErrorModelConfig};
use super::mutual_information::MutualInformation;
use super::tables::{CqiTable, McsTable, Modulation, rbg_size};

/// How a CQI is made from SINR, and an MCS from a CQI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Adaptation {
    /// The highest CQI whose block on the reference resource of TS 36.213 §7.2.3 meets the target
    /// error rate with the mean information of all groups. The eNodeB takes the CQI for the signal
    /// at which it begins, adds the outer loop's offset and picks the highest MCS that it carries
    /// on the allocation at hand.
    EffectiveInformation,
    /// LENA's "Vienna": in each group the highest MCS of which a block of one group's size meets
    /// 10 %, turned into the highest CQI whose efficiency is *below* that of the MCS, so that up to
    /// two steps of MCS are lost. The wideband CQI is the mean of the groups, rounded down.
    LenaErrorModel,
    /// LENA's older one, by Piro et al.: η = log₂(1 + SINR/Γ), Γ = −ln(5 BER)/1.5 with BER 5·10⁻⁵;
    /// the highest CQI with an efficiency below η.
    Piro,
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
}

#[derive(Debug, Clone, Copy)]
struct Step {
    modulation: Modulation,
    information: f32,
    sinr: f32,
}

impl LinkAdaptation {
    /// Reports about `n_rb` resource blocks (the carrier, or one sub-band) of a carrier with so
    /// many `ports`, each block of `layers` layers (1 or 2). LENA's two know 64QAM, one layer and
    /// the carrier as a whole.
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
        Self { adaptation, steps }
    }

    /// The CQI for groups of equal size with these SINRs (ratios); 0 is "out of range".
    pub fn cqi(&self, sinr: &[f32]) -> u8 {
        match self.adaptation {
            Adaptation::EffectiveInformation => self.cqi_by_information(sinr),
            Adaptation::LenaErrorModel | Adaptation::Piro => {
                let sum: usize = sinr.iter().map(|s| usize::from(self.step_at(*s))).sum();
                (sum / sinr.len().max(1)) as u8
            }
        }
    }

    /// The CQI of a channel with one SINR (ratio).
    pub fn step_at(&self, sinr: f32) -> u8 {
        self.steps.partition_point(|step| step.sinr <= sinr) as u8
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

fn lena_steps(n_rb: u16) -> Vec<Step> {
    let group = rbg_size(n_rb);
    let model = ErrorModel::new(ErrorModelConfig {
        table: McsTable::Qam64,
        grid: Grid::Downlink { ports: 1 },
        n_rb: group,
        layers: 1,
        code_rate: CodeRate::Nominal,
        code_rate_limit: None,
        combining: Combining::Lena {
            sixteen_bits: false,
        },
        target_error: 0.1,
    });
    // LENA tries one MCS after the other and stops at the first that fails.
    let mut required = 0.0f32;
    let mut steps: Vec<Step> = Vec::new();
    for (mcs, efficiency) in ROUNDED_MCS.iter().enumerate() {
        let format = model.format(mcs as u8, group, 1);
        required = required.max(format.required_sinr);
        let cqi = if mcs == ROUNDED_MCS.len() - 1 {
            15
        } else {
            ROUNDED_CQI[1..].partition_point(|cqi| cqi < efficiency)
        };
        while steps.len() < cqi {
            steps.push(Step {
                modulation: format.modulation,
                information: 0.0,
                sinr: required,
            });
        }
    }
    steps
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

/// A correction of the reported signal by what became of the blocks: up a little with each first
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
        libm::pow(10.0, self.offset / 10.0) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::tables::rows;

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

    /// MCS 26 has the efficiency of CQI 14 and is reported as 13, which becomes MCS 24.
    #[test]
    fn lena_loses_two_steps_where_efficiencies_are_equal() {
        let lena = LinkAdaptation::new(Adaptation::LenaErrorModel, CqiTable::Qam64, 100, 1, 1, 0.1);
        let model = ErrorModel::new(ErrorModelConfig {
            table: McsTable::Qam64,
            grid: Grid::Downlink { ports: 1 },
            n_rb: 4,
            layers: 1,
            code_rate: CodeRate::Nominal,
            code_rate_limit: None,
            combining: Combining::Lena {
                sixteen_bits: false,
            },
            target_error: 0.1,
        });
        let reported = |mcs| lena.cqi(&[model.format(mcs, 4, 1).required_sinr * 1.001; 25]);
        assert_eq!(reported(26), 13);
        assert_eq!(reported(22), 11);
        assert_eq!(reported(27), 14);
        assert_eq!(reported(28), 15);
        assert_eq!(reported(0), 0);
        assert_eq!(reported(1), 1);
    }

    #[test]
    fn the_wideband_report_of_lena_is_the_mean_rounded_down() {
        let lena = LinkAdaptation::new(Adaptation::LenaErrorModel, CqiTable::Qam64, 100, 1, 1, 0.1);
        let (low, high) = (lena.sinr(7) * 1.01, lena.sinr(10) * 1.01);
        assert_eq!(lena.cqi(&[low, high]), 8);
        assert_eq!(lena.cqi(&[high, high, low]), 9);
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
