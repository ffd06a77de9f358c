//! The source side: it codes TCP's segments and turns the receiver's answers into TCP's
//! acknowledgments.
//!
//! A generation has as many originals as TCP's window has packets when it opens. The receiver
//! reports the rank of each generation: the number of linearly independent packets received. Each
//! of them is an acknowledgment: the edge keeps the originals in the order of their first
//! transmission, and acknowledges as many of the first ones to TCP as the ranks of all generations
//! add up to. TCP's count of packets in flight stays right, and TCP sees neither a loss nor a
//! packet out of order: after a loss the rank rises later, with the repair. A packet that the
//! edge's own queue drops is treated differently: its original leaves the order, the answers that
//! follow become duplicate acknowledgments around it, and it is appended to the order when TCP
//! retransmits it. To TCP the network is a queue that drops at its entrance and nowhere else.

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

use crate::config::{Coefficients, Config, backed_off};
use crate::generation::{combine, draw_coefficients};
use crate::message::{Answer, AnswerKind, HEADER_BYTES, Header, LENGTH_BYTES};

/// A segment that TCP sends: a source packet of the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// Its first sequence number.
    pub start: u64,
    /// The sequence number after it.
    pub end: u64,
    /// TCP's timestamp, which its acknowledgment echoes.
    pub stamp: u32,
    /// Its bytes on the wire with the TCP header and without the IP header.
    pub bytes: u32,
}

/// The state of TCP's sender when a generation opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The congestion window.
    pub cwnd_pkts: u32,
    /// TCP's smoothed round trip, which the layer uses until it has measured its own.
    pub round_trip: Duration,
}

/// A coded packet to be sent. Its symbol comes beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// The header.
    pub header: Header,
    /// Bytes of header and symbol, without the IP header.
    pub bytes: u32,
}

/// An acknowledgment for TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgment {
    /// Everything before this sequence number arrived.
    pub ack: u64,
    /// The timestamp of the first segment that is newly acknowledged; without any, of the last
    /// that was.
    pub stamp: u32,
    /// It acknowledges nothing new: an original that the edge dropped is missing.
    pub is_duplicate: bool,
    /// SACK blocks; unused ones are zero.
    pub blocks: [(u64, u64); 4],
}

/// The counters of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeReadings {
    /// Generations opened.
    pub generations: u64,
    /// Originals that came from TCP for the first time.
    pub originals: u64,
    /// Coded packets sent.
    pub packets: u64,
    /// Of these, combinations that the receiver requested.
    pub repairs: u64,
    /// Of these, combinations sent after a silence.
    pub probes: u64,
    /// Packets that carried an original for the first time and were dropped by the edge's own queue.
    pub edge_drops: u64,
    /// Repairs and probes dropped there.
    pub repair_drops: u64,
    /// Originals that TCP retransmitted after such a drop.
    pub resent: u64,
    /// Originals that TCP retransmitted while the layer was still repairing them.
    pub spurious_retransmits: u64,
    /// Duplicate acknowledgments given to TCP.
    pub duplicate_acks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In flight, or lost in the network.
    Sent,
    /// The edge's own queue dropped it, and TCP has not retransmitted it.
    Dropped,
    /// TCP retransmitted it, in the packet of this number.
    Resent(u32),
    /// It is acknowledged to TCP.
    Acknowledged,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    original: Original,
    /// Bytes of the largest original up to here.
    largest_bytes: u32,
    state: State,
    /// A SACK block has covered it.
    is_reported: bool,
}

/// The packet carries no original for the first time.
const REPAIR: u8 = u8::MAX;

/// A coded packet that was made.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The caller's name for it.
    sequence: u64,
    at: SimTime,
    /// The original that it carried for the first time, or [`REPAIR`].
    index: u8,
    /// It is no longer in flight: answered, or dropped by the edge's own queue.
    is_gone: bool,
}

#[derive(Debug, Default)]
struct Generation {
    size: u8,
    previous_size: u8,
    entries: Vec<Entry>,
    symbols: Vec<u8>,
    /// Originals that the edge's queue dropped, and that TCP has not retransmitted.
    dropped: usize,
    rank: u8,
    /// One more than the highest number of an answered packet.
    answered: u32,
    /// The packets made, by number.
    sent: Vec<Sent>,
}

