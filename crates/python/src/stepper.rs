//! A run that pauses where Python says, for environments of reinforcement learning.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backlane_units::SimTime;
use backlane_world::tcp::congestion::external::Command;
use backlane_world::{Described, Ended, Interrupt, Models, Stepped, Supplied, World};
use cpu_time::ThreadTime;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::congestion;
use crate::errors::run_error;
use crate::failure::Failed;
use crate::outcome::RunResult;
use crate::ran::Ran;
use crate::routing;
use crate::run::{Failure, REPORT_EVERY};
use crate::scenario::report_error;

/// The name of a congestion control that obeys, in results.
const EXTERNAL: &str = "external";

const PS_PER_S: f64 = 1e12;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FlowState>()?;
    module.add_class::<LinkState>()?;
    module.add_class::<Stepper>()
}

/// The state of a flow in a pause.
#[pyclass(module = "backlane._native", frozen, get_all)]
struct FlowState {
    has_started: bool,
    has_ended: bool,
    delivered_bytes: u64,
    mss_bytes: u32,
    cwnd_pkts: u32,
    in_flight_pkts: u32,
    srtt_s: f64,
    min_rtt_s: f64,
    rtt_samples: u64,
    rtt_sum_s: f64,
    delivered_pkts: u64,
    segments_sent: u64,
    retransmits: u64,
}

impl From<backlane_world::FlowState> for FlowState {
    fn from(flow: backlane_world::FlowState) -> Self {
        let tcp = flow.tcp.as_ref();
        Self {
            has_started: flow.has_started,
            has_ended: flow.has_ended,
            delivered_bytes: flow.delivered_bytes,
            mss_bytes: tcp.map_or(0, |tcp| tcp.mss_bytes),
            cwnd_pkts: tcp.map_or(0, |tcp| tcp.cwnd_pkts),
            in_flight_pkts: tcp.map_or(0, |tcp| tcp.in_flight_pkts),
            srtt_s: tcp.map_or(0.0, |tcp| tcp.srtt.as_secs_f64()),
            min_rtt_s: tcp
                .and_then(|tcp| tcp.min_rtt)
                .map_or(0.0, backlane_units::Duration::as_secs_f64),
            rtt_samples: tcp.map_or(0, |tcp| tcp.rtt_samples),
            rtt_sum_s: tcp.map_or(0.0, |tcp| tcp.rtt_sum.as_secs_f64()),
            delivered_pkts: tcp.map_or(0, |tcp| tcp.delivered_pkts),
            segments_sent: tcp.map_or(0, |tcp| tcp.segments_sent),
            retransmits: tcp.map_or(0, |tcp| tcp.retransmits),
        }
    }
}

/// The state of a link direction in a pause.
#[pyclass(module = "backlane._native", frozen, get_all)]
struct LinkState {
    sent_bytes: u64,
    queue_bytes: u64,
    drops: u64,
    rate_bps: u64,
}

impl From<backlane_world::LinkState> for LinkState {
    fn from(link: backlane_world::LinkState) -> Self {
        let backlane_world::LinkState {
            sent_bytes,
            queue_bytes,
            drops,
            rate_bps,
        } = link;
        Self {
            sent_bytes,
            queue_bytes,
            drops,
            rate_bps,
        }
    }
}

/// A run and the time that it took so far.
struct Running {
    stepped: Stepped,
    failed: Failed,
    wall: Duration,
    cpu: Duration,
}

impl Running {
    /// Does `part` of the run without the interpreter's lock.
    fn pass<T: Send>(
        mut self,
        py: Python<'_>,
        part: impl Send
        + FnOnce(
            Stepped,
            &mut dyn FnMut(SimTime, u64) -> Result<(), Interrupt>,
        ) -> Result<(T, Option<Stepped>), Interrupt>,
    ) -> PyResult<(T, Option<Self>)> {
        let Self {
            stepped, failed, ..
        } = self;
        let done = py.detach(|| {
            let (wall, cpu) = (Instant::now(), ThreadTime::now());
            let stopped = RefCell::new(None);
            let attempt = catch_unwind(AssertUnwindSafe(|| {
                Ok(part(stepped, &mut watch(&failed, &stopped)))
            }));
            Failure::sorted(attempt, &failed, &stopped)
                .map(|done| (done, wall.elapsed(), cpu.elapsed()))
        });
        match done {
            Ok(((done, stepped), wall, cpu)) => {
                self.wall += wall;
                self.cpu += cpu;
                let rest = stepped.map(|stepped| Self {
                    stepped,
                    failed,
                    ..self
                });
                Ok((done, rest))
            }
            Err(failure) => Err(failure.raised(py)?),
        }
    }
}

