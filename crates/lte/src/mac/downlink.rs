//! The downlink: assignments, transport blocks and their fate.
//!
//! A TTI's assignments are decided `decision_to_air` TTIs ahead. A transport block is judged when
//! its TTI is over, so that all who disturb it are known; its data comes out after the decoding
//! time, and its feedback arrives four TTIs after it was on the air. Retransmissions go first, the
//! oldest before the others, on as many resource blocks as before and wherever there is room.
//! Where the first group of a subframe is drawn, so are those of retransmissions. A UE
//! gets one assignment in a TTI and carrier (TS 36.213 §7.1), so a retransmission leaves no room
//! for new data but in the codeword that needs none.

use backlane_engine::{Stream, Streams};
use backlane_net::{MediumContext, NodeId};

use super::carrier::DownlinkCarrier;
use super::harq::{BlockState, Calendar};
use super::scheduler::{Candidate, Demand, MAX_GROUPS, NOBODY, Scheduler};
use super::{fill, rlc_bytes};
use crate::channel::Channel;
use crate::config::{CellConfig, Counts, FEEDBACK_TTIS, FirstGroup, RanConfig};
use crate::phy::control::lena_control_error;
use crate::phy::mutual_information::MutualInformation;
use crate::phy::tables::Modulation;
use crate::readings::CellReadings;
use crate::rlc::{Direction, Outcome};
use crate::time::start_of;
use crate::ue::Ue;

/// A transport block's place: whose process it is.
#[derive(Clone, Copy, Debug)]
struct Place {
    ue: u32,
    carrier: u8,
    process: u8,
}

/// What a UE gets in a TTI.
#[derive(Clone, Copy, Debug)]
struct Assignment {
    ue: u32,
    process: u8,
    groups: u32,
}

/// A cell's downlink in the TTI that is decided over.
#[derive(Clone, Copy)]
pub(crate) struct Subframe<'a> {
    pub(crate) config: &'a RanConfig,
    pub(crate) cell: usize,
    /// The cell's UEs that have something to receive.
    pub(crate) active: &'a [u32],
    /// When it is decided.
    pub(crate) tti: u64,
}

impl Subframe<'_> {
    /// When it is on the air.
    fn air(&self) -> u64 {
        self.tti + u64::from(self.config.decision_to_air.0)
    }
}

/// One cell's downlink on one carrier.
#[derive(Debug)]
struct CellCarrier {
    scheduler: Scheduler,
    /// What the begin of its allocations is drawn from, if it is.
    draws: Option<Stream>,
    /// Control symbols of the last subframe.
    symbols: u8,
    readings: CellReadings,
}

/// The downlinks of all cells.
#[derive(Debug)]
pub(crate) struct Downlink {
    carriers: Vec<DownlinkCarrier>,
    /// For each carrier and cell.
    cells: Vec<CellCarrier>,
    n_cells: usize,
    /// What was sent, by TTI.
    air: Calendar<Place>,
    candidates: Vec<Candidate>,
    sub_band_bits: Vec<f32>,
    assignments: Vec<Assignment>,
    waiting: Vec<(u64, u32, u8)>,
    group_sinr: Vec<f32>,
}

impl Downlink {
    pub(crate) fn new(config: &RanConfig, cells: &[CellConfig], streams: &Streams) -> Self {
        let carriers = DownlinkCarrier::all(config);
        let n_cells = cells.len();
        let cell = |(at, carrier): (usize, &DownlinkCarrier), cell: &CellConfig| CellCarrier {
            scheduler: Scheduler::new(config.scheduler.rule),
            draws: (config.scheduler.first_group == FirstGroup::Drawn).then(|| {
                let name = format!("enb{}", cell.node.0);
                streams.stream(&name, &format!("first group {at}"))
            }),
            symbols: carrier.control.symbols(carrier.cfi_for(0)),
            readings: CellReadings::default(),
        };
        let cells = carriers
            .iter()
            .enumerate()
            .flat_map(|carrier| cells.iter().map(move |enodeb| cell(carrier, enodeb)))
            .collect();
        let days = config.decision_to_air.0 + FEEDBACK_TTIS + 2;
        Self {
            carriers,
            cells,
            n_cells,
            air: Calendar::new(days),
            candidates: Vec::new(),
            sub_band_bits: Vec::new(),
            assignments: Vec::new(),
            waiting: Vec::new(),
            group_sinr: Vec::new(),
        }
    }

