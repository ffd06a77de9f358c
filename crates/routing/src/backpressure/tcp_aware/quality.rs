//! The failure ratio and the rate of a link over a time window.

use backlane_units::{Duration, SimTime};

use super::Counted;

/// The window moves in steps of a tenth of it.
const STEPS: usize = 10;

#[derive(Clone, Copy, Default)]
struct Count {
    /// Packets, or attempts to send them.
    tries: u32,
    successes: u32,
    packets: u32,
    /// Sum over the packets of their rate.
    rate_bps: f64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.tries += other.tries;
        self.successes += other.successes;
        self.packets += other.packets;
        self.rate_bps += other.rate_bps;
    }
}

/// p̃ and R̃ of a link: one minus the share of successes within the window, and the mean rate of
/// the packets. While the window has none, p̃ is zero, so that a link that failed is tried again,
/// and R̃ stays.
pub(super) struct Quality {
    counted: Counted,
    window: Duration,
    counts: [Count; STEPS],
    /// The number of the last step of the window, and when it ends.
    step: u64,
    step_ends_at: SimTime,
    loss: f64,
    rate_bps: f64,
}

impl Quality {
    /// The quality of a link that was not used yet.
    pub(super) fn new(counted: Counted, window: Duration, nominal_bps: f64) -> Self {
        Self {
            counted,
            window,
            counts: [Count::default(); STEPS],
            step: 0,
            step_ends_at: SimTime::ZERO,
            loss: 0.0,
            rate_bps: nominal_bps,
        }
    }

    /// Records a packet that was attempted `attempts` times at `rate_bps`, and whether the last
    /// attempt succeeded.
    pub(super) fn add(&mut self, now: SimTime, attempts: u32, delivered: bool, rate_bps: f64) {
        self.advance(now);
        self.counts[(self.step % STEPS as u64) as usize].add(Count {
            tries: match self.counted {
                Counted::Packets => 1,
                Counted::Attempts => attempts.max(1),
            },
            successes: u32::from(delivered),
            packets: 1,
            rate_bps,
        });
        self.sum();
    }

    /// R̃·(1 − p̃), in bit/s.
    pub(super) fn effective_bps(&mut self, now: SimTime) -> f64 {
        self.advance(now);
        self.rate_bps * (1.0 - self.loss)
    }

    /// Moves the window to `now`.
    #[inline]
    fn advance(&mut self, now: SimTime) {
        if now >= self.step_ends_at {
            self.advance_by_steps(now);
        }
    }

    #[cold]
    fn advance_by_steps(&mut self, now: SimTime) {
        let step_ps = (self.window.as_ps() / STEPS as u64).max(1);
        let step = now.as_ps() / step_ps;
        self.step_ends_at = SimTime::from_ps((step + 1).saturating_mul(step_ps));
        if step == self.step {
            return;
        }
        let passed = (step - self.step).min(STEPS as u64);
        for step in step + 1 - passed..=step {
            self.counts[(step % STEPS as u64) as usize] = Count::default();
        }
        self.step = step;
        self.sum();
    }

    fn sum(&mut self) {
        let mut total = Count::default();
        for count in self.counts {
            total.add(count);
        }
        self.loss = 0.0;
        if total.packets > 0 {
            self.loss = 1.0 - f64::from(total.successes) / f64::from(total.tries);
            self.rate_bps = total.rate_bps / f64::from(total.packets);
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
    fn a_link_with_half_of_its_attempts_failed_counts_half_if_attempts_are_counted() {
        for (counted, effective_bps) in [(Counted::Attempts, 1e6), (Counted::Packets, 2e6)] {
            let mut quality = Quality::new(counted, WINDOW, 2e6);
            assert_eq!(quality.effective_bps(at(0)), 2e6);
            for ms in 0..50 {
                quality.add(at(10 * ms), 2, true, 2e6);
            }
            assert_eq!(quality.effective_bps(at(500)), effective_bps);
        }
    }

    #[test]
    fn packets_that_the_mac_gave_up_count_in_either_way() {
        for (counted, share) in [(Counted::Attempts, 1.0 / 8.0), (Counted::Packets, 0.5)] {
            let mut quality = Quality::new(counted, WINDOW, 2e6);
            quality.add(at(0), 7, false, 2e6);
            quality.add(at(1), 1, true, 2e6);
            assert_eq!(quality.effective_bps(at(2)), 2e6 * share);
        }
    }

    #[test]
    fn packets_older_than_the_window_do_not_count() {
        let mut quality = Quality::new(Counted::Packets, WINDOW, 2e6);
        quality.add(at(50), 7, false, 2e6);
        quality.add(at(650), 1, true, 2e6);
        assert_eq!(quality.effective_bps(at(990)), 1e6);
        assert_eq!(quality.effective_bps(at(1040)), 2e6);
    }

    #[test]
    fn a_failed_link_is_tried_again_when_the_window_is_empty() {
        let mut quality = Quality::new(Counted::Packets, WINDOW, 2e6);
        quality.add(at(0), 7, false, 2e6);
        assert_eq!(quality.effective_bps(at(900)), 0.0);
        assert_eq!(quality.effective_bps(at(60_000)), 2e6);
    }

    #[test]
    fn the_rate_is_the_mean_over_the_packets() {
        let mut quality = Quality::new(Counted::Packets, WINDOW, 2e6);
        quality.add(at(0), 1, true, 11e6);
        quality.add(at(1), 1, true, 1e6);
        assert_eq!(quality.effective_bps(at(2)), 6e6);
    }
}
