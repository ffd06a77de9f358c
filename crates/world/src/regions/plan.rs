//! Whether and how the network of a scenario is divided.

use backlane_engine::Streams;
use backlane_net::{Network, NodeId};
use backlane_scenario::Scenario;
use backlane_scenario::model::{AccessKind, Stack};
use backlane_traffic::{Flow, FlowSpec};
use backlane_units::Duration;

use super::divide::{Division, Map};
use super::load::loads;
use crate::estimate::Estimate;
use crate::models::Models;

/// Regions of a thread, so that threads can share what is uneven in a window.
const REGIONS_PER_THREAD: usize = 4;
/// Nodes of all regions of a thread together, at most; each has all nodes of the network.
const MOST_NODES: usize = 80_000;

/// CPU time of a run that is worth a division, which each thread begins by building the network.
const LEAST_RUN_S: f64 = 2.0;
/// CPU time of a window for each thread that is worth a meeting of all threads, of some microseconds.
const LEAST_WINDOW_S: f64 = 30e-6;

/// Why a network is not divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    /// One thread was asked for.
    OneThread,
    /// Radios share a medium.
    Radios,
    /// Routers read the queues of others without a message.
    Oracle,
    /// Models of a program's own may share what they know.
    Models,
    /// Flows have their ends outside.
    Outside,
    /// Captures are in the order of all packets.
    Captures,
    /// A log of all events and draws is in their order.
    Trace,
    /// The run, or its windows, are so short that threads would not shorten it.
    Short,
    /// Links without delay, flows that wait for each other, or one node with most of the load.
    Joined,
}

impl Division {
    /// Whether threads shorten a run of this cost.
    pub(crate) fn pays(&self, run: &Estimate) -> bool {
        let window_s = self.look_ahead.as_secs_f64().min(run.simulated_s);
        let of_window_s = run.cpu_s / run.simulated_s.max(window_s) * window_s;
        run.cpu_s >= LEAST_RUN_S && of_window_s >= LEAST_WINDOW_S * self.threads as f64
    }
}

impl Whole {
    /// The reason, as a clause about the network.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::OneThread => "one thread was asked for",
            Self::Radios => "its radios share a medium",
            Self::Oracle => {
                "its routers read the queues of others at once (queue_info = \"oracle\")"
            }
            Self::Models => "it uses models that are not Backlane's",
            Self::Outside => "it has flows with ends outside the simulation",
            Self::Captures => "it captures packets",
            Self::Trace => "its events are logged",
            Self::Short => "it is too short, or the delays between its parts are",
            Self::Joined => {
                "too much of the load is on nodes that links without delay or dependent flows join"
            }
        }
    }
}

/// Why a network of a scenario is never divided, as far as the scenario tells.
pub(crate) fn whole(models: &Models, scenario: &Scenario) -> Option<Whole> {
    let has_radios = scenario.links.iter().any(|link| link.wire().is_none())
        || matches!(&scenario.access, Some(access) if matches!(access.kind, AccessKind::Lte(_)));
    let routing = &scenario.routing;
    let protocol = models.routers.protocol(&routing.protocol, None);
    let is_own = std::ptr::eq(models, Models::standard())
        && scenario.custom_controls.is_empty()
        && scenario.python_router.is_none();
    let has_outside = scenario.flows.iter().any(|flow| flow.stack != Stack::Model);
    if has_outside {
        Some(Whole::Outside)
    } else if has_radios {
        Some(Whole::Radios)
    } else if !is_own {
        Some(Whole::Models)
    } else if !protocol.is_ok_and(|protocol| protocol.is_local(&routing.values)) {
        Some(Whole::Oracle)
    } else if !scenario.record.capture.is_empty() {
        Some(Whole::Captures)
    } else {
        None
    }
}

/// Divides a network for this many threads, or fewer: by load, or at random with the seed `scatter`.
pub(crate) fn divided(
    network: &Network,
    specs: &[FlowSpec],
    threads: usize,
    scatter: Option<u64>,
) -> Result<Division, Whole> {
    let hosts = (0..network.node_count() as u32).map(NodeId);
    let attached = hosts
        .filter(|&host| !network.is_router(host))
        .map(|host| (host, network.exit_of(host)));
    // Flows whose ends act on each other without a packet.
    let next = specs.iter().skip(1).map(Some).chain([None]);
    let one = specs
        .iter()
        .zip(next)
        .filter(|&(spec, next)| Flow::is_one(spec, next));
    let one = one.map(|(spec, _)| (spec.source, spec.destination));
    let chained = specs
        .windows(2)
        .filter(|pair| Flow::waits(&pair[1]))
        .map(|pair| (pair[0].source, pair[1].source));
    let wires = network.links().iter().filter_map(|link| {
        let (from, to) = (link.from.some()?, link.to.some()?);
        if link.keeps_time() {
            (from < to).then_some((from, to, link.delay()))
        } else {
            // Arrivals may come early, so that the link cannot be cut.
            Some((from.min(to), from.max(to), Duration::ZERO))
        }
    });
    let map = Map {
        load: loads(network, specs),
        wires: wires.collect(),
        together: attached.chain(one).chain(chained).collect(),
    };
    // Every region costs the memory of the idle network.
    let regions_per_thread = (MOST_NODES / network.node_count()).clamp(1, REGIONS_PER_THREAD);
    let regions = threads * regions_per_thread;
    let division = match scatter {
        None => map.divide(regions, threads),
        Some(seed) => {
            let draw = Streams::new(seed).stream("network", "division");
            map.scatter(regions, threads, draw)
        }
    };
    division.ok_or(Whole::Joined)
}
