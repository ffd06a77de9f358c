//! One UE's uplink: what it asks, what the eNodeB believes, what is granted and sent.

use std::ops::RangeInclusive;

use backlane_engine::Stream;
use backlane_radio::level::ratio;

use super::belief::{Belief, Grant};
use super::request::Requests;
use crate::channel::Channel;
use crate::config::{RanConfig, ScheduledUplink, UplinkRequests};
use crate::mac::buffer_status::reported;
use crate::mac::harq::{Block, BlockState, PROCESSES};
use crate::mac::scheduler::Average;
use crate::phy::link_adaptation::OuterLoop;
use crate::phy::mutual_information::MutualInformation;
use crate::phy::tables::{MOST_CARRIER_BLOCKS, Modulation};

/// A UE's uplink.
#[derive(Debug)]
pub(crate) struct UplinkState {
    pub(super) requests: Requests,
    pub(super) belief: Belief,
    pub(super) sounding: Sounding,
    pub(super) average: Average,
    /// None before the first is asked for.
    processes: Vec<Pusch>,
    outer_loop: Option<OuterLoop>,
    factor: f32,
    draws: Stream,
}

/// A PUSCH: granted, sent, or to be repeated.
#[derive(Debug, Default)]
pub(super) struct Pusch {
    /// When it is sent, or was.
    pub(super) tti: u64,
    pub(super) first_prb: u16,
    pub(super) n_prb: u16,
    /// Milliwatts in each resource block.
    pub(super) power_mw: f64,
    pub(super) grant: Grant,
    /// The buffer that a report in it tells.
    pub(super) report: Option<u64>,
    pub(super) block: Block,
}

/// What an eNodeB knows of a UE's uplink channel.
#[derive(Debug)]
pub(super) struct Sounding {
    at: u64,
    n_blocks: usize,
    /// SNR of a milliwatt in each resource block.
    blocks: [f32; MOST_CARRIER_BLOCKS],
    /// That of a flat channel with the same information.
    whole: f32,
    /// Noise and interference of the cell, as a multiple of noise.
    noise: f32,
    /// Milliwatts in each resource block that power control asks for.
    controlled_mw: f64,
}

impl UplinkState {
    pub(crate) fn new(
        config: &RanConfig,
        outer_loop: Option<OuterLoop>,
        mut draws: Stream,
    ) -> Self {
        let period = match config.uplink.requests {
            UplinkRequests::Scheduled(scheduled) => u64::from(scheduled.sr_period.0),
            UplinkRequests::Ideal => 1,
        };
        Self {
            requests: Requests::new(draws.uniform_below(period)),
            belief: Belief::default(),
            sounding: Sounding {
                at: u64::MAX,
                n_blocks: 1,
                blocks: [0.0; MOST_CARRIER_BLOCKS],
                whole: 0.0,
                noise: 1.0,
                controlled_mw: f64::INFINITY,
            },
            average: Average::default(),
            processes: Vec::new(),
            outer_loop,
            factor: 1.0,
            draws,
        }
    }

    /// The process whose turn a TTI is (TS 36.213 §8.0: synchronous).
    #[inline]
    pub(super) fn pusch(&mut self, tti: u64) -> &mut Pusch {
        if self.processes.is_empty() {
            self.processes.resize_with(PROCESSES, Pusch::default);
        }
        &mut self.processes[tti as usize % PROCESSES]
    }

    /// What is to be sent in a TTI.
    #[inline]
    pub(super) fn due(&mut self, tti: u64) -> Option<&mut Pusch> {
        let pusch = self.pusch(tti);
        (pusch.tti == tti && pusch.block.state == BlockState::Due).then_some(pusch)
    }

    /// What was sent in a TTI.
    #[inline]
    pub(super) fn on_air(&mut self, tti: u64) -> Option<&mut Pusch> {
        let pusch = self.pusch(tti);
        (pusch.tti == tti && pusch.block.state == BlockState::OnAir).then_some(pusch)
    }

    /// Nothing is under way in the process of a TTI.
    #[inline]
    pub(super) fn is_free(&mut self, tti: u64) -> bool {
        self.pusch(tti).block.state == BlockState::Empty
    }

    /// It has a grant for new data that it has not used yet.
    pub(super) fn has_grant(&self) -> bool {
        let mut blocks = self.processes.iter().map(|pusch| &pusch.block);
        blocks.any(|block| block.state == BlockState::Due && block.transmissions == 0)
    }

