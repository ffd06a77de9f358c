//! Bandwidth in the fixed point of Linux's BBR: packets per microsecond, with 24 bits behind
//! the point. What is computed from it is cut off where the kernel cuts it off.

/// Bits behind the point.
const SCALE: u32 = 24;

/// Gains are in 256ths.
pub(crate) const GAIN_UNIT: u64 = 256;

/// Pacing stays 1 % below the bandwidth times the gain (Linux: `bbr_pacing_margin_percent`).
const PACED_PERCENT: u64 = 99;

/// A delivery rate, in 2⁻²⁴ packets per microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bandwidth(pub(crate) u64);

impl Bandwidth {
    /// `pkts` packets in `interval_us` microseconds (at least 1). The result has 32 bits, which
    /// are 256 packets per microsecond.
    pub(crate) fn of(pkts: u64, interval_us: u64) -> Self {
        let rate = pkts.saturating_mul(1 << SCALE) / interval_us.max(1);
        Self(rate.min(u64::from(u32::MAX)))
    }

    /// The same, rounded up, so that slow rates can grow too.
    pub(crate) fn at_least(pkts: u64, interval_us: u64) -> Self {
        let rate = pkts.saturating_mul(1 << SCALE).div_ceil(interval_us.max(1));
        Self(rate.min(u64::from(u32::MAX)))
    }

    /// Packets delivered in `interval_us`, rounded down.
    pub(crate) fn pkts_in(self, interval_us: u64) -> u64 {
        self.0.saturating_mul(interval_us) >> SCALE
    }

    /// Packets that fill `rtt_us` times `gain`, rounded up.
    pub(crate) fn pipe_pkts(self, rtt_us: u64, gain: u64) -> u32 {
        let scaled = self.0.saturating_mul(rtt_us).saturating_mul(gain) / GAIN_UNIT;
        u32::try_from(scaled.div_ceil(1 << SCALE)).unwrap_or(u32::MAX)
    }

    /// The rate at which payload is paced with `gain`, in bytes per second.
    pub(crate) fn paced_bytes_per_s(self, mss_bytes: u32, gain: u64) -> u64 {
        let scaled = self.0.saturating_mul(u64::from(mss_bytes) * gain) / GAIN_UNIT;
        scaled.saturating_mul(1_000_000 / 100 * PACED_PERCENT) >> SCALE
    }

    /// In bits of payload per second.
    pub(crate) fn bits_per_s(self, mss_bytes: u32) -> u64 {
        let bytes = self.0.saturating_mul(u64::from(mss_bytes));
        (bytes.saturating_mul(1_000_000) >> SCALE).saturating_mul(8)
    }

    /// Times `gain`, rounded down.
    pub(crate) fn scaled(self, gain: u64) -> Self {
        Self(self.0.saturating_mul(gain) / GAIN_UNIT)
    }

    /// Halfway between the two, rounded down.
    pub(crate) fn mean(self, other: Self) -> Self {
        Self(u64::midpoint(self.0, other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_each_240_us_is_50_mbit_of_packets_and_48_of_payload() {
        let bandwidth = Bandwidth::of(1000, 240_000);
        assert_eq!(bandwidth.pkts_in(240_000_000), 999_999);
        assert_eq!(bandwidth.bits_per_s(1448) / 1000, 48_266);
        // Just below 166.7 packets, rounded up.
        assert_eq!(bandwidth.pipe_pkts(40_000, GAIN_UNIT), 167);
        assert_eq!(bandwidth.pipe_pkts(40_000, 2 * GAIN_UNIT), 334);
    }

    #[test]
    fn the_first_pacing_rate_of_ten_packets_in_40_01_ms_is_the_one_linux_reports() {
        // 2.885 in 256ths, rounded up by one.
        let bandwidth = Bandwidth::of(10, 40_010);
        assert_eq!(bandwidth.paced_bytes_per_s(1448, 739), 1_034_220);
    }

    #[test]
    fn absurd_rates_saturate() {
        let bandwidth = Bandwidth::of(u64::MAX, 0);
        assert_eq!(bandwidth.0, u64::from(u32::MAX));
        // 2⁶⁴ over 2⁸ of the gain and 2²⁴ of the scale.
        assert_eq!(bandwidth.pipe_pkts(u64::MAX, 739), u32::MAX);
        assert_eq!(bandwidth.paced_bytes_per_s(u32::MAX, 739), u64::MAX >> 24);
    }
}
