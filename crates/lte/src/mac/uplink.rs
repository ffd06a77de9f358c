//! The uplink: requests, reports and grants, transport blocks and their fate.
//!
//! A UE that has something to send and no grant sends a scheduling request at its next chance
//! (TS 36.321 §5.4.4). The grant that answers it takes the first bytes and a buffer status report
//! (§5.4.5); by the reports the eNodeB gives further grants until it believes the buffer empty. A
//! grant is on the air `decision_to_air` TTIs after its decision, its PUSCH four TTIs later, and a
//! PUSCH that was not decoded is repeated eight TTIs later on the same resource blocks
//! (TS 36.213 §8.0). After a block that HARQ gave up, and after a full one without a report, the
//! eNodeB does not know the buffer status: it grants as upon a request. Requests,
//! feedback and sounding are received without error and take no resource blocks.
//!
//! A UE sends on one run of resource blocks whose number has no prime factor above five
//! (TS 36.211 §5.3.3), with no more power than it has (TS 36.213 §5.1.1): more blocks mean less
//! power on each, and it is given no more than it reaches the lowest MCS with.
//!
//! - `request`: a UE's side, when it asks and when it reports.
//! - `belief`: the eNodeB's side, what it takes a UE to have.
//! - `scheduler`: who gets how many resource blocks; `grant`: which ones.
//! - `carrier`: formats and powers. `lena`: grants as ns-3's LENA gives them.
//! - `state`: all of it for one UE.

mod belief;
mod carrier;
mod grant;
mod lena;
mod request;
mod scheduler;
mod state;

pub(crate) use state::UplinkState;

use backlane_net::{MediumContext, NodeId};
use backlane_units::SimTime;

use super::buffer_status::reported;
use super::fill;
use super::harq::{BlockState, Calendar};
use super::rlc_bytes;
use crate::channel::{Channel, UplinkUse};
use crate::config::{FEEDBACK_TTIS, RanConfig, ScheduledUplink, UplinkRequests, UplinkScheduler};
use crate::phy::control::{ControlRegion, lena_control_error};
use crate::phy::link_adaptation::LinkAdaptation;
use crate::phy::mutual_information::MutualInformation;
use crate::rlc::{BufferStatus, Direction, Outcome};
use crate::time::start_of;
use crate::ue::Ue;
use belief::Grant;
use carrier::UplinkCarrier;
use grant::Room;
use scheduler::{Candidate, Supply, share};

/// TTIs from a PUSCH to its repetition (TS 36.213 §8.0).
pub(crate) const ROUND_TRIP_TTIS: u64 = 8;
/// A short buffer status report with its subheader (TS 36.321 §6.1.3.1).
const REPORT_BYTES: u32 = 2;
/// TTIs that a report takes to the eNodeB where it costs nothing.
const FREE_REPORT_TTIS: u64 = 4;

/// Time constant of the mean of interference.
const INTERFERENCE_TTIS: f32 = 16.0;

/// The uplinks of all cells.
#[derive(Debug)]
pub(crate) struct Uplink {
    carrier: UplinkCarrier,
    scheduler: UplinkScheduler,
    /// PUSCHs by TTI: the UEs that send.
    pusch: Calendar<u32>,
    /// Scheduling requests by the TTI at which the scheduler has them.
    requests: Calendar<u32>,
    /// Buffer status reports by the TTI at which the scheduler has them.
    reports: Calendar<Report>,
    cells: Vec<Cell>,
    /// LENA's SINR to CQI, where requests are ideal.
    lena: Option<LinkAdaptation>,
    candidates: Vec<Candidate>,
    sinr: Vec<f32>,
}

/// A buffer status report.
#[derive(Clone, Copy, Debug)]
struct Report {
    ue: u32,
    bytes: u64,
    /// The grant that it came with, or that was the last when it was sent.
    grant: Grant,
}

/// A cell's uplink.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Resource blocks in the TTI of the PUSCH that is being decided.
    room: Room,
    /// UEs that repeat a PUSCH in it.
    repeating: u16,
    /// What other cells' UEs added to the noise of late, as a multiple of it.
    interference: f32,
    turn: u32,
}

/// A place on the air.
#[derive(Clone, Copy, Debug)]
struct Place {
    first_prb: u16,
    n_prb: u16,
    mcs: u8,
}