    /// Whether the UE sends a scheduling request now, with so much waiting.
    pub(super) fn asks(&mut self, scheduled: &ScheduledUplink, tti: u64, bytes: u64) -> bool {
        self.requests.asks(scheduled, tti, bytes) && !self.has_grant()
    }

    /// The PUSCH of a TTI was built; `left_bytes` wait still, and it `reports` them or does not.
    pub(super) fn on_pusch(
        &mut self,
        scheduled: &ScheduledUplink,
        tti: u64,
        left_bytes: u64,
        reports: bool,
    ) {
        self.requests.on_pusch(scheduled, tti, left_bytes, reports);
        self.pusch(tti).report = reports.then(|| reported(left_bytes));
    }

    /// The eNodeB believes that something waits.
    pub(crate) fn is_busy(&self) -> bool {
        !self.belief.is_empty()
    }

    /// Leaves a cell: nothing is under way, and the next eNodeB knows nothing of this UE.
    pub(crate) fn forget(&mut self) {
        self.requests.forget();
        self.belief.forget();
        self.sounding.at = u64::MAX;
        for pusch in &mut self.processes {
            pusch.block.clear();
        }
    }

    /// Brings the eNodeB's knowledge of the channel up to date: the UE sounds each period, and
    /// what is measured is known when a transport block of the same TTI would be decoded.
    pub(super) fn sound(
        &mut self,
        config: &RanConfig,
        channel: &mut Channel,
        ue: usize,
        cell: usize,
        noise: f32,
        tti: u64,
    ) {
        self.sounding.noise = noise;
        let period = u64::from(config.uplink.sounding_period.0);
        let at = tti.saturating_sub(1 + u64::from(config.decoding.0)) / period * period;
        let sounding = &mut self.sounding;
        if sounding.at == at {
            return;
        }
        sounding.at = at;
        let blocks = channel.uplink(ue, cell, at);
        sounding.n_blocks = blocks.len();
        sounding.blocks[..blocks.len()].copy_from_slice(blocks);
        sounding.whole = effective(blocks);
        if config.uplink.power_control {
            let loss = config.uplink.alpha * channel.loss_db(ue, cell, at);
            sounding.controlled_mw = ratio(config.uplink.p0.as_dbm_f64() + loss);
        }
    }

    /// The outer loop's correction.
    pub(super) fn factor(&self) -> f32 {
        self.factor
    }

    /// A first transmission was decoded, or was not.
    pub(super) fn on_first_transmission(&mut self, decoded: bool) {
        if let Some(outer_loop) = &mut self.outer_loop {
            outer_loop.on_first_transmission(decoded);
            self.factor = outer_loop.factor();
        }
    }

    /// Draws whether something of this probability happens.
    pub(super) fn draw(&mut self, probability: f64) -> bool {
        self.draws.bernoulli(probability)
    }
}

impl Sounding {
    /// Milliwatts in each of `n_prb` resource blocks: what power control asks for, as far as the
    /// UE's power goes (TS 36.213 §5.1.1).
    pub(super) fn power_mw(&self, most_mw: f64, n_prb: u16) -> f64 {
        self.controlled_mw.min(most_mw / f64::from(n_prb))
    }

    /// The SINR of a milliwatt in the worst of these resource blocks.
    pub(super) fn worst(&self, blocks: RangeInclusive<usize>) -> f32 {
        let blocks = self.of(blocks).iter().copied();
        blocks.fold(f32::INFINITY, f32::min) / self.noise
    }

    /// The SINR of a milliwatt on a flat channel as good as these resource blocks.
    pub(super) fn effective(&self, blocks: RangeInclusive<usize>) -> f32 {
        let blocks = self.of(blocks);
        if blocks.len() == self.n_blocks {
            self.whole / self.noise
        } else {
            effective(blocks) / self.noise
        }
    }

    fn of(&self, blocks: RangeInclusive<usize>) -> &[f32] {
        if self.n_blocks == 1 {
            &self.blocks[..1]
        } else {
            &self.blocks[blocks]
        }
    }
}

/// The SINR of a flat channel with the information of these.
fn effective(sinr: &[f32]) -> f32 {
    if let [only] = sinr {
        return *only;
    }
    let curves = MutualInformation::curves();
    curves.sinr(Modulation::Qam16, curves.mean(Modulation::Qam16, sinr))
}
