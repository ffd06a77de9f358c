//! RFC 6675 with a fixed threshold: a segment is lost when that many SACKed segments lie above it.
//! Lost retransmissions are not detected, and reductions are not undone.

use backlane_units::SimTime;

use super::machine::{StateMachine, in_open, set_open_or_disorder};
use super::policy::{AckEvent, LossPolicy};
use super::timeout;
use crate::choices::NextRecovery;
use crate::config::Config;
use crate::recovery::{CongestionState, Recovery};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    threshold_pkts: u32,
    next_recovery: NextRecovery,
    /// The duplicates since a recovery ended with losses left, while more are due before the next.
    awaited: Option<u32>,
}

impl Count {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            threshold_pkts: config.duplicate_threshold.max(1),
            next_recovery: config.next_recovery,
            awaited: None,
        }
    }
}

impl LossPolicy for Count {
    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.threshold_pkts
    }

    fn ends_episode(&mut self, r: &mut Recovery) -> bool {
        let waits =
            self.next_recovery == NextRecovery::Duplicates && r.state == CongestionState::Recovery;
        self.awaited = waits.then_some(0);
        true
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

impl StateMachine for Count {
    fn in_open(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        if let Some(duplicates) = self.awaited {
            let duplicates = if ack.advanced() {
                0
            } else {
                duplicates + u32::from(ack.is_duplicate)
            };
            self.detect_losses(r, now, ack);
            let waits = duplicates < self.threshold_pkts && r.scoreboard.lost_out() > 0;
            self.awaited = waits.then_some(duplicates);
            if waits {
                set_open_or_disorder(self, r, now);
                return;
            }
        }
        in_open(self, r, now, ack);
    }

    fn on_retransmission_timeout(&mut self, r: &mut Recovery, now: SimTime) {
        self.awaited = None;
        timeout::on_retransmission_timeout(self, r, now);
    }
}
