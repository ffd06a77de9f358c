//! The receiving half: in-order delivery, the holes, and the SACK blocks that describe them.
//!
//! The application reads at once, so only out-of-order data takes up the buffer; the window
//! offered starts small and grows up to what the buffer's memory allows
//! ([`crate::receive_memory`]), which itself may be tuned ([`crate::autotuning`]).

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

use crate::autotuning::Autotuning;
use crate::config::Config;
use crate::delayed_ack::AckSchedule;
use crate::receive_memory::{Placed, ReceiveMemory};
use crate::sack_list::SackList;
use crate::segment::{Flags, SackBlock, SackBlocks, Segment};
use crate::ts_recent::TsRecent;

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    rcv_nxt: u64,
    memory: ReceiveMemory,
    autotuning: Option<Autotuning>,
    /// The window offered now (Linux: rcv_ssthresh).
    window_bytes: u32,
    selective: bool,
    timestamps: bool,
    /// Data beyond `rcv_nxt`, disjoint and ascending.
    out_of_order: VecDeque<SackBlock>,
    recent: SackList,
    /// An acknowledgment to leave before the one that is due, with these blocks.
    earlier: Option<SackBlocks>,
    /// Data that came twice, to be reported once (RFC 2883).
    duplicate: Option<SackBlock>,
    /// The peer's FIN, once seen.
    fin_seq: Option<u64>,
    /// The timestamp to echo (RFC 7323 §4.3).
    ts_recent: TsRecent,
    tick_us: u32,
    refuses_old: bool,
    pub(crate) acks: AckSchedule,
}

