//! CUBIC (RFC 9438) in the integer form of Linux.
//!
//! Window in packets, time in 1024ths of a second read from a millisecond clock (HZ = 1000),
//! β and C in 1024ths, so that 0.7 is 717/1024 and 0.4 is 410/1024. Known differences from
//! RFC 9438, all Linux's: the Reno-friendly slope stays 8/15 (with β = 0.7), the target is not
//! clamped to 1.5 windows but the growth to one packet per two acknowledged, and the threshold
//! follows from the window and not from the flight.

use backlane_param::{params, words};
use backlane_units::{Duration, SimTime};

use super::cube_root;
use super::factory::Factory;
use super::hystart::{Detector, HyStart};
use super::hystart_plus_plus::HyStartPlusPlus;
use super::{Ack, CongestionControl, RttSample, Window};
use crate::recovery::CongestionState;
use crate::stack::Stack;

words! {
    /// What CUBIC's growth counts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Counts {
        /// Slow start by `growth` of `[tcp]`, and packets above the threshold: Linux in any
        /// version (before 4.0 it estimates how many packets an acknowledgment covers).
        #[default]
        Tcp = "tcp",
        /// Packets in either, as in ns-3 3.37.
        Packets = "packets",
        /// Acknowledgments in either, as in the ns-3 of 2016.
        Acknowledgments = "acknowledgments",
    }
}

params! {
    /// CUBIC (RFC 9438).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// Share of the window that a loss leaves, in steps of 1/1024 (RFC 9438 §4.6).
        ///
        /// β. No range is published; 0.5 is Reno's.
        beta: f64 = 0.7, in 0.1..=0.95;
        /// How steep the curve is, in packets per second cubed, in steps of 1/1024.
        ///
        /// No range is published; RFC 8312 §5.1 compares 0.04, 0.4 and 4.
        c: f64 = 0.4, in 0.01..=10.0;
        /// How slow start ends: as in Linux since 5.6, as before, as in ns-3, by HyStart++ (RFC
        /// 9406), or only by loss.
        hystart: HyStart = HyStart::LinuxCurrent;
        /// Whether a flow that lost before it regained its peak gives way (RFC 9438 §4.7).
        fast_convergence: bool = true;
        /// Whether the window is at least Reno's (RFC 9438 §4.3).
        ///
        /// ns-3 has it since 3.41 or so; 3.37 does not.
        reno_friendly: bool = true;
        /// Whether a loss reduces the window, and not what is in flight, as in ns-3 3.37; it takes
        /// precedence over threshold_from of [tcp].
        reduces_window: bool = false;
        /// What growth counts: in slow start what growth of [tcp] says and packets above, packets,
        /// or acknowledgements.
        counts: Counts = Counts::Tcp;
        /// How long after a loss RTT samples do not count, since they see the queue of before: 1 s
        /// in Linux, 10 ms in ns-3.
        quiet_time: Duration = Duration::from_secs(1), in Duration::ZERO..=Duration::from_secs(10);
        /// Whether the time to the peak is the exact cube root, as in ns-3, and not that of Linux's
        /// table, which is up to 0.2 % off.
        exact_cube_root: bool = false;
    }
}

impl Config {
    /// As ns-3 3.37 has it: its own HyStart, no Reno-friendly window.
    pub fn ns3() -> Self {
        Self {
            hystart: HyStart::Ns3,
            reno_friendly: false,
            reduces_window: true,
            counts: Counts::Packets,
            quiet_time: Duration::from_millis(10),
            exact_cube_root: true,
            ..Self::default()
        }
    }

    /// As the fork of 2016 has it: a fifth of the window at a loss, no HyStart.
    pub fn ns3_of_2016() -> Self {
        Self {
            beta: 0.8,
            hystart: HyStart::Off,
            reduces_window: false,
            counts: Counts::Acknowledgments,
            ..Self::ns3()
        }
    }
}

impl Factory for Config {
    const NAME: &'static str = "cubic";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Cubic::new(self))
    }

    fn of(self, stack: Stack) -> Self {
        match stack {
            Stack::Ns3 => Self::ns3(),
            Stack::Ns3Of2016 => Self::ns3_of_2016(),
            // HyStart's present form is that of 5.6.
            Stack::Linux44 | Stack::Linux26 => Self {
                hystart: HyStart::LinuxLegacy,
                ..self
            },
            Stack::Linux => self,
        }
    }
}

