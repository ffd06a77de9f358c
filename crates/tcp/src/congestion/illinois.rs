//! Illinois (Liu, Başar and Srikant, "TCP-Illinois: a loss- and delay-based congestion control
//! algorithm for high-speed networks", 2006): loss decides when to slow down, delay by how much.
//!
//! α falls from 10 to 0.3 and β rises from 1/8 to 1/2 as the mean queueing delay of a round
//! approaches the largest ever seen. In Linux's integers: α in 128ths, β in 64ths.

use backlane_param::params;
use backlane_units::SimTime;

use super::factory::Factory;
use super::{Ack, CongestionControl, RttSample, Window};
use crate::recovery::CongestionState;
use crate::stack::Stack;

params! {
    /// Illinois (Liu, Başar and Srikant 2006).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Below this window it is Reno.
        ///
        /// No range is published.
        min_window_pkts: u32 = 15, in 0..=10_000;
        /// Rounds of low delay after which it grows fastest again.
        ///
        /// No range is published.
        theta_rounds: u32 = 5, in 1..=1000;
        /// Whether what an acknowledgement adds to the count of growth (α for each packet) is cut
        /// to a whole number, as in ns-3, where α below 1/2 then adds nothing for two packets.
        whole_counts: bool = false;
        /// Whether a round ends with the acknowledgement of its last segment, as in ns-3, and not
        /// with the next one.
        ends_round_at_last: bool = false;
    }
}

impl Config {
    /// As ns-3 has it.
    pub fn ns3() -> Self {
        Self {
            whole_counts: true,
            ends_round_at_last: true,
            ..Self::default()
        }
    }
}

impl Factory for Config {
    const NAME: &'static str = "illinois";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Illinois::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 | Stack::Ns3Of2016 => Self::ns3(),
            Stack::Linux | Stack::Linux44 | Stack::Linux26 => self,
        }
    }
}

/// 0.3, 1 and 10 in 128ths (Liu et al. 2006, §4; Linux).
const ALPHA_MIN_128: u32 = 38;
const ALPHA_BASE_128: u32 = 128;
const ALPHA_MAX_128: u32 = 1280;
/// 1/8 and 1/2 in 64ths (Liu et al. 2006, §4; Linux).
const BETA_MIN_64: u32 = 8;
const BETA_MAX_64: u32 = 32;
/// Longer samples count as this long, 3.36 s: Linux's bound on the product with α.
const RTT_MAX_US: u32 = u32::MAX / ALPHA_MAX_128;

/// Illinois's state for one connection.
#[derive(Clone, Copy, Debug)]
pub struct Illinois {
    config: Config,
    base_rtt_us: u32,
    /// Never aged.
    max_rtt_us: u32,
    sum_rtt_us: u64,
    samples: u32,
    round_end_seq: u64,
    alpha_128: u32,
    beta_64: u32,
    has_left_low_delay: bool,
    low_rounds: u32,
}

impl Illinois {
    /// An Illinois control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            base_rtt_us: u32::MAX,
            max_rtt_us: 0,
            sum_rtt_us: 0,
            samples: 0,
            round_end_seq: 0,
            alpha_128: ALPHA_MAX_128,
            beta_64: BETA_MAX_64,
            has_left_low_delay: false,
            low_rounds: 0,
        }
    }

    /// The growth per round, in packets: α.
    pub fn alpha(&self) -> f64 {
        f64::from(self.alpha_128) / 128.0
    }

    /// The share of the window that a loss costs: β.
    pub fn beta(&self) -> f64 {
        f64::from(self.beta_64) / 64.0
    }

    fn start_round(&mut self, snd_nxt: u64) {
        self.round_end_seq = snd_nxt;
        self.sum_rtt_us = 0;
        self.samples = 0;
    }

    /// α for a mean queueing delay of `da` with a largest one of `dm` (Liu et al. 2006, §4).
    fn alpha_128(&mut self, da: u32, dm: u32) -> u32 {
        let d1 = dm / 100;
        if da <= d1 {
            if !self.has_left_low_delay {
                return ALPHA_MAX_128;
            }
            // One round without delay may be chance.
            self.low_rounds += 1;
            if self.low_rounds < self.config.theta_rounds {
                return self.alpha_128;
            }
            self.low_rounds = 0;
            self.has_left_low_delay = false;
            return ALPHA_MAX_128;
        }
        self.has_left_low_delay = true;
        let (da, dm) = (u64::from(da - d1), u64::from(dm - d1));
        let slope = da * u64::from(ALPHA_MAX_128 - ALPHA_MIN_128) / u64::from(ALPHA_MIN_128);
        (dm * u64::from(ALPHA_MAX_128) / (dm + slope)) as u32
    }

    fn update(&mut self, window: &Window) {
        if window.cwnd_pkts < self.config.min_window_pkts {
            self.alpha_128 = ALPHA_BASE_128;
            self.beta_64 = BETA_MAX_64;
        } else if self.samples > 0 {
            let dm = self.max_rtt_us - self.base_rtt_us;
            let mean_us = (self.sum_rtt_us / u64::from(self.samples)) as u32;
            let da = mean_us - self.base_rtt_us;
            self.alpha_128 = self.alpha_128(da, dm);
            self.beta_64 = beta_64(da, dm);
        }
    }
}

