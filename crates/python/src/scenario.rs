//! Checks, plans and descriptions of scenario files.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use backlane_scenario::{
    Described, Diagnostic, Interrupt, Options, Report, Severity, Stopped, TableError, TableReader,
    Watch,
};
use pyo3::exceptions::{PyException, PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::ScenarioError;

/// Wall time between two checks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(remarks, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(contender_keys, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(explain_key, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_key, module)?)?;
    module.add_function(wrap_pyfunction!(codes, module)?)?;
    module.add_function(wrap_pyfunction!(template, module)?)?;
    module.add_function(wrap_pyfunction!(template_names, module)?)
}

/// Checks a scenario and returns its warnings. An exception of a signal handler ends the check.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()))]
fn check<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    overrides: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyList>> {
    let warnings = watched(py, &overrides, None, |options| {
        backlane_world::catalogue().check_with(text, path, options)
    })?;
    diagnostics(py, &warnings)
}

/// Warnings that need the network of a resolved scenario; none if it cannot be built, which a run
/// reports.
#[pyfunction]
fn remarks<'py>(
    py: Python<'py>,
    resolved: &str,
    seed: u64,
    path: &str,
) -> PyResult<Bound<'py, PyList>> {
    let remarks = py.detach(|| {
        let described = backlane_world::catalogue().described_for(resolved, seed);
        match described.ok()? {
            Described::Network(scenario) => backlane_world::remarks(&scenario, seed, path).ok(),
            Described::Slotted(_) => None,
        }
    });
    diagnostics(py, &remarks.unwrap_or_default())
}

/// What a run of a resolved scenario costs, by part.
#[pyfunction]
fn estimate<'py>(py: Python<'py>, resolved: &str) -> PyResult<Bound<'py, PyDict>> {
    let estimate = py
        .detach(|| {
            backlane_world::catalogue()
                .described(resolved)
                .map(|of| backlane_world::estimate(&of))
        })
        .map_err(|report| report_error(py, &report))?;
    let parts: Vec<_> = (estimate.parts.iter())
        .map(|part| {
            let dict = PyDict::new(py);
            dict.set_item("name", &part.name)?;
            dict.set_item("count", part.count)?;
            dict.set_item("cpu_s", part.cpu_s)?;
            dict.set_item("memory_bytes", part.memory_bytes)?;
            dict.set_item("disk_bytes", part.disk_bytes)?;
            PyResult::Ok(dict)
        })
        .collect::<PyResult<_>>()?;
    let dict = PyDict::new(py);
    dict.set_item("cpu_s", estimate.cpu_s)?;
    dict.set_item("memory_bytes", estimate.memory_bytes)?;
    dict.set_item("disk_bytes", estimate.disk_bytes)?;
    dict.set_item("events", estimate.events)?;
    dict.set_item("simulated_s", estimate.simulated_s)?;
    dict.set_item("divides", estimate.divides)?;
    dict.set_item("parts", parts)?;
    Ok(dict)
}

