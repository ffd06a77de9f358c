//! The execution of one run without the interpreter's lock.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use backlane_scenario::model::Stack;
use backlane_world::record::Table;
use backlane_world::units::SimTime;
use backlane_world::{
    Described, Interrupt, Models, Scenario, Sink, Supplied, Threads, World, slotted,
};
use cpu_time::ThreadTime;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::congestion;
use crate::errors::run_error;
use crate::failure::{Failed, HookFailure};
use crate::outcome::RunResult;
use crate::ran::Ran;
use crate::routing;
use crate::scenario::report_error;
use crate::table::ArrowTable;

/// Wall time between two reports of progress.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(200);

/// The files of Linux kernels, by name.
pub(crate) type KernelFiles = BTreeMap<String, (PathBuf, PathBuf, PathBuf)>;

/// Changes whenever the results of a scenario may change.
#[pyfunction]
pub(crate) fn model_version() -> &'static str {
    backlane_scenario::MODEL_VERSION
}

/// The commit that the module was built from, or "unknown".
#[pyfunction]
pub(crate) fn commit() -> &'static str {
    env!("BACKLANE_COMMIT")
}

/// A hash of the sources of the models that the module was built from.
#[pyfunction]
pub(crate) fn sources() -> &'static str {
    env!("BACKLANE_SOURCES")
}

/// Why a run has no result.
pub(crate) enum Failure {
    Hook {
        message: String,
        place: String,
        cause: PyErr,
    },
    Built(String),
    Panicked(String),
    Stopped(PyErr),
    /// A kernel of this name is not built.
    NoKernel(String),
    /// A kernel has failed.
    Kernel(String),
    /// Flows have their ends in programs on the wall clock.
    Emulated,
}

impl From<HookFailure> for Failure {
    fn from(failure: HookFailure) -> Self {
        Python::attach(|py| {
            if failure.error.is_instance_of::<PyKeyboardInterrupt>(py) {
                Self::Stopped(failure.error)
            } else {
                let (message, place) = failure.described(py);
                Self::Hook {
                    message,
                    place,
                    cause: failure.error,
                }
            }
        })
    }
}

/// Runs a resolved scenario once. `progress(simulated_s, duration_s, events)` is called about
/// five times a second. `sink.series(probe, table)` and `sink.capture(node, data)` receive series
/// and captures during the run; the result has none then. An exception of any of them ends the run.
/// `threads` is the number of threads; with `at_most`, fewer are used where that is faster.
/// `kernels` has the files of Linux kernels by name: the kernel, the library before it and the
/// program in it.
#[pyfunction]
#[pyo3(signature = (resolved, seed, progress = None, sink = None, threads = 1, at_most = false, kernels = None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn run(
    py: Python<'_>,
    resolved: &str,
    seed: u64,
    progress: Option<Py<PyAny>>,
    sink: Option<Py<PyAny>>,
    threads: usize,
    at_most: bool,
    kernels: Option<KernelFiles>,
) -> PyResult<RunResult> {
    let scenario = backlane_world::catalogue()
        .described_for(resolved, seed)
        .map_err(|report| report_error(py, &report))?;
    let failed = Failed::default();
    let controls = congestion::controls(py, &scenario, &failed)?;
    let router = routing::protocol(py, &scenario, &failed)?;
    let supplied = Supplied {
        controls: &controls,
        router: router.as_ref(),
        threads: if at_most {
            Threads::AtMost(threads)
        } else {
            Threads::Exactly(threads)
        },
        ..Supplied::default()
    };
    let wall = Instant::now();
    let (ran, cpu) = py.detach(|| {
        let cpu = ThreadTime::now();
        let (progress, sink) = (progress.as_ref(), sink.as_ref());
        let kernels = kernels.unwrap_or_default();
        let ran = carry_out(
            &scenario,
            seed,
            supplied,
            &failed,
            (progress, sink),
            &kernels,
        );
        (ran, cpu.elapsed())
    });
    match ran {
        Ok(ran) => RunResult::of(py, ran, wall.elapsed(), cpu),
        Err(failure) => Err(failure.raised(py)?),
    }
}

