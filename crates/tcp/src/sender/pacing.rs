//! Pacing: segments leave no faster than the congestion control says, as Linux's internal
//! pacing has it.

use backlane_units::{Duration, SimTime};

use super::Sender;

/// Segments of a connection that are not paced (as the fq queue, Linux spares the first ten).
const UNPACED_PKTS: u64 = 10;

#[derive(Clone, Debug)]
pub(super) struct Pacing {
    /// The next segment may leave at this time.
    next: SimTime,
    /// Something waits for `next`.
    waits: bool,
}

impl Pacing {
    pub(super) const fn new() -> Self {
        Self {
            next: SimTime::ZERO,
            waits: false,
        }
    }

    #[inline]
    pub(super) fn next_timeout(&self) -> SimTime {
        if self.waits { self.next } else { SimTime::MAX }
    }

    /// Whether nothing may leave at `now`; if so, the wake-up is set.
    #[inline]
    pub(super) fn holds_back(&mut self, now: SimTime) -> bool {
        self.waits = now < self.next;
        self.waits
    }

    /// How long the next segment has to wait, in whole microseconds.
    #[inline]
    pub(super) fn wait_us(&self, now: SimTime) -> u32 {
        let wait_us = self.next.saturating_since(now).as_micros();
        u32::try_from(wait_us).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(super) fn on_timer(&mut self, now: SimTime) {
        if self.next <= now {
            self.waits = false;
        }
    }

    /// Nothing waits to be sent.
    #[inline]
    pub(super) fn rest(&mut self) {
        self.waits = false;
    }
}

impl Sender {
    /// A segment of `payload_bytes` left: the next may follow after its time at the paced rate.
    /// What was lost by waiting for a timer is made good, up to half of that time.
    #[inline]
    pub(super) fn pace(&mut self, now: SimTime, payload_bytes: u32) {
        let Some(rate) = self.control.pacing_rate() else {
            self.pacing.next = SimTime::ZERO;
            return;
        };
        if rate.as_bps() == 0 || self.statistics.segments_sent < UNPACED_PKTS {
            return;
        }
        let span = rate.transmission_time(u64::from(payload_bytes));
        let late: Duration = now.saturating_since(self.pacing.next);
        let credit = late.min(span / 2);
        self.pacing.next = self.pacing.next.max(now) + span.saturating_sub(credit);
    }
}
