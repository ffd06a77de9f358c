//! The source side: what TCP sends is mixed, and what the receiver answers becomes TCP's
//! acknowledgments.
//!
//! A generation has as many originals as TCP's window has packets when it opens. What the
//! receiver says is a rank: so many independent packets came. The edge keeps the order in which
//! originals were put on the way, and tells TCP in this order of as many of each generation as
//! its rank covers. A packet lost in the network only makes the rank rise later, so that TCP sees
//! neither a loss nor a packet out of order. A packet that the edge's own queue dropped is another
//! matter: its original leaves the order, the answers that follow become duplicate acknowledgments
//! around it, and it comes back into the order, at the end, when TCP sends it again. To TCP the
//! network is a queue that drops at its entrance and nowhere else.

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

use crate::config::{Coefficients, Config, backed_off};
use crate::generation::{combine, draw_coefficients};
use crate::message::{Answer, AnswerKind, HEADER_BYTES, Header, LENGTH_BYTES};

/// A segment that TCP sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// Its first sequence number.
    pub start: u64,
    /// The sequence number after it.
    pub end: u64,
    /// TCP's timestamp, which its acknowledgment is to echo.
    pub stamp: u32,
    /// Its bytes on the wire with the TCP header and without the IP header.
    pub bytes: u32,
}

/// What the sender is like when a generation opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The congestion window.
    pub cwnd_pkts: u32,
    /// TCP's smoothed round trip, which the layer takes until it has measured its own.
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
    /// It acknowledges nothing new: something that the edge dropped is missing.
    pub is_duplicate: bool,
    /// What arrived beyond what is missing; zeros at the end.
    pub blocks: [(u64, u64); 4],
}

/// What an edge counted.
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
    /// Of these, combinations sent because nothing was heard for a while.
    pub probes: u64,
    /// Packets that brought an original on its way and were dropped by the edge's own queue.
    pub edge_drops: u64,
    /// Repairs and probes that were.
    pub repair_drops: u64,
    /// Originals that TCP sent again after such a drop.
    pub resent: u64,
    /// Originals that TCP sent again while the layer still cared for them.
    pub spurious_retransmits: u64,
    /// Duplicate acknowledgments given to TCP.
    pub duplicate_acks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// On its way, or lost in the network.
    Sent,
    /// The edge's own queue dropped it, and TCP has not sent it again.
    Dropped,
    /// TCP sent it again, in the packet of this number.
    Resent(u16),
    /// TCP was told that it arrived.
    Told,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    original: Original,
    /// Bytes of the largest original up to here.
    largest_bytes: u32,
    state: State,
    /// It was among the blocks of an acknowledgment.
    is_reported: bool,
}

/// The packet brings no original on its way.
const REPAIR: u8 = u8::MAX;

/// A packet made.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The name that the caller gave it.
    sequence: u64,
    at: SimTime,
    /// The original that it brought on its way, or [`REPAIR`].
    index: u8,
}

#[derive(Debug, Default)]
struct Generation {
    size: u8,
    previous_size: u8,
    entries: Vec<Entry>,
    symbols: Vec<u8>,
    /// Originals that the edge's queue dropped, and that TCP has not sent again.
    dropped: usize,
    /// Originals that TCP was told of.
    told: usize,
    rank: u8,
    /// One more than the highest number of a packet that was answered.
    answered: u16,
    /// The packets made, by number.
    sent: Vec<Sent>,
}

impl Generation {
    fn clear(&mut self) {
        self.entries.clear();
        self.symbols.clear();
        self.sent.clear();
        (self.dropped, self.told, self.rank, self.answered) = (0, 0, 0, 0);
    }

