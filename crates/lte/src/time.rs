//! Transmission time intervals: TTI `n` is the millisecond that begins at `n` ms.

use std::ops::RangeInclusive;

use backlane_units::{Duration, SimTime};

/// The length of a TTI.
pub const TTI: Duration = Duration::from_millis(1);

/// A timer or a delay of RRC.
pub(crate) const RRC_TIME: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(60);

/// When a TTI begins.
#[inline]
pub(crate) const fn start_of(tti: u64) -> SimTime {
    SimTime::from_ps(tti * TTI.as_ps())
}

/// The first TTI that does not begin before `time`.
#[inline]
pub(crate) const fn not_before(time: SimTime) -> u64 {
    time.as_ps().div_ceil(TTI.as_ps())
}
