//! Radio link control (TS 36.322): packets into PDUs of the size that the MAC grants, and back.
//!
//! [`Bearer`] has both directions of a radio bearer, and of each both ends. A direction is one
//! stream of bytes: packets with their PDCP headers, one behind the other. A PDU is an interval of
//! it with a number, so that nothing is copied and little is allocated; where in the stream which
//! packet ends stands in `ledger`, and `buffer` is what waits before it. A receiver acts on
//! nothing but the PDUs that it was given and its timers.
//!
//! - `um`, `am`: the two modes, each with its sender and its receiver.
//! - `pdu`: what passes between the ends, and what a call reports.
//! - `stream`, `ledger`: from packets to data fields and back, and the arithmetic of headers.
//! - `buffer`: the transmission buffer with its limit, CoDel, and PDCP's discard timer.
//! - `path`: both ends of a direction.
//! - `backlog`: what waits in a direction, kept for the MAC.
//!
//! Left out: transparent mode, 16-bit sequence numbers and 15-bit length indicators (Release 13),
//! signalling radio bearers, and more than one bearer of a UE.

use backlane_net::PacketId;
use backlane_units::{Duration, SimTime};

use crate::pdcp::PdcpConfig;

mod am;
mod backlog;
mod buffer;
mod config;
mod ledger;
mod path;
mod pdu;
mod stream;
mod um;

pub(crate) use config::TIMER;
pub use config::{
    AmConfig, Aqm, PollRetransmission, RlcConfig, RlcMode, UmConfig, UmSequenceNumber,
};

pub use pdu::{BufferStatus, Counters, DataPdu, Delivered, Direction, Outcome, Pdu, StatusPdu};

use backlog::Backlog;
use buffer::Sdu;
use path::{Mode, Path, sizes};
use stream::Stream;

/// A radio bearer: RLC under PDCP, both directions, both ends.
#[derive(Debug)]
pub struct Bearer {
    rlc: RlcConfig,
    pdcp: PdcpConfig,
    /// By direction; none before the first packet, since most UEs of a large network are idle.
    paths: Vec<Path>,
    /// By direction.
    backlogs: [Backlog; 2],
    has_failed: bool,
}

impl Bearer {
    /// A bearer with nothing under way.
    pub fn new(rlc: &RlcConfig, pdcp: &PdcpConfig) -> Self {
        Self {
            rlc: *rlc,
            pdcp: *pdcp,
            paths: Vec::new(),
            backlogs: [Backlog::default(); 2],
            has_failed: false,
        }
    }

    /// Takes in a packet of `bytes`, to which PDCP adds its header.
    pub fn push(
        &mut self,
        direction: Direction,
        now: SimTime,
        packet: PacketId,
        bytes: u32,
        outcome: &mut Outcome,
    ) {
        let sdu = Sdu {
            packet,
            bytes: bytes + self.pdcp.header_bytes(),
            pushed_at: now,
        };
        let before = sizes(outcome);
        if self.paths.is_empty() {
            self.paths = vec![
                Path::new(&self.rlc, &self.pdcp),
                Path::new(&self.rlc, &self.pdcp),
            ];
        }
        let path = &mut self.paths[direction.index()];
        path.stream.buffer.push(sdu, outcome);
        path.count(outcome, before);
        self.backlogs[direction.index()].count_data(path);
    }

    /// What waits to be sent in this direction: the size of the grant to ask for.
    #[inline]
    pub fn status(&self, direction: Direction, now: SimTime) -> BufferStatus {
        let head_delay = self
            .stream(direction)
            .map_or(Duration::ZERO, |stream| stream.buffer.head_delay(now));
        self.backlogs[direction.index()].status(now, head_delay)
    }

    /// What was pushed in this direction, if anything was in any.
    fn stream(&self, direction: Direction) -> Option<&Stream> {
        let path = self.paths.get(direction.index())?;
        Some(&path.stream)
    }