/// Ends a part of a run for a hook that has failed or a signal.
fn watch<'a>(
    failed: &'a Failed,
    stopped: &'a RefCell<Option<PyErr>>,
) -> impl FnMut(SimTime, u64) -> Result<(), Interrupt> + 'a {
    let mut last = Instant::now();
    move |_, _| {
        if failed.is_set() {
            return Err(Interrupt);
        }
        if last.elapsed() < REPORT_EVERY {
            return Ok(());
        }
        last = Instant::now();
        Python::attach(|py| {
            py.check_signals().map_err(|error| {
                stopped.replace(Some(error));
                Interrupt
            })
        })
    }
}

/// A run of a resolved scenario in a pause, on one thread. `commanded` are the TCP flows whose
/// windows `set_window` sets, by name; `None`: all.
#[pyclass(module = "backlane._native", frozen)]
struct Stepper {
    /// `None`: closed, failed, or in use by another call.
    run: Mutex<Option<Running>>,
    flows: Vec<String>,
    links: Vec<(String, String)>,
    wires: Vec<[usize; 2]>,
    commands: BTreeMap<usize, Command>,
    warm_up_s: f64,
    end_s: f64,
}

impl Stepper {
    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads or changes the run.
    fn with<T>(&self, py: Python<'_>, read: impl FnOnce(&mut Stepped) -> T) -> PyResult<T> {
        match &mut *self.lock() {
            Some(running) => Ok(read(&mut running.stepped)),
            None => Err(closed(py)),
        }
    }

    fn take(&self, py: Python<'_>) -> PyResult<Running> {
        self.lock().take().ok_or_else(|| closed(py))
    }
}

fn closed(py: Python<'_>) -> PyErr {
    let message = "the run is closed, has failed, or another thread advances it";
    run_error(py, "R092", message.to_owned())
}

#[pymethods]
impl Stepper {
    #[new]
    #[pyo3(signature = (resolved, seed, commanded = None))]
    fn new(
        py: Python<'_>,
        resolved: &str,
        seed: u64,
        commanded: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let scenario = backlane_world::catalogue()
            .described_for(resolved, seed)
            .map_err(|report| report_error(py, &report))?;
        let failed = Failed::default();
        let controls = congestion::controls(py, &scenario, &failed)?;
        let router = routing::protocol(py, &scenario, &failed)?;
        let Described::Network(network) = &scenario else {
            let message = "a slotted model has no packets, so that nothing can be set in a pause";
            return Err(run_error(py, "R093", message.to_owned()));
        };
        let built = py.detach(|| {
            let (wall, cpu) = (Instant::now(), ThreadTime::now());
            let stopped = RefCell::new(None);
            let given = Mutex::new(BTreeMap::new());
            let instead = |flow: &str| {
                let wanted = commanded.as_ref();
                if !wanted.is_none_or(|names| names.iter().any(|name| name == flow)) {
                    return None;
                }
                let command = Command::default();
                let control = command.control(EXTERNAL);
                let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
                given.insert(flow.to_owned(), command);
                Some(control)
            };
            let supplied = Supplied {
                controls: &controls,
                router: router.as_ref(),
                instead: Some(&instead),
                ..Supplied::default()
            };
            let attempt = catch_unwind(AssertUnwindSafe(|| {
                let watch = watch(&failed, &stopped);
                World::watched(Models::standard(), supplied, network, seed, None, watch)
                    .map_err(|error| Failure::Built(error.to_string()))
            }));
            let world = Failure::sorted(attempt, &failed, &stopped)?;
            let time = (wall.elapsed(), cpu.elapsed());
            let given = given.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok((Stepped::new(world), given, time))
        });
        let (stepped, given, (wall, cpu)) = match built {
            Ok(built) => built,
            Err(failure) => return Err(Failure::raised(failure, py)?),
        };
        let flows: Vec<String> = stepped.flow_names().map(str::to_owned).collect();
        let named = flows.iter().enumerate();
        let commands = named.filter_map(|(index, name)| Some((index, given.get(name)?.clone())));
        let links = stepped.link_names();
        Ok(Self {
            commands: commands.collect(),
            links: links.map(|(a, b)| (a.to_owned(), b.to_owned())).collect(),
            wires: stepped.wires(),
            warm_up_s: stepped.warm_up().as_secs_f64(),
            end_s: stepped.end().as_secs_f64(),
            flows,
            run: Mutex::new(Some(Running {
                stepped,
                failed,
                wall,
                cpu,
            })),
        })
    }