impl Failure {
    /// The exception.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn raised(self, py: Python<'_>) -> PyResult<PyErr> {
        Ok(match self {
            Self::Stopped(error) => error,
            Self::Hook {
                message,
                place,
                cause,
            } => {
                let error = run_error(py, "R103", message);
                error.value(py).setattr("place", place)?;
                error.set_cause(py, Some(cause));
                error
            }
            Self::Built(message) => run_error(py, "R101", message),
            Self::Panicked(message) => run_error(py, "R102", message),
            Self::NoKernel(name) => run_error(
                py,
                "R096",
                format!("kernel {name} is not built: backlane linux build {name}"),
            ),
            Self::Kernel(message) => run_error(py, "R104", message),
            Self::Emulated => {
                let message = "flows with stack = \"external\" need `backlane emulate`";
                run_error(py, "R105", message.to_owned())
            }
        })
    }

    /// The result of an attempt to build or run; `failed` and `stopped` are the exceptions of hooks
    /// and of the watch.
    pub(crate) fn sorted<T>(
        attempt: std::thread::Result<Result<Result<T, Interrupt>, Self>>,
        failed: &Failed,
        stopped: &RefCell<Option<PyErr>>,
    ) -> Result<T, Self> {
        if let Some(failure) = failed.take() {
            return Err(failure.into());
        }
        match attempt {
            Ok(Ok(Ok(done))) => Ok(done),
            Ok(Ok(Err(Interrupt))) => Err(stopped.take().map_or_else(
                || Self::Panicked("the run was interrupted without a reason".to_owned()),
                Self::Stopped,
            )),
            Ok(Err(failure)) => Err(failure),
            Err(payload) => {
                let message = payload
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| {
                        payload
                            .downcast_ref::<&str>()
                            .map(|text| (*text).to_owned())
                    })
                    .unwrap_or_else(|| "the simulator panicked".to_owned());
                Err(Self::Panicked(message))
            }
        }
    }
}

/// A sink that is a Python object.
pub(crate) struct PythonSink<'a> {
    object: &'a Py<PyAny>,
    /// The exception that it raised.
    stopped: &'a RefCell<Option<PyErr>>,
}

impl<'a> PythonSink<'a> {
    pub(crate) fn new(object: &'a Py<PyAny>, stopped: &'a RefCell<Option<PyErr>>) -> Self {
        Self { object, stopped }
    }

    fn stopped_by<T>(&self, result: PyResult<T>) -> Result<(), Interrupt> {
        result.map(drop).map_err(|error| {
            self.stopped.replace(Some(error));
            Interrupt
        })
    }
}

impl Sink for PythonSink<'_> {
    fn series(&mut self, probe: &'static str, rows: Table) -> Result<(), Interrupt> {
        self.stopped_by(Python::attach(|py| {
            let rows = ArrowTable::of(&rows)?;
            self.object.call_method1(py, "series", (probe, rows))
        }))
    }

    fn capture(&mut self, node: &str, bytes: Vec<u8>) -> Result<(), Interrupt> {
        self.stopped_by(Python::attach(|py| {
            let data = PyBytes::new(py, &bytes);
            drop(bytes);
            self.object.call_method1(py, "capture", (node, data))
        }))
    }
}

fn run_world(
    world: World,
    watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    sink: Option<&mut dyn Sink>,
) -> Result<Ran, Interrupt> {
    let (threads, undivided) = (world.threads(), world.undivided());
    let (outcome, helpers_cpu) = world.run_into(watch, sink)?;
    Ok(Ran {
        outcome,
        threads,
        undivided,
        helpers_cpu,
        consoles: Vec::new(),
    })
}

