//! HyStart: leaving slow start before it overflows the queue.
//!
//! Linux's two detectors, in the form of Linux 6.1 (microseconds, running minimum) and in the
//! form of the 4.4 era (milliseconds, minimum of the first eight samples). Source: Ha and Rhee,
//! "Taming the elephants: New TCP slow start", 2011; and what Linux made of it.

use backlane_param::words;

use super::{RttSample, Window};
use crate::readings::SlowStartEnd;

words! {
    /// Which form of HyStart CUBIC uses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HyStart {
        /// As Linux 6.1 has it.
        LinuxCurrent = "linux",
        /// As Linux 4.4 had it: a millisecond clock, the train measured against half the minimum
        /// RTT with no allowance for bursts, the delay taken from the first eight samples.
        LinuxLegacy = "linux-legacy",
        /// As ns-3 has it (`tcp-cubic.cc`): the train measured against the whole minimum RTT, the
        /// delay taken from the first eight samples and against twice the minimum RTT.
        Ns3 = "ns3",
        /// HyStart++ (RFC 9406): a rise of the RTT slows slow start down before it ends it.
        Rfc9406 = "rfc9406",
        /// Slow start ends at a loss.
        Off = "off",
    }
}

/// Below this window, in packets, the detectors do not end slow start.
const LOW_WINDOW_PKTS: u32 = 16;
/// Samples of a round before the delay detector speaks.
const MIN_SAMPLES: u32 = 8;
/// Acknowledgments no further apart than this form a train.
const TRAIN_GAP_US: u64 = 2_000;
/// The delay detector's threshold is an eighth of the minimum RTT within these bounds.
const DELAY_MIN_US: u64 = 4_000;
const DELAY_MAX_US: u64 = 16_000;
/// ns-3: the threshold is the minimum RTT itself, from 4 ms to so much.
const NS3_DELAY_MAX_US: u64 = 1_000_000;
/// Linux's cushion for segmentation offload in the train's length: four times the largest
/// burst (64 KiB) at the pacing rate, at most 1 ms.
const BURST_BYTES: u64 = 4 * 65_536;
const MAX_BURST_US: u64 = 1_000;

#[derive(Clone, Debug)]
pub(super) struct Detector {
    variant: HyStart,
    found: bool,
    round_start_us: u64,
    last_ack_us: u64,
    round_end_seq: u64,
    round_min_us: u64,
    samples: u32,
}

impl Detector {
    pub(super) const fn new(variant: HyStart) -> Self {
        Self {
            variant,
            found: false,
            round_start_us: 0,
            last_ack_us: 0,
            round_end_seq: 0,
            round_min_us: u64::MAX,
            samples: 0,
        }
    }

    /// Whether this form has detectors of its own.
    const fn detects(&self) -> bool {
        !matches!(self.variant, HyStart::Off | HyStart::Rfc9406)
    }

    /// Starts a round when the last one has been acknowledged; comes after the sample of the
    /// same acknowledgment, only in slow start and only while the window limits the flow. Since
    /// Linux 5.16 a round starts with the sample.
    #[inline]
    pub(super) fn on_ack(&mut self, now_us: u64, snd_una: u64, snd_nxt: u64) {
        if self.variant != HyStart::LinuxCurrent && snd_una > self.round_end_seq {
            self.start_round(now_us, snd_nxt);
        }
    }

    /// A round starts that ends when `snd_nxt` is passed (`bictcp_hystart_reset`).
    pub(super) fn start_round(&mut self, now_us: u64, snd_nxt: u64) {
        // The old clock ticks in milliseconds.
        let now_us = if self.variant == HyStart::LinuxLegacy {
            now_us / 1000 * 1000
        } else {
            now_us
        };
        self.round_start_us = now_us;
        self.last_ack_us = now_us;
        self.round_end_seq = snd_nxt;
        self.round_min_us = u64::MAX;
        self.samples = 0;
    }

