//! The state machine of loss recovery, as Linux walks it: exits first, then what the present
//! state makes of the acknowledgment, then the search for losses.

use backlane_units::SimTime;

use super::Sender;
use crate::config::Reordering;
use crate::readings::SlowStartEnd;
use crate::recovery::CongestionState;
use crate::recovery::prr::Prr;
use crate::recovery::rate_halving::RateHalving;
use crate::recovery::scoreboard::Delivery;
use crate::segment::Segment;

/// What the state machine must know of an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    pub(super) segment: &'a Segment,
    pub(super) delivery: &'a Delivery,
    pub(super) prior_una: u64,
    pub(super) is_duplicate: bool,
    pub(super) has_ece: bool,
}

impl Step<'_> {
    pub(super) fn advanced(&self) -> bool {
        self.segment.ack > self.prior_una
    }
}

impl Sender {
    pub(super) fn set_state(&mut self, now: SimTime, state: CongestionState) {
        if self.state != state {
            self.control.on_state_change(now, state, self.snd_nxt);
            self.state = state;
            if state == CongestionState::Open {
                // An undo, too, ends the disorder.
                self.ncr = None;
            }
        }
    }

    pub(super) fn update_state(&mut self, now: SimTime, step: &Step) {
        if self.is_pr() {
            self.step_by_deadlines(now, step);
            return;
        }
        let undos = self.statistics.undos;
        self.walk_states(now, step);
        self.learn_from_undos(now, undos);
    }

    fn walk_states(&mut self, now: SimTime, step: &Step) {
        if step.has_ece {
            self.undo.forget_threshold();
        }
        if self.state == CongestionState::Open {
            self.undo.forget_retransmissions();
        } else if self.snd_una >= self.high_seq && !self.leave_reduction(now, step) {
            return;
        }
        match self.state {
            CongestionState::Recovery => self.continue_recovery(now, step),
            CongestionState::Loss => self.continue_loss(now, step),
            _ => {
                self.count_duplicates(step);
                if self.state <= CongestionState::Disorder {
                    self.try_undo_by_duplicates();
                }
                self.step_over_reordering(now, step);
                self.look_for_losses(now, Some(step));
                if self.scoreboard.lost_out() > 0 {
                    self.enter_recovery(now, step.has_ece);
                    return;
                }
                if step.has_ece {
                    self.enter_cwr(now, SlowStartEnd::Mark);
                }
                self.forget_old_retransmissions();
                if self.state != CongestionState::Cwr {
                    self.keep_open(now);
                }
            }
        }
    }

    /// Everything that was outstanding at the reduction is acknowledged. Whether the
    /// acknowledgment shall be looked at further.
    fn leave_reduction(&mut self, now: SimTime, step: &Step) -> bool {
        match self.state {
            CongestionState::Cwr if self.snd_una > self.high_seq => {
                self.end_reduction(now);
                self.set_state(now, CongestionState::Open);
            }
            CongestionState::Recovery => {
                if !self.selective {
                    self.scoreboard.forget_duplicate_acks();
                }
                self.try_undo_at_end(now, step.segment);
                // RFC 6582 §4.1: without SACK, duplicates of retransmissions would start
                // another recovery; wait until something newer is acknowledged.
                if !self.selective && self.snd_una == self.high_seq {
                    return false;
                }
                self.end_reduction(now);
                self.set_state(now, CongestionState::Open);
            }
            CongestionState::Disorder if self.is_legacy() => self.leave_disorder(now),
            _ => {}
        }
        true
    }

    fn continue_recovery(&mut self, now: SimTime, step: &Step) {
        if step.advanced() {
            let undone = if self.is_legacy() {
                self.try_undo_partial_by_degree(now, step)
            } else {
                self.try_undo_partial(now, step.segment, step.prior_una)
            };
            if undone {
                return;
            }
        } else if !self.selective && step.is_duplicate {
            self.scoreboard.on_duplicate_ack();
        }
        if !self.is_legacy() && self.try_undo_by_duplicates() {
            self.forget_old_retransmissions();
            self.keep_open(now);
        }
        self.look_for_losses(now, Some(step));
        if self.state != CongestionState::Recovery && self.scoreboard.lost_out() > 0 {
            self.enter_recovery(now, step.has_ece);
        }
    }

    fn continue_loss(&mut self, now: SimTime, step: &Step) {
        if self.is_legacy() && self.checks_timeout && self.judge_timeout(now, step) {
            return;
        }
        let recovered = self.snd_una >= self.high_seq;
        let undone = (step.advanced() && self.try_undo_loss(now, step.segment, false))
            || self.detect_spurious_timeout(now, step, recovered);
        if !undone && !self.tries_new_data {
            if recovered {
                if !self.selective {
                    self.scoreboard.forget_duplicate_acks();
                    if self.snd_una == self.high_seq {
                        return;
                    }
                }
                self.try_undo_at_end(now, step.segment);
                self.set_state(now, CongestionState::Open);
            } else if !self.selective {
                if step.advanced() {
                    self.scoreboard.forget_duplicate_acks();
                } else if step.is_duplicate && self.snd_nxt > self.high_seq {
                    self.scoreboard.on_duplicate_ack();
                }
            }
        }
        let retrans_out = self.scoreboard.retrans_out();
        self.look_for_losses(now, Some(step));
        let retransmission_lost = self.scoreboard.retrans_out() < retrans_out;
        if self.state == CongestionState::Open {
            self.keep_open(now);
        }
        if (self.state <= CongestionState::Disorder && self.scoreboard.lost_out() > 0)
            || retransmission_lost
        {
            self.enter_recovery(now, step.has_ece);
        }
    }

