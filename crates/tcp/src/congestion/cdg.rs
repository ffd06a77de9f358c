//! CDG: backs off at random, the likelier the steeper the RTT rises (Hayes and Armitage,
//! "Revisiting TCP congestion control using delay gradients", Networking 2011), as in Linux.
//!
//! Per round the smallest and the largest RTT are compared with those of the round before; their
//! differences are summed over eight rounds. A reduction for a gradient is β = 0.7 and
//! does not change the *shadow window*, which grows on and limits the reduction at a real loss.
//! After five back-offs without effect there are no more.
//!
//! Differences from the paper, all Linux's: the sum of the gradients is not divided by the
//! rounds, the shadow window is at most twice the window, loss tolerance is off, and slow start
//! ends by a HyStart of its own.

use backlane_param::params;
use backlane_units::SimTime;

use super::draws::Draws;
use super::factory::Factory;
use super::{Ack, Arrival, CongestionControl, RttSample, Window, reno};
use crate::readings::SlowStartEnd;

params! {
    /// CDG (Hayes and Armitage 2011).
    ///
    /// The defaults are Linux's module parameters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Rounds over which the gradients of the RTT are summed.
        ///
        /// Linux: a power of two up to 256; nothing here needs the power of two.
        window_rounds: u32 = 8, in 1..=256;
        /// Share of the window that a back-off leaves, in 1024ths.
        ///
        /// √½; Linux: up to 1024.
        backoff_beta_1024: u32 = 724, in 0..=1024;
        /// How steeply the probability of a back-off rises with the sum: 1000/(G · window_rounds),
        /// with the paper's G = 3.
        ///
        /// From G = 125 to G = 1/8 over eight rounds; the default is G = 2.98.
        backoff_factor: u32 = 42, in 1..=1000;
        /// Back-offs in a row without effect after which there is none; 0 is no limit.
        ///
        /// Hayes and Armitage have 5.
        ineffective_backoffs: u32 = 5, in 0..=65_535;
        /// Whether a loss is answered by the window without the back-offs.
        shadow_window: bool = true;
        /// Whether a loss with a queue that is not full leaves the window alone.
        loss_tolerance: bool = false;
    }
}

impl Factory for Config {
    const NAME: &'static str = "cdg";

    fn build(&self, random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Cdg::new(self, random_seed))
    }
}

/// The extremes of the RTT in a round, or of their gradients, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extremes {
    min_us: i64,
    max_us: i64,
}

impl Extremes {
    /// Whether there was a sample, taken for an RTT.
    const fn is_measured(self) -> bool {
        self.max_us > 0
    }
}

/// Gradients of the last rounds and their sum.
#[derive(Clone, Debug)]
struct Gradients {
    rounds: Vec<Extremes>,
    next: usize,
    is_full: bool,
    sum: Extremes,
}

impl Gradients {
    fn new(window_rounds: u32) -> Self {
        Self {
            rounds: vec![Extremes::default(); window_rounds.max(1) as usize],
            next: 0,
            is_full: false,
            sum: Extremes::default(),
        }
    }

    fn push(&mut self, gradient: Extremes) {
        let oldest = std::mem::replace(&mut self.rounds[self.next], gradient);
        self.sum.min_us += gradient.min_us - oldest.min_us;
        self.sum.max_us += gradient.max_us - oldest.max_us;
        self.next = (self.next + 1) % self.rounds.len();
    }

    /// The sum of the smallest RTT's gradients if it rises, else that of the largest RTT's,
    /// extrapolated to all rounds while some are missing.
    fn summed_us(&mut self) -> i64 {
        let sum_us = if self.sum.min_us > 0 {
            self.sum.min_us
        } else {
            self.sum.max_us
        };
        if self.is_full {
            return sum_us;
        }
        if self.next == 0 {
            self.is_full = true;
            return sum_us;
        }
        sum_us * self.rounds.len() as i64 / self.next as i64
    }
}

/// CDG's estimate of the bottleneck's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Unknown,
    NotFull,
    Full,
}

/// A sum that fell by this much shows that a back-off had an effect (Linux: 32 µs).
const EFFECT_US: i64 = 32;
/// Loss tolerance rounds sums to this, so that small ones count as none (Linux: 64 µs).
const TOLERANCE_US: i64 = 64;
/// Acknowledgments of single packets that are taken for delayed ones, at most.
const DELAYED_ACKS: u32 = 5;

