//! Recovery as Linux had it from 2.6.26 (2008) to 3.1 (2011), where RACK, tail loss probes and
//! proportional rate reduction were to come.
//!
//! A threshold in segments, three at first, grows with the reordering seen. Until it has grown,
//! every hole below the highest SACK counts towards it (FACK) and retransmissions overtaken are
//! found; from then on SACKed segments alone count, and a lost retransmission waits for the
//! timeout, which brings the threshold back to three. The window falls by rate halving, and in
//! all states but Open bursts are limited to the threshold.

use backlane_units::SimTime;

use super::Sender;
use super::state::Step;
use crate::config::Reordering;
use crate::recovery::CongestionState;
use crate::recovery::rate_halving::RateHalving;
use crate::segment::Segment;

impl Sender {
    pub(super) fn is_legacy(&self) -> bool {
        self.reordering.policy() == Reordering::LinuxLegacy
    }

    /// Whether Recovery shall begin (`tcp_time_to_recover`).
    fn is_time_to_recover(&self, now: SimTime) -> bool {
        let threshold = self.reordering.degree();
        let sacked_out = self.scoreboard.sacked_out();
        let counted = if self.reordering.counts_holes() {
            self.scoreboard.forward_out()
        } else {
            sacked_out + 1
        };
        if self.scoreboard.lost_out() > 0 || counted > threshold || self.is_head_overdue(now) {
            return true;
        }
        // Too little is out for the threshold, and there is nothing to add to it.
        let packets_out = self.scoreboard.packets_out();
        packets_out <= threshold
            && sacked_out >= (packets_out / 2).max(self.reordering.initial_degree())
            && !(self.may_send_new() && self.scoreboard.in_flight() < self.window.cwnd_pkts)
    }

    /// With FACK: whether the first segment left more than a timeout ago, which acknowledgments
    /// have put off.
    fn is_head_overdue(&self, now: SimTime) -> bool {
        let overdue_us = now.as_micros().saturating_sub(self.rtt.rto().as_micros());
        self.reordering.counts_holes()
            && (self.scoreboard.head_sent_us()).is_some_and(|sent_us| sent_us < overdue_us)
    }

    /// Marks what is lost.
    pub(super) fn look_for_losses_by_degree(&mut self, now: SimTime, step: &Step) {
        let (begins, limit_seq) = match self.state {
            CongestionState::Loss => return,
            CongestionState::Recovery => {
                if self.reordering.counts_holes() {
                    self.scoreboard.mark_overtaken_retransmissions_lost();
                }
                let reaches_far = self.scoreboard.forward_out() > self.reordering.degree();
                let tells = if step.advanced() {
                    reaches_far
                } else {
                    step.is_duplicate || (step.delivery.newly_sacked && reaches_far)
                };
                if !tells && !self.is_head_overdue(now) {
                    return;
                }
                (false, self.high_seq)
            }
            _ if self.is_time_to_recover(now) => (true, u64::MAX),
            _ => return,
        };
        let threshold = self.reordering.degree();
        if self.reordering.counts_holes() {
            let lost_pkts = self.scoreboard.forward_out().saturating_sub(threshold);
            self.scoreboard.mark_first_lost(lost_pkts.max(1), limit_seq);
            if self.is_head_overdue(now) {
                let overdue_us = now.as_micros() - self.rtt.rto().as_micros();
                self.scoreboard.mark_lost_sent_before(overdue_us);
            }
        } else {
            self.scoreboard.mark_lost_by_count(threshold, limit_seq);
        }
        if begins {
            self.scoreboard.mark_head_lost();
        }
    }

