//! The operations of a packet network, by technology.

use std::collections::{BTreeMap, BTreeSet};

use backlane_routing::backpressure::{Granularity, QueueInfo};
use backlane_routing::batman::Version;
use backlane_routing::etx::Metric;
use backlane_scenario::model::{AccessKind, End, Scenario, Stack};
use backlane_units::Duration;

use super::hops::{self, Over};
use super::ledger::{Cost, Ledger};
use super::paths::Paths;
use super::routing::Routing;
use super::share::{Bundle, Traffic};
use super::{costs, record};

/// Milliseconds of a TTI.
const TTIS_PER_S: f64 = 1e3;
/// Round trips after a transfer in which a cell is still active.
const TAIL_ROUND_TRIPS: f64 = 10.0;

/// Packets that cells, radios and reordering hold at most, by experience.
const QUEUED_ELSEWHERE_PKTS: f64 = 1e4;

/// Counts the operations of a network's run.
pub(super) fn count(scenario: &Scenario, ledger: &mut Ledger) {
    let mut paths = Paths::new(scenario);
    let traffic = Traffic::new(scenario, &mut paths);
    let warm_up_s = scenario.warm_up.as_secs_f64();
    let span_s = warm_up_s + traffic.end_s;
    ledger.simulated_s = span_s;
    ledger.add("nodes", scenario.nodes.len() as f64, costs::NODE);
    let [wires, over_radios] = paths.directions();
    ledger.add("link directions", wires as f64, costs::LINK);
    ledger.add(
        "directions over radios",
        over_radios as f64,
        costs::RADIO_LINK,
    );
    ues(scenario, &traffic, ledger);
    flows(scenario, &traffic, ledger);
    packets(scenario, &traffic, ledger);
    cells(scenario, &traffic, ledger);
    radios(&paths, &traffic, ledger);
    messages(scenario, &paths, &traffic, span_s, ledger);
    record::count(scenario, &traffic, ledger);
}

fn ues(scenario: &Scenario, traffic: &Traffic, ledger: &mut Ledger) {
    let Some(access) = &scenario.access else {
        return;
    };
    let ues = access.ues as f64;
    match &access.kind {
        AccessKind::Ideal(_) | AccessKind::Declared(_) => ledger.add("UEs", ues, costs::IDEAL_UE),
        AccessKind::Trace(_) => ledger.add("UEs", ues, costs::TRACE_UE),
        AccessKind::Lte(_) => {
            ledger.add("UEs", ues, costs::LTE_UE);
            let rrc = hops::lte(scenario).map(|config| config.rrc);
            if let Some(rrc) = rrc.filter(|rrc| rrc.handover.config().is_some()) {
                let period_s = rrc.radio_link.measurement_period.as_secs_f64().max(1e-3);
                let measurements = ues * traffic.end_s / period_s;
                ledger.add("measurements of UEs", measurements, costs::MEASUREMENT);
            }
        }
    }
}

fn flows(scenario: &Scenario, traffic: &Traffic, ledger: &mut Ledger) {
    let sum = |of: &dyn Fn(&Bundle) -> f64| traffic.bundles.iter().map(of).sum::<f64>();
    ledger.add("flows", sum(&|b| b.flows), costs::FLOW);
    let tcp = sum(&|b| if b.is_tcp { b.started } else { 0.0 });
    ledger.add("TCP connections", tcp, costs::TCP);
    ledger.add("UDP sources", sum(&|b| b.started) - tcp, costs::UDP);
    let data = sum(&|b| b.data_pkts * b.started);
    ledger.add("data packets", data, costs::DATA_PACKET);
    ledger.add(
        "acknowledgments",
        sum(&|b| b.ack_pkts * b.started),
        costs::ACK,
    );
    if scenario.coding.is_some() {
        ledger.add("coded packets", data, costs::CODED_PACKET);
    }
    if scenario.record.reordering {
        ledger.add(
            "reordering of flows",
            sum(&|b| b.started),
            costs::REORDERING,
        );
        ledger.add("reordering of packets", data, costs::REORDERED_PACKET);
    }
    let python = sum(&|b| {
        let own = scenario
            .flows
            .get(b.group)
            .and_then(|group| group.congestion_control.as_deref());
        let control = own.unwrap_or(&scenario.tcp.congestion_control);
        if b.is_tcp && control.starts_with("python:") {
            b.ack_pkts * b.started
        } else {
            0.0
        }
    });
    ledger.add("calls of Python", python, costs::PYTHON_ACK);
    let is_over_kernels = |b: &Bundle| {
        let group = scenario.flows.get(b.group);
        group.is_some_and(|group| group.stack == Stack::Linux)
    };
    let of_kernels = sum(&|b| {
        if is_over_kernels(b) {
            (b.data_pkts + b.ack_pkts) * b.started
        } else {
            0.0
        }
    });
    ledger.add("packets of kernels", of_kernels, costs::KERNEL_PACKET);
    ledger.add("kernels", kernels(scenario), costs::KERNEL);
    // A flow has a window under way, and the path has room for no more than its queues hold.
    let waiting = sum(&|b| {
        let room = b.there.queue_bytes + b.solo_bytes_per_round_trip();
        let bytes = b.window_bytes.min(b.bytes).min(room);
        b.started * bytes / b.payload_bytes
    });
    let room: f64 = in_queues(scenario);
    ledger.add(
        "packets under way",
        waiting.min(room.max(1.0)),
        costs::WAITING,
    );
}

