//! HyStart++ (RFC 9406): when the RTT rises, slow start goes on at a quarter of its pace for five
//! rounds, and at full pace again if the RTT falls meanwhile.

use super::{INFINITE_SSTHRESH_PKTS, RttSample, Window};
use crate::readings::SlowStartEnd;

/// `MIN_RTT_THRESH` and `MAX_RTT_THRESH` (RFC 9406 §4.3).
const THRESHOLD_US: (u32, u32) = (4_000, 16_000);
/// `MIN_RTT_DIVISOR`.
const DIVISOR: u32 = 8;
/// `N_RTT_SAMPLE`.
const SAMPLES: u32 = 8;
/// `CSS_GROWTH_DIVISOR`.
const GROWTH_DIVISOR: u32 = 4;
/// `CSS_ROUNDS`.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L without pacing: an acknowledgment grows the window by no more.
const BURST_PKTS: u32 = 8;
const NO_RTT: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct HyStartPlusPlus {
    round_end_seq: u64,
    last_round_min_us: u32,
    round_min_us: u32,
    samples: u32,
    /// The smallest RTT of the round that brought about conservative slow start, while it lasts.
    baseline_us: Option<u32>,
    conservative_rounds: u32,
    /// Acknowledged packets that have not yet moved the window.
    credit_pkts: u32,
}

impl HyStartPlusPlus {
    pub(super) const fn new() -> Self {
        Self {
            round_end_seq: 0,
            last_round_min_us: NO_RTT,
            round_min_us: NO_RTT,
            samples: 0,
            baseline_us: None,
            conservative_rounds: 0,
            credit_pkts: 0,
        }
    }

    /// RFC 9406 §4.2, for each sample of a round.
    pub(super) fn on_rtt_sample(&mut self, sample: &RttSample, window: &mut Window) {
        if window.ssthresh_pkts != INFINITE_SSTHRESH_PKTS {
            return;
        }
        if sample.snd_una > self.round_end_seq {
            self.end_round(sample.snd_nxt, window);
        }
        self.round_min_us = self.round_min_us.min(sample.rtt_us);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        if let Some(baseline_us) = self.baseline_us {
            if self.round_min_us < baseline_us {
                self.baseline_us = None;
            }
            return;
        }
        if self.last_round_min_us == NO_RTT {
            return;
        }
        let threshold_us = (self.last_round_min_us / DIVISOR).clamp(THRESHOLD_US.0, THRESHOLD_US.1);
        if self.round_min_us >= self.last_round_min_us.saturating_add(threshold_us) {
            self.baseline_us = Some(self.round_min_us);
            self.conservative_rounds = 0;
            self.credit_pkts = 0;
        }
    }

    /// Slow start for `acked_pkts`; sets the threshold when it ends. Returns the packets that are
    /// left for congestion avoidance. It is for the first slow start only: a later one is plain.
    pub(super) fn grow(&mut self, acked_pkts: u32, window: &mut Window) -> u32 {
        if window.ssthresh_pkts != INFINITE_SSTHRESH_PKTS {
            return window.slow_start(acked_pkts);
        }
        let growth_pkts = acked_pkts.min(BURST_PKTS);
        if self.baseline_us.is_some() {
            self.credit_pkts += growth_pkts;
            window.cwnd_pkts += self.credit_pkts / GROWTH_DIVISOR;
            self.credit_pkts %= GROWTH_DIVISOR;
        } else {
            window.cwnd_pkts += growth_pkts;
        }
        0
    }

    fn end_round(&mut self, snd_nxt: u64, window: &mut Window) {
        self.round_end_seq = snd_nxt;
        self.last_round_min_us = std::mem::replace(&mut self.round_min_us, NO_RTT);
        self.samples = 0;
        if self.baseline_us.is_some() {
            // The round in which it began counts.
            self.conservative_rounds += 1;
            if self.conservative_rounds >= CONSERVATIVE_ROUNDS {
                window.leave_slow_start(SlowStartEnd::Delay);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 16 packets acknowledged two by two at these RTTs; the window gained in each, up
    /// to the end of slow start.
    fn gains(rtts_us: &[u32]) -> Vec<u32> {
        let mut hystart = HyStartPlusPlus::new();
        let mut window = Window::new(16, INFINITE_SSTHRESH_PKTS);
        let mut gains = Vec::new();
        let mut seq = 0;
        for rtt_us in rtts_us {
            let before_pkts = window.cwnd_pkts;
            for i in 1..=16 {
                let sample = RttSample {
                    rtt_us: *rtt_us,
                    snd_una: seq + i,
                    snd_nxt: seq + 15 + i,
                    ..RttSample::default()
                };
                hystart.on_rtt_sample(&sample, &mut window);
                hystart.grow(1, &mut window);
                if !window.in_slow_start() {
                    gains.push(window.cwnd_pkts - before_pkts);
                    return gains;
                }
            }
            seq += 16;
            gains.push(window.cwnd_pkts - before_pkts);
        }
        gains
    }

    #[test]
    fn a_constant_rtt_doubles_the_window_for_ever() {
        assert_eq!(gains(&[40_000; 20]), [16; 20]);
    }

    #[test]
    fn a_rise_of_an_eighth_is_followed_by_five_rounds_at_a_quarter_of_the_pace() {
        // From the eighth sample of the round on: 7 + 9/4 packets. The round counts.
        // The first acknowledgment after the fifth ends slow start.
        let mut rtts_us = [45_000; 10];
        rtts_us[0] = 40_000;
        assert_eq!(gains(&rtts_us), [16, 7 + 2, 4, 4, 4, 4, 0]);
    }

    #[test]
    fn the_rise_must_be_an_eighth_within_4_and_16_milliseconds() {
        for (first_us, rise_us) in [(40_000, 5_000), (8_000, 4_000), (400_000, 16_000)] {
            assert_eq!(gains(&[first_us, first_us + rise_us - 1]), [16, 16]);
            assert_eq!(gains(&[first_us, first_us + rise_us])[1], 9);
        }
    }

    #[test]
    fn a_fall_below_the_baseline_resumes_slow_start() {
        // Seven samples of the third round at a quarter of the pace, with one packet of credit
        // from before, then nine at full pace.
        let gains = gains(&[
            40_000, 45_000, 44_999, 44_999, 44_999, 44_999, 44_999, 44_999,
        ]);
        assert_eq!(gains[2], 2 + 9);
        assert_eq!(gains[3..], [16; 5]);
    }

    #[test]
    fn one_acknowledgment_grows_the_window_by_eight_packets_at_most() {
        let mut hystart = HyStartPlusPlus::new();
        let mut window = Window::new(20, INFINITE_SSTHRESH_PKTS);
        assert_eq!(hystart.grow(12, &mut window), 0);
        assert_eq!(window.cwnd_pkts, 28);
    }

    #[test]
    fn a_slow_start_after_a_loss_is_plain() {
        let mut hystart = HyStartPlusPlus::new();
        hystart.baseline_us = Some(40_000);
        let mut window = Window::new(10, 20);
        assert_eq!(hystart.grow(12, &mut window), 2);
        assert_eq!(window.cwnd_pkts, 20);
    }
}
