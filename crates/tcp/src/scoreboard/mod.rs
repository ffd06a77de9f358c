//! The scoreboard: a ring of records, one per segment in flight, with running counts.
//!
//! Segments are counted as Linux counts them: `packets_out` sent and not cumulatively
//! acknowledged, `sacked_out`, `lost_out` and `retrans_out` (retransmissions in flight) among
//! them; in flight are `packets_out − sacked_out − lost_out + retrans_out`.
//!
//! Losses are marked in one of three ways: [`overtaken`] marks by the order of sending (RACK);
//! [`by_count`] by how many segments arrived above; [`late`] marks single segments for TCP-PR, and
//! measures for RR-TCP how late segments are. [`without_sack`] counts duplicate acknowledgments
//! where there is no SACK.

mod by_count;
mod late;
mod overtaken;
pub(crate) mod rate;
mod without_sack;

use std::collections::VecDeque;

use crate::choices::SackedRetransmissions;
use rate::RateMeter;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// A retransmission is in flight.
const RETRANSMITTED: u8 = 4;
const EVER_RETRANSMITTED: u8 = 8;
/// The segment carries FIN, the last of its sequence numbers.
const FIN: u8 = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    seq: u64,
    sent_us: u64,
    /// Sequence numbers covered, FIN included.
    length: u32,
    /// For the first record of a SACKed run: records before this index (its low half) are
    /// SACKed too.
    run_end: u32,
    flags: u8,
}

impl Record {
    fn end_seq(&self) -> u64 {
        self.seq + u64::from(self.length)
    }

    fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }
}

/// What one acknowledgment delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    /// Segments newly acknowledged or SACKed.
    pub(crate) delivered_pkts: u32,
    /// Segments removed by the cumulative acknowledgment.
    pub(crate) covered_pkts: u32,
    /// When the first and the last never retransmitted segments acknowledged were sent.
    pub(crate) acked_sent_us: Option<(u64, u64)>,
    /// The same for segments SACKed.
    pub(crate) sacked_sent_us: Option<(u64, u64)>,
    /// A retransmitted segment was acknowledged: Karn's rule.
    pub(crate) retransmitted_acked: bool,
    /// The first segment acknowledged was sent more than once.
    pub(crate) repeated_head_acked: bool,
    /// A segment that had been SACKed was acknowledged.
    pub(crate) sacked_acked: bool,
    /// Any segment was newly SACKed.
    pub(crate) newly_sacked: bool,
    /// The first sequence number of a never retransmitted segment SACKed below the highest one.
    pub(crate) reordered_seq: Option<u64>,
    /// The first sequence number of a never retransmitted, never SACKed segment acknowledged.
    pub(crate) filled_seq: Option<u64>,
    /// The smallest end of a never retransmitted segment acknowledged or SACKed.
    pub(crate) original_end: Option<u64>,
}

/// A segment to be sent (again).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: u64,
    pub(crate) payload_bytes: u32,
    pub(crate) fin: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    /// A ring: the record with index i is at i mod the (power of two) length.
    records: Vec<Record>,
    first: u64,
    next: u64,
    mss_bytes: u64,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// Lost segments whose retransmission has not left.
    waiting: u32,
    /// The end of the highest segment ever SACKed, and its index.
    highest_sacked: (u64, u64),
    /// Segments ever marked lost, retransmissions included.
    lost_total: u64,
    /// First transmissions before this index have been examined.
    original_cursor: u64,
    /// What was examined stays so when loss marks are cleared, but for what only the last timeout
    /// marked: `original_cursor` at that time; [`u64::MAX`]: there is none.
    marked_from: u64,
    examines_once: bool,
    /// The last first transmission that was overtaken and is still out, if one is, and the index to
    /// which they have been looked through.
    last_overtaken: (u64, u64),
    /// Retransmissions not yet examined, in the order they were sent: index, time, and the index
    /// of the next segment to be sent for the first time.
    retransmissions: VecDeque<(u64, u64, u64)>,
    /// No segment before this index waits for retransmission.
    retransmit_hint: u64,
    /// What a lost segment no longer is once it is SACKed.
    gone_when_sacked: u8,
    /// No segment before this index is neither SACKed nor sent again.
    unsacked_hint: u64,
    /// After a timeout that forgot the SACKs: the segments from the first number to the second have
    /// not been sent again, and count as not sent at all.
    unsent: (u64, u64),
    /// The latest-sent segment known delivered: time and end (RACK.xmit_ts, RACK.end_seq).
    newest_delivered: (u64, u64),
    /// The RTT of the segment delivered last (RACK.rtt).
    rtt_us: u64,
    /// Something was delivered since losses were last detected.
    advanced: bool,
    pub(crate) rate: RateMeter,
}

