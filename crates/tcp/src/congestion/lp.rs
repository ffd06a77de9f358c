//! TCP-LP: a background flow that takes a rise of the one-way delay for others' traffic
//! (Kuzmanovic and Knightly, INFOCOM 2003; Linux 6.1 `tcp_lp.c`).
//!
//! Delays are one-way, from the timestamps of acknowledgments that cover new data: others echo an
//! old timestamp. Without timestamps it is Reno.

use backlane_param::{params, words};
use backlane_units::{Duration, SimTime};

use super::factory::Factory;
use super::{Ack, Arrival, CongestionControl, Window, reno};
use crate::stack::Stack;

words! {
    /// What is a sign of congestion, and where the window goes on from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Rules {
        /// The paper's: the range of delays is that of the connection's life and counts from the
        /// first loss on; at most one cut per round; then additive increase.
        Paper = "paper",
        /// Linux's, for clocks that agree: the range counts from the first sample on and is
        /// forgotten at each cut; each acknowledgment may cut; then slow start up to the old
        /// threshold.
        Linux = "linux",
    }
}

params! {
    /// TCP-LP (Kuzmanovic and Knightly 2003).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// Whether the range of delays is that of the connection's life and counts from its first
        /// loss on, as in the paper, or is measured again after each cut, as in Linux and ns-3.
        rules: Rules = Rules::Paper;
        /// The share of the range of one-way delays above which a delay indicates congestion.
        ///
        /// δ. No range is published.
        threshold: f64 = 0.15, in 0.01..=1.0;
        /// Round trips after a cut in which nothing grows and a second sign leaves one packet.
        ///
        /// No range is published.
        inference_rtts: u32 = 3, in 1..=100;
    }
}

impl Config {
    /// ns-3's `tcp-lp.cc` has Linux's rules.
    pub fn ns3() -> Self {
        Self {
            rules: Rules::Linux,
            ..Self::default()
        }
    }
}

impl Factory for Config {
    const NAME: &'static str = "lp";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Lp::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 | Stack::Ns3Of2016 => Self::ns3(),
            Stack::Linux | Stack::Linux44 | Stack::Linux26 => self,
        }
    }
}

/// One-way delays in microseconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    /// Eight times the smoothed delay, whose weight of a new sample (γ) is 1/8.
    smoothed_us_8: i64,
    min_us: i64,
    max_us: i64,
    /// The largest delay, where `max_us` is the largest but one (Linux).
    outlier_us: i64,
}

impl Delays {
    const fn first(delay_us: i64) -> Self {
        Self {
            smoothed_us_8: delay_us * 8,
            min_us: delay_us,
            max_us: delay_us,
            outlier_us: delay_us,
        }
    }

    const fn smoothed_us(&self) -> i64 {
        self.smoothed_us_8 >> 3
    }

    fn add(&mut self, delay_us: i64, rules: Rules) {
        self.min_us = self.min_us.min(delay_us);
        if delay_us > self.outlier_us {
            let earlier_us = std::mem::replace(&mut self.outlier_us, delay_us);
            self.max_us = match rules {
                Rules::Paper => delay_us,
                Rules::Linux => earlier_us,
            };
        } else {
            self.max_us = self.max_us.max(delay_us);
        }
        self.smoothed_us_8 += delay_us - self.smoothed_us();
    }

    /// Linux at a cut: the range goes from the smoothed delay to twice as much.
    fn forget(&mut self) {
        self.min_us = self.smoothed_us();
        self.max_us = 2 * self.min_us;
        self.outlier_us = self.max_us;
    }

    fn limit_us(&self, threshold: f64) -> i64 {
        self.min_us + (threshold * (self.max_us - self.min_us) as f64) as i64
    }
}

/// TCP-LP's state for one connection.
#[derive(Clone, Debug)]
pub struct Lp {
    config: Config,
    delays: Option<Delays>,
    has_lost: bool,
    /// The next sequence number to be sent at the last arrival.
    snd_nxt: u64,
    /// The last cut or loss is answered when this is acknowledged.
    round_end_seq: u64,
    last_cut: Option<SimTime>,
    rtt: Duration,
}