/// Resolves every cell of a scenario and returns the plan as JSON. An exception of a signal handler
/// ends it.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new(), seed = None))]
fn plan(
    py: Python<'_>,
    text: &str,
    path: &str,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
) -> PyResult<String> {
    let plan = watched(py, &overrides, seed, |options| {
        backlane_world::catalogue().plan_with(text, path, options)
    })?;
    py.detach(|| serde_json::to_string(&plan))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Reads a scenario file without the interpreter's lock, which is taken at intervals for signal
/// handlers, and for tables in Parquet.
fn watched<T: Send>(
    py: Python<'_>,
    overrides: &[(String, String)],
    seed: Option<u64>,
    read: impl FnOnce(Options<'_>) -> Result<T, Stopped> + Send,
) -> PyResult<T> {
    let (result, raised) = py.detach(|| {
        let raised = Rc::default();
        let options = Options {
            overrides,
            seed,
            texts: None,
            read_table: Some(table(Rc::clone(&raised))),
            watch: Some(signals(Rc::clone(&raised))),
        };
        let result = read(options);
        (result, raised.take())
    });
    result.map_err(|stopped| match (stopped, raised) {
        (Stopped::Refused(report), _) => report_error(py, &report),
        (Stopped::Interrupted, Some(error)) => error,
        (Stopped::Interrupted, None) => {
            PyRuntimeError::new_err("the reading was interrupted without a reason")
        }
    })
}

/// The exception that ended the reading.
type Raised = Rc<RefCell<Option<PyErr>>>;

/// Calls the signal handlers; an exception ends the reading.
fn signals(raised: Raised) -> Watch {
    let mut last = Instant::now();
    Box::new(move || {
        if last.elapsed() < LOOK_EVERY {
            return Ok(());
        }
        let seen = Python::attach(|py| -> PyResult<()> { py.check_signals() });
        last = Instant::now();
        seen.map_err(|error| {
            raised.replace(Some(error));
            Interrupt
        })
    })
}

/// Reads a table in Parquet as CSV, by `backlane.traces`.
fn table(raised: Raised) -> TableReader {
    Box::new(move |path: &Path| {
        Python::attach(|py| {
            let read = || {
                let traces = py.import("backlane.traces")?;
                traces.call_method1("csv_of", (path,))?.extract()
            };
            read().map_err(|error: PyErr| {
                // An interrupt is no failure of the reader.
                if error.is_instance_of::<PyException>(py) {
                    TableError::Unreadable(error.value(py).to_string())
                } else {
                    raised.replace(Some(error));
                    TableError::Interrupted
                }
            })
        })
    })
}

/// The swept keys that make a contender.
#[pyfunction]
fn contender_keys(swept: Vec<String>, named: Vec<String>) -> Vec<String> {
    let keys = backlane_scenario::contender_keys(&swept, &named);
    keys.into_iter().map(str::to_owned).collect()
}

/// The JSON Schema of scenario files.
#[pyfunction]
fn schema() -> String {
    backlane_scenario::schema(backlane_world::catalogue())
}

/// The explanation of a key by its path.
#[pyfunction]
fn explain_key(path: &str) -> Option<String> {
    backlane_world::catalogue().explain(path)
}

/// The path of a key most like `path`.
#[pyfunction]
fn nearest_key(path: &str) -> Option<String> {
    backlane_world::catalogue().nearest_path(path)
}

/// The long text of an error code.
#[pyfunction]
fn explain(code: &str) -> Option<String> {
    backlane_scenario::explain(code)
}

/// Every error code of scenario files.
#[pyfunction]
fn codes() -> Vec<&'static str> {
    backlane_scenario::codes()
}

/// A scenario to begin with, and the files that it names by their names.
#[pyfunction]
fn template(name: &str) -> PyResult<(String, Vec<(&'static str, &'static str)>)> {
    let found = backlane_scenario::template(backlane_world::catalogue(), name);
    let found = found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
    Ok((found.text, found.files.to_vec()))
}

/// The names that `template` knows, each with what it describes.
#[pyfunction]
fn template_names() -> Vec<(&'static str, &'static str)> {
    backlane_scenario::template_names()
}

/// A report as a Python exception.
pub(crate) fn report_error(py: Python<'_>, report: &Report) -> PyErr {
    let rendered = report.to_string();
    let error = ScenarioError::new_err(rendered.clone());
    let filled = diagnostics(py, &report.diagnostics).and_then(|list| {
        let value = error.value(py);
        value.setattr("diagnostics", list)?;
        value.setattr("rendered", rendered)
    });
    match filled {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn diagnostics<'py>(py: Python<'py>, list: &[Diagnostic]) -> PyResult<Bound<'py, PyList>> {
    let items: Vec<Bound<'py, PyDict>> = list
        .iter()
        .map(|diagnostic| fields(py, diagnostic))
        .collect::<PyResult<_>>()?;
    PyList::new(py, items)
}

fn fields<'py>(py: Python<'py>, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    dict.set_item("code", diagnostic.code)?;
    dict.set_item("severity", severity)?;
    dict.set_item("message", &diagnostic.message)?;
    dict.set_item("file", &diagnostic.file)?;
    dict.set_item("line", diagnostic.line)?;
    dict.set_item("column", diagnostic.column)?;
    dict.set_item("source_line", &diagnostic.source_line)?;
    dict.set_item("length", diagnostic.length)?;
    dict.set_item("label", &diagnostic.label)?;
    dict.set_item("help", &diagnostic.help)?;
    dict.set_item("rendered", diagnostic.to_string())?;
    Ok(dict)
}
