//! Westwood+ (Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno
//! and Vegas TCP congestion control", 2004): after a loss the window becomes what the measured
//! bandwidth fills at the smallest RTT.
//!
//! Linux's filter is two cascaded averages of weight 1/8 over samples of at least 50 ms. Times
//! are whole milliseconds (HZ = 1000) and bandwidths whole bytes per millisecond. What ns-3 does
//! instead (`tcp-westwood-plus.cc`) can be chosen point by point.

use backlane_param::{params, words};
use backlane_units::{Duration, Rate, SimTime};

use super::factory::Factory;
use super::{Ack, Arrival, CongestionControl, RttSample, Window, reno};
use crate::recovery::CongestionState;
use crate::stack::Stack;

words! {
    /// How Westwood+ smooths its bandwidth samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Filter {
        /// Two averages of weight 1/8, one after the other.
        Linux = "linux",
        /// ns-3's: `0.9·b + 0.1·(sample + last sample)/2`.
        Tustin = "tustin",
    }
}

words! {
    /// What a sample of the bandwidth is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sample {
        /// What arrived in the larger of the last RTT and 50 ms; the first one is the estimate.
        Linux = "linux",
        /// ns-3's: the packets delivered from an acknowledgment until its RTT has passed, over
        /// that RTT. The next sample starts with the next acknowledgment.
        Rtt = "rtt",
    }
}

words! {
    /// When the window becomes what the bandwidth fills.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Threshold {
        /// At the end of a recovery that began with half the window (Linux); after a timeout at
        /// the next acknowledgment.
        AfterRecovery = "after-recovery",
        /// ns-3's: at the loss.
        AtLoss = "at-loss",
    }
}

params! {
    /// Westwood+ (Grieco and Mascolo 2004).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// How samples of the bandwidth are smoothed: two averages of weight 1/8, or ns-3's 0.9 of
        /// the old and 0.1 of the mean of the last two.
        filter: Filter = Filter::Linux;
        /// What a sample is: what arrived in an RTT and at least 50 ms, or as in ns-3 in one RTT.
        sample: Sample = Sample::Linux;
        /// When the window becomes what the bandwidth fills: at the end of a recovery, or as in
        /// ns-3 at the loss.
        threshold: Threshold = Threshold::AfterRecovery;
    }
}

impl Config {
    /// As ns-3 has it.
    pub const fn ns3() -> Self {
        Self {
            filter: Filter::Tustin,
            sample: Sample::Rtt,
            threshold: Threshold::AtLoss,
        }
    }
}

impl Factory for Config {
    const NAME: &'static str = "westwood";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Westwood::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 | Stack::Ns3Of2016 => Self::ns3(),
            Stack::Linux | Stack::Linux44 | Stack::Linux26 => self,
        }
    }
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
    /// The RTT that the next acknowledgment uses.
    rtt_ms: u64,
    /// The RTT of this acknowledgment, which Linux knows only afterwards.
    next_rtt_ms: u64,
    rtt_min_ms: u64,
    resets_rtt_min: bool,
    /// A loss was reported and the state has not changed since.
    has_new_loss: bool,
    /// Takes hold with the next acknowledgment, before which no rule reads the threshold.
    threshold_after_timeout_pkts: Option<u32>,
    mss_bytes: u64,
    /// The sample under way with [`Sample::Rtt`], in microseconds; `None` until an RTT is known.
    rtt_sample: Option<RttWindow>,
    last_rtt_us: u64,
}

