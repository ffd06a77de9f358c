//! The sender's timer: retransmission timeout (RFC 6298 §5) and window probes.

use backlane_units::{Duration, SimTime};

use super::probe::SHORTEST_WAIT;
use super::{Sender, TailProbe, Timer};
use crate::readings::SlowStartEnd;
use crate::recovery::CongestionState;

impl Sender {
    #[inline]
    pub(super) fn arm_retransmission_timer(&mut self, now: SimTime) {
        if self.is_pr() {
            self.arm_pr_timer(now);
            return;
        }
        // A timer in place of this one has used up part of the wait.
        if matches!(self.timer, Timer::Reordering(_) | Timer::Probe(_)) {
            self.timer = Timer::Retransmission(self.timeout_of_head(now));
            return;
        }
        let rto = if self.backoff == 0 {
            self.rtt.rto()
        } else {
            self.rtt.backed_off_rto(self.backoff)
        };
        self.timer = Timer::Retransmission(now.saturating_add(rto));
    }

    /// When the first outstanding segment times out, a millisecond from now at the least.
    pub(super) fn timeout_of_head(&self, now: SimTime) -> SimTime {
        let sent_us = self
            .scoreboard
            .head_sent_us()
            .unwrap_or_else(|| now.as_micros());
        let sent = SimTime::ZERO.saturating_add(Duration::from_micros(sent_us));
        let at = sent.saturating_add(self.rtt.backed_off_rto(self.backoff));
        at.max(now.saturating_add(Duration::from_millis(1)))
    }

    /// Linux adds two ticks to RACK's timer, and keeps it below the timeout.
    pub(super) fn arm_reordering_timer(&mut self, now: SimTime, wait_us: u64) {
        let wait = Duration::from_millis(wait_us.div_ceil(1000)) + SHORTEST_WAIT;
        let rto = self.rtt.backed_off_rto(self.backoff);
        self.timer = Timer::Reordering(now.saturating_add(wait.min(rto)));
        self.waits_for_reordering = true;
    }

    /// What was overtaken is overdue now.
    fn on_reordering_timeout(&mut self, now: SimTime) {
        let in_flight_pkts = self.scoreboard.in_flight();
        self.timer = Timer::Off;
        self.look_for_losses(now, None);
        let found = self.scoreboard.in_flight() != in_flight_pkts;
        self.tell_losses(now);
        if found && self.state != CongestionState::Recovery {
            self.enter_recovery(now, false);
            if !self.owns_window {
                self.reduce(1, false);
            }
        }
        if self.timer == Timer::Off {
            self.timer = Timer::Reordering(now);
            self.arm_retransmission_timer(now);
        }
    }

    pub(super) fn arm_persist_timer(&mut self, now: SimTime) {
        let wait = self.rtt.backed_off_rto(self.backoff);
        self.timer = Timer::Persist(now.saturating_add(wait));
    }

    pub(crate) fn on_timer(&mut self, now: SimTime) {
        self.pacing.on_timer(now);
        self.observe(now);
        match self.timer {
            Timer::Retransmission(at) if at <= now && self.is_pr() => self.on_pr_timeout(now),
            Timer::Retransmission(at) if at <= now => self.on_loss_of_all(now),
            Timer::Reordering(at) if at <= now => self.on_reordering_timeout(now),
            Timer::Probe(at) if at <= now => self.on_probe_timeout(now),
            Timer::Persist(at) if at <= now => self.on_persist_timeout(now),
            _ => {}
        }
    }

    /// Nothing of what is outstanding has been heard of for too long.
    pub(super) fn on_loss_of_all(&mut self, now: SimTime) {
        self.timer = Timer::Off;
        if self.timeouts_in_a_row >= self.retries {
            self.failed = true;
            return;
        }
        self.statistics.rtos += 1;
        self.enter_loss(now);
        self.timeouts_in_a_row += 1;
        self.backoff += 1;
        self.arm_retransmission_timer(now);
    }

    /// Everything outstanding is taken for lost; slow start begins with one segment.
    fn enter_loss(&mut self, now: SimTime) {
        let was_open = self.state <= CongestionState::Disorder;
        let was_recovering = self.state >= CongestionState::Recovery;
        // F-RTO had the threshold wait for its verdict.
        if !(self.is_legacy() && self.frto) {
            self.reordering
                .on_timeout(self.scoreboard.sacked_out(), was_open);
        }
        self.weigh_timeout(was_open);
        self.ncr = None;
        self.probe_end = None;
        self.tail_probe = TailProbe::None;
        if !self.selective {
            self.scoreboard.forget_duplicate_acks();
        }
        let spared_us = if self.selective && !self.is_legacy() {
            // RFC 8985 §6.3.
            self.scoreboard.rtt_us()
        } else {
            0
        };
        self.scoreboard.on_timeout(now.as_micros(), spared_us);
        // A timeout within a recovery, or a repeated one, is the same loss: one reduction.
        let is_new_loss = self.state <= CongestionState::Disorder
            || self.snd_una >= self.high_seq
            || (self.state == CongestionState::Loss && self.timeouts_in_a_row == 0);
        if is_new_loss {
            self.mark_undo(true);
            self.end_slow_start(now, SlowStartEnd::Loss);
            let in_flight_pkts = self.scoreboard.in_flight();
            self.window.ssthresh_pkts = self.control.ssthresh(now, &self.window, in_flight_pkts);
            self.control.on_loss(now, &mut self.window);
        }
        if self.is_legacy() && self.scoreboard.has_ever_retransmitted() {
            self.undo.forbid();
        }
        self.tell_losses(now);
        self.control.on_timeout(now, self.scoreboard.lost_total());
        self.set_state(now, CongestionState::Loss);
        self.window.cwnd_pkts = self.scoreboard.in_flight() + 1;
        self.window.drop_credit();
        self.high_seq = self.snd_nxt;
        self.tells_reduction = true;
        self.tries_new_data = false;
        self.checks_timeout =
            self.frto && (!was_recovering || self.timeouts_in_a_row > 0 || self.is_legacy());
    }

    fn on_persist_timeout(&mut self, now: SimTime) {
        if self.timeouts_in_a_row >= self.retries {
            self.timer = Timer::Off;
            self.failed = true;
            return;
        }
        self.timeouts_in_a_row += 1;
        self.backoff += 1;
        self.probe_due = true;
        self.arm_persist_timer(now);
    }
}
