//! The Python module `backlane._native`: wrappers and error mapping, no logic.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use pyo3::prelude::*;

mod congestion;
#[cfg(target_os = "linux")]
mod emulator;
mod errors;
mod failure;
mod outcome;
mod ran;
mod routing;
mod run;
mod scenario;
mod statistics;
mod stepper;
mod table;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add(
        "ScenarioError",
        module.py().get_type::<errors::ScenarioError>(),
    )?;
    module.add("RunError", module.py().get_type::<errors::RunError>())?;
    module.add_class::<outcome::RunResult>()?;
    module.add_class::<table::ArrowTable>()?;
    module.add_function(wrap_pyfunction!(outcome::tables, module)?)?;
    congestion::register(module)?;
    routing::register(module)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::model_version, module)?)?;
    module.add_function(wrap_pyfunction!(run::commit, module)?)?;
    module.add_function(wrap_pyfunction!(run::sources, module)?)?;
    #[cfg(target_os = "linux")]
    emulator::register(module)?;
    statistics::register(module)?;
    stepper::register(module)?;
    scenario::register(module)
}
