//! The sender's timer: retransmission timeout (RFC 6298 §5) and window probes.

use backlane_units::SimTime;

use super::{Sender, Timer};
use crate::recovery::CongestionState;

impl Sender {
    #[inline]
    pub(super) fn arm_retransmission_timer(&mut self, now: SimTime) {
        let rto = if self.backoff == 0 {
            self.rtt.rto()
        } else {
            self.rtt.backed_off_rto(self.backoff)
        };
        self.timer = Timer::Retransmission(now.saturating_add(rto));
    }

    pub(super) fn arm_persist_timer(&mut self, now: SimTime) {
        let wait = self.rtt.backed_off_rto(self.backoff);
        self.timer = Timer::Persist(now.saturating_add(wait));
    }

    pub(crate) fn on_timer(&mut self, now: SimTime) {
        self.pacing.on_timer(now);
        match self.timer {
            Timer::Retransmission(at) if at <= now => self.on_retransmission_timeout(now),
            Timer::Persist(at) if at <= now => self.on_persist_timeout(now),
            _ => {}
        }
    }

    fn on_retransmission_timeout(&mut self, now: SimTime) {
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
        self.scoreboard.on_timeout(now.as_micros(), self.selective);
        // A timeout within a recovery, or a repeated one, is the same loss: one reduction.
        let is_new_loss = self.state <= CongestionState::Disorder
            || self.snd_una >= self.high_seq
            || (self.state == CongestionState::Loss && self.timeouts_in_a_row == 0);
        if is_new_loss {
            let in_flight_pkts = self.scoreboard.in_flight();
            self.window.ssthresh_pkts = self.control.ssthresh(now, &self.window, in_flight_pkts);
        }
        self.set_state(now, CongestionState::Loss);
        self.window.cwnd_pkts = self.scoreboard.in_flight() + 1;
        self.window.drop_credit();
        self.high_seq = self.snd_nxt;
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
