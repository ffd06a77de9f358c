//! The order of contenders, and what the seeds decide about it.
//!
//! Each contender is compared with the best by the differences *paired by seed*. It is worse, equal
//! within a margin, or the seeds do not suffice to decide. The page on statistics of the
//! documentation has the reasons.

use std::collections::BTreeMap;

use crate::interval::{Interval, LEVEL, mean_interval, standard_error};
use crate::special::{normal_quantile, student_cdf};
use crate::sums::mean;

/// The margin of equality unless another is given, as a share of the best.
pub const EQUAL_WITHIN: f64 = 0.05;

/// Adjusted p-values (Holm 1979), each at most 1; a NaN stays. The k-th smallest of `family` is
/// multiplied by `family` − k + 1 and is at least the one before it. `family` may be larger than
/// the number of p-values: further comparisons whose p-values are not smaller, or not known.
pub fn holm(p_values: &[f64], family: Option<usize>) -> Vec<f64> {
    let mut known: Vec<(f64, usize)> = (p_values.iter().copied())
        .zip(0..)
        .filter(|(p, _)| !p.is_nan())
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let family = family.unwrap_or(known.len());
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, (p, index)) in known.into_iter().enumerate() {
        least = least.max((p * (family as f64 - rank as f64)).min(1.0));
        adjusted[index] = least;
    }
    adjusted
}

/// Mean and standard error of differences, with Student's distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The mean.
    pub mean: f64,
    /// The standard error; NaN for fewer than two differences.
    pub error: f64,
    /// The number of differences.
    pub count: usize,
}

impl Paired {
    /// From the differences.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len();
        let (mean, error) = match values {
            [] => (f64::NAN, f64::NAN),
            [one] => (*one, f64::NAN),
            [first, ..] if values.iter().all(|value| value == first) => (*first, 0.0),
            _ => (mean(values), standard_error(values)),
        };
        Self { mean, error, count }
    }

    /// One-sided p-value of a true mean at most `bound`.
    pub fn above(self, bound: f64) -> f64 {
        if self.error.is_nan() {
            f64::NAN
        } else if self.error == 0.0 {
            f64::from(u8::from(self.mean <= bound))
        } else {
            student_cdf((self.count - 1) as f64, (bound - self.mean) / self.error)
        }
    }

    /// Two-sided p-value of a true mean of zero.
    pub fn differs(self) -> f64 {
        if self.error == 0.0 {
            return f64::from(u8::from(self.mean == 0.0));
        }
        let mean = self.mean.abs();
        2.0 * Self { mean, ..self }.above(0.0)
    }

    /// P-value of a true mean that is not inside ± `margin`: the larger of two one-sided tests
    /// (Schuirmann 1987).
    pub fn within(self, margin: f64) -> f64 {
        if self.mean == 0.0 && self.error == 0.0 {
            return 0.0;
        }
        let mirrored = Self {
            mean: -self.mean,
            ..self
        };
        let (one, other) = (self.above(-margin), mirrored.above(-margin));
        if one.is_nan() || other.is_nan() {
            return f64::NAN;
        }
        one.max(other)
    }

    /// About how many seeds decide whether the difference is worse or within the margin: (z s / w)²
    /// with z of the two-sided level and w the distance from the nearer of the two. 0 when the
    /// deviation is not known.
    pub fn seeds_needed(self, margin: f64, level: f64) -> usize {
        let distance = self.mean.abs().max(margin - self.mean.abs());
        if self.error.is_nan() || distance.is_nan() || distance <= 0.0 {
            return 0;
        }
        let deviation = self.error * libm::sqrt(self.count as f64);
        let wanted = -normal_quantile(level / 2.0) * deviation / distance;
        let wanted = libm::ceil(wanted * wanted);
        if wanted.is_finite() {
            (self.count + 1).max(wanted as usize)
        } else {
            0
        }
    }
}

/// What the seeds decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The lowest mean.
    Best,
    /// Worse than the best.
    Worse,
    /// Equal to the best within the margin.
    Equal,
    /// The seeds do not suffice.
    Undecided,
}

impl Outcome {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Worse => "worse",
            Self::Equal => "equal",
            Self::Undecided => "undecided",
        }
    }
}

/// The outcome of a comparison with the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What was decided.
    pub outcome: Outcome,
    /// Of being no worse, after the correction; NaN for the best and with fewer than two seeds.
    pub p_value: f64,
    /// About how many seeds would decide; 0 when it is decided or not known.
    pub seeds_needed: usize,
}

