//! Congestion window validation: a window that was not used is neither grown nor kept.
//!
//! Linux's form of RFC 2861 and RFC 7661: growth only while the window limits the flow, the
//! window averaged with what was used after a timeout's worth of application-limited sending,
//! and halved per timeout of idleness down to the initial window.

use backlane_units::SimTime;

use super::Sender;
use crate::recovery::CongestionState;

#[derive(Clone, Debug)]
pub(super) struct Validation {
    slow_start_after_idle: bool,
    /// Whether the window limited the flight that ends at `usage_seq`.
    is_cwnd_limited: bool,
    /// The most packets out in that flight.
    max_packets_out: u32,
    usage_seq: u64,
    /// The most packets out since the window last limited the flow, and since when.
    used_pkts: u32,
    stamp: SimTime,
    /// New data left since the last burst ended.
    sent_new: bool,
    /// The application wrote since the last look for idleness.
    written: bool,
}

impl Validation {
    pub(super) fn new(slow_start_after_idle: bool) -> Self {
        Self {
            slow_start_after_idle,
            is_cwnd_limited: false,
            max_packets_out: 0,
            usage_seq: 0,
            used_pkts: 0,
            stamp: SimTime::ZERO,
            sent_new: false,
            written: false,
        }
    }

    pub(super) fn on_start(&mut self, now: SimTime) {
        self.stamp = now;
    }

    pub(super) fn on_write(&mut self) {
        self.written = true;
    }

    #[inline]
    pub(super) fn on_new_data(&mut self) {
        self.sent_new = true;
    }

    /// New data has left and the end of its burst was not seen.
    #[inline]
    pub(super) fn is_in_burst(&self) -> bool {
        self.sent_new
    }

    /// A probe is no burst, and schedules no further probe.
    pub(super) fn forget_burst(&mut self) {
        self.sent_new = false;
    }
}

impl Sender {
    /// The most packets out in the last flight.
    pub(super) fn max_packets_out(&self) -> u32 {
        self.validation.max_packets_out
    }

    /// Whether the window limits the flow; in slow start it may be twice what was used.
    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.validation.is_cwnd_limited
            || (self.window.in_slow_start()
                && self.window.cwnd_pkts < 2 * self.validation.max_packets_out)
    }

    /// The threshold that remembers a window about to shrink for lack of use (RFC 2861 §3.2).
    fn ssthresh_for_unused_window(&self) -> u32 {
        let cwnd_pkts = self.window.cwnd_pkts;
        self.window
            .ssthresh_pkts
            .max((cwnd_pkts >> 1) + (cwnd_pkts >> 2))
    }

    /// Everything that may leave now has left.
    #[inline]
    pub(super) fn on_burst_end(&mut self, now: SimTime) {
        let fills_window = self.scoreboard.in_flight() >= self.window.cwnd_pkts;
        if self.scoreboard.rate.is_enabled()
            && !fills_window
            && self.write_end - self.snd_nxt.min(self.write_end) < u64::from(self.mss_bytes)
            && !self.scoreboard.has_retransmissions()
        {
            let in_flight_pkts = self.scoreboard.in_flight();
            self.scoreboard.rate.on_app_limited(in_flight_pkts);
        }
        let sent_new = std::mem::take(&mut self.validation.sent_new);
        if sent_new {
            self.schedule_probe(now, false);
        }
        let is_held_back = fills_window && self.has_unsent();
        if !sent_new && !is_held_back {
            return;
        }
        let packets_out = self.scoreboard.packets_out();
        let validation = &mut self.validation;
        if self.snd_una >= validation.usage_seq
            || fills_window
            || (!validation.is_cwnd_limited && packets_out > validation.max_packets_out)
        {
            validation.is_cwnd_limited = fills_window;
            validation.max_packets_out = packets_out;
            validation.usage_seq = self.snd_nxt;
        }
        if self.is_cwnd_limited() {
            self.validation.used_pkts = 0;
            self.validation.stamp = now;
            return;
        }
        self.validation.used_pkts = self.validation.used_pkts.max(packets_out);
        let unused_for = now.saturating_since(self.validation.stamp);
        if self.shrinks_unused_window() && unused_for >= self.rtt.rto() {
            self.on_application_limited(now);
        }
    }

    /// A control that owns its window knows itself what an idle path is good for.
    #[inline]
    fn shrinks_unused_window(&self) -> bool {
        self.validation.slow_start_after_idle && !self.owns_window
    }

    fn on_application_limited(&mut self, now: SimTime) {
        if self.state == CongestionState::Open {
            let used_pkts = self.validation.used_pkts.max(self.initial_window_pkts);
            if used_pkts < self.window.cwnd_pkts {
                self.window.ssthresh_pkts = self.ssthresh_for_unused_window();
                self.window.cwnd_pkts = u32::midpoint(self.window.cwnd_pkts, used_pkts);
            }
            self.validation.used_pkts = 0;
        }
        self.validation.stamp = now;
    }

    /// RFC 5681 §4.1, RFC 2861: halves the window for every timeout the sender was idle.
    #[inline]
    pub(super) fn restart_after_idle(&mut self, now: SimTime) {
        if !std::mem::take(&mut self.validation.written)
            || !self.shrinks_unused_window()
            || self.scoreboard.packets_out() > 0
        {
            return;
        }
        let rto = self.rtt.rto();
        let mut idle = now.saturating_since(self.last_sent);
        if idle <= rto {
            return;
        }
        self.control
            .on_idle_restart(now, self.snd_nxt, &self.window);
        self.window.ssthresh_pkts = self.ssthresh_for_unused_window();
        let floor_pkts = self.initial_window_pkts.min(self.window.cwnd_pkts);
        idle = idle.saturating_sub(rto);
        while idle.as_ps() > 0 && self.window.cwnd_pkts > floor_pkts {
            self.window.cwnd_pkts /= 2;
            idle = idle.saturating_sub(rto);
        }
        self.window.cwnd_pkts = self.window.cwnd_pkts.max(floor_pkts);
        self.validation.stamp = now;
        self.validation.used_pkts = 0;
    }
}
