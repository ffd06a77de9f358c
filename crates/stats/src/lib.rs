//! Statistics over seeds: intervals, comparisons with the best, verdicts.
//!
//! The Python package and the page in a browser both use this crate, so that they say the same of
//! the same runs. It has no file, no clock and no thread, and takes transcendental functions from
//! `libm`, so that its numbers are the same on every machine.

mod bootstrap;
mod interval;
mod numpy;
mod rank;
mod special;
mod sums;

pub use bootstrap::bootstrap;
pub use interval::{ENOUGH_SEEDS, Interval, LEVEL, Method, jain, mean_interval, percentile};
pub use rank::{EQUAL_WITHIN, Outcome, Paired, Standing, Verdict, decide, holm, rank};
pub use special::{normal_cdf, normal_quantile, student_cdf, student_quantile};
pub use sums::{exact_sum, mean};
