//! Queries and marks of single segments: how late one arrives (RR-TCP), whether one may still
//! arrive, and that one is lost (TCP-PR).

use super::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, SACKED, Scoreboard};

/// A segment that arrives after later ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) end_seq: u64,
    /// How many later ones have arrived.
    pub(crate) sacked_above: u32,
    pub(crate) was_retransmitted: bool,
}

impl Scoreboard {
    /// Calls `on_late` for each segment in `start..end` that had not arrived while later ones
    /// had.
    pub(crate) fn for_each_late(&self, start: u64, end: u64, mut on_late: impl FnMut(Late)) {
        let mut index = self.find(start);
        let beyond = (self.highest_sacked.1 + 1).min(self.next);
        let mut above = if index == self.first {
            self.sacked_out
        } else {
            let is_sacked = |&index: &u64| self.record(index).has(SACKED);
            (index..beyond).filter(is_sacked).count() as u32
        };
        while above > 0 && index < self.next && self.record(index).end_seq() <= end {
            let record = self.record(index);
            if record.has(SACKED) {
                above -= 1;
            } else {
                on_late(Late {
                    end_seq: record.end_seq(),
                    sacked_above: above,
                    was_retransmitted: record.has(EVER_RETRANSMITTED),
                });
            }
            index += 1;
        }
    }

    /// The segment that ends at `end_seq`, if it is outstanding.
    fn ending_at(&self, end_seq: u64) -> Option<u64> {
        let index = self.find(end_seq).checked_sub(1)?;
        let holds = self.first <= index && self.record(index).end_seq() == end_seq;
        holds.then_some(index)
    }

    /// Whether the transmission at `sent_us` of the segment that ends at `end_seq` may still
    /// arrive: it is neither acknowledged, SACKed, lost nor followed by another one.
    pub(crate) fn is_out(&self, end_seq: u64, sent_us: u64) -> bool {
        self.ending_at(end_seq).is_some_and(|index| {
            let record = self.record(index);
            let is_lost = record.flags & (LOST | RETRANSMITTED) == LOST;
            record.sent_us == sent_us && !record.has(SACKED) && !is_lost
        })
    }

    /// Marks the outstanding segment that ends at `end_seq` lost.
    pub(crate) fn lose(&mut self, end_seq: u64) {
        if let Some(index) = self.ending_at(end_seq) {
            self.mark_lost(index);
        }
    }
}