impl Uplink {
    pub(crate) fn new(config: &RanConfig, n_cells: usize) -> Self {
        let ideal = config.uplink.requests == UplinkRequests::Ideal;
        let (scheduler, sr_to_grant) = match config.uplink.requests {
            UplinkRequests::Scheduled(scheduled) => (scheduled.scheduler, scheduled.sr_to_grant.0),
            UplinkRequests::Ideal => (UplinkScheduler::RoundRobin, 0),
        };
        let days = config.decision_to_air.0 + 2 * ROUND_TRIP_TTIS as u32 + sr_to_grant;
        Self {
            carrier: UplinkCarrier::new(config),
            scheduler,
            pusch: Calendar::new(days),
            requests: Calendar::new(days),
            reports: Calendar::new(days),
            cells: vec![Cell::default(); n_cells],
            lena: ideal.then(lena::adaptation),
            candidates: Vec::new(),
            sinr: Vec::new(),
        }
    }

    /// What UEs with something to send do in a TTI before they send: request, or report for free.
    pub(crate) fn request(&mut self, config: &RanConfig, ues: &mut [Ue], active: &[u32], tti: u64) {
        let now = start_of(tti);
        for &index in active {
            let ue = &mut ues[index as usize];
            let bytes = data_bytes(&ue.bearer.status(Direction::Up, now));
            let state = &mut ue.uplink;
            match config.uplink.requests {
                UplinkRequests::Ideal => {
                    if state.requests.tells(tti, bytes) {
                        let report = Report {
                            ue: index,
                            bytes: reported(bytes),
                            grant: state.belief.last_grant(),
                        };
                        self.reports.push(tti + FREE_REPORT_TTIS, report);
                    }
                }
                UplinkRequests::Scheduled(scheduled) => {
                    if state.asks(&scheduled, tti, bytes) {
                        let grant = tti + u64::from(scheduled.sr_to_grant.0);
                        let known = grant.saturating_sub(u64::from(config.decision_to_air.0));
                        let known = known.max(tti + 1);
                        self.requests.push(known, index);
                    }
                }
            }
        }
    }

    /// Sends the PUSCHs of a TTI.
    pub(crate) fn send(
        &mut self,
        config: &RanConfig,
        channel: &mut Channel,
        ues: &mut [Ue],
        tti: u64,
        outcome: &mut Outcome,
    ) {
        // LENA fills a block when its grant arrives.
        let filled = tti + self.lena.as_ref().map_or(0, |_| u64::from(FEEDBACK_TTIS));
        for at in 0..self.pusch.len(filled) {
            let ue = &mut ues[self.pusch.get(filled, at) as usize];
            let pusch = ue.uplink.due(filled);
            if pusch.is_some_and(|pusch| pusch.block.transmissions == 0) {
                build(config, ue, filled, start_of(tti), outcome);
            }
        }
        for at in 0..self.pusch.len(tti) {
            let index = self.pusch.get(tti, at);
            let ue = &mut ues[index as usize];
            let Some(pusch) = ue.uplink.due(tti) else {
                continue;
            };
            if pusch.block.transmissions != 0 {
                let repeated = usize::from(pusch.block.transmissions - 1);
                ue.readings.uplink.retransmissions[repeated] += 1;
            }
            let cell = ue.cell;
            let pusch = ue.uplink.pusch(tti);
            pusch.block.state = BlockState::OnAir;
            pusch.block.transmissions += 1;
            channel.transmit_uplink(
                tti,
                UplinkUse {
                    cell,
                    ue: index as usize,
                    first_prb: pusch.first_prb,
                    n_prb: pusch.n_prb,
                    power_mw: pusch.power_mw,
                },
            );
        }
    }

