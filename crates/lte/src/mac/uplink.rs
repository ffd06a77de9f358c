//! The uplink: requests, reports and grants, transport blocks and what becomes of them.
//!
//! A UE that has something to send and no grant sends a scheduling request at its next chance
//! (TS 36.321 §5.4.4). The grant that answers it takes the first bytes and a buffer status report
//! (§5.4.5); by the reports the eNodeB gives further grants, round robin, until it believes the
//! buffer empty. A grant is on the air `decision_to_air` TTIs after its decision, its PUSCH four
//! TTIs later, and a PUSCH that was not decoded is repeated eight TTIs later on the same resource
//! blocks (TS 36.213 §8.0). Requests, feedback and sounding are received without error and take
//! no resource blocks.
//!
//! A UE sends on one run of resource blocks whose number has no prime factor above five
//! (TS 36.211 §5.3.3), with no more power than it has (TS 36.213 §5.1.1): more blocks mean less
//! power on each.

mod grant;
mod state;

pub(crate) use state::UplinkState;

use backlane_net::{MacContext, NodeId};
use backlane_radio::level::ratio;
use backlane_units::SimTime;

use super::harq::{BlockState, Calendar};
use super::{fill, rlc_bytes};
use crate::channel::{Channel, UplinkUse};
use crate::config::{FEEDBACK_TTIS, RanConfig, UplinkRequests};
use crate::phy::coding::Grid;
use crate::phy::control::{ControlRegion, lena_control_error};
use crate::phy::error_model::{ErrorModel, ErrorModelConfig};
use crate::phy::mutual_information::MutualInformation;
use crate::phy::tables::{McsTable, Modulation, rbg_size};
use crate::rlc::{Direction, Outcome};
use crate::time::start_of;
use crate::ue::Ue;
use grant::{Room, dft_size, runs};

/// TTIs from a PUSCH to its repetition (TS 36.213 §8.0).
const ROUND_TRIP_TTIS: u64 = 8;
/// A short buffer status report with its subheader (TS 36.321 §6.1.3.1).
const REPORT_BYTES: u32 = 2;
/// What an eNodeB adds to a reported buffer: a report and subheaders.
const OVERHEAD_BYTES: u64 = 6;
/// The highest MCS without 64QAM (TS 36.213 table 8.6.1-1).
const HIGHEST_QAM16: u8 = 20;

/// The uplinks of all cells.
#[derive(Debug)]
pub(crate) struct Uplink {
    n_rb: u16,
    group_size: u16,
    model: ErrorModel,
    highest_mcs: u8,
    most_power_mw: f64,
    /// PUSCHs by TTI: the UEs that send.
    pusch: Calendar<u32>,
    /// Scheduling requests by the TTI at which the scheduler has them.
    requests: Calendar<u32>,
    /// Buffer status reports by the TTI at which the scheduler has them.
    reports: Calendar<(u32, u64)>,
    /// For each cell, resource blocks that are taken in the PUSCH TTI being decided.
    rooms: Vec<Room>,
    turns: Vec<u32>,
    sinr: Vec<f32>,
}

impl Uplink {
    pub(crate) fn new(config: &RanConfig, n_cells: usize) -> Self {
        let n_rb = config.carriers[0].n_rb;
        let ideal = config.uplink.requests == UplinkRequests::Ideal;
        let sr_to_grant = match config.uplink.requests {
            UplinkRequests::Scheduled(scheduled) => scheduled.sr_to_grant_ttis,
            UplinkRequests::Ideal => 0,
        };
        let days = config.decision_to_air_ttis + 2 * ROUND_TRIP_TTIS as u32 + sr_to_grant;
        Self {
            n_rb,
            group_size: rbg_size(n_rb),
            model: ErrorModel::new(ErrorModelConfig {
                table: McsTable::Uplink,
                // LENA leaves the last symbol of each subframe to sounding.
                grid: Grid::Uplink { sounding: ideal },
                n_rb,
                layers: 1,
                code_rate: config.code_rate,
                code_rate_limit: config.code_rate_limit,
                combining: config.harq.combining,
                target_error: config.adaptation.target_bler,
            }),
            highest_mcs: if config.uplink.qam64 {
                McsTable::Uplink.highest()
            } else {
                HIGHEST_QAM16
            },
            most_power_mw: ratio(config.ue_power.as_dbm_f64()),
            pusch: Calendar::new(days),
            requests: Calendar::new(days),
            reports: Calendar::new(days),
            rooms: vec![Room::default(); n_cells],
            turns: vec![0; n_cells],
            sinr: Vec::new(),
        }
    }

