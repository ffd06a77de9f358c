//! The receiving half: in-order delivery, the holes, and the SACK blocks that describe them.
//!
//! The application reads at once, so only out-of-order data takes up the buffer; the window
//! offered starts small and grows up to the buffer, which itself may be tuned
//! ([`crate::autotuning`]).

use std::collections::VecDeque;

use backlane_units::SimTime;

use crate::autotuning::Autotuning;
use crate::config::Config;
use crate::delayed_ack::AckSchedule;
use crate::segment::{Flags, SackBlock, SackBlocks, Segment};

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    rcv_nxt: u64,
    /// The window offered at most (Linux: window_clamp).
    buffer_bytes: u32,
    autotuning: Option<Autotuning>,
    /// The window offered now (Linux: rcv_ssthresh).
    window_bytes: u32,
    selective: bool,
    /// Data beyond `rcv_nxt`, disjoint and ascending.
    out_of_order: VecDeque<SackBlock>,
    /// The blocks that changed last, newest first (RFC 2018 §4).
    recent: [SackBlock; SackBlocks::CAPACITY],
    recent_count: usize,
    /// Data that came twice, to be reported once (RFC 2883).
    duplicate: Option<SackBlock>,
    /// The peer's FIN, once seen.
    fin_seq: Option<u64>,
    /// The timestamp to echo (RFC 7323 §4.3).
    ts_recent: u32,
    pub(crate) acks: AckSchedule,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        let buffer_bytes = config.receive_buffer_bytes;
        let window_bytes = config.initial_receive_window_bytes.min(buffer_bytes);
        Self {
            rcv_nxt: 0,
            buffer_bytes,
            window_bytes,
            autotuning: config
                .receive_autotuning_max_bytes
                .map(|max_bytes| Autotuning::new(config.mss_bytes, window_bytes, max_bytes)),
            selective: config.sack,
            out_of_order: VecDeque::new(),
            recent: [SackBlock::default(); SackBlocks::CAPACITY],
            recent_count: 0,
            duplicate: None,
            fin_seq: None,
            ts_recent: 0,
            acks: AckSchedule::new(config),
        }
    }

    /// The peer's SYN, with sequence number `seq`.
    pub(crate) fn on_syn(&mut self, segment: &Segment) {
        self.rcv_nxt = segment.seq + 1;
        self.ts_recent = segment.ts_val;
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

    /// Data arrived that the application will read: offer more.
    #[inline]
    fn grow_window(&mut self, payload_bytes: u32) {
        if self.window_bytes < self.buffer_bytes {
            self.window_bytes = self
                .window_bytes
                .saturating_add(payload_bytes.saturating_mul(2))
                .min(self.buffer_bytes);
            self.acks.on_window_growth();
        }
    }

    /// The application has read what came in order.
    #[inline]
    fn tune(&mut self, now: SimTime) {
        if let Some(autotuning) = &mut self.autotuning
            && let Some(window_bytes) = autotuning.on_read(now, self.rcv_nxt)
        {
            self.buffer_bytes = self.buffer_bytes.max(window_bytes);
        }
    }

    pub(crate) fn ts_recent(&self) -> u32 {
        self.ts_recent
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
        if segment.ts_val != 0 && segment.seq <= self.acks.acknowledged() {
            self.ts_recent = segment.ts_val;
        }
        let has_fin = segment.flags.contains(Flags::FIN);
        if segment.payload_bytes == 0 && !has_fin {
            if segment.seq < self.rcv_nxt {
                // A window probe or an old duplicate (RFC 9293 §3.10.7.4).
                self.acks.ack_now();
            }
            return;
        }
        let start = segment.seq;
        let end = segment.seq + u64::from(segment.payload_bytes) + u64::from(has_fin);
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
            let full_bytes = self.acks.full_bytes();
            autotuning.on_data(now, segment, self.rcv_nxt, self.window_bytes, full_bytes);
        }
        if start <= self.rcv_nxt {
            if start < self.rcv_nxt {
                let end = self.rcv_nxt;
                self.duplicate = Some(SackBlock { start, end });
                self.acks.on_duplicate();
            }
            self.rcv_nxt = end;
            self.grow_window(segment.payload_bytes);
            let filled_a_hole = !self.out_of_order.is_empty();
            if filled_a_hole {
                self.take_what_became_in_order();
            }
            self.tune(now);
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
            self.take_out_of_order(SackBlock { start, end });
            self.grow_window(segment.payload_bytes);
            self.acks.on_out_of_order(now, self.rcv_nxt);
        }
    }

    fn take_what_became_in_order(&mut self) {
        while let Some(block) = self.out_of_order.front()
            && block.start <= self.rcv_nxt
        {
            self.rcv_nxt = self.rcv_nxt.max(block.end);
            self.out_of_order.pop_front();
        }
        let mut kept = 0;
        for i in 0..self.recent_count {
            if self.recent[i].start > self.rcv_nxt {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.recent_count = kept;
    }

    fn take_out_of_order(&mut self, block: SackBlock) {
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
        self.remember(merged);
    }

    /// Puts `block` first among the blocks to report and drops those it swallowed. A block that
    /// stood third or was not there pushes others back, out of the option in the end.
    fn remember(&mut self, block: SackBlock) {
        /// Linux (`TCP_SACK_BLOCKS_EXPECTED`): a block in one of these places has been told.
        const TOLD: usize = 2;
        let reported = self.recent[..self.recent_count].iter();
        let grown = reported
            .take(TOLD)
            .any(|old| block.start <= old.start && old.end <= block.end);
        if self.recent_count >= TOLD && !grown {
            self.acks.on_blocks_pushed_back();
        }
        let mut kept = 1;
        let mut previous = [block; SackBlocks::CAPACITY];
        for i in 0..self.recent_count {
            let old = self.recent[i];
            let swallowed = block.start <= old.start && old.end <= block.end;
            if !swallowed && kept < previous.len() {
                previous[kept] = old;
                kept += 1;
            }
        }
        self.recent = previous;
        self.recent_count = kept;
    }

    /// The SACK option for an acknowledgment sent now; with timestamps there is room for three
    /// blocks. The report of a duplicate is used up.
    pub(crate) fn sack_blocks(&mut self, timestamps: bool) -> SackBlocks {
        let duplicate = self.duplicate.take();
        let mut blocks = SackBlocks::EMPTY;
        if !self.selective || (self.recent_count == 0 && duplicate.is_none()) {
            return blocks;
        }
        let room = SackBlocks::CAPACITY - usize::from(timestamps);
        let recent = self.recent[..self.recent_count].iter().copied();
        for block in duplicate.into_iter().chain(recent).take(room) {
            blocks.push(self.rcv_nxt, block);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver() -> Receiver {
        let mut receiver = Receiver::new(&Config::default());
        receiver.on_syn(&Segment::default());
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
        let blocks = receiver.sack_blocks(true);
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

    #[test]
    fn data_beyond_the_window_is_refused() {
        let config = Config {
            receive_buffer_bytes: 1000,
            ..Config::default()
        };
        let mut receiver = Receiver::new(&config);
        receiver.on_syn(&Segment::default());
        assert_eq!(arrive(&mut receiver, 1000, 100), []);
    }
}
