//! `YeAH`: Scalable while the queue is short, Reno and a cut of the queue once it is long
//! (Baiocchi, Castellani and Vacirca, "`YeAH`-TCP: yet another highspeed TCP", 2007), as in
//! Linux.
//!
//! Rounds and RTTs are measured like Vegas's.

use backlane_param::params;
use backlane_units::{Duration, SimTime};

use super::factory::Factory;
use super::{Ack, CongestionControl, RttSample, Window};
use crate::recovery::CongestionState;

params! {
    /// YeAH (Baiocchi, Castellani and Vacirca 2007).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// A queue of more packets than this is drained.
        ///
        /// Linux: `TCP_YEAH_ALPHA`; Baiocchi et al. 2007, §3. No range is published.
        alpha_pkts: u32 = 80, in 1..=1000;
        /// A delay beyond this part of the smallest RTT ends the fast mode.
        ///
        /// Linux: `TCP_YEAH_PHY`. No range is published.
        phi: u32 = 8, in 1..=100;
    }
}

impl Factory for Config {
    const NAME: &'static str = "yeah";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Yeah::new(self))
    }
}

/// Packets acknowledged per packet of growth in fast mode (Linux: `TCP_SCALABLE_AI_CNT`).
const FAST_PER_PKTS: u32 = 100;
/// At most this power of two's share of the window is drained (Linux: `TCP_YEAH_EPSILON`).
const DRAIN_SHIFT: u32 = 1;
/// A loss costs at least this power of two's share (Linux: `TCP_YEAH_DELTA`).
const DECREASE_SHIFT: u32 = 3;
/// Rounds in slow mode after which a loss costs half (Linux: `TCP_YEAH_RHO`).
const SLOW_ROUNDS: u32 = 16;
/// Rounds in fast mode after which no Reno flow competes (Linux: `TCP_YEAH_ZETA`).
const FAST_ROUNDS: u32 = 50;
const LEAST_PKTS: u32 = 2;
/// Linux's infinity of microseconds.
const NO_RTT: u32 = i32::MAX as u32;

/// `YeAH`'s state for one connection.
#[derive(Clone, Debug)]
pub struct Yeah {
    config: Config,
    base_rtt_us: u32,
    round_min_us: u32,
    samples: u32,
    round_end_seq: u64,
    queue_pkts: u32,
    reno_pkts: u32,
    slow_rounds: u32,
    fast_rounds: u32,
}

impl Yeah {
    /// A `YeAH` control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            base_rtt_us: NO_RTT,
            round_min_us: NO_RTT,
            samples: 0,
            round_end_seq: 0,
            queue_pkts: 0,
            reno_pkts: LEAST_PKTS,
            slow_rounds: 0,
            fast_rounds: 0,
        }
    }

    fn start_round(&mut self, snd_nxt: u64) {
        self.round_end_seq = snd_nxt;
        self.round_min_us = NO_RTT;
        self.samples = 0;
    }

    /// Chooses the mode by the queue of the round that ends (Baiocchi et al. 2007, §3).
    fn judge(&mut self, window: &mut Window) {
        let delay_us = self.round_min_us - self.base_rtt_us;
        let queue = u64::from(window.cwnd_pkts) * u64::from(delay_us);
        self.queue_pkts = (queue / u64::from(self.round_min_us)) as u32;
        let is_long = self.queue_pkts > self.config.alpha_pkts;
        if is_long || delay_us > self.base_rtt_us / self.config.phi.max(1) {
            if is_long && window.cwnd_pkts > self.reno_pkts {
                let drained_pkts = self.queue_pkts.min(window.cwnd_pkts >> DRAIN_SHIFT);
                window.cwnd_pkts = (window.cwnd_pkts - drained_pkts).max(self.reno_pkts);
                window.ssthresh_pkts = window.cwnd_pkts;
            }
            self.reno_pkts = if self.reno_pkts <= LEAST_PKTS {
                (window.cwnd_pkts >> 1).max(LEAST_PKTS)
            } else {
                self.reno_pkts.saturating_add(1)
            };
            self.slow_rounds = self.slow_rounds.saturating_add(1);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > FAST_ROUNDS {
                self.reno_pkts = LEAST_PKTS;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
        }
    }
}