const TICK_US: u64 = 1000;
const TICKS_PER_S: u64 = 1000;

/// CUBIC's state for one connection. Ticks are milliseconds.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: Config,
    /// β in 1024ths.
    beta_1024: u64,
    /// C in 1024ths of a packet per second cubed.
    c_1024: u64,
    /// The Reno-friendly window grows by one packet per `window` times this many eighths
    /// acknowledged: (1+β)/(3(1−β)), 15/8 in integers where β is 0.7.
    reno_friendly_eighths: u32,
    hystart: Detector,
    hystart_plus_plus: HyStartPlusPlus,
    /// The window just before the last loss (W_max).
    w_max_pkts: u32,
    /// The plateau of the present epoch.
    origin_pkts: u32,
    /// K in 1024ths of a second.
    k_1024: u64,
    /// `None`: the next acknowledgment starts an epoch.
    epoch_start_tick: Option<u64>,
    last_window_pkts: u32,
    last_update_tick: u64,
    /// Packets to be acknowledged per packet of growth.
    per_pkts: u32,
    acked_pkts: u32,
    w_est_pkts: u32,
    /// The smallest RTT seen outside the quiet time after a loss; 0: none yet.
    delay_min_us: u64,
    quiet_ticks: u64,
}

impl Cubic {
    /// A CUBIC control.
    pub fn new(config: &Config) -> Self {
        let of_1024 = |value: f64| libm::round(value * 1024.0) as u64;
        let beta_1024 = of_1024(config.beta).clamp(1, 1023);
        Self {
            config: *config,
            beta_1024,
            c_1024: of_1024(config.c).max(1),
            reno_friendly_eighths: (8 * (1024 + beta_1024) / 3 / (1024 - beta_1024)) as u32,
            hystart: Detector::new(config.hystart),
            hystart_plus_plus: HyStartPlusPlus::new(),
            w_max_pkts: 0,
            origin_pkts: 0,
            k_1024: 0,
            epoch_start_tick: None,
            last_window_pkts: 0,
            last_update_tick: 0,
            per_pkts: 0,
            acked_pkts: 0,
            w_est_pkts: 0,
            delay_min_us: 0,
            quiet_ticks: config.quiet_time.as_micros() / TICK_US,
        }
    }

    /// The time from the start of the epoch to the plateau: K.
    pub fn k(&self) -> Duration {
        Duration::from_micros(self.k_1024 * 1_000_000 / 1024)
    }

    fn start_epoch(&mut self, tick: u64, window_pkts: u32, acked_pkts: u32) {
        self.epoch_start_tick = Some(tick);
        self.acked_pkts = acked_pkts;
        self.w_est_pkts = window_pkts;
        if self.w_max_pkts <= window_pkts {
            self.k_1024 = 0;
            self.origin_pkts = window_pkts;
        } else {
            // K = cbrt((W_max − W) / C), with the cube in units of 1024⁻³ s³.
            let cube = ((1 << 40) / self.c_1024) * u64::from(self.w_max_pkts - window_pkts);
            self.k_1024 = if self.config.exact_cube_root {
                cube_root::exact(cube)
            } else {
                cube_root::linux(cube)
            };
            self.origin_pkts = self.w_max_pkts;
        }
    }

    /// The window CUBIC aims at one RTT from `tick` (RFC 9438 §4.2).
    fn target(&self, tick: u64, epoch_start_tick: u64) -> u32 {
        let ticks = tick - epoch_start_tick + self.delay_min_us.div_ceil(TICK_US);
        let t_1024 = (ticks << 10) / TICKS_PER_S;
        let offset = t_1024.abs_diff(self.k_1024);
        let cube = u128::from(self.c_1024) * u128::from(offset).pow(3);
        let delta = u32::try_from(cube >> 40).unwrap_or(u32::MAX);
        if t_1024 < self.k_1024 {
            self.origin_pkts.saturating_sub(delta)
        } else {
            self.origin_pkts.saturating_add(delta)
        }
    }