    /// F-RTO with SACK (RFC 5682 §3.1). Whether the timeout was needless.
    fn detect_spurious_timeout(&mut self, now: SimTime, step: &Step, recovered: bool) -> bool {
        self.tries_new_data = false;
        if !self.checks_timeout {
            return false;
        }
        // Step 3b: what was sent before the timeout, and never again, arrived.
        let original = step
            .delivery
            .original_end
            .is_some_and(|end_seq| end_seq <= self.high_seq);
        if original && self.try_undo_loss(now, step.segment, true) {
            return true;
        }
        if self.snd_nxt > self.high_seq {
            if step.delivery.newly_sacked || step.is_duplicate {
                self.checks_timeout = false;
            }
        } else if step.advanced() && !recovered {
            // Step 2b: try new data before anything else is retransmitted.
            self.high_seq = self.snd_nxt;
            self.tries_new_data = self.has_unsent() && self.window_end > self.snd_nxt;
            self.checks_timeout = self.tries_new_data;
        }
        false
    }

    fn count_duplicates(&mut self, step: &Step) {
        if !self.selective {
            if step.advanced() {
                self.scoreboard.forget_duplicate_acks();
            }
            if step.is_duplicate {
                self.scoreboard.on_duplicate_ack();
            }
        }
    }

    /// Open or Disorder, whichever it is.
    pub(super) fn keep_open(&mut self, now: SimTime) {
        let disorder = self.scoreboard.sacked_out() + self.scoreboard.lost_out() > 0
            || self.scoreboard.is_head_retransmitted()
            || (self.is_legacy() && (self.undo.is_possible() || self.scoreboard.retrans_out() > 0));
        let state = if disorder {
            CongestionState::Disorder
        } else {
            CongestionState::Open
        };
        if self.state != state {
            self.set_state(now, state);
            self.high_seq = self.snd_nxt;
        }
    }

    /// Marks what is lost; RACK may leave a timer for what is not overdue yet, and looks only
    /// when something was delivered or, without a `step`, when that timer went off.
    pub(super) fn look_for_losses(&mut self, now: SimTime, step: Option<&Step>) {
        let advanced = step.is_some_and(Step::advanced);
        let recovering = self.state >= CongestionState::Recovery;
        let sacked_out = self.scoreboard.sacked_out();
        if !self.selective {
            let enough = sacked_out >= self.reordering.degree();
            if (!recovering && enough) || (self.state == CongestionState::Recovery && advanced) {
                self.scoreboard.mark_head_lost();
            }
            return;
        }
        if let (true, Some(step)) = (self.is_legacy(), step) {
            self.look_for_losses_by_degree(now, step);
            return;
        }
        if self.is_ncr() || self.is_rr() {
            self.count_losses(advanced);
            return;
        }
        if self.reordering.policy() != Reordering::Rack {
            let threshold = self.reordering.degree();
            self.scoreboard.mark_lost_by_count(threshold, u64::MAX);
            if self.state == CongestionState::Recovery && advanced {
                // Not in RFC 6675: a partial acknowledgment points at a hole, though too little
                // may be SACKed above it (RFC 6582 §3.2, as without SACK).
                self.scoreboard.mark_head_lost();
            }
            return;
        }
        if !self.scoreboard.take_advance() && step.is_some() {
            return;
        }
        let window_us = self.reordering.window_us(
            recovering,
            sacked_out,
            self.rtt.min_rtt_us().unwrap_or(0),
            self.rtt.srtt_us(),
        );
        let wait_us = self
            .scoreboard
            .mark_overtaken_lost(now.as_micros(), window_us);
        if let Some(wait_us) = wait_us {
            self.arm_reordering_timer(now, wait_us);
        }
    }

    /// Reduces the window once without a loss: for a congestion mark, or at the wish of the
    /// congestion control.
    pub(super) fn enter_cwr(&mut self, now: SimTime, cause: SlowStartEnd) {
        if self.state < CongestionState::Cwr {
            self.end_slow_start(now, cause);
            self.ncr = None;
            self.undo.forget_threshold();
            self.undo.forbid();
            self.start_reduction(now);
            self.set_state(now, CongestionState::Cwr);
        }
    }

    pub(super) fn start_reduction(&mut self, now: SimTime) {
        self.prr = Prr::start(self.window.cwnd_pkts);
        self.halving = self.halving.map(|_| RateHalving::default());
        let in_flight_pkts = self.scoreboard.in_flight();
        self.window.ssthresh_pkts = self.control.ssthresh(now, &self.window, in_flight_pkts);
        self.window.drop_credit();
        self.high_seq = self.snd_nxt;
        self.tells_reduction = true;
        self.probe_end = None;
    }

    pub(super) fn enter_recovery(&mut self, now: SimTime, has_ece: bool) {
        self.statistics.fast_retransmits += 1;
        self.end_slow_start(now, SlowStartEnd::Loss);
        self.forget_old_retransmissions();
        self.undo.forget_threshold();
        self.mark_undo(!self.is_reducing() && !has_ece);
        if !self.is_reducing() {
            self.end_ncr_with_loss();
            let prior_cwnd_pkts = self.window.cwnd_pkts;
            self.start_reduction(now);
            self.note_reduction(now, prior_cwnd_pkts);
        }
        self.control.on_loss(now, &mut self.window);
        self.set_state(now, CongestionState::Recovery);
    }
}