    /// The primary carrier's control region.
    pub(crate) fn most_cces(&self) -> u16 {
        self.carriers[0].most_cces()
    }

    pub(crate) fn readings(&self, carrier: usize, cell: usize) -> &CellReadings {
        &self.cells[carrier * self.n_cells + cell].readings
    }

    pub(crate) fn count_uplink(&mut self, cell: usize, prbs: u64) {
        self.cells[cell].readings.uplink_prbs += prbs;
    }

    /// Measures for the reports that are due in a TTI, of UEs that have something to receive.
    pub(crate) fn report(
        &self,
        config: &RanConfig,
        channel: &mut Channel,
        ues: &mut [Ue],
        active: &[u32],
        tti: u64,
    ) {
        let period = u64::from(config.cqi.period.0);
        let delay = u64::from(config.cqi.delay.0);
        for &index in active {
            let ue = &mut ues[index as usize];
            if tti < ue.next_report {
                continue;
            }
            let mut at = ue.next_report;
            if tti > at {
                // Reports went on while it had nothing to receive; the last that the scheduler
                // has is made up for, and those that are under way.
                let offset = u64::from(index) % period;
                let last = tti.saturating_sub(delay) + period - offset;
                at = (last / period * period + offset).saturating_sub(period);
                for carrier in &mut ue.carriers {
                    carrier.link.reset();
                }
            }
            while at <= tti {
                self.measure(config, channel, ue, index as usize, at);
                at += period;
            }
            ue.next_report = at;
        }
    }

    fn measure(
        &self,
        config: &RanConfig,
        channel: &mut Channel,
        ue: &mut Ue,
        index: usize,
        tti: u64,
    ) {
        // UEs were attached before the run: what they reported then is known at its begin.
        let delay = u64::from(config.cqi.delay.0);
        let known_at = if tti < u64::from(config.cqi.period.0) {
            0
        } else {
            tti + delay
        };
        for (at, (state, carrier)) in ue.carriers.iter_mut().zip(&self.carriers).enumerate() {
            let sinr = channel.downlink(index, ue.cell, at, tti);
            let (cqi, information) =
                state
                    .link
                    .report(known_at, sinr, carrier, config.cqi.sub_band);
            if at == 0 {
                ue.readings.report(sinr, information, cqi);
            }
        }
    }

    /// Decides over a cell's subframe on all carriers; whether anything is sent. `uplink_cces` are
    /// taken by its grants.
    pub(crate) fn schedule(
        &mut self,
        subframe: Subframe<'_>,
        channel: &mut Channel,
        ues: &mut [Ue],
        uplink_cces: u16,
        outcome: &mut Outcome,
    ) -> bool {
        let mut sent = false;
        for carrier in 0..self.carriers.len() {
            let taken = if carrier == 0 { uplink_cces } else { 0 };
            sent |= self.schedule_carrier(subframe, carrier, channel, ues, taken, outcome);
        }
        sent
    }

    fn schedule_carrier(
        &mut self,
        subframe: Subframe<'_>,
        carrier: usize,
        channel: &mut Channel,
        ues: &mut [Ue],
        uplink_cces: u16,
        outcome: &mut Outcome,
    ) -> bool {
        let air = subframe.air();
        let mut free = self.carriers[carrier].all_groups;
        let mut cces = uplink_cces;
        self.assignments.clear();
        let groups = self.carriers[carrier].groups() as u64;
        let draws = &mut self.cells[carrier * self.n_cells + subframe.cell].draws;
        let first = draws
            .as_mut()
            .map(|draws| draws.uniform_below(groups) as u32);
        self.retransmit(subframe, carrier, ues, first, &mut free, &mut cces);
        if free != 0 {
            let (first, free) = (first.unwrap_or(0), free);
            self.share(subframe, carrier, ues, (first, free), &mut cces);
        }
        if self.assignments.is_empty() {
            return false;
        }
        let phy = &self.carriers[carrier];
        let state = &mut self.cells[carrier * self.n_cells + subframe.cell];
        let symbols = phy.control.symbols(phy.cfi_for(cces));
        state.symbols = symbols;
        let mut used = 0;
        for &assignment in &self.assignments {
            let ue = &mut ues[assignment.ue as usize];
            if send(subframe, carrier, phy, symbols, &assignment, ue, outcome) {
                used |= assignment.groups;
                self.air.push(
                    air,
                    Place {
                        ue: assignment.ue,
                        carrier: carrier as u8,
                        process: assignment.process,
                    },
                );
            }
        }
        if used != 0 {
            channel.transmit(air, carrier, subframe.cell, used);
            state.readings.downlink_ttis += 1;
            state.readings.downlink_prbs += u64::from(phy.prbs(used));
            state.readings.cfi_sum += u64::from(symbols);
        }
        used != 0
    }