/// β rises linearly from a tenth to eight tenths of the largest delay (Liu et al. 2006, §4).
fn beta_64(da: u32, dm: u32) -> u32 {
    let (da, dm) = (u64::from(da), u64::from(dm));
    let d2 = dm / 10;
    let d3 = 8 * dm / 10;
    if da <= d2 {
        return BETA_MIN_64;
    }
    if da >= d3 || d3 <= d2 {
        return BETA_MAX_64;
    }
    let (least, most) = (u64::from(BETA_MIN_64), u64::from(BETA_MAX_64));
    // least·(d3 − da) + most·(da − d2): both terms are positive between the bounds.
    ((least * (d3 - da) + most * (da - d2)) / (d3 - d2)) as u32
}

impl CongestionControl for Illinois {
    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, _window: &mut Window) {
        let rtt_us = sample.rtt_us.min(RTT_MAX_US);
        self.base_rtt_us = self.base_rtt_us.min(rtt_us);
        self.max_rtt_us = self.max_rtt_us.max(rtt_us);
        self.samples += 1;
        self.sum_rtt_us += u64::from(rtt_us);
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        let ends_round = ack.snd_una > self.round_end_seq
            || (self.config.ends_round_at_last && ack.snd_una == self.round_end_seq);
        if ends_round {
            self.update(window);
            self.start_round(ack.snd_nxt);
        }
        if !ack.is_cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked_pkts);
            return;
        }
        if self.config.whole_counts {
            let count = (u64::from(ack.acked_pkts) * u64::from(self.alpha_128)) >> 7;
            window.increase_by_packets(window.cwnd_pkts, count as u32);
            return;
        }
        // `tcp_illinois_acked`: at the end of a recovery the packets SACKed in it count at once.
        window.credit_pkts = window.credit_pkts.saturating_add(ack.covered_pkts);
        let grown = (u64::from(window.credit_pkts) * u64::from(self.alpha_128)) >> 7;
        let packets = (grown / u64::from(window.cwnd_pkts)) as u32;
        if packets > 0 {
            window.cwnd_pkts = window.cwnd_pkts.saturating_add(packets);
            window.credit_pkts = 0;
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        let cost = (u64::from(window.cwnd_pkts) * u64::from(self.beta_64)) >> 6;
        (window.cwnd_pkts - cost as u32).max(2)
    }

    fn on_state_change(&mut self, _now: SimTime, state: CongestionState, snd_nxt: u64) {
        if state == CongestionState::Loss {
            self.alpha_128 = ALPHA_BASE_128;
            self.beta_64 = BETA_MAX_64;
            self.low_rounds = 0;
            self.has_left_low_delay = false;
            self.start_round(snd_nxt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 ms: a convenient largest delay.
    const DM: u32 = 100_000;

    fn alpha(da: u32) -> f64 {
        let mut illinois = Illinois::new(&Config::default());
        f64::from(illinois.alpha_128(da, DM)) / 128.0
    }

    #[test]
    fn alpha_falls_from_ten_to_three_tenths() {
        assert!((alpha(1_000) - 10.0).abs() < 1e-9);
        // 38/128 = 0.297 stands for 0.3.
        assert!((alpha(DM) - 0.3).abs() < 0.011, "{}", alpha(DM));
        // At half the largest delay 0.588 (Liu et al. 2006, §4, with κ from the bounds).
        assert!((alpha(50_000) - 0.588).abs() < 0.011, "{}", alpha(50_000));
    }

    #[test]
    fn beta_rises_from_an_eighth_to_a_half() {
        for (da, beta) in [(0, 8), (10_000, 8), (45_000, 20), (80_000, 32), (DM, 32)] {
            assert_eq!(beta_64(da, DM), beta, "{da}");
        }
        assert_eq!(beta_64(1, 1), 32);
    }

    #[test]
    fn after_delay_alpha_waits_for_five_rounds_without() {
        let mut illinois = Illinois::new(&Config::default());
        illinois.alpha_128 = illinois.alpha_128(DM, DM);
        let low = illinois.alpha_128;
        for _ in 0..4 {
            assert_eq!(illinois.alpha_128(0, DM), low);
        }
        assert_eq!(illinois.alpha_128(0, DM), ALPHA_MAX_128);
        assert_eq!(illinois.alpha_128(0, DM), ALPHA_MAX_128);
    }

    #[test]
    fn a_round_of_alpha_ten_adds_ten_packets() {
        let mut illinois = Illinois::new(&Config::default());
        let mut window = Window::new(1000, 2);
        for _ in 0..1000 {
            let ack = Ack {
                acked_pkts: 1,
                covered_pkts: 1,
                is_cwnd_limited: true,
                ..Ack::default()
            };
            illinois.on_ack(SimTime::ZERO, &ack, &mut window);
        }
        // Each of the packets takes 100 to 101 acknowledgments.
        assert_eq!(window.cwnd_pkts, 1009);
    }

    /// `tcp_illinois_acked`: an acknowledgment that delivers one packet and covers 100, as at the
    /// end of a recovery, is worth 100 packets of credit: with α = 10 and a window of 500 two of
    /// growth. One for a SACK alone is worth none.
    #[test]
    fn credit_is_what_the_cumulative_acknowledgment_covers() {
        let grown = |acked_pkts, covered_pkts| {
            let mut illinois = Illinois::new(&Config::default());
            let mut window = Window::new(500, 2);
            let ack = Ack {
                acked_pkts,
                covered_pkts,
                is_cwnd_limited: true,
                ..Ack::default()
            };
            illinois.on_ack(SimTime::ZERO, &ack, &mut window);
            (window.cwnd_pkts - 500, window.credit_pkts)
        };
        assert_eq!(grown(1, 100), (2, 0));
        assert_eq!(grown(1, 0), (0, 0));
    }

    /// α = 0.3 for two packets is 0.6, which ns-3 cuts to nothing; α = 10 adds 20 for each
    /// acknowledgment of two.
    #[test]
    fn in_ns3_a_small_alpha_grows_nothing() {
        let grown = |alpha_128: u32| {
            let mut illinois = Illinois::new(&Config::ns3());
            illinois.alpha_128 = alpha_128;
            let mut window = Window::new(100, 2);
            for _ in 0..50 {
                let ack = Ack {
                    acked_pkts: 2,
                    is_cwnd_limited: true,
                    ..Ack::default()
                };
                illinois.on_ack(SimTime::ZERO, &ack, &mut window);
            }
            window.cwnd_pkts - 100
        };
        assert_eq!(grown(ALPHA_MIN_128), 0);
        assert_eq!(grown(ALPHA_MAX_128), 9);
    }

    #[test]
    fn a_small_window_is_reno() {
        let mut illinois = Illinois::new(&Config::default());
        illinois.update(&Window::new(14, 2));
        assert_eq!(
            (illinois.alpha_128, illinois.beta_64),
            (ALPHA_BASE_128, BETA_MAX_64)
        );
    }

    #[test]
    fn a_timeout_returns_to_reno_s_gains() {
        let mut illinois = Illinois::new(&Config::default());
        illinois.beta_64 = BETA_MIN_64;
        illinois.on_state_change(SimTime::ZERO, CongestionState::Loss, 0);
        assert_eq!(
            illinois.ssthresh(SimTime::ZERO, &Window::new(100, 2), 0),
            50
        );
    }
}
