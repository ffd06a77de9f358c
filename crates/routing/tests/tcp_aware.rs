//! TCP-aware backpressure over wires: service, drops and reports.

use std::sync::Arc;

use backlane_engine::{EventQueue, Streams};
use backlane_net::{
    Application, DropCause, Event, FlowId, HostContext, LinkConfig, LinkId, Network, NodeId,
    Packet, PacketId, QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_routing::backpressure::tcp_aware::{
    AckLinks, FlowLinks, NeighbourTies, TcpAware, TcpAwareConfig, Threshold,
};
use backlane_routing::readings::{
    OVERFLOW_AT_SOURCE, OVERFLOW_IN_TRANSIT, TRAPPED_AREA, TRAPPED_PKTS, reading,
};
use backlane_units::{Duration, Rate, SimTime};

const SIZE_BYTES: u32 = 1000;
/// 1000 bytes take 4 ms.
const RATE: Rate = Rate::from_bps(2_000_000);

/// Flows with a fixed window: each arrival triggers another packet.
struct Windows {
    /// Source, destination and window of each flow.
    flows: Vec<(NodeId, NodeId, u32)>,
    /// Whether the packets are those of ways back.
    reverse: bool,
    delivered: Vec<u64>,
    refused: Vec<u64>,
}

impl Windows {
    fn send(&self, context: &mut HostContext<'_>, flow: u32) {
        let (source, destination, _) = self.flows[flow as usize];
        let packet = Packet::new(FlowId(flow), source, destination, SIZE_BYTES);
        context.send(Packet {
            reverse: self.reverse,
            ..packet
        });
    }
}

impl Application for Windows {
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId) {
        let flow = context.packet(id).flow;
        assert_eq!(context.packet(id).size_bytes, SIZE_BYTES);
        self.delivered[flow.index()] += 1;
        self.send(context, flow.0);
    }

    fn on_timer(&mut self, context: &mut HostContext<'_>, _: u32, _: u32) {
        for flow in 0..self.flows.len() {
            for _ in 0..self.flows[flow].2 {
                self.send(context, flow as u32);
            }
        }
    }

    fn on_source_drop(&mut self, _: &mut HostContext<'_>, packet: &Packet) {
        self.refused[packet.flow.index()] += 1;
    }
}

/// A network of wires of 2 Mbit/s and 1 µs, so that a packet arrives after its wire is idle, in which these flows begin after one second.
fn world(
    nodes: u32,
    wires: &[(u32, u32)],
    flows: &[(u32, u32, u32)],
    config: TcpAwareConfig,
) -> Simulation<Windows> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    for _ in 0..nodes {
        network.add_router();
    }
    let link = LinkConfig {
        rate: RATE,
        delay: Duration::from_micros(1),
        queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
    };
    for &(a, b) in wires {
        network.connect(&mut events, NodeId(a), NodeId(b), &link);
    }
    let links = Arc::new(FlowLinks::all(&network, &[], (0..nodes).map(NodeId)));
    let streams = Streams::new(1);
    let routers = (0..nodes)
        .map(|node| -> Option<Box<dyn Router>> {
            let jitter = streams.stream(&format!("n{node}"), "hello");
            Some(Box::new(TcpAware::new(config, links.clone(), jitter)))
        })
        .collect();
    let flows: Vec<_> = flows
        .iter()
        .map(|&(from, to, window)| (NodeId(from), NodeId(to), window))
        .collect();
    let application = Windows {
        reverse: false,
        delivered: vec![0; flows.len()],
        refused: vec![0; flows.len()],
        flows,
    };
    events.once(second(1), Event::Application { id: 0, token: 0 });
    Simulation::new(network, events, application, routers, Vec::new())
}

fn second(at: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(at)
}

fn run(simulation: &mut Simulation<Windows>, until: u64) {
    simulation.run(second(until), |_, _| false);
    let balance = simulation.network.balance();
    assert!(balance.holds());
    assert_eq!(balance.in_flight, simulation.held_pkts() as u64);
}

fn read(simulation: &Simulation<Windows>, node: u32, name: &str) -> u64 {
    let now = simulation.events.now();
    let router = simulation.router(NodeId(node)).unwrap();
    reading(&router.readings(now), name) as u64
}

fn with_threshold(threshold: Threshold) -> TcpAwareConfig {
    TcpAwareConfig {
        k: threshold,
        ..TcpAwareConfig::default()
    }
}

