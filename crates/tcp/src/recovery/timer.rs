//! The retransmission timer (RFC 6298 §5) and the persist timer (RFC 9293 §3.8.6.1).

use backlane_units::SimTime;

/// What the one timer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    Off,
    Retransmission(SimTime),
    /// RACK: a segment was overtaken and is not overdue yet (RFC 8985 §6.2).
    Reordering(SimTime),
    /// A tail loss probe.
    Probe(SimTime),
    /// The peer's window is closed.
    Persist(SimTime),
}

/// The timer and what its expiries have led to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    pub(crate) armed: Timer,
    /// The present acknowledgment armed RACK's timer.
    pub(crate) waits_for_reordering: bool,
    pub(crate) backoff: u32,
    pub(crate) timeouts_in_a_row: u32,
    /// Timeouts in a row after which the connection fails.
    retries: u32,
    pub(crate) window_probe_due: bool,
    pub(crate) has_failed: bool,
}

impl Timers {
    pub(super) const fn new(retries: u32) -> Self {
        Self {
            armed: Timer::Off,
            waits_for_reordering: false,
            backoff: 0,
            timeouts_in_a_row: 0,
            retries,
            window_probe_due: false,
            has_failed: false,
        }
    }

    /// When the timer expires; [`SimTime::MAX`]: it is off.
    #[inline]
    pub(crate) fn next_timeout(&self) -> SimTime {
        match self.armed {
            Timer::Off => SimTime::MAX,
            Timer::Retransmission(at)
            | Timer::Reordering(at)
            | Timer::Probe(at)
            | Timer::Persist(at) => at,
        }
    }

    /// Stops the timer. Returns false and fails the connection if the retries are exhausted.
    pub(crate) fn may_retry(&mut self) -> bool {
        self.armed = Timer::Off;
        self.has_failed |= self.timeouts_in_a_row >= self.retries;
        !self.has_failed
    }

    pub(crate) fn back_off(&mut self) {
        self.timeouts_in_a_row += 1;
        self.backoff += 1;
    }

    /// The peer's window takes the next segment again.
    pub(crate) fn on_window_opened(&mut self) {
        self.armed = Timer::Off;
        self.backoff = 0;
        self.window_probe_due = false;
    }
}