/// Runs a world whose scenario has kernels or other ends outside the simulation.
#[cfg(target_os = "linux")]
fn run_with_kernels(
    world: World,
    scenario: &Scenario,
    seed: u64,
    kernels: &KernelFiles,
    watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    sink: Option<&mut dyn Sink>,
) -> Result<Result<Ran, Interrupt>, Failure> {
    let Some(linux) = scenario.linux.as_ref() else {
        return Err(Failure::Emulated);
    };
    if scenario
        .flows
        .iter()
        .any(|flow| flow.stack == Stack::External)
    {
        return Err(Failure::Emulated);
    }
    let Some((kernel, shim, agent)) = kernels.get(&linux.kernel) else {
        return Err(Failure::NoKernel(linux.kernel.clone()));
    };
    let build = backlane_linux::Build {
        files: backlane_linux::guest::Files {
            kernel: kernel.clone(),
            shim: shim.clone(),
            agent: agent.clone(),
        },
        sysctl: linux.sysctl.clone(),
        memory_bytes: linux.memory_bytes,
    };
    let failed = |failure: backlane_linux::Failure| Failure::Kernel(failure.to_string());
    let mut kernels = backlane_linux::Kernels::boot(&world, &build, seed).map_err(failed)?;
    let undivided = world.undivided();
    let ran = world.run_beside(&mut kernels, watch, sink);
    if let Some(failure) = kernels.take_failure() {
        return Err(failed(failure));
    }
    let consoles = kernels.consoles();
    Ok(ran.map(|outcome| Ran {
        outcome,
        threads: 1,
        undivided,
        helpers_cpu: Duration::ZERO,
        consoles,
    }))
}

#[cfg(not(target_os = "linux"))]
fn run_with_kernels(
    _world: World,
    scenario: &Scenario,
    _seed: u64,
    _kernels: &KernelFiles,
    _watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    _sink: Option<&mut dyn Sink>,
) -> Result<Result<Ran, Interrupt>, Failure> {
    Err(match &scenario.linux {
        Some(linux) => Failure::NoKernel(linux.kernel.clone()),
        None => Failure::Emulated,
    })
}

fn carry_out(
    scenario: &Described,
    seed: u64,
    supplied: Supplied<'_>,
    failed: &Failed,
    (progress, sink): (Option<&Py<PyAny>>, Option<&Py<PyAny>>),
    kernels: &KernelFiles,
) -> Result<Ran, Failure> {
    let duration_s = match scenario {
        Described::Network(scenario) => {
            (scenario.warm_up.saturating_add(scenario.duration)).as_secs_f64()
        }
        Described::Slotted(model) => {
            slotted::config(model).map_or(0.0, |config| config.total_slots() as f64)
        }
    };
    let stopped = RefCell::new(None);
    let mut last = Instant::now();
    let mut watch = |now_s: f64, events: u64| {
        if failed.is_set() {
            return Err(Interrupt);
        }
        if last.elapsed() < REPORT_EVERY {
            return Ok(());
        }
        last = Instant::now();
        Python::attach(|py| match progress {
            Some(progress) => progress.call1(py, (now_s, duration_s, events)).map(drop),
            None => py.check_signals(),
        })
        .map_err(|error| {
            stopped.replace(Some(error));
            Interrupt
        })
    };
    let mut sink = sink.map(|object| PythonSink::new(object, &stopped));
    let sink = sink.as_mut().map(|sink| sink as &mut dyn Sink);
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let outcome = match scenario {
            Described::Network(scenario) => {
                let mut watch = |now: SimTime, events| watch(now.as_secs_f64(), events);
                let models = Models::standard();
                let built = World::watched(models, supplied, scenario, seed, None, &mut watch);
                match built {
                    Ok(Ok(world)) if !world.outside_flows().is_empty() => {
                        return run_with_kernels(world, scenario, seed, kernels, watch, sink);
                    }
                    built => built
                        .map(|built| built.and_then(|world| run_world(world, &mut watch, sink))),
                }
            }
            Described::Slotted(slotted) => {
                let outcome = slotted::run(slotted, seed, |slots| watch(slots as f64, slots), sink);
                outcome.map(|outcome| {
                    outcome.map(|outcome| Ran {
                        outcome,
                        threads: 1,
                        undivided: Some("slots follow each other"),
                        helpers_cpu: Duration::ZERO,
                        consoles: Vec::new(),
                    })
                })
            }
        };
        outcome.map_err(|e| Failure::Built(e.to_string()))
    }));
    Failure::sorted(attempt, failed, &stopped)
}
