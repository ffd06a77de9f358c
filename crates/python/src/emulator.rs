//! A run on the wall clock, between TUN devices.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backlane_emulate::tun::{self, Tuns};
use backlane_emulate::{Beside, Pacer, Stop};
use backlane_scenario::model::Stack;
use backlane_units::SimTime;
use backlane_world::net::NodeId;
use backlane_world::{Described, Interrupt, LinkState, Models, Sink, Supplied, World, address};
use cpu_time::ThreadTime;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::congestion;
use crate::errors::run_error;
use crate::failure::Failed;
use crate::outcome::RunResult;
use crate::ran::Ran;
use crate::routing;
use crate::run::{Failure, PythonSink};
use crate::scenario::report_error;

/// Wall time between two looks at the links.
const LOOK_EVERY: backlane_units::Duration = backlane_units::Duration::from_millis(250);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<EmulationView>()?;
    module.add_class::<Emulator>()
}

/// An emulation at an instant.
#[pyclass(module = "backlane._native", frozen, get_all)]
#[derive(Clone, Debug, Default)]
struct EmulationView {
    /// The simulated time, the warm-up included.
    now_s: f64,
    /// Of each link direction: bytes sent, bytes queued, packets dropped, rate in bit/s.
    links: Vec<(u64, u64, u64, u64)>,
    received_pkts: u64,
    delivered_pkts: u64,
    refused_pkts: u64,
    rejected_pkts: u64,
    /// Of deliveries, in seconds; `None` before the first.
    late_p50_s: Option<f64>,
    late_p95_s: Option<f64>,
    late_p99_s: Option<f64>,
    late_mean_s: Option<f64>,
    late_pkts: u64,
    /// The largest of an event.
    late_worst_s: f64,
    /// Periods longer than a second in which every event was late by more than 10 ms, and their length.
    behind_periods: u64,
    behind_s: f64,
}

impl EmulationView {
    /// Everything but the links.
    fn of<W: backlane_emulate::Wall>(pacer: &Pacer<W>, now: SimTime, rejected_pkts: u64) -> Self {
        let (counts, lateness) = (pacer.counts(), pacer.lateness());
        let deliveries = lateness.deliveries();
        let (behind_periods, behind_for) = lateness.behind();
        Self {
            now_s: now.as_secs_f64(),
            links: Vec::new(),
            received_pkts: counts.received,
            delivered_pkts: counts.delivered,
            refused_pkts: counts.refused,
            rejected_pkts,
            late_p50_s: deliveries.quantile_s(0.5),
            late_p95_s: deliveries.quantile_s(0.95),
            late_p99_s: deliveries.quantile_s(0.99),
            late_mean_s: deliveries.mean_s(),
            late_pkts: lateness.late_deliveries(),
            late_worst_s: lateness.worst().as_secs_f64(),
            behind_periods,
            behind_s: behind_for.as_secs_f64(),
        }
    }
}

/// What the thread of the run shares with the others.
#[derive(Default)]
struct Shared {
    stops: AtomicBool,
    view: Mutex<EmulationView>,
}

impl Shared {
    fn view(&self) -> MutexGuard<'_, EmulationView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Prepared {
    world: World,
    failed: Failed,
}

/// A scenario whose external flows have their hosts on this machine. Each host needs a device
/// (`open`) before `run`.
#[pyclass(module = "backlane._native", frozen)]
struct Emulator {
    prepared: Mutex<Option<Prepared>>,
    /// Of each host; its interface exists as long as this.
    devices: Mutex<Vec<Option<Arc<File>>>>,
    hosts: Vec<NodeId>,
    named: Vec<(String, String)>,
    links: Vec<(String, String)>,
    warm_up_s: f64,
    end_s: f64,
    shared: Arc<Shared>,
}