/// CDG's state for one connection.
#[derive(Clone, Debug)]
pub struct Cdg {
    config: Config,
    draws: Draws,
    rtt: Extremes,
    prior_rtt: Extremes,
    gradients: Gradients,
    gradient_us: i64,
    queue: Queue,
    /// The next reduction answers a gradient.
    backs_off: bool,
    wants_reduction: bool,
    backoffs_in_a_row: u32,
    shadow_pkts: u32,
    /// How many acknowledgments of a single packet may yet have been delayed.
    delayed_acks: u32,
    round_end_seq: u64,
    snd_nxt: u64,
    hystart: HyStart,
}

impl Cdg {
    /// A CDG control that draws from the stream of `random_seed`.
    pub fn new(config: &Config, random_seed: u64) -> Self {
        Self {
            config: *config,
            draws: Draws::new(random_seed),
            rtt: Extremes::default(),
            prior_rtt: Extremes::default(),
            gradients: Gradients::new(config.window_rounds),
            gradient_us: 0,
            queue: Queue::Unknown,
            backs_off: false,
            wants_reduction: false,
            backoffs_in_a_row: 0,
            shadow_pkts: 0,
            delayed_acks: 0,
            round_end_seq: 0,
            snd_nxt: 0,
            hystart: HyStart::default(),
        }
    }

    fn start_round(&mut self, snd_nxt: u64) {
        self.round_end_seq = snd_nxt;
        self.prior_rtt = std::mem::take(&mut self.rtt);
    }

    /// Adds the gradient of the round that ends, and updates the state of the queue.
    fn measure_gradient(&mut self) {
        self.gradients.push(Extremes {
            min_us: self.rtt.min_us - self.prior_rtt.min_us,
            max_us: self.rtt.max_us - self.prior_rtt.max_us,
        });
        self.gradient_us = self.gradients.summed_us();
        let sum = self.gradients.sum;
        if sum.min_us <= -EFFECT_US || sum.max_us <= -EFFECT_US {
            self.backoffs_in_a_row = 0;
        }
        if self.config.loss_tolerance {
            // Hayes and Armitage: a full queue holds the largest RTT where it is.
            let min = round_to_tolerance(sum.min_us);
            let max = round_to_tolerance(sum.max_us);
            if min > 0 && max <= 0 {
                self.queue = Queue::Full;
            } else if (min > 0 && max > 0) || max < 0 {
                self.queue = Queue::NotFull;
            }
        }
    }

    /// Draws whether the gradient is answered.
    fn draws_backoff(&mut self) -> bool {
        let exponent = self.gradient_us as f64 * f64::from(self.config.backoff_factor) * 1e-6;
        if self.draws.uniform() >= 1.0 - libm::exp(-exponent) {
            return false;
        }
        let limit = self.config.ineffective_backoffs;
        if limit > 0 {
            self.backoffs_in_a_row = self.backoffs_in_a_row.saturating_add(1);
        }
        limit == 0 || self.backoffs_in_a_row <= limit
    }
}

fn round_to_tolerance(us: i64) -> i64 {
    (us + us.signum() * TOLERANCE_US / 2) / TOLERANCE_US
}

