//! One UE's uplink: what the UE wants, what the eNodeB believes, what is granted.

use backlane_engine::Stream;
use backlane_radio::level::ratio;

use super::effective;
use crate::channel::Channel;
use crate::config::{RanConfig, ScheduledUplink, UplinkRequests};
use crate::mac::buffer_status::reported;
use crate::mac::harq::{Block, BlockState, PROCESSES};
use crate::phy::link_adaptation::OuterLoop;

/// TTIs that a free report takes to the eNodeB in LENA.
const FREE_REPORT_TTIS: u64 = 4;

/// A UE's uplink.
#[derive(Debug)]
pub(crate) struct UplinkState {
    /// The TTI of its chances to request, modulo their period.
    offset: u32,
    /// Something has waited since the last PUSCH.
    has_waited: bool,
    /// A report is triggered, so that a request is sent if there is no grant.
    triggered: bool,
    /// A request was sent and nothing was granted since.
    requesting: bool,
    periodic_report: u64,
    repeated_report: u64,
    /// What the eNodeB believes is to be granted still.
    pub(crate) wanted_bytes: u64,
    /// The eNodeB has a request and knows no more.
    pub(crate) requested: bool,
    processes: [Pusch; PROCESSES],
    /// Free reports under way, by TTI.
    free_reports: [u64; FREE_REPORT_TTIS as usize],
    sounded: Option<u64>,
    /// SNR of a milliwatt in each resource block, when it was last sounded.
    unit_snr: f32,
    /// Milliwatts in each resource block that power control asks for.
    controlled_mw: f64,
    outer_loop: Option<OuterLoop>,
    factor: f32,
    draws: Stream,
}

/// A PUSCH: granted, sent, or to be repeated.
#[derive(Debug, Default)]
pub(crate) struct Pusch {
    /// When it is sent, or was.
    pub(crate) tti: u64,
    pub(crate) first_prb: u16,
    pub(crate) n_prb: u16,
    pub(crate) power_mw: f64,
    /// The buffer that a report in it tells.
    pub(crate) report: Option<u64>,
    pub(crate) block: Block,
}

impl UplinkState {
    pub(crate) fn new(
        config: &RanConfig,
        outer_loop: Option<OuterLoop>,
        mut draws: Stream,
    ) -> Self {
        let period = match config.uplink.requests {
            UplinkRequests::Scheduled(scheduled) => scheduled.sr_period_ttis,
            UplinkRequests::Ideal => 1,
        };
        Self {
            offset: draws.below(u64::from(period)) as u32,
            has_waited: false,
            triggered: false,
            requesting: false,
            periodic_report: 0,
            repeated_report: u64::MAX,
            wanted_bytes: 0,
            requested: false,
            processes: Default::default(),
            free_reports: [0; FREE_REPORT_TTIS as usize],
            sounded: None,
            unit_snr: 0.0,
            controlled_mw: f64::INFINITY,
            outer_loop,
            factor: 1.0,
            draws,
        }
    }

    /// The UE is in another cell: nothing is granted, requested or known there.
    pub(crate) fn forget(&mut self) {
        self.has_waited = false;
        self.triggered = false;
        self.requesting = false;
        self.periodic_report = 0;
        self.repeated_report = u64::MAX;
        self.wanted_bytes = 0;
        self.requested = false;
        for pusch in &mut self.processes {
            pusch.report = None;
            pusch.block.clear();
        }
        self.free_reports = [0; FREE_REPORT_TTIS as usize];
        self.sounded = None;
    }

    #[inline]
    fn at(tti: u64) -> usize {
        tti as usize % PROCESSES
    }

    /// The process whose turn a TTI is (TS 36.213 §8.0: synchronous).
    #[inline]
    pub(crate) fn pusch(&mut self, tti: u64) -> &mut Pusch {
        &mut self.processes[Self::at(tti)]
    }

    /// What is to be sent in a TTI.
    #[inline]
    pub(crate) fn due(&mut self, tti: u64) -> Option<&mut Pusch> {
        let pusch = self.pusch(tti);
        (pusch.tti == tti && pusch.block.state == BlockState::Due).then_some(pusch)
    }

    /// What was sent in a TTI.
    #[inline]
    pub(crate) fn on_air(&mut self, tti: u64) -> Option<&mut Pusch> {
        let pusch = self.pusch(tti);
        (pusch.tti == tti && pusch.block.state == BlockState::OnAir).then_some(pusch)
    }

    /// Nothing is under way in the process of a TTI.
    #[inline]
    pub(crate) fn is_free(&mut self, tti: u64) -> bool {
        self.pusch(tti).block.state == BlockState::Empty
    }

