//! LEDBAT: a background flow that holds the delay it adds at a target (RFC 6817).
//!
//! The delay is one-way, from timestamps; the clocks of the ends need not agree. Without
//! timestamps no delay is seen, and the window grows by a packet per RTT. The RFC's window is in
//! bytes, here it is in packets with a fraction beside it. There is no slow start: the RFC's
//! window follows its law from the initial window on.

use backlane_param::params;
use backlane_units::{Duration, SimTime};

use super::factory::Factory;
use super::{Ack, Arrival, CongestionControl, Window};

params! {
    /// LEDBAT (RFC 6817).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// The queueing delay aimed at; RFC 6817 allows at most 100 ms.
        ///
        /// TARGET.
        target: Duration = Duration::from_millis(100),
            in Duration::from_micros(100)..=Duration::from_millis(100);
        /// Packets per round trip that the window gains without a queue; at most 1 (RFC 6817).
        ///
        /// GAIN. At twice the target the window loses as many.
        gain: f64 = 1.0, in 0.001..=1.0;
        /// Minutes for which the smallest delay is remembered.
        ///
        /// `BASE_HISTORY`. No range is published.
        base_history_minutes: u32 = 10, in 1..=1000;
        /// Samples of which the smallest is the present delay.
        ///
        /// `CURRENT_FILTER`. No range is published.
        current_filter: u32 = 4, in 1..=1000;
        /// Packets by which the window may exceed the flight.
        ///
        /// `ALLOWED_INCREASE`. No range is published.
        allowed_increase_pkts: u32 = 1, in 1..=1000;
        /// The smallest window.
        ///
        /// `MIN_CWND`. No range is published.
        min_window_pkts: u32 = 2, in 1..=1000;
    }
}

impl Factory for Config {
    const NAME: &'static str = "ledbat";

    fn build(&self, _random_seed: u64) -> Box<dyn CongestionControl> {
        Box::new(Ledbat::new(self))
    }
}

const MINUTE_US: u64 = 60_000_000;

/// LEDBAT's state for one connection. Delays are in microseconds, with an unknown offset.
#[derive(Clone, Debug)]
pub struct Ledbat {
    config: Config,
    /// The smallest delay of each minute, the present one last.
    base_us: Vec<i64>,
    base_minute: u64,
    /// The last samples, the newest last.
    current_us: Vec<i64>,
    /// What has not yet moved the window by a whole packet.
    fraction_pkts: f64,
}

impl Ledbat {
    /// A LEDBAT control.
    pub fn new(config: &Config) -> Self {
        Self {
            config: *config,
            base_us: Vec::new(),
            base_minute: 0,
            current_us: Vec::new(),
            fraction_pkts: 0.0,
        }
    }

    /// RFC 6817 §2.4.2, `update_base_delay` and `update_current_delay`.
    fn add_sample(&mut self, now: SimTime, delay_us: i64) {
        let minute = now.as_micros() / MINUTE_US;
        match self.base_us.last_mut() {
            Some(least_us) if minute == self.base_minute => *least_us = delay_us.min(*least_us),
            _ => push_bounded(
                &mut self.base_us,
                delay_us,
                self.config.base_history_minutes,
            ),
        }
        self.base_minute = minute;
        push_bounded(&mut self.current_us, delay_us, self.config.current_filter);
    }

    fn queueing_delay_us(&self) -> i64 {
        match (self.current_us.iter().min(), self.base_us.iter().min()) {
            (Some(current_us), Some(base_us)) => current_us - base_us,
            _ => 0,
        }
    }
}

fn push_bounded(samples: &mut Vec<i64>, sample: i64, limit: u32) {
    if samples.len() >= limit as usize {
        samples.remove(0);
    }
    samples.push(sample);
}

impl CongestionControl for Ledbat {
    fn on_arrival(&mut self, now: SimTime, arrival: &Arrival, _window: &mut Window) {
        if let Some(delay_us) = arrival.one_way_delay_us {
            self.add_sample(now, delay_us);
        }
    }

