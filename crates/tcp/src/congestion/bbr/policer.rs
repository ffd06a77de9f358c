//! The long-term bandwidth: what a policer lets through (Flach et al., "An Internet-Wide
//! Analysis of Traffic Policing", 2016).
//!
//! Two intervals in a row, each begun and ended by a loss and of much the same rate, in both of
//! which more than a sixth of the packets was lost, are taken for the work of a token bucket;
//! for 48 rounds their mean is the bandwidth.

use super::bandwidth::{Bandwidth, GAIN_UNIT};

/// Rounds in an interval at least; four times as many end it without a result.
const INTERVAL_MIN_ROUNDS: u32 = 4;
/// An interval counts from this share of losses per delivered packet on, in 256ths.
const LOSS_THRESHOLD: u64 = 50;
/// Two intervals agree if they differ by less than this share, in 256ths, …
const AGREEMENT: u64 = GAIN_UNIT / 8;
/// … or by this rate, in bytes per second (4 kbit/s).
const AGREEMENT_BYTES_PER_S: u64 = 500;
/// Rounds for which the estimate is used.
const USED_ROUNDS: u32 = 48;

/// Totals of the connection at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) delivered_pkts: u64,
    pub(super) lost_pkts: u64,
    /// When something was last delivered.
    pub(super) delivered_us: u64,
}

/// What an acknowledgment tells the estimator.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) totals: Totals,
    pub(super) starts_round: bool,
    pub(super) has_losses: bool,
    pub(super) is_app_limited: bool,
    /// The gain cycle runs.
    pub(super) probes_bandwidth: bool,
    pub(super) mss_bytes: u32,
}

/// The estimator.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// Of the last interval, and then of both.
    bandwidth: Option<Bandwidth>,
    is_used: bool,
    is_sampling: bool,
    rounds: u32,
    start: Totals,
}

impl Policer {
    /// The rate of the policer, while there seems to be one.
    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.bandwidth.filter(|_| self.is_used)
    }

    pub(super) fn reset(&mut self, totals: Totals) {
        *self = Self {
            start: totals,
            ..Self::default()
        };
    }

    /// Whether the estimate has expired, so that the gain cycle restarts.
    pub(super) fn on_ack(&mut self, step: &Step) -> bool {
        if self.is_used {
            if step.probes_bandwidth && step.starts_round {
                self.rounds += 1;
                if self.rounds >= USED_ROUNDS {
                    self.reset(step.totals);
                    return true;
                }
            }
            return false;
        }
        if !self.is_sampling {
            // The first loss: the bucket is empty, and what follows is its rate.
            if !step.has_losses {
                return false;
            }
            self.start_interval(step.totals);
            self.is_sampling = true;
        }
        if step.is_app_limited {
            self.reset(step.totals);
            return false;
        }
        self.rounds += u32::from(step.starts_round);
        if self.rounds < INTERVAL_MIN_ROUNDS {
            return false;
        }
        if self.rounds > 4 * INTERVAL_MIN_ROUNDS {
            self.reset(step.totals);
        } else if step.has_losses {
            self.end_interval(step);
        }
        false
    }

    fn start_interval(&mut self, totals: Totals) {
        self.start = totals;
        self.rounds = 0;
    }

    fn end_interval(&mut self, step: &Step) {
        let lost_pkts = step.totals.lost_pkts - self.start.lost_pkts;
        let delivered_pkts = step.totals.delivered_pkts - self.start.delivered_pkts;
        if delivered_pkts == 0 || lost_pkts * 256 < LOSS_THRESHOLD * delivered_pkts {
            return;
        }
        // The kernel's clock of this estimator ticks in milliseconds.
        let length_ms = step.totals.delivered_us / 1000 - self.start.delivered_us / 1000;
        if length_ms == 0 {
            return;
        }
        let bandwidth = Bandwidth::of(delivered_pkts, length_ms * 1000);
        if let Some(last) = self.bandwidth.filter(|last| last.0 > 0) {
            let difference = Bandwidth(bandwidth.0.abs_diff(last.0));
            let difference_bytes_per_s = difference.paced_bytes_per_s(step.mss_bytes, GAIN_UNIT);
            if difference.0 * GAIN_UNIT <= AGREEMENT * last.0
                || difference_bytes_per_s <= AGREEMENT_BYTES_PER_S
            {
                self.bandwidth = Some(bandwidth.mean(last));
                self.is_used = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = Some(bandwidth);
        self.start_interval(step.totals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of 100 ms rounds, with the packets delivered and lost in each.
    struct Rounds {
        policer: Policer,
        step: Step,
    }

    impl Rounds {
        fn new() -> Self {
            Self {
                policer: Policer::default(),
                step: Step {
                    starts_round: true,
                    probes_bandwidth: true,
                    mss_bytes: 1448,
                    ..Step::default()
                },
            }
        }

        fn run(&mut self, delivered_pkts: u64, lost_pkts: u64) -> bool {
            let totals = &mut self.step.totals;
            totals.delivered_us += 100_000;
            totals.delivered_pkts += delivered_pkts;
            totals.lost_pkts += lost_pkts;
            self.step.has_losses = lost_pkts > 0;
            self.policer.on_ack(&self.step)
        }
    }

    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer() {
        let mut rounds = Rounds::new();
        // The first loss begins an interval in its own round.
        for _ in 0..7 {
            rounds.run(100, 30);
            assert_eq!(rounds.policer.bandwidth(), None);
        }
        rounds.run(100, 30);
        let bandwidth = rounds.policer.bandwidth().unwrap();
        assert_eq!(bandwidth, Bandwidth::of(100, 100_000));
    }

    #[test]
    fn fewer_losses_than_fifty_in_256_are_no_policer() {
        let mut rounds = Rounds::new();
        for _ in 0..40 {
            rounds.run(100, 19);
        }
        assert_eq!(rounds.policer.bandwidth(), None);
    }

    #[test]
    fn intervals_that_differ_by_more_than_an_eighth_are_no_policer() {
        let mut rounds = Rounds::new();
        for i in 0..40 {
            let pkts = if (i / 4) % 2 == 0 { 100 } else { 130 };
            rounds.run(pkts, pkts * 3 / 10);
        }
        assert_eq!(rounds.policer.bandwidth(), None);
    }

    #[test]
    fn the_estimate_is_used_for_48_rounds() {
        let mut rounds = Rounds::new();
        while rounds.policer.bandwidth().is_none() {
            rounds.run(100, 30);
        }
        for _ in 0..47 {
            assert!(!rounds.run(100, 0));
        }
        assert!(rounds.policer.bandwidth().is_some());
        assert!(rounds.run(100, 0));
        assert_eq!(rounds.policer.bandwidth(), None);
    }

    #[test]
    fn an_application_that_pauses_ends_the_sampling() {
        let mut rounds = Rounds::new();
        for _ in 0..7 {
            rounds.run(100, 30);
        }
        rounds.step.is_app_limited = true;
        rounds.run(100, 30);
        rounds.step.is_app_limited = false;
        for _ in 0..7 {
            rounds.run(100, 30);
            assert_eq!(rounds.policer.bandwidth(), None);
        }
    }

    #[test]
    fn an_interval_of_more_than_sixteen_rounds_without_loss_is_dropped() {
        let mut rounds = Rounds::new();
        rounds.run(100, 30);
        for _ in 0..16 {
            rounds.run(100, 0);
        }
        assert!(!rounds.policer.is_sampling);
    }
}
