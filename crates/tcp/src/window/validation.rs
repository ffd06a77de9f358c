//! Congestion window validation: a window that is not used neither grows nor persists.
//!
//! Linux's form of RFC 2861 and RFC 7661: the window grows only while it limits the flow; after a
//! timeout's worth of application-limited sending it is averaged with what was used; it is halved
//! per timeout of idleness, down to the initial window.

use backlane_units::SimTime;

use crate::config::Config;
use crate::recovery::probe::TimeoutFrom;
use crate::recovery::{CongestionState, Recovery};

#[derive(Clone, Debug)]
pub(crate) struct Validation {
    slow_start_after_idle: bool,
    /// The window grows only while it limits the flow.
    is_enabled: bool,
    initial_window_pkts: u32,
    /// Whether the window limited the flight that ends at `usage_seq`.
    is_cwnd_limited: bool,
    /// The most packets out in that flight.
    max_packets_out: u32,
    usage_seq: u64,
    /// The most packets out since the window last limited the flow, and since when.
    used_pkts: u32,
    stamp: SimTime,
    /// New data was sent since the last burst ended.
    sent_new: bool,
    /// The application wrote since the last check for idleness.
    written: bool,
}

impl Validation {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            slow_start_after_idle: config.slow_start_after_idle,
            is_enabled: config.window_validation,
            initial_window_pkts: config.initial_window_pkts.max(1),
            is_cwnd_limited: false,
            max_packets_out: 0,
            usage_seq: 0,
            used_pkts: 0,
            stamp: SimTime::ZERO,
            sent_new: false,
            written: false,
        }
    }

    pub(crate) fn on_start(&mut self, now: SimTime) {
        self.stamp = now;
    }

    pub(crate) fn on_write(&mut self) {
        self.written = true;
    }

    #[inline]
    pub(crate) fn on_new_data(&mut self) {
        self.sent_new = true;
    }

    /// Whether new data was sent in a burst whose end has not been processed.
    #[inline]
    pub(crate) fn is_in_burst(&self) -> bool {
        self.sent_new
    }

    /// A probe is no burst, and schedules no further probe.
    pub(crate) fn forget_burst(&mut self) {
        self.sent_new = false;
    }

    /// The most packets out in the last flight.
    pub(crate) fn max_packets_out(&self) -> u32 {
        self.max_packets_out
    }

    /// Whether the window limits the flow; in slow start it may be twice what was used.
    #[inline]
    pub(crate) fn is_cwnd_limited(&self, r: &Recovery) -> bool {
        !self.is_enabled
            || self.is_cwnd_limited
            || (r.window.in_slow_start() && r.window.cwnd_pkts < 2 * self.max_packets_out)
    }

    /// Everything that may leave now has left.
    #[inline]
    pub(crate) fn on_burst_end(&mut self, r: &mut Recovery, now: SimTime) {
        let in_flight_pkts = r.scoreboard.in_flight();
        let fills_window = in_flight_pkts >= r.window.cwnd_pkts;
        if r.scoreboard.rate.is_enabled()
            && !fills_window
            && r.space.unsent_bytes() < u64::from(r.space.mss_bytes)
            && !r.scoreboard.has_retransmissions()
        {
            r.scoreboard.rate.on_app_limited(in_flight_pkts);
        }
        let sent_new = std::mem::take(&mut self.sent_new);
        if sent_new {
            r.schedule_probe(now, TimeoutFrom::HeadSent);
        }
        let is_held_back = fills_window && r.space.has_unsent();
        if !sent_new && !is_held_back {
            return;
        }
        let packets_out = r.scoreboard.packets_out();
        if r.space.snd_una >= self.usage_seq
            || fills_window
            || (!self.is_cwnd_limited && packets_out > self.max_packets_out)
        {
            self.is_cwnd_limited = fills_window;
            self.max_packets_out = packets_out;
            self.usage_seq = r.space.snd_nxt;
        }
        if self.is_cwnd_limited(r) {
            self.used_pkts = 0;
            self.stamp = now;
            return;
        }
        self.used_pkts = self.used_pkts.max(packets_out);
        let unused_for = now.saturating_since(self.stamp);
        if self.shrinks_unused_window(r) && !r.space.waits_for_memory() && unused_for >= r.rtt.rto()
        {
            self.on_application_limited(r, now);
        }
    }

    /// A control that owns its window handles idleness itself.
    #[inline]
    fn shrinks_unused_window(&self, r: &Recovery) -> bool {
        self.slow_start_after_idle && !r.owns_window
    }

    fn on_application_limited(&mut self, r: &mut Recovery, now: SimTime) {
        if r.state == CongestionState::Open {
            let used_pkts = self.used_pkts.max(self.initial_window_pkts);
            if used_pkts < r.window.cwnd_pkts {
                r.window.ssthresh_pkts = ssthresh_for_unused_window(r);
                r.window.cwnd_pkts = u32::midpoint(r.window.cwnd_pkts, used_pkts);
            }
            self.used_pkts = 0;
        }
        self.stamp = now;
    }

    /// RFC 5681 §4.1, RFC 2861: halves the window for every timeout that the sender was idle since
    /// `last_sent`.
    #[inline]
    pub(crate) fn restart_after_idle(
        &mut self,
        r: &mut Recovery,
        now: SimTime,
        last_sent: SimTime,
    ) {
        if !std::mem::take(&mut self.written)
            || !self.shrinks_unused_window(r)
            || r.scoreboard.packets_out() > 0
        {
            return;
        }
        let rto = r.rtt.rto();
        let mut idle = now.saturating_since(last_sent);
        if idle <= rto {
            return;
        }
        r.control.on_idle_restart(now, r.space.snd_nxt, &r.window);
        r.window.ssthresh_pkts = ssthresh_for_unused_window(r);
        let floor_pkts = self.initial_window_pkts.min(r.window.cwnd_pkts);
        idle = idle.saturating_sub(rto);
        while idle.as_ps() > 0 && r.window.cwnd_pkts > floor_pkts {
            r.window.cwnd_pkts /= 2;
            idle = idle.saturating_sub(rto);
        }
        r.window.cwnd_pkts = r.window.cwnd_pkts.max(floor_pkts);
        self.stamp = now;
        self.used_pkts = 0;
    }
}

/// The threshold that remembers a window about to shrink because it was not used (RFC 2861 §3.2).
fn ssthresh_for_unused_window(r: &Recovery) -> u32 {
    let cwnd_pkts = r.window.cwnd_pkts;
    r.window
        .ssthresh_pkts
        .max((cwnd_pkts >> 1) + (cwnd_pkts >> 2))
}