impl CongestionControl for Cdg {
    fn on_established(
        &mut self,
        _now: SimTime,
        srtt_us: u32,
        _mss_bytes: u32,
        window: &mut Window,
    ) {
        self.shadow_pkts = window.cwnd_pkts;
        let rtt_us = i64::from(srtt_us);
        self.rtt = Extremes {
            min_us: rtt_us,
            max_us: rtt_us,
        };
    }

    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, _window: &mut Window) {
        let rtt_us = i64::from(sample.rtt_us);
        // Hayes's filter (CAIA report 100219A): after acknowledgments of several packets one of
        // a single packet was probably delayed, and counts only if it lowers the minimum.
        if sample.sacked_pkts == 0 {
            if sample.covered_pkts == 1 && self.delayed_acks > 0 {
                self.delayed_acks -= 1;
                if self.rtt.is_measured() {
                    self.rtt.min_us = self.rtt.min_us.min(rtt_us);
                }
                return;
            }
            if sample.covered_pkts > 1 && self.delayed_acks < DELAYED_ACKS {
                self.delayed_acks += 1;
            }
        }
        if !self.rtt.is_measured() {
            self.rtt.min_us = rtt_us;
        }
        self.rtt.min_us = self.rtt.min_us.min(rtt_us);
        self.rtt.max_us = self.rtt.max_us.max(rtt_us);
    }

    fn on_arrival(&mut self, _now: SimTime, arrival: &Arrival, _window: &mut Window) {
        self.snd_nxt = arrival.snd_nxt;
    }

    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            self.hystart
                .on_ack(now.as_micros(), self.rtt, ack.is_cwnd_limited, window);
        }
        if ack.snd_una > self.round_end_seq && self.rtt.is_measured() {
            self.gradient_us = 0;
            if self.prior_rtt.is_measured() {
                self.measure_gradient();
            }
            self.start_round(ack.snd_nxt);
            self.hystart.start_round();
            if self.gradient_us > 0 && self.draws_backoff() {
                self.shadow_pkts = self.shadow_pkts.max(window.cwnd_pkts);
                self.backs_off = true;
                self.wants_reduction = true;
                return;
            }
        }
        if !ack.is_cwnd_limited {
            self.shadow_pkts = self.shadow_pkts.min(window.cwnd_pkts);
            return;
        }
        let before_pkts = window.cwnd_pkts;
        reno::grow(window, ack.acked_pkts, ack.mss_bytes);
        self.shadow_pkts = self
            .shadow_pkts
            .saturating_add(window.cwnd_pkts - before_pkts);
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        let window_pkts = window.cwnd_pkts;
        if self.backs_off {
            let kept = u64::from(window_pkts) * u64::from(self.config.backoff_beta_1024) / 1024;
            return (kept as u32).max(2);
        }
        if self.queue == Queue::NotFull {
            return window_pkts;
        }
        self.shadow_pkts = (self.shadow_pkts / 2).min(window_pkts);
        if self.config.shadow_window {
            reno::half(window).max(self.shadow_pkts)
        } else {
            reno::half(window)
        }
    }

    fn take_reduction(&mut self) -> bool {
        std::mem::take(&mut self.wants_reduction)
    }

    fn on_recovery_exit(&mut self, _now: SimTime, _window: &mut Window) {
        self.backs_off = false;
        self.queue = Queue::Unknown;
        self.start_round(self.snd_nxt);
    }

    fn on_idle_restart(&mut self, _now: SimTime, snd_nxt: u64, window: &Window) {
        let draws = self.draws.clone();
        *self = Self {
            draws,
            shadow_pkts: window.cwnd_pkts,
            round_end_seq: snd_nxt,
            snd_nxt,
            ..Self::new(&self.config, 0)
        };
    }
}

/// Acknowledgments closer than this form a train.
const TRAIN_GAP_US: u64 = 3_000;
/// No threshold of either detector is below this.
const LEAST_THRESHOLD_US: i64 = 125;
/// Samples of a round before the delay detector decides.
const MIN_SAMPLES: u32 = 8;

/// CDG's form of HyStart: at any window, with Hayes's filter, a train that restarts when the
/// window does not limit the flow, and a delay threshold without bounds in milliseconds.
#[derive(Clone, Debug, Default)]
struct HyStart {
    delay_min_us: i64,
    train_start_us: u64,
    last_ack_us: Option<u64>,
    samples: u32,
}

impl HyStart {
    fn start_round(&mut self) {
        self.last_ack_us = None;
        self.samples = 0;
    }