impl Scoreboard {
    pub(crate) fn new(mss_bytes: u32, mut rate: RateMeter) -> Self {
        const FIRST_CAPACITY: usize = 64;
        rate.resize(FIRST_CAPACITY, 0, 0);
        Self {
            records: vec![Record::default(); FIRST_CAPACITY],
            first: 0,
            next: 0,
            mss_bytes: u64::from(mss_bytes.max(1)),
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            waiting: 0,
            highest_sacked: (0, 0),
            lost_total: 0,
            original_cursor: 0,
            marked_from: u64::MAX,
            examines_once: false,
            last_overtaken: (0, 0),
            retransmissions: VecDeque::new(),
            retransmit_hint: 0,
            gone_when_sacked: LOST | RETRANSMITTED,
            unsacked_hint: 0,
            unsent: (0, 0),
            newest_delivered: (0, 0),
            rtt_us: 0,
            advanced: false,
            rate,
        }
    }

    /// The same with retransmissions as `sacked` says.
    pub(crate) fn counting(mut self, sacked: SackedRetransmissions) -> Self {
        if sacked == SackedRetransmissions::InFlight {
            self.gone_when_sacked = LOST;
        }
        self
    }

    /// The same; `once`: a search for losses does not find a first transmission again.
    pub(crate) fn examining_once(mut self, once: bool) -> Self {
        self.examines_once = once;
        self
    }

    #[inline]
    fn slot(&self, index: u64) -> usize {
        index as usize & (self.records.len() - 1)
    }

    #[inline]
    fn record(&self, index: u64) -> &Record {
        &self.records[self.slot(index)]
    }

    #[inline]
    fn record_mut(&mut self, index: u64) -> &mut Record {
        let slot = self.slot(index);
        &mut self.records[slot]
    }

    #[inline]
    pub(crate) fn packets_out(&self) -> u32 {
        (self.next - self.first) as u32
    }

