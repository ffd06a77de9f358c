//! Tail loss probe (RFC 8985 §7, Linux's timing): when no acknowledgment has come for two round
//! trips after the last segment, one more segment is sent to draw one.

use backlane_units::{Duration, SimTime};

use super::timer::Timer;
use super::{CongestionState, Recovery};

/// The shortest wait of a kernel timer: two ticks (`TCP_TIMEOUT_MIN`, HZ = 1000).
pub(super) const SHORTEST_WAIT: Duration = Duration::from_millis(2);

/// A tail loss probe that is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DueProbe {
    #[default]
    None,
    /// New data, even beyond the congestion window.
    New,
    /// A retransmission of the last segment.
    Last,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TailLossProbe {
    is_enabled: bool,
    min_rto: Duration,
    pub(crate) due: DueProbe,
    /// SND.NXT when the last probe left; `None` once it is answered.
    pub(crate) end_seq: Option<u64>,
    pub(crate) is_retransmission: bool,
}

impl TailLossProbe {
    pub(super) const fn new(is_enabled: bool, min_rto: Duration) -> Self {
        Self {
            is_enabled,
            min_rto,
            due: DueProbe::None,
            end_seq: None,
            is_retransmission: false,
        }
    }
}

/// From when the retransmission timeout runs that a probe must not outlast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutFrom {
    /// From now: an acknowledgment restarts the timer.
    Now,
    /// From when the first outstanding segment left.
    HeadSent,
}

impl Recovery {
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