const PAIR: &[(u32, u32)] = &[(0, 1)];
/// 0 is joined to 1 and 2, and both to 3.
const DIAMOND: &[(u32, u32)] = &[(0, 1), (0, 2), (1, 3), (2, 3)];

/// Example 1 of the paper, on one wire: windows of one and of three packets.
#[test]
fn without_a_threshold_the_flow_with_a_window_of_one_starves() {
    let mut simulation = world(
        2,
        PAIR,
        &[(0, 1, 1), (0, 1, 3)],
        with_threshold(Threshold::Fixed(0)),
    );
    run(&mut simulation, 21);
    let [short, long] = simulation.application.delivered[..] else {
        unreachable!("two flows")
    };
    assert!(long > 4_000, "{long} packets of the longer window");
    assert!(short <= 1, "{short} packets of the shorter window");
}

#[test]
fn with_a_share_of_the_buffer_both_windows_get_half_of_the_wire() {
    let config = with_threshold(Threshold::Share);
    let mut simulation = world(2, PAIR, &[(0, 1, 1), (0, 1, 3)], config);
    run(&mut simulation, 21);
    let [short, long] = simulation.application.delivered[..] else {
        unreachable!("two flows")
    };
    assert!(short + long > 4_000);
    assert!(short.abs_diff(long) <= 1, "{short} and {long} packets");
}

/// At most a report waits in the device queue; reports are not held back.
#[test]
fn data_waits_in_the_router_and_not_in_the_device() {
    let config = TcpAwareConfig::default();
    let mut simulation = world(4, DIAMOND, &[(0, 1, 40), (0, 3, 40)], config);
    run(&mut simulation, 20);
    assert!(simulation.application.delivered.iter().sum::<u64>() > 4_000);
    for link in 0..8 {
        let counters = simulation.network.links()[link].counters();
        assert!(
            counters.queue_max_bytes < 100,
            "{} bytes before link {link}",
            counters.queue_max_bytes
        );
    }
    let busy = simulation
        .router(NodeId(0))
        .unwrap()
        .shared_queue()
        .unwrap();
    assert!(busy.max_bytes > u64::from(10 * SIZE_BYTES));
}

/// Windows larger than the buffer, over a chain with equal rates.
#[test]
fn a_full_buffer_drops_at_the_source_and_nowhere_else() {
    let chain = &[(0, 1), (1, 2), (2, 3)];
    let config = TcpAwareConfig::default();
    let mut simulation = world(4, chain, &[(0, 3, 150), (0, 3, 150)], config);
    run(&mut simulation, 30);
    let at_source = read(&simulation, 0, OVERFLOW_AT_SOURCE);
    assert!(at_source >= 195, "{at_source} packets");
    for node in 1..4 {
        let other = |name| read(&simulation, node, name);
        assert_eq!(
            (other(OVERFLOW_AT_SOURCE), other(OVERFLOW_IN_TRANSIT)),
            (0, 0)
        );
    }
    let dropped = simulation.network.balance().dropped;
    assert_eq!(dropped[DropCause::Queue as usize], at_source);
    assert_eq!(
        simulation.application.refused.iter().sum::<u64>(),
        at_source
    );
}

/// 0 is joined to 1 and 2, and these to each other: packets to 1 take one link or two.
#[test]
fn of_neighbours_of_equal_weight_the_nearest_to_the_destination_is_chosen_or_each_in_turn() {
    let triangle = &[(0, 1), (0, 2), (1, 2)];
    let by_2 = |neighbour_ties, ack_links, reverse| {
        let config = TcpAwareConfig {
            neighbour_ties,
            ack_links,
            ..TcpAwareConfig::default()
        };
        let mut simulation = world(3, triangle, &[(0, 1, 1)], config);
        simulation.application.reverse = reverse;
        run(&mut simulation, 11);
        let counters = |link: LinkId| simulation.network.links()[link.index()].counters().bytes;
        // The links from 0 to 1 and to 2; reports are short.
        let [direct, detour] = [LinkId(0), LinkId(2)].map(counters);
        detour as f64 / (direct + detour) as f64
    };
    let (nearest, in_turn) = (NeighbourTies::Nearest, NeighbourTies::InTurn);
    let (as_flows, shortest) = (AckLinks::AsFlows, AckLinks::ShortestPath);
    for (ties, acks, reverse, least, most) in [
        (nearest, as_flows, false, 0.0, 0.01),
        (in_turn, as_flows, false, 0.4, 0.6),
        (in_turn, shortest, false, 0.4, 0.6),
        (in_turn, as_flows, true, 0.4, 0.6),
        (in_turn, shortest, true, 0.0, 0.01),
    ] {
        let share = by_2(ties, acks, reverse);
        let case = (ties, acks, reverse);
        assert!((least..=most).contains(&share), "{share} by 2: {case:?}");
    }
}

