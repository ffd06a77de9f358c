//! How often frames on a link fail and at which rate they go, as seen over a window of time.

use backlane_units::{Duration, SimTime};

/// The window moves in steps of a tenth of it.
const STEPS: usize = 10;

#[derive(Clone, Copy, Default)]
struct Count {
    attempts: u32,
    successes: u32,
    /// Sum over the attempts of their rate.
    rate_bps: f64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.successes += other.successes;
        self.rate_bps += other.rate_bps;
    }
}

/// p̃ and R̃ of a link: the share of attempts that failed within the window, and their mean rate.
///
/// While the window has no attempts p̃ falls from what it was as e^(−t/window), so that a link
/// that was given up is tried again; the rate stays.
pub(super) struct Quality {
    window: Duration,
    counts: [Count; STEPS],
    total: Count,
    /// The number of the step that the window ends with.
    step: u64,
    /// What the window last showed, and when it showed something.
    loss: f64,
    rate_bps: f64,
    seen_at: SimTime,
}

impl Quality {
    /// Of a link that was not used: it has not failed, and goes at its nominal rate.
    pub(super) fn new(window: Duration, nominal_bps: f64) -> Self {
        Self {
            window,
            counts: [Count::default(); STEPS],
            total: Count::default(),
            step: 0,
            loss: 0.0,
            rate_bps: nominal_bps,
            seen_at: SimTime::ZERO,
        }
    }

    /// A frame was tried `attempts` times at `rate_bps`, the last time with success or without.
    pub(super) fn add(&mut self, now: SimTime, attempts: u32, delivered: bool, rate_bps: f64) {
        if attempts == 0 {
            return;
        }
        self.advance(now);
        let count = Count {
            attempts,
            successes: u32::from(delivered),
            rate_bps: rate_bps * f64::from(attempts),
        };
        self.counts[(self.step % STEPS as u64) as usize].add(count);
        self.total.add(count);
        let Count {
            attempts,
            successes,
            rate_bps,
        } = self.total;
        self.loss = 1.0 - f64::from(successes) / f64::from(attempts);
        self.rate_bps = rate_bps / f64::from(attempts);
        self.seen_at = now;
    }

    /// R̃·(1 − p̃), in bit/s.
    pub(super) fn rate_bps(&mut self, now: SimTime) -> f64 {
        self.rate_bps * (1.0 - self.loss(now))
    }

    /// p̃.
    pub(super) fn loss(&mut self, now: SimTime) -> f64 {
        if self.loss == 0.0 {
            return 0.0;
        }
        self.advance(now);
        if self.total.attempts > 0 {
            return self.loss;
        }
        let silent = (now - self.seen_at).as_secs_f64() / self.window.as_secs_f64();
        self.loss * libm::exp(-silent)
    }

    /// Moves the window to `now`.
    fn advance(&mut self, now: SimTime) {
        let step = now.as_ps() / (self.window.as_ps() / STEPS as u64).max(1);
        if step == self.step {
            return;
        }
        let passed = (step - self.step).min(STEPS as u64);
        for step in step + 1 - passed..=step {
            self.counts[(step % STEPS as u64) as usize] = Count::default();
        }
        self.step = step;
        let mut total = Count::default();
        for count in self.counts {
            total.add(count);
        }
        self.total = total;
        if total.attempts > 0 {
            self.loss = 1.0 - f64::from(total.successes) / f64::from(total.attempts);
            self.rate_bps = total.rate_bps / f64::from(total.attempts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(1);

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn half_of_the_attempts_failing_halves_a_link() {
        let mut quality = Quality::new(WINDOW, 2e6);
        assert_eq!(quality.rate_bps(at(0)), 2e6);
        for ms in 0..50 {
            quality.add(at(10 * ms), 2, true, 2e6);
        }
        assert_eq!(quality.loss(at(500)), 0.5);
        assert_eq!(quality.rate_bps(at(500)), 1e6);
    }

    #[test]
    fn what_is_older_than_the_window_no_longer_counts() {
        let mut quality = Quality::new(WINDOW, 2e6);
        quality.add(at(50), 7, false, 2e6);
        quality.add(at(650), 1, true, 2e6);
        assert_eq!(quality.loss(at(990)), 1.0 - 1.0 / 8.0);
        assert_eq!(quality.loss(at(1150)), 0.0);
    }

    #[test]
    fn a_link_that_failed_and_rests_is_believed_in_again() {
        let mut quality = Quality::new(WINDOW, 2e6);
        quality.add(at(0), 7, false, 2e6);
        assert_eq!(quality.loss(at(900)), 1.0);
        let rested = quality.loss(at(2000));
        assert!((rested - libm::exp(-2.0)).abs() < 1e-12);
        assert!(quality.loss(at(60_000)) < 1e-20);
    }

    #[test]
    fn the_rate_is_the_mean_over_the_attempts() {
        let mut quality = Quality::new(WINDOW, 2e6);
        quality.add(at(0), 1, true, 11e6);
        quality.add(at(1), 1, true, 1e6);
        assert_eq!(quality.rate_bps(at(2)), 6e6);
    }
}
