//! H-TCP: growth rises with the time since the last congestion (Leith and Shorten, "H-TCP: TCP
//! for high-speed and long-distance networks", 2004), as in Linux.
//!
//! Fixed point as in Linux: growth in 128ths of a packet, the kept part of the window in 128ths,
//! times in ticks of a millisecond (HZ = 1000).

use backlane_param::params;
use backlane_units::SimTime;

use super::factory::Factory;
use super::{Ack, CongestionControl, RttSample, Window};
use crate::recovery::CongestionState;

params! {
    /// H-TCP (Leith and Shorten 2004).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Whether growth is scaled by the RTT.
        ///
        /// Flows of different RTT then grow alike. Linux: `use_rtt_scaling`.
        rtt_scaling: bool = true;
        /// Whether the reduction adapts only while the throughput stays within a fifth.
        ///
        /// Linux: `use_bandwidth_switch`.
        bandwidth_switch: bool = true;
    }
}

impl Factory for Config {
    const NAME: &'static str = "htcp";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Htcp::new(self))
    }
}

const SHIFT: u32 = 7;
const ALPHA_BASE: u64 = 1 << SHIFT;
/// Leith and Shorten 2004, §3: β from 0.5 to 0.8.
const BETA_MIN: u64 = 1 << (SHIFT - 1);
const BETA_MAX: u64 = 102;
const TICKS_PER_S: u64 = 1000;
/// Linux: the largest RTT rises by at most this much per sample.
const MAX_RTT_STEP_MS: u64 = 20;
/// Linux: below this RTT the reduction does not adapt.
const SHORT_RTT_MS: u64 = 10;

/// H-TCP's state for one connection. All times are in milliseconds.
#[derive(Clone, Debug)]
pub struct Htcp {
    config: Config,
    state: CongestionState,
    alpha_128: u64,
    beta_128: u64,
    adapts: bool,
    /// Packets of the newest sample that have not been counted.
    covered_pkts: u32,
    /// `None`: no RTT yet.
    min_rtt_ms: Option<u64>,
    max_rtt_ms: u64,
    last_congestion_ms: u64,
    /// Whether the time of the last congestion waits for the end of the recovery.
    in_reduction: bool,
    /// Packets acknowledged in the present measurement of throughput.
    counted_pkts: u64,
    measured_at_ms: u64,
    /// Throughputs, in packets per second: filtered, its largest since the last congestion and
    /// that before it.
    rate: u64,
    max_rate: u64,
    last_max_rate: u64,
}

impl Htcp {
    /// An H-TCP control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            state: CongestionState::Open,
            alpha_128: ALPHA_BASE,
            beta_128: BETA_MIN,
            adapts: false,
            covered_pkts: 1,
            min_rtt_ms: None,
            max_rtt_ms: 0,
            last_congestion_ms: 0,
            in_reduction: false,
            counted_pkts: 0,
            measured_at_ms: 0,
            rate: 0,
            max_rate: 0,
            last_max_rate: 0,
        }
    }

    /// The growth per round, in packets: α.
    pub fn alpha_pkts(&self) -> f64 {
        self.alpha_128 as f64 / 128.0
    }

    fn measure_rtt(&mut self, rtt_ms: u64) {
        let min_ms = self.min_rtt_ms.map_or(rtt_ms, |min| min.min(rtt_ms));
        self.min_rtt_ms = Some(min_ms);
        if self.state == CongestionState::Open {
            self.max_rtt_ms = self.max_rtt_ms.max(min_ms);
            if self.max_rtt_ms < rtt_ms && rtt_ms <= self.max_rtt_ms + MAX_RTT_STEP_MS {
                self.max_rtt_ms = rtt_ms;
            }
        }
    }

    fn measure_throughput(&mut self, now_ms: u64, covered_pkts: u32, window_pkts: u32) {
        if self.state > CongestionState::Disorder {
            self.counted_pkts = 0;
            self.measured_at_ms = now_ms;
            return;
        }
        self.counted_pkts += u64::from(covered_pkts);
        let Some(min_rtt_ms) = self.min_rtt_ms.filter(|min| *min > 0) else {
            return;
        };
        let growth_pkts = (self.alpha_128 >> SHIFT).max(1);
        let elapsed_ms = now_ms - self.measured_at_ms;
        if self.counted_pkts + growth_pkts < u64::from(window_pkts) || elapsed_ms < min_rtt_ms {
            return;
        }
        let rate = self.counted_pkts * TICKS_PER_S / elapsed_ms;
        // Three round trips after a congestion the flow finds its new rate.
        if (now_ms - self.last_congestion_ms) / min_rtt_ms <= 3 {
            self.rate = rate;
            self.max_rate = rate;
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.max_rate = self.max_rate.max(self.rate);
        }
        self.counted_pkts = 0;
        self.measured_at_ms = now_ms;
    }

    /// Growth for the time since the last congestion (Leith and Shorten 2004, eq. 3).
    fn update_alpha(&mut self, now_ms: u64) {
        let mut factor = 1;
        let since_ms = now_ms - self.last_congestion_ms;
        if since_ms > TICKS_PER_S {
            let late_ms = since_ms - TICKS_PER_S;
            let square = (late_ms / 2) * (late_ms / 2) / TICKS_PER_S;
            factor = 1 + (10 * late_ms + square) / TICKS_PER_S;
        }
        if let Some(min_rtt_ms) = self.min_rtt_ms.filter(|min| *min > 0)
            && self.config.rtt_scaling
        {
            // 100 ms over the RTT in eighths, between a half and ten.
            let scale = ((TICKS_PER_S << 3) / (10 * min_rtt_ms)).clamp(1 << 2, 10 << 3);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha_128 = 2 * factor * ((1 << SHIFT) - self.beta_128);
    }

    /// The part kept: smallest over largest RTT while the throughput is steady (Leith and
    /// Shorten 2004, eq. 6).
    fn update_beta(&mut self) {
        if self.config.bandwidth_switch {
            let last = self.last_max_rate;
            self.last_max_rate = self.max_rate;
            if !(4 * last..=6 * last).contains(&(5 * self.max_rate)) {
                self.beta_128 = BETA_MIN;
                self.adapts = false;
                return;
            }
        }
        let min_rtt_ms = self.min_rtt_ms.unwrap_or(0);
        if self.adapts && min_rtt_ms > SHORT_RTT_MS && self.max_rtt_ms > 0 {
            self.beta_128 = ((min_rtt_ms << SHIFT) / self.max_rtt_ms).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta_128 = BETA_MIN;
            self.adapts = true;
        }
    }
}