/// Hosts with a Linux kernel.
fn kernels(scenario: &Scenario) -> f64 {
    let ues = scenario.access.as_ref().map_or(0, |access| access.ues);
    let groups = scenario.flows.iter();
    let groups = groups.filter(|group| group.stack == Stack::Linux);
    let ends = groups.flat_map(|group| group.pairs(ues));
    let ends = ends.flat_map(|(from, to)| [from, to]);
    let hosts: BTreeSet<_> = ends
        .map(|end| match end {
            End::Ue(index) => (true, index),
            End::Node(index) => (false, index),
        })
        .collect();
    hosts.len() as f64
}

/// Packets that all queues hold together, as far as queues are bounded.
fn in_queues(scenario: &Scenario) -> f64 {
    use backlane_scenario::model::QueueLimit;
    let mut packets = QUEUED_ELSEWHERE_PKTS;
    for link in &scenario.links {
        if let Some(wire) = link.wire() {
            packets += 2.0
                * match wire.queue.limit {
                    QueueLimit::Bytes(bytes) => bytes.get() as f64 / 1500.0,
                    QueueLimit::Packets(packets) => packets as f64,
                };
            packets += wire.rate.as_bps() as f64 * wire.delay.as_secs_f64() / 6000.0;
        }
    }
    packets
}

fn packets(scenario: &Scenario, traffic: &Traffic, ledger: &mut Ledger) {
    let routing = Routing::of(scenario);
    let mut hops: BTreeMap<Over, f64> = BTreeMap::new();
    for bundle in &traffic.bundles {
        for (way, packets) in [
            (&bundle.there, bundle.data_pkts),
            (&bundle.back, bundle.ack_pkts),
        ] {
            for (&over, share) in &way.hops {
                // Backpressure without a metric learns the way by trying.
                let wandering = match routing {
                    Routing::Classic(_) => matches!(over, Over::Deciding | Over::Air),
                    Routing::TcpAware(_) => over == Over::Deciding,
                    _ => false,
                };
                let share = share * if wandering { costs::WANDERING } else { 1.0 };
                let over = if let Over::Lte(_) = over {
                    Over::Lte(0)
                } else {
                    over
                };
                *hops.entry(over).or_default() += share * packets * bundle.started;
            }
        }
    }
    // State that exceeds the caches is loaded from memory.
    let touched = traffic.used.iter().filter(|used| **used > 0.0).count() as f64 / 4.0;
    for (over, name, each) in [
        (Over::Fifo, "hops over FIFOs", costs::FIFO_HOP),
        (
            Over::Deciding,
            "hops over queues that decide",
            costs::DECIDING_HOP,
        ),
        (Over::Cell, "hops over ideal cells", costs::CELL_HOP),
        (Over::Trace, "hops over traced links", costs::TRACE_HOP),
        (Over::Lte(0), "packets over LTE", costs::LTE_PACKET),
        (Over::Air, "hops over 802.11", costs::AIR_HOP),
    ] {
        ledger.add(name, hops.get(&over).copied().unwrap_or(0.0), each);
    }
    let connections = traffic.bundles.iter().filter(|bundle| bundle.is_tcp);
    let started: f64 = connections.map(|bundle| bundle.started).sum();
    let touched = touched + started / costs::FLOWS_LIKE_A_NODE;
    let apart = Cost {
        cpu_ns: costs::CACHE_MISSES_NS * libm::pow(touched, 0.75),
        ..Cost::default()
    };
    let on_wires: f64 = [Over::Fifo, Over::Deciding]
        .iter()
        .filter_map(|over| hops.get(over))
        .sum();
    ledger.add("memory apart", on_wires, apart);
    let (name, each) = match &routing {
        Routing::ShortestPath | Routing::Olsr(_) | Routing::Aodv(_) => return,
        Routing::BpMr(bp) if bp.granularity == Granularity::Flow => {
            ("next hops chosen per flow", costs::BP_FLOW_CHOICE)
        }
        Routing::L25r(_) => ("next hops in proportion", costs::SPREAD_CHOICE),
        _ => ("next hops chosen per packet", costs::BP_PACKET_CHOICE),
    };
    let choices: f64 = [Over::Deciding, Over::Air]
        .iter()
        .filter_map(|over| hops.get(over))
        .sum();
    ledger.add(name, choices, each);
    if let Routing::Classic(_) = &routing {
        // A node has a queue for each destination.
        let ends = traffic.bundles.len() as f64;
        ledger.add("queues compared", choices * ends, costs::BP_QUEUE_COMPARED);
    }
}

