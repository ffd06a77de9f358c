//! NewReno (RFC 5681, RFC 6582): without SACK, each duplicate acknowledgment stands for a delivered
//! segment, and a partial acknowledgment in Recovery marks the next hole.

use backlane_units::SimTime;

use super::machine::StateMachine;
use super::policy::{AckEvent, LossPolicy};
use crate::config::Config;
use crate::recovery::{CongestionState, Recovery};

#[derive(Clone, Copy, Debug)]
pub(crate) struct NewReno {
    threshold_pkts: u32,
}

impl NewReno {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            threshold_pkts: config.duplicate_threshold.max(1),
        }
    }
}

impl LossPolicy for NewReno {
    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.threshold_pkts
    }

    fn detect_losses(&mut self, r: &mut Recovery, _now: SimTime, ack: &AckEvent) {
        let is_first_loss =
            r.state < CongestionState::Recovery && r.scoreboard.sacked_out() >= self.threshold_pkts;
        let is_partial_ack = r.state == CongestionState::Recovery && ack.advanced();
        if is_first_loss || is_partial_ack {
            r.scoreboard.mark_head_lost();
        }
    }

    fn count_duplicate_acks(&mut self, r: &mut Recovery, ack: &AckEvent) {
        if ack.advanced() {
            if r.state != CongestionState::Recovery {
                r.scoreboard.forget_duplicate_acks();
            }
        } else if ack.is_duplicate
            && (r.state != CongestionState::Loss || r.space.snd_nxt > r.high_seq)
        {
            r.scoreboard.on_duplicate_ack();
        }
    }

    /// RFC 6582 §4.1: duplicates of retransmissions would start another recovery; wait until
    /// something newer is acknowledged.
    fn ends_episode(&mut self, r: &mut Recovery) -> bool {
        r.scoreboard.forget_duplicate_acks();
        r.space.snd_una > r.high_seq
    }

    fn before_timeout(&mut self, r: &mut Recovery) {
        r.scoreboard.forget_duplicate_acks();
    }

    fn timeout_spares_us(&self, _r: &Recovery) -> u64 {
        0
    }
}

impl StateMachine for NewReno {}
