//! Duplicate acknowledgments as delivered segments, where there is no SACK.

use super::Scoreboard;

impl Scoreboard {
    /// Without SACK: a duplicate acknowledgment stands for one delivered segment, unless that
    /// left no room for the hole. Returns whether it counted.
    pub(crate) fn on_duplicate_ack(&mut self) -> bool {
        let holes = self.lost_out.max(1).min(self.packets_out());
        let counts = self.sacked_out + holes < self.packets_out();
        self.sacked_out += u32::from(counts);
        counts
    }

    /// Without SACK: of `covered_pkts` segments acknowledged one was the hole, the others had
    /// been counted by duplicate acknowledgments. Returns the segments newly delivered.
    pub(crate) fn consume_duplicate_acks(&mut self, covered_pkts: u32) -> u32 {
        if covered_pkts == 0 {
            return 0;
        }
        let delivered_pkts = covered_pkts.saturating_sub(self.sacked_out).max(1);
        let room = self.packets_out() - self.lost_out;
        self.sacked_out = self.sacked_out.saturating_sub(covered_pkts - 1).min(room);
        delivered_pkts
    }

    /// Without SACK: resets the count of duplicate acknowledgments.
    pub(crate) fn forget_duplicate_acks(&mut self) {
        self.sacked_out = 0;
    }
}
