//! Veno: Reno that takes a loss with an empty queue for a random one (Fu and Liew, "TCP Veno: TCP
//! enhancement for transmission over wireless access networks", 2003), as in Linux.
//!
//! The backlog is kept in half packets. Linux forgets the smallest RTT of a round with every
//! acknowledgment, so that the backlog is that of the last sample.

use backlane_param::params;
use backlane_units::{Duration, SimTime};

use super::factory::Factory;
use super::{Ack, CongestionControl, RttSample, Window, reno};
use crate::recovery::CongestionState;

params! {
    /// Veno (Fu and Liew 2003).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// From this backlog on a loss is one of congestion.
        ///
        /// In packets; Linux: `beta`. No range is published; Fu and Liew 2003, §III-B, found 3 good
        /// in practice.
        beta_pkts: u32 = 3, in 1..=10;
    }
}

impl Factory for Config {
    const NAME: &'static str = "veno";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Veno::new(self))
    }
}

const NO_RTT: u32 = i32::MAX as u32;

/// Veno's state for one connection.
#[derive(Clone, Debug)]
pub struct Veno {
    config: Config,
    /// Whether the state is Open: otherwise it grows like Reno.
    enabled: bool,
    base_rtt_us: u32,
    min_rtt_us: u32,
    samples: u32,
    backlog_halves: u64,
    /// Whether the next full window with a backlog grows the window.
    grows: bool,
}

impl Veno {
    /// A Veno control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            enabled: true,
            base_rtt_us: NO_RTT,
            min_rtt_us: NO_RTT,
            samples: 0,
            backlog_halves: 0,
            grows: true,
        }
    }

    const fn is_congested(&self) -> bool {
        self.backlog_halves >= self.config.beta_pkts as u64 * 2
    }

    fn measure(&mut self, window_pkts: u32) {
        let window_halves = u64::from(window_pkts) * 2;
        let target_halves =
            window_halves * u64::from(self.base_rtt_us) / u64::from(self.min_rtt_us);
        self.backlog_halves = window_halves.saturating_sub(target_halves);
    }
}

impl CongestionControl for Veno {
    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, _window: &mut Window) {
        let rtt_us = sample.rtt_us.saturating_add(1).min(NO_RTT);
        self.base_rtt_us = self.base_rtt_us.min(rtt_us);
        self.min_rtt_us = self.min_rtt_us.min(rtt_us);
        self.samples = self.samples.saturating_add(1);
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !self.enabled {
            if ack.is_cwnd_limited {
                reno::grow(window, ack.acked_pkts, ack.mss_bytes);
            }
            return;
        }
        if !ack.is_cwnd_limited {
            return;
        }
        if self.samples <= 2 {
            reno::grow(window, ack.acked_pkts, ack.mss_bytes);
            self.min_rtt_us = NO_RTT;
            return;
        }
        self.measure(window.cwnd_pkts);
        self.min_rtt_us = NO_RTT;
        let mut left = ack.acked_pkts;
        if window.in_slow_start() {
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        if !self.is_congested() {
            window.increase_additively(window.cwnd_pkts, left);
        } else if window.credit_pkts >= window.cwnd_pkts {
            window.cwnd_pkts += u32::from(self.grows);
            self.grows = !self.grows;
            window.credit_pkts = 0;
        } else {
            window.credit_pkts += left;
        }
        window.cwnd_pkts = window.cwnd_pkts.max(2);
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        if self.is_congested() {
            reno::half(window)
        } else {
            // Fu and Liew 2003, §III-C: a random loss costs a fifth.
            let kept = u64::from(window.cwnd_pkts) * 4 / 5;
            (kept as u32).max(2)
        }
    }

    fn on_state_change(&mut self, _now: SimTime, state: CongestionState, _snd_nxt: u64) {
        self.enabled = state == CongestionState::Open;
        if self.enabled {
            self.min_rtt_us = NO_RTT;
        }
    }

    fn on_transmit_start(&mut self, _now: SimTime, _idle: Duration, _snd_nxt: u64) {
        // Linux keeps the count of samples and the backlog.
        self.base_rtt_us = NO_RTT;
        self.min_rtt_us = NO_RTT;
        self.grows = true;
        self.enabled = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Rounds;
    use super::*;

    /// A window of 100 packets after `count` rounds of `rtt_us` over a base of 100 ms.
    fn after(rtt_us: u32, count: u32) -> (Veno, Window) {
        let mut veno = Veno::new(&Config::default());
        let mut rounds = Rounds::new(2, 2);
        rounds.run(&mut veno, 99_999);
        rounds.run(&mut veno, 99_999);
        rounds.window = Window::new(100, 100);
        for _ in 0..count {
            rounds.run(&mut veno, rtt_us);
        }
        (veno, rounds.window)
    }

    #[test]
    fn without_a_backlog_a_round_gains_a_packet() {
        assert_eq!(after(102_000, 4).1.cwnd_pkts, 104);
    }

    #[test]
    fn with_a_backlog_every_other_round_gains_a_packet() {
        // The acknowledgment that finds a full window is not counted: 101 per round.
        assert_eq!(after(110_000, 10).1.cwnd_pkts, 105);
    }

    #[test]
    fn a_loss_without_a_backlog_costs_a_fifth() {
        let (mut veno, _) = after(102_000, 1);
        let threshold = veno.ssthresh(SimTime::ZERO, &Window::new(100, 100), 100);
        assert_eq!(threshold, 80);
    }

    #[test]
    fn a_loss_with_a_backlog_costs_a_half() {
        let (mut veno, _) = after(110_000, 1);
        let threshold = veno.ssthresh(SimTime::ZERO, &Window::new(100, 100), 100);
        assert_eq!(threshold, 50);
    }

    #[test]
    fn the_backlog_is_the_window_less_what_the_base_rtt_carries() {
        // 100 − 100 · 100/110 = 9.09 packets, in halves rounded up.
        let mut veno = Veno::new(&Config::default());
        veno.base_rtt_us = 100_000;
        veno.min_rtt_us = 110_000;
        veno.measure(100);
        assert_eq!(veno.backlog_halves, 19);
    }

    #[test]
    fn outside_open_it_grows_like_reno() {
        let (mut veno, _) = after(110_000, 1);
        veno.on_state_change(SimTime::ZERO, CongestionState::Disorder, 0);
        let mut rounds = Rounds::new(100, 100);
        for _ in 0..10 {
            rounds.run(&mut veno, 110_000);
        }
        assert_eq!(rounds.window.cwnd_pkts, 110);
    }

    /// The path may be another one by then: what was the smallest RTT before is no queue now.
    #[test]
    fn after_an_idle_time_the_base_rtt_is_measured_again() {
        let (mut veno, _) = after(102_000, 1);
        veno.on_transmit_start(SimTime::ZERO, Duration::from_secs(2), 0);
        let mut rounds = Rounds::new(100, 100);
        rounds.run(&mut veno, 120_000);
        rounds.run(&mut veno, 120_000);
        assert_eq!(veno.backlog_halves, 0);
        assert_eq!(rounds.window.cwnd_pkts, 102);
    }
}