    /// The names of the flows, in the order of the results.
    #[getter]
    fn flows(&self) -> Vec<String> {
        self.flows.clone()
    }

    /// The numbers of the flows whose windows can be set.
    #[getter]
    fn commanded(&self) -> Vec<usize> {
        self.commands.keys().copied().collect()
    }

    /// The ends of each link direction, in the order of the results.
    #[getter]
    fn links(&self) -> Vec<(String, String)> {
        self.links.clone()
    }

    /// The links between routers: the numbers of both directions.
    #[getter]
    fn wires(&self) -> Vec<(usize, usize)> {
        self.wires.iter().map(|&[a, b]| (a, b)).collect()
    }

    #[getter]
    fn warm_up_s(&self) -> f64 {
        self.warm_up_s
    }

    #[getter]
    fn end_s(&self) -> f64 {
        self.end_s
    }

    #[getter]
    fn now_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |run| run.now().as_secs_f64())
    }

    /// How the run ended, as in `runs.ended`, if it did.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        self.with(py, |run| run.ended().map(Ended::name))
    }

    #[getter]
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |run| format!("{:016x}", run.digest()))
    }

    /// Runs until a time, what happens at that instant included, or to the end.
    fn advance(&self, py: Python<'_>, until_s: f64) -> PyResult<()> {
        if !until_s.is_finite() || until_s < 0.0 {
            let message = format!("{until_s} s is no time of a pause");
            return Err(PyValueError::new_err(message));
        }
        let until = SimTime::from_ps((until_s * PS_PER_S).round() as u64);
        let ((), rest) = self.take(py)?.pass(py, |mut stepped, watch| {
            stepped.run_until(until, watch)?;
            Ok(((), Some(stepped)))
        })?;
        *self.lock() = rest;
        Ok(())
    }

    /// The state of a flow, by its number.
    fn flow(&self, py: Python<'_>, number: usize) -> PyResult<FlowState> {
        let flow = self.with(py, |run| run.flow(number))?;
        flow.map(FlowState::from)
            .ok_or_else(|| PyIndexError::new_err(format!("there is no flow {number}")))
    }

    /// The state of a link direction, by its number.
    fn link(&self, py: Python<'_>, number: usize) -> PyResult<LinkState> {
        let link = self.with(py, |run| run.link(number))?;
        link.map(LinkState::from)
            .ok_or_else(|| PyIndexError::new_err(format!("there is no link {number}")))
    }

    /// Sets the window of a commanded flow from its next acknowledgment on.
    fn set_window(&self, number: usize, cwnd_pkts: u32) -> PyResult<()> {
        match self.commands.get(&number) {
            Some(command) => {
                command.set(cwnd_pkts);
                Ok(())
            }
            None => Err(PyIndexError::new_err(format!(
                "flow {number} is not commanded"
            ))),
        }
    }

    /// Sets the costs of the links of `wires`; routers take the shortest paths by them from now on.
    fn set_costs(&self, py: Python<'_>, costs: Vec<u64>) -> PyResult<()> {
        self.with(py, |run| run.set_costs(&costs))?
            .map_err(|error| run_error(py, "R093", error.to_string()))
    }

    /// The routing protocol.
    #[getter]
    fn protocol(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |run| run.protocol().to_owned())
    }

    /// The result of a run that has ended. It is closed then.
    fn finish(&self, py: Python<'_>) -> PyResult<RunResult> {
        if self.with(py, |run| run.ended().is_none())? {
            let message = "the run has not ended, so that it has no results yet";
            return Err(run_error(py, "R092", message.to_owned()));
        }
        let running = self.take(py)?;
        let (wall, cpu) = (running.wall, running.cpu);
        let (outcome, _) = running.pass(py, |stepped, watch| Ok((stepped.finish(watch)?, None)))?;
        let outcome = outcome.ok_or_else(|| closed(py))?;
        let ran = Ran {
            outcome,
            threads: 1,
            undivided: Some("a run with pauses is on one thread"),
            helpers_cpu: Duration::ZERO,
            consoles: Vec::new(),
        };
        RunResult::of(py, ran, wall, cpu)
    }

    /// Ends the run without results. Nothing happens if it is closed.
    fn close(&self) {
        let run = self.lock().take();
        drop(run);
    }
}