    /// A partial acknowledgment in Recovery. If an original was only late, the window comes
    /// back as far as what is in flight allows; Recovery goes on and the threshold stays.
    /// Whether it was.
    pub(super) fn try_undo_partial_by_degree(&mut self, now: SimTime, step: &Step) -> bool {
        if !self.may_undo_by_degree(now, step.segment) {
            return false;
        }
        if self.scoreboard.retrans_out() == 0 {
            self.undo.forget_retransmissions();
        }
        let metric_pkts = self.scoreboard.forward_out() + step.delivery.acked_pkts;
        let span_bytes = u64::from(metric_pkts) * u64::from(self.mss_bytes);
        self.reordering.on_reordered(span_bytes);
        let prior_cwnd_pkts = self.undo.prior_cwnd_pkts();
        self.window.cwnd_pkts = self.control.undo_cwnd(&self.window, prior_cwnd_pkts).max(1);
        self.moderate_window();
        true
    }

    pub(super) fn may_undo_by_degree(&self, now: SimTime, segment: &Segment) -> bool {
        self.undo.is_possible()
            && (self.undo.is_answered() || self.is_delayed_original(segment, now))
    }

    /// Disorder is left when everything that was outstanding at its beginning is acknowledged;
    /// one segment more must be, while a D-SACK could still take the last reduction back.
    pub(super) fn leave_disorder(&mut self, now: SimTime) {
        self.try_undo_by_duplicates();
        if !self.undo.is_possible() || self.snd_una != self.high_seq {
            self.undo.forbid();
            self.set_state(now, CongestionState::Open);
        }
    }

    /// No burst of more than the threshold (`tcp_moderate_cwnd`).
    pub(super) fn moderate_window(&mut self) {
        let limit_pkts = self.scoreboard.in_flight() + self.reordering.degree();
        self.window.cwnd_pkts = self.window.cwnd_pkts.min(limit_pkts);
    }

    /// F-RTO (RFC 4138 appendix B, as Linux had it): the first acknowledgment that moves after
    /// the retransmission lets two new segments out; the next one is from what had been on its
    /// way, and the timeout was needless, or not. Whether that is all to be done.
    pub(super) fn judge_timeout(&mut self, now: SimTime, step: &Step) -> bool {
        let recovered = self.snd_una >= self.high_seq;
        if !self.tries_new_data {
            if !step.advanced() {
                return true;
            }
            if recovered || !self.may_send_new() {
                self.confirm_timeout(2);
                return false;
            }
            self.tries_new_data = true;
            self.window.cwnd_pkts = self.scoreboard.in_flight() + 2;
            return true;
        }
        let newly_sacked = step.delivery.newly_sacked;
        let progress = step.advanced() || newly_sacked;
        if !progress && !step.is_duplicate {
            return true;
        }
        let original = (step.delivery.original_end).is_some_and(|end_seq| end_seq <= self.high_seq);
        if recovered || !progress || (newly_sacked && !original) {
            self.confirm_timeout(3);
            return false;
        }
        self.checks_timeout = false;
        self.tries_new_data = false;
        self.statistics.spurious_rtos += 1;
        self.halve_after_spurious_timeout(now);
        true
    }

    /// F-RTO saw that the timeout was right: slow start goes on with `room_pkts`.
    fn confirm_timeout(&mut self, room_pkts: u32) {
        self.checks_timeout = false;
        self.tries_new_data = false;
        self.reordering
            .on_timeout(self.scoreboard.sacked_out(), false);
        self.window.cwnd_pkts = self.scoreboard.in_flight() + room_pkts;
        self.high_seq = self.snd_nxt;
    }

    /// The answer to a timeout that F-RTO found needless: its threshold stays, and rate halving
    /// takes the window there (the first of `tcp_frto_response`).
    fn halve_after_spurious_timeout(&mut self, now: SimTime) {
        self.scoreboard.forget_losses();
        self.undo.forbid();
        self.timeouts_in_a_row = 0;
        let limit_pkts = self.scoreboard.in_flight() + 1;
        self.window.cwnd_pkts = self.undo.prior_cwnd_pkts().clamp(1, limit_pkts);
        self.halving = self.halving.map(|_| RateHalving::default());
        self.set_state(now, CongestionState::Cwr);
    }
}
