//! Losses by RACK's order (RFC 8985 §6.2): a segment, sent for the first time or retransmitted, is
//! lost when one sent after it was delivered and it is overdue by the reordering window. Two cursors, one over first transmissions and
//! one over retransmissions, make the search O(1) per segment and never scan the window.

use super::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, SACKED, Scoreboard};

impl Scoreboard {
    /// Whether something was delivered, or loss marks were cleared, since the last call.
    #[inline]
    pub(crate) fn take_advance(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// The next search for losses is not skipped.
    pub(crate) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// Marks lost what was sent before the newest segment delivered and is overdue by
    /// `window_us` (RFC 8985 §6.2 step 5). Returns how long to wait until all that was
    /// overtaken is, if some of it is not yet: until the segment among it that was sent last is
    /// (Linux: `tcp_rack_detect_loss`).
    #[inline]
    pub(crate) fn mark_overtaken_lost(&mut self, now_us: u64, window_us: u64) -> Option<u64> {
        let newest = self.newest_delivered;
        // Sent after this and not delivered: not yet overdue.
        let deadline_us = (now_us + 1).saturating_sub(self.rtt_us + window_us);
        let mut pending = false;
        while self.original_cursor < self.next {
            let record = self.record(self.original_cursor);
            if record.flags & (SACKED | LOST | EVER_RETRANSMITTED) == 0 {
                if (record.sent_us, record.end_seq()) >= newest {
                    break;
                }
                if record.sent_us >= deadline_us {
                    pending = true;
                    break;
                }
                self.mark_lost(self.original_cursor);
            }
            self.original_cursor += 1;
        }
        while let Some(&(index, sent_us, _)) = self.retransmissions.front() {
            if index >= self.first {
                let record = self.record(index);
                if record.flags & (RETRANSMITTED | SACKED) == RETRANSMITTED
                    && record.sent_us == sent_us
                {
                    if (sent_us, record.end_seq()) >= newest {
                        break;
                    }
                    if sent_us >= deadline_us {
                        pending = true;
                        break;
                    }
                    self.mark_lost(index);
                }
            }
            self.retransmissions.pop_front();
        }
        pending.then(|| {
            let last_us = self.last_overtaken_us().unwrap_or(newest.0);
            (last_us + self.rtt_us + window_us).saturating_sub(now_us)
        })
    }

    /// When the last segment left that was sent before the newest one delivered and is still out.
    /// However many calls there are, a first transmission is looked at once upwards and once
    /// downwards.
    fn last_overtaken_us(&mut self) -> Option<u64> {
        const OUT: u8 = SACKED | LOST | EVER_RETRANSMITTED;
        let newest = self.newest_delivered;
        let (mut last, mut seen) = self.last_overtaken;
        seen = seen.max(self.original_cursor);
        while seen < self.next {
            let record = self.record(seen);
            if !record.has(EVER_RETRANSMITTED) && (record.sent_us, record.end_seq()) >= newest {
                break;
            }
            if !record.has(OUT) {
                last = seen;
            }
            seen += 1;
        }
        while last > self.original_cursor && self.record(last).has(OUT) {
            last -= 1;
        }
        last = last.max(self.original_cursor);
        self.last_overtaken = (last, seen);
        let original_us =
            (last < seen && !self.record(last).has(OUT)).then(|| self.record(last).sent_us);
        let overtaken = self
            .retransmissions
            .partition_point(|(_, sent_us, _)| *sent_us <= newest.0);
        let retransmitted_us =
            self.retransmissions
                .range(..overtaken)
                .rev()
                .find_map(|&(index, sent_us, _)| {
                    let is_out = index >= self.first && {
                        let record = self.record(index);
                        record.flags & (RETRANSMITTED | SACKED) == RETRANSMITTED
                            && record.sent_us == sent_us
                            && (sent_us, record.end_seq()) < newest
                    };
                    is_out.then_some(sent_us)
                });
        original_us.max(retransmitted_us)
    }

    /// When the segment delivered latest was sent.
    pub(crate) fn newest_delivered_us(&self) -> u64 {
        self.newest_delivered.0
    }

    /// The RTT of the segment delivered last.
    pub(crate) fn rtt_us(&self) -> u64 {
        self.rtt_us
    }
}

#[cfg(test)]
mod tests {
    use super::super::Delivery;
    use super::super::tests::{sack, scoreboard};

    #[test]
    fn segments_overtaken_are_lost() {
        let mut scoreboard = scoreboard(10);
        sack(&mut scoreboard, 500, 600);
        scoreboard.mark_overtaken_lost(20_000, 0);
        assert_eq!((scoreboard.lost_out(), scoreboard.in_flight()), (5, 4));
    }

    /// Linux: `reo_timeout` of `tcp_rack_detect_loss` is the largest of what remains.
    #[test]
    fn the_wait_ends_when_the_last_segment_overtaken_is_overdue() {
        let mut scoreboard = scoreboard(10);
        // Segments leave at 0, 1, …, 9 µs; the one of 8 µs arrives with an RTT of 9992 µs.
        sack(&mut scoreboard, 800, 900);
        let until_us = |sent_us: u64| sent_us + 9992 + 500 - 10_000;
        assert_eq!(
            scoreboard.mark_overtaken_lost(10_000, 500),
            Some(until_us(7))
        );
        // SACKed segments are no longer waited for.
        let mut delivery = Delivery::default();
        scoreboard.on_sack(500, 800, 10_000, 0, &mut delivery);
        scoreboard.rtt_us = 9992;
        assert_eq!(
            scoreboard.mark_overtaken_lost(10_000, 500),
            Some(until_us(4))
        );
    }

    #[test]
    fn what_was_found_lost_is_not_found_again_unless_by_a_timeout() {
        let mut scoreboard = scoreboard(10).examining_once(true);
        sack(&mut scoreboard, 500, 600);
        scoreboard.mark_overtaken_lost(20_000, 0);
        assert_eq!(scoreboard.lost_out(), 5);
        scoreboard.forget_losses();
        scoreboard.mark_overtaken_lost(20_000, 0);
        assert_eq!(scoreboard.lost_out(), 0);
        scoreboard.on_timeout(20_000, 0);
        assert_eq!(scoreboard.lost_out(), 9);
        scoreboard.forget_losses();
        sack(&mut scoreboard, 900, 1000);
        scoreboard.mark_overtaken_lost(20_000, 0);
        assert_eq!(scoreboard.lost_out(), 3);
    }

    #[test]
    fn a_retransmission_overtaken_is_lost_again_and_sent_first() {
        let mut scoreboard = scoreboard(10);
        sack(&mut scoreboard, 300, 400);
        scoreboard.mark_overtaken_lost(20_000, 0);
        for now_us in 5000..5003 {
            assert!(scoreboard.retransmit(now_us).is_some());
        }
        assert_eq!(scoreboard.retrans_out(), 3);
        // The second retransmission arrives: the first, and the six segments sent long before
        // and not acknowledged, are lost; the third is still in flight.
        sack(&mut scoreboard, 100, 200);
        scoreboard.mark_overtaken_lost(20_000, 0);
        assert_eq!((scoreboard.lost_out(), scoreboard.retrans_out()), (8, 1));
        let (outgoing, is_head) = scoreboard.retransmit(6000).unwrap();
        assert_eq!((outgoing.seq, is_head), (0, true));
    }
}
