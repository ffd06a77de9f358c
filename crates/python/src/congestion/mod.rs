//! Congestion controls that are Python classes.
//!
//! `values` are the objects that hooks get; `control` calls the hooks of one object. What a
//! class may be, and which hooks it has, is `backlane.congestion`'s to say: its function
//! `prepare` gives a function from a seed to the hooks of a fresh object. An error in a hook
//! ends the run, by way of [`Failed`], since the simulator's hooks cannot fail.

mod control;
mod values;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use backlane_scenario::Described;
use backlane_units::SimTime;
use backlane_world::tcp::congestion::Custom;
use pyo3::intern;
use pyo3::prelude::*;

use control::PythonControl;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<values::Ack>()?;
    module.add_class::<values::Arrival>()?;
    module.add_class::<values::RateSample>()?;
    module.add_class::<values::RttSample>()?;
    module.add_class::<values::LostPacket>()?;
    module.add_class::<values::Window>()
}

/// An error that a Python control raised.
#[derive(Debug)]
pub(crate) struct ControlFailure {
    control: Arc<str>,
    /// `None`: while a connection was made.
    at: Option<SimTime>,
    pub(crate) error: PyErr,
}

impl ControlFailure {
    /// What happened, with the traceback, and the place in the class's file.
    pub(crate) fn told(&self, py: Python<'_>) -> (String, String) {
        let (traceback, place) = py
            .import(intern!(py, "backlane.congestion"))
            .and_then(|module| {
                // The value alone would come without the traceback.
                let error = self.error.clone_ref(py).into_value(py);
                let parts = (&*self.control, error);
                module.call_method1(intern!(py, "told"), parts)?.extract()
            })
            .unwrap_or_else(|_| (self.error.to_string(), self.control.to_string()));
        let when = match self.at {
            Some(at) => format!("at {} s of simulated time", at.as_secs_f64()),
            None => "while a connection was made".to_owned(),
        };
        let control = &self.control;
        let message = format!("the congestion control \"{control}\" failed {when}\n{traceback}");
        (message, place)
    }
}

/// Where the controls of a run put the first error. Once it is there they do nothing more, and
/// the run ends when it is next looked after.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failed(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    is_set: AtomicBool,
    failure: Mutex<Option<ControlFailure>>,
}

impl Failed {
    /// Whether there is one.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed)
    }

    /// Takes it out; the controls stay still.
    pub(crate) fn take(&self) -> Option<ControlFailure> {
        self.lock().take()
    }

    fn put(&self, failure: ControlFailure) {
        self.lock().get_or_insert(failure);
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ControlFailure>> {
        self.0
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
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
