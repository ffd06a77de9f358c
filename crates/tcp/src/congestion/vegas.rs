//! Vegas: keeps two to four packets in the queue (Brakmo and Peterson, 1995), as Linux does.
//!
//! Linux's `diff` is the queueing delay over the *base* RTT, times the window; ns-3's is over the
//! RTT. Outside state Open, and in rounds with fewer than three samples, it is Reno.

use backlane_param::{Issue, params, words};
use backlane_units::{Duration, SimTime};

use super::factory::Factory;
use super::{Ack, CongestionControl, RttSample, Window, reno};
use crate::recovery::CongestionState;
use crate::stack::Stack;

words! {
    /// The number of packets that Vegas takes for queued.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Diff {
        /// `⌊w · (rtt − base) / base⌋`, as in Linux.
        #[default]
        OverBase = "over-base",
        /// `w − ⌊w · base / rtt⌋`, as in ns-3 and in the paper.
        OverRtt = "over-rtt",
    }
}

words! {
    /// What a loss leaves of Vegas's window.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Decrease {
        /// Half, as in Linux.
        #[default]
        Half = "half",
        /// All but one packet, as in ns-3, and no more than the threshold.
        OnePacket = "one-packet",
    }
}

params! {
    /// Vegas (Brakmo and Peterson 1995).
    ///
    /// No ranges are published.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Fewer queued packets than this let the window grow.
        alpha_pkts: u32 = 2, in 1..=1000;
        /// More queued packets than this let it shrink; at least alpha_pkts.
        beta_pkts: u32 = 4, in 1..=1000;
        /// More queued packets than this end slow start.
        gamma_pkts: u32 = 1, in 1..=1000;
        /// How many packets count as queued: the window times the queueing delay over the smallest
        /// RTT, or as in ns-3 over the RTT and rounded up.
        diff: Diff = Diff::OverBase;
        /// What a loss leaves: half, or as in ns-3 all but one packet.
        decrease: Decrease = Decrease::Half;
        /// Whether a round ends with the acknowledgement of its last segment, as in ns-3, and not
        /// with the next one.
        ends_round_at_last: bool = false;
    }
    rules Config::thresholds_in_order;
}

impl Config {
    /// As ns-3 has it.
    pub fn ns3() -> Self {
        Self {
            diff: Diff::OverRtt,
            decrease: Decrease::OnePacket,
            ends_round_at_last: true,
            ..Self::default()
        }
    }

    fn thresholds_in_order(&self) -> Vec<Issue> {
        let Self {
            alpha_pkts,
            beta_pkts,
            ..
        } = self;
        let issue = Issue::new(
            &["alpha_pkts"],
            format!("alpha_pkts is {alpha_pkts}, more than beta_pkts"),
            format!("write at most {beta_pkts}, or raise beta_pkts"),
        );
        (alpha_pkts > beta_pkts)
            .then_some(issue)
            .into_iter()
            .collect()
    }
}

impl Factory for Config {
    const NAME: &'static str = "vegas";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Vegas::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 | Stack::Ns3Of2016 => Self::ns3(),
            Stack::Linux | Stack::Linux44 | Stack::Linux26 => self,
        }
    }
}

/// Vegas's state for one connection.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: Config,
    enabled: bool,
    round_end_seq: u64,
    /// Samples in this round.
    samples: u32,
    /// The smallest RTT of this round.
    round_min_us: u32,
    base_rtt_us: u32,
}

const NO_RTT: u32 = u32::MAX;

impl Vegas {
    /// A Vegas control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            enabled: true,
            round_end_seq: 0,
            samples: 0,
            round_min_us: NO_RTT,
            base_rtt_us: NO_RTT,
        }
    }

    fn enable(&mut self, snd_nxt: u64) {
        self.enabled = true;
        self.start_round(snd_nxt);
    }

    fn start_round(&mut self, snd_nxt: u64) {
        self.round_end_seq = snd_nxt;
        self.samples = 0;
        self.round_min_us = NO_RTT;
    }

    fn adjust(&self, ack: &Ack, window: &mut Window) {
        // The smallest of the round filters the receiver's delayed acknowledgments.
        let rtt_us = u64::from(self.round_min_us);
        let base_us = u64::from(self.base_rtt_us);
        let window_pkts = u64::from(window.cwnd_pkts);
        let target = (window_pkts * base_us / rtt_us) as u32;
        let diff = match self.config.diff {
            Diff::OverBase => (window_pkts * (rtt_us - base_us) / base_us) as u32,
            Diff::OverRtt => window.cwnd_pkts - target,
        };
        if window.in_slow_start() {
            if diff > self.config.gamma_pkts {
                window.cwnd_pkts = window.cwnd_pkts.min(target + 1);
                window.ssthresh_pkts = window.ssthresh_pkts.min(window.cwnd_pkts);
            } else {
                window.slow_start(ack.acked_pkts);
            }
        } else if diff > self.config.beta_pkts {
            window.cwnd_pkts -= 1;
            window.ssthresh_pkts = window.ssthresh_pkts.min(window.cwnd_pkts);
        } else if diff < self.config.alpha_pkts {
            window.cwnd_pkts += 1;
        }
        window.cwnd_pkts = window.cwnd_pkts.max(2);
        // A threshold far below the window would cost a slow start after the next idle time.
        let three_quarters = (window.cwnd_pkts >> 1) + (window.cwnd_pkts >> 2);
        window.ssthresh_pkts = window.ssthresh_pkts.max(three_quarters);
    }
}

