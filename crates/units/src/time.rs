//! The simulator's clock: whole picoseconds in a `u64`, which lasts 213 days.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;

use crate::parse::{Quantity, Unit, UnitError, parse_unsigned, unit, write_largest};

/// Picoseconds in a second.
pub(crate) const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant on the simulated clock, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A span of simulated time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl SimTime {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for reports.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Whole microseconds since the start, rounded down.
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000_000
    }

    /// The span since `earlier`; zero if `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` later, or [`SimTime::MAX`] where that does not fit.
    #[inline]
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// `ns` nanoseconds.
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// `us` microseconds.
    #[inline]
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// `ms` milliseconds.
    #[inline]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// `s` seconds.
    #[inline]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// `s` seconds rounded to the picosecond; negative numbers and NaN give zero, too large ones
    /// [`Duration::MAX`].
    #[inline]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * PS_PER_S as f64 + 0.5) as u64)
    }

    /// Picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds, for reports and models in floating point.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The sum, or [`Duration::MAX`] where it does not fit.
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The product, or [`Duration::MAX`] where it does not fit.
    #[inline]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Add<Duration> for SimTime {
    type Output = Self;
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl Sub<Duration> for SimTime {
    type Output = Self;
    #[inline]
    fn sub(self, span: Duration) -> Self {
        Self(self.0 - span.0)
    }
}

impl Sub for SimTime {
    type Output = Duration;
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        Duration(self.0 - earlier.0)
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    #[inline]
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

/// The units a time is read in, as picoseconds.
pub(crate) const UNITS: &[Unit] = &[
    unit("ps", 1),
    unit("ns", 1_000),
    unit("us", 1_000_000),
    unit("µs", 1_000_000),
    unit("μs", 1_000_000),
    unit("ms", 1_000_000_000),
    unit("s", PS_PER_S as u128),
    unit("min", 60 * PS_PER_S as u128),
    unit("h", 3_600 * PS_PER_S as u128),
];

/// Reads "4 ms", exactly.
impl FromStr for Duration {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_unsigned(text, Quantity::Duration, UNITS).map(Self)
    }
}

/// Prints a whole number of the largest unit up to the second that divides the span.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTED: &[(&str, u64)] = &[
            ("s", PS_PER_S),
            ("ms", 1_000_000_000),
            ("us", 1_000_000),
            ("ns", 1_000),
            ("ps", 1),
        ];
        write_largest(f, self.0, PRINTED, "s")
    }
}
