//! The timestamp that acknowledgments echo (TS.Recent), and the age of others relative to it.

use backlane_units::{Duration, SimTime};

/// The clock of the timestamps wraps after 71 minutes: half of that after the last one was
/// stored, older and newer cannot be distinguished (RFC 7323: outdated timestamps).
const OUTDATED: Duration = Duration::from_micros(1 << 31);

/// TS.Recent of RFC 7323.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TsRecent {
    /// One tick of the modelled clock; ours counts microseconds.
    tick_us: u32,
    /// 0: none yet.
    value: u32,
    stored_at: SimTime,
}

impl TsRecent {
    pub(crate) fn new(tick_us: u32) -> Self {
        Self {
            tick_us: tick_us.max(1),
            value: 0,
            stored_at: SimTime::ZERO,
        }
    }

    pub(crate) fn value(self) -> u32 {
        self.value
    }

    pub(crate) fn store(&mut self, now: SimTime, ts_val: u32) {
        self.value = ts_val;
        self.stored_at = now;
    }

    /// How many ticks a segment with `ts_val` left before the one whose
    /// timestamp is echoed; 0: it is not older, or the echoed one is outdated.
    #[inline]
    pub(crate) fn ticks_late(self, now: SimTime, ts_val: u32) -> u32 {
        let late_us = self.value.wrapping_sub(ts_val);
        if late_us as i32 <= 0 {
            return 0;
        }
        let unknown = ts_val == 0 || self.value == 0;
        if unknown || now.saturating_since(self.stored_at) >= OUTDATED {
            return 0;
        }
        (late_us + ts_val % self.tick_us) / self.tick_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks_late(recent_us: u32, ts_val: u32, idle: Duration) -> u32 {
        let mut recent = TsRecent::new(1000);
        recent.store(SimTime::ZERO, recent_us);
        recent.ticks_late(SimTime::ZERO + idle, ts_val)
    }

    #[test]
    fn ages_are_differences_of_whole_milliseconds() {
        let late = |recent_us, ts_val| ticks_late(recent_us, ts_val, Duration::ZERO);
        assert_eq!(late(7_000, 6_999), 1);
        assert_eq!(late(7_999, 6_000), 1);
        assert_eq!(late(8_000, 6_999), 2);
        assert_eq!(late(7_000, 7_999), 0);
        assert_eq!(late(7_999, 8_000), 0);
    }

    #[test]
    fn a_coarser_clock_finds_less_too_old() {
        let mut recent = TsRecent::new(4000);
        recent.store(SimTime::ZERO, 12_000);
        // Ticks of 4 ms: 12 to 16 ms is tick 3, 8 to 12 ms is tick 2, 4 to 8 ms is tick 1.
        let late = |ts_val| recent.ticks_late(SimTime::ZERO, ts_val);
        assert_eq!((late(11_999), late(8_000)), (1, 1));
        assert_eq!((late(7_999), late(4_000)), (2, 2));
    }

    #[test]
    fn the_clock_may_wrap_in_between() {
        assert_eq!(ticks_late(2_500, u32::MAX - 2_499, Duration::ZERO), 5);
        assert_eq!(ticks_late(u32::MAX - 2_499, 2_500, Duration::ZERO), 0);
    }

    #[test]
    fn a_timestamp_of_half_an_hour_ago_judges_nothing() {
        assert_eq!(ticks_late(9_000, 1_000, Duration::from_secs(2_100)), 8);
        assert_eq!(ticks_late(9_000, 1_000, Duration::from_secs(2_200)), 0);
    }
}
