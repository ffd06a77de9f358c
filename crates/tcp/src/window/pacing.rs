//! Pacing: segments leave no faster than the congestion control's rate, as with Linux's internal
//! pacing.

use backlane_units::{Duration, Rate, SimTime};

/// Segments at the beginning of a connection that are not paced (as with the fq queue).
const UNPACED_PKTS: u64 = 10;

#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    /// The next segment may leave at this time.
    next: SimTime,
    /// A segment waits for `next`.
    waits: bool,
}

impl Pacing {
    pub(crate) const fn new() -> Self {
        Self {
            next: SimTime::ZERO,
            waits: false,
        }
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> SimTime {
        if self.waits { self.next } else { SimTime::MAX }
    }

    /// Whether nothing may leave at `now`; if so, the wake-up is set.
    #[inline]
    pub(crate) fn holds_back(&mut self, now: SimTime) -> bool {
        self.waits = now < self.next;
        self.waits
    }

    /// How long the next segment has to wait, in whole microseconds.
    #[inline]
    pub(crate) fn wait_us(&self, now: SimTime) -> u32 {
        let wait_us = self.next.saturating_since(now).as_micros();
        u32::try_from(wait_us).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(crate) fn on_timer(&mut self, now: SimTime) {
        if self.next <= now {
            self.waits = false;
        }
    }

    /// Nothing waits to be sent.
    #[inline]
    pub(crate) fn rest(&mut self) {
        self.waits = false;
    }

    /// A segment of `payload_bytes` left, the `segments_sent`th: the next may follow after its
    /// time at `rate`. Time lost by waiting for a timer is made up, up to half of that time.
    /// `rate` is `None` when the control does not pace.
    #[inline]
    pub(crate) fn on_sent(
        &mut self,
        now: SimTime,
        rate: Option<Rate>,
        payload_bytes: u32,
        segments_sent: u64,
    ) {
        let Some(rate) = rate else {
            self.next = SimTime::ZERO;
            return;
        };
        if rate.as_bps() == 0 || segments_sent < UNPACED_PKTS {
            return;
        }
        let span = rate.transmission_time(u64::from(payload_bytes));
        let late: Duration = now.saturating_since(self.next);
        let credit = late.min(span / 2);
        self.next = self.next.max(now) + span.saturating_sub(credit);
    }
}
