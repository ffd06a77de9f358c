//! Westwood+ (Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno
//! and Vegas TCP congestion control", 2004): after a loss the window becomes what the measured
//! bandwidth fills at the smallest RTT.
//!
//! Linux's filter is two cascaded averages of weight 1/8 over samples of at least 50 ms. Times
//! are whole milliseconds (HZ = 1000) and bandwidths whole bytes per millisecond.

use backlane_units::{Duration, Rate, SimTime};

use super::parameters::Words;
use super::{
    Ack, Arrival, CongestionControl, ControlReadings, Parameter, Parameters, RttSample, Window,
    reno,
};
use crate::recovery::CongestionState;

/// How Westwood+ smooths its bandwidth samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// Two averages of weight 1/8, one after the other.
    #[default]
    Linux,
    /// ns-3's: `0.9·b + 0.1·(sample + last sample)/2`.
    Tustin,
}

/// Westwood+'s parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The filter of the bandwidth samples.
    pub filter: Filter,
}

impl Config {
    /// With the filter of ns-3; the samples stay Linux's.
    pub const fn ns3() -> Self {
        Self {
            filter: Filter::Tustin,
        }
    }
}

impl Parameters for Config {
    fn parameters(&mut self) -> Vec<Parameter<'_>> {
        let Self { filter } = self;
        vec![Parameter::word("filter", filter)]
    }
}

impl Words for Filter {
    const WORDS: &'static [(&'static str, Self)] =
        &[("linux", Self::Linux), ("tustin", Self::Tustin)];
}

/// What Westwood+ has measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Readings {
    /// The bandwidth estimate.
    pub bandwidth: Rate,
    /// The smallest RTT, in whole milliseconds; `None` before the first.
    pub rtt_min: Option<Duration>,
}

/// A bandwidth sample is not shorter than this (Linux: HZ/20).
const MIN_SAMPLE_MS: u64 = 50;
/// The RTT before the first measurement (Linux).
const INITIAL_RTT_MS: u64 = 20_000;

/// Westwood+'s state for one connection.
#[derive(Clone, Debug)]
pub struct Westwood {
    config: Config,
    /// The first average, and with Tustin's filter the last sample; bytes per millisecond.
    first_stage: u64,
    /// The estimate, in bytes per millisecond.
    bandwidth: u64,
    has_bandwidth: bool,
    sample_start_ms: u64,
    sample_bytes: u64,
    has_ack: bool,
    /// Bytes already counted for duplicate acknowledgments.
    accounted_bytes: u64,
    /// The RTT that the next acknowledgment is judged by.
    rtt_ms: u64,
    /// The RTT of this acknowledgment, which Linux knows only afterwards.
    next_rtt_ms: u64,
    rtt_min_ms: u64,
    resets_rtt_min: bool,
    threshold_after_timeout_pkts: Option<u32>,
    mss_bytes: u64,
}

impl Westwood {
    /// A Westwood+ control.
    pub const fn new(config: &Config) -> Self {
        Self {
            config: *config,
            first_stage: 0,
            bandwidth: 0,
            has_bandwidth: false,
            sample_start_ms: 0,
            sample_bytes: 0,
            has_ack: false,
            accounted_bytes: 0,
            rtt_ms: INITIAL_RTT_MS,
            next_rtt_ms: INITIAL_RTT_MS,
            rtt_min_ms: INITIAL_RTT_MS,
            resets_rtt_min: false,
            threshold_after_timeout_pkts: None,
            mss_bytes: 1,
        }
    }

    /// What the bandwidth fills at the smallest RTT.
    fn pipe_pkts(&self) -> u32 {
        let pipe = self.bandwidth.saturating_mul(self.rtt_min_ms) / self.mss_bytes.max(1);
        u32::try_from(pipe).unwrap_or(u32::MAX).max(2)
    }

