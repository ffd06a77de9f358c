//! What came of a run.

use backlane_engine::{Interrupt, Watch};
use backlane_net::{DropCause, LinkId, NodeId, Router};
use backlane_record::Table;
use backlane_tcp::SlowStartExit;
use backlane_traffic::{Flow, Transport};
use backlane_units::{Duration, SimTime};

use crate::build::World;
use crate::capture::Captures;

pub(crate) mod carried;
mod coding;
mod mesh;
mod radio;
pub(crate) mod radio_series;
mod reordering;
pub(crate) mod sampler;

use carried::Carried;

/// A row has many columns.
const STEPS_PER_ROW: u64 = 4;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every finite flow has finished, or was given up.
    FlowsFinished,
    /// The scenario's duration is over.
    TimeLimit,
}

impl Ended {
    /// The words in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FlowsFinished => "flows finished",
            Self::TimeLimit => "time limit",
        }
    }
}

/// A run in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Simulated time at the end, warm-up included, in seconds.
    pub simulated_s: f64,
    /// The same without the warm-up: the end on the clock of the flows, in seconds.
    pub traffic_s: f64,
    /// Events that fired.
    pub events: u64,
    /// Packets that applications and routers sent.
    pub packets_injected: u64,
    /// Packets that reached their destination.
    pub packets_delivered: u64,
    /// Packets dropped, by cause.
    pub dropped_by_cause: Vec<(&'static str, u64)>,
    /// Application bytes that all flows delivered; `None` where packets have no size.
    pub delivered_bytes: Option<u64>,
    /// Packets under way at the end.
    pub packets_in_flight: u64,
    /// Sum over delivered and dropped packets of the link directions that they entered.
    pub packet_hops: u64,
    /// A number for all events and their times.
    pub digest: u64,
    /// Why it ended.
    pub ended: Ended,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The run in numbers.
    pub summary: Summary,
    /// One row for each flow.
    pub flows: Table,
    /// One row for each link direction.
    pub links: Table,
    /// One row for each node.
    pub nodes: Table,
    /// One row for each UE behind a radio access network.
    pub radio: Table,
    /// One row for each such UE, direction and MCS.
    pub mcs: Table,
    /// Further tables, by name; those without rows are not there.
    pub more: Vec<(&'static str, Table)>,
    /// What was sampled: name of the probe, and one row for each sample.
    pub series: Vec<(&'static str, Table)>,
    /// What passed at a node, by its name, as a pcapng file.
    pub captures: Vec<(String, Vec<u8>)>,
}

impl Outcome {
    /// # Errors
    /// [`Interrupt`], if `watch` says so: many flows are many rows.
    ///
    /// # Panics
    /// If packets were lost track of: that is a bug, and no result may come of it.
    pub(crate) fn of(
        mut world: World,
        ended: Ended,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Interrupt> {
        let now = match ended {
            Ended::FlowsFinished => world.simulation.events.now(),
            Ended::TimeLimit => world.end,
        };
        let balance = world.simulation.network.balance();
        assert!(balance.holds(), "packets are conserved: {balance:?}");
        assert_eq!(
            balance.in_flight,
            world.simulation.held_pkts() as u64,
            "every packet in flight is on a link or in a router"
        );
        let summary = Summary {
            simulated_s: now.as_secs_f64(),
            traffic_s: traffic_s(&world, now),
            events: world.simulation.events.fired(),
            packets_injected: balance.injected,
            packets_delivered: balance.delivered,
            dropped_by_cause: DropCause::ALL
                .iter()
                .map(|&cause| (cause.name(), balance.dropped[cause as usize]))
                .collect(),
            delivered_bytes: Some(
                (world.simulation.application.flows().iter())
                    .map(Flow::delivered_bytes)
                    .sum(),
            ),
            packets_in_flight: balance.in_flight,
            packet_hops: world
                .simulation
                .network
                .links()
                .iter()
                .map(|link| link.counters().packets)
                .sum(),
            digest: world.simulation.digest(),
            ended,
        };
        Ok(Self {
            summary,
            flows: flows(&world, now, watch)?,
            links: links(&mut world, now, watch)?,
            nodes: nodes(&world, now, watch)?,
            radio: radio::ues(&world, watch)?,
            mcs: radio::mcs(&world, watch)?,
            more: further(&world, now, watch)?,
            series: world.sampler.take(),
            captures: world
                .captures
                .as_ref()
                .map_or_else(Vec::new, Captures::take),
        })
    }
}

/// The tables that this run has and others may not have.
fn further(
    world: &World,
    now: SimTime,
    watch: &mut Watch<'_>,
) -> Result<Vec<(&'static str, Table)>, Interrupt> {
    let tables = [
        ("wifi", mesh::radios(world, now, watch)?),
        ("routing", mesh::routers(world, now, watch)?),
        ("coding", coding::flows(world, now, watch)?),
        ("reordering", reordering::densities(world, watch)?),
        ("assignment", world.assigned.clone()),
    ];
    Ok(tables
        .into_iter()
        .filter(|(_, table)| table.rows() > 0)
        .collect())
}

/// `span` in seconds; the clock of results starts after the warm-up.
fn traffic_s(world: &World, at: SimTime) -> f64 {
    at.as_secs_f64() - world.warm_up.as_secs_f64()
}

fn flows(world: &World, now: SimTime, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    let node = |node: NodeId| world.nodes[node.index()].id.as_str();
    for (info, flow) in world.flows.iter().zip(world.simulation.application.flows()) {
        // What never had its turn is no flow.
        let Some(start) = flow.start else { continue };
        watch.tick(STEPS_PER_ROW)?;
        let finish_time_s = flow.finished.map(|at| (at - start).as_secs_f64());
        let active_until = flow.spec.stop.map_or(now, |stop| stop.min(now));
        let active_s =
            finish_time_s.unwrap_or_else(|| active_until.saturating_since(start).as_secs_f64());
        let delivered_bytes = flow.delivered_bytes();
        let goodput_bps = (active_s > 0.0).then(|| delivered_bytes as f64 * 8.0 / active_s);
        let sent = Sent::of(flow);
        let exit = sent.slow_start_exit;
        table.push([
            ("flow", info.name.as_str().into()),
            ("kind", info.kind.into()),
            ("source", node(flow.spec.source).into()),
            ("destination", node(flow.spec.destination).into()),
            ("congestion_control", info.congestion_control.clone().into()),
            ("size_bytes", flow.spec.size_bytes.into()),
            ("start_s", traffic_s(world, start).into()),
            (
                "finish_s",
                flow.finished.map(|at| traffic_s(world, at)).into(),
            ),
            ("finish_time_s", finish_time_s.into()),
            ("goodput_bps", goodput_bps.into()),
            ("delivered_bytes", delivered_bytes.into()),
            ("rtt_min_s", sent.rtt_min_s.into()),
            ("rtt_mean_s", sent.rtt_s[0].into()),
            ("rtt_p50_s", sent.rtt_s[1].into()),
            ("rtt_p95_s", sent.rtt_s[2].into()),
            ("segments_sent", sent.segments.into()),
            ("retransmits", sent.retransmits.into()),
            ("fast_retransmits", sent.fast_retransmits.into()),
            ("rtos", sent.rtos.into()),
            ("spurious_retransmits", sent.spurious_retransmits.into()),
            ("undos", sent.undos.into()),
            ("spurious_rtos", sent.spurious_rtos.into()),
            ("duplicate_acks", sent.duplicate_acks.into()),
            ("reordering_pkts", sent.reordering_pkts.into()),
            ("reordering_max_pkts", sent.reordering_max_pkts.into()),
            ("cwnd_mean_pkts", sent.cwnd_mean_pkts.into()),
            ("in_flight_mean_pkts", sent.in_flight_mean_pkts.into()),
            (
                "slow_start_exit",
                exit.map(|exit| exit.cause.name().to_owned()).into(),
            ),
            (
                "slow_start_exit_s",
                exit.map(|exit| traffic_s(world, exit.at)).into(),
            ),
            (
                "slow_start_exit_pkts",
                exit.map(|exit| u64::from(exit.cwnd_pkts)).into(),
            ),
            (
                "slow_start_segments",
                exit.map(|exit| exit.segments_sent).into(),
            ),
            ("packets_sent", sent.packets.into()),
            ("packets_received", flow.delivery.packets.into()),
            ("reordered_ratio", flow.delivery.reordered_ratio().into()),
            ("path_changes", flow.delivery.path_changes.into()),
            ("bursts", flow.delivery.bursts.into()),
            ("burst_mean_pkts", flow.delivery.burst_mean_pkts().into()),
            (
                "longest_silence_s",
                (flow.delivery.packets > 1)
                    .then(|| flow.delivery.longest_silence.as_secs_f64())
                    .into(),
            ),
            ("hops_mean", flow.delivery.hops_mean().into()),
            (
                "digest",
                format!("{:016x}", flow.delivery.digest()).as_str().into(),
            ),
        ]);
    }
    table.append(reordering::of_flows(world, watch)?);
    Ok(table)
}

/// What the source of a flow counted; only TCP counts retransmissions.
#[derive(Default)]
struct Sent {
    /// All that left the source, acknowledgments too.
    packets: u64,
    segments: u64,
    rtt_min_s: Option<f64>,
    retransmits: Option<u64>,
    fast_retransmits: Option<u64>,
    rtos: Option<u64>,
    spurious_retransmits: Option<u64>,
    undos: Option<u64>,
    spurious_rtos: Option<u64>,
    duplicate_acks: Option<u64>,
    /// The duplicate threshold at the end and at its largest.
    reordering_pkts: Option<u64>,
    reordering_max_pkts: Option<u64>,
    cwnd_mean_pkts: Option<f64>,
    in_flight_mean_pkts: Option<f64>,
    slow_start_exit: Option<SlowStartExit>,
    /// Mean, median, 95th percentile.
    rtt_s: [Option<f64>; 3],
}

impl Sent {
    fn of(flow: &Flow) -> Self {
        match &flow.transport {
            None => Self::default(),
            Some(Transport::Udp(udp)) => Self {
                packets: udp.packets_sent,
                segments: udp.packets_sent,
                ..Self::default()
            },
            Some(Transport::Tcp(tcp)) => {
                let statistics = tcp.sender().statistics();
                Self {
                    packets: tcp.packets_sent(),
                    segments: statistics.segments_sent,
                    rtt_min_s: statistics.rtt_min.map(Duration::as_secs_f64),
                    retransmits: Some(statistics.retransmits),
                    fast_retransmits: Some(statistics.fast_retransmits),
                    rtos: Some(statistics.rtos),
                    spurious_retransmits: Some(statistics.spurious_retransmits),
                    undos: Some(statistics.undos),
                    spurious_rtos: Some(statistics.spurious_rtos),
                    duplicate_acks: Some(statistics.duplicate_acks),
                    reordering_pkts: Some(tcp.sender().readings().reordering_pkts.into()),
                    reordering_max_pkts: Some(statistics.reordering_max_pkts.into()),
                    cwnd_mean_pkts: statistics.cwnd_mean_pkts(),
                    in_flight_mean_pkts: statistics.in_flight_mean_pkts(),
                    slow_start_exit: statistics.slow_start_exit,
                    rtt_s: [
                        tcp.rtt.mean_s(),
                        tcp.rtt.quantile_s(0.5),
                        tcp.rtt.quantile_s(0.95),
                    ],
                }
            }
        }
    }
}

/// Counts, mean queue and utilisation begin where the warm-up ends.
fn links(world: &mut World, now: SimTime, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    let span_s = traffic_s(world, now);
    let carried = Carried::all(&mut world.simulation, world.wifi.as_ref(), now);
    let network = &world.simulation.network;
    for (number, ((info, link), after)) in
        (world.links.iter().zip(network.links()).zip(carried)).enumerate()
    {
        watch.tick(STEPS_PER_ROW)?;
        let carried = match &world.carried_in_warm_up {
            Some(before) => after.since(before[number]),
            None => after,
        };
        let rate_bps = link.rate().as_bps();
        let mean = |total: f64| if span_s > 0.0 { total / span_s } else { 0.0 };
        let utilisation = match link.capacity() {
            Some((capacity, origin)) => {
                let offered_bytes = capacity.offered_bytes(now.saturating_since(origin));
                carried.bytes as f64 / offered_bytes.max(1) as f64
            }
            None if link.is_over_medium() => mesh::airtime_share(carried.airtime_ps, span_s),
            None => mean(carried.bytes as f64 * 8.0 / rate_bps as f64),
        };
        let radios = world.wifi.as_ref();
        let channel = radios.and_then(|radios| radios.channel(LinkId(number as u32)));
        table.push([
            ("from", info.from.as_str().into()),
            ("to", info.to.as_str().into()),
            ("rate_bps", rate_bps.into()),
            ("delay_s", link.delay().as_secs_f64().into()),
            ("bytes", carried.bytes.into()),
            ("packets", carried.packets.into()),
            ("drops", carried.drops.into()),
            ("marks", carried.marks.into()),
            ("utilisation", utilisation.min(1.0).into()),
            (
                "queue_mean_bytes",
                mean(carried.queue_area as f64 / 1e12).into(),
            ),
            ("queue_max_bytes", carried.queue_max_bytes.into()),
            ("channel", channel.map(u64::from).into()),
        ]);
    }
    let ttis = now.as_secs_f64() * 1e3;
    radio::cells(world, span_s, ttis, &mut table);
    Ok(table)
}

/// The queue that a router keeps before all its interfaces together stands with its node.
fn nodes(world: &World, now: SimTime, watch: &mut Watch<'_>) -> Result<Table, Interrupt> {
    let mut table = Table::new();
    let span_s = now.as_secs_f64();
    for (number, node) in world.nodes.iter().enumerate() {
        watch.tick(STEPS_PER_ROW)?;
        let attach = node
            .attached_to
            .map(|router| world.nodes[router.index()].id.clone());
        let router = world.simulation.router(NodeId(number as u32));
        let queue = router.and_then(Router::shared_queue);
        table.push([
            ("id", node.id.as_str().into()),
            ("kind", node.kind.into()),
            ("x_m", node.position_m.map(|(x, _)| x).into()),
            ("y_m", node.position_m.map(|(_, y)| y).into()),
            ("attach", attach.into()),
            ("drops", queue.map(|queue| queue.drops).into()),
            (
                "queue_mean_bytes",
                queue
                    .filter(|_| span_s > 0.0)
                    .map(|queue| queue.area as f64 / 1e12 / span_s)
                    .into(),
            ),
            ("queue_max_bytes", queue.map(|queue| queue.max_bytes).into()),
        ]);
    }
    Ok(table)
}