    /// Judges the PUSCHs of the TTI that has just ended, and has those repeated that were lost;
    /// whether there are any.
    pub(crate) fn judge(
        &mut self,
        config: &RanConfig,
        channel: &mut Channel,
        ues: &mut [Ue],
        air: u64,
    ) -> bool {
        let curves = MutualInformation::curves();
        let mut repeats = false;
        for at in 0..self.pusch.len(air) {
            let index = self.pusch.get(air, at);
            let ue = &mut ues[index as usize];
            let cell = ue.cell;
            let Some(pusch) = ue.uplink.on_air(air) else {
                continue;
            };
            let sent = UplinkUse {
                cell,
                ue: index as usize,
                first_prb: pusch.first_prb,
                n_prb: pusch.n_prb,
                power_mw: pusch.power_mw,
            };
            let noise = 1.0 + channel.uplink_interference(air, &sent);
            let factor = pusch.power_mw as f32 / noise;
            let blocks = UplinkCarrier::blocks(sent.first_prb, sent.n_prb);
            let unit = channel.uplink(index as usize, cell, air);
            let blocks = if unit.len() == 1 { 0..=0 } else { blocks };
            self.sinr.clear();
            self.sinr
                .extend(unit[blocks].iter().map(|unit| unit * factor));
            let format = self.carrier.model.format(pusch.block.mcs, pusch.n_prb, 1);
            let information = curves.mean(format.modulation, &self.sinr);
            let coded_bits = format.coded_bits;
            let error =
                self.carrier
                    .model
                    .block_error(format, coded_bits, information, &pusch.block.soft);
            let soft =
                self.carrier
                    .model
                    .combine(format, coded_bits, information, pusch.block.soft);
            let decoded = !ue.uplink.draw(error);
            let pusch = ue.uplink.pusch(air);
            let first = pusch.block.transmissions == 1;
            let again = pusch.block.transmissions < config.harq.max_transmissions;
            // A grant that follows from it is on the air when its feedback is.
            let known = air + u64::from(FEEDBACK_TTIS - config.decision_to_air.0);
            if decoded {
                pusch.block.state = BlockState::Decoded;
                let (bytes, grant) = (pusch.block.bytes, pusch.grant);
                if let Some(bytes) = pusch.report {
                    let report = Report {
                        ue: index,
                        bytes,
                        grant,
                    };
                    self.reports.push(known, report);
                } else if self.lena.is_none() {
                    // It was full: padding would have been a report.
                    self.requests.push(known, index);
                }
                if self.scheduler == UplinkScheduler::ProportionalFair {
                    ue.uplink.average.count(air, bytes);
                }
            } else if again {
                pusch.block.soft = soft;
                pusch.block.state = BlockState::Due;
                pusch.tti = air + ROUND_TRIP_TTIS;
                self.pusch.push(air + ROUND_TRIP_TTIS, index);
                repeats = true;
            } else {
                pusch.block.clear();
                ue.readings.uplink.lost_blocks += 1;
                if self.lena.is_none() {
                    self.requests.push(known, index);
                }
            }
            if first {
                ue.readings.uplink.first_losses += u64::from(!decoded);
                ue.uplink.on_first_transmission(decoded);
            }
        }
        repeats
    }