impl Generation {
    fn clear(&mut self) {
        self.entries.clear();
        self.symbols.clear();
        self.sent.clear();
        (self.dropped, self.rank, self.answered) = (0, 0, 0);
    }

    /// Originals that were sent, less those dropped since.
    fn outstanding(&self) -> usize {
        self.entries.len() - self.dropped
    }

    /// The number of its packets that are known to have been received and innovative.
    fn arrived(&self) -> usize {
        self.entries.len().min(usize::from(self.rank))
    }

    /// Repairs that may still arrive: no packet sent later by more than `reordering` was answered.
    fn repairs_outstanding(&self, answered_to: SimTime, reordering: Duration) -> usize {
        let may_come = |sent: &&Sent| {
            sent.index == REPAIR && !sent.is_gone && answered_to < sent.at + reordering
        };
        self.sent.iter().filter(may_come).count()
    }
}

/// The source side of a flow's coding layer.
///
/// After [`send`](Self::send), [`on_answer`](Self::on_answer) and [`on_timer`](Self::on_timer),
/// call [`poll_transmit`](Self::poll_transmit) until there is nothing left and ask for
/// [`next_timeout`](Self::next_timeout); after an answer also
/// [`poll_acknowledgment`](Self::poll_acknowledgment).
#[derive(Debug)]
pub struct Edge {
    config: Config,
    key: u64,
    width: usize,
    generations: VecDeque<Generation>,
    /// The number of the first of these.
    first: u32,
    /// The last of these is not full.
    is_open: bool,
    spare: Vec<Generation>,
    last_size: u8,
    /// Packets to be made: the generation, and the original that is carried for the first time.
    pending: VecDeque<(u32, u8)>,
    /// The sequence number after the last byte sent.
    next_start: u64,
    /// The last cumulative acknowledgment given to TCP, and its timestamp.
    acked: (u64, u32),
    /// Originals that are not acknowledged to TCP, by generation and place in it, in the order of
    /// their transmission.
    order: VecDeque<(u32, u8)>,
    /// Originals of the generations kept that are acknowledged to TCP.
    acknowledged: usize,
    acknowledgments: VecDeque<Acknowledgment>,
    /// The latest transmission time of an answered packet.
    answered_to: SimTime,
    /// Smoothed time from a packet to its answer, without repairs. Zero: not measured.
    round_trip: Duration,
    flush_at: SimTime,
    /// Timeouts in a row without an answer.
    flushes: u32,
    coefficients: Vec<u8>,
    readings: EdgeReadings,
}

impl Edge {
    /// An edge that mixes symbols of `width` bytes, with coefficients that follow from `key`.
    pub fn new(config: &Config, key: u64, width: usize) -> Self {
        Self {
            config: *config,
            key,
            width,
            generations: VecDeque::new(),
            first: 0,
            is_open: false,
            spare: Vec::new(),
            last_size: 0,
            pending: VecDeque::new(),
            next_start: 0,
            acked: (0, 0),
            order: VecDeque::new(),
            acknowledged: 0,
            acknowledgments: VecDeque::new(),
            answered_to: SimTime::ZERO,
            round_trip: Duration::ZERO,
            flush_at: SimTime::MAX,
            flushes: 0,
            coefficients: Vec::new(),
            readings: EdgeReadings::default(),
        }
    }

    /// TCP sends a segment. One that is sent for the first time is put into the open generation,
    /// where `fill` writes its symbol; `sender` is called if a generation has to be opened.
    pub fn send(
        &mut self,
        now: SimTime,
        original: Original,
        fill: impl FnOnce(&mut [u8]),
        sender: impl FnOnce() -> Sender,
    ) {
        if original.start < self.next_start {
            self.send_again(original);
        } else {
            if self.readings.originals == 0 {
                self.acked.0 = original.start;
            }
            if !self.is_open {
                self.open(sender());
            }
            self.next_start = original.end;
            self.readings.originals += 1;
            let number = self.last();
            let generation = &mut self.generations[(number - self.first) as usize];
            let index = generation.entries.len() as u8;
            let largest_bytes = generation.entries.last().map_or(0, |e| e.largest_bytes);
            generation.entries.push(Entry {
                original,
                largest_bytes: original.bytes.max(largest_bytes),
                state: State::Sent,
                is_reported: false,
            });
            self.order.push_back((number, index));
            let at = generation.symbols.len();
            generation.symbols.resize(at + self.width, 0);
            fill(&mut generation.symbols[at..]);
            self.is_open = index + 1 < generation.size;
            self.pending.push_back((number, index));
            // While the network is silent, the next probe is not postponed.
            if self.flushes == 0 {
                self.flush_at = SimTime::MAX;
            }
        }
        if self.flush_at == SimTime::MAX && !self.order.is_empty() {
            self.flush_at = now.saturating_add(self.wait());
        }
    }

