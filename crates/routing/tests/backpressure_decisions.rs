//! Single decisions of backpressure, computed by hand.
//!
//! Node 0 decides. Nodes 1 and 2 report their queues to it and forward nothing. Both are joined to
//! the destination, node 3; node 4 is farther from it.

use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Load, Script};
use backlane_net::{
    Context, DropCause, FlowId, LinkConfig, Network, NodeId, Packet, PacketId, QueueConfig,
    QueueLimit, Router, Simulation,
};
use backlane_routing::backpressure::{
    BpMr, Classic, ClassicConfig, Config, Granularity, Hello, PenaltyRule, QueueInfo, Shared,
    SingleQueue, SingleQueueConfig, V,
};
use backlane_routing::graph::{Distances, Graph};
use backlane_units::{Duration, Rate, SimTime};

const DESTINATION: NodeId = NodeId(3);

/// In place of a queue: the node sends no HELLO.
const SILENT: u16 = u16::MAX;

/// Reports its queues once, and records the packets that it receives.
struct Reported {
    queue_pkts: u16,
    /// When it reports, in milliseconds.
    at_ms: u64,
    given: Arc<Mutex<Vec<u32>>>,
}

impl Router for Reported {
    fn start(&mut self, context: &mut Context<'_>) {
        if self.queue_pkts != SILENT {
            let timer = context.timer(0);
            context.set_timer(timer, ms(self.at_ms));
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>, _: u32) {
        let hello = Hello {
            originator: context.node().0,
            sequence: 0,
            // Of several queues the shortest counts; one that is down has no length.
            queues_pkts: vec![Some(self.queue_pkts), None, Some(self.queue_pkts + 100)],
            by_destination: vec![(DESTINATION.0, self.queue_pkts)],
        };
        for interface in 0..context.interfaces().len() {
            context.send_message(interface, hello.encode());
        }
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        self.given.lock().unwrap().push(context.node().0);
        context.drop(id, DropCause::NoRoute);
    }

    fn on_message(&mut self, _: &mut Context<'_>, _: usize, _: u8, _: &[u8]) {}
}

fn ms(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

/// The next hop of a packet if nodes 1, 2 and 4 report these queues, and the links to them have
/// these rates in Mbit/s. `None`: it waits.
fn goes_to(
    router: impl Fn(Arc<Shared>, &Streams) -> Box<dyn Router>,
    queues_pkts: [u16; 3],
    rates: [u64; 3],
) -> Option<u32> {
    let given = go_to(router, queues_pkts.map(|pkts| (pkts, 0)), rates, &[50]);
    assert!(given.len() <= 1);
    given.first().copied()
}

/// The same for packets at these times in milliseconds, where each node reports its queue at its
/// own time.
fn go_to(
    router: impl Fn(Arc<Shared>, &Streams) -> Box<dyn Router>,
    queues: [(u16, u64); 3],
    rates: [u64; 3],
    packets_ms: &[u64],
) -> Vec<u32> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    for _ in 0..5 {
        network.add_router();
    }
    let link = |mbps: u64| LinkConfig {
        rate: Rate::from_bps(mbps * 1_000_000),
        delay: Duration::from_millis(1),
        queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
    };
    for (node, rate) in [1, 2, 4].into_iter().zip(rates) {
        network.connect(&mut events, NodeId(0), NodeId(node), &link(rate));
    }
    for node in [1, 2] {
        network.connect(&mut events, NodeId(node), DESTINATION, &link(100));
    }
    let distances = Distances::new(&Graph::of(&network, |_, _| 1), [DESTINATION]);
    let mut shared = Shared::new(5, distances, &[]);
    for node in 0..5 {
        shared.add_node(NodeId(node), 3);
    }
    let given = Arc::new(Mutex::new(Vec::new()));
    let reported = |(queue_pkts, at_ms)| -> Option<Box<dyn Router>> {
        let given = given.clone();
        Some(Box::new(Reported {
            queue_pkts,
            at_ms,
            given,
        }))
    };
    let [first, second, away] = queues;
    let routers = vec![
        Some(router(Arc::new(shared), &Streams::new(1))),
        reported(first),
        reported(second),
        reported((0, 0)),
        reported(away),
    ];
    let packet = Packet::new(FlowId(0), NodeId(0), DESTINATION, 1440);
    let loads = packets_ms
        .iter()
        .map(|&at_ms| Load::once(ms(at_ms), packet.clone()));
    let script = Script::new(&mut events, loads.collect());
    let mut simulation = Simulation::new(network, events, script, routers, Vec::new());
    // The HELLOs are valid for 300 ms.
    simulation.run(ms(250), |_, _| false);
    std::mem::take(&mut *given.lock().unwrap())
}

fn bp_mr_per(granularity: Granularity, shared: Arc<Shared>, streams: &Streams) -> Box<dyn Router> {
    let config = Config {
        granularity,
        ..Config::default()
    };
    let [ties, jitter] = ["ties", "hello"].map(|purpose| streams.stream("n0", purpose));
    Box::new(BpMr::new(NodeId(0), config, false, shared, ties, jitter))
}

fn bp_mr(shared: Arc<Shared>, streams: &Streams) -> Box<dyn Router> {
    bp_mr_per(Granularity::Packet, shared, streams)
}

/// V computed from the queues.
const VARIABLE: (V, bool) = (V::Variable, false);
/// V computed from the anticipated queues.
const ANTICIPATING: (V, bool) = (V::Variable, true);

fn single(
    penalty: PenaltyRule,
    (v, anticipate): (V, bool),
) -> impl Fn(Arc<Shared>, &Streams) -> Box<dyn Router> {
    move |shared, streams| {
        let config = SingleQueueConfig {
            v,
            anticipate,
            ..SingleQueueConfig::default()
        };
        let [ties, jitter] = ["ties", "hello"].map(|purpose| streams.stream("n0", purpose));
        Box::new(SingleQueue::new(
            NodeId(0),
            penalty,
            config,
            shared,
            ties,
            jitter,
        ))
    }
}

fn classic(shared: Arc<Shared>, streams: &Streams) -> Box<dyn Router> {
    let config = ClassicConfig {
        queue_info: QueueInfo::Hello,
        ..ClassicConfig::default()
    };
    let [ties, jitter] = ["ties", "hello"].map(|purpose| streams.stream("n0", purpose));
    Box::new(Classic::new(NodeId(0), config, shared, ties, jitter))
}

const EQUAL: [u64; 3] = [100; 3];

#[test]
fn bp_mr_takes_the_closer_neighbour_with_the_largest_free_space_times_rate() {
    // (340 − Q) · R.
    assert_eq!(goes_to(bp_mr, [10, 5, 0], EQUAL), Some(2));
    assert_eq!(goes_to(bp_mr, [5, 10, 0], EQUAL), Some(1));
    // 340 · 100 against 140 · 200, and against 180 · 200.
    assert_eq!(goes_to(bp_mr, [0, 200, 0], [100, 200, 100]), Some(1));
    assert_eq!(goes_to(bp_mr, [0, 160, 0], [100, 200, 100]), Some(2));
    // 1 · 100, and the detour has 2 · 1 − 0 − 340 < 0.
    assert_eq!(goes_to(bp_mr, [339, 340, 0], EQUAL), Some(1));
    assert_eq!(goes_to(bp_mr, [340, 340, 0], EQUAL), None);
}

/// Node 2 has the shorter queue and sends HELLOs from 100 ms on. A flow that has chosen node 1 then
/// decides again, since all flow entries are removed when a neighbour returns. A flow that knew
/// both from the start keeps its choice.
#[test]
fn bp_mr_decides_flows_again_when_a_neighbour_returns() {
    let per_flow =
        |shared: Arc<Shared>, streams: &Streams| bp_mr_per(Granularity::Flow, shared, streams);
    let packets_ms = [50, 80, 150];
    let late = [(50, 0), (0, 100), (0, 0)];
    assert_eq!(go_to(per_flow, late, EQUAL, &packets_ms), [1, 1, 2]);
    let both = [(50, 0), (60, 0), (0, 0)];
    assert_eq!(go_to(per_flow, both, EQUAL, &packets_ms), [1, 1, 1]);
}

#[test]
fn bp_weighs_the_nodes_queue_against_those_of_its_neighbours() {
    let plain = |v| single(PenaltyRule::Plain, v);
    // V = 200 − 50 = 150: 1 − 50 + 150 = 101 against 1 − 20 + 150 = 131.
    assert_eq!(goes_to(plain(VARIABLE), [50, 20, 0], EQUAL), Some(2));
    // V = 200 − 200 = 0: −199, −198, and 1 − 0 away from the destination.
    assert_eq!(goes_to(plain(VARIABLE), [200, 199, 0], EQUAL), Some(4));
    // 1 − 10 + 10 = 1, 1 − 12 + 10 = −1, 1 − 0 − 10 = −9.
    let fixed = || plain((V::Fixed(10.0), false));
    assert_eq!(goes_to(fixed(), [10, 12, 0], EQUAL), Some(1));
    assert_eq!(goes_to(fixed(), [11, 12, 0], EQUAL), None);
    // Queues that grew from 0 to 90 and 80 grow to 180 and 160: V = 20, and 1 − 80 + 20 < 0;
    // without anticipation V = 110, and 1 − 80 + 110 = 31.
    assert_eq!(goes_to(plain(ANTICIPATING), [90, 80, 90], EQUAL), None);
    assert_eq!(goes_to(plain(VARIABLE), [90, 80, 90], EQUAL), Some(2));
}

#[test]
fn bs_goes_forward_like_plain_and_shadow_turns_away_from_virtual_backlog() {
    let sparse = single(PenaltyRule::Sparse, VARIABLE);
    assert_eq!(goes_to(sparse, [50, 20, 0], EQUAL), Some(2));
    // The nodes report their queues as virtual backlog too. V = 199: 1 − 0 + 199 · 1 against 1 − 1
    // − 199 · 0, and 1 − 0 away from the destination.
    let shadow = || single(PenaltyRule::Shadow, VARIABLE);
    assert_eq!(goes_to(shadow(), [0, 1, 0], EQUAL), Some(1));
    // V = 150 and p = 49, 19: both closer ones are negative, and 1 − 0 is left.
    assert_eq!(goes_to(shadow(), [50, 20, 0], EQUAL), Some(4));
    // Where no neighbour is closer, the exit weighs 200. V = 150: 1 − 50 + 150 · 200, and without
    // shadows 1 − 50 − 150 · 1.
    let dead_end = [SILENT, SILENT, 50];
    assert_eq!(goes_to(shadow(), dead_end, EQUAL), Some(4));
    let plain = single(PenaltyRule::Plain, VARIABLE);
    assert_eq!(goes_to(plain, dead_end, EQUAL), None);
}

#[test]
fn classical_backpressure_follows_the_largest_differential_and_waits_without_one() {
    assert_eq!(goes_to(classic, [1, 0, 1], EQUAL), Some(2));
    // Distance does not count.
    assert_eq!(goes_to(classic, [1, 1, 0], EQUAL), Some(4));
    // The same differential over a faster link weighs more.
    assert_eq!(goes_to(classic, [0, 0, 0], [100, 200, 100]), Some(2));
    assert_eq!(goes_to(classic, [1, 1, 1], EQUAL), None);
}
