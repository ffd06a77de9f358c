//! Packets under OLSR: before there is a route, along it, and while it is broken.

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Load, Script};
use backlane_net::{
    DropCause, FlowId, LinkConfig, Network, NodeId, Packet, QueueConfig, QueueLimit, Router,
    Simulation,
};
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