impl CongestionControl for Vegas {
    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, _window: &mut Window) {
        let rtt_us = sample.rtt_us + 1;
        self.base_rtt_us = self.base_rtt_us.min(rtt_us);
        self.round_min_us = self.round_min_us.min(rtt_us);
        self.samples += 1;
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !self.enabled {
            if ack.is_cwnd_limited {
                reno::grow(window, ack.acked_pkts, ack.mss_bytes);
            }
            return;
        }
        let ends_round = ack.snd_una > self.round_end_seq
            || (self.config.ends_round_at_last && ack.snd_una == self.round_end_seq);
        if ends_round {
            if self.samples > 2 {
                self.adjust(ack, window);
            } else if ack.is_cwnd_limited {
                reno::grow(window, ack.acked_pkts, ack.mss_bytes);
            }
            self.start_round(ack.snd_nxt);
        } else if window.in_slow_start() {
            window.slow_start(ack.acked_pkts);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        match self.config.decrease {
            Decrease::Half => reno::half(window),
            Decrease::OnePacket => (window.cwnd_pkts - 1).min(window.ssthresh_pkts).max(2),
        }
    }

    fn reduces_window(&self) -> bool {
        self.config.decrease == Decrease::OnePacket
    }

    fn on_state_change(&mut self, _now: SimTime, state: CongestionState, snd_nxt: u64) {
        if state == CongestionState::Open {
            self.enable(snd_nxt);
        } else {
            self.enabled = false;
        }
    }

    fn on_transmit_start(&mut self, _now: SimTime, _idle: Duration, snd_nxt: u64) {
        self.base_rtt_us = NO_RTT;
        self.enable(snd_nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One round of ten samples of `rtt_us`, closed by an acknowledgment.
    fn round(vegas: &mut Vegas, rtt_us: u32, window: &mut Window) {
        let snd_una = vegas.round_end_seq + 1;
        for _ in 0..10 {
            let sample = RttSample {
                rtt_us,
                srtt_us: rtt_us,
                covered_pkts: 1,
                sacked_pkts: 0,
                packets_out_pkts: window.cwnd_pkts,
                snd_una,
                snd_nxt: snd_una,
                mss_bytes: 1448,
            };
            vegas.on_rtt_sample(SimTime::ZERO, &sample, window);
        }
        let ack = Ack {
            acked_pkts: 1,
            in_flight_pkts: window.cwnd_pkts,
            snd_una,
            snd_nxt: snd_una,
            is_cwnd_limited: true,
            ..Ack::default()
        };
        vegas.on_ack(SimTime::ZERO, &ack, window);
    }

    fn window_after(rtt_us: u32, window: Window) -> Window {
        let mut vegas = Vegas::new(&Config::default());
        vegas.base_rtt_us = 100_000;
        let mut window = window;
        round(&mut vegas, rtt_us, &mut window);
        window
    }

    #[test]
    fn fewer_than_two_queued_packets_let_the_window_grow() {
        // 100 packets, RTT 1.9 % above the base: 1.9 queued.
        assert_eq!(window_after(101_900, Window::new(100, 90)).cwnd_pkts, 101);
    }

    #[test]
    fn two_to_four_queued_packets_hold_the_window() {
        assert_eq!(window_after(102_100, Window::new(100, 90)).cwnd_pkts, 100);
        assert_eq!(window_after(104_900, Window::new(100, 90)).cwnd_pkts, 100);
    }

    #[test]
    fn more_than_four_queued_packets_shrink_it() {
        assert_eq!(window_after(105_100, Window::new(100, 90)).cwnd_pkts, 99);
    }

    /// 100 packets, RTT 4.5 % above the base: 4.3 queued of the RTT are 100 − ⌊95.7⌋ = 5, which
    /// shrink the window where Linux, with 4 of 4.5, holds it.
    #[test]
    fn over_the_rtt_a_part_of_a_packet_counts_as_one() {
        let mut vegas = Vegas::new(&Config::ns3());
        vegas.base_rtt_us = 100_000;
        let mut window = Window::new(100, 90);
        round(&mut vegas, 104_500, &mut window);
        assert_eq!(window.cwnd_pkts, 99);
        assert_eq!(window_after(104_500, Window::new(100, 90)).cwnd_pkts, 100);
    }

    #[test]
    fn in_ns3_a_loss_costs_one_packet() {
        let mut vegas = Vegas::new(&Config::ns3());
        let threshold = |vegas: &mut Vegas, window| vegas.ssthresh(SimTime::ZERO, &window, 0);
        assert_eq!(threshold(&mut vegas, Window::new(100, u32::MAX)), 99);
        assert_eq!(threshold(&mut vegas, Window::new(100, 40)), 40);
        assert_eq!(threshold(&mut vegas, Window::new(2, 40)), 2);
    }

    #[test]
    fn slow_start_ends_at_the_target_when_a_queue_builds() {
        let window = window_after(125_000, Window::new(100, u32::MAX));
        assert_eq!(window.cwnd_pkts, 80);
        assert!(!window.in_slow_start());
    }

    #[test]
    fn outside_open_it_grows_like_reno() {
        let mut vegas = Vegas::new(&Config::default());
        vegas.on_state_change(SimTime::ZERO, CongestionState::Disorder, 0);
        let mut window = Window::new(10, 5);
        for _ in 0..10 {
            round(&mut vegas, 500_000, &mut window);
        }
        assert_eq!(window.cwnd_pkts, 11);
    }
}