    /// Looks at a sample; sets the threshold to the window when slow start should end.
    #[inline]
    pub(super) fn on_rtt_sample(
        &mut self,
        now_us: u64,
        sample: &RttSample,
        delay_min_us: u64,
        window: &mut Window,
    ) {
        if self.found || !self.detects() || !window.in_slow_start() {
            return;
        }
        if self.variant == HyStart::LinuxCurrent && sample.snd_una > self.round_end_seq {
            self.start_round(now_us, sample.snd_nxt);
        }
        if window.cwnd_pkts < LOW_WINDOW_PKTS {
            return;
        }
        let legacy = self.variant == HyStart::LinuxLegacy;
        let (now_us, rtt_us, delay_min_us) = if legacy {
            (
                now_us / 1000 * 1000,
                u64::from(sample.rtt_us) / 1000 * 1000,
                delay_min_us / 1000 * 1000,
            )
        } else {
            (now_us, u64::from(sample.rtt_us), delay_min_us)
        };
        let mut found = None;
        if now_us.saturating_sub(self.last_ack_us) <= TRAIN_GAP_US {
            self.last_ack_us = now_us;
            let train_us = match self.variant {
                HyStart::Ns3 => delay_min_us,
                HyStart::LinuxLegacy => delay_min_us / 2,
                _ => u64::midpoint(delay_min_us, burst_us(sample, window)),
            };
            if now_us - self.round_start_us > train_us {
                found = Some(SlowStartEnd::AckTrain);
            }
        }

        let rise_us = match self.variant {
            HyStart::Ns3 => delay_min_us.clamp(DELAY_MIN_US, NS3_DELAY_MAX_US),
            _ => (delay_min_us / 8).clamp(DELAY_MIN_US, DELAY_MAX_US),
        };
        let threshold_us = delay_min_us + rise_us;
        let keeps_first = legacy || self.variant == HyStart::Ns3;
        if !keeps_first || self.samples < MIN_SAMPLES {
            self.round_min_us = self.round_min_us.min(rtt_us);
        }
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else if self.round_min_us > threshold_us {
            found = found.or(Some(SlowStartEnd::Delay));
        }

        if let Some(cause) = found {
            self.found = true;
            window.leave_slow_start(cause);
        }
    }
}