    /// Originals that were put on their way, and not dropped since.
    fn on_way(&self) -> usize {
        self.entries.len() - self.dropped
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
    /// The last of these takes further originals.
    is_open: bool,
    spare: Vec<Generation>,
    last_size: u8,
    /// Packets to be made: the generation, and the original that is brought on its way.
    pending: VecDeque<(u32, u8)>,
    /// The sequence number after all that was sent.
    next_start: u64,
    /// What TCP was told last, and of which timestamp.
    acked: (u64, u32),
    /// Originals that were put on their way and that TCP was not told of, by generation and place
    /// in it, in the order in which they were.
    order: VecDeque<(u32, u8)>,
    acknowledgments: VecDeque<Acknowledgment>,
    /// Smoothed, of packets to their answers; repairs take no part in it. Zero: not measured.
    round_trip: Duration,
    flush_at: SimTime,
    /// How often nothing was heard in a row.
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
            acknowledgments: VecDeque::new(),
            round_trip: Duration::ZERO,
            flush_at: SimTime::MAX,
            flushes: 0,
            coefficients: Vec::new(),
            readings: EdgeReadings::default(),
        }
    }

    /// TCP sends a segment. One that is sent for the first time is put into the open generation,
    /// where `fill` writes its symbol; `sender` is asked if one has to be opened.
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
            // Unless the network is silent, and its next probe is not to be put off.
            if self.flushes == 0 {
                self.flush_at = now.saturating_add(self.wait());
            }
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
            // TCP was told of it before.
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
                entry.state = State::Resent(u16::MAX);
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
            State::Told => self.readings.spurious_retransmits += 1,
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
            let packet = generation.sent.len() as u16;
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

    /// The receiver answered. What TCP is to be told waits in
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
                let rank = usize::from(generation.rank);
                for _ in rank..generation.on_way() {
                    self.pending.push_back((number, REPAIR));
                    self.readings.repairs += 1;
                }
                continue;
            }
            generation.answered = generation.answered.max(answer.number.saturating_add(1));
            if let Some(sent) = generation.sent.get(usize::from(answer.number)) {
                let sample = now.saturating_since(sent.at);
                self.round_trip = if self.round_trip == Duration::ZERO {
                    sample
                } else {
                    // RFC 6298 §2.3.
                    Duration::from_ps((7 * self.round_trip.as_ps() + sample.as_ps()) / 8)
                };
            }
        }
        let has_news = self.tell();
        if has_news {
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
            && (hole == Some(State::Dropped) || (hole.is_some() && has_news));
        if stamp.is_some() || repeats {
            self.acknowledge(stamp, hole.is_some());
        }
    }

    /// What TCP is to be told next.
    pub fn poll_acknowledgment(&mut self) -> Option<Acknowledgment> {
        self.acknowledgments.pop_front()
    }

    /// Tells TCP of what the ranks cover, in order; whether there was anything.
    fn tell(&mut self) -> bool {
        let before = self.order.len();
        while let Some(&(number, index)) = self.order.front() {
            let generation = &mut self.generations[(number - self.first) as usize];
            let entry = &mut generation.entries[usize::from(index)];
            // The rank may have risen for other packets before this one was sent again.
            let answered = generation.answered;
            let is_early = matches!(entry.state, State::Resent(packet) if packet >= answered);
            if generation.told >= usize::from(generation.rank) || is_early {
                break;
            }
            entry.state = State::Told;
            generation.told += 1;
            self.order.pop_front();
        }
        self.order.len() < before
    }

    /// Moves the acknowledged part up and lets go of generations that TCP knows all of; gives the
    /// timestamp of the first segment that is newly acknowledged.
    fn advance(&mut self) -> Option<u32> {
        let mut stamp = None;
        while let Some(generation) = self.generations.front() {
            let from = generation
                .entries
                .partition_point(|entry| entry.original.end <= self.acked.0);
            for entry in &generation.entries[from..] {
                if entry.state != State::Told {
                    return stamp;
                }
                stamp = stamp.or(Some(entry.original.stamp));
                self.acked = (entry.original.end, entry.original.stamp);
            }
            if self.is_open && self.generations.len() == 1 {
                break;
            }
            self.first += 1;
            if let Some(generation) = self.generations.pop_front() {
                self.last_size = generation.size;
                self.spare.push(generation);
            }
        }
        stamp
    }

    /// The state of the first original that TCP was not told of, if the edge dropped it.
    fn hole(&self) -> Option<State> {
        let generation = self.generations.front()?;
        let entries = &generation.entries;
        let at = entries.partition_point(|entry| entry.original.end <= self.acked.0);
        let state = entries.get(at)?.state;
        matches!(state, State::Dropped | State::Resent(_)).then_some(state)
    }

    /// Tells TCP how far everything has arrived, and what arrived beyond a hole. One
    /// acknowledgment carries four blocks; more news than that takes several.
    fn acknowledge(&mut self, stamp: Option<u32>, has_hole: bool) {
        let acked = self.acked.0;
        let mut ack = Acknowledgment {
            ack: acked,
            stamp: stamp.unwrap_or(self.acked.1),
            is_duplicate: stamp.is_none(),
            blocks: Default::default(),
        };
        let mut count = 0;
        // The present block, and whether TCP was not told of all of it.
        let mut block: Option<((u64, u64), bool)> = None;
        let entries = self.generations.iter_mut().flat_map(|g| &mut g.entries);
        let beyond = entries.filter(|entry| has_hole && entry.original.end > acked);
        for entry in beyond.map(Some).chain([None]) {
            if let Some(entry) = entry
                && entry.state == State::Told
            {
                let Original { start, end, .. } = entry.original;
                let (of, is_news) = block.unwrap_or(((start, end), false));
                block = Some(((of.0, end), is_news || !entry.is_reported));
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

    /// The edge's own queue dropped the packet that was sent under `sequence`. Whether TCP is to
    /// learn of it: the packet brought an original on its way that TCP was not told of.
    pub fn on_drop(&mut self, sequence: u64) -> bool {
        for (number, generation) in (self.first..).zip(&mut self.generations) {
            let sent = &generation.sent;
            let Ok(place) = sent.binary_search_by_key(&sequence, |sent| sent.sequence) else {
                continue;
            };
            let index = sent[place].index;
            if index == REPAIR {
                self.readings.repair_drops += 1;
                return false;
            }
            self.readings.edge_drops += 1;
            let entry = &mut generation.entries[usize::from(index)];
            if entry.state == State::Told {
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

    /// Nothing was sent or told for a round trip and a request timer: an open generation is
    /// closed, so that the receiver can be told its size, and if TCP waits for anything, a
    /// combination of its generation asks for an answer. Does nothing before the timeout.
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
        if let Some(&(number, _)) = self.order.front() {
            self.pending.push_back((number, REPAIR));
            self.readings.probes += 1;
            self.flushes += 1;
            self.flush_at = now.saturating_add(backed_off(self.wait(), self.flushes));
        }
    }

    fn wait(&self) -> Duration {
        self.round_trip + self.config.request_timer
    }

    /// What was counted so far.
    pub fn readings(&self) -> &EdgeReadings {
        &self.readings
    }
}
