//! RFC 6675 with a fixed threshold: a segment is lost when that many SACKed segments lie above it.
//! Lost retransmissions are not detected, and reductions are not undone.

use backlane_units::SimTime;

use super::machine::StateMachine;
use super::policy::{AckEvent, LossPolicy};
use crate::config::Config;
use crate::recovery::{CongestionState, Recovery};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    threshold_pkts: u32,
}

impl Count {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            threshold_pkts: config.duplicate_threshold.max(1),
        }
    }
}

impl LossPolicy for Count {
    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.threshold_pkts
    }

    fn detect_losses(&mut self, r: &mut Recovery, _now: SimTime, ack: &AckEvent) {
        r.scoreboard
            .mark_lost_by_count(self.threshold_pkts, u64::MAX);
        if r.state == CongestionState::Recovery && ack.advanced() {
            // Not in RFC 6675: a partial acknowledgment marks the first hole lost, even with too
            // little SACKed above it (as RFC 6582 §3.2 does without SACK).
            r.scoreboard.mark_head_lost();
        }
    }
}

impl StateMachine for Count {}