    fn last(&self) -> u32 {
        self.first + self.generations.len() as u32 - 1
    }

    fn open(&mut self, sender: Sender) {
        if self.round_trip == Duration::ZERO {
            self.round_trip = sender.round_trip;
        }
        let most = u32::from(self.config.max_generation);
        let mut generation = self.spare.pop().unwrap_or_default();
        generation.clear();
        generation.size = sender.cwnd_pkts.clamp(1, most) as u8;
        generation.previous_size = match self.generations.back() {
            Some(before) => before.size,
            None => self.last_size,
        };
        self.generations.push_back(generation);
        self.is_open = true;
        self.readings.generations += 1;
    }

    fn send_again(&mut self, original: Original) {
        let holds = |g: &Generation| {
            let end = g.entries.last().map_or(0, |entry| entry.original.end);
            original.start < end
        };
        let place = self.generations.iter().position(holds);
        let Some(place) = place.filter(|_| original.start >= self.acked.0) else {
            // It is acknowledged to TCP.
            self.readings.spurious_retransmits += 1;
            return;
        };
        let generation = &mut self.generations[place];
        let entries = &generation.entries;
        let index = entries.partition_point(|entry| entry.original.end <= original.start);
        let entry = &mut generation.entries[index];
        let number = self.first + place as u32;
        match entry.state {
            State::Dropped => {
                entry.state = State::Resent(u32::MAX);
                entry.original.stamp = original.stamp;
                generation.dropped -= 1;
                self.order.push_back((number, index as u8));
                self.readings.resent += 1;
                self.pending.push_back((number, index as u8));
            }
            State::Sent | State::Resent(_) => {
                self.readings.spurious_retransmits += 1;
                self.pending.push_back((number, REPAIR));
            }
            State::Acknowledged => self.readings.spurious_retransmits += 1,
        }
    }

    /// The next packet to be sent, and its symbol; `sequence` names it to
    /// [`on_drop`](Self::on_drop) and rises from packet to packet.
    pub fn poll_transmit(
        &mut self,
        now: SimTime,
        sequence: u64,
        symbol: &mut Vec<u8>,
    ) -> Option<Coded> {
        loop {
            let (number, index) = self.pending.pop_front()?;
            let Some(place) = number.checked_sub(self.first) else {
                continue;
            };
            let generation = &mut self.generations[place as usize];
            let packet = generation.sent.len() as u32;
            let mut covered = generation.entries.len() as u8;
            if index != REPAIR {
                let entry = &mut generation.entries[usize::from(index)];
                if let State::Resent(_) = entry.state {
                    entry.state = State::Resent(packet);
                } else {
                    covered = index + 1;
                }
            }
            let header = Header {
                generation: number,
                covered,
                size: generation.size,
                previous_size: generation.previous_size,
                round_trip: Header::round_trip_of(self.round_trip),
                number: packet,
                is_repair: index == REPAIR,
            };
            generation.sent.push(Sent {
                sequence,
                at: now,
                index,
                is_gone: false,
            });
            self.readings.packets += 1;
            self.coefficients.resize(usize::from(covered), 0);
            draw_coefficients(self.key, number, header.number, &mut self.coefficients);
            combine(&generation.symbols, self.width, &self.coefficients, symbol);
            let listed_bytes = match self.config.coefficients {
                Coefficients::Seed => 0,
                Coefficients::Explicit => u32::from(covered),
            };
            let largest_bytes = generation.entries[usize::from(covered) - 1].largest_bytes;
            return Some(Coded {
                header,
                bytes: HEADER_BYTES + listed_bytes + LENGTH_BYTES + largest_bytes,
            });
        }
    }

