//! The round-trip estimator and the retransmission timeout it gives.
//!
//! Two laws: Linux's (one deviation per round trip, asymmetric gain, the floor under the
//! variance term) and RFC 6298's with the floor under the whole timeout, as ns-3 has it.

use backlane_units::Duration;

use crate::config::RtoLaw;
use crate::min_rtt::MinRtt;

/// Smoothed round-trip time, its deviation and the timeout without back-off.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    law: RtoLaw,
    min_rto_us: u64,
    max_rto_us: u64,
    /// Smoothed RTT, in eighths of a microsecond; 0 before the first sample.
    srtt_us8: u64,
    /// Mean deviation, in quarters of a microsecond.
    mdev_us4: u64,
    /// The largest deviation of the present round trip, never below the floor.
    mdev_max_us4: u64,
    /// The deviation the timeout is computed from.
    rttvar_us4: u64,
    /// The round trip ends when this sequence number is acknowledged.
    round_end_seq: u64,
    rto_us: u64,
    min_rtt: MinRtt,
}

impl RttEstimator {
    pub(crate) fn new(law: RtoLaw, initial: Duration, min: Duration, max: Duration) -> Self {
        Self {
            law,
            min_rto_us: min.as_micros(),
            max_rto_us: max.as_micros(),
            srtt_us8: 0,
            mdev_us4: 0,
            mdev_max_us4: 0,
            rttvar_us4: 0,
            round_end_seq: 0,
            rto_us: initial.as_micros(),
            min_rtt: MinRtt::default(),
        }
    }

    /// The RTT of the newest segment acknowledged: it excludes the receiver's delay and feeds
    /// the minimum.
    #[inline]
    pub(crate) fn on_path_sample(&mut self, now_us: u64, rtt_us: u64) {
        self.min_rtt.on_sample(now_us, rtt_us.max(1));
    }

    /// Takes a sample from data acknowledged just now.
    #[inline]
    pub(crate) fn on_sample(&mut self, rtt_us: u64, snd_una: u64, snd_nxt: u64) {
        let rtt_us = rtt_us.max(1);
        match self.law {
            RtoLaw::Linux => self.smooth_as_linux(rtt_us, snd_una, snd_nxt),
            RtoLaw::Rfc6298 => self.smooth_as_rfc6298(rtt_us),
        }
    }

    #[inline]
    fn smooth_as_linux(&mut self, rtt_us: u64, snd_una: u64, snd_nxt: u64) {
        if self.srtt_us8 == 0 {
            self.srtt_us8 = rtt_us << 3;
            self.mdev_us4 = rtt_us << 1;
            self.rttvar_us4 = self.mdev_us4.max(self.min_rto_us);
            self.mdev_max_us4 = self.rttvar_us4;
            self.round_end_seq = snd_nxt;
        } else {
            let error = rtt_us as i64 - (self.srtt_us8 >> 3) as i64;
            self.srtt_us8 = self.srtt_us8.wrapping_add_signed(error);
            let mut step = error.abs() - (self.mdev_us4 >> 2) as i64;
            // A falling RTT is no reason to wait longer: an eighth of the gain.
            if error < 0 && step > 0 {
                step >>= 3;
            }
            self.mdev_us4 = self.mdev_us4.saturating_add_signed(step);
            if self.mdev_us4 > self.mdev_max_us4 {
                self.mdev_max_us4 = self.mdev_us4;
                self.rttvar_us4 = self.rttvar_us4.max(self.mdev_max_us4);
            }
            if snd_una > self.round_end_seq {
                if self.mdev_max_us4 < self.rttvar_us4 {
                    self.rttvar_us4 -= (self.rttvar_us4 - self.mdev_max_us4) >> 2;
                }
                self.round_end_seq = snd_nxt;
                self.mdev_max_us4 = self.min_rto_us;
            }
        }
        // The kernel's timers count whole milliseconds here, rounded up (HZ = 1000).
        let rto_us = (self.srtt_us8 >> 3) + self.rttvar_us4;
        self.rto_us = (rto_us.div_ceil(1000) * 1000).min(self.max_rto_us);
    }