    fn update(&mut self, now: SimTime, window_pkts: u32, acked_pkts: u32) {
        let tick = now.as_micros() / TICK_US;
        self.acked_pkts += acked_pkts;
        let since_update = tick - self.last_update_tick.min(tick);
        if self.last_window_pkts == window_pkts && since_update <= TICKS_PER_S / 32 {
            return;
        }
        // The curve is evaluated once per tick.
        if self.epoch_start_tick.is_none() || since_update != 0 {
            self.last_window_pkts = window_pkts;
            self.last_update_tick = tick;
            if self.epoch_start_tick.is_none() {
                self.start_epoch(tick, window_pkts, acked_pkts);
            }
            let target = self.target(tick, self.epoch_start_tick.unwrap_or(tick));
            self.per_pkts = if target > window_pkts {
                window_pkts / (target - window_pkts)
            } else {
                window_pkts.saturating_mul(100)
            };
            // Before the first loss at least 5 % per RTT.
            if self.w_max_pkts == 0 {
                self.per_pkts = self.per_pkts.min(20);
            }
        }
        if self.config.reno_friendly {
            let per_w_est = (window_pkts.saturating_mul(self.reno_friendly_eighths) >> 3).max(1);
            if self.acked_pkts > per_w_est {
                // One packet for each full `per_w_est`, the last one kept as credit.
                let packets = (self.acked_pkts - 1) / per_w_est;
                self.acked_pkts -= packets * per_w_est;
                self.w_est_pkts += packets;
            }
            if self.w_est_pkts > window_pkts {
                self.per_pkts = self
                    .per_pkts
                    .min(window_pkts / (self.w_est_pkts - window_pkts));
            }
        }
        self.per_pkts = self.per_pkts.max(2);
    }
}