impl Emulator {
    fn lock(&self) -> MutexGuard<'_, Option<Prepared>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn devices(&self) -> MutexGuard<'_, Vec<Option<Arc<File>>>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed(py: Python<'_>) -> PyErr {
    let message = "the emulation is closed, runs or has ended, or a host has no device";
    run_error(py, "R092", message.to_owned())
}

#[pymethods]
impl Emulator {
    #[new]
    fn new(py: Python<'_>, resolved: &str, seed: u64) -> PyResult<Self> {
        let scenario = backlane_world::catalogue()
            .described_for(resolved, seed)
            .map_err(|report| report_error(py, &report))?;
        let failed = Failed::default();
        let controls = congestion::controls(py, &scenario, &failed)?;
        let router = routing::protocol(py, &scenario, &failed)?;
        let Described::Network(network) = &scenario else {
            let message = "a slotted model has no packets that programs could send";
            return Err(run_error(py, "R121", message.to_owned()));
        };
        if network.flows.iter().any(|flow| flow.stack == Stack::Linux) {
            let message =
                "flows with stack = \"linux\" are in simulated time, and an emulation is not";
            return Err(run_error(py, "R121", message.to_owned()));
        }
        let supplied = Supplied {
            controls: &controls,
            router: router.as_ref(),
            ..Supplied::default()
        };
        let stopped = RefCell::new(None);
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            let watch = |_, _| {
                py.check_signals().map_err(|error| {
                    stopped.replace(Some(error));
                    Interrupt
                })
            };
            World::watched(Models::standard(), supplied, network, seed, None, watch)
                .map_err(|error| Failure::Built(error.to_string()))
        }));
        let world = match Failure::sorted(attempt, &failed, &stopped) {
            Ok(world) => world,
            Err(failure) => return Err(failure.raised(py)?),
        };
        let mut hosts: Vec<NodeId> = world
            .outside_flows()
            .iter()
            .flat_map(|flow| [flow.spec.source, flow.spec.destination])
            .collect();
        hosts.sort_unstable();
        hosts.dedup();
        let named = hosts.iter().map(|&host| {
            let [a, b, c, d] = address(host).to_be_bytes();
            (world.name(host).to_owned(), format!("{a}.{b}.{c}.{d}"))
        });
        let [warm_up, end] = world.span();
        Ok(Self {
            named: named.collect(),
            links: world
                .link_names()
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .collect(),
            warm_up_s: warm_up.as_secs_f64(),
            end_s: end.as_secs_f64(),
            shared: Arc::default(),
            prepared: Mutex::new(Some(Prepared { world, failed })),
            devices: Mutex::new(hosts.iter().map(|_| None).collect()),
            hosts,
        })
    }

    /// The name and the IPv4 address of each host.
    #[getter]
    fn hosts(&self) -> Vec<(String, String)> {
        self.named.clone()
    }

    /// The ends of each link direction, in the order of the views.
    #[getter]
    fn links(&self) -> Vec<(String, String)> {
        self.links.clone()
    }

    #[getter]
    fn warm_up_s(&self) -> f64 {
        self.warm_up_s
    }

    #[getter]
    fn end_s(&self) -> f64 {
        self.end_s
    }

    /// Opens the TUN device of a host in the namespace at `path`. The caller makes it an interface by
    /// the descriptor that is returned, which remains the emulation's.
    fn open(&self, py: Python<'_>, number: usize, path: &str) -> PyResult<i32> {
        let device = py.detach(|| tun::open(Path::new(path)))?;
        let mut devices = self.devices();
        let place = devices.get_mut(number);
        let place = place.ok_or_else(|| PyIndexError::new_err(format!("no host {number}")))?;
        Ok(place.insert(Arc::new(device)).as_raw_fd())
    }

    /// Runs to the end of the scenario's duration or until `stop`, from another thread. `sink` is that
    /// of `run`.
    #[pyo3(signature = (sink = None))]
    fn run(&self, py: Python<'_>, sink: Option<Py<PyAny>>) -> PyResult<RunResult> {
        let devices: Option<Vec<_>> = self.devices().iter().cloned().collect();
        let devices = devices.ok_or_else(|| closed(py))?;
        let Prepared { world, failed } = self.lock().take().ok_or_else(|| closed(py))?;
        let (hosts, shared, warm_up) = (self.hosts.clone(), &self.shared, world.span()[0]);
        let ran = py.detach(|| {
            let (wall, cpu) = (Instant::now(), ThreadTime::now());
            let stopped = RefCell::new(None);
            let mut sink = sink
                .as_ref()
                .map(|object| PythonSink::new(object, &stopped));
            let sink = sink.as_mut().map(|sink| sink as &mut dyn Sink);
            let attempt = catch_unwind(AssertUnwindSafe(|| {
                let mut looked: Option<SimTime> = None;
                let ask = |pacer: &mut Pacer<Tuns>,
                           door: &mut backlane_world::Door<'_>,
                           now: SimTime,
                           _: bool| {
                    let is_due = looked.is_none_or(|at| now.saturating_since(at) >= LOOK_EVERY);
                    if is_due {
                        looked = Some(now);
                        let links = door.links().into_iter().map(of_link).collect();
                        let rejected_pkts = shared.view().rejected_pkts;
                        let view = EmulationView::of(pacer, now, rejected_pkts);
                        *shared.view() = EmulationView { links, ..view };
                    }
                    !shared.stops.load(Ordering::Relaxed)
                };
                let mut beside = Beside::new(Pacer::new(Tuns::new(devices), warm_up), hosts, ask);
                let watch = |now: SimTime, _: u64| {
                    // Afterwards, `ask` ends the run.
                    let is_left = now < warm_up && shared.stops.load(Ordering::Relaxed);
                    if is_left {
                        stopped.replace(Some(PyKeyboardInterrupt::new_err(())));
                    }
                    let goes_on = !is_left && !failed.is_set();
                    goes_on.then_some(()).ok_or(Interrupt)
                };
                let outcome = world.run_beside(&mut beside, watch, sink);
                if let Some(Stop::Failed(error)) = beside.stop() {
                    return Err(Failure::Built(format!("a device failed: {error}")));
                }
                let links = std::mem::take(&mut shared.view().links);
                let now = outcome
                    .as_ref()
                    .map_or(0.0, |outcome| outcome.summary.simulated_s);
                let view = EmulationView::of(beside.pacer(), SimTime::ZERO, beside.rejected());
                *shared.view() = EmulationView {
                    links,
                    now_s: now,
                    ..view
                };
                Ok(outcome)
            }));
            Failure::sorted(attempt, &failed, &stopped)
                .map(|outcome| (outcome, wall.elapsed(), cpu.elapsed()))
        });
        let (outcome, wall, cpu) = match ran {
            Ok(ran) => ran,
            Err(failure) => return Err(failure.raised(py)?),
        };
        let ran = Ran {
            outcome,
            threads: 1,
            undivided: Some("it shares the wall clock with programs"),
            helpers_cpu: Duration::ZERO,
            consoles: Vec::new(),
        };
        RunResult::of(py, ran, wall, cpu)
    }

    /// Ends the run within 50 ms; it has results, unless it is in its warm-up.
    fn stop(&self) {
        self.shared.stops.store(true, Ordering::Relaxed);
    }

    /// The emulation at the last look, at most a quarter of a second ago while it runs.
    fn view(&self) -> EmulationView {
        self.shared.view().clone()
    }

    /// What the emulation measured of itself so far.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let view = self.view();
        let summary = PyDict::new(py);
        summary.set_item("received_pkts", view.received_pkts)?;
        summary.set_item("delivered_pkts", view.delivered_pkts)?;
        summary.set_item("refused_pkts", view.refused_pkts)?;
        summary.set_item("rejected_pkts", view.rejected_pkts)?;
        let late = PyDict::new(py);
        late.set_item("mean_s", view.late_mean_s)?;
        late.set_item("p50_s", view.late_p50_s)?;
        late.set_item("p95_s", view.late_p95_s)?;
        late.set_item("p99_s", view.late_p99_s)?;
        late.set_item("worst_s", view.late_worst_s)?;
        late.set_item("above_10_ms_pkts", view.late_pkts)?;
        late.set_item("behind_periods", view.behind_periods)?;
        late.set_item("behind_s", view.behind_s)?;
        summary.set_item("lateness", late)?;
        Ok(summary)
    }

    /// Closes the devices of an emulation that does not run; their interfaces vanish.
    fn close(&self) {
        let prepared = self.lock().take();
        drop(prepared);
        self.devices().fill(None);
    }
}

fn of_link(link: LinkState) -> (u64, u64, u64, u64) {
    (link.sent_bytes, link.queue_bytes, link.drops, link.rate_bps)
}