    /// Sets the threshold to the window when slow start should end.
    fn on_ack(&mut self, now_us: u64, rtt: Extremes, is_cwnd_limited: bool, window: &mut Window) {
        if rtt.is_measured() && (self.delay_min_us == 0 || rtt.min_us < self.delay_min_us) {
            self.delay_min_us = rtt.min_us;
        }
        if self.delay_min_us == 0 {
            return;
        }
        match self.last_ack_us {
            Some(last_us) if is_cwnd_limited => {
                if now_us < last_us + TRAIN_GAP_US {
                    self.last_ack_us = Some(now_us);
                    let train_us = (now_us - self.train_start_us) as i64;
                    if train_us > (self.delay_min_us / 2).max(LEAST_THRESHOLD_US) {
                        window.leave_slow_start(SlowStartEnd::AckTrain);
                        return;
                    }
                }
            }
            _ => {
                self.last_ack_us = Some(now_us);
                self.train_start_us = now_us;
            }
        }
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else if rtt.min_us > (self.delay_min_us + self.delay_min_us / 8).max(LEAST_THRESHOLD_US) {
            window.leave_slow_start(SlowStartEnd::Delay);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ack, at_ms, sample};
    use super::*;

    fn cdg(config: Config) -> Cdg {
        let mut cdg = Cdg::new(&config, 1);
        cdg.on_established(SimTime::ZERO, 0, 1000, &mut Window::new(100, 50));
        cdg
    }

    fn default_cdg() -> Cdg {
        cdg(Config::default())
    }

    /// One round with these extremes of the RTT.
    fn round(cdg: &mut Cdg, min_us: i64, max_us: i64) {
        cdg.rtt = Extremes { min_us, max_us };
        cdg.measure_gradient();
        cdg.start_round(0);
    }

    /// Rounds whose smallest and largest RTT rise by `step_us` each.
    fn rising(cdg: &mut Cdg, rounds: i64, step_us: i64) {
        cdg.prior_rtt = Extremes {
            min_us: 40_000,
            max_us: 50_000,
        };
        for i in 1..=rounds {
            round(cdg, 40_000 + i * step_us, 50_000 + i * step_us);
        }
    }

    #[test]
    fn a_summed_gradient_of_eight_milliseconds_backs_off_with_28_5_per_cent() {
        let mut cdg = cdg(Config {
            ineffective_backoffs: 0,
            ..Config::default()
        });
        for (gradient_us, probability) in [(1_000, 0.0411), (8_000, 0.2854), (16_000, 0.4893)] {
            cdg.gradient_us = gradient_us;
            let backoffs = (0..100_000).filter(|_| cdg.draws_backoff()).count();
            // Three standard deviations are at most 0.0048.
            let share = backoffs as f64 / 100_000.0;
            assert!(
                (share - probability).abs() < 0.005,
                "{gradient_us}: {share}"
            );
        }
    }

    #[test]
    fn after_five_backoffs_without_effect_there_is_none_until_the_rtt_falls() {
        let mut cdg = default_cdg();
        rising(&mut cdg, 8, 1_000_000); // A back-off is certain.
        let backoffs: Vec<bool> = (0..8).map(|_| cdg.draws_backoff()).collect();
        assert_eq!(
            backoffs,
            [true, true, true, true, true, false, false, false]
        );
        // Sums of −31 µs are no effect, of −32 µs are one.
        for (fall_us, given_up) in [(31, true), (32, false)] {
            let mut cdg = cdg.clone();
            cdg.gradients = Gradients::new(8);
            rising(&mut cdg, 1, -fall_us);
            cdg.gradient_us = 1_000_000;
            assert_eq!(cdg.draws_backoff(), !given_up, "{fall_us}");
        }
    }

    #[test]
    fn the_gradients_of_eight_rounds_are_summed_and_older_ones_forgotten() {
        let mut cdg = default_cdg();
        rising(&mut cdg, 20, 100);
        assert_eq!(cdg.gradient_us, 800);
        let at_us = 40_000 + 20 * 100;
        for _ in 0..7 {
            round(&mut cdg, at_us, 52_000);
        }
        assert_eq!(cdg.gradient_us, 100);
        round(&mut cdg, at_us, 52_000);
        assert_eq!(cdg.gradient_us, 0);
    }

    #[test]
    fn missing_rounds_are_taken_for_like_those_there_are() {
        let mut cdg = default_cdg();
        rising(&mut cdg, 2, 100);
        assert_eq!(cdg.gradient_us, 200 * 8 / 2);
    }

    #[test]
    fn the_largest_rtt_counts_when_the_smallest_does_not_rise() {
        let mut cdg = default_cdg();
        rising(&mut cdg, 8, 0);
        round(&mut cdg, 40_000, 50_500);
        assert_eq!(cdg.gradient_us, 500);
        round(&mut cdg, 40_100, 50_500);
        assert_eq!(cdg.gradient_us, 100);
    }

    #[test]
    fn a_single_packet_after_several_counts_only_for_the_minimum() {
        let mut cdg = default_cdg();
        let mut window = Window::new(10, 5);
        let mut see = |rtt_us, covered_pkts, sacked_pkts| {
            let sample = RttSample {
                sacked_pkts,
                ..sample(rtt_us, covered_pkts)
            };
            cdg.on_rtt_sample(SimTime::ZERO, &sample, &mut window);
            (cdg.rtt.min_us, cdg.rtt.max_us)
        };
        assert_eq!(see(50_000, 2, 0), (50_000, 50_000));
        assert_eq!(see(90_000, 1, 0), (50_000, 50_000)); // Perhaps delayed.
        assert_eq!(see(60_000, 1, 0), (50_000, 60_000)); // Only one was expected.
        assert_eq!(see(61_000, 2, 0), (50_000, 61_000));
        assert_eq!(see(45_000, 1, 0), (45_000, 61_000));
        assert_eq!(see(62_000, 2, 0), (45_000, 62_000));
        assert_eq!(see(95_000, 1, 3), (45_000, 95_000)); // Out of order: acknowledged at once.
    }

    /// A control in congestion avoidance at 100 packets whose next round surely backs off.
    fn about_to_back_off() -> (Cdg, Window) {
        let mut cdg = default_cdg();
        rising(&mut cdg, 8, 1_000_000);
        cdg.rtt = Extremes {
            min_us: 50_000_000,
            max_us: 50_000_000,
        };
        (cdg, Window::new(100, 50))
    }

    fn end_of_round(cdg: &mut Cdg, window: &mut Window) -> bool {
        let ack = Ack {
            snd_una: cdg.round_end_seq + 1,
            snd_nxt: cdg.round_end_seq + 100,
            ..ack(1)
        };
        cdg.on_ack(at_ms(100), &ack, window);
        cdg.take_reduction()
    }

    #[test]
    fn a_backoff_leaves_seven_tenths_and_the_shadow_window_stands() {
        let (mut cdg, mut window) = about_to_back_off();
        assert!(end_of_round(&mut cdg, &mut window));
        assert!(!cdg.take_reduction(), "asked for once");
        assert_eq!(window.cwnd_pkts, 100, "the endpoint shrinks it");
        assert_eq!(cdg.ssthresh(SimTime::ZERO, &window, 100), 70); // 70.7, down.
        assert_eq!(cdg.shadow_pkts, 100);
    }

    #[test]
    fn a_round_without_a_gradient_grows_like_reno() {
        let mut cdg = default_cdg();
        let mut window = Window::new(100, 50);
        cdg.shadow_pkts = 120;
        let sample = sample(50_000, 1);
        for _ in 0..100 {
            cdg.on_rtt_sample(SimTime::ZERO, &sample, &mut window);
            assert!(!end_of_round(&mut cdg, &mut window));
        }
        assert_eq!((window.cwnd_pkts, cdg.shadow_pkts), (101, 121));
    }

    #[test]
    fn after_a_backoff_a_loss_costs_half_the_shadow_window_and_no_less_than_reno() {
        let mut cdg = default_cdg();
        let window = Window::new(70, 70);
        cdg.shadow_pkts = 100;
        assert_eq!(cdg.ssthresh(SimTime::ZERO, &window, 70), 50);
        cdg.shadow_pkts = 60;
        assert_eq!(cdg.ssthresh(SimTime::ZERO, &window, 70), 35);
        // At most the window itself.
        cdg.shadow_pkts = 400;
        assert_eq!(cdg.ssthresh(SimTime::ZERO, &window, 70), 70);
        assert_eq!(cdg.shadow_pkts, 70);
    }

    #[test]
    fn without_the_shadow_window_a_loss_costs_half() {
        let mut cdg = cdg(Config {
            shadow_window: false,
            ..Config::default()
        });
        cdg.shadow_pkts = 100;
        assert_eq!(cdg.ssthresh(SimTime::ZERO, &Window::new(70, 70), 70), 35);
    }

    #[test]
    fn the_shadow_window_of_a_flow_that_the_application_limits_is_the_window() {
        let mut cdg = default_cdg();
        let mut window = Window::new(70, 50);
        cdg.shadow_pkts = 100;
        let ack = Ack {
            is_cwnd_limited: false,
            ..ack(1)
        };
        cdg.on_ack(SimTime::ZERO, &ack, &mut window);
        assert_eq!((window.cwnd_pkts, cdg.shadow_pkts), (70, 70));
    }

    #[test]
    fn tolerance_keeps_the_window_through_a_loss_unless_the_queue_seems_full() {
        let tolerant = || {
            cdg(Config {
                loss_tolerance: true,
                ..Config::default()
            })
        };
        let window = Window::new(100, 50);
        // Both extremes rise: the queue fills, but is not full.
        let mut filling = tolerant();
        rising(&mut filling, 8, 100);
        assert_eq!(filling.ssthresh(SimTime::ZERO, &window, 100), 100);
        // The largest stays while the smallest rises: full. 31 µs count as none.
        let mut full = tolerant();
        full.prior_rtt = Extremes {
            min_us: 40_000,
            max_us: 90_000,
        };
        round(&mut full, 45_000, 90_031);
        assert_eq!(full.queue, Queue::Full);
        assert_eq!(full.ssthresh(SimTime::ZERO, &window, 100), 50);
        let mut intolerant = default_cdg();
        rising(&mut intolerant, 8, 100);
        assert_eq!(intolerant.ssthresh(SimTime::ZERO, &window, 100), 50);
    }

    #[test]
    fn the_end_of_a_reduction_starts_a_round_without_a_gradient() {
        let (mut cdg, mut window) = about_to_back_off();
        cdg.backs_off = true;
        let arrival = Arrival {
            snd_nxt: 777,
            ..Arrival::default()
        };
        cdg.on_arrival(SimTime::ZERO, &arrival, &mut window);
        cdg.on_recovery_exit(SimTime::ZERO, &mut window);
        assert_eq!((cdg.backs_off, cdg.round_end_seq), (false, 777));
        assert_eq!(cdg.prior_rtt.max_us, 50_000_000);
        assert!(!cdg.rtt.is_measured());
    }

    #[test]
    fn an_idle_restart_forgets_all_but_the_stream_of_draws() {
        let (mut cdg, window) = about_to_back_off();
        let next = cdg.draws.clone().uniform();
        cdg.on_idle_restart(SimTime::ZERO, 5_000, &window);
        assert_eq!((cdg.round_end_seq, cdg.shadow_pkts), (5_000, 100));
        assert_eq!(cdg.gradients.sum, Extremes::default());
        assert!(!cdg.prior_rtt.is_measured());
        assert_eq!(cdg.draws.uniform().to_bits(), next.to_bits());
    }

    /// The time into a round at which HyStart ended slow start, for acknowledgments every
    /// `gap_us` with this RTT over a smallest one of 40 ms.
    fn exit_us(gap_us: u64, rtt_us: i64, limited: impl Fn(u64) -> bool) -> Option<u64> {
        let mut hystart = HyStart {
            delay_min_us: 40_000,
            ..HyStart::default()
        };
        let mut window = Window::new(5, u32::MAX);
        let rtt = Extremes {
            min_us: rtt_us,
            max_us: rtt_us,
        };
        (0..100).find_map(|i| {
            hystart.on_ack(1_000_000 + i * gap_us, rtt, limited(i), &mut window);
            (!window.in_slow_start()).then_some(i * gap_us)
        })
    }

    #[test]
    fn a_train_longer_than_half_the_smallest_rtt_ends_slow_start_at_any_window() {
        assert_eq!(exit_us(500, 40_000, |_| true), Some(20_500));
        assert_eq!(exit_us(3_000, 40_000, |_| true), None);
        // A pause of the application after 10 ms restarts the train.
        assert_eq!(exit_us(500, 40_000, |i| i != 20), Some(10_000 + 20_500));
    }

    #[test]
    fn a_delay_of_an_eighth_ends_slow_start_at_the_ninth_sample() {
        assert_eq!(exit_us(3_000, 45_001, |_| true), Some(8 * 3_000));
        assert_eq!(exit_us(3_000, 45_000, |_| true), None);
    }

    /// Four samples of one round and four of the next are not eight of one.
    #[test]
    fn the_samples_of_a_delay_are_of_one_round() {
        let mut hystart = HyStart {
            delay_min_us: 40_000,
            ..HyStart::default()
        };
        let mut window = Window::new(5, u32::MAX);
        let late = Extremes {
            min_us: 60_000,
            max_us: 60_000,
        };
        let mut at_us = 1_000_000;
        for _ in 0..3 {
            hystart.start_round();
            for _ in 0..MIN_SAMPLES {
                at_us += 3_000;
                hystart.on_ack(at_us, late, true, &mut window);
                assert!(window.in_slow_start());
            }
        }
        hystart.on_ack(at_us + 3_000, late, true, &mut window);
        assert!(!window.in_slow_start());
    }
}