/// TTIs of LTE: a cell is active while one of its UEs has data to send or receive.
fn cells(scenario: &Scenario, traffic: &Traffic, ledger: &mut Ledger) {
    let is_lte =
        (scenario.access.as_ref()).is_some_and(|access| matches!(access.kind, AccessKind::Lte(_)));
    if !is_lte {
        return;
    }
    let mut busy: BTreeMap<u32, f64> = BTreeMap::new();
    let mut active_ues_s = 0.0;
    for bundle in &traffic.bundles {
        let span_s = if bundle.bytes > 0.0 {
            let tail_s = TAIL_ROUND_TRIPS * bundle.rtt_s();
            (bundle.active_s + tail_s).min(traffic.end_s)
        } else {
            0.0
        };
        // Flows of one UE overlap.
        let per_ue = scenario
            .flows
            .get(bundle.group)
            .map_or(1, |group| group.count);
        let most_s = traffic.end_s * bundle.flows / per_ue.max(1) as f64;
        let span_s = (span_s * bundle.started).min(most_s);
        for over in bundle.there.hops.keys() {
            if let Over::Lte(cell) = over {
                let of_cell = busy.entry(*cell).or_default();
                *of_cell = (*of_cell + span_s).min(traffic.end_s);
                active_ues_s += span_s;
            }
        }
    }
    let ttis: f64 = busy.values().map(|s| s * TTIS_PER_S).sum();
    ledger.add("TTIs of cells", ttis, costs::LTE_CELL_TTI);
    ledger.add(
        "TTIs of active UEs",
        active_ues_s * TTIS_PER_S,
        costs::LTE_UE_TTI,
    );
    // Interference is computed for each pair of active cells.
    let pairs = ttis * busy.len() as f64;
    ledger.add("interference of cells", pairs, costs::LTE_INTERFERENCE);
}

/// Frames on the air and the radios that hear them.
fn radios(paths: &Paths<'_>, traffic: &Traffic, ledger: &mut Ledger) {
    let Some((_, stations)) = paths.mean_hearing() else {
        return;
    };
    ledger.add("radios", stations as f64, costs::RADIO);
    let (mut frames, mut heard) = (0.0, 0.0);
    for bundle in &traffic.bundles {
        for (way, packets) in [
            (&bundle.there, bundle.data_pkts),
            (&bundle.back, bundle.ack_pkts),
        ] {
            frames += way.frames * packets * bundle.started;
            heard += way.heard * packets * bundle.started;
        }
    }
    ledger.add("frames on the air", frames, costs::FRAME);
    ledger.add("radios that hear frames", heard, costs::FRAME_HEARD);
}