    fn take_sample(&mut self, sample: u64) {
        if !self.has_bandwidth {
            self.first_stage = sample;
            self.bandwidth = sample;
            self.has_bandwidth = sample != 0;
            return;
        }
        match self.config.filter {
            Filter::Linux => {
                self.first_stage = (7 * self.first_stage + sample) >> 3;
                self.bandwidth = (7 * self.bandwidth + self.first_stage) >> 3;
            }
            Filter::Tustin => {
                let mean = u64::midpoint(sample, self.first_stage);
                self.bandwidth = (9 * self.bandwidth + mean) / 10;
                self.first_stage = sample;
            }
        }
    }

    fn end_sample(&mut self, now_ms: u64) {
        let length_ms = now_ms.saturating_sub(self.sample_start_ms);
        if length_ms > self.rtt_ms.max(MIN_SAMPLE_MS) {
            self.take_sample(self.sample_bytes / length_ms);
            self.sample_bytes = 0;
            self.sample_start_ms = now_ms;
        }
    }

    /// Bytes that left the network: a duplicate acknowledgment counts as a segment, and what was
    /// counted so is not counted again when it is acknowledged.
    fn count(&mut self, acked_bytes: u64) -> u64 {
        if acked_bytes == 0 {
            self.accounted_bytes += self.mss_bytes;
            return self.mss_bytes;
        }
        if acked_bytes <= self.mss_bytes {
            return acked_bytes;
        }
        if self.accounted_bytes >= acked_bytes {
            self.accounted_bytes -= acked_bytes;
            return self.mss_bytes;
        }
        let counted = acked_bytes - self.accounted_bytes;
        self.accounted_bytes = 0;
        counted
    }
}