/// The longer queue pays for the shorter one: the flow of three packets loses none.
#[test]
fn a_short_queue_loses_no_packets_to_a_long_one() {
    let config = TcpAwareConfig::default();
    let mut simulation = world(2, PAIR, &[(0, 1, 300), (0, 1, 3)], config);
    run(&mut simulation, 21);
    let refused = &simulation.application.refused;
    assert!(refused[0] > 190, "{refused:?}");
    assert_eq!(refused[1], 0);
}

#[test]
fn the_backlog_of_a_flow_is_reported_to_its_source() {
    let config = TcpAwareConfig::default();
    let mut simulation = world(2, PAIR, &[(0, 1, 30), (0, 1, 2)], config);
    run(&mut simulation, 2);
    let router = simulation.router(NodeId(0)).unwrap();
    let backlogs = [0, 1].map(|flow| router.flow_backlog_pkts(FlowId(flow)));
    // One of the 32 is on the wire.
    assert_eq!(backlogs.iter().sum::<u32>(), 31);
    assert!(backlogs[0] >= 29, "{backlogs:?}");
}

/// The neighbour beyond the cut is known to be dead when the packets come: they wander between the
/// two remaining nodes until their time to live expires.
#[test]
fn a_cut_network_ends_by_its_time_limit() {
    let config = TcpAwareConfig {
        neighbour_hold: Duration::from_millis(900),
        ..TcpAwareConfig::default()
    };
    let mut simulation = world(3, &[(0, 1), (1, 2)], &[(0, 2, 5)], config);
    simulation.set_wire_up(NodeId(1), NodeId(2), false);
    run(&mut simulation, 30);
    assert_eq!(simulation.application.delivered, [0]);
    let dropped = simulation.network.balance().dropped;
    assert_eq!(dropped[DropCause::TtlExpired as usize], 5);
}

#[test]
fn a_starved_packet_is_trapped_from_its_tenth_second_on() {
    let config = with_threshold(Threshold::Fixed(0));
    let mut simulation = world(2, PAIR, &[(0, 1, 3), (0, 1, 1)], config);
    for (until, trapped, area_s) in [(10, 0, 0.0), (12, 1, 1.0), (21, 1, 10.0)] {
        run(&mut simulation, until);
        let readings = simulation
            .router(NodeId(0))
            .unwrap()
            .readings(second(until));
        assert_eq!(reading(&readings, TRAPPED_PKTS), trapped, "at {until} s");
        assert_eq!(
            reading(&readings, TRAPPED_AREA) as f64 / 1e12,
            area_s,
            "at {until} s"
        );
    }
}

/// One of two paths is dead: packets take the other.
#[test]
fn a_neighbour_that_fell_silent_is_sent_nothing() {
    let config = TcpAwareConfig::default();
    let mut simulation = world(4, DIAMOND, &[(0, 3, 20)], config);
    run(&mut simulation, 3);
    simulation.set_wire_up(NodeId(0), NodeId(1), false);
    run(&mut simulation, 7);
    let sent = |simulation: &Simulation<Windows>| simulation.network.links()[0].counters().packets;
    let at_seven = sent(&simulation);
    run(&mut simulation, 12);
    // Reports are still sent: two per second, and one more for jitter.
    assert!(
        sent(&simulation) - at_seven <= 15,
        "{}",
        sent(&simulation) - at_seven
    );
    assert_eq!(simulation.network.links()[0].from, NodeId(0));
}

#[test]
fn a_report_to_a_silent_neighbour_follows_a_change_soon_and_then_twice_a_second() {
    let config = TcpAwareConfig::default();
    let mut simulation = world(2, PAIR, &[(0, 1, 1)], config);
    run(&mut simulation, 11);
    // The flow ends at node 1, whose reports are empty.
    let back = simulation.network.links()[LinkId(1).index()]
        .counters()
        .packets;
    assert!((20..=30).contains(&back), "{back} reports in 11 s");
}