    /// Hands on what was decoded in the PUSCHs of a TTI.
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
        for at in 0..self.pusch.len(air) {
            let index = self.pusch.get(air, at);
            let ue = &mut ues[index as usize];
            let pusch = ue.uplink.pusch(air);
            if pusch.tti != air || pusch.block.state != BlockState::Decoded {
                continue;
            }
            for pdu in &pusch.block.pdus {
                ue.bearer.on_pdu(Direction::Up, context.now(), pdu, outcome);
            }
            ue.readings.uplink.arrived_bytes += u64::from(pusch.block.rlc_bytes);
            pusch.block.clear();
            settled += ue.settle(context, enodebs[ue.cell], outcome);
            touched.push(index);
        }
        settled
    }

    /// Takes in the requests and reports that the scheduler has from this TTI on.
    pub(crate) fn take_in(&self, ues: &mut [Ue], tti: u64, touched: &mut Vec<u32>) {
        for at in 0..self.requests.len(tti) {
            let index = self.requests.get(tti, at);
            let state = &mut ues[index as usize].uplink;
            state.belief.on_request(state.has_grant());
            touched.push(index);
        }
        for at in 0..self.reports.len(tti) {
            let report = self.reports.get(tti, at);
            let belief = &mut ues[report.ue as usize].uplink.belief;
            if self.lena.is_some() {
                belief.on_free_report(report.bytes, report.grant);
            } else {
                belief.on_report(report.bytes, report.grant);
            }
            touched.push(report.ue);
        }
    }

    /// Marks the resource blocks that repetitions take in the PUSCH TTI that is decided in `tti`.
    pub(crate) fn reserve(&mut self, config: &RanConfig, ues: &mut [Ue], tti: u64) {
        let pusch_tti = pusch_of(config, tti);
        for cell in &mut self.cells {
            cell.room = Room::of(self.carrier.n_rb);
            cell.repeating = 0;
        }
        for at in 0..self.pusch.len(pusch_tti) {
            let ue = &mut ues[self.pusch.get(pusch_tti, at) as usize];
            let cell = &mut self.cells[ue.cell];
            if let Some(pusch) = ue.uplink.due(pusch_tti) {
                cell.room.take(pusch.first_prb, pusch.n_prb);
                cell.repeating += 1;
            }
        }
    }

    /// Resource blocks of a cell that are taken in the PUSCH TTI being decided.
    pub(crate) fn taken_prbs(&self, cell: usize) -> u64 {
        u64::from(self.carrier.n_rb - self.cells[cell].room.free())
    }

    /// Decides over the grants of a cell in a TTI. Gives the CCEs that they take.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn schedule(
        &mut self,
        config: &RanConfig,
        channel: &mut Channel,
        ues: &mut [Ue],
        active: &[u32],
        cell: usize,
        most_cces: u16,
        tti: u64,
    ) -> u16 {
        let pusch_tti = pusch_of(config, tti);
        let first_grant = match config.uplink.requests {
            UplinkRequests::Scheduled(scheduled) => scheduled.first_grant.get(),
            UplinkRequests::Ideal => 0,
        };
        let noise = self.noise(channel, cell, tti);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for &index in active {
            let ue = &mut ues[index as usize];
            let wanted = ue.uplink.belief.wanted_bytes(first_grant);
            if wanted == 0 || !ue.uplink.is_free(pusch_tti) {
                continue;
            }
            ue.uplink
                .sound(config, channel, index as usize, cell, noise, tti);
            let report = ue.carriers[0].link.known(tti);
            let cqi = report.map_or(0, |report| report.cqi);
            let state = &mut ue.uplink;
            candidates.push(Candidate {
                ue: index,
                wanted_bytes: wanted,
                needed_prb: self.carrier.sizes_for(state, wanted, 0, self.carrier.n_rb)[0],
                // Narrow carriers have fewer than a weak signal would be given.
                cces: ControlRegion::aggregation(cqi).min(most_cces),
                value: self.value(state, tti),
            });
        }
        let Cell {
            room,
            repeating,
            mut turn,
            ..
        } = self.cells[cell];
        let supply = Supply {
            n_prb: room.free(),
            least_prb: self.carrier.least_prb,
            cces: if config.cce_limit {
                most_cces
            } else {
                u16::MAX
            },
        };
        let (n_rb, is_lena, kind) = (self.carrier.n_rb, self.lena.is_some(), self.scheduler);
        let mut cces = 0;
        let give = |candidate: &Candidate, most: u16| {
            let ue = &mut ues[candidate.ue as usize];
            let place = self.place(&ue.uplink, cell, candidate.wanted_bytes, most);
            let Some(place) = place else { return 0 };
            self.grant(config, channel, ue, candidate.ue, place, tti);
            cces += candidate.cces;
            place.n_prb
        };
        if is_lena {
            lena::share(n_rb, repeating, supply, &mut candidates, &mut turn, give);
        } else {
            share(kind, supply, &mut candidates, &mut turn, give);
        }
        self.cells[cell].turn = turn;
        self.candidates = candidates;
        cces
    }

    /// Noise and interference over the band, as a multiple of noise: what the cell has measured in
    /// the TTIs in which it had to decide, the last one included.
    fn noise(&mut self, channel: &mut Channel, cell: usize, tti: u64) -> f32 {
        let nobody = UplinkUse {
            cell,
            ue: usize::MAX,
            first_prb: 0,
            n_prb: self.carrier.n_rb,
            power_mw: 0.0,
        };
        let now = channel.uplink_interference(tti.saturating_sub(1), &nobody);
        let mean = &mut self.cells[cell].interference;
        *mean += (now - *mean) / INTERFERENCE_TTIS;
        1.0 + *mean
    }

    /// Where a UE sends, on `most` resource blocks or fewer.
    fn place(
        &self,
        state: &UplinkState,
        cell: usize,
        wanted_bytes: u64,
        most: u16,
    ) -> Option<Place> {
        let (first_prb, run) = self.cells[cell].room.run(most);
        if run < self.carrier.least_prb {
            return None;
        }
        let (n_prb, mcs) = if let Some(adaptation) = &self.lena {
            // The signal that it sounds with goes over all of the band.
            let power_mw = state
                .sounding
                .power_mw(self.carrier.most_power_mw, self.carrier.n_rb)
                as f32;
            let worst = state.sounding.worst(UplinkCarrier::blocks(first_prb, run));
            let mcs = lena::mcs(adaptation, worst * power_mw)?;
            (run, mcs.min(self.carrier.highest_mcs))
        } else {
            self.carrier.format(state, wanted_bytes, first_prb, run)
        };
        Some(Place {
            first_prb,
            n_prb,
            mcs,
        })
    }

    /// What a UE bids where rate over throughput counts.
    fn value(&self, state: &mut UplinkState, tti: u64) -> f32 {
        match self.scheduler {
            UplinkScheduler::RoundRobin => 0.0,
            UplinkScheduler::ProportionalFair => {
                let mcs = self.carrier.expected_mcs(state, 0, self.carrier.n_rb);
                let bits = self.carrier.model.format(mcs, self.carrier.n_rb, 1).bits;
                bits as f32 / state.average.at(tti)
            }
        }
    }

    fn grant(
        &mut self,
        config: &RanConfig,
        channel: &mut Channel,
        ue: &mut Ue,
        index: u32,
        place: Place,
        tti: u64,
    ) {
        let Place {
            first_prb,
            n_prb,
            mcs,
        } = place;
        let pusch_tti = pusch_of(config, tti);
        let bytes = self.carrier.model.format(mcs, n_prb, 1).bits / 8;
        self.cells[ue.cell].room.take(first_prb, n_prb);
        let state = &mut ue.uplink;
        let grant = if self.lena.is_some() {
            state.belief.on_lena_grant(bytes)
        } else {
            state.belief.on_grant(bytes)
        };
        if config.control_errors && missed(channel, ue, index as usize, tti) {
            if self.lena.is_none() {
                // The eNodeB hears nothing where the PUSCH should be.
                let known = pusch_tti + u64::from(FEEDBACK_TTIS - config.decision_to_air.0);
                self.requests.push(known, index);
            }
            return;
        }
        let power_mw = ue
            .uplink
            .sounding
            .power_mw(self.carrier.most_power_mw, n_prb);
        let pusch = ue.uplink.pusch(pusch_tti);
        pusch.tti = pusch_tti;
        pusch.first_prb = first_prb;
        pusch.n_prb = n_prb;
        pusch.power_mw = power_mw;
        pusch.grant = grant;
        pusch.report = None;
        pusch.block.clear();
        pusch.block.state = BlockState::Due;
        pusch.block.mcs = mcs;
        pusch.block.n_prb = n_prb;
        pusch.block.bytes = bytes;
        self.pusch.push(pusch_tti, index);
    }
}

