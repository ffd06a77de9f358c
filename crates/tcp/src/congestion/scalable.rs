//! Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks",
//! 2003): one packet for every hundred acknowledged, an eighth of the window on loss.
//!
//! The time from a loss back to the old window is 13.4 round trips for any window.

use backlane_param::params;
use backlane_units::SimTime;

use super::factory::Factory;
use super::{Ack, CongestionControl, Window};
use crate::stack::Stack;

params! {
    /// Scalable TCP (Kelly 2003).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Packets acknowledged per packet of growth, in windows larger than this.
        ///
        /// Linux's 100: a = 0.01 (Kelly 2003, §3). No range is published; 1 is slow start, and with
        /// 10 000 the growth is Reno's in any smaller window.
        per_pkts: u32 = 100, in 1..=10_000;
        /// Whether what a loss leaves is cut to whole packets, as in ns-3, and not what it costs.
        rounds_down: bool = false;
    }
}

impl Config {
    /// The factor of ns-3 and of Linux before 2015, which counted acknowledgments of two packets.
    pub const fn ns3() -> Self {
        Self {
            per_pkts: 50,
            rounds_down: true,
        }
    }
}

impl Factory for Config {
    const NAME: &'static str = "scalable";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Scalable::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 | Stack::Ns3Of2016 => Self::ns3(),
            // Growth counted acknowledgments, of two packets each, until 4.0.
            Stack::Linux26 => Self {
                per_pkts: 50,
                ..self
            },
            Stack::Linux | Stack::Linux44 => self,
        }
    }
}

/// A loss costs this power of two's share of the window: b = 1/8 (Kelly 2003, §3).
const DECREASE_SHIFT: u32 = 3;

/// Scalable's window law.
#[derive(Clone, Copy, Debug)]
pub struct Scalable {
    config: Config,
}

impl Scalable {
    /// A Scalable control.
    pub const fn new(config: &Config) -> Self {
        Self { config: *config }
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut left = ack.acked_pkts;
        if window.in_slow_start() {
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        window.increase_additively(window.cwnd_pkts.min(self.config.per_pkts), left);
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        let part = if self.config.rounds_down {
            window.cwnd_pkts.div_ceil(1 << DECREASE_SHIFT)
        } else {
            window.cwnd_pkts >> DECREASE_SHIFT
        };
        (window.cwnd_pkts - part).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(scalable: &mut Scalable, window: &mut Window) {
        for _ in 0..window.cwnd_pkts {
            let ack = Ack {
                acked_pkts: 1,
                is_cwnd_limited: true,
                ..Ack::default()
            };
            scalable.on_ack(SimTime::ZERO, &ack, window);
        }
    }

    fn rounds_to_recover(config: Config, window_pkts: u32) -> u32 {
        let mut scalable = Scalable::new(&config);
        let full = Window::new(window_pkts, 2);
        let threshold = scalable.ssthresh(SimTime::ZERO, &full, 0);
        let mut window = Window::new(threshold, 2);
        let mut rounds = 0;
        while window.cwnd_pkts < window_pkts {
            round(&mut scalable, &mut window);
            rounds += 1;
        }
        rounds
    }

    #[test]
    fn recovery_takes_fourteen_rounds_for_any_window() {
        // ln(8/7)/ln(1.01) = 13.4 rounds, so the fourteenth round passes the old window.
        for window_pkts in [2_000, 20_000, 80_000] {
            assert_eq!(rounds_to_recover(Config::default(), window_pkts), 14);
        }
    }

    #[test]
    fn with_ns3_s_factor_it_takes_half_as_long() {
        // ln(8/7)/ln(1.02) = 6.7.
        assert_eq!(rounds_to_recover(Config::ns3(), 20_000), 7);
    }

    #[test]
    fn a_window_below_a_hundred_grows_by_one_per_round() {
        let mut window = Window::new(40, 2);
        round(&mut Scalable::new(&Config::default()), &mut window);
        assert_eq!(window.cwnd_pkts, 41);
    }

    #[test]
    fn a_loss_costs_an_eighth_and_leaves_two() {
        let mut scalable = Scalable::new(&Config::default());
        assert_eq!(
            scalable.ssthresh(SimTime::ZERO, &Window::new(800, 2), 0),
            700
        );
        assert_eq!(scalable.ssthresh(SimTime::ZERO, &Window::new(1, 2), 0), 2);
        // 509 · 7/8 = 445.4.
        let of_509 =
            |config| Scalable::new(&config).ssthresh(SimTime::ZERO, &Window::new(509, 2), 0);
        assert_eq!(
            (of_509(Config::default()), of_509(Config::ns3())),
            (446, 445)
        );
    }

    #[test]
    fn a_flight_that_the_window_did_not_limit_does_not_grow_it() {
        let mut window = Window::new(10, 100);
        let ack = Ack {
            acked_pkts: 5,
            ..Ack::default()
        };
        Scalable::new(&Config::default()).on_ack(SimTime::ZERO, &ack, &mut window);
        assert_eq!(window.cwnd_pkts, 10);
    }
}
