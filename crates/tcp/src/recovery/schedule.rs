//! When the one timer expires: for the retransmission timeout, RACK, the tail loss probe or a closed
//! window.

use backlane_units::{Duration, SimTime};

use super::probe::{DueProbe, TimeoutFrom};
use super::timer::Timer;
use super::{CongestionState, Recovery};

/// The shortest wait of a kernel timer: two ticks (`TCP_TIMEOUT_MIN`, HZ = 1000).
const SHORTEST_WAIT: Duration = Duration::from_millis(2);

impl Recovery {
    #[inline]
    pub(crate) fn arm_retransmission_timer(&mut self, now: SimTime) {
        // A timer in place of this one has used up part of the wait.
        let at = if matches!(self.timers.armed, Timer::Reordering(_) | Timer::Probe(_)) {
            self.timeout_of_head(now)
        } else if self.timers.backoff == 0 {
            now.saturating_add(self.rtt.rto())
        } else {
            now.saturating_add(self.rtt.backed_off_rto(self.timers.backoff))
        };
        self.timers.armed = Timer::Retransmission(at);
    }

    /// When the first outstanding segment times out, at least a millisecond from now.
    fn timeout_of_head(&self, now: SimTime) -> SimTime {
        let sent_us = self
            .scoreboard
            .head_sent_us()
            .unwrap_or_else(|| now.as_micros());
        let sent = SimTime::ZERO.saturating_add(Duration::from_micros(sent_us));
        let at = sent.saturating_add(self.rtt.backed_off_rto(self.timers.backoff));
        at.max(now.saturating_add(Duration::from_millis(1)))
    }

    /// RACK: looks again after `wait_us`. Linux adds two ticks and keeps the timer below the RTO.
    pub(crate) fn arm_reordering_timer(&mut self, now: SimTime, wait_us: u64) {
        let wait = Duration::from_millis(wait_us.div_ceil(1000)) + SHORTEST_WAIT;
        let rto = self.rtt.backed_off_rto(self.timers.backoff);
        self.timers.armed = Timer::Reordering(now.saturating_add(wait.min(rto)));
        self.timers.waits_for_reordering = true;
    }

    pub(crate) fn arm_persist_timer(&mut self, now: SimTime) {
        let wait = self.rtt.backed_off_rto(self.timers.backoff);
        self.timers.armed = Timer::Persist(now.saturating_add(wait));
    }

    pub(crate) fn on_persist_timeout(&mut self, now: SimTime) {
        if self.timers.may_retry() {
            self.timers.back_off();
            self.timers.window_probe_due = true;
            self.arm_persist_timer(now);
        }
    }

    /// Arms the probe in place of the retransmission timer. Returns whether it did.
    pub(crate) fn schedule_probe(&mut self, now: SimTime, timeout_from: TimeoutFrom) -> bool {
        let packets_out = self.scoreboard.packets_out();
        if !self.probe.is_enabled
            || packets_out == 0
            || !matches!(self.state, CongestionState::Open | CongestionState::Cwr)
        {
            return false;
        }
        let mut wait = if self.rtt.has_sample() {
            let two_rtts = Duration::from_millis((2 * self.rtt.srtt_us()).div_ceil(1000));
            two_rtts
                + if packets_out == 1 {
                    self.probe.min_rto
                } else {
                    SHORTEST_WAIT
                }
        } else {
            self.rtt.rto()
        };
        let rto_at = match timeout_from {
            TimeoutFrom::Now => now.saturating_add(self.rtt.backed_off_rto(self.timers.backoff)),
            TimeoutFrom::HeadSent => self.timeout_of_head(now),
        };
        if rto_at > now {
            wait = wait.min(rto_at.saturating_since(now));
        }
        self.timers.armed = Timer::Probe(now.saturating_add(wait));
        true
    }

    /// The probe timer expired: a probe becomes due, unless one is unanswered.
    pub(crate) fn on_probe_timeout(&mut self, now: SimTime) {
        self.timers.armed = Timer::Off;
        if self.probe.end_seq.is_none() {
            self.probe.due = if self.space.can_send_new() {
                DueProbe::New
            } else {
                DueProbe::Last
            };
        }
        self.arm_retransmission_timer(now);
    }
}