    /// Handles an answer of the receiver. TCP's acknowledgments wait in
    /// [`poll_acknowledgment`](Self::poll_acknowledgment).
    pub fn on_answer(&mut self, now: SimTime, answer: &Answer) {
        for (number, generation) in (self.first..).zip(&mut self.generations) {
            if number < answer.base {
                generation.rank = u8::MAX;
            }
            if number == answer.base {
                generation.rank = generation.rank.max(answer.base_rank);
            }
            if number != answer.generation {
                continue;
            }
            generation.rank = generation.rank.max(answer.rank);
            if answer.kind == AnswerKind::Request {
                let reordering = self.config.request_timer;
                let coming = generation.repairs_outstanding(self.answered_to, reordering);
                let missing = generation
                    .outstanding()
                    .saturating_sub(generation.arrived());
                for _ in coming..missing {
                    self.pending.push_back((number, REPAIR));
                    self.readings.repairs += 1;
                }
                continue;
            }
            generation.answered = generation.answered.max(answer.number.saturating_add(1));
            if let Some(sent) = generation.sent.get_mut(answer.number as usize) {
                sent.is_gone = true;
                self.answered_to = self.answered_to.max(sent.at);
                let sample = now.saturating_since(sent.at);
                self.round_trip = if self.round_trip == Duration::ZERO {
                    sample
                } else {
                    // RFC 6298 §2.3.
                    Duration::from_ps((7 * self.round_trip.as_ps() + sample.as_ps()) / 8)
                };
            }
        }
        let has_progress = self.acknowledge_arrivals();
        if has_progress {
            self.flushes = 0;
            self.flush_at = if self.is_open || !self.order.is_empty() {
                now.saturating_add(self.wait())
            } else {
                SimTime::MAX
            };
        }
        let stamp = self.advance();
        let hole = self.hole();
        let repeats = answer.kind == AnswerKind::Innovative
            && (hole == Some(State::Dropped) || (hole.is_some() && has_progress));
        if stamp.is_some() || repeats {
            self.acknowledge(stamp, hole.is_some());
        }
    }

    /// The next acknowledgment for TCP.
    pub fn poll_acknowledgment(&mut self) -> Option<Acknowledgment> {
        self.acknowledgments.pop_front()
    }

    /// Acknowledges as many originals as packets arrived, in order. Returns whether there were any.
    fn acknowledge_arrivals(&mut self) -> bool {
        let before = self.order.len();
        let arrived: usize = self.generations.iter().map(Generation::arrived).sum();
        while self.acknowledged < arrived
            && let Some(&(number, index)) = self.order.front()
        {
            let generation = &mut self.generations[(number - self.first) as usize];
            let entry = &mut generation.entries[usize::from(index)];
            // Other packets may have raised the ranks before this original was retransmitted.
            let answered = generation.answered;
            if matches!(entry.state, State::Resent(packet) if packet >= answered) {
                break;
            }
            entry.state = State::Acknowledged;
            self.acknowledged += 1;
            self.order.pop_front();
        }
        self.order.len() < before
    }

    /// Advances the cumulative acknowledgment; returns the timestamp of the first segment that is
    /// newly acknowledged. Frees generations that are complete and acknowledged.
    fn advance(&mut self) -> Option<u32> {
        let mut stamp = None;
        for entry in self.generations.iter().flat_map(|g| &g.entries) {
            if entry.original.end <= self.acked.0 {
                continue;
            }
            if entry.state != State::Acknowledged {
                break;
            }
            stamp = stamp.or(Some(entry.original.stamp));
            self.acked = (entry.original.end, entry.original.stamp);
        }
        while let Some(generation) = self.generations.front() {
            let is_open = self.is_open && self.generations.len() == 1;
            let end = generation
                .entries
                .last()
                .map_or(0, |entry| entry.original.end);
            if is_open || end > self.acked.0 || generation.arrived() < generation.entries.len() {
                break;
            }
            self.acknowledged -= generation.entries.len();
            self.first += 1;
            if let Some(generation) = self.generations.pop_front() {
                self.last_size = generation.size;
                self.spare.push(generation);
            }
        }
        stamp
    }

