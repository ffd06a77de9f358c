//! Statistics over seeds, as `backlane.stats` and `backlane.ranking` have them.

use std::collections::BTreeMap;

use backlane_stats::{Interval, Paired, Verdict};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(mean_interval, module)?)?;
    module.add_function(wrap_pyfunction!(percentile, module)?)?;
    module.add_function(wrap_pyfunction!(jain, module)?)?;
    module.add_function(wrap_pyfunction!(holm, module)?)?;
    module.add_function(wrap_pyfunction!(paired, module)?)?;
    module.add_function(wrap_pyfunction!(above, module)?)?;
    module.add_function(wrap_pyfunction!(differs, module)?)?;
    module.add_function(wrap_pyfunction!(within, module)?)?;
    module.add_function(wrap_pyfunction!(seeds_needed, module)?)?;
    module.add_function(wrap_pyfunction!(decide, module)?)?;
    module.add_function(wrap_pyfunction!(rank, module)?)
}

/// Mean, lower end, upper end, number of values, method.
type Numbers = (f64, f64, f64, usize, &'static str);
/// Mean, standard error, number of differences.
type Difference = (f64, f64, usize);
/// Outcome, p-value, seeds needed.
type Decision = (&'static str, f64, usize);
/// Name, value, distance from the best, decision.
type Row = (String, Numbers, Option<Numbers>, Decision);

fn numbers(of: &Interval) -> Numbers {
    (of.mean, of.low, of.high, of.count, of.method.name())
}

fn difference((mean, error, count): Difference) -> Paired {
    Paired { mean, error, count }
}

fn decision(of: Verdict) -> Decision {
    (of.outcome.name(), of.p_value, of.seeds_needed)
}

/// The mean of values with its interval, cut at `low` and `high`.
#[pyfunction]
fn mean_interval(values: Vec<f64>, low: f64, high: f64) -> Numbers {
    numbers(&backlane_stats::mean_interval(&values, (low, high)))
}

/// A percentile with linear interpolation.
#[pyfunction]
fn percentile(values: Vec<f64>, percent: f64) -> f64 {
    backlane_stats::percentile(&values, percent)
}

/// Jain's index.
#[pyfunction]
fn jain(values: Vec<f64>) -> f64 {
    backlane_stats::jain(&values)
}

/// Holm's correction.
#[pyfunction]
fn holm(p_values: Vec<f64>, family: Option<usize>) -> Vec<f64> {
    backlane_stats::holm(&p_values, family)
}

/// Mean and standard error of differences.
#[pyfunction]
fn paired(values: Vec<f64>) -> Difference {
    let found = Paired::of(&values);
    (found.mean, found.error, found.count)
}

/// One-sided p-value of a true mean at most `bound`.
#[pyfunction]
fn above(found: Difference, bound: f64) -> f64 {
    difference(found).above(bound)
}

/// Two-sided p-value of a true mean of zero.
#[pyfunction]
fn differs(found: Difference) -> f64 {
    difference(found).differs()
}

/// P-value of a true mean that is not inside ± `margin`.
#[pyfunction]
fn within(found: Difference, margin: f64) -> f64 {
    difference(found).within(margin)
}

/// About how many seeds would decide.
#[pyfunction]
fn seeds_needed(found: Difference, margin: f64, level: f64) -> usize {
    difference(found).seeds_needed(margin, level)
}

/// What the seeds decide about each difference from the best.
#[pyfunction]
fn decide(found: Vec<Difference>, margin: f64) -> Vec<Decision> {
    let found: Vec<Paired> = found.into_iter().map(difference).collect();
    let verdicts = backlane_stats::decide(&found, margin);
    verdicts.into_iter().map(decision).collect()
}

/// Contenders by their mean over seeds, each compared with the best.
#[pyfunction]
fn rank(contenders: Vec<(String, BTreeMap<u64, f64>)>, equal_within: f64) -> Vec<Row> {
    let standings = backlane_stats::rank(&contenders, equal_within);
    let row = |one: backlane_stats::Standing| {
        let behind = one.behind.as_ref().map(numbers);
        (one.name, numbers(&one.value), behind, decision(one.verdict))
    };
    standings.into_iter().map(row).collect()
}
