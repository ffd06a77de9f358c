//! The largest value of a window of rounds, from three samples (Linux: `win_minmax.c`, after
//! Kathleen Nichols): the best, and the best of what came after it, twice.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    round: u32,
    value: u64,
}

/// A windowed maximum. It never forgets the largest value too early; a smaller one may be a
/// little younger than the true maximum of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMax {
    window_rounds: u32,
    best: [Sample; 3],
}

impl WindowedMax {
    pub(crate) const fn new(window_rounds: u32) -> Self {
        let zero = Sample { round: 0, value: 0 };
        Self {
            window_rounds,
            best: [zero; 3],
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Takes `value` in `round`; rounds count up and may wrap.
    pub(crate) fn update(&mut self, round: u32, value: u64) {
        let sample = Sample { round, value };
        let age = |old: Sample| round.wrapping_sub(old.round);
        if value >= self.best[0].value || age(self.best[2]) > self.window_rounds {
            self.best = [sample; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value >= self.best[2].value {
            self.best[2] = sample;
        }
        let first_age = age(self.best[0]);
        if first_age > self.window_rounds {
            // The best is too old, and its successor may be as well.
            for _ in 0..2 {
                if age(self.best[0]) > self.window_rounds {
                    self.best = [self.best[1], self.best[2], sample];
                }
            }
        } else if self.best[1].round == self.best[0].round && first_age > self.window_rounds / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].round == self.best[1].round && first_age > self.window_rounds / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_larger_value_counts_at_once_and_for_the_whole_window() {
        let mut max = WindowedMax::new(10);
        max.update(1, 100);
        max.update(2, 50);
        assert_eq!(max.get(), 100);
        for round in 3..=11 {
            max.update(round, 50);
            assert_eq!(max.get(), 100, "in round {round}");
        }
        max.update(12, 50);
        assert_eq!(max.get(), 50);
    }

    #[test]
    fn after_a_fall_the_best_of_the_younger_ones_takes_over() {
        let mut max = WindowedMax::new(10);
        max.update(0, 100);
        max.update(4, 80);
        max.update(8, 60);
        max.update(10, 10);
        assert_eq!(max.get(), 100);
        max.update(11, 10);
        assert_eq!(max.get(), 80);
        max.update(15, 10);
        assert_eq!(max.get(), 60);
    }

    #[test]
    fn silence_longer_than_the_window_forgets_everything() {
        let mut max = WindowedMax::new(10);
        max.update(0, 100);
        max.update(50, 1);
        assert_eq!(max.get(), 1);
    }

    proptest! {
        #[test]
        fn it_lies_between_the_newest_value_and_the_maximum_of_the_window(
            values in prop::collection::vec((0u32..3, 0u64..1000), 1..200),
        ) {
            let mut max = WindowedMax::new(10);
            let mut seen: Vec<(u32, u64)> = Vec::new();
            let mut round = 0;
            for (step, value) in values {
                round += step;
                max.update(round, value);
                seen.push((round, value));
                let truth = seen
                    .iter()
                    .filter(|(at, _)| round - at <= 10)
                    .map(|(_, value)| *value)
                    .max()
                    .unwrap();
                prop_assert!(value <= max.get() && max.get() <= truth);
                // A value at least as large as all of its window is never missed.
                prop_assert!(value < truth || max.get() == truth);
            }
        }
    }
}
