//! The error of a Python control, on its way to the end of the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use backlane_units::SimTime;
use pyo3::intern;
use pyo3::prelude::*;

/// An error that a Python control raised.
#[derive(Debug)]
pub(crate) struct ControlFailure {
    pub(super) control: Arc<str>,
    /// `None`: while a connection was made.
    pub(super) at: Option<SimTime>,
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

    pub(super) fn put(&self, failure: ControlFailure) {
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
