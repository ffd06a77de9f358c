//! Reno: slow start, congestion avoidance, half the window on loss (RFC 5681 §3.1).
//!
//! Growth is counted in acknowledged packets (RFC 3465 without a limit), so that delayed
//! acknowledgments do not slow it, as in Linux.

use backlane_param::{params, words};
use backlane_units::SimTime;

use super::factory::Factory;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::{Ack, CongestionControl, RttSample, Window};

words! {
    /// How Reno's first slow start ends.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum HyStart {
        /// By a loss, as in Linux and ns-3.
        #[default]
        Off = "off",
        /// By HyStart++ (RFC 9406): a rise of the RTT slows it down before it ends it.
        Rfc9406 = "rfc9406",
    }
}

params! {
    /// Reno (RFC 5681).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// How the first slow start ends: only by loss, or by HyStart++ (RFC 9406).
        hystart: HyStart = HyStart::Off;
    }
}

impl Factory for Config {
    const NAME: &'static str = "reno";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Reno::new(self))
    }
}

/// Reno's window law.
#[derive(Clone, Debug)]
pub struct Reno {
    hystart: Option<HyStartPlusPlus>,
}

impl Reno {
    /// A Reno control.
    pub const fn new(config: &Config) -> Self {
        Self {
            hystart: match config.hystart {
                HyStart::Off => None,
                HyStart::Rfc9406 => Some(HyStartPlusPlus::new()),
            },
        }
    }
}

/// Reno's growth, which other controls fall back to.
#[inline]
pub(super) fn grow(window: &mut Window, acked_pkts: u32, mss_bytes: u32) {
    let mut left = acked_pkts;
    if window.in_slow_start() {
        left = window.slow_start(left);
        if left == 0 {
            return;
        }
    }
    window.increase_like_reno(left, mss_bytes);
}

/// Half the window, at least two packets.
#[inline]
pub(super) fn half(window: &Window) -> u32 {
    (window.cwnd_pkts / 2).max(2)
}

impl CongestionControl for Reno {
    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, window: &mut Window) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_rtt_sample(sample, window);
        }
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut left = ack.acked_pkts;
        if let Some(hystart) = &mut self.hystart
            && window.in_slow_start()
        {
            left = hystart.grow(left, window);
        }
        if left > 0 {
            grow(window, left, ack.mss_bytes);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        half(window)
    }
}

#[cfg(test)]
mod tests {
    use super::super::INFINITE_SSTHRESH_PKTS;
    use super::super::fixture::Rounds;
    use super::*;

    fn reno() -> Reno {
        Reno::new(&Config::default())
    }

    fn ack(acked_pkts: u32) -> Ack {
        Ack {
            acked_pkts,
            in_flight_pkts: 10,
            snd_una: 0,
            snd_nxt: 0,
            is_cwnd_limited: true,
            ..Ack::default()
        }
    }

    #[test]
    fn the_window_doubles_per_round_below_the_threshold() {
        let mut window = Window::new(10, 100);
        for _ in 0..5 {
            reno().on_ack(SimTime::ZERO, &ack(2), &mut window);
        }
        assert_eq!(window.cwnd_pkts, 20);
    }

    #[test]
    fn the_window_grows_by_one_per_round_above_the_threshold() {
        let mut window = Window::new(20, 20);
        for _ in 0..10 {
            reno().on_ack(SimTime::ZERO, &ack(2), &mut window);
        }
        assert_eq!(window.cwnd_pkts, 21);
    }

    #[test]
    fn a_flight_that_the_window_did_not_limit_does_not_grow_it() {
        let mut window = Window::new(10, 100);
        let ack = Ack {
            is_cwnd_limited: false,
            ..ack(2)
        };
        reno().on_ack(SimTime::ZERO, &ack, &mut window);
        assert_eq!(window.cwnd_pkts, 10);
    }

    #[test]
    fn the_threshold_is_half_and_never_below_two() {
        assert_eq!(reno().ssthresh(SimTime::ZERO, &Window::new(21, 9), 0), 10);
        assert_eq!(reno().ssthresh(SimTime::ZERO, &Window::new(1, 9), 0), 2);
    }

    /// Windows after rounds at these RTTs, from 16 packets on.
    fn windows(hystart: HyStart, rtts_us: &[u32]) -> Vec<u32> {
        let mut reno = Reno::new(&Config { hystart });
        let mut rounds = Rounds::new(16, INFINITE_SSTHRESH_PKTS);
        let round = |rtt_us: &u32| {
            rounds.run(&mut reno, *rtt_us);
            rounds.window.cwnd_pkts
        };
        rtts_us.iter().map(round).collect()
    }

    #[test]
    fn without_hystart_a_rise_of_the_rtt_is_nothing() {
        let windows = windows(HyStart::Off, &[40_000, 45_000, 50_000]);
        assert_eq!(windows, [32, 64, 128]);
    }

    #[test]
    fn with_hystart_plus_plus_a_rise_of_the_rtt_ends_slow_start_after_five_slow_rounds() {
        let rtts_us = [40_000, 45_000, 45_000, 45_000, 45_000, 45_000, 45_000];
        let windows = windows(HyStart::Rfc9406, &rtts_us);
        // A round begins with the acknowledgment after its end was passed, here the second. Its
        // eighth sample shows the rise: 8 packets, then a quarter of 24.
        assert_eq!(windows[..2], [32, 32 + 8 + 24 / 4]);
        for pair in windows[1..6].windows(2) {
            let growth = f64::from(pair[1]) / f64::from(pair[0]);
            assert!((growth - 1.25).abs() < 0.03, "{windows:?}");
        }
        // The end comes with the second acknowledgment of a round, too; the window is then what
        // one packet per window leaves.
        assert!(windows[6] - windows[5] <= 2, "{windows:?}");
    }
}