    /// Places the retransmissions that are due: from the group `first` on, or where they were.
    fn retransmit(
        &mut self,
        subframe: Subframe<'_>,
        carrier: usize,
        ues: &mut [Ue],
        first: Option<u32>,
        free: &mut u32,
        cces: &mut u16,
    ) {
        let Subframe { config, tti, .. } = subframe;
        let air = subframe.air();
        let phy = &self.carriers[carrier];
        self.waiting.clear();
        for &index in subframe.active {
            let state = &ues[index as usize].carriers[carrier];
            if state.due == 0 {
                continue;
            }
            let mut due = state.due;
            while due != 0 {
                let at = due.trailing_zeros();
                due &= due - 1;
                let sent = state.processes[at as usize].air;
                if sent + u64::from(config.harq.round_trip.0) <= air {
                    self.waiting.push((sent, index, at as u8));
                }
            }
        }
        self.waiting.sort_unstable();
        for &(_, index, at) in &self.waiting {
            let state = &mut ues[index as usize].carriers[carrier];
            let process = &state.processes[usize::from(at)];
            let needed = process.groups.count_ones();
            let cqi = state.link.known(tti).map_or(0, |report| report.cqi);
            let aggregation = phy.aggregation(cqi);
            let fits = !config.cce_limit || *cces + aggregation <= phy.most_cces();
            let assigned = self.assignments.iter().any(|other| other.ue == index);
            if free.count_ones() < needed || !fits || assigned {
                continue;
            }
            let groups = match first {
                Some(first) => following(*free, needed, first),
                None => lowest(*free, needed, process.groups),
            };
            *free &= !groups;
            *cces += aggregation;
            self.assignments.push(Assignment {
                ue: index,
                process: at,
                groups,
            });
        }
    }

    /// Shares what is left among the UEs with new data.
    fn share(
        &mut self,
        subframe: Subframe<'_>,
        carrier: usize,
        ues: &mut [Ue],
        (first, free): (u32, u32),
        cces: &mut u16,
    ) {
        let Subframe {
            config, cell, tti, ..
        } = subframe;
        let phy = &self.carriers[carrier];
        let state = &mut self.cells[carrier * self.n_cells + cell];
        let symbols = state.symbols;
        let now = start_of(tti);
        self.candidates.clear();
        self.sub_band_bits.clear();
        let (mut all_cces, mut most_cces) = (0, 1);
        for &index in subframe.active {
            let ue = &mut ues[index as usize];
            let state = &mut ue.carriers[carrier];
            let backlog = ue.bearer.status(Direction::Down, now).total_bytes();
            if backlog == 0
                || state.due != 0 && self.assignments.iter().any(|other| other.ue == index)
                || state.free == 0
            {
                continue;
            }
            let factor = state.link.factor();
            let expected = state.link.expected(tti, phy, phy.all_groups, symbols);
            let Some((report, mcs)) = expected.filter(|(report, _)| report.cqi != 0) else {
                continue;
            };
            self.candidates.push(Candidate {
                ue: index,
                group_bits: phy.whole_bits(mcs) as f32 / phy.groups() as f32,
                wanted: phy.groups_for(mcs, backlog),
                average: state.average.at(tti),
                given: 0,
            });
            if config.cqi.sub_band {
                let mut of_cqi = [-1.0; 16];
                of_cqi[0] = 0.0;
                for cqi in report.groups {
                    let bits = &mut of_cqi[usize::from(cqi & 15)];
                    if *bits < 0.0 {
                        let mcs = phy.group_mcs(cqi, factor, symbols);
                        *bits = phy.whole_bits(mcs) as f32 / phy.groups() as f32;
                    }
                    self.sub_band_bits.push(*bits);
                }
            }
            let aggregation = phy.aggregation(report.cqi);
            all_cces += aggregation;
            most_cces = most_cces.max(aggregation);
        }
        let room = phy.most_cces().saturating_sub(*cces);
        let mut max_ues = usize::from(config.scheduler.max_ues);
        if config.cce_limit && all_cces > room {
            max_ues = max_ues.min(usize::from(room / most_cces));
        }
        let mut owners = [NOBODY; MAX_GROUPS];
        state.scheduler.share(&mut Demand {
            free,
            first,
            max_ues,
            candidates: &mut self.candidates,
            sub_band_bits: &self.sub_band_bits,
            owners: &mut owners,
        });
        for (at, candidate) in self.candidates.iter().enumerate() {
            if candidate.given == 0 {
                continue;
            }
            let mut groups = 0;
            for (group, &owner) in owners.iter().enumerate() {
                groups |= u32::from(usize::from(owner) == at) << group;
            }
            let state = &mut ues[candidate.ue as usize].carriers[carrier];
            let cqi = state.link.known(tti).map_or(0, |report| report.cqi);
            *cces += phy.aggregation(cqi);
            self.assignments.push(Assignment {
                ue: candidate.ue,
                process: state.free.trailing_zeros() as u8,
                groups,
            });
        }
    }

