//! The SACK blocks of an acknowledgment (RFC 2018), and D-SACK (RFC 2883).

use super::Sender;
use crate::scoreboard::Delivery;
use crate::segment::{SackBlock, SackBlocks, Segment};

impl Sender {
    /// Applies the SACK blocks of `segment`. Returns whether it reports a duplicate.
    pub(super) fn take_sack_blocks(
        &mut self,
        now_us: u64,
        segment: &Segment,
        prior_una: u64,
        delivery: &mut Delivery,
    ) -> bool {
        let mut duplicate = None;
        let mut first: Option<SackBlock> = None;
        let mut blocks = [SackBlock::default(); SackBlocks::CAPACITY];
        let mut count = 0;
        for (position, block) in segment.sack.iter(segment.ack).enumerate() {
            // RFC 2883 §4: the first block reports a duplicate if it lies below the
            // acknowledgment or within the second.
            let below = block.start < segment.ack;
            let covers_first = position == 1
                && first.is_some_and(|f| block.start <= f.start && f.end <= block.end);
            if (position == 0 && below) || covers_first {
                duplicate = first
                    .or(Some(block))
                    .filter(|duplicate| self.count_duplicate(duplicate, delivery));
                if let Some(duplicate) = duplicate
                    && (duplicate.end <= prior_una || covers_first)
                {
                    self.recovery.undo.on_dsack(duplicate.end);
                }
            }
            if position == 0 {
                first = Some(block);
            }
            let space = &self.recovery.space;
            if !below && block.end <= space.snd_nxt && block.end > space.snd_una {
                blocks[count] = block;
                count += 1;
            }
        }
        // The segment delivered last gives RACK its RTT: apply them in the order of sequence.
        blocks[..count].sort_unstable_by_key(|block| block.start);
        let r = &mut self.recovery;
        let min_rtt_us = r.rtt.min_rtt_us().unwrap_or(0);
        for block in &blocks[..count] {
            self.loss
                .before_delivery(&r.scoreboard, block.start, block.end);
            r.scoreboard
                .on_sack(block.start, block.end, now_us, min_rtt_us, delivery);
        }
        if let Some(duplicate) = duplicate {
            r.scoreboard
                .on_duplicate(duplicate.start, duplicate.end, delivery);
            self.loss.on_duplicate(duplicate);
        }
        duplicate.is_some()
    }

    /// Counts a duplicate that the peer reports. Returns whether a retransmission can have caused
    /// it (Linux: `tcp_dsack_seen`); a spurious retransmission that arrived counts as delivered.
    fn count_duplicate(&mut self, duplicate: &SackBlock, delivery: &mut Delivery) -> bool {
        let r = &mut self.recovery;
        let bytes = duplicate.end.saturating_sub(duplicate.start);
        let segments = bytes.div_ceil(u64::from(r.space.mss_bytes)).max(1);
        r.statistics.spurious_retransmits += segments;
        if r.statistics.spurious_retransmits > r.statistics.retransmits {
            return false;
        }
        delivery.delivered_pkts += segments as u32;
        if r.probe.end_seq != Some(duplicate.end) {
            self.loss.on_dsack();
        }
        true
    }
}
