//! Congestion controls that are Python classes.
//!
//! `values` are the objects that hooks get; `control` calls the hooks of one object. The Python
//! module `backlane.congestion` defines the hooks of a class: its function `prepare` returns a
//! function from a seed to the hooks of a new object. An error in a hook ends the run through
//! [`Failed`], since the simulator's hooks cannot fail.

mod control;
mod values;

use std::sync::Arc;

use backlane_scenario::Described;
use backlane_world::tcp::congestion::Custom;
use pyo3::intern;
use pyo3::prelude::*;

use crate::failure::{Failed, Origin};
use control::PythonControl;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<values::Ack>()?;
    module.add_class::<values::Arrival>()?;
    module.add_class::<values::RateSample>()?;
    module.add_class::<values::RttSample>()?;
    module.add_class::<values::LostPacket>()?;
    module.add_class::<values::Window>()
}

/// The Python controls of a scenario. Each file is executed again, so that runs share nothing.
pub(crate) fn controls(
    py: Python<'_>,
    scenario: &Described,
    failed: &Failed,
) -> PyResult<Vec<Custom>> {
    let mut controls = Vec::new();
    for control in scenario.custom_controls() {
        let python = &control.python;
        let make = py
            .import(intern!(py, "backlane.congestion"))?
            .getattr(intern!(py, "prepare"))?
            .call1((&python.file, &python.class, &python.source))?
            .unbind();
        let origin = Arc::new(Origin {
            name: format!("the congestion control \"{}\"", control.name),
            file: python.file.clone(),
            part_of: "a connection",
        });
        let failed = failed.clone();
        controls.push(Custom::new(&control.name, move |seed| {
            Box::new(PythonControl::new(&make, seed, &origin, &failed))
        }));
    }
    Ok(controls)
}