/// The sequence number after `segment`, its FIN included.
fn end_of(segment: &Segment) -> u64 {
    let has_fin = segment.flags.contains(Flags::FIN);
    segment.seq + u64::from(segment.payload_bytes) + u64::from(has_fin)
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        let most_bytes = config.receive_autotuning_max_bytes();
        let buffer_bytes = config.receive_buffer_bytes();
        let memory = ReceiveMemory::new(config.mss_bytes(), buffer_bytes, most_bytes);
        let initial_bytes = config.initial_receive_window_bytes();
        let window_bytes = initial_bytes.min(memory.clamp_bytes());
        Self {
            rcv_nxt: 0,
            memory,
            window_bytes,
            autotuning: most_bytes.map(|_| {
                Autotuning::new(config.mss_bytes(), window_bytes, config.timestamp_tick_us())
            }),
            selective: config.sack,
            timestamps: config.timestamps,
            out_of_order: VecDeque::new(),
            recent: SackList::default(),
            earlier: None,
            duplicate: None,
            fin_seq: None,
            ts_recent: TsRecent::new(config.timestamp_tick_us()),
            tick_us: config.timestamp_tick_us(),
            refuses_old: config.paws,
            acks: AckSchedule::new(config),
        }
    }

    /// The peer's SYN, with sequence number `seq`.
    pub(crate) fn on_syn(&mut self, now: SimTime, segment: &Segment) {
        self.rcv_nxt = segment.seq + 1;
        self.ts_recent.store(now, segment.ts_val);
    }

    /// Protection against wrapped sequence numbers (RFC 7323, PAWS): whether `segment` left
    /// before one that moved the window, and is refused. Linux (`tcp_paws_discard`) forgives
    /// one tick, and an acknowledgment that changes nothing but the scoreboard, not older than
    /// `rto`; `repeats`: it acknowledges what already was and tells no new window.
    #[inline]
    pub(crate) fn refuses(
        &mut self,
        now: SimTime,
        segment: &Segment,
        repeats: bool,
        rto: Duration,
    ) -> bool {
        let ticks_late = self.ts_recent.ticks_late(now, segment.ts_val);
        if !self.refuses_old || ticks_late <= 1 {
            return false;
        }
        let end = end_of(segment);
        if end == segment.seq {
            let rto_ticks = rto.as_micros() / u64::from(self.tick_us);
            return !(repeats && segment.seq == self.rcv_nxt && u64::from(ticks_late) <= rto_ticks);
        }
        // `tcp_send_dupack`: what is known already is reported as a duplicate.
        if segment.seq < self.rcv_nxt {
            self.duplicate = Some(SackBlock {
                start: segment.seq,
                end: end.min(self.rcv_nxt),
            });
            self.acks.on_duplicate();
        }
        self.acks.ack_now();
        true
    }

    /// The handshake is done.
    pub(crate) fn on_established(&mut self, now: SimTime) {
        if let Some(autotuning) = &mut self.autotuning {
            autotuning.on_established(now, self.rcv_nxt);
        }
    }

    pub(crate) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    pub(crate) fn window_bytes(&self) -> u32 {
        self.window_bytes
    }

    /// Data arrived that the application will read: offer more, if there is memory for it.
    #[inline]
    fn grow_window(&mut self, payload_bytes: u32, placed: Placed) {
        let window_bytes = self.window_bytes;
        let growth_bytes = self
            .memory
            .growth_bytes(window_bytes, payload_bytes, placed);
        if growth_bytes > 0 {
            self.window_bytes += growth_bytes;
            self.acks.on_window_growth();
        }
    }

    /// The application reads what came in order, the first buffer up to `first_end`. It measures
    /// after each buffer, at one time, so that only the first can end a round.
    #[inline]
    fn tune(&mut self, now: SimTime, first_end: u64) {
        if let Some(autotuning) = &mut self.autotuning
            && let Some(window_bytes) = autotuning.on_read(now, first_end)
        {
            self.memory.raise(window_bytes);
        }
    }

    pub(crate) fn ts_recent(&self) -> u32 {
        self.ts_recent.value()
    }

    /// Whether the peer has closed and everything it sent has arrived.
    pub(crate) fn has_finished(&self) -> bool {
        self.fin_seq.is_some_and(|fin_seq| self.rcv_nxt > fin_seq)
    }

    /// Application bytes delivered in order.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.rcv_nxt.saturating_sub(1) - u64::from(self.has_finished())
    }

    /// Takes a segment of an established connection.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: SimTime, segment: &Segment) {
        let has_fin = segment.flags.contains(Flags::FIN);
        let end = end_of(segment);
        // What lies before the last acknowledgment sent is not acceptable, and tells no time.
        if segment.ts_val != 0
            && segment.seq <= self.acks.acknowledged()
            && end >= self.acks.acknowledged()
            && self.ts_recent.ticks_late(now, segment.ts_val) == 0
        {
            self.ts_recent.store(now, segment.ts_val);
        }
        if segment.payload_bytes == 0 && !has_fin {
            if segment.seq < self.rcv_nxt {
                // A window probe or an old duplicate (RFC 9293 §3.10.7.4).
                self.acks.ack_now();
            }
            return;
        }
        let start = segment.seq;
        if end <= self.rcv_nxt {
            self.duplicate = Some(SackBlock { start, end });
            self.acks.on_duplicate();
            return;
        }
        if end > self.rcv_nxt + u64::from(self.window_bytes) + 1 {
            // Beyond the window offered (a FIN needs none): refused.
            self.acks.ack_now();
            return;
        }
        if has_fin {
            self.fin_seq = Some(end - 1);
        }
        if let Some(autotuning) = &mut self.autotuning {
            autotuning.on_data(now, segment, self.acks.full_bytes());
        }
        if start <= self.rcv_nxt {
            if start < self.rcv_nxt {
                let end = self.rcv_nxt;
                self.duplicate = Some(SackBlock { start, end });
                self.acks.on_duplicate();
            }
            self.rcv_nxt = end;
            if let Some(autotuning) = &mut self.autotuning {
                autotuning.on_in_order(now, end, self.window_bytes);
            }
            self.grow_window(segment.payload_bytes, Placed::InOrder);
            let filled_a_hole = !self.out_of_order.is_empty();
            let mut first_end = end;
            if filled_a_hole {
                first_end = self.memory.release(end);
                self.take_what_became_in_order();
            }
            self.tune(now, first_end);
            self.acks.on_in_order(
                now,
                segment.payload_bytes,
                self.rcv_nxt,
                !self.out_of_order.is_empty(),
            );
            if self.has_finished() || (filled_a_hole && self.out_of_order.is_empty()) {
                self.acks.ack_now();
            }
        } else {
            let block = SackBlock { start, end };
            let is_told = self.tell_earlier(&block);
            self.take_out_of_order(block);
            let placed = self.memory.hold(block, segment.payload_bytes);
            if self.selective {
                self.grow_window(segment.payload_bytes, placed);
            }
            if !is_told {
                self.acks.on_out_of_order(now, self.rcv_nxt);
            }
        }
    }

    fn take_what_became_in_order(&mut self) {
        while let Some(block) = self.out_of_order.front()
            && block.start <= self.rcv_nxt
        {
            self.rcv_nxt = self.rcv_nxt.max(block.end);
            self.out_of_order.pop_front();
        }
        self.recent.forget_up_to(self.rcv_nxt);
    }

    /// Few blocks fit into an acknowledgment: one that is being held back leaves before `block`
    /// pushes more than one of its blocks aside (`tcp_sack_compress_send_ack`). As in Linux it
    /// also counts for the segment that brought `block`, which the next one will report.
    fn tell_earlier(&mut self, block: &SackBlock) -> bool {
        const BLOCKS_EXPECTED: usize = 2;
        let tells = self.acks.is_merging() && self.recent.position(block) >= BLOCKS_EXPECTED;
        if tells {
            self.earlier = Some(self.sack_blocks());
            self.acks.on_ack_sent(self.rcv_nxt);
        }
        tells
    }

    fn take_out_of_order(&mut self, block: SackBlock) {
        self.recent.push(block);
        let mut merged = block;
        // The first block that ends at or after the new one's start; most often there is none
        // or it is the last.
        let mut at = match self.out_of_order.back() {
            Some(last) if last.end >= block.start => {
                self.out_of_order.partition_point(|b| b.end < block.start)
            }
            _ => self.out_of_order.len(),
        };
        let first = at;
        while let Some(&existing) = self.out_of_order.get(at)
            && existing.start <= block.end
        {
            let overlap = SackBlock {
                start: existing.start.max(block.start),
                end: existing.end.min(block.end),
            };
            if overlap.start < overlap.end {
                self.duplicate.get_or_insert(overlap);
            }
            merged.start = merged.start.min(existing.start);
            merged.end = merged.end.max(existing.end);
            at += 1;
        }
        match at - first {
            0 => self.out_of_order.insert(first, merged),
            count => {
                self.out_of_order[first] = merged;
                if count > 1 {
                    self.out_of_order.drain(first + 1..at);
                }
            }
        }
    }

    /// The blocks of an acknowledgment that must leave before the one that is due.
    pub(crate) fn take_earlier(&mut self) -> Option<SackBlocks> {
        self.earlier.take()
    }

    /// The SACK option for an acknowledgment sent now; with timestamps there is room for three
    /// blocks. The report of a duplicate is used up.
    pub(crate) fn sack_blocks(&mut self) -> SackBlocks {
        let duplicate = self.duplicate.take();
        let mut blocks = SackBlocks::EMPTY;
        if !self.selective {
            return blocks;
        }
        let room = SackBlocks::CAPACITY - usize::from(self.timestamps);
        let recent = self.recent.blocks().iter().copied();
        for block in duplicate.into_iter().chain(recent).take(room) {
            blocks.push(self.rcv_nxt, block);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use backlane_units::Bytes;

    use super::*;

    fn receiver() -> Receiver {
        let mut receiver = Receiver::new(&Config::default());
        receiver.on_syn(SimTime::ZERO, &Segment::default());
        receiver
    }

    fn arrive(receiver: &mut Receiver, seq: u64, payload_bytes: u32) -> Vec<(u64, u64)> {
        let segment = Segment {
            seq,
            payload_bytes,
            flags: Flags::ACK,
            ..Segment::default()
        };
        receiver.on_segment(SimTime::ZERO, &segment);
        let ack = receiver.rcv_nxt();
        let blocks = receiver.sack_blocks();
        blocks.iter(ack).map(|b| (b.start, b.end)).collect()
    }

    #[test]
    fn the_newest_block_is_reported_first_and_three_at_most() {
        let mut receiver = receiver();
        arrive(&mut receiver, 101, 100);
        arrive(&mut receiver, 301, 100);
        arrive(&mut receiver, 501, 100);
        let blocks = arrive(&mut receiver, 701, 100);
        assert_eq!(blocks, [(701, 801), (501, 601), (301, 401)]);
    }

    #[test]
    fn a_block_that_grows_moves_to_the_front_and_swallows_its_neighbour() {
        let mut receiver = receiver();
        arrive(&mut receiver, 101, 100);
        arrive(&mut receiver, 301, 100);
        arrive(&mut receiver, 501, 100);
        let blocks = arrive(&mut receiver, 201, 100);
        assert_eq!(blocks, [(101, 401), (501, 601)]);
    }

    #[test]
    fn data_that_comes_twice_is_reported_once_and_first() {
        let mut receiver = receiver();
        arrive(&mut receiver, 1, 100);
        arrive(&mut receiver, 301, 100);
        assert_eq!(arrive(&mut receiver, 1, 100), [(1, 101), (301, 401)]);
        assert_eq!(arrive(&mut receiver, 301, 100), [(301, 401), (301, 401)]);
        assert_eq!(arrive(&mut receiver, 501, 100), [(501, 601), (301, 401)]);
    }

    #[test]
    fn a_filled_hole_delivers_what_lay_behind_it() {
        let mut receiver = receiver();
        arrive(&mut receiver, 101, 100);
        arrive(&mut receiver, 301, 100);
        assert_eq!(arrive(&mut receiver, 1, 100), [(301, 401)]);
        assert_eq!(receiver.received_bytes(), 200);
    }

    #[test]
    fn a_long_segment_covers_what_lay_behind_its_start() {
        let mut receiver = receiver();
        arrive(&mut receiver, 101, 100);
        arrive(&mut receiver, 1, 300);
        assert_eq!(receiver.received_bytes(), 300);
    }

    #[test]
    fn a_delayed_acknowledgment_echoes_the_oldest_timestamp() {
        // RFC 7323 §4.3: the RTT then includes the delay.
        let mut receiver = receiver();
        receiver.acks.on_ack_sent(1);
        for (seq, ts_val) in [(1, 10), (101, 20)] {
            let segment = Segment {
                seq,
                ts_val,
                payload_bytes: 100,
                flags: Flags::ACK,
                ..Segment::default()
            };
            receiver.on_segment(SimTime::ZERO, &segment);
        }
        assert_eq!(receiver.ts_recent(), 10);
    }

    /// A segment of 100 bytes that left at `ts_val` microseconds; whether it was refused.
    fn arrive_late(receiver: &mut Receiver, seq: u64, ts_val: u32) -> bool {
        let segment = Segment {
            seq,
            ts_val,
            payload_bytes: 100,
            flags: Flags::ACK,
            ..Segment::default()
        };
        let refused = receiver.refuses(SimTime::ZERO, &segment, false, Duration::ZERO);
        if !refused {
            receiver.on_segment(SimTime::ZERO, &segment);
        }
        refused
    }

    /// `tcp_paws_discard` and `tcp_replace_ts_recent`: a retransmission on a short path brings
    /// a newer timestamp than the data that it overtook.
    #[test]
    fn what_a_retransmission_overtook_is_refused_when_two_ticks_older() {
        let mut receiver = receiver();
        receiver.acks.on_ack_sent(1);
        assert!(!arrive_late(&mut receiver, 101, 10_000));
        assert!(!arrive_late(&mut receiver, 1, 50_900));
        assert_eq!((receiver.rcv_nxt(), receiver.ts_recent()), (201, 50_900));
        receiver.acks.on_ack_sent(201);
        assert!(!arrive_late(&mut receiver, 401, 49_000));
        assert!(arrive_late(&mut receiver, 301, 48_999));
        assert!(receiver.acks.is_due());
        // What lies ahead is no duplicate; the hole at 301 is still there.
        let ack = receiver.rcv_nxt();
        let blocks: Vec<_> = receiver.sack_blocks().iter(ack).collect();
        assert_eq!(
            blocks,
            [SackBlock {
                start: 401,
                end: 501
            }]
        );
    }

    #[test]
    fn an_old_segment_that_is_known_is_reported_as_a_duplicate() {
        let mut receiver = receiver();
        receiver.acks.on_ack_sent(1);
        arrive_late(&mut receiver, 1, 50_000);
        assert!(arrive_late(&mut receiver, 1, 10_000));
        let blocks: Vec<_> = receiver.sack_blocks().iter(101).collect();
        assert_eq!(blocks, [SackBlock { start: 1, end: 101 }]);
    }

    /// `tcp_sequence` comes before `tcp_replace_ts_recent`.
    #[test]
    fn a_spurious_retransmission_gives_no_rtt_sample() {
        let mut receiver = receiver();
        receiver.acks.on_ack_sent(1);
        arrive_late(&mut receiver, 1, 10_000);
        arrive_late(&mut receiver, 101, 10_000);
        receiver.acks.on_ack_sent(201);
        arrive_late(&mut receiver, 1, 50_000);
        assert_eq!(receiver.ts_recent(), 10_000);
    }

    /// `tcp_disordered_ack`.
    #[test]
    fn an_old_acknowledgment_may_only_repeat() {
        let mut receiver = receiver();
        receiver.acks.on_ack_sent(1);
        arrive_late(&mut receiver, 1, 50_000);
        let ack = Segment {
            seq: 101,
            ts_val: 10_000,
            flags: Flags::ACK,
            ..Segment::default()
        };
        let mut refuses = |repeats, rto_ms| {
            let rto = Duration::from_millis(rto_ms);
            receiver.refuses(SimTime::ZERO, &ack, repeats, rto)
        };
        assert!(refuses(false, 200));
        assert!(!refuses(true, 200));
        assert!(refuses(true, 39));
    }

    #[test]
    fn without_paws_nothing_is_too_old() {
        let mut receiver = Receiver::new(&Config {
            paws: false,
            ..Config::default()
        });
        receiver.on_syn(SimTime::ZERO, &Segment::default());
        receiver.acks.on_ack_sent(1);
        arrive_late(&mut receiver, 1, 50_000);
        assert!(!arrive_late(&mut receiver, 101, 10_000));
    }

    /// `tcp_data_queue_ofo`: without SACK a window that grew would make the acknowledgments of data
    /// beyond a hole no duplicates (RFC 5681 §2), and the sender would wait for its timeout.
    #[test]
    fn without_sack_data_beyond_a_hole_leaves_the_window() {
        let growth_bytes = |sack| {
            let mut receiver = Receiver::new(&Config {
                sack,
                ..Config::default()
            });
            receiver.on_syn(SimTime::ZERO, &Segment::default());
            let window_bytes = receiver.window_bytes();
            arrive(&mut receiver, 2001, 1448);
            receiver.window_bytes() - window_bytes
        };
        assert_eq!((growth_bytes(true), growth_bytes(false)), (2896, 0));
    }

    #[test]
    fn data_beyond_the_window_is_refused() {
        let config = Config {
            receive_buffer: Bytes::new(1000),
            ..Config::default()
        };
        let mut receiver = Receiver::new(&config);
        receiver.on_syn(SimTime::ZERO, &Segment::default());
        assert_eq!(arrive(&mut receiver, 1000, 100), []);
    }
}
