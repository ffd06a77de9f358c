//! Packets under OLSR: before there is a route, along it, and while it is broken.

use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::Tap;
use backlane_net::testing::{Load, Script};
use backlane_net::{
    Context, DropCause, FlowId, LinkConfig, Network, NodeId, Packet, QueueConfig, QueueLimit,
    Router, Simulation,
};
use backlane_routing::olsr::message::{HELLO, messages};
use backlane_routing::olsr::{Config, Olsr};
use backlane_units::{Duration, Rate, SimTime};

const EVERY: Duration = Duration::from_millis(100);

/// A ring of six routers, with a packet every 100 ms between hosts at routers 0 and 2. The path
/// over router 1 is shorter.
fn ring(seed: u64) -> Simulation<Script> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    let routers: Vec<_> = (0..6).map(|_| network.add_router()).collect();
    let link = LinkConfig {
        rate: Rate::from_bps(100_000_000),
        delay: Duration::from_millis(1),
        queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
    };
    for i in 0..6 {
        network.connect(&mut events, routers[i], routers[(i + 1) % 6], &link);
    }
    let (source, destination) = (network.add_host(), network.add_host());
    network.attach(&mut events, source, routers[0], &link);
    network.attach(&mut events, destination, routers[2], &link);
    let load = Load {
        packet: Packet::new(FlowId(0), source, destination, 1000),
        start: SimTime::ZERO,
        every: EVERY,
        count: u64::MAX,
    };
    let script = Script::new(&mut events, vec![load]);
    let streams = Streams::new(seed);
    let router = |node: NodeId| {
        let stream = streams.stream(&format!("n{}", node.0), "jitter");
        Some(Box::new(Olsr::new(node, Config::default(), stream)) as Box<dyn Router>)
    };
    let mut routers: Vec<_> = routers.into_iter().map(router).collect();
    routers.extend([None, None]);
    Simulation::new(network, events, script, routers, Vec::new())
}

/// For each packet: its arrival time, number and routers passed.
fn arrivals(simulation: &Simulation<Script>) -> Vec<(SimTime, u64, u8)> {
    let arrivals = simulation.application.arrivals.iter();
    arrivals
        .map(|arrival| (arrival.at, arrival.packet.sequence, arrival.packet.hops))
        .collect()
}

fn balanced(simulation: &Simulation<Script>) -> [u64; DropCause::ALL.len()] {
    let balance = simulation.network.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!(balance.in_flight, simulation.held_pkts() as u64);
    balance.dropped
}

#[test]
fn packets_are_lost_before_there_is_a_route_and_while_it_is_broken() {
    let config = Config::default();
    for seed in 0..10 {
        let mut simulation = ring(seed);
        // Two hops are known after three HELLOs, and not before the second: no neighbour is
        // symmetric before.
        let known = SimTime::ZERO + config.jitter + config.hello_interval * 2;
        simulation.run(known + EVERY, |_, _| false);
        let (first, sequence, _) = arrivals(&simulation)[0];
        assert!(first > SimTime::ZERO + config.hello_interval - config.jitter);
        let no_route = balanced(&simulation)[DropCause::NoRoute as usize];
        assert_eq!(no_route, sequence, "all before the first that arrived");

        let cut = SimTime::ZERO + Duration::from_secs(30);
        simulation.run(cut, |_, _| false);
        let before = arrivals(&simulation).len();
        let shortest = |&(_, _, hops): &(SimTime, u64, u8)| hops == 3;
        assert!(arrivals(&simulation).iter().all(shortest));
        let dropped = balanced(&simulation);
        assert_eq!(dropped.iter().sum::<u64>(), no_route, "none since");

        assert!(simulation.set_wire_up(NodeId(0), NodeId(1), false));
        // The same bound as for tables: hold time, two HELLOs, a TC and its jitter.
        let notified = config.neighbour_hold + config.hello_interval * 2;
        let bound = notified + config.tc_interval + (config.jitter + Duration::from_millis(2)) * 5;
        simulation.run(cut + bound + EVERY * 10, |_, _| false);
        let after = &arrivals(&simulation)[before..];
        // Router 0 switches to 5 before 5 learns of the loss and stops sending to 0. Packets loop
        // between the two until 5 forwards them or their TTL expires.
        assert!(after.iter().all(|&(_, _, hops)| hops >= 5 && hops % 2 == 1));
        let &(healed, _, _) = after.iter().find(|&&(_, _, hops)| hops == 5).unwrap();
        assert!(healed - cut > config.neighbour_hold - config.hello_interval);
        assert!(healed - cut <= bound, "{:?}", healed - cut);
        let settled = after.iter().filter(|&&(at, _, _)| at > healed + EVERY);
        assert!(settled.clone().count() > 0);
        assert!(
            settled.clone().all(|&(_, _, hops)| hops == 5),
            "no loop remains"
        );
        let dropped = balanced(&simulation);
        // HELLOs at the cut are lost too, so the count is at least the number of packets in the
        // gap.
        let gap = (config.neighbour_hold - config.hello_interval).as_ps() / EVERY.as_ps();
        assert!(dropped[DropCause::LinkDown as usize] >= gap, "{dropped:?}");
    }
}