    /// Judges what was on the air in the TTI that has just ended.
    pub(crate) fn judge(
        &mut self,
        config: &RanConfig,
        channel: &mut Channel,
        ues: &mut [Ue],
        air: u64,
    ) {
        let curves = MutualInformation::curves();
        for at in 0..self.air.len(air) {
            let place = self.air.get(air, at);
            let ue = &mut ues[place.ue as usize];
            let carrier = usize::from(place.carrier);
            let phy = &self.carriers[carrier];
            let state = &mut ue.carriers[carrier];
            let process = &mut state.processes[usize::from(place.process)];
            if process.air != air {
                continue;
            }
            let sinr = channel.downlink(place.ue as usize, ue.cell, carrier, air);
            let missed = config.control_errors && {
                let mean = sinr.iter().sum::<f32>() / sinr.len() as f32;
                let error = lena_control_error(10.0 * libm::log10(f64::from(mean)));
                ue.draws.bernoulli(error)
            };
            let sinr = if sinr.len() == 1 || process.groups == phy.all_groups {
                sinr
            } else {
                self.group_sinr.clear();
                let groups = sinr.chunks(phy.per_group(sinr)).enumerate();
                for (group, values) in groups {
                    if process.groups >> group & 1 == 1 {
                        self.group_sinr.extend_from_slice(values);
                    }
                }
                &self.group_sinr
            };
            let mut of = (Modulation::Qpsk, -1.0);
            for block in &mut process.blocks {
                if block.state != BlockState::OnAir {
                    continue;
                }
                if missed {
                    block.state = BlockState::Failed;
                    continue;
                }
                let format = phy.model.format(block.mcs, block.n_prb, block.symbols);
                if of.0 != format.modulation || of.1 < 0.0 {
                    of = (format.modulation, curves.mean(format.modulation, sinr));
                }
                let information = of.1;
                let same = process.n_prb == block.n_prb && process.symbols == block.symbols;
                let coded_bits = if same {
                    format.coded_bits
                } else {
                    phy.model
                        .coded_bits(format.modulation, process.n_prb, process.symbols)
                };
                let error = phy
                    .model
                    .block_error(format, coded_bits, information, &block.soft);
                if ue.draws.bernoulli(error) {
                    block.state = BlockState::Failed;
                    block.soft = phy
                        .model
                        .combine(format, coded_bits, information, block.soft);
                } else {
                    block.state = BlockState::Decoded;
                }
            }
        }
    }

    /// Hands on what was decoded in the blocks of a TTI. `enodebs` are the cells' nodes.
    pub(crate) fn deliver(
        &self,
        context: &mut MediumContext<'_>,
        ues: &mut [Ue],
        enodebs: &[NodeId],
        air: u64,
        outcome: &mut Outcome,
        touched: &mut Vec<u32>,
    ) -> usize {
        let mut settled = 0;
        for at in 0..self.air.len(air) {
            let place = self.air.get(air, at);
            let ue = &mut ues[place.ue as usize];
            let state = &mut ue.carriers[usize::from(place.carrier)];
            let process = &mut state.processes[usize::from(place.process)];
            if process.air != air {
                continue;
            }
            for block in &mut process.blocks {
                if block.state != BlockState::Decoded {
                    continue;
                }
                ue.readings.downlink.arrived_bytes += u64::from(block.rlc_bytes);
                for pdu in &block.pdus {
                    ue.bearer
                        .on_pdu(Direction::Down, context.now(), pdu, outcome);
                }
                block.pdus.clear();
            }
            settled += ue.settle(context, enodebs[ue.cell], outcome);
            touched.push(place.ue);
        }
        settled
    }