/// Fills a granted transport block.
fn build(config: &RanConfig, ue: &mut Ue, tti: u64, now: SimTime, outcome: &mut Outcome) {
    let scheduled: Option<ScheduledUplink> = match config.uplink.requests {
        UplinkRequests::Scheduled(scheduled) => Some(scheduled),
        UplinkRequests::Ideal => None,
    };
    let report_is_due = scheduled.is_some() && ue.uplink.requests.report_is_due(tti);
    let block = &mut ue.uplink.pusch(tti).block;
    let room = if report_is_due && config.mac_headers {
        block.bytes.saturating_sub(REPORT_BYTES)
    } else {
        block.bytes
    };
    let used = fill(
        &mut ue.bearer,
        Direction::Up,
        now,
        room,
        config.mac_headers,
        &mut block.pdus,
        outcome,
    );
    block.rlc_bytes = rlc_bytes(&block.pdus);
    ue.readings
        .uplink
        .first(block.mcs, block.bytes, block.rlc_bytes);
    let left = data_bytes(&ue.bearer.status(Direction::Up, now));
    if let Some(scheduled) = scheduled {
        // A report fills what would be padding (TS 36.321 §5.4.5).
        let reports = report_is_due || room.saturating_sub(used) >= REPORT_BYTES;
        ue.uplink.on_pusch(&scheduled, tti, left, reports);
    } else {
        ue.uplink.requests.on_free_pusch(left);
    }
}

/// What a report counts: data and RLC's own reports, without the headers of what was never sent
/// (TS 36.321 §6.1.3.1, TS 36.322 §4.5).
fn data_bytes(status: &BufferStatus) -> u64 {
    status.status_bytes + status.retransmit_bytes + status.new_bytes
}

/// The TTI of the PUSCH that is decided in this one.
fn pusch_of(config: &RanConfig, tti: u64) -> u64 {
    tti + u64::from(config.decision_to_air.0 + FEEDBACK_TTIS)
}

/// Whether a UE misses its grant.
fn missed(channel: &mut Channel, ue: &mut Ue, index: usize, tti: u64) -> bool {
    let sinr = channel.downlink(index, ue.cell, 0, tti);
    let mean = sinr.iter().sum::<f32>() / sinr.len() as f32;
    let error = lena_control_error(10.0 * libm::log10(f64::from(mean)));
    ue.uplink.draw(error)
}