    /// Bytes of grants that the UE has not used yet.
    pub(crate) fn granted_bytes(&self) -> u64 {
        let open =
            |pusch: &&Pusch| pusch.block.state == BlockState::Due && pusch.block.transmissions == 0;
        let open = self.processes.iter().filter(open);
        open.map(|pusch| u64::from(pusch.block.bytes)).sum()
    }

    /// Grants a PUSCH.
    pub(crate) fn grant(
        &mut self,
        tti: u64,
        first_prb: u16,
        n_prb: u16,
        mcs: u8,
        bytes: u32,
        power_mw: f64,
    ) {
        let pusch = self.pusch(tti);
        pusch.tti = tti;
        pusch.first_prb = first_prb;
        pusch.n_prb = n_prb;
        pusch.power_mw = power_mw;
        pusch.report = None;
        pusch.block.clear();
        pusch.block.state = BlockState::Due;
        pusch.block.mcs = mcs;
        pusch.block.n_prb = n_prb;
        pusch.block.bytes = bytes;
    }

    /// LENA's way: the buffer as it is reaches the eNodeB a little later.
    pub(crate) fn report_for_free(&mut self, tti: u64, bytes: u64) {
        let at = (tti % FREE_REPORT_TTIS) as usize;
        self.wanted_bytes = std::mem::replace(&mut self.free_reports[at], bytes);
    }

    /// Whether it sends a scheduling request now. `waits`: there is something to send.
    pub(crate) fn wants_to_request(
        &mut self,
        scheduled: &ScheduledUplink,
        tti: u64,
        waits: bool,
    ) -> bool {
        if waits && (!self.has_waited || tti >= self.repeated_report) {
            self.triggered = true;
        }
        self.has_waited = waits;
        let chance = tti % u64::from(scheduled.sr_period_ttis) == u64::from(self.offset);
        let requests =
            chance && waits && self.triggered && !self.requesting && self.granted_bytes() == 0;
        self.requesting |= requests;
        requests
    }

    /// Whether a PUSCH has to tell the buffer.
    pub(crate) fn report_is_due(&self, tti: u64) -> bool {
        self.triggered || tti >= self.periodic_report
    }

    /// A PUSCH was built; `left_bytes` wait still, and it tells so if it `reports`.
    pub(crate) fn after_sending(
        &mut self,
        scheduled: &ScheduledUplink,
        tti: u64,
        left_bytes: u64,
        reports: bool,
    ) {
        self.requesting = false;
        self.has_waited = left_bytes != 0;
        self.repeated_report = tti + u64::from(scheduled.retransmit_bsr_ttis);
        if left_bytes == 0 {
            // All that waited is in here (TS 36.321 §5.4.5).
            self.triggered = false;
        }
        if reports {
            self.triggered = false;
            self.periodic_report = tti + u64::from(scheduled.periodic_bsr_ttis);
            self.pusch(tti).report = Some(reported(left_bytes));
        }
    }

    /// Something is waiting, granted or believed to wait.
    pub(crate) fn is_busy(&self) -> bool {
        self.wanted_bytes != 0 || self.requested || self.free_reports.iter().any(|&b| b != 0)
    }

    /// Brings the eNodeB's knowledge of the uplink up to date, if it is time for it.
    pub(crate) fn sound(
        &mut self,
        config: &RanConfig,
        channel: &mut Channel,
        ue: usize,
        cell: usize,
        tti: u64,
    ) {
        let period = u64::from(config.uplink.sounding_period_ttis);
        let at = tti / period * period;
        if self.sounded == Some(at) {
            return;
        }
        self.sounded = Some(at);
        self.unit_snr = effective(channel.uplink(ue, cell, at));
        if let Some(control) = config.uplink.power_control {
            let loss = control.alpha * channel.loss_db(ue, cell, at);
            self.controlled_mw = ratio(control.p0.as_dbm_f64() + loss);
        }
    }

    /// Milliwatts in each of so many resource blocks.
    pub(crate) fn power_mw(&self, most_mw: f64, n_prb: u16) -> f64 {
        self.controlled_mw.min(most_mw / f64::from(n_prb))
    }

    /// The SINR that the eNodeB expects on so many resource blocks.
    pub(crate) fn expected_sinr(&self, most_mw: f64, n_prb: u16) -> f32 {
        self.unit_snr * self.factor * self.power_mw(most_mw, n_prb) as f32
    }

    /// A first transmission was decoded, or was not.
    pub(crate) fn on_first_transmission(&mut self, decoded: bool) {
        if let Some(outer_loop) = &mut self.outer_loop {
            outer_loop.on_first_transmission(decoded);
            self.factor = outer_loop.factor();
        }
    }

    /// Draws whether something of this probability happens.
    pub(crate) fn draw(&mut self, probability: f64) -> bool {
        self.draws.chance(probability)
    }
}