impl CongestionControl for Westwood {
    fn on_established(
        &mut self,
        now: SimTime,
        _srtt_us: u32,
        _mss_bytes: u32,
        _window: &mut Window,
    ) {
        self.sample_start_ms = now.as_micros() / 1000;
    }

    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, _window: &mut Window) {
        if sample.rtt_us > 0 {
            self.next_rtt_ms = u64::from(sample.rtt_us).div_ceil(1000);
        }
    }

    fn on_arrival(&mut self, now: SimTime, arrival: &Arrival, window: &mut Window) {
        if let Some(threshold_pkts) = self.threshold_after_timeout_pkts.take() {
            window.ssthresh_pkts = threshold_pkts;
        }
        self.mss_bytes = u64::from(arrival.mss_bytes);
        self.end_sample(now.as_micros() / 1000);
        // The first acknowledgment only tells where counting starts.
        if self.has_ack {
            self.sample_bytes += self.count(arrival.acked_bytes);
        }
        self.has_ack = true;
        if self.resets_rtt_min {
            self.rtt_min_ms = self.rtt_ms;
            self.resets_rtt_min = false;
        } else {
            self.rtt_min_ms = self.rtt_min_ms.min(self.rtt_ms);
        }
        self.rtt_ms = self.next_rtt_ms;
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if ack.is_cwnd_limited {
            reno::grow(window, ack.acked_pkts);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        reno::half(window)
    }

    fn on_state_change(&mut self, _now: SimTime, state: CongestionState, _snd_nxt: u64) {
        if state == CongestionState::Loss {
            self.threshold_after_timeout_pkts = Some(self.pipe_pkts());
            self.resets_rtt_min = true;
        }
    }

    fn on_recovery_exit(&mut self, _now: SimTime, window: &mut Window) {
        window.cwnd_pkts = self.pipe_pkts();
        window.ssthresh_pkts = window.cwnd_pkts;
    }

    fn readings(&self) -> ControlReadings {
        ControlReadings::Westwood(Readings {
            bandwidth: Rate::from_bps(self.bandwidth.saturating_mul(8000)),
            rtt_min: (self.rtt_min_ms != INITIAL_RTT_MS)
                .then(|| Duration::from_millis(self.rtt_min_ms)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS_BYTES: u32 = 1448;

    fn acknowledge(westwood: &mut Westwood, at_ms: u64, rtt_us: u32, acked_bytes: u64) -> Window {
        let now = SimTime::ZERO + Duration::from_millis(at_ms);
        let mut window = Window::new(100, 100);
        let sample = RttSample {
            rtt_us,
            ..RttSample::default()
        };
        westwood.on_rtt_sample(now, &sample, &mut window);
        let arrival = Arrival {
            acked_bytes,
            mss_bytes: MSS_BYTES,
            ..Arrival::default()
        };
        westwood.on_arrival(now, &arrival, &mut window);
        window
    }

    fn pipe_after(config: Config, seconds: u64) -> u32 {
        let mut westwood = Westwood::new(&config);
        // A segment a millisecond: 1448 B/ms, with 40 ms of RTT.
        for ms in 1..=seconds * 1000 {
            acknowledge(&mut westwood, ms, 40_000, u64::from(MSS_BYTES));
        }
        let mut window = Window::new(300, 150);
        westwood.on_recovery_exit(SimTime::ZERO, &mut window);
        assert_eq!(window.cwnd_pkts, window.ssthresh_pkts);
        window.cwnd_pkts
    }

    #[test]
    fn after_a_loss_the_window_is_bandwidth_times_the_smallest_rtt() {
        // 40 segments; the integer averages may lose a segment's worth in all.
        let pipe = pipe_after(Config::default(), 20);
        assert!((39..=40).contains(&pipe), "{pipe}");
        let pipe = pipe_after(Config::ns3(), 20);
        assert!((39..=40).contains(&pipe), "{pipe}");
    }

    #[test]
    fn a_step_of_the_bandwidth_is_followed_after_sixteen_samples() {
        // Two cascaded averages of weight 1/8: after n samples 1 − (7/8)ⁿ(1 + n/8), 0.646 at 16.
        let mut westwood = Westwood::new(&Config::default());
        westwood.take_sample(1);
        for _ in 0..16 {
            westwood.take_sample(1_000_000);
        }
        let share = westwood.bandwidth as f64 / 1e6;
        let n = 16.0;
        let expected = 1.0 - libm::pow(7.0 / 8.0, n) * (1.0 + n / 8.0);
        assert!((share - expected).abs() < 1e-4, "{share} {expected}");
    }

    #[test]
    fn samples_are_no_shorter_than_fifty_milliseconds() {
        let mut westwood = Westwood::new(&Config::default());
        for ms in 1..=50 {
            acknowledge(&mut westwood, ms, 10_000, 1000);
            assert!(!westwood.has_bandwidth, "at {ms} ms");
        }
        acknowledge(&mut westwood, 51, 10_000, 1000);
        assert!(westwood.has_bandwidth);
    }

    #[test]
    fn duplicates_count_once() {
        let mut westwood = Westwood::new(&Config::default());
        westwood.mss_bytes = 1000;
        assert_eq!(westwood.count(0), 1000);
        assert_eq!(westwood.count(0), 1000);
        assert_eq!(westwood.count(5000), 3000);
        assert_eq!(westwood.count(5000), 5000);
    }

    #[test]
    fn a_timeout_sets_the_threshold_at_the_next_acknowledgment() {
        let mut westwood = Westwood::new(&Config::default());
        for ms in 1..=2000 {
            acknowledge(&mut westwood, ms, 40_000, u64::from(MSS_BYTES));
        }
        westwood.on_state_change(SimTime::ZERO, CongestionState::Loss, 0);
        let window = acknowledge(&mut westwood, 2001, 300_000, 1448);
        assert!((38..=40).contains(&window.ssthresh_pkts), "{window:?}");
        let window = acknowledge(&mut westwood, 2002, 300_000, 1448);
        assert_eq!(window.ssthresh_pkts, 100);
    }

    #[test]
    fn nothing_measured_leaves_two_packets() {
        assert_eq!(Westwood::new(&Config::default()).pipe_pkts(), 2);
    }
}
