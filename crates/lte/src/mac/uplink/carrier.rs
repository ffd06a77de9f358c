//! The uplink of the primary carrier: its formats, and what of them a UE reaches.

use std::ops::RangeInclusive;

use backlane_radio::level::ratio;

use super::grant::sizes;
use super::state::UplinkState;
use crate::config::{RanConfig, UplinkRequests};
use crate::phy::coding::Grid;
use crate::phy::error_model::{ErrorModel, ErrorModelConfig};
use crate::phy::tables::McsTable;
use crate::readings::MCS_COUNT;

/// The highest MCS without 64QAM (TS 36.213 table 8.6.1-1).
const HIGHEST_QAM16: u8 = 20;

/// The uplink of the primary carrier.
#[derive(Debug)]
pub(super) struct UplinkCarrier {
    pub(super) n_rb: u16,
    pub(super) model: ErrorModel,
    pub(super) highest_mcs: u8,
    /// What each MCS needs on one resource block and more.
    required_sinr: Vec<[f32; MCS_COUNT]>,
    pub(super) most_power_mw: f64,
    /// Fewest resource blocks of a grant.
    pub(super) least_prb: u16,
}

impl UplinkCarrier {
    pub(super) fn new(config: &RanConfig) -> Self {
        let n_rb = config.carrier[0].n_rb();
        let ideal = config.uplink.requests == UplinkRequests::Ideal;
        let least_prb = config.uplink.min_prb.clamp(1, n_rb);
        let model = ErrorModel::new(ErrorModelConfig {
            table: McsTable::Uplink,
            // LENA leaves the last symbol of each subframe to sounding.
            grid: Grid::Uplink { sounding: ideal },
            n_rb,
            layers: 1,
            code_rate: config.code_rate,
            code_rate_limit: config.code_rate_limit.value(),
            combining: config.harq.combining,
            target_error: config.adaptation.target_bler,
        });
        let required_sinr =
            |n_prb| std::array::from_fn(|mcs| model.format(mcs as u8, n_prb, 1).required_sinr);
        Self {
            n_rb,
            required_sinr: (1..=n_rb).map(required_sinr).collect(),
            model,
            highest_mcs: if config.uplink.qam64 {
                McsTable::Uplink.highest()
            } else {
                HIGHEST_QAM16
            },
            most_power_mw: ratio(config.ue_power.as_dbm_f64()),
            least_prb: if ideal {
                least_prb
            } else {
                sizes(least_prb, least_prb)[0]
            },
        }
    }

    /// The fewest resource blocks of a run that take `wanted` bytes, or as many as the UE's power
    /// reaches for if none do, and their MCS.
    pub(super) fn format(
        &self,
        state: &UplinkState,
        wanted: u64,
        first_prb: u16,
        run: u16,
    ) -> (u16, u8) {
        let sizes = self.sizes_for(state, wanted, first_prb, run);
        for &n_prb in &sizes[..sizes.len() - 1] {
            // The begin of the run may be worse than the whole.
            let mcs = self.expected_mcs(state, first_prb, n_prb);
            if self.bytes(mcs, n_prb) >= wanted {
                return (n_prb, mcs);
            }
        }
        let n_prb = sizes[sizes.len() - 1];
        (n_prb, self.expected_mcs(state, first_prb, n_prb))
    }

    /// Sizes from the fewest resource blocks that take `wanted` bytes to the most that the UE's
    /// power reaches for, if all were as good as the run.
    pub(super) fn sizes_for(
        &self,
        state: &UplinkState,
        wanted: u64,
        first_prb: u16,
        run: u16,
    ) -> &'static [u16] {
        let effective = state.sounding.effective(Self::blocks(first_prb, run));
        let sinr = |n_prb: u16| self.expected_sinr(state, effective, n_prb);
        let reaches = |n_prb: &u16| self.required(*n_prb)[0] <= sinr(*n_prb);
        let falls_short = |n_prb: &u16| {
            let mcs = self.highest_mcs_at(sinr(*n_prb), *n_prb);
            self.bytes(mcs, *n_prb) < wanted
        };
        let sizes = sizes(self.least_prb, run);
        let last = sizes.len() - 1;
        let end = if reaches(&sizes[last]) {
            last
        } else {
            sizes.partition_point(reaches).max(1) - 1
        };
        let begin = if falls_short(&sizes[end]) {
            end
        } else {
            sizes[..end].partition_point(falls_short)
        };
        &sizes[begin..=end]
    }

    /// The SINR that the eNodeB expects on `n_prb` resource blocks of this quality.
    fn expected_sinr(&self, state: &UplinkState, effective: f32, n_prb: u16) -> f32 {
        let power_mw = state.sounding.power_mw(self.most_power_mw, n_prb) as f32;
        effective * power_mw * state.factor()
    }

    /// The highest MCS that a UE reaches on a run of resource blocks.
    pub(super) fn expected_mcs(&self, state: &UplinkState, first_prb: u16, n_prb: u16) -> u8 {
        let effective = state.sounding.effective(Self::blocks(first_prb, n_prb));
        self.highest_mcs_at(self.expected_sinr(state, effective, n_prb), n_prb)
    }

    fn highest_mcs_at(&self, sinr: f32, n_prb: u16) -> u8 {
        let required = &self.required(n_prb)[..=usize::from(self.highest_mcs)];
        let highest = required.iter().rposition(|&required| required <= sinr);
        highest.unwrap_or(0) as u8
    }

    #[inline]
    fn required(&self, n_prb: u16) -> &[f32; MCS_COUNT] {
        &self.required_sinr[usize::from(n_prb) - 1]
    }

    #[inline]
    pub(super) fn bytes(&self, mcs: u8, n_prb: u16) -> u64 {
        u64::from(self.model.format(mcs, n_prb, 1).bits / 8)
    }

    /// A run of resource blocks as a range.
    pub(super) fn blocks(first_prb: u16, n_prb: u16) -> RangeInclusive<usize> {
        let last_prb = first_prb + n_prb - 1;
        usize::from(first_prb)..=usize::from(last_prb)
    }
}