impl Lp {
    /// A TCP-LP control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            delays: None,
            has_lost: false,
            snd_nxt: 0,
            round_end_seq: 0,
            last_cut: None,
            rtt: Duration::ZERO,
        }
    }

    /// Whether the smoothed delay indicates congestion.
    fn is_congested(&self, snd_una: u64) -> bool {
        let Some(delays) = &self.delays else {
            return false;
        };
        let limit_us = delays.limit_us(self.config.threshold);
        match self.config.rules {
            Rules::Paper => {
                self.has_lost && snd_una > self.round_end_seq && delays.smoothed_us() > limit_us
            }
            Rules::Linux => delays.smoothed_us() >= limit_us,
        }
    }
}

impl CongestionControl for Lp {
    fn on_arrival(&mut self, _now: SimTime, arrival: &Arrival, _window: &mut Window) {
        self.snd_nxt = arrival.snd_nxt;
        if arrival.acked_bytes == 0 {
            return;
        }
        if let Some(delay_us) = arrival.one_way_delay_us {
            match &mut self.delays {
                Some(delays) => delays.add(delay_us, self.config.rules),
                None => self.delays = Some(Delays::first(delay_us)),
            }
        }
    }

    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window) {
        if let Some(rtt_us) = ack.rtt_us {
            self.rtt = Duration::from_micros(u64::from(rtt_us));
        }
        let inference = self.rtt * u64::from(self.config.inference_rtts);
        let is_inferring = self.last_cut.is_some_and(|cut| now < cut + inference);
        if self.is_congested(ack.snd_una) {
            window.cwnd_pkts = if is_inferring {
                1
            } else {
                (window.cwnd_pkts / 2).max(1)
            };
            self.last_cut = Some(now);
            match self.config.rules {
                Rules::Paper => {
                    self.round_end_seq = ack.snd_nxt;
                    window.ssthresh_pkts = window.cwnd_pkts.max(2);
                }
                Rules::Linux => {
                    if let Some(delays) = &mut self.delays {
                        delays.forget();
                    }
                }
            }
        } else if !is_inferring && ack.is_cwnd_limited {
            reno::grow(window, ack.acked_pkts, ack.mss_bytes);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        reno::half(window)
    }

    fn on_loss(&mut self, _now: SimTime, _window: &mut Window) {
        self.has_lost = true;
        self.round_end_seq = self.snd_nxt;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ack, at_ms};
    use super::*;

    /// A flow whose delays have gone from 20 to 120 ms and that has lost.
    struct Flow {
        lp: Lp,
        window: Window,
        now_ms: u64,
        seq: u64,
    }

    impl Flow {
        fn new(rules: Rules) -> Self {
            let config = Config {
                rules,
                ..Config::default()
            };
            Self {
                lp: Lp::new(&config),
                window: Window::new(100, 100),
                now_ms: 1000,
                seq: 1,
            }
        }

        fn experienced() -> Self {
            let mut flow = Self::new(Rules::Paper);
            for delay_ms in [20, 120] {
                flow.arrive(delay_ms);
            }
            flow.lp.on_loss(at_ms(0), &mut flow.window);
            flow.seq += 100;
            flow
        }

        /// A packet of a flight of 100 is acknowledged; the clocks differ by an hour under the
        /// paper's rules.
        fn arrive(&mut self, delay_ms: i64) {
            let offset_ms = match self.lp.config.rules {
                Rules::Paper => 3_600_000,
                Rules::Linux => 0,
            };
            self.seq += 1;
            let arrival = Arrival {
                acked_bytes: 1000,
                one_way_delay_us: Some((delay_ms - offset_ms) * 1000),
                snd_nxt: self.seq + 100,
                ..Arrival::default()
            };
            self.lp
                .on_arrival(at_ms(self.now_ms), &arrival, &mut self.window);
        }

        fn acknowledge(&mut self) -> u32 {
            let ack = Ack {
                snd_una: self.seq,
                snd_nxt: self.seq + 100,
                rtt_us: Some(100_000),
                ..ack(1)
            };
            self.lp.on_ack(at_ms(self.now_ms), &ack, &mut self.window);
            self.window.cwnd_pkts
        }

        /// The smoothed delay, in the end, is this one.
        fn settle(&mut self, delay_ms: i64) {
            for _ in 0..100 {
                self.arrive(delay_ms);
            }
        }
    }

    #[test]
    fn a_delay_above_15_percent_of_the_range_halves_the_window() {
        let mut flow = Flow::experienced();
        flow.settle(34);
        assert_eq!(flow.acknowledge(), 100);
        flow.settle(36);
        assert_eq!(flow.acknowledge(), 50);
        assert!(!flow.window.in_slow_start());
    }

    #[test]
    fn a_second_sign_in_the_inference_phase_leaves_one_packet() {
        // The phase is 3 RTTs of 100 ms.
        for (later_ms, left_pkts) in [(299, 1), (300, 25)] {
            let mut flow = Flow::experienced();
            flow.settle(50);
            flow.acknowledge();
            flow.now_ms += later_ms;
            flow.seq += 101;
            assert_eq!(flow.acknowledge(), left_pkts);
        }
    }

    #[test]
    fn a_round_is_cut_once() {
        let mut flow = Flow::experienced();
        flow.settle(50);
        assert_eq!(flow.acknowledge(), 50);
        for _ in 0..100 {
            flow.arrive(50);
            assert_eq!(flow.acknowledge(), 50);
        }
        flow.arrive(50);
        assert_eq!(flow.acknowledge(), 1);
    }

    #[test]
    fn nothing_grows_in_the_inference_phase_and_reno_grows_after_it() {
        let mut flow = Flow::experienced();
        flow.settle(50);
        flow.acknowledge();
        flow.settle(20);
        flow.now_ms += 299;
        for _ in 0..50 {
            assert_eq!(flow.acknowledge(), 50);
        }
        flow.now_ms += 1;
        for _ in 0..50 {
            flow.acknowledge();
        }
        assert_eq!(flow.window.cwnd_pkts, 51);
    }

    #[test]
    fn before_the_first_loss_no_delay_is_a_sign() {
        let mut flow = Flow::new(Rules::Paper);
        flow.arrive(20);
        flow.settle(120);
        assert_eq!(flow.acknowledge(), 100);
    }

    #[test]
    fn an_acknowledgment_of_nothing_new_is_no_sample() {
        let mut flow = Flow::experienced();
        let arrival = Arrival {
            one_way_delay_us: Some(0),
            ..Arrival::default()
        };
        let before_us = flow.lp.delays.unwrap().max_us;
        flow.lp
            .on_arrival(SimTime::ZERO, &arrival, &mut flow.window);
        assert_eq!(flow.lp.delays.unwrap().max_us, before_us);
    }

    #[test]
    fn linux_takes_the_first_sample_for_congestion_and_measures_again_after_each_cut() {
        let mut flow = Flow::new(Rules::Linux);
        flow.arrive(20);
        assert_eq!(flow.acknowledge(), 50);
        // The range is now 20 to 40 ms, its 15 % at 23 ms; the threshold stays where it was.
        flow.settle(22);
        assert_eq!(flow.acknowledge(), 50);
        flow.now_ms += 300;
        assert_eq!(flow.acknowledge(), 51);
        flow.settle(24);
        assert_eq!(flow.acknowledge(), 25);
        assert!(flow.window.in_slow_start());
    }

    #[test]
    fn linux_leaves_out_the_largest_delay() {
        let mut delays = Delays::first(10);
        for delay_us in [50, 90, 30] {
            delays.add(delay_us, Rules::Linux);
        }
        assert_eq!((delays.max_us, delays.outlier_us), (50, 90));
    }
}
