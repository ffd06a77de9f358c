//! Losses by counting what arrived above a hole: SACKed segments (RFC 6675 §4), or all
//! segments up to the highest SACKed one, the holes included (forward acknowledgment, FACK).

use super::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, SACKED, Scoreboard};

impl Scoreboard {
    /// Segments up to the highest SACKed one, the holes included.
    pub(crate) fn forward_out(&self) -> u32 {
        if self.sacked_out == 0 {
            return 0;
        }
        (self.highest_sacked.1 + 1).saturating_sub(self.first) as u32
    }

    /// Marks lost what has at least `threshold` SACKed segments above it (RFC 6675 §4) and ends
    /// at `limit_seq` or before.
    pub(crate) fn mark_lost_by_count(&mut self, threshold: u32, limit_seq: u64) {
        if self.sacked_out < threshold {
            return;
        }
        let mut above = 0;
        let mut index = self.highest_sacked.1 + 1;
        while index > self.first && above < threshold {
            index -= 1;
            above += u32::from(self.record(index).has(SACKED));
        }
        self.mark_lost_before(index, limit_seq);
    }

    /// Marks lost what is not SACKed among the first `count` segments and ends at `limit_seq`
    /// or before.
    pub(crate) fn mark_first_lost(&mut self, count: u32, limit_seq: u64) {
        let end = (self.first + u64::from(count)).min(self.next);
        self.mark_lost_before(end, limit_seq);
    }

    fn mark_lost_before(&mut self, end: u64, limit_seq: u64) {
        while self.original_cursor < end {
            let record = self.record(self.original_cursor);
            if record.end_seq() > limit_seq {
                break;
            }
            if !record.has(SACKED | EVER_RETRANSMITTED) {
                self.mark_lost(self.original_cursor);
            }
            self.original_cursor += 1;
        }
    }

    /// Marks lost the segments from the first one on that left before `time_us`.
    pub(crate) fn mark_lost_sent_before(&mut self, time_us: u64) {
        for index in self.first..self.next {
            let record = *self.record(index);
            if record.sent_us >= time_us {
                break;
            }
            if !record.has(SACKED | LOST) {
                self.mark_lost(index);
            }
        }
    }

    /// Marks lost each retransmission that was overtaken by at least two segments sent for the
    /// first time after it.
    pub(crate) fn mark_overtaken_retransmissions_lost(&mut self) {
        while let Some(&(index, sent_us, next)) = self.retransmissions.front() {
            if self.highest_sacked.1 <= next {
                break;
            }
            self.retransmissions.pop_front();
            if index >= self.first {
                let record = *self.record(index);
                if record.flags & (RETRANSMITTED | SACKED) == RETRANSMITTED
                    && record.sent_us == sent_us
                {
                    self.mark_lost(index);
                }
            }
        }
    }

    /// Whether anything outstanding was ever retransmitted.
    pub(crate) fn has_ever_retransmitted(&self) -> bool {
        (self.first..self.next).any(|index| self.record(index).has(EVER_RETRANSMITTED))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sack, scoreboard};

    #[test]
    fn forward_acknowledgment_counts_the_holes() {
        let mut scoreboard = scoreboard(10);
        assert_eq!(scoreboard.forward_out(), 0);
        sack(&mut scoreboard, 400, 500);
        sack(&mut scoreboard, 700, 800);
        assert_eq!((scoreboard.forward_out(), scoreboard.sacked_out()), (8, 2));
    }

    /// Segments 4 and 7 of 0 to 9 are SACKed: of the first five, four are holes.
    #[test]
    fn what_is_sacked_among_the_first_is_not_lost() {
        let mut scoreboard = scoreboard(10);
        sack(&mut scoreboard, 400, 500);
        sack(&mut scoreboard, 700, 800);
        scoreboard.mark_first_lost(5, u64::MAX);
        assert_eq!(scoreboard.lost_out(), 4);
        scoreboard.mark_first_lost(10, 700);
        assert_eq!(scoreboard.lost_out(), 6);
    }

    /// Ten were out when the retransmission left: the SACK of number 10 shows nothing, that of
    /// number 11 shows that it was lost.
    #[test]
    fn the_second_new_segment_that_arrives_reveals_a_lost_retransmission() {
        let mut scoreboard = scoreboard(10);
        sack(&mut scoreboard, 300, 400);
        scoreboard.mark_first_lost(1, u64::MAX);
        assert!(scoreboard.retransmit(5000).is_some());
        for index in 10..12 {
            scoreboard.push(
                super::super::Outgoing {
                    seq: index * 100,
                    payload_bytes: 100,
                    fin: false,
                },
                5001,
            );
        }
        sack(&mut scoreboard, 1000, 1100);
        scoreboard.mark_overtaken_retransmissions_lost();
        assert_eq!(scoreboard.retrans_out(), 1);
        sack(&mut scoreboard, 1100, 1200);
        scoreboard.mark_overtaken_retransmissions_lost();
        assert_eq!((scoreboard.retrans_out(), scoreboard.lost_out()), (0, 1));
    }

    #[test]
    fn only_what_is_older_from_the_first_on_is_lost() {
        let mut scoreboard = scoreboard(10);
        sack(&mut scoreboard, 100, 200);
        scoreboard.mark_lost_sent_before(4);
        assert_eq!(scoreboard.lost_out(), 3);
    }
}
