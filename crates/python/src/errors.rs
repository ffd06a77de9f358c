//! Rust errors as Python exceptions.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};

create_exception!(
    backlane._native,
    ScenarioError,
    PyException,
    "A scenario that cannot be run as written; `diagnostics` and `rendered` say why."
);
create_exception!(
    backlane._native,
    RunError,
    PyException,
    "A run that could not be carried out; `code` names the cause."
);

/// A run failed.
pub(crate) fn run_error(py: Python<'_>, code: &str, message: String) -> PyErr {
    let error = RunError::new_err(message);
    match error.value(py).setattr("code", code) {
        Ok(()) => error,
        Err(other) => other,
    }
}