    /// Fills a transport block: appends the PDUs that `grant_bytes` have room for, each with a MAC
    /// subheader of `subheader_bytes`, and gives the bytes used.
    pub fn fill(
        &mut self,
        direction: Direction,
        now: SimTime,
        grant_bytes: u32,
        subheader_bytes: u32,
        pdus: &mut Vec<Pdu>,
        outcome: &mut Outcome,
    ) -> u32 {
        if self.paths.is_empty() {
            return 0;
        }
        let before = sizes(outcome);
        let mut left_bytes = grant_bytes;
        while let Some(room_bytes) = left_bytes.checked_sub(subheader_bytes)
            && let Some(pdu) = self.next_pdu(direction, now, room_bytes, outcome)
        {
            left_bytes = room_bytes - pdu.bytes();
            pdus.push(pdu);
            if self.rlc.one_pdu_per_block {
                break;
            }
        }
        let path = &mut self.paths[direction.index()];
        path.ensure_poll(now);
        path.count(outcome, before);
        self.backlogs[direction.index()].count_data(path);
        grant_bytes - left_bytes
    }

    /// The next PDU of at most `room_bytes`: the report on the other direction first, then what is
    /// to be retransmitted, then what is new (TS 36.322 §5.1.3.1.1).
    fn next_pdu(
        &mut self,
        direction: Direction,
        now: SimTime,
        room_bytes: u32,
        outcome: &mut Outcome,
    ) -> Option<Pdu> {
        let reported = &mut self.paths[direction.opposite().index()];
        if let Mode::Am {
            config, receiver, ..
        } = &mut reported.mode
            && let Some(status) = receiver.next_status(config, now, room_bytes)
        {
            reported.counters.status_pdus += 1;
            self.backlogs[direction.index()].count_report(reported);
            return Some(Pdu::Status(status));
        }
        let Path {
            stream,
            mode,
            counters,
        } = &mut self.paths[direction.index()];
        let pdu = match mode {
            Mode::Um { config, sender, .. } => {
                sender.next_pdu(config, now, room_bytes, stream, outcome)?
            }
            Mode::Am { config, sender, .. } => {
                sender.next_pdu(config, now, room_bytes, stream, counters, outcome)?
            }
        };
        Some(Pdu::Data(pdu))
    }

    /// A PDU that was sent in this direction has arrived.
    pub fn on_pdu(&mut self, direction: Direction, now: SimTime, pdu: &Pdu, outcome: &mut Outcome) {
        if self.paths.is_empty() {
            return;
        }
        match pdu {
            Pdu::Data(pdu) => {
                let before = sizes(outcome);
                let path = &mut self.paths[direction.index()];
                let ledger = &mut path.stream.ledger;
                match &mut path.mode {
                    Mode::Um {
                        config, receiver, ..
                    } => receiver.on_pdu(config, now, pdu, ledger, outcome),
                    Mode::Am {
                        config, receiver, ..
                    } => receiver.on_pdu(config, now, pdu, ledger, outcome),
                }
                path.count(outcome, before);
                self.backlogs[direction.opposite().index()].count_report(path);
            }
            Pdu::Status(status) => {
                let path = &mut self.paths[direction.opposite().index()];
                if let Mode::Am { config, sender, .. } = &mut path.mode {
                    sender.on_status(config, status, &mut path.stream.ledger);
                    self.has_failed |= sender.has_failed();
                }
                self.backlogs[direction.opposite().index()].count_data(path);
            }
        }
    }

    /// When [`Bearer::on_deadline`] is to be called; [`SimTime::MAX`]: not until something else
    /// happens.
    pub fn next_deadline(&self) -> SimTime {
        let deadline = |path: &Path| {
            let of_mode = match &path.mode {
                Mode::Um { receiver, .. } => receiver.next_deadline(),
                Mode::Am {
                    sender, receiver, ..
                } => sender.next_deadline().min(receiver.next_deadline()),
            };
            of_mode.min(path.stream.buffer.discard_deadline())
        };
        match &self.paths[..] {
            [down, up] => deadline(down).min(deadline(up)),
            _ => SimTime::MAX,
        }
    }