    /// What UEs with something to send do in a TTI before they send: request, or report for free.
    pub(crate) fn request(&mut self, config: &RanConfig, ues: &mut [Ue], active: &[u32], tti: u64) {
        let now = start_of(tti);
        for &index in active {
            let ue = &mut ues[index as usize];
            let bytes = ue.bearer.status(Direction::Up, now).total_bytes();
            match config.uplink.requests {
                UplinkRequests::Ideal => ue.uplink.report_for_free(tti, bytes),
                UplinkRequests::Scheduled(scheduled) => {
                    if ue.uplink.wants_to_request(&scheduled, tti, bytes != 0) {
                        let known = tti + u64::from(scheduled.sr_to_grant_ttis)
                            - u64::from(config.decision_to_air_ttis);
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
        let now = start_of(tti);
        for at in 0..self.pusch.len(tti) {
            let index = self.pusch.get(tti, at);
            let ue = &mut ues[index as usize];
            let Some(pusch) = ue.uplink.due(tti) else {
                continue;
            };
            if pusch.block.transmissions == 0 {
                build(config, ue, tti, now, outcome);
            } else {
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
            let unit = channel.uplink(index as usize, cell, air);
            let groups = if unit.len() == 1 {
                0..=0
            } else {
                let last = sent.first_prb + sent.n_prb - 1;
                usize::from(sent.first_prb / self.group_size)..=usize::from(last / self.group_size)
            };
            self.sinr.clear();
            self.sinr
                .extend(unit[groups].iter().map(|unit| unit * factor));
            let format = self.model.format(pusch.block.mcs, pusch.n_prb, 1);
            let information = curves.mean(format.modulation, &self.sinr);
            let coded_bits = format.coded_bits;
            let error = self
                .model
                .block_error(format, coded_bits, information, &pusch.block.soft);
            let soft = self
                .model
                .combine(format, coded_bits, information, pusch.block.soft);
            let decoded = !ue.uplink.draw(error);
            let pusch = ue.uplink.pusch(air);
            let first = pusch.block.transmissions == 1;
            let again = pusch.block.transmissions < config.harq.max_transmissions;
            if decoded {
                pusch.block.state = BlockState::Decoded;
                if let Some(bytes) = pusch.report {
                    // The grant that follows from it is on the air when its feedback is.
                    let known = air + u64::from(FEEDBACK_TTIS - config.decision_to_air_ttis);
                    self.reports.push(known, (index, bytes));
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
        context: &mut MacContext<'_>,
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
            let ue = self.requests.get(tti, at);
            touched.push(ue);
            ues[ue as usize].uplink.requested = true;
        }
        for at in 0..self.reports.len(tti) {
            let (ue, bytes) = self.reports.get(tti, at);
            touched.push(ue);
            let state = &mut ues[ue as usize].uplink;
            state.wanted_bytes = bytes.saturating_sub(state.granted_bytes());
            state.requested = false;
        }
    }

    /// Marks the resource blocks that repetitions take in the PUSCH TTI that is decided in `tti`.
    pub(crate) fn reserve(&mut self, config: &RanConfig, ues: &mut [Ue], tti: u64) {
        let pusch_tti = pusch_of(config, tti);
        for room in &mut self.rooms {
            *room = Room::of(self.n_rb);
        }
        for at in 0..self.pusch.len(pusch_tti) {
            let ue = &mut ues[self.pusch.get(pusch_tti, at) as usize];
            let cell = ue.cell;
            if let Some(pusch) = ue.uplink.due(pusch_tti) {
                self.rooms[cell].take(pusch.first_prb, pusch.n_prb);
            }
        }
    }

    /// Decides over the grants of a cell in a TTI. Gives the CCEs and resource blocks that they
    /// take.
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
    ) -> (u16, u64) {
        let pusch_tti = pusch_of(config, tti);
        let first_grant = match config.uplink.requests {
            UplinkRequests::Scheduled(scheduled) => u64::from(scheduled.first_grant_bytes),
            UplinkRequests::Ideal => 0,
        };
        let wants = |ue: &mut Ue| {
            let state = &mut ue.uplink;
            let wanted = if state.wanted_bytes != 0 {
                state.wanted_bytes + OVERHEAD_BYTES
            } else if state.requested {
                first_grant
            } else {
                0
            };
            if state.is_free(pusch_tti) { wanted } else { 0 }
        };
        let mut waiting = active
            .iter()
            .filter(|&&index| wants(&mut ues[index as usize]) != 0)
            .count() as u16;
        if waiting == 0 {
            return (0, 0);
        }
        let start = active.partition_point(|&index| index < self.turns[cell]);
        let (mut cces, mut prbs) = (0, 0);
        for &index in active[start..].iter().chain(&active[..start]) {
            let ue = &mut ues[index as usize];
            let wanted = wants(ue);
            if wanted == 0 {
                continue;
            }
            let room = &self.rooms[cell];
            let share = room.free().div_ceil(waiting);
            waiting -= 1;
            let (first_prb, run) = runs(room, share.max(config.uplink.min_prb));
            let aggregation = aggregation(ue, tti);
            let fits = !config.cce_limit || cces + aggregation <= most_cces;
            if run < config.uplink.min_prb || !fits {
                continue;
            }
            ue.uplink
                .sound(config, channel, index as usize, ue.cell, tti);
            let (n_prb, mcs) = self.format(config, &ue.uplink, wanted, run);
            self.rooms[cell].take(first_prb, n_prb);
            let bytes = self.model.format(mcs, n_prb, 1).bits / 8;
            let state = &mut ue.uplink;
            state.wanted_bytes = state.wanted_bytes.saturating_sub(u64::from(bytes));
            state.requested = false;
            cces += aggregation;
            prbs += u64::from(n_prb);
            self.turns[cell] = index + 1;
            if config.control_errors && missed(channel, ue, index as usize, tti) {
                continue;
            }
            let power_mw = ue.uplink.power_mw(self.most_power_mw, n_prb);
            ue.uplink
                .grant(pusch_tti, first_prb, n_prb, mcs, bytes, power_mw);
            self.pusch.push(pusch_tti, index);
        }
        (cces, prbs)
    }

    /// The fewest resource blocks, up to `most`, that take `wanted` bytes, and their MCS; as many
    /// as the UE's power reaches for if none do.
    fn format(&self, config: &RanConfig, state: &UplinkState, wanted: u64, most: u16) -> (u16, u8) {
        let mcs = |n_prb: u16| {
            let sinr = state.expected_sinr(self.most_power_mw, n_prb);
            self.model.highest_mcs(sinr, n_prb, 1).min(self.highest_mcs)
        };
        let holds =
            |n_prb: u16| u64::from(self.model.format(mcs(n_prb), n_prb, 1).bits / 8) >= wanted;
        let reaches = |n_prb: u16| {
            let sinr = state.expected_sinr(self.most_power_mw, n_prb);
            self.model.format(0, n_prb, 1).required_sinr <= sinr
        };
        let least = config.uplink.min_prb;
        let mut most = dft_size(most);
        while most > least && !reaches(most) {
            most = dft_size(most - 1);
        }
        // The least that holds it lies in (low, high].
        let (mut low, mut high) = (least.saturating_sub(1), most);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if holds(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        let mut n_prb = high;
        while dft_size(n_prb) != n_prb {
            n_prb += 1;
        }
        (n_prb, mcs(n_prb))
    }
}

/// Fills a granted transport block.
fn build(config: &RanConfig, ue: &mut Ue, tti: u64, now: SimTime, outcome: &mut Outcome) {
    let state = &mut ue.uplink;
    let scheduled = match config.uplink.requests {
        UplinkRequests::Scheduled(scheduled) => Some(scheduled),
        UplinkRequests::Ideal => None,
    };
    let reports = scheduled.is_some() && state.report_is_due(tti);
    let report_bytes = if reports { REPORT_BYTES } else { 0 };
    let pusch = state.pusch(tti);
    let room = pusch.block.bytes.saturating_sub(report_bytes);
    fill(
        &mut ue.bearer,
        Direction::Up,
        now,
        room,
        config.mac_headers,
        &mut pusch.block.pdus,
        outcome,
    );
    pusch.block.rlc_bytes = rlc_bytes(&pusch.block.pdus);
    let (mcs, bytes, used) = (pusch.block.mcs, pusch.block.bytes, pusch.block.rlc_bytes);
    // A report fills what would be padding (TS 36.321 §5.4.5).
    let padding = room.saturating_sub(used + 3 * pusch.block.pdus.len() as u32);
    ue.readings.uplink.first(mcs, bytes, used);
    if let Some(scheduled) = scheduled {
        let left = ue.bearer.status(Direction::Up, now).total_bytes();
        let reports = reports || padding >= REPORT_BYTES;
        ue.uplink.after_sending(&scheduled, tti, left, reports);
    }
}

/// The TTI of the PUSCH that is decided in this one.
fn pusch_of(config: &RanConfig, tti: u64) -> u64 {
    tti + u64::from(config.decision_to_air_ttis + FEEDBACK_TTIS)
}

fn aggregation(ue: &mut Ue, tti: u64) -> u16 {
    let report = ue.carriers[0].link.known(tti);
    ControlRegion::aggregation(report.map_or(0, |report| report.cqi))
}

/// Whether a UE misses its grant.
fn missed(channel: &mut Channel, ue: &mut Ue, index: usize, tti: u64) -> bool {
    let sinr = channel.downlink(index, ue.cell, 0, tti);
    let mean = sinr.iter().sum::<f32>() / sinr.len() as f32;
    let error = lena_control_error(10.0 * libm::log10(f64::from(mean)));
    ue.uplink.draw(error)
}

/// The SINR of a flat channel with the information of these.
fn effective(sinr: &[f32]) -> f32 {
    if let [only] = sinr {
        return *only;
    }
    let curves = MutualInformation::curves();
    curves.sinr(Modulation::Qam16, curves.mean(Modulation::Qam16, sinr))
}