    /// Takes in the feedback on the blocks of a TTI.
    pub(crate) fn feedback(
        &self,
        config: &RanConfig,
        ues: &mut [Ue],
        air: u64,
        touched: &mut Vec<u32>,
    ) {
        let tti = air + u64::from(FEEDBACK_TTIS);
        for at in 0..self.air.len(air) {
            let place = self.air.get(air, at);
            let ue = &mut ues[place.ue as usize];
            let state = &mut ue.carriers[usize::from(place.carrier)];
            let process = &mut state.processes[usize::from(place.process)];
            if process.air != air {
                continue;
            }
            let readings = &mut ue.readings.downlink;
            let (mut due, mut free) = (false, true);
            for block in &mut process.blocks {
                let decoded = match block.state {
                    BlockState::Decoded => true,
                    BlockState::Failed => false,
                    BlockState::Empty | BlockState::OnAir | BlockState::Due => continue,
                };
                let misread = !decoded && ue.draws.bernoulli(config.harq.nack_to_ack);
                if block.transmissions == 1 {
                    readings.first_losses += u64::from(!decoded);
                    state.link.on_feedback(decoded || misread);
                }
                if decoded || misread || block.transmissions >= config.harq.max_transmissions {
                    if decoded && config.scheduler.counts == Counts::Acknowledged {
                        state.average.count(tti, block.bytes);
                    }
                    readings.lost_blocks += u64::from(!decoded);
                    block.clear();
                } else {
                    block.state = BlockState::Due;
                    due = true;
                }
                free &= block.state == BlockState::Empty;
            }
            state.due |= u8::from(due) << place.process;
            state.free |= u8::from(free) << place.process;
            if due {
                touched.push(place.ue);
            }
        }
    }
}

/// As many groups out of the free ones: those of before if they are free, the lowest otherwise.
fn lowest(free: u32, needed: u32, before: u32) -> u32 {
    if before & !free == 0 {
        return before;
    }
    let mut left = free;
    for _ in 0..needed {
        left &= left.wrapping_sub(1);
    }
    free & !left
}

/// As many groups out of the free ones, from one on upwards and around.
fn following(free: u32, needed: u32, first: u32) -> u32 {
    let above = free >> first << first;
    let room = above.count_ones();
    if needed <= room {
        lowest(above, needed, u32::MAX)
    } else {
        above | lowest(free & !above, needed - room, u32::MAX)
    }
}

/// Sends what is due in a process and fills the codewords that are empty. False if nothing went
/// out.
fn send(
    subframe: Subframe<'_>,
    carrier: usize,
    phy: &DownlinkCarrier,
    symbols: u8,
    assignment: &Assignment,
    ue: &mut Ue,
    outcome: &mut Outcome,
) -> bool {
    let Subframe { config, tti, .. } = subframe;
    let state = &mut ue.carriers[carrier];
    state.ensure_processes();
    let process = &mut state.processes[usize::from(assignment.process)];
    let n_prb = phy.prbs(assignment.groups);
    let readings = &mut ue.readings.downlink;
    let mut sent = false;
    for block in process.blocks.iter_mut().take(phy.codewords) {
        if block.state == BlockState::Due {
            block.state = BlockState::OnAir;
            readings.retransmissions[usize::from(block.transmissions - 1)] += 1;
            block.transmissions += 1;
            sent = true;
            continue;
        }
        let expected = state.link.expected(tti, phy, assignment.groups, symbols);
        let Some((_, mcs)) = expected else {
            continue;
        };
        let bytes = phy.model.bits(mcs, n_prb) / 8;
        fill(
            &mut ue.bearer,
            Direction::Down,
            start_of(tti),
            bytes,
            config.mac_headers,
            &mut block.pdus,
            outcome,
        );
        if block.pdus.is_empty() {
            continue;
        }
        block.state = BlockState::OnAir;
        block.transmissions = 1;
        block.bytes = bytes;
        block.rlc_bytes = rlc_bytes(&block.pdus);
        block.mcs = mcs;
        block.n_prb = n_prb;
        block.symbols = symbols;
        readings.first(mcs, bytes, block.rlc_bytes);
        if config.scheduler.counts == Counts::Sent {
            state.average.count(tti, bytes);
        }
        ue.readings.mcs = mcs;
        sent = true;
    }
    if sent {
        state.due &= !(1 << assignment.process);
        state.free &= !(1 << assignment.process);
        process.air = subframe.air();
        process.groups = assignment.groups;
        process.n_prb = n_prb;
        process.symbols = symbols;
    }
    sent
}