const fn ms(now: SimTime) -> u64 {
    now.as_micros() / 1000
}

impl CongestionControl for Htcp {
    fn on_established(
        &mut self,
        now: SimTime,
        _srtt_us: u32,
        _mss_bytes: u32,
        _window: &mut Window,
    ) {
        self.last_congestion_ms = ms(now);
        self.measured_at_ms = ms(now);
    }

    fn on_rtt_sample(&mut self, now: SimTime, sample: &RttSample, window: &mut Window) {
        if self.state == CongestionState::Open {
            self.covered_pkts = sample.covered_pkts;
        }
        if sample.rtt_us > 0 {
            self.measure_rtt(u64::from(sample.rtt_us).div_ceil(1000));
        }
        if self.config.bandwidth_switch {
            self.measure_throughput(ms(now), sample.covered_pkts, window.cwnd_pkts);
        }
    }

    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked_pkts);
            return;
        }
        let grown = (u64::from(window.credit_pkts) * self.alpha_128) >> SHIFT;
        if grown >= u64::from(window.cwnd_pkts) {
            window.cwnd_pkts += 1;
            window.credit_pkts = 0;
            self.update_alpha(ms(now));
        } else {
            window.credit_pkts = window.credit_pkts.saturating_add(self.covered_pkts);
        }
        // An acknowledgment without a sample counts as one packet.
        self.covered_pkts = 1;
    }

    fn ssthresh(&mut self, now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        self.update_beta();
        self.update_alpha(ms(now));
        // The largest RTT fades, in case the route has changed.
        let min_rtt_ms = self.min_rtt_ms.unwrap_or(0);
        if min_rtt_ms > 0 && self.max_rtt_ms > min_rtt_ms {
            self.max_rtt_ms = min_rtt_ms + (self.max_rtt_ms - min_rtt_ms) * 95 / 100;
        }
        let kept = (u64::from(window.cwnd_pkts) * self.beta_128) >> SHIFT;
        (kept as u32).max(2)
    }

    fn on_state_change(&mut self, now: SimTime, state: CongestionState, _snd_nxt: u64) {
        self.state = state;
        if state >= CongestionState::Cwr {
            self.in_reduction = true;
            self.last_congestion_ms = ms(now);
        } else if state == CongestionState::Open && self.in_reduction {
            self.in_reduction = false;
            self.last_congestion_ms = ms(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Rounds, at_ms, sample};
    use super::*;

    fn unscaled() -> Htcp {
        Htcp::new(&Config {
            rtt_scaling: false,
            ..Config::default()
        })
    }

    fn alpha_after_ms(htcp: &mut Htcp, since_ms: u64) -> f64 {
        htcp.update_alpha(since_ms);
        htcp.alpha_128 as f64 / 128.0
    }

    #[test]
    fn for_a_second_after_a_congestion_it_grows_like_reno() {
        assert_eq!(alpha_after_ms(&mut unscaled(), 1000), 1.0);
    }

    #[test]
    fn three_seconds_after_it_grows_by_22_packets() {
        // 1 + 10 · 2 + (2/2)² = 22, times 2(1 − β) = 1.
        assert_eq!(alpha_after_ms(&mut unscaled(), 3000), 22.0);
    }

    #[test]
    fn a_round_gains_alpha_packets() {
        let mut htcp = unscaled();
        htcp.alpha_128 = 4 * ALPHA_BASE;
        let mut rounds = Rounds::new(1000, 1000);
        for _ in 0..252 {
            htcp.on_rtt_sample(SimTime::ZERO, &sample(100_000, 1), &mut rounds.window);
            let ack = super::super::fixture::ack(1);
            htcp.on_ack(SimTime::ZERO, &ack, &mut rounds.window);
        }
        // 250 packets of credit and the acknowledgment that finds it.
        assert_eq!(rounds.window.cwnd_pkts, 1001);
    }

    #[test]
    fn a_short_rtt_grows_less_per_round() {
        // 22 scaled by 100 ms / 25 ms = 4: 5 after rounding down.
        let mut htcp = Htcp::new(&Config::default());
        htcp.min_rtt_ms = Some(25);
        assert_eq!(alpha_after_ms(&mut htcp, 3000), 5.0);
    }

    /// Congestion at a steady rate, with RTTs of 40 to `max_rtt_ms`.
    fn steady(max_rtt_ms: u64) -> Htcp {
        let mut htcp = Htcp::new(&Config::default());
        htcp.min_rtt_ms = Some(40);
        htcp.max_rtt_ms = max_rtt_ms;
        htcp.max_rate = 1000;
        htcp.last_max_rate = 1100;
        htcp.adapts = true;
        htcp
    }

    #[test]
    fn at_a_steady_rate_the_ratio_of_the_rtts_is_kept() {
        let mut htcp = steady(60);
        let threshold = htcp.ssthresh(at_ms(100), &Window::new(300, 300), 300);
        // 40/60 in 128ths is 85.
        assert_eq!(threshold, 300 * 85 / 128);
        assert_eq!(htcp.max_rtt_ms, 59);
        let mut htcp = steady(41);
        let threshold = htcp.ssthresh(at_ms(100), &Window::new(1280, 9), 0);
        assert_eq!(threshold, 1020);
    }

    #[test]
    fn at_a_changed_rate_half_is_kept() {
        let mut htcp = steady(60);
        htcp.last_max_rate = 2000;
        let threshold = htcp.ssthresh(at_ms(100), &Window::new(300, 300), 300);
        assert_eq!(threshold, 150);
        assert!(!htcp.adapts);
    }

    /// Leith and Shorten 2004, eq. 6: β adapts while the rate is within Δ_B = 20 % of what it was
    /// at the last congestion.
    #[test]
    fn a_rate_is_steady_within_a_fifth() {
        for (rate, kept) in [(799, 64), (800, 85), (1200, 85), (1201, 64)] {
            let mut htcp = steady(60);
            htcp.last_max_rate = 1000;
            htcp.max_rate = rate;
            let threshold = htcp.ssthresh(at_ms(100), &Window::new(300, 300), 300);
            assert_eq!(threshold, 300 * kept / 128, "{rate}");
        }
    }

    #[test]
    fn the_clock_starts_again_when_a_recovery_ends() {
        let mut htcp = unscaled();
        htcp.on_state_change(at_ms(5000), CongestionState::Recovery, 0);
        htcp.on_state_change(at_ms(5100), CongestionState::Open, 0);
        assert_eq!(htcp.last_congestion_ms, 5100);
        htcp.on_state_change(at_ms(6000), CongestionState::Disorder, 0);
        htcp.on_state_change(at_ms(6100), CongestionState::Open, 0);
        assert_eq!(htcp.last_congestion_ms, 5100);
    }

    #[test]
    fn a_sudden_long_rtt_does_not_count_as_the_largest() {
        let mut htcp = steady(60);
        htcp.measure_rtt(81);
        assert_eq!(htcp.max_rtt_ms, 60);
        htcp.measure_rtt(80);
        assert_eq!(htcp.max_rtt_ms, 80);
    }
}