    #[inline]
    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    #[inline]
    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    #[inline]
    pub(crate) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    #[inline]
    pub(crate) fn lost_total(&self) -> u64 {
        self.lost_total
    }

    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    /// Records a segment sent for the first time.
    #[inline]
    pub(crate) fn push(&mut self, outgoing: Outgoing, now_us: u64) {
        if self.packets_out() as usize == self.records.len() {
            self.grow();
        }
        let index = self.next;
        *self.record_mut(index) = Record {
            seq: outgoing.seq,
            sent_us: now_us,
            length: outgoing.payload_bytes + u32::from(outgoing.fin),
            run_end: 0,
            flags: if outgoing.fin { FIN } else { 0 },
        };
        self.next += 1;
        if self.rate.is_enabled() {
            let in_flight_pkts = self.in_flight();
            let was_empty = self.packets_out() == 1;
            self.rate.on_sent(index, now_us, in_flight_pkts, was_empty);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut records = vec![Record::default(); self.records.len() * 2];
        let mask = records.len() - 1;
        for index in self.first..self.next {
            records[index as usize & mask] = *self.record(index);
        }
        self.records = records;
        self.rate.resize(self.records.len(), self.first, self.next);
    }

    /// The index of the first record that starts at `seq` or later.
    fn find(&self, seq: u64) -> u64 {
        if self.first == self.next {
            return self.next;
        }
        let first_seq = self.record(self.first).seq;
        if seq <= first_seq {
            return self.first;
        }
        // Bulk data is all full segments: the guess is nearly always right.
        let guess = self.first + (seq - first_seq) / self.mss_bytes;
        if guess < self.next && self.record(guess).seq == seq {
            return guess;
        }
        let (mut low, mut high) = (self.first, self.next);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.record(middle).seq < seq {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Gives the record new flags and keeps the counts in step.
    fn set_flags(&mut self, index: u64, flags: u8) {
        let record = self.record_mut(index);
        let old = std::mem::replace(&mut record.flags, flags);
        let count = |counter: &mut u32, holds: fn(u8) -> bool| {
            *counter += u32::from(holds(flags));
            *counter -= u32::from(holds(old));
        };
        count(&mut self.sacked_out, |f| f & SACKED != 0);
        count(&mut self.lost_out, |f| f & LOST != 0);
        count(&mut self.retrans_out, |f| f & RETRANSMITTED != 0);
        count(&mut self.waiting, |f| f & (LOST | RETRANSMITTED) == LOST);
    }

    /// Notes that a segment was delivered (RFC 8985 §6.2 step 2). An acknowledgment sooner
    /// than the smallest RTT after a retransmission is for the first transmission, and so is one
    /// that echoes a timestamp from before it (Linux: `tcp_skb_spurious_retrans`).
    #[inline]
    fn on_delivered(
        &mut self,
        index: u64,
        record: Record,
        now_us: u64,
        min_rtt_us: u64,
        echo_end_us: Option<u64>,
    ) {
        if self.rate.is_enabled() {
            self.rate.on_delivered(
                index,
                record.sent_us,
                record.end_seq(),
                record.has(EVER_RETRANSMITTED),
            );
        }
        let rtt_us = now_us - record.sent_us;
        let echoes_first = echo_end_us.is_some_and(|end_us| record.sent_us >= end_us);
        if record.has(EVER_RETRANSMITTED) && (rtt_us < min_rtt_us || echoes_first) {
            return;
        }
        self.advanced = true;
        self.rtt_us = rtt_us;
        self.newest_delivered = self
            .newest_delivered
            .max((record.sent_us, record.end_seq()));
    }

    /// Applies a SACK block above the cumulative acknowledgment.
    pub(crate) fn on_sack(
        &mut self,
        start: u64,
        end: u64,
        now_us: u64,
        min_rtt_us: u64,
        delivery: &mut Delivery,
    ) {
        let mut run = self.find(start);
        let mut index = run;
        while index < self.next {
            let record = *self.record(index);
            if record.end_seq() > end {
                break;
            }
            if (self.unsent.0..self.unsent.1).contains(&index) {
                index = self.unsent.1;
                run = index;
                continue;
            }
            if record.has(SACKED) {
                let ahead = record.run_end.wrapping_sub(index as u32) as i32;
                index += u64::from(ahead.max(1) as u32);
                continue;
            }
            if !record.has(EVER_RETRANSMITTED) {
                let (first_us, _) = delivery
                    .sacked_sent_us
                    .unwrap_or((record.sent_us, record.sent_us));
                delivery.sacked_sent_us = Some((first_us, record.sent_us));
                if record.seq < self.highest_sacked.0 {
                    let lowest = delivery.reordered_seq.unwrap_or(u64::MAX);
                    delivery.reordered_seq = Some(lowest.min(record.seq));
                }
                let least = delivery.original_end.unwrap_or(u64::MAX);
                delivery.original_end = Some(least.min(record.end_seq()));
            }
            self.on_delivered(index, record, now_us, min_rtt_us, None);
            // A retransmission of a segment that no longer counts as lost is still in flight.
            let gone = if record.has(LOST) {
                self.gone_when_sacked
            } else {
                0
            };
            self.set_flags(index, (record.flags & !gone) | SACKED);
            self.record_mut(index).run_end = index as u32 + 1;
            self.highest_sacked = self.highest_sacked.max((record.end_seq(), index));
            delivery.delivered_pkts += 1;
            delivery.newly_sacked = true;
            index += 1;
        }
        if index > run {
            // The next time this block arrives, its walk starts where this one ended.
            self.record_mut(run).run_end = index as u32;
        }
    }

    /// A D-SACK reported `start..end`: segments there that were SACKed and retransmitted had only
    /// been late (Linux: `tcp_sacktag_one`).
    pub(crate) fn on_duplicate(&mut self, start: u64, end: u64, delivery: &mut Delivery) {
        let mut index = self.find(start);
        while index < self.next {
            let record = *self.record(index);
            if record.end_seq() > end {
                break;
            }
            if record.has(EVER_RETRANSMITTED) && record.has(SACKED) {
                let lowest = delivery.reordered_seq.unwrap_or(u64::MAX);
                delivery.reordered_seq = Some(lowest.min(record.seq));
                self.set_flags(index, record.flags & !RETRANSMITTED);
            }
            index += 1;
        }
    }

    /// Removes everything below `ack`. `echo_end_us`: by the echoed timestamp, a retransmission
    /// that left then or later is not the transmission that was acknowledged.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        ack: u64,
        now_us: u64,
        min_rtt_us: u64,
        echo_end_us: Option<u64>,
        delivery: &mut Delivery,
    ) {
        while self.first < self.next {
            let record = *self.record(self.first);
            if record.end_seq() > ack {
                if record.seq < ack {
                    let head = self.record_mut(self.first);
                    head.length -= (ack - head.seq) as u32;
                    head.seq = ack;
                }
                break;
            }
            if record.has(EVER_RETRANSMITTED) {
                delivery.repeated_head_acked |= delivery.covered_pkts == 0;
                delivery.retransmitted_acked = true;
                self.retrans_out -= u32::from(record.has(RETRANSMITTED));
            } else if !record.has(SACKED) {
                let (first_us, _) = delivery
                    .acked_sent_us
                    .unwrap_or((record.sent_us, record.sent_us));
                delivery.acked_sent_us = Some((first_us, record.sent_us));
                delivery.filled_seq.get_or_insert(record.seq);
                delivery.original_end.get_or_insert(record.end_seq());
            }
            if record.has(SACKED) {
                delivery.sacked_acked = true;
                self.sacked_out -= 1;
            } else {
                self.on_delivered(self.first, record, now_us, min_rtt_us, echo_end_us);
                delivery.delivered_pkts += 1;
            }
            self.lost_out -= u32::from(record.has(LOST));
            self.waiting -= u32::from(record.flags & (LOST | RETRANSMITTED) == LOST);
            delivery.covered_pkts += 1;
            self.first += 1;
        }
        while let Some(&(index, ..)) = self.retransmissions.front()
            && index < self.first
        {
            self.retransmissions.pop_front();
        }
        self.original_cursor = self.original_cursor.max(self.first);
        self.retransmit_hint = self.retransmit_hint.max(self.first);
    }

    fn mark_lost(&mut self, index: u64) {
        let flags = self.record(index).flags;
        if flags & (LOST | RETRANSMITTED) == LOST {
            return;
        }
        self.set_flags(index, (flags & !RETRANSMITTED) | LOST);
        self.lost_total += 1;
        if self.rate.is_enabled() {
            self.rate.on_lost(index, self.lost_total);
        }
        self.retransmit_hint = self.retransmit_hint.min(index);
    }

    /// Clears all loss marks. Retransmissions in flight stay counted.
    pub(crate) fn forget_losses(&mut self) {
        for index in self.first..self.next {
            let flags = self.record(index).flags;
            self.set_flags(index, flags & !LOST);
        }
        self.original_cursor = if self.examines_once {
            self.original_cursor.min(self.marked_from).max(self.first)
        } else {
            self.first
        };
        self.marked_from = u64::MAX;
        self.last_overtaken = (self.original_cursor, self.original_cursor);
        self.retransmit_hint = self.next;
    }

    /// The end of the highest segment SACKed so far.
    pub(crate) fn highest_sacked_end(&self) -> u64 {
        self.highest_sacked.0
    }

    /// When the first outstanding segment left last.
    pub(crate) fn head_sent_us(&self) -> Option<u64> {
        (self.first < self.next).then(|| self.record(self.first).sent_us)
    }

    /// Whether the first outstanding segment was ever retransmitted.
    pub(crate) fn is_head_retransmitted(&self) -> bool {
        self.first < self.next && self.record(self.first).has(EVER_RETRANSMITTED)
    }

    /// The last outstanding segment, recorded as sent again now (a tail loss probe).
    pub(crate) fn retransmit_last(&mut self, now_us: u64) -> Option<Outgoing> {
        let index = self
            .next
            .checked_sub(1)
            .filter(|last| *last >= self.first)?;
        let record = *self.record(index);
        if record.has(SACKED | RETRANSMITTED) {
            return None;
        }
        self.resend(index, now_us);
        Some(outgoing(&record))
    }

    fn resend(&mut self, index: u64, now_us: u64) {
        let flags = self.record(index).flags;
        self.record_mut(index).sent_us = now_us;
        self.set_flags(index, flags | RETRANSMITTED | EVER_RETRANSMITTED);
        self.retransmissions.push_back((index, now_us, self.next));
        if self.rate.is_enabled() {
            let in_flight_pkts = self.in_flight();
            self.rate.on_sent(index, now_us, in_flight_pkts, false);
        }
    }

    /// Marks the first segment lost (NewReno: the hole a partial acknowledgment points at).
    pub(crate) fn mark_head_lost(&mut self) {
        if self.first < self.next && !self.record(self.first).has(SACKED | LOST) {
            // The hole takes the place of one counted duplicate acknowledgment, if need be.
            if self.sacked_out + self.lost_out >= self.packets_out() {
                self.sacked_out -= 1;
            }
            self.mark_lost(self.first);
        }
    }

    /// At a timeout: marks lost the first segment and every one not SACKed, but those sent
    /// less than `spared_us` ago.
    pub(crate) fn on_timeout(&mut self, now_us: u64, spared_us: u64) {
        // A first segment that is SACKed and still holds up the acknowledgment was dropped by
        // the receiver after all (RFC 2018 §8): ignore all of its SACKs.
        let reneged = self.first < self.next && self.record(self.first).has(SACKED);
        self.marked_from = self.original_cursor;
        for index in self.first..self.next {
            if reneged && self.record(index).has(SACKED) {
                let flags = self.record(index).flags;
                self.set_flags(index, flags & !SACKED);
            }
            let record = *self.record(index);
            if record.has(SACKED) {
                if self.gone_when_sacked & RETRANSMITTED == 0 {
                    self.set_flags(index, record.flags & !RETRANSMITTED);
                }
                continue;
            }
            if !reneged && index != self.first && now_us - record.sent_us < spared_us {
                continue;
            }
            self.mark_lost(index);
        }
    }

    /// At a timeout: forgets all SACKs and marks everything lost, in order (RFC 2018 §8). SACKs of
    /// what has not been sent again since are ignored, so that all of it is: the sender went back
    /// to the first segment.
    pub(crate) fn forget_sacks_on_timeout(&mut self) {
        self.unsent = (self.first, self.next);
        for index in self.first..self.next {
            let flags = self.record(index).flags;
            self.set_flags(index, flags & !SACKED);
            self.mark_lost(index);
        }
    }

    /// Whether a lost segment waits for retransmission.
    #[inline]
    pub(crate) fn has_retransmissions(&self) -> bool {
        self.waiting > 0
    }

    /// In place of new data: the first segment above those that were searched for losses that was
    /// neither SACKed nor sent again, recorded as sent again now. It stays in flight twice.
    pub(crate) fn retransmit_unsacked(&mut self, now_us: u64) -> Option<Outgoing> {
        let mut index = self.unsacked_hint.max(self.original_cursor).max(self.first);
        while index < self.next {
            let record = *self.record(index);
            index += 1;
            if !record.has(SACKED | LOST | RETRANSMITTED) {
                self.resend(index - 1, now_us);
                self.unsacked_hint = index;
                return Some(outgoing(&record));
            }
        }
        self.unsacked_hint = index;
        None
    }

    /// The next lost segment to retransmit, recorded as sent now, and whether it is the first
    /// outstanding one.
    pub(crate) fn retransmit(&mut self, now_us: u64) -> Option<(Outgoing, bool)> {
        let mut index = self.retransmit_hint;
        while index < self.next {
            let record = *self.record(index);
            if record.has(LOST) && !record.has(SACKED | RETRANSMITTED) {
                self.resend(index, now_us);
                self.retransmit_hint = index + 1;
                self.unsent.0 = self.unsent.0.max(index + 1);
                return Some((outgoing(&record), index == self.first));
            }
            index += 1;
        }
        self.retransmit_hint = index;
        None
    }
}

fn outgoing(record: &Record) -> Outgoing {
    let fin = record.has(FIN);
    Outgoing {
        seq: record.seq,
        payload_bytes: record.length - u32::from(fin),
        fin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn scoreboard(segments: u64) -> Scoreboard {
        let mut scoreboard = Scoreboard::new(100, RateMeter::default());
        for i in 0..segments {
            let outgoing = Outgoing {
                seq: i * 100,
                payload_bytes: 100,
                fin: false,
            };
            scoreboard.push(outgoing, i);
        }
        scoreboard
    }

    pub(super) fn sack(scoreboard: &mut Scoreboard, start: u64, end: u64) -> u32 {
        let mut delivery = Delivery::default();
        scoreboard.on_sack(start, end, 10_000, 0, &mut delivery);
        delivery.delivered_pkts
    }

    #[test]
    fn a_block_that_comes_again_delivers_only_what_is_new() {
        let mut scoreboard = scoreboard(200);
        assert_eq!(sack(&mut scoreboard, 1000, 2000), 10);
        assert_eq!(sack(&mut scoreboard, 1000, 2500), 5);
        assert_eq!(sack(&mut scoreboard, 500, 3000), 10);
        assert_eq!(sack(&mut scoreboard, 500, 3000), 0);
        assert_eq!(scoreboard.sacked_out(), 25);
    }

    #[test]
    fn a_block_that_covers_part_of_a_segment_does_not_deliver_it() {
        let mut scoreboard = scoreboard(10);
        assert_eq!(sack(&mut scoreboard, 150, 450), 2);
    }

    #[test]
    fn a_cumulative_acknowledgment_balances_the_counts() {
        let mut scoreboard = scoreboard(10);
        sack(&mut scoreboard, 300, 900);
        scoreboard.mark_overtaken_lost(20_000, 0);
        scoreboard.retransmit(5000);
        let mut delivery = Delivery::default();
        scoreboard.on_ack(1000, 6000, 0, None, &mut delivery);
        assert_eq!(delivery.delivered_pkts, 4);
        let counts = (
            scoreboard.packets_out(),
            scoreboard.sacked_out(),
            scoreboard.lost_out(),
            scoreboard.retrans_out(),
        );
        assert_eq!(counts, (0, 0, 0, 0));
    }

    #[test]
    fn after_sacks_were_forgotten_only_what_was_sent_again_can_be_sacked() {
        let mut scoreboard = scoreboard(10);
        assert_eq!(sack(&mut scoreboard, 300, 900), 6);
        scoreboard.forget_sacks_on_timeout();
        assert_eq!((scoreboard.sacked_out(), scoreboard.lost_out()), (0, 10));
        // The receiver has 300 to 900 and says so, and all of it is sent again, in order.
        assert_eq!(sack(&mut scoreboard, 300, 900), 0);
        let mut sent_again = Vec::new();
        for _ in 0..5 {
            sent_again.push(scoreboard.retransmit(20).unwrap().0.seq);
        }
        assert_eq!(sent_again, [0, 100, 200, 300, 400]);
        assert_eq!(sack(&mut scoreboard, 300, 900), 2);
        assert_eq!(scoreboard.retransmit(20).unwrap().0.seq, 500);
        // New data is no part of what was sent before.
        let new = Outgoing {
            seq: 1000,
            payload_bytes: 100,
            fin: false,
        };
        scoreboard.push(new, 30);
        assert_eq!(sack(&mut scoreboard, 300, 1100), 2);
        assert_eq!(scoreboard.sacked_out(), 4);
    }

    #[test]
    fn a_timeout_spares_what_was_sent_within_the_last_rtt() {
        let mut scoreboard = scoreboard(10);
        scoreboard.on_timeout(10, 5);
        assert_eq!(scoreboard.lost_out(), 6);
    }

    #[test]
    fn a_record_takes_32_bytes() {
        assert!(size_of::<Record>() <= 32);
    }

    #[test]
    fn the_ring_grows_without_losing_records() {
        let mut scoreboard = scoreboard(50);
        scoreboard.on_ack(4000, 10_000, 0, None, &mut Delivery::default());
        for i in 50..300 {
            let outgoing = Outgoing {
                seq: i * 100,
                payload_bytes: 100,
                fin: false,
            };
            scoreboard.push(outgoing, i);
        }
        assert_eq!(sack(&mut scoreboard, 29_900, 30_000), 1);
        assert_eq!(scoreboard.packets_out(), 260);
    }

    /// RFC 2883 and Linux's `tcp_sacktag_one`: segments that were retransmitted and then reported
    /// twice were only late, up to and including the segment in which the report ends.
    #[test]
    fn a_duplicate_report_covers_the_segment_in_which_it_ends() {
        let mut scoreboard = scoreboard(10);
        sack(&mut scoreboard, 300, 900);
        scoreboard.mark_overtaken_lost(20_000, 0);
        for _ in 0..3 {
            scoreboard.retransmit(5000);
        }
        sack(&mut scoreboard, 100, 300);
        for (end, reordered_seq) in [(199, None), (200, Some(100)), (300, Some(100))] {
            let mut delivery = Delivery::default();
            scoreboard.on_duplicate(100, end, &mut delivery);
            assert_eq!(delivery.reordered_seq, reordered_seq, "{end}");
        }
    }
}