/// A sample over one RTT.
#[derive(Clone, Copy, Debug)]
struct RttWindow {
    end_us: u64,
    length_us: u64,
    delivered_pkts: u64,
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
            has_new_loss: false,
            threshold_after_timeout_pkts: None,
            mss_bytes: 1,
            rtt_sample: None,
            last_rtt_us: 0,
        }
    }

    /// The bandwidth estimate.
    pub fn bandwidth(&self) -> Rate {
        Rate::from_bps(self.bandwidth.saturating_mul(8000))
    }

    /// The smallest RTT, in whole milliseconds; `None` before the first.
    pub fn min_rtt(&self) -> Option<Duration> {
        (self.rtt_min_ms != INITIAL_RTT_MS).then(|| Duration::from_millis(self.rtt_min_ms))
    }

    /// What the bandwidth fills at the smallest RTT.
    fn pipe_pkts(&self) -> u32 {
        let pipe = self.bandwidth.saturating_mul(self.rtt_min_ms) / self.mss_bytes.max(1);
        u32::try_from(pipe).unwrap_or(u32::MAX).max(2)
    }

    fn take_sample(&mut self, sample: u64) {
        // ns-3 starts its filter from zero.
        if !self.has_bandwidth && self.config.sample == Sample::Linux {
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

    /// Ends the sample over one RTT if that has passed.
    fn end_rtt_sample(&mut self, now_us: u64) {
        if let Some(sample) = self.rtt_sample
            && now_us >= sample.end_us
        {
            self.take_sample(sample.delivered_pkts * self.mss_bytes * 1000 / sample.length_us);
            self.rtt_sample = None;
        }
    }

    fn count_over_rtt(&mut self, now_us: u64, delivered_pkts: u32) {
        self.end_rtt_sample(now_us);
        let (last_rtt_us, none) = (self.last_rtt_us, self.rtt_sample.is_none());
        if none && last_rtt_us > 0 {
            self.rtt_sample = Some(RttWindow {
                end_us: now_us + last_rtt_us,
                length_us: last_rtt_us,
                delivered_pkts: 0,
            });
        }
        if let Some(sample) = self.rtt_sample.as_mut() {
            sample.delivered_pkts += u64::from(delivered_pkts);
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
            self.last_rtt_us = u64::from(sample.rtt_us);
        }
    }

    fn on_arrival(&mut self, now: SimTime, arrival: &Arrival, window: &mut Window) {
        if let Some(threshold_pkts) = self.threshold_after_timeout_pkts.take() {
            window.ssthresh_pkts = threshold_pkts;
        }
        self.mss_bytes = u64::from(arrival.mss_bytes);
        match self.config.sample {
            Sample::Linux => {
                self.end_sample(now.as_micros() / 1000);
                // The first acknowledgment only sets where counting starts.
                if self.has_ack {
                    self.sample_bytes += self.count(arrival.acked_bytes);
                }
                self.has_ack = true;
            }
            Sample::Rtt => self.count_over_rtt(now.as_micros(), arrival.delivered_pkts),
        }
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
            reno::grow(window, ack.acked_pkts, ack.mss_bytes);
        }
    }

    fn ssthresh(&mut self, now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        self.end_rtt_sample(now.as_micros());
        match self.config.threshold {
            Threshold::AfterRecovery => reno::half(window),
            Threshold::AtLoss => self.pipe_pkts(),
        }
    }

    fn on_loss(&mut self, _now: SimTime, _window: &mut Window) {
        self.has_new_loss = true;
    }

    /// A timeout that is a loss of its own sets the threshold (`CA_EVENT_LOSS` in
    /// `tcp_enter_loss`); one within a recovery, or a repeated one, does not.
    fn on_timeout(&mut self, _now: SimTime, _lost_pkts: u64) {
        let is_new = std::mem::take(&mut self.has_new_loss);
        if is_new && self.config.threshold == Threshold::AfterRecovery {
            self.threshold_after_timeout_pkts = Some(self.pipe_pkts());
            self.resets_rtt_min = true;
        }
    }

    fn on_state_change(&mut self, _now: SimTime, _state: CongestionState, _snd_nxt: u64) {
        self.has_new_loss = false;
    }

    fn on_recovery_exit(&mut self, _now: SimTime, window: &mut Window) {
        if self.config.threshold == Threshold::AtLoss {
            return;
        }
        window.cwnd_pkts = self.pipe_pkts();
        window.ssthresh_pkts = window.cwnd_pkts;
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
            delivered_pkts: 1,
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
        let now = SimTime::ZERO + Duration::from_secs(seconds);
        let mut window = Window::new(300, 150);
        if config.threshold == Threshold::AtLoss {
            let threshold = westwood.ssthresh(now, &window, 300);
            westwood.on_recovery_exit(now, &mut window);
            assert_eq!(window, Window::new(300, 150));
            return threshold;
        }
        assert_eq!(westwood.ssthresh(now, &window, 300), 150);
        westwood.on_recovery_exit(now, &mut window);
        assert_eq!(window.cwnd_pkts, window.ssthresh_pkts);
        window.cwnd_pkts
    }

    #[test]
    fn after_a_loss_the_window_is_bandwidth_times_the_smallest_rtt() {
        // 40 segments; the integer averages may lose a segment's worth in all.
        let pipe = pipe_after(Config::default(), 20);
        assert!((39..=40).contains(&pipe), "{pipe}");
        let tustin = Config {
            filter: Filter::Tustin,
            ..Config::default()
        };
        let pipe = pipe_after(tustin, 20);
        assert!((39..=40).contains(&pipe), "{pipe}");
    }

    #[test]
    fn in_ns3_the_threshold_is_the_pipe_at_the_loss() {
        let pipe = pipe_after(Config::ns3(), 20);
        assert!((39..=40).contains(&pipe), "{pipe}");
    }

    #[test]
    fn in_ns3_an_rtt_is_a_sample_and_the_filter_starts_from_zero() {
        let mut westwood = Westwood::new(&Config::ns3());
        // From the acknowledgment at 1 ms to 41 ms, that at 41 ms not included: 40 packets of
        // 1448 B in 40 ms; the estimate is 0.9·0 + 0.1·(1448 + 0)/2 = 72.4 B/ms.
        for ms in 1..=40 {
            acknowledge(&mut westwood, ms, 40_000, u64::from(MSS_BYTES));
            assert_eq!(westwood.bandwidth, 0);
        }
        acknowledge(&mut westwood, 41, 40_000, u64::from(MSS_BYTES));
        assert_eq!(westwood.bandwidth, 72);
        // The second sample: (9·72 + 1448)/10.
        for ms in 42..=81 {
            acknowledge(&mut westwood, ms, 40_000, u64::from(MSS_BYTES));
        }
        assert_eq!(westwood.bandwidth, 209);
    }

    #[test]
    fn in_ns3_a_timeout_sets_the_threshold_at_once() {
        let mut westwood = Westwood::new(&Config::ns3());
        for ms in 1..=20_000 {
            acknowledge(&mut westwood, ms, 40_000, u64::from(MSS_BYTES));
        }
        westwood.on_loss(SimTime::ZERO, &mut Window::new(100, 100));
        westwood.on_timeout(SimTime::ZERO, 1);
        let window = acknowledge(&mut westwood, 20_001, 40_000, 1448);
        assert_eq!(window.ssthresh_pkts, 100);
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
        westwood.on_loss(SimTime::ZERO, &mut Window::new(100, 100));
        westwood.on_timeout(SimTime::ZERO, 1);
        westwood.on_state_change(SimTime::ZERO, CongestionState::Loss, 0);
        let window = acknowledge(&mut westwood, 2001, 300_000, 1448);
        assert!((38..=40).contains(&window.ssthresh_pkts), "{window:?}");
        let window = acknowledge(&mut westwood, 2002, 300_000, 1448);
        assert_eq!(window.ssthresh_pkts, 100);
    }

    /// `tcp_enter_loss`: within a recovery or a timeout another timeout is no new loss. Once all
    /// that was outstanding is acknowledged it is one, even if the state is Loss still.
    #[test]
    fn only_a_timeout_that_is_a_new_loss_sets_the_threshold() {
        let threshold = |losses: &dyn Fn(&mut Westwood)| {
            let mut westwood = Westwood::new(&Config::default());
            for ms in 1..=2000 {
                acknowledge(&mut westwood, ms, 40_000, u64::from(MSS_BYTES));
            }
            losses(&mut westwood);
            acknowledge(&mut westwood, 2001, 40_000, 1448).ssthresh_pkts
        };
        let now = SimTime::ZERO;
        let within_recovery = |westwood: &mut Westwood| {
            westwood.on_loss(now, &mut Window::new(100, 100));
            westwood.on_state_change(now, CongestionState::Recovery, 0);
            westwood.on_timeout(now, 1);
            westwood.on_state_change(now, CongestionState::Loss, 0);
        };
        assert_eq!(threshold(&within_recovery), 100);
        let again_in_loss = |westwood: &mut Westwood| {
            within_recovery(westwood);
            westwood.on_loss(now, &mut Window::new(100, 100));
            westwood.on_timeout(now, 2);
        };
        assert!((38..=40).contains(&threshold(&again_in_loss)));
    }

    #[test]
    fn nothing_measured_leaves_two_packets() {
        assert_eq!(Westwood::new(&Config::default()).pipe_pkts(), 2);
    }

    #[test]
    fn its_readings_have_the_units_that_they_name() {
        let mut westwood = Westwood::new(&Config::default());
        // A segment of 1448 bytes a millisecond is 11.584 Mbit/s.
        for ms in 1..=20_000 {
            acknowledge(&mut westwood, ms, 40_000, u64::from(MSS_BYTES));
        }
        assert_eq!(westwood.min_rtt(), Some(Duration::from_millis(40)));
        let mbps = westwood.bandwidth().as_bps() as f64 / 1e6;
        // The integer averages may lose a byte a millisecond each, eight times over.
        assert!((11.45..=11.584).contains(&mbps), "{mbps}");
    }
}
