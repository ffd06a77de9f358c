//! Congestion controls that are Python classes.
//!
//! `values` are the objects that hooks get; `control` calls the hooks of one object. What a
//! class may be, and which hooks it has, is `backlane.congestion`'s to say: its function
//! `prepare` gives a function from a seed to the hooks of a fresh object. An error in a hook
//! ends the run, by way of [`Failed`], since the simulator's hooks cannot fail.

mod control;
mod failure;
mod values;

use std::sync::Arc;

use backlane_scenario::Described;
use backlane_world::tcp::congestion::Custom;
use pyo3::intern;
use pyo3::prelude::*;

use control::PythonControl;

pub(crate) use failure::{ControlFailure, Failed};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<values::Ack>()?;
    module.add_class::<values::Arrival>()?;
    module.add_class::<values::RateSample>()?;
    module.add_class::<values::RttSample>()?;
    module.add_class::<values::LostPacket>()?;
    module.add_class::<values::Window>()
}

/// The Python controls of a scenario. Each file is executed anew, so that runs share nothing.
pub(crate) fn controls(
    py: Python<'_>,
    scenario: &Described,
    failed: &Failed,
) -> PyResult<Vec<Custom>> {
    let mut controls = Vec::new();
    for control in scenario.custom_controls() {
        let Some(python) = &control.python else {
            continue;
        };
        let make = py
            .import(intern!(py, "backlane.congestion"))?
            .getattr(intern!(py, "prepare"))?
            .call1((&python.file, &python.class, &python.source))?
            .unbind();
        let name: Arc<str> = control.name.as_str().into();
        let failed = failed.clone();
        controls.push(Custom::new(&control.name, move |seed| {
            Box::new(PythonControl::new(&make, seed, &name, &failed))
        }));
    }
    Ok(controls)
}