    /// Runs the timers that have expired by `now`; afterwards there may be something to send.
    pub fn on_deadline(&mut self, now: SimTime, outcome: &mut Outcome) {
        for path in &mut self.paths {
            let before = sizes(outcome);
            path.discard(now, outcome);
            let ledger = &mut path.stream.ledger;
            match &mut path.mode {
                Mode::Um {
                    config, receiver, ..
                } => receiver.on_deadline(config, now, ledger, outcome),
                Mode::Am {
                    config,
                    sender,
                    receiver,
                } => {
                    receiver.on_deadline(config, now);
                    sender.on_deadline(config, now, &path.stream);
                    self.has_failed |= sender.has_failed();
                }
            }
            path.count(outcome, before);
        }
        self.count_backlogs();
    }

    fn count_backlogs(&mut self) {
        let [down, up] = &self.paths[..] else {
            return;
        };
        let [backlog_down, backlog_up] = &mut self.backlogs;
        backlog_down.count_data(down);
        backlog_down.count_report(up);
        backlog_up.count_data(up);
        backlog_up.count_report(down);
    }

    /// Whether a PDU was retransmitted so often that the radio link has failed. It stays so until
    /// [`Bearer::reestablish`].
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Re-establishes both directions, after a failure of the radio link or a change of the cell
    /// (TS 36.322 §5.4). In acknowledged mode packets that have not arrived wait again, first and
    /// in order, as PDCP sends again what was not acknowledged (TS 36.323); what has
    /// arrived is taken as known, as by a PDCP status report. In unacknowledged mode packets that
    /// were begun are lost. PDUs under way have to be thrown away with their transport blocks.
    pub fn reestablish(&mut self, outcome: &mut Outcome) {
        for path in &mut self.paths {
            let before = sizes(outcome);
            let is_acknowledged = match &mut path.mode {
                Mode::Um { receiver, .. } => {
                    receiver.flush(&mut path.stream.ledger, outcome);
                    false
                }
                Mode::Am { .. } => true,
            };
            path.stream.restart(|sdu| {
                if !is_acknowledged {
                    outcome.lost.push(sdu.packet);
                }
                is_acknowledged
            });
            path.mode = Mode::new(self.rlc.mode);
            path.count(outcome, before);
        }
        self.has_failed = false;
        self.count_backlogs();
    }

    /// Takes all packets that wait out of the buffer, in order: after [`Bearer::reestablish`] that
    /// is all that is to be forwarded to another cell.
    pub fn take_waiting(&mut self, direction: Direction, packets: &mut Vec<PacketId>) {
        let Some(path) = self.paths.get_mut(direction.index()) else {
            return;
        };
        packets.extend(path.stream.buffer.take_all().map(|sdu| sdu.packet));
        self.backlogs[direction.index()].count_data(path);
    }

    /// Packets of which no byte was sent.
    pub fn queue_pkts(&self, direction: Direction) -> usize {
        self.stream(direction)
            .map_or(0, |stream| stream.buffer.pkts())
    }

    /// Bytes that were never sent, PDCP headers included.
    pub fn queue_bytes(&self, direction: Direction) -> u64 {
        self.stream(direction).map_or(0, Stream::new_bytes)
    }

    /// Packets that came in and have neither arrived nor been dropped or lost.
    pub fn held_pkts(&self, direction: Direction) -> usize {
        self.stream(direction)
            .map_or(0, |stream| stream.buffer.pkts() + stream.ledger.pkts())
    }

    /// What this direction has done so far.
    pub fn counters(&self, direction: Direction) -> Counters {
        let path = self.paths.get(direction.index());
        path.map_or_else(Counters::default, |path| path.counters)
    }
}