    /// RFC 6298 §2: gains 1/8 and 1/4, clock granularity 1 ms.
    #[inline]
    fn smooth_as_rfc6298(&mut self, rtt_us: u64) {
        const GRANULARITY_US: u64 = 1000;
        if self.srtt_us8 == 0 {
            self.srtt_us8 = rtt_us << 3;
            self.mdev_us4 = rtt_us << 1;
        } else {
            let error = rtt_us as i64 - (self.srtt_us8 >> 3) as i64;
            let step = error.abs() - (self.mdev_us4 >> 2) as i64;
            self.mdev_us4 = self.mdev_us4.saturating_add_signed(step);
            self.srtt_us8 = self.srtt_us8.wrapping_add_signed(error);
        }
        self.rttvar_us4 = self.mdev_us4;
        let rto_us = (self.srtt_us8 >> 3) + self.mdev_us4.max(GRANULARITY_US);
        self.rto_us = rto_us.clamp(self.min_rto_us, self.max_rto_us);
    }

    /// Whether a sample was ever taken.
    pub(crate) fn has_sample(&self) -> bool {
        self.srtt_us8 != 0
    }

    /// RFC 6298 §5.7: a handshake that was retransmitted and gave no sample leaves 3 s.
    pub(crate) fn fall_back(&mut self) {
        self.rto_us = 3_000_000.min(self.max_rto_us);
    }

    #[inline]
    pub(crate) fn rto(&self) -> Duration {
        Duration::from_micros(self.rto_us)
    }

    /// The timeout after `backoff` expiries in a row (RFC 6298 §5.5).
    pub(crate) fn backed_off_rto(&self, backoff: u32) -> Duration {
        let rto_us = self.rto_us.saturating_mul(1 << backoff.min(32));
        Duration::from_micros(rto_us.min(self.max_rto_us))
    }

    #[inline]
    pub(crate) fn srtt_us(&self) -> u64 {
        self.srtt_us8 >> 3
    }

    pub(crate) fn rttvar_us(&self) -> u64 {
        self.mdev_us4 >> 2
    }

    /// The smallest sample of the last five minutes; `None` before the first.
    #[inline]
    pub(crate) fn min_rtt_us(&self) -> Option<u64> {
        self.min_rtt.rtt_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(law: RtoLaw, min_rto_ms: u64) -> RttEstimator {
        RttEstimator::new(
            law,
            Duration::from_secs(1),
            Duration::from_millis(min_rto_ms),
            Duration::from_secs(120),
        )
    }

    fn feed(estimator: &mut RttEstimator, rtt_us: u64, samples: u64) {
        for i in 0..samples {
            // Every sample is a round trip of its own.
            estimator.on_sample(rtt_us, 2 * i + 1, 2 * i + 1);
        }
    }

    #[test]
    fn linux_starts_with_three_times_the_first_sample() {
        let mut rtt = estimator(RtoLaw::Linux, 200);
        rtt.on_sample(500_000, 1, 1);
        assert_eq!(rtt.rto(), Duration::from_millis(1500));
    }

    #[test]
    fn linux_puts_the_floor_under_the_deviation() {
        let mut rtt = estimator(RtoLaw::Linux, 200);
        feed(&mut rtt, 100_000, 100);
        assert_eq!(rtt.rto(), Duration::from_millis(300));
    }

    #[test]
    fn rfc6298_puts_the_floor_under_the_whole() {
        let mut rtt = estimator(RtoLaw::Rfc6298, 1000);
        feed(&mut rtt, 100_000, 100);
        assert_eq!(rtt.rto(), Duration::from_secs(1));
    }

    #[test]
    fn rfc6298_second_sample_follows_the_equations() {
        let mut rtt = estimator(RtoLaw::Rfc6298, 1);
        rtt.on_sample(100_000, 1, 1);
        assert_eq!(rtt.rto(), Duration::from_millis(300));
        rtt.on_sample(180_000, 2, 2);
        // RTTVAR = 3/4 · 50 + 1/4 · 80 = 57.5 ms, SRTT = 7/8 · 100 + 1/8 · 180 = 110 ms.
        assert_eq!(rtt.rto(), Duration::from_millis(340));
    }

    #[test]
    fn a_fall_of_the_rtt_raises_the_deviation_by_a_thirty_second() {
        let mut rtt = estimator(RtoLaw::Linux, 200);
        feed(&mut rtt, 100_000, 200);
        let before_us = rtt.rttvar_us();
        rtt.on_sample(60_000, 1000, 1000);
        assert_eq!(rtt.rttvar_us() - before_us, 40_000 / 32);
    }

    #[test]
    fn back_off_doubles_up_to_the_limit() {
        let mut rtt = estimator(RtoLaw::Linux, 200);
        feed(&mut rtt, 100_000, 100);
        assert_eq!(rtt.backed_off_rto(3), Duration::from_millis(2400));
        assert_eq!(rtt.backed_off_rto(60), Duration::from_secs(120));
    }
}
