use std::ops::RangeInclusive;

use backlane_units::{Bytes, Duration};

const HOUR: Duration = Duration::from_secs(3600);

/// The longest run, 30 days; leaves room for sums in 64 bits.
pub const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);
/// A delay.
pub const DELAY: RangeInclusive<Duration> = Duration::ZERO..=HOUR;
/// A time.
pub const TIME: RangeInclusive<Duration> = Duration::ZERO..=LONGEST;
/// A time that is not zero.
pub const SPAN: RangeInclusive<Duration> = Duration::from_ps(1)..=LONGEST;
/// An interval of sampling; shorter ones would fill a run with events of their own.
pub const INTERVAL: RangeInclusive<Duration> = Duration::from_micros(1)..=HOUR;
/// Time between messages of a routing protocol.
pub const MESSAGE_INTERVAL: RangeInclusive<Duration> = Duration::from_millis(1)..=HOUR;
/// The mean of a random time.
pub const MEAN: RangeInclusive<Duration> = Duration::from_micros(1)..=LONGEST;
/// A size that is not zero.
pub const SIZE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1_000_000_000_000_000_000);
/// A number of nodes or flows.
pub const COUNT: RangeInclusive<u32> = 1..=1_000_000;
