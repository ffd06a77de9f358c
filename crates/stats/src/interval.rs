//! A mean over seeds with its interval.

use crate::bootstrap::bootstrap;
use crate::special::student_quantile;
use crate::sums::{exact_sum, mean};

/// Confidence level of every interval.
pub const LEVEL: f64 = 0.95;

/// From this number of values on, intervals are bootstrapped; below, by Student's t.
pub const ENOUGH_SEEDS: usize = 10;

/// How an interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Fewer than two values have no interval.
    None,
    /// Student's t with n − 1 degrees of freedom.
    T,
    /// The bias-corrected accelerated bootstrap.
    Bootstrap,
}

impl Method {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::T => "t",
            Self::Bootstrap => "bootstrap",
        }
    }
}

/// A mean with its interval, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean; NaN for no values.
    pub mean: f64,
    /// The lower end; NaN for fewer than two values.
    pub low: f64,
    /// The upper end; likewise.
    pub high: f64,
    /// The number of values.
    pub count: usize,
    /// How the ends were found.
    pub method: Method,
}

/// The mean with its 95 % interval, cut at the limits of what the values can be.
///
/// Two to nine values: Student's t. Ten and more: the bootstrap. Equal values: width zero.
pub fn mean_interval(values: &[f64], limits: (f64, f64)) -> Interval {
    let count = values.len();
    let of = |mean, low, high, method| Interval {
        mean,
        low,
        high,
        count,
        method,
    };
    if count < 2 {
        return of(mean(values), f64::NAN, f64::NAN, Method::None);
    }
    let method = if count < ENOUGH_SEEDS {
        Method::T
    } else {
        Method::Bootstrap
    };
    if values.iter().all(|value| *value == values[0]) {
        return of(values[0], values[0], values[0], method);
    }
    let middle = mean(values);
    let (low, high) = if method == Method::T {
        let half = student_quantile((count - 1) as f64, 0.5 + LEVEL / 2.0) * standard_error(values);
        (middle - half, middle + half)
    } else {
        bootstrap(values, LEVEL)
    };
    of(middle, low.max(limits.0), high.min(limits.1), method)
}

/// The standard error of the mean of two values or more.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares = exact_sum(
        values
            .iter()
            .map(|value| (value - middle) * (value - middle)),
    );
    libm::sqrt(squares / (values.len() - 1) as f64) / libm::sqrt(values.len() as f64)
}

/// Jain's fairness index (Σx)² / (n Σx²): 1 when all are equal, 1/n when only one is not zero. NaN
/// for no values or all zero.
pub fn jain(values: &[f64]) -> f64 {
    let squares = exact_sum(values.iter().map(|value| value * value));
    if squares == 0.0 {
        return f64::NAN;
    }
    let sum = exact_sum(values.iter().copied());
    sum * sum / (values.len() as f64 * squares)
}

/// A percentile with linear interpolation between order statistics. NaN for no values.
pub fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut ordered = values.to_vec();
    ordered.sort_by(f64::total_cmp);
    let Some(last) = ordered.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = last as f64 * percent / 100.0;
    let below = place as usize;
    let above = (below + 1).min(last);
    ordered[below] + (ordered[above] - ordered[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    /// t(4) = 2.776 in the tables.
    #[test]
    fn few_values_have_students_interval() {
        let found = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], WIDE);
        assert_eq!((found.mean, found.method.name()), (3.0, "t"));
        let half = 2.776_445_105_197_793 * libm::sqrt(2.5 / 5.0);
        assert!((found.high - 3.0 - half).abs() < 1e-12);
        assert!((3.0 - found.low - half).abs() < 1e-12);
    }

    #[test]
    fn an_interval_ends_at_what_is_possible() {
        let found = mean_interval(&[0.9, 1.0, 0.5], (0.0, 1.0));
        assert_eq!(found.high, 1.0);
    }

    #[test]
    fn equal_values_have_no_width_and_one_has_no_interval() {
        assert_eq!(mean_interval(&[2.0; 3], WIDE).low, 2.0);
        assert!(mean_interval(&[2.0], WIDE).low.is_nan());
        assert!(mean_interval(&[], WIDE).mean.is_nan());
    }

    #[test]
    fn fairness_and_percentiles() {
        assert_eq!(jain(&[1.0, 1.0, 1.0]), 1.0);
        assert_eq!(jain(&[1.0, 0.0]), 0.5);
        assert!(jain(&[0.0]).is_nan());
        assert_eq!(percentile(&[4.0, 1.0, 2.0, 3.0], 50.0), 2.5);
        assert!(percentile(&[], 50.0).is_nan());
    }
}