/// Messages of routing protocols. Each goes to every neighbour; over radios, to all nodes in range.
fn messages(
    scenario: &Scenario,
    paths: &Paths<'_>,
    traffic: &Traffic,
    span_s: f64,
    ledger: &mut Ledger,
) {
    let nodes = scenario.nodes.len() as f64;
    let directions = paths.mesh_directions() as f64;
    let rounds = |interval: Duration| span_s / interval.as_secs_f64().max(1e-6);
    let routing = Routing::of(scenario);
    let (hellos, floods) = match &routing {
        Routing::ShortestPath | Routing::L25r(_) | Routing::Other => (0.0, 0.0),
        Routing::Olsr(olsr) => (
            rounds(olsr.hello_interval),
            nodes * libm::floor(rounds(olsr.tc_interval)),
        ),
        Routing::Ospf(ospf) => {
            let bfd = ospf.bfd.value().map_or(0.0, rounds);
            (rounds(ospf.hello_interval) + bfd, 0.0)
        }
        Routing::Babel(babel) => (rounds(babel.hello_interval), 0.0),
        Routing::Batman(batman) => {
            // OGMs of all nodes cross every link; those of one aggregation time share a frame.
            let ogms = nodes * rounds(batman.orig_interval);
            let frames = ogms.min(rounds(batman.aggregation));
            let elps = match batman.version {
                Version::V => rounds(batman.elp_interval),
                Version::Iv => 0.0,
            };
            (elps + frames, 0.0)
        }
        Routing::Aodv(aodv) => {
            let wired = scenario.links.iter().any(|link| link.wire().is_some());
            let sends = aodv.config(wired).hello.is_some();
            let hello = sends || aodv.metric == Metric::Etx;
            // There is one search per pair of ends.
            let pairs: f64 = traffic.bundles.iter().filter(|b| b.started > 0.0).count() as f64;
            (if hello { span_s } else { 0.0 }, pairs.min(nodes * nodes))
        }
        Routing::SingleQueue(bp) => (hello_rounds(bp.queue_info, bp.hello_interval, rounds), 0.0),
        Routing::Classic(bp) => (hello_rounds(bp.queue_info, bp.hello_interval, rounds), 0.0),
        Routing::BpMr(bp) => (hello_rounds(bp.queue_info, bp.hello_interval, rounds), 0.0),
        Routing::TcpAware(bp) => (rounds(bp.report_idle), 0.0),
    };
    ledger.add("routing messages", hellos * directions, costs::MESSAGE);
    if let Some((hearing, stations)) = paths.mean_hearing() {
        let frames = (hellos + 0.5 * floods) * stations as f64;
        ledger.add("frames of messages", frames, costs::FRAME);
        ledger.add(
            "radios that hear messages",
            frames * hearing,
            costs::FRAME_HEARD,
        );
    }
    match &routing {
        Routing::Olsr(_) => {
            ledger.add("announcements", floods * directions, costs::OLSR_FLOODED);
            // Every node knows the whole topology and recomputes its routes when it changes.
            ledger.add("topology of OLSR", nodes * directions, costs::OLSR_TOPOLOGY);
        }
        Routing::Babel(babel) => {
            // A full update has an entry for each router; its receiver looks at all of them.
            let entries = nodes * directions * rounds(babel.update_interval);
            ledger.add("updates", entries, costs::BABEL_ENTRY);
        }
        Routing::Batman(batman) => {
            let ogms = nodes * rounds(batman.orig_interval);
            ledger.add("OGMs", ogms * directions, costs::BATMAN_OGM);
        }
        Routing::Aodv(_) => {
            ledger.add("requests", floods * directions, costs::AODV_FLOODED);
            ledger.add("routes of AODV", floods * nodes, costs::AODV_ROUTE);
            ledger.add("tables of AODV", nodes * nodes, costs::AODV_TABLE);
        }
        _ => {}
    }
}

fn hello_rounds(info: QueueInfo, interval: Duration, rounds: impl Fn(Duration) -> f64) -> f64 {
    match info {
        QueueInfo::Hello => rounds(interval),
        QueueInfo::Oracle => 0.0,
    }
}

impl Bundle {
    /// The bytes of a flow in flight on links, without queueing.
    fn solo_bytes_per_round_trip(&self) -> f64 {
        let rate = if self.active_s > 0.0 {
            self.bytes / self.active_s
        } else {
            0.0
        };
        rate * self.rtt_s()
    }
}