impl CongestionControl for Cubic {
    fn on_rtt_sample(&mut self, now: SimTime, sample: &RttSample, window: &mut Window) {
        let now_us = now.as_micros();
        // Samples soon after a loss see the queue of before.
        if let Some(start) = self.epoch_start_tick
            && now_us / TICK_US - start < self.quiet_ticks
        {
            return;
        }
        let rtt_us = u64::from(sample.rtt_us.max(1));
        if self.delay_min_us == 0 || self.delay_min_us > rtt_us {
            self.delay_min_us = rtt_us;
        }
        self.hystart
            .on_rtt_sample(now_us, sample, self.delay_min_us, window);
        if self.config.hystart == HyStart::Rfc9406 {
            self.hystart_plus_plus.on_rtt_sample(sample, window);
        }
    }

    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut left = match self.config.counts {
            Counts::Tcp | Counts::Packets => ack.acked_pkts,
            Counts::Acknowledgments => ack.acked_pkts.min(1),
        };
        if window.in_slow_start() {
            self.hystart
                .on_ack(now.as_micros(), ack.snd_una, ack.snd_nxt);
            left = if self.config.hystart == HyStart::Rfc9406 {
                self.hystart_plus_plus.grow(left, window)
            } else if self.config.counts == Counts::Packets {
                window.slow_start_by_packets(left)
            } else {
                window.slow_start(left)
            };
            if left == 0 {
                return;
            }
        }
        self.update(now, window.cwnd_pkts, left);
        window.increase_by_packets(self.per_pkts, left);
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        self.epoch_start_tick = None;
        let window_pkts = u64::from(window.cwnd_pkts);
        self.w_max_pkts = if window.cwnd_pkts < self.w_max_pkts && self.config.fast_convergence {
            (window_pkts * (1024 + self.beta_1024) / 2048) as u32
        } else {
            window.cwnd_pkts
        };
        ((window_pkts * self.beta_1024 / 1024) as u32).max(2)
    }

    /// The threshold is a share of the flight (RFC 9438 §4.6); the peak to grow back to is the
    /// window (§4.7).
    fn ssthresh_of_flight(
        &mut self,
        now: SimTime,
        window: &Window,
        flight_pkts: u32,
        in_flight_pkts: u32,
    ) -> u32 {
        self.ssthresh(now, window, in_flight_pkts);
        ((u64::from(flight_pkts) * self.beta_1024 / 1024) as u32).max(2)
    }

    fn reduces_window(&self) -> bool {
        self.config.reduces_window
    }

    fn on_state_change(&mut self, now: SimTime, state: CongestionState, snd_nxt: u64) {
        if state == CongestionState::Loss {
            *self = Self::new(&self.config);
            self.hystart.start_round(now.as_micros(), snd_nxt);
        }
    }

    /// An epoch does not run while the application has nothing to send (RFC 9438 §4.2).
    fn on_transmit_start(&mut self, now: SimTime, idle: Duration, _snd_nxt: u64) {
        if let Some(start) = self.epoch_start_tick.as_mut() {
            let tick = now.as_micros() / TICK_US;
            *start = (*start + idle.as_micros() / TICK_US).min(tick);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Growth;

    /// A CUBIC that just lost at 100 packets, with no RTT to look ahead.
    fn after_a_loss_at_100() -> Cubic {
        let mut cubic = Cubic::new(&Config::default());
        let threshold = cubic.ssthresh(SimTime::ZERO, &Window::new(100, 50), 100);
        assert_eq!(threshold, 70);
        cubic.start_epoch(0, 70, 1);
        cubic
    }

    /// RFC 9438 §4.6 and §4.7: ssthresh is β times the flight, W_max the window.
    #[test]
    fn of_a_flight_below_the_window_the_threshold_is_a_share_and_the_window_is_the_peak() {
        let mut cubic = Cubic::new(&Config::default());
        let window = Window::new(100, 50);
        let threshold = cubic.ssthresh_of_flight(SimTime::ZERO, &window, 60, 60);
        assert_eq!((threshold, cubic.w_max_pkts), (42, 100));
    }

    #[test]
    fn k_is_the_time_back_to_the_peak() {
        // K = cbrt(30 / 0.4004) s = 4.2153 s; RFC 9438 with C = 0.4: 4.217 s.
        let k_s = after_a_loss_at_100().k_1024 as f64 / 1024.0;
        assert!((k_s - 4.215).abs() < 0.001, "{k_s}");
    }

    #[test]
    fn the_usual_parameters_are_linux_s_integers() {
        let cubic = Cubic::new(&Config::default());
        assert_eq!((cubic.beta_1024, cubic.c_1024), (717, 410));
        assert_eq!(cubic.reno_friendly_eighths, 15);
    }

    #[test]
    fn other_parameters_move_the_loss_the_curve_and_the_friendly_slope() {
        let mut cubic = Cubic::new(&Config {
            beta: 0.5,
            c: 4.0,
            ..Config::default()
        });
        assert_eq!(cubic.ssthresh(SimTime::ZERO, &Window::new(100, 50), 0), 50);
        cubic.start_epoch(0, 50, 1);
        // K = cbrt(50/4) = 2.321 s.
        let k_s = cubic.k_1024 as f64 / 1024.0;
        assert!((k_s - 2.321).abs() < 0.001, "{k_s}");
        // 1 s: 100 − 4·1.321³ = 90.8.
        assert_eq!(cubic.target(1000, 0), 91);
        // With β = 1/2 the slope is Reno's: 3(1−β)/(1+β) = 1.
        assert_eq!(cubic.reno_friendly_eighths, 8);
    }

    #[test]
    fn the_curve_is_concave_below_the_peak_and_convex_above() {
        let cubic = after_a_loss_at_100();
        // W(2 s) = 95.64, W(6 s) = 102.27; the offset is truncated towards the origin.
        assert_eq!(cubic.target(2000, 0), 96);
        assert_eq!(cubic.target(6000, 0), 102);
        assert_eq!(cubic.target(cubic.k_1024 * 1000 / 1024, 0), 100);
    }

    #[test]
    fn fast_convergence_gives_up_fifteen_percent_of_the_peak() {
        let mut cubic = after_a_loss_at_100();
        cubic.ssthresh(SimTime::ZERO, &Window::new(80, 70), 80);
        assert_eq!(cubic.w_max_pkts, 68);
    }

    #[test]
    fn before_the_first_loss_the_window_grows_five_percent_per_round() {
        let mut cubic = Cubic::new(&Config::default());
        cubic.update(SimTime::from_ps(1_000_000_000_000), 1000, 1);
        assert_eq!(cubic.per_pkts, 20);
    }

    #[test]
    fn the_window_never_grows_faster_than_one_packet_for_two() {
        let mut cubic = after_a_loss_at_100();
        cubic.update(SimTime::from_ps(60_000_000_000_000), 100, 1);
        assert_eq!(cubic.per_pkts, 2);
    }

    #[test]
    fn the_reno_friendly_window_gains_eight_fifteenths_per_round() {
        let mut cubic = Cubic::new(&Config::default());
        cubic.ssthresh(SimTime::ZERO, &Window::new(100, 50), 100);
        let mut w_est = Vec::new();
        for round in 0..20 {
            // 80 packets acknowledged per round; a window that changes is always evaluated.
            let now = SimTime::ZERO + Duration::from_millis(40 * (round + 1));
            cubic.update(now, 80, 80);
            w_est.push(cubic.w_est_pkts);
        }
        // 20 rounds · 80 / 150 = 10.67, the first one opens the epoch.
        assert_eq!(w_est.last().copied(), Some(90));
    }

    #[test]
    fn a_timeout_forgets_everything() {
        let mut cubic = after_a_loss_at_100();
        cubic.on_state_change(SimTime::ZERO, CongestionState::Loss, 0);
        assert_eq!((cubic.w_max_pkts, cubic.epoch_start_tick), (0, None));
    }

    /// `cubictcp_state`: the round of HyStart after a timeout begins at once and ends with what had
    /// been sent. The first acknowledgment comes an RTT later, too late for a train, so that only
    /// the next round has one: longer than (40 ms + 1 ms)/2.
    #[test]
    fn after_a_timeout_a_round_of_hystart_lasts_until_all_is_acknowledged() {
        let start = SimTime::ZERO + Duration::from_secs(5);
        let mut cubic = Cubic::new(&Config::default());
        cubic.on_state_change(start, CongestionState::Loss, 100_000);
        let mut train_ms = |from_ms: u64, snd_una: u64| {
            let mut window = Window::new(50, u32::MAX);
            (0..35).find(|ms| {
                let sample = RttSample {
                    rtt_us: 40_000,
                    srtt_us: 40_000,
                    packets_out_pkts: 50,
                    snd_una,
                    snd_nxt: 200_000,
                    mss_bytes: 1000,
                    ..RttSample::default()
                };
                let now = start + Duration::from_millis(from_ms + ms);
                cubic.on_rtt_sample(now, &sample, &mut window);
                !window.in_slow_start()
            })
        };
        assert_eq!(train_ms(40, 100_000), None);
        assert_eq!(train_ms(80, 100_001), Some(21));
    }

    #[test]
    fn an_idle_time_moves_the_epoch() {
        let mut cubic = after_a_loss_at_100();
        let now = SimTime::ZERO + Duration::from_secs(5);
        cubic.on_transmit_start(now, Duration::from_secs(3), 0);
        assert_eq!(cubic.epoch_start_tick, Some(3000));
    }

    /// Five acknowledgments of two packets in a stack that grows by acknowledgments: ten packets in
    /// ns-3 3.37, which counts packets, five in the fork of 2016 and in Linux 2.6.
    #[test]
    fn slow_start_counts_packets_or_acknowledgments() {
        let grown = |config: Config, growth| {
            let mut cubic = Cubic::new(&config);
            let mut window = Window::new(10, 1000).growing_by(growth);
            for _ in 0..5 {
                let ack = Ack {
                    acked_pkts: 2,
                    is_cwnd_limited: true,
                    ..Ack::default()
                };
                cubic.on_ack(SimTime::ZERO, &ack, &mut window);
            }
            window.cwnd_pkts - 10
        };
        assert_eq!(grown(Config::ns3(), Growth::Ns3), 10);
        assert_eq!(grown(Config::ns3_of_2016(), Growth::Ns3), 5);
        assert_eq!(grown(Config::default(), Growth::Acknowledgments), 5);
        assert_eq!(grown(Config::default(), Growth::Packets), 10);
    }

    /// A sample 20 ms into an epoch is too early for Linux and not for ns-3.
    #[test]
    fn samples_of_the_quiet_time_do_not_count() {
        let smallest_us = |config: Config| {
            let mut cubic = Cubic::new(&config);
            cubic.delay_min_us = 50_000;
            cubic.start_epoch(0, 70, 1);
            let sample = RttSample {
                rtt_us: 40_000,
                ..RttSample::default()
            };
            let now = SimTime::ZERO + Duration::from_millis(20);
            cubic.on_rtt_sample(now, &sample, &mut Window::new(70, 70));
            cubic.delay_min_us
        };
        assert_eq!(smallest_us(Config::default()), 50_000);
        assert_eq!(smallest_us(Config::ns3()), 40_000);
    }

    /// From 100 packets below the peak: 6451/1024 s by Linux's table, 6448/1024 s exactly
    /// (100/0.4004 s³ = 6.297³).
    #[test]
    fn the_time_to_the_peak_is_that_of_linux_s_table_or_exact() {
        let k_1024 = |config: Config| {
            let mut cubic = Cubic::new(&config);
            cubic.w_max_pkts = 300;
            cubic.start_epoch(0, 200, 1);
            cubic.k_1024
        };
        assert_eq!(k_1024(Config::default()), 6451);
        assert_eq!(k_1024(Config::ns3()), 6448);
    }
}