/// How long a burst of segmentation offload lasts at slow start's pacing rate of twice the
/// window per RTT.
fn burst_us(sample: &RttSample, window: &Window) -> u64 {
    let window_pkts = u64::from(window.cwnd_pkts.max(sample.packets_out_pkts));
    let bytes_per_2_rtt = window_pkts * u64::from(sample.mss_bytes) * 2;
    (BURST_BYTES * u64::from(sample.srtt_us) / bytes_per_2_rtt.max(1)).min(MAX_BURST_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rtt_us: u32, snd_una: u64, snd_nxt: u64) -> RttSample {
        RttSample {
            rtt_us,
            srtt_us: rtt_us,
            covered_pkts: 2,
            sacked_pkts: 0,
            packets_out_pkts: 100,
            snd_una,
            snd_nxt,
            mss_bytes: 1448,
        }
    }

    /// Samples every `gap_us` of one round; the time into the round at which slow start ended.
    fn exit_us(variant: HyStart, gap_us: u64, rtt_us: u32, delay_min_us: u64) -> Option<u64> {
        let mut detector = Detector::new(variant);
        let mut window = Window::new(100, u32::MAX);
        detector.start_round(1_000_000, 1000);
        for i in 0..200 {
            let now_us = 1_000_000 + i * gap_us;
            detector.on_rtt_sample(now_us, &sample(rtt_us, 1, 1000), delay_min_us, &mut window);
            if !window.in_slow_start() {
                return Some(i * gap_us);
            }
        }
        None
    }

    #[test]
    fn a_train_longer_than_half_the_rtt_ends_slow_start() {
        // (40 ms + 1 ms) / 2, first passed at the next multiple of 0.5 ms.
        assert_eq!(
            exit_us(HyStart::LinuxCurrent, 500, 40_000, 40_000),
            Some(21_000)
        );
    }

    #[test]
    fn the_legacy_train_has_no_cushion() {
        assert_eq!(
            exit_us(HyStart::LinuxLegacy, 500, 40_000, 40_000),
            Some(21_000)
        );
        assert_eq!(
            exit_us(HyStart::LinuxLegacy, 250, 41_000, 41_000),
            Some(21_000)
        );
    }

    #[test]
    fn acknowledgments_three_milliseconds_apart_are_no_train() {
        assert_eq!(exit_us(HyStart::LinuxCurrent, 3_000, 40_000, 40_000), None);
    }

    #[test]
    fn a_delay_above_the_threshold_ends_slow_start_at_the_ninth_sample() {
        assert_eq!(
            exit_us(HyStart::LinuxCurrent, 3_000, 45_001, 40_000),
            Some(8 * 3_000)
        );
        assert_eq!(exit_us(HyStart::LinuxCurrent, 3_000, 45_000, 40_000), None);
    }

    #[test]
    fn in_ns3_a_train_lasts_the_whole_rtt_and_the_delay_must_double() {
        // 40 ms, first passed at the next multiple of 0.5 ms.
        assert_eq!(exit_us(HyStart::Ns3, 500, 40_000, 40_000), Some(40_500));
        assert_eq!(
            exit_us(HyStart::Ns3, 3_000, 80_001, 40_000),
            Some(8 * 3_000)
        );
        assert_eq!(exit_us(HyStart::Ns3, 3_000, 80_000, 40_000), None);
        // At most a second more, at least 4 ms.
        assert_eq!(
            exit_us(HyStart::Ns3, 3_000, 3_000_001, 2_000_000),
            Some(8 * 3_000)
        );
        assert_eq!(exit_us(HyStart::Ns3, 3_000, 5_000, 1_000), None);
    }

    #[test]
    fn switched_off_it_never_ends_slow_start() {
        assert_eq!(exit_us(HyStart::Off, 500, 90_000, 40_000), None);
    }

    /// Ha and Rhee 2011, §IV: from a window of 16 packets on.
    #[test]
    fn sixteen_packets_are_a_window_to_be_judged() {
        for (window_pkts, ends) in [(15, false), (16, true)] {
            let mut detector = Detector::new(HyStart::LinuxCurrent);
            let mut window = Window::new(window_pkts, u32::MAX);
            detector.start_round(1_000_000, 1000);
            for i in 0..100 {
                let late = sample(60_000, 1, 1000);
                let now_us = 1_000_000 + i * 3_000;
                detector.on_rtt_sample(now_us, &late, 40_000, &mut window);
            }
            assert_eq!(!window.in_slow_start(), ends, "{window_pkts}");
        }
    }

    /// The state of the round after an acknowledgment at 2 s that passes the end of the last
    /// round, with a window of `window_pkts`: `(start, end, samples)`.
    fn round_after(variant: HyStart, window_pkts: u32, is_cwnd_limited: bool) -> (u64, u64, u32) {
        let mut detector = Detector::new(variant);
        let mut window = Window::new(window_pkts, u32::MAX);
        detector.start_round(1_000_000, 1000);
        detector.on_rtt_sample(2_000_000, &sample(40_000, 1001, 3000), 40_000, &mut window);
        if is_cwnd_limited {
            detector.on_ack(2_000_000, 1001, 3000);
        }
        let round_start_us = detector.round_start_us;
        (round_start_us, detector.round_end_seq, detector.samples)
    }

    /// Since 5.16 a round starts before the sample that ends the last one, which is the first of
    /// the new round, also where the application limits the flow; and, since its correction of
    /// 2025, also with a window below 16 packets, which has no samples.
    #[test]
    fn in_linux_a_round_starts_with_a_sample_in_any_window() {
        let current = HyStart::LinuxCurrent;
        assert_eq!(round_after(current, 100, true), (2_000_000, 3000, 1));
        assert_eq!(round_after(current, 100, false), (2_000_000, 3000, 1));
        assert_eq!(round_after(current, 15, true), (2_000_000, 3000, 0));
    }

    /// Before, and in ns-3, after the sample, and only while the window limits the flow.
    #[test]
    fn before_5_16_a_round_starts_after_the_sample_if_the_window_limits() {
        for variant in [HyStart::LinuxLegacy, HyStart::Ns3] {
            assert_eq!(round_after(variant, 100, true), (2_000_000, 3000, 0));
            assert_eq!(round_after(variant, 100, false), (1_000_000, 1000, 1));
        }
    }
}