    /// The state of the first original that is not acknowledged to TCP, if the edge dropped it.
    fn hole(&self) -> Option<State> {
        let mut entries = self.generations.iter().flat_map(|g| &g.entries);
        let state = entries
            .find(|entry| entry.original.end > self.acked.0)?
            .state;
        matches!(state, State::Dropped | State::Resent(_)).then_some(state)
    }

    /// Queues an acknowledgment, with SACK blocks beyond a hole. One acknowledgment carries four
    /// blocks; more new blocks take several.
    fn acknowledge(&mut self, stamp: Option<u32>, has_hole: bool) {
        let acked = self.acked.0;
        let mut ack = Acknowledgment {
            ack: acked,
            stamp: stamp.unwrap_or(self.acked.1),
            is_duplicate: stamp.is_none(),
            blocks: Default::default(),
        };
        let mut count = 0;
        // The current block, and whether part of it is not reported to TCP.
        let mut block: Option<((u64, u64), bool)> = None;
        let entries = self.generations.iter_mut().flat_map(|g| &mut g.entries);
        let beyond = entries.filter(|entry| has_hole && entry.original.end > acked);
        for entry in beyond.map(Some).chain([None]) {
            if let Some(entry) = entry
                && entry.state == State::Acknowledged
            {
                let Original { start, end, .. } = entry.original;
                let (of, is_new) = block.unwrap_or(((start, end), false));
                block = Some(((of.0, end), is_new || !entry.is_reported));
                entry.is_reported = true;
            } else if let Some((of, true)) = block.take() {
                if count == ack.blocks.len() {
                    self.acknowledgments.push_back(ack);
                    self.readings.duplicate_acks += u64::from(ack.is_duplicate);
                    (ack.is_duplicate, ack.stamp) = (true, self.acked.1);
                    ack.blocks = Default::default();
                    count = 0;
                }
                ack.blocks[count] = of;
                count += 1;
            }
        }
        self.acknowledgments.push_back(ack);
        self.readings.duplicate_acks += u64::from(ack.is_duplicate);
    }

    /// The edge's own queue dropped the packet that was sent under `sequence`. Returns whether TCP
    /// has to be notified: the packet carried an original that is not acknowledged.
    pub fn on_drop(&mut self, sequence: u64) -> bool {
        for (number, generation) in (self.first..).zip(&mut self.generations) {
            let sent = &mut generation.sent;
            let Ok(place) = sent.binary_search_by_key(&sequence, |sent| sent.sequence) else {
                continue;
            };
            sent[place].is_gone = true;
            let index = sent[place].index;
            if index == REPAIR {
                self.readings.repair_drops += 1;
                return false;
            }
            self.readings.edge_drops += 1;
            let entry = &mut generation.entries[usize::from(index)];
            if entry.state == State::Acknowledged {
                return false;
            }
            entry.state = State::Dropped;
            generation.dropped += 1;
            self.order.retain(|&original| original != (number, index));
            return true;
        }
        false
    }

    /// When [`on_timer`](Self::on_timer) is due; [`SimTime::MAX`] if no timer runs.
    pub fn next_timeout(&self) -> SimTime {
        self.flush_at
    }

    /// Handles the timeout after a round trip and a request timer of silence: an open generation is
    /// closed, so that the receiver learns its size, and if TCP waits for an acknowledgment, a
    /// combination of the first incomplete generation probes for an answer. Does nothing before the
    /// timeout.
    pub fn on_timer(&mut self, now: SimTime) {
        if now < self.flush_at {
            return;
        }
        if let Some(generation) = self.generations.back_mut()
            && self.is_open
        {
            generation.size = generation.entries.len() as u8;
            self.is_open = false;
        }
        self.flush_at = SimTime::MAX;
        if let Some(&(front, _)) = self.order.front() {
            let is_short = |g: &Generation| g.arrived() < g.outstanding();
            let short = self.generations.iter().position(is_short);
            let number = short.map_or(front, |place| self.first + place as u32);
            self.pending.push_back((number, REPAIR));
            self.readings.probes += 1;
            self.flushes += 1;
            self.flush_at = now.saturating_add(backed_off(self.wait(), self.flushes));
        }
    }

    fn wait(&self) -> Duration {
        self.round_trip + self.config.request_timer
    }

    /// The counters.
    pub fn readings(&self) -> &EdgeReadings {
        &self.readings
    }
}
