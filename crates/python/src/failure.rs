//! The error of a Python class, on its way to the end of the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use backlane_units::SimTime;
use pyo3::intern;
use pyo3::prelude::*;

/// An object of a Python class, for messages.
#[derive(Debug)]
pub(crate) struct Origin {
    /// Such as `the congestion control "python:aimd.py:Aimd"`.
    pub(crate) name: String,
    /// The file of its class.
    pub(crate) file: String,
    /// What was made when the object was made.
    pub(crate) part_of: &'static str,
}

/// An error that a hook raised.
#[derive(Debug)]
pub(crate) struct HookFailure {
    pub(crate) origin: Arc<Origin>,
    /// `None`: while the object was made.
    pub(crate) at: Option<SimTime>,
    pub(crate) error: PyErr,
}

impl HookFailure {
    /// What happened, with the traceback, and the place in the class's file.
    pub(crate) fn described(&self, py: Python<'_>) -> (String, String) {
        let Origin {
            name,
            file,
            part_of,
        } = &*self.origin;
        let (traceback, place) = py
            .import(intern!(py, "backlane.classes"))
            .and_then(|module| {
                // The value alone would come without the traceback.
                let error = self.error.clone_ref(py).into_value(py);
                module
                    .call_method1(intern!(py, "described"), (file, error))?
                    .extract()
            })
            .unwrap_or_else(|_| (self.error.to_string(), file.clone()));
        let when = match self.at {
            Some(at) => format!("at {} s of simulated time", at.as_secs_f64()),
            None => format!("while {part_of} was made"),
        };
        (format!("{name} failed {when}\n{traceback}"), place)
    }
}

/// Where the Python objects of a run put the first error. Once it is there they do nothing more,
/// and the run ends at its next check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failed(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    is_set: AtomicBool,
    failure: Mutex<Option<HookFailure>>,
}

impl Failed {
    /// Whether there is one.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed)
    }

    /// Takes it out; the objects still do nothing.
    pub(crate) fn take(&self) -> Option<HookFailure> {
        self.lock().take()
    }

    pub(crate) fn put(&self, failure: HookFailure) {
        self.lock().get_or_insert(failure);
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<HookFailure>> {
        self.0
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
