//! Links move packets at the calculated times, with each of their mechanisms.

use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Streams};
use backlane_net::queue::CoDelConfig;
use backlane_net::testing::{Load, Script};
use backlane_net::{
    Context, Ecn, FlowId, LinkConfig, Network, NodeId, Packet, PacketId, QueueConfig, QueueLimit,
    Router, Simulation,
};
use backlane_units::{Duration, Rate, SimTime};
use proptest::prelude::*;

fn config(queue: QueueConfig) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::from_millis(3),
        queue,
    }
}

/// Two hosts on one router; the second wire is the bottleneck under test.
fn run(queue: Option<QueueConfig>, sends: &[(u64, u32)], loss: f64) -> Simulation<Script> {
    run_with(queue, sends, loss, Ecn::NotCapable)
}

fn run_with(
    queue: Option<QueueConfig>,
    sends: &[(u64, u32)],
    loss: f64,
    ecn: Ecn,
) -> Simulation<Script> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    let source = network.add_host();
    let router = network.add_router();
    let destination = network.add_host();
    let instant = LinkConfig {
        rate: Rate::from_bps(8_000_000_000_000),
        delay: Duration::ZERO,
        queue: QueueConfig::DropTail(QueueLimit::Packets(u32::MAX)),
    };
    network.attach(&mut events, source, router, &instant);
    if let Some(queue) = queue {
        let (_, down) = network.attach(&mut events, destination, router, &config(queue));
        if loss > 0.0 {
            network.set_loss(down, loss, Streams::new(1).stream("wire", "loss"));
        }
    } else {
        // The cell's queue decides at dequeue time and is a plain FIFO for one user.
        let config = config(QueueConfig::DropTail(QueueLimit::Bytes(4000)));
        let hosts = [destination];
        network.attach_cell(&mut events, &hosts, router, config.rate, config.delay, 4000);
    }
    let loads = sends.iter().zip(0..).map(|(&(at_us, size), sequence)| {
        let packet = Packet {
            ecn,
            sequence,
            ..Packet::new(FlowId(0), source, destination, size)
        };
        Load::once(SimTime::ZERO + Duration::from_micros(at_us), packet)
    });
    let script = Script::new(&mut events, loads.collect());
    let mut simulation =
        Simulation::new(network, events, script, vec![None, None, None], Vec::new());
    simulation.run(SimTime::MAX, |_, _| false);
    let balance = simulation.network.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!((balance.in_flight, simulation.held_pkts()), (0, 0));
    simulation
}

/// Sequence numbers, and picoseconds.
fn arrivals(simulation: &Simulation<Script>) -> Vec<(u64, u64)> {
    let arrivals = simulation.application.arrivals.iter();
    arrivals
        .map(|arrival| (arrival.packet.sequence, arrival.at.as_ps()))
        .collect()
}

/// The sequence numbers of marked packets.
fn marked_of(simulation: &Simulation<Script>) -> Vec<u64> {
    let arrivals = simulation.application.arrivals.iter();
    arrivals
        .filter(|arrival| arrival.packet.ecn == Ecn::Marked)
        .map(|arrival| arrival.packet.sequence)
        .collect()
}

#[test]
fn a_packet_takes_its_size_over_the_rate_plus_the_delay() {
    let queue = QueueConfig::DropTail(QueueLimit::Bytes(4000));
    let simulation = run(Some(queue), &[(0, 1000), (0, 500)], 0.0);
    // 1 byte takes 1 ps on the first wire and 1 µs on the second.
    let us = 1_000_000;
    assert_eq!(
        arrivals(&simulation),
        [(0, 1000 + 4000 * us), (1, 1000 + 4500 * us)],
        "the second waits for the first"
    );
}

/// One packet is being sent when the others arrive, so that packet n finds n − 1 waiting.
#[test]
fn a_packet_that_finds_a_backlog_above_the_threshold_is_marked() {
    let limit = QueueLimit::Packets(6);
    let thresholds = [
        (QueueLimit::Packets(3), vec![5, 6]),
        (QueueLimit::Bytes(3000), vec![5, 6]),
        (QueueLimit::Bytes(2999), vec![4, 5, 6]),
        (QueueLimit::Packets(0), vec![2, 3, 4, 5, 6]),
        (QueueLimit::Packets(6), vec![]),
        // 8 Mb/s · 6 ms = 6000 B; of that 0.4.
        (QueueLimit::BandwidthDelayProduct(0.4), vec![4, 5, 6]),
    ];
    for (mark_above, marked) in thresholds {
        let queue = Some(QueueConfig::Marking { limit, mark_above });
        let simulation = run_with(queue.clone(), &[(0, 1000); 9], 0.0, Ecn::Capable);
        assert_eq!(marked_of(&simulation), marked, "{mark_above:?}");
        assert_eq!(simulation.network.links()[3].marks(), marked.len() as u64);
        assert_eq!(simulation.network.balance().dropped[0], 2);
        let deaf = run_with(queue, &[(0, 1000); 9], 0.0, Ecn::NotCapable);
        assert_eq!(
            (marked_of(&deaf).len(), deaf.network.links()[3].marks()),
            (0, 0)
        );
        assert_eq!(arrivals(&deaf), arrivals(&simulation));
    }
}

