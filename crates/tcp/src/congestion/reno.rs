//! Reno: slow start, congestion avoidance, half the window on loss (RFC 5681 §3.1).
//!
//! Growth is counted in acknowledged packets (RFC 3465 without a limit), so that delayed
//! acknowledgments do not slow it, as in Linux.

use backlane_units::SimTime;

use super::{Ack, CongestionControl, Parameter, Parameters, Window};

/// Reno has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {}

impl Parameters for Config {
    fn parameters(&mut self) -> Vec<Parameter<'_>> {
        let Self {} = self;
        Vec::new()
    }
}

/// Reno's window law.
#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl Reno {
    /// A Reno control.
    pub const fn new(_config: &Config) -> Self {
        Self
    }
}

/// Reno's growth, which other controls fall back to.
#[inline]
pub(super) fn grow(window: &mut Window, acked_pkts: u32) {
    let mut left = acked_pkts;
    if window.in_slow_start() {
        left = window.slow_start(left);
        if left == 0 {
            return;
        }
    }
    window.increase_additively(window.cwnd_pkts, left);
}

/// Half the window, at least two packets.
#[inline]
pub(super) fn half(window: &Window) -> u32 {
    (window.cwnd_pkts / 2).max(2)
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if ack.is_cwnd_limited {
            grow(window, ack.acked_pkts);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        half(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Reno.on_ack(SimTime::ZERO, &ack(2), &mut window);
        }
        assert_eq!(window.cwnd_pkts, 20);
    }

    #[test]
    fn the_window_grows_by_one_per_round_above_the_threshold() {
        let mut window = Window::new(20, 20);
        for _ in 0..10 {
            Reno.on_ack(SimTime::ZERO, &ack(2), &mut window);
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
        Reno.on_ack(SimTime::ZERO, &ack, &mut window);
        assert_eq!(window.cwnd_pkts, 10);
    }

    #[test]
    fn the_threshold_is_half_and_never_below_two() {
        assert_eq!(Reno.ssthresh(SimTime::ZERO, &Window::new(21, 9), 0), 10);
        assert_eq!(Reno.ssthresh(SimTime::ZERO, &Window::new(1, 9), 0), 2);
    }
}