/// Two routers and a wire of 8 Mbit/s that gets twice as much from a host, with 100 packets of room. The
/// times of the HELLOs of the first that arrived at the second, and the simulation after 60 s.
fn overloaded(routing_first: bool) -> (Vec<SimTime>, Simulation<Script>) {
    let (mut events, mut network) = (EventQueue::new(), Network::new());
    let nodes = [network.add_router(), network.add_router()];
    let link = |mbps: u64, queue| LinkConfig {
        rate: Rate::from_bps(mbps * 1_000_000),
        delay: Duration::from_millis(1),
        queue,
    };
    let plain = QueueConfig::DropTail(QueueLimit::Packets(100));
    let mut queue = plain.clone();
    if routing_first {
        queue = queue.with_routing_first();
    }
    network.connect(&mut events, nodes[0], nodes[1], &link(8, queue));
    let (source, destination) = (network.add_host(), network.add_host());
    network.attach(&mut events, source, nodes[0], &link(1000, plain.clone()));
    network.attach(&mut events, destination, nodes[1], &link(1000, plain));
    let load = Load {
        packet: Packet::new(FlowId(0), source, destination, 1000),
        start: SimTime::ZERO,
        every: Duration::from_micros(500),
        count: u64::MAX,
    };
    let script = Script::new(&mut events, vec![load]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let router = |node: NodeId| {
        let stream = Streams::new(1).stream(&format!("n{}", node.0), "jitter");
        let olsr = Arc::new(Mutex::new(Olsr::new(node, Config::default(), stream)));
        let heard = heard.clone();
        let tap = Tap::new(olsr, move |context: &Context<'_>, _, _, bytes: &[u8]| {
            if context.node() == NodeId(1) && messages(bytes).any(|message| message.kind == HELLO) {
                heard.lock().unwrap().push(context.now());
            }
        });
        Some(Box::new(tap) as Box<dyn Router>)
    };
    let mut routers: Vec<_> = nodes.into_iter().map(router).collect();
    routers.extend([None, None]);
    let mut simulation = Simulation::new(network, events, script, routers, Vec::new());
    simulation.run(SimTime::ZERO + Duration::from_secs(60), |_, _| false);
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    (heard, simulation)
}

/// With `routing_first` every HELLO arrives; without, most find the queue full, and the neighbours lose
/// each other.
#[test]
fn hellos_pass_an_overloaded_wire_if_routing_goes_first() {
    let (all, with) = overloaded(true);
    let (some, without) = overloaded(false);
    let arrived = [&with, &without].map(|simulation| simulation.application.arrivals.len());
    let dropped = [&with, &without].map(balanced);
    println!(
        "{} and {} HELLOs, {arrived:?} packets",
        all.len(),
        some.len()
    );
    // One each 1.5 to 2 s; and the wire carries 1000 packets a second less the HELLOs.
    assert!((30..=40).contains(&all.len()), "{}", all.len());
    assert!(arrived[0] > 59_000 && dropped[0][DropCause::NoRoute as usize] < 500);
    assert!(some.len() < 20 && dropped[1][DropCause::NoRoute as usize] > 5000);
}