/// The outcome of each comparison with the best. `found` has the differences of each other
/// contender from the best, `margin` is in their unit.
pub fn decide(found: &[Paired], margin: f64) -> Vec<Verdict> {
    // The best comes from the same data: the family is that of all pairs.
    let pairs = found.len() * (found.len() + 1) / 2;
    let differs: Vec<f64> = found.iter().map(|one| one.differs()).collect();
    let within: Vec<f64> = found.iter().map(|one| one.within(margin)).collect();
    let worse = holm(&differs, Some(pairs));
    let equal = holm(&within, None);
    let verdicts = found.iter().zip(worse).zip(equal);
    verdicts
        .map(|((one, p_value), is_equal)| {
            let (outcome, seeds_needed) = if is_equal <= 1.0 - LEVEL {
                (Outcome::Equal, 0)
            } else if p_value <= 1.0 - LEVEL && one.mean > 0.0 {
                (Outcome::Worse, 0)
            } else {
                let needed = one.seeds_needed(margin, (1.0 - LEVEL) / pairs as f64);
                (Outcome::Undecided, needed)
            };
            Verdict {
                outcome,
                p_value,
                seeds_needed,
            }
        })
        .collect()
}

/// One contender in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The contender.
    pub name: String,
    /// Its mean over seeds with interval.
    pub value: Interval,
    /// Mean − best, paired by seed; `None` for the best itself.
    pub behind: Option<Interval>,
    /// What the seeds decide.
    pub verdict: Verdict,
}

/// Contenders by their mean over seeds, lowest first (in the order given where means are equal),
/// each compared with the best. `equal_within` is the margin as a share of the absolute mean of the
/// best. Contenders without values are left out.
pub fn rank(contenders: &[(String, BTreeMap<u64, f64>)], equal_within: f64) -> Vec<Standing> {
    let wide = (f64::NEG_INFINITY, f64::INFINITY);
    let interval = |values: &BTreeMap<u64, f64>| {
        let values: Vec<f64> = values.values().copied().collect();
        mean_interval(&values, wide)
    };
    let mut order: Vec<_> = (contenders.iter())
        .filter(|(_, values)| !values.is_empty())
        .map(|(name, values)| (name, values, interval(values)))
        .collect();
    order.sort_by(|a, b| {
        a.2.mean
            .partial_cmp(&b.2.mean)
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let Some(((name, best, value), others)) = order.split_first() else {
        return Vec::new();
    };
    let differences = |values: &BTreeMap<u64, f64>| -> Vec<f64> {
        let both = values.iter();
        both.filter_map(|(seed, value)| Some(value - best.get(seed)?))
            .collect()
    };
    let paired: Vec<Vec<f64>> = (others.iter())
        .map(|(_, values, _)| differences(values))
        .collect();
    let found: Vec<Paired> = paired.iter().map(|one| Paired::of(one)).collect();
    let verdicts = decide(&found, equal_within * value.mean.abs());
    let first = Standing {
        name: (*name).clone(),
        value: *value,
        behind: None,
        verdict: Verdict {
            outcome: Outcome::Best,
            p_value: f64::NAN,
            seeds_needed: 0,
        },
    };
    let rest = others.iter().zip(&paired).zip(verdicts);
    let rest = rest.map(|(((name, _, value), paired), verdict)| Standing {
        name: (*name).clone(),
        value: *value,
        behind: Some(mean_interval(paired, wide)),
        verdict,
    });
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
    #[test]
    fn p_values_are_corrected_as_in_a_worked_example() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005], None);
        let wanted = [0.03, 0.06, 0.06, 0.02];
        for (value, wanted) in adjusted.iter().zip(wanted) {
            assert!((value - wanted).abs() < 1e-12, "{adjusted:?}");
        }
        assert!(holm(&[f64::NAN, 0.5], None)[0].is_nan());
    }

    fn seeds(values: &[f64]) -> BTreeMap<u64, f64> {
        (1..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn the_three_outcomes() {
        let contenders = [
            ("slow".to_owned(), seeds(&[2.0, 2.1, 1.9, 2.05, 1.95])),
            ("fast".to_owned(), seeds(&[1.0, 1.1, 0.9, 1.05, 0.95])),
            (
                "same".to_owned(),
                seeds(&[1.001, 1.101, 0.901, 1.051, 0.951]),
            ),
            ("noisy".to_owned(), seeds(&[0.2, 3.1, 0.1, 2.05, 0.35])),
            ("none".to_owned(), BTreeMap::new()),
        ];
        let standings = rank(&contenders, EQUAL_WITHIN);
        let found: Vec<(&str, &str)> = (standings.iter())
            .map(|one| (one.name.as_str(), one.verdict.outcome.name()))
            .collect();
        let wanted = [
            ("fast", "best"),
            ("same", "equal"),
            ("noisy", "undecided"),
            ("slow", "worse"),
        ];
        assert_eq!(found, wanted);
        assert!(standings[2].verdict.seeds_needed > 5);
    }

    #[test]
    fn one_seed_decides_nothing() {
        let contenders = [
            ("a".to_owned(), seeds(&[1.0])),
            ("b".to_owned(), seeds(&[9.0])),
        ];
        let standings = rank(&contenders, EQUAL_WITHIN);
        assert_eq!(standings[1].verdict.outcome, Outcome::Undecided);
        assert_eq!(standings[1].verdict.seeds_needed, 0);
    }
}