    /// RFC 6817 §2.4.2: w += GAIN · `off_target` · acked/w, at most what was in flight and
    /// `ALLOWED_INCREASE`.
    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        let target_us = self.config.target.as_micros() as f64;
        let off_target = 1.0 - self.queueing_delay_us() as f64 / target_us;
        let window_pkts = f64::from(window.cwnd_pkts) + self.fraction_pkts;
        let gain_pkts = self.config.gain * off_target * f64::from(ack.acked_pkts) / window_pkts;
        let most_pkts = ack
            .prior_in_flight_pkts
            .saturating_add(self.config.allowed_increase_pkts);
        let window_pkts = (window_pkts + gain_pkts)
            .min(f64::from(most_pkts))
            .max(f64::from(self.config.min_window_pkts));
        window.cwnd_pkts = window_pkts as u32;
        self.fraction_pkts = window_pkts - f64::from(window.cwnd_pkts);
    }

    /// RFC 6817 §2.4.2, `on_data_loss`: half, but no less than `MIN_CWND`.
    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        self.fraction_pkts = 0.0;
        let half_pkts = (window.cwnd_pkts / 2).max(self.config.min_window_pkts);
        half_pkts.min(window.cwnd_pkts).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ack, at_ms};
    use super::*;

    fn ledbat() -> Ledbat {
        Ledbat::new(&Config::default())
    }

    /// Sees a delay over clocks that differ by an hour.
    fn see(ledbat: &mut Ledbat, now: SimTime, delay_ms: i64) {
        let arrival = Arrival {
            one_way_delay_us: Some((delay_ms - 3_600_000) * 1000),
            ..Arrival::default()
        };
        ledbat.on_arrival(now, &arrival, &mut Window::new(10, 5));
    }

    /// One RTT of a window of 100 packets at this queueing delay: what the window gained.
    fn gain(delay_ms: i64) -> f64 {
        let mut ledbat = ledbat();
        see(&mut ledbat, SimTime::ZERO, 20);
        for _ in 0..4 {
            see(&mut ledbat, SimTime::ZERO, 20 + delay_ms);
        }
        let mut window = Window::new(100, u32::MAX);
        for _ in 0..100 {
            let ack = Ack {
                prior_in_flight_pkts: window.cwnd_pkts + 1,
                ..ack(1)
            };
            ledbat.on_ack(SimTime::ZERO, &ack, &mut window);
        }
        f64::from(window.cwnd_pkts) + ledbat.fraction_pkts - 100.0
    }

    #[test]
    fn a_round_gains_a_packet_without_a_queue_and_nothing_at_the_target() {
        // The window moves by up to a packet meanwhile, and with it the gain by 1 %.
        for (delay_ms, expected) in [(0, 1.0), (50, 0.5), (100, 0.0), (200, -1.0), (400, -3.0)] {
            let gained = gain(delay_ms);
            assert!((gained - expected).abs() < 0.06, "{delay_ms}: {gained}");
        }
    }

    #[test]
    fn the_present_delay_is_the_smallest_of_four_samples() {
        let mut ledbat = ledbat();
        for (delay_ms, queueing_ms) in [(20, 0), (90, 0), (80, 0), (70, 0), (60, 40), (95, 40)] {
            see(&mut ledbat, SimTime::ZERO, delay_ms);
            assert_eq!(ledbat.queueing_delay_us(), queueing_ms * 1000, "{delay_ms}");
        }
    }

    #[test]
    fn the_base_delay_is_forgotten_after_ten_minutes() {
        let mut ledbat = ledbat();
        see(&mut ledbat, SimTime::ZERO, 20);
        for minute in 1..10 {
            for _ in 0..4 {
                see(&mut ledbat, at_ms(minute * 60_000), 50);
            }
            assert_eq!(ledbat.queueing_delay_us(), 30_000, "minute {minute}");
        }
        see(&mut ledbat, at_ms(600_000), 50);
        assert_eq!(ledbat.queueing_delay_us(), 0);
    }

    #[test]
    fn within_a_minute_the_smallest_delay_counts() {
        let mut ledbat = ledbat();
        see(&mut ledbat, at_ms(1_000), 50);
        see(&mut ledbat, at_ms(59_000), 20);
        for _ in 0..4 {
            see(&mut ledbat, at_ms(59_999), 45);
        }
        assert_eq!(ledbat.base_us.len(), 1);
        assert_eq!(ledbat.queueing_delay_us(), 25_000);
    }

    #[test]
    fn the_window_is_at_most_a_packet_above_the_flight_and_at_least_two() {
        let mut ledbat = ledbat();
        let mut window = Window::new(100, u32::MAX);
        let ack = Ack {
            prior_in_flight_pkts: 20,
            ..ack(1)
        };
        ledbat.on_ack(SimTime::ZERO, &ack, &mut window);
        assert_eq!(window.cwnd_pkts, 21);
        see(&mut ledbat, SimTime::ZERO, 20);
        for _ in 0..4 {
            see(&mut ledbat, SimTime::ZERO, 10_000);
        }
        for _ in 0..100 {
            ledbat.on_ack(SimTime::ZERO, &ack, &mut window);
        }
        assert_eq!(window.cwnd_pkts, 2);
    }

    #[test]
    fn a_loss_costs_half_and_leaves_two_packets() {
        for (window_pkts, left) in [(100, 50), (5, 2), (3, 2), (2, 2)] {
            let window = Window::new(window_pkts, u32::MAX);
            assert_eq!(ledbat().ssthresh(SimTime::ZERO, &window, 0), left);
        }
    }
}
