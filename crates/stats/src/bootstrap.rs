//! The bootstrap interval of a mean.

use crate::numpy::{Pcg64, mean, sum};
use crate::special::{normal_cdf, normal_quantile};

/// Resamples; odd, so that percentiles fall on a resample.
const RESAMPLES: usize = 9999;
/// The seed of the fixed random stream.
const SEED: u64 = 20_170_601;

/// The interval of the mean by the bias-corrected accelerated bootstrap (Efron 1987), or by the
/// percentile bootstrap where that is undefined: the numbers of `scipy.stats.bootstrap` with 9 999
/// resamples of a fixed random stream. NaN for fewer than two values.
pub fn bootstrap(values: &[f64], level: f64) -> (f64, f64) {
    let count = values.len();
    let Some(bound) = u32::try_from(count).ok().filter(|bound| *bound > 1) else {
        return (f64::NAN, f64::NAN);
    };
    let mut generator = Pcg64::new(SEED);
    let mut sample = vec![0.0; count];
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            for value in &mut sample {
                *value = values[generator.below(bound)];
            }
            mean(&sample)
        })
        .collect();
    let alpha = (1.0 - level) / 2.0;
    let (low, high) = accelerated(values, &means, alpha);
    means.sort_by(f64::total_cmp);
    let found = (quantile(&means, low), quantile(&means, high));
    if found.0.is_finite() && found.1.is_finite() {
        found
    } else {
        (quantile(&means, alpha), quantile(&means, 1.0 - alpha))
    }
}

/// The corrected levels (Efron and Tibshirani 1993, equations 14.10 and 14.15).
fn accelerated(values: &[f64], means: &[f64], alpha: f64) -> (f64, f64) {
    let centre = mean(values);
    let below = means.iter().filter(|mean| **mean < centre).count();
    let upto = means.iter().filter(|mean| **mean <= centre).count();
    let bias = normal_quantile((below + upto) as f64 / (2 * means.len()) as f64);
    let without: Vec<f64> = (0..values.len())
        .map(|left_out| {
            let mut others = values.to_vec();
            others.remove(left_out);
            mean(&others)
        })
        .collect();
    let count = values.len() as f64;
    let middle = mean(&without);
    let scaled: Vec<f64> = without
        .iter()
        .map(|one| (count - 1.0) * (middle - one))
        .collect();
    let power = |exponent: i32| {
        let powers: Vec<f64> = scaled.iter().map(|one| one.powi(exponent)).collect();
        sum(&powers)
    };
    let cubes = power(3) / (count * count * count);
    let squares = power(2) / (count * count);
    let acceleration = 1.0 / 6.0 * cubes / libm::pow(squares, 1.5);
    let corrected = |z: f64| {
        let moved = bias + z;
        normal_cdf(bias + moved / (1.0 - acceleration * moved))
    };
    let z = normal_quantile(alpha);
    (corrected(z), corrected(-z))
}

/// The quantile of sorted values with linear interpolation.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    if level.is_nan() {
        return f64::NAN;
    }
    let place = level * (sorted.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let share = place - below as f64;
    (1.0 - share) * sorted[below] + share * sorted[above]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_sample_has_a_wide_interval_around_its_mean() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let (low, high) = bootstrap(&values, 0.95);
        // The mean ± 1.96 σ/√n.
        assert!((low - 6.97).abs() < 0.2, "{low}");
        assert!((high - 12.03).abs() < 0.2, "{high}");
    }

    #[test]
    fn one_value_has_no_interval() {
        assert!(bootstrap(&[1.0], 0.95).0.is_nan());
    }
}