#[test]
fn the_packet_in_transmission_does_not_count_against_the_limit() {
    let queue = QueueConfig::DropTail(QueueLimit::Bytes(4000));
    let simulation = run(Some(queue), &[(0, 1000); 7], 0.0);
    assert_eq!(simulation.application.arrivals.len(), 5);
    assert_eq!(simulation.network.balance().dropped[0], 2);
    let counters = simulation.network.links()[3].counters();
    assert_eq!(
        (counters.queue_max_bytes, counters.drops, counters.packets),
        (4000, 2, 5)
    );
    // The four wait for 1, 2, 3 and 4 ms, less the 1, 2, 3 and 4 ns by which they came later.
    assert_eq!(counters.queue_area, 1000 * (10_000_000_000 - 10_000));
}

#[test]
fn a_wire_loses_its_configured_share_of_packets() {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(u32::MAX));
    let sends: Vec<(u64, u32)> = (0..20_000).map(|n| (n * 200, 100)).collect();
    let simulation = run(Some(queue), &sends, 0.05);
    let lost = simulation.network.balance().dropped[1] as f64;
    // Five standard deviations of a binomial.
    assert!(
        (lost - 1000.0).abs() < 5.0 * (20_000.0f64 * 0.05 * 0.95).sqrt(),
        "{lost}"
    );
}

proptest! {
    /// The fast path of drop-tail against the mechanism that decides at dequeue time.
    #[test]
    fn drop_tail_known_in_advance_equals_drop_tail_decided_late(
        gaps in prop::collection::vec((0u64..3000, 40u32..1500), 1..60)
    ) {
        let mut at = 0;
        let sends: Vec<(u64, u32)> = gaps
            .iter()
            .map(|&(gap, size)| {
                at += gap;
                (at, size)
            })
            .collect();
        let early = run(Some(QueueConfig::DropTail(QueueLimit::Bytes(4000))), &sends, 0.0);
        let late = run(None, &sends, 0.0);
        prop_assert_eq!(arrivals(&early), arrivals(&late));
        prop_assert_eq!(
            early.network.links()[3].counters(),
            late.network.links()[3].counters()
        );
    }
}

/// Sends a message of 32 bytes to its only neighbour each 97 ms, and packets for others there.
struct Beacon {
    heard: Arc<Mutex<Vec<SimTime>>>,
}

const BEACON: Duration = Duration::from_millis(97);

impl Router for Beacon {
    fn start(&mut self, context: &mut Context<'_>) {
        let timer = context.timer(0);
        context.set_timer(timer, context.now() + BEACON);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        context.transmit(0, id);
    }

    fn on_message(&mut self, context: &mut Context<'_>, _interface: usize, _ttl: u8, _: &[u8]) {
        if context.node() == NodeId(1) {
            self.heard.lock().unwrap().push(context.now());
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>, _token: u32) {
        context.send_message(0, Arc::from([0; 32]));
        let timer = context.timer(0);
        context.set_timer(timer, context.now() + BEACON);
    }
}

/// Two routers and a wire of 8 Mbit/s and 3 ms, which a host offers twice as much as it carries: the
/// arrivals of the first one's messages within 10 s, and the simulation.
fn beacons(queue: QueueConfig) -> (Vec<SimTime>, Simulation<Script>) {
    let (mut events, mut network) = (EventQueue::new(), Network::new());
    let routers = [network.add_router(), network.add_router()];
    network.connect(&mut events, routers[0], routers[1], &config(queue));
    let (source, destination) = (network.add_host(), network.add_host());
    let fast = LinkConfig {
        rate: Rate::from_bps(8_000_000_000),
        ..config(QueueConfig::DropTail(QueueLimit::Packets(100)))
    };
    network.attach(&mut events, source, routers[0], &fast);
    network.attach(&mut events, destination, routers[1], &fast);
    let load = Load {
        packet: Packet::new(FlowId(0), source, destination, 1000),
        start: SimTime::ZERO,
        every: Duration::from_micros(500),
        count: u64::MAX,
    };
    let script = Script::new(&mut events, vec![load]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let beacon = || {
        let heard = heard.clone();
        Some(Box::new(Beacon { heard }) as Box<dyn Router>)
    };
    let routers = vec![beacon(), beacon(), None, None];
    let mut simulation = Simulation::new(network, events, script, routers, Vec::new());
    simulation.run(SimTime::ZERO + Duration::from_secs(10), |_, _| false);
    let balance = simulation.network.balance();
    assert!(balance.holds() && balance.in_flight == simulation.held_pkts() as u64);
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    (heard, simulation)
}

/// Strict priority: a message waits for the packet in transmission, at most 1 ms, and not for the
/// 100 packets in the queue, 100 ms. It takes 60 µs itself, and 3 ms on the wire. Packets lose what the
/// messages take, and the queue drops as many as before.
#[test]
fn a_message_behind_a_full_queue_leaves_next() {
    let plain = QueueConfig::DropTail(QueueLimit::Packets(100));
    let codel = QueueConfig::new(QueueLimit::Packets(100), CoDelConfig::default());
    for queue in [plain.clone(), codel] {
        let (first, with) = beacons(queue.with_routing_first());
        // The last one leaves after 103 · 97 = 9991 ms.
        assert_eq!(first.len(), 103);
        for (at, n) in first.iter().zip(1..) {
            let wait = *at - (SimTime::ZERO + BEACON * n);
            let range = Duration::from_micros(3060)..=Duration::from_micros(4060);
            assert!(range.contains(&wait), "{wait}");
        }
        let arrived = with.application.arrivals.len();
        // 10 s less 103 messages of 60 µs; 9.99 s of packets have come and 100 wait.
        assert!((9_980..=9_995).contains(&arrived), "{arrived}");
    }
    let (late, _) = beacons(plain);
    println!("{} of 103 without priority", late.len());
    assert!(late.len() < 10);
}