impl CongestionControl for Yeah {
    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, _window: &mut Window) {
        let rtt_us = sample.rtt_us.saturating_add(1).min(NO_RTT);
        self.base_rtt_us = self.base_rtt_us.min(rtt_us);
        self.round_min_us = self.round_min_us.min(rtt_us);
        self.samples = self.samples.saturating_add(1);
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut left = ack.acked_pkts;
        if window.in_slow_start() {
            left = window.slow_start(left);
        }
        if left > 0 {
            let per_pkts = if self.slow_rounds == 0 {
                window.cwnd_pkts.min(FAST_PER_PKTS)
            } else {
                window.cwnd_pkts
            };
            window.increase_additively(per_pkts, left);
        }
        if ack.snd_una > self.round_end_seq {
            if self.samples > 2 {
                self.judge(window);
            }
            self.start_round(ack.snd_nxt);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        let window_pkts = window.cwnd_pkts;
        let half_pkts = (window_pkts >> 1).max(2);
        let reduction_pkts = if self.slow_rounds < SLOW_ROUNDS {
            self.queue_pkts
                .min(half_pkts)
                .max(window_pkts >> DECREASE_SHIFT)
        } else {
            half_pkts
        };
        self.fast_rounds = 0;
        self.reno_pkts = (self.reno_pkts >> 1).max(LEAST_PKTS);
        window_pkts.saturating_sub(reduction_pkts).max(2)
    }

    fn on_state_change(&mut self, _now: SimTime, state: CongestionState, snd_nxt: u64) {
        if state == CongestionState::Open {
            self.start_round(snd_nxt);
        }
    }

    fn on_transmit_start(&mut self, _now: SimTime, _idle: Duration, snd_nxt: u64) {
        self.base_rtt_us = NO_RTT;
        self.start_round(snd_nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Rounds;
    use super::*;

    /// A `YeAH` with a base RTT of 100 ms.
    fn measured() -> Yeah {
        let mut yeah = Yeah::new(&Config::default());
        yeah.base_rtt_us = 100_000;
        yeah
    }

    /// The window after a round of `rtt_us` has been judged.
    fn judged(yeah: &mut Yeah, window_pkts: u32, rtt_us: u32) -> u32 {
        let mut window = Window::new(window_pkts, window_pkts);
        yeah.round_min_us = rtt_us;
        yeah.judge(&mut window);
        window.cwnd_pkts
    }

    fn threshold(yeah: &mut Yeah, window_pkts: u32) -> u32 {
        yeah.ssthresh(SimTime::ZERO, &Window::new(window_pkts, 9), window_pkts)
    }

    #[test]
    fn with_a_short_queue_it_grows_like_scalable() {
        let mut rounds = Rounds::new(1000, 1000);
        rounds.run(&mut measured(), 100_000);
        assert_eq!(rounds.window.cwnd_pkts, 1010);
    }

    #[test]
    fn a_delay_beyond_an_eighth_of_the_base_makes_it_reno() {
        let mut yeah = measured();
        judged(&mut yeah, 100, 112_500);
        assert_eq!(yeah.slow_rounds, 0);
        judged(&mut yeah, 100, 112_501);
        assert_eq!(yeah.slow_rounds, 1);
        let mut rounds = Rounds::new(500, 500);
        yeah.round_end_seq = u64::MAX;
        rounds.run(&mut yeah, 113_000);
        assert_eq!(rounds.window.cwnd_pkts, 501);
    }

    #[test]
    fn a_queue_beyond_eighty_packets_is_drained() {
        // 1000 · 10/110 = 90.9 packets.
        let mut yeah = measured();
        assert_eq!(judged(&mut yeah, 1000, 110_000), 910);
        assert_eq!(yeah.reno_pkts, 455);
        // 880 · 10/110 = 80 is not beyond.
        assert_eq!(judged(&mut measured(), 880, 110_000), 880);
    }

    #[test]
    fn at_most_half_the_window_is_drained_and_never_below_reno() {
        assert_eq!(judged(&mut measured(), 1000, 300_000), 500);
        let mut yeah = measured();
        yeah.reno_pkts = 700;
        assert_eq!(judged(&mut yeah, 1000, 300_000), 700);
        assert_eq!(yeah.reno_pkts, 701);
    }

    #[test]
    fn a_loss_costs_the_queue_but_at_least_an_eighth_and_at_most_half() {
        let mut yeah = measured();
        yeah.queue_pkts = 200;
        assert_eq!(threshold(&mut yeah, 1000), 800);
        yeah.queue_pkts = 20;
        assert_eq!(threshold(&mut yeah, 1000), 875);
        yeah.queue_pkts = 900;
        assert_eq!(threshold(&mut yeah, 1000), 500);
    }

    #[test]
    fn after_sixteen_slow_rounds_a_loss_costs_half() {
        let mut yeah = measured();
        yeah.queue_pkts = 20;
        yeah.slow_rounds = 15;
        assert_eq!(threshold(&mut yeah, 1000), 875);
        yeah.slow_rounds = 16;
        assert_eq!(threshold(&mut yeah, 1000), 500);
    }

    #[test]
    fn after_fifty_fast_rounds_no_reno_flow_is_thought_to_compete() {
        let mut yeah = measured();
        yeah.reno_pkts = 300;
        for _ in 0..50 {
            judged(&mut yeah, 100, 100_000);
        }
        assert_eq!(yeah.reno_pkts, 300);
        judged(&mut yeah, 100, 100_000);
        assert_eq!(yeah.reno_pkts, 2);
    }

    #[test]
    fn a_tiny_window_never_falls_below_two() {
        assert_eq!(threshold(&mut measured(), 1), 2);
        assert_eq!(judged(&mut measured(), 2, 1_000_000), 2);
    }
}
