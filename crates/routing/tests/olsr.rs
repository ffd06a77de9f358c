//! OLSR on whole networks: its tables over time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Stream, Streams};
use backlane_net::testing::{Script, Tap};
use backlane_net::{
    Context, Interface, Link, LinkConfig, Network, NodeId, QueueConfig, QueueLimit, Router,
    Simulation,
};
use backlane_routing::olsr::message::{TC, messages};
use backlane_routing::olsr::{Addresses, Config, Metric, Olsr};
use backlane_units::{Duration, Rate, SimTime};

/// Copies of TCs that came in, by (receiver, interface, originator, sequence number).
type Floods = Arc<Mutex<BTreeMap<(u32, usize, u32, u16), u32>>>;

struct Net {
    simulation: Simulation<Script>,
    nodes: u32,
    floods: Floods,
}

impl Net {
    fn new(nodes: u32, wires: &[(u32, u32)], config: Config, seed: u64) -> Self {
        let wires: Vec<_> = wires.iter().map(|&(a, b)| (a, b, 100)).collect();
        Self::of_rates(nodes, &wires, config, seed)
    }

    /// Wires with their rates in Mbit/s.
    fn of_rates(nodes: u32, wires: &[(u32, u32, u64)], config: Config, seed: u64) -> Self {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        for _ in 0..nodes {
            network.add_router();
        }
        let link = |mbps: u64| LinkConfig {
            rate: Rate::from_bps(mbps * 1_000_000),
            delay: Duration::from_millis(1),
            queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
        };
        for &(a, b, mbps) in wires {
            network.connect(&mut events, NodeId(a), NodeId(b), &link(mbps));
        }
        let streams = Streams::new(seed);
        let floods = Floods::default();
        let routers = (0..nodes)
            .map(|node| {
                let stream = streams.stream(&format!("n{node}"), "jitter");
                let olsr = Olsr::new(NodeId(node), config, stream);
                let floods = floods.clone();
                let tap = Tap::new(
                    Arc::new(Mutex::new(olsr)),
                    move |context: &Context<'_>, interface, _, bytes: &[u8]| {
                        let node = context.node().0;
                        for message in messages(bytes).filter(|message| message.kind == TC) {
                            let copy = (node, interface, message.originator.0, message.sequence);
                            *floods.lock().unwrap().entry(copy).or_default() += 1;
                        }
                    },
                );
                Some(Box::new(tap) as Box<dyn Router>)
            })
            .collect();
        Self {
            simulation: Simulation::new(network, events, Script::default(), routers, Vec::new()),
            nodes,
            floods,
        }
    }

    fn run(&mut self, until: SimTime) {
        self.simulation.run(until, |_, _| false);
    }

    fn interface(&self, from: u32, to: u32) -> Option<usize> {
        self.simulation.router(NodeId(from))?.next_hop(NodeId(to))
    }

    fn is_whole(&self, interface: &Interface) -> bool {
        self.simulation.network.links()[interface.outgoing.index()].up()
    }

    /// The hops of the current route in the tables, over wires that are up; `None` without a route.
    fn way(&self, from: u32, to: u32) -> Option<u16> {
        let mut here = NodeId(from);
        let mut hops = 0;
        while here != NodeId(to) {
            let interface = self.interface(here.0, to)?;
            let interface = self.simulation.network.mesh_interfaces(here)[interface];
            if !self.is_whole(&interface) || u32::from(hops) > self.nodes {
                return None;
            }
            here = interface.peer;
            hops += 1;
        }
        Some(hops)
    }

    /// Distances over wires that are up, by breadth-first search.
    fn hops(&self) -> Vec<Vec<u16>> {
        let from = |start: usize| {
            let mut hops = vec![u16::MAX; self.nodes as usize];
            hops[start] = 0;
            let mut reached = vec![NodeId(start as u32)];
            let mut index = 0;
            while let Some(&node) = reached.get(index) {
                index += 1;
                for interface in self.simulation.network.mesh_interfaces(node) {
                    if self.is_whole(interface) && hops[interface.peer.index()] == u16::MAX {
                        hops[interface.peer.index()] = hops[node.index()] + 1;
                        reached.push(interface.peer);
                    }
                }
            }
            hops
        };
        (0..self.nodes as usize).map(from).collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let nodes = self.nodes;
        (0..nodes).flat_map(move |a| (0..nodes).map(move |b| (a, b)))
    }

    /// The number of pairs at most `within` hops apart without a shortest route, plus the number of
    /// disconnected pairs with a route.
    fn wrong(&self, within: u16) -> usize {
        let hops = self.hops();
        let is_wrong = |&(a, b): &(u32, u32)| match hops[a as usize][b as usize] {
            u16::MAX => self.interface(a, b).is_some(),
            distance => distance <= within && self.way(a, b) != Some(distance),
        };
        self.pairs().filter(is_wrong).count()
    }

    fn diameter(&self) -> u64 {
        let all = self.hops().into_iter().flatten();
        u64::from(all.filter(|hops| *hops != u16::MAX).max().unwrap_or(0))
    }

    /// The first time, to 10 ms, at which all routes within `within` hops are right.
    fn right_at(&mut self, within: u16, from: SimTime, to: SimTime) -> Option<SimTime> {
        let mut at = from;
        while at <= to {
            self.run(at);
            if self.wrong(within) == 0 {
                return Some(at);
            }
            at = at + Duration::from_millis(10);
        }
        None
    }

    fn tables(&self) -> Vec<Option<usize>> {
        self.pairs().map(|(a, b)| self.interface(a, b)).collect()
    }
}

/// A random tree and some more wires.
fn connected(stream: &mut Stream, nodes: u32) -> Vec<(u32, u32)> {
    let mut wires: Vec<_> = (1..nodes)
        .map(|node| (stream.uniform_below(u64::from(node)) as u32, node))
        .collect();
    for _ in 0..stream.uniform_below(u64::from(nodes) * 2) {
        let a = stream.uniform_below(u64::from(nodes)) as u32;
        let b = stream.uniform_below(u64::from(nodes)) as u32;
        if a < b && !wires.contains(&(a, b)) {
            wires.push((a, b));
        }
    }
    wires
}

fn grid(rows: u32, columns: u32) -> Vec<(u32, u32)> {
    let mut wires = Vec::new();
    for node in 0..rows * columns {
        if node % columns + 1 < columns {
            wires.push((node, node + 1));
        }
        if node / columns + 1 < rows {
            wires.push((node, node + columns));
        }
    }
    wires
}

/// HELLOs every 100 ms, the rest as in the RFC: the settings of backhaul studies with ns-3's OLSR.
fn fast_hellos() -> Config {
    Config {
        hello_interval: Duration::from_millis(100),
        jitter: Duration::from_millis(25),
        neighbour_hold: Duration::from_millis(300),
        ..Config::default()
    }
}

/// Propagation and a few microseconds of transmission, for each hop.
const WIRE: Duration = Duration::from_millis(2);

fn at_secs(s: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(s)
}

/// The second HELLO makes a neighbour symmetric, the third lists its neighbours.
fn two_hops_by(config: &Config) -> SimTime {
    SimTime::ZERO + config.jitter + config.hello_interval * 2 + WIRE
}

/// The fourth HELLO notifies the relays; the TC after that reaches every node.
fn all_by(config: &Config, diameter: u64) -> SimTime {
    let chosen = config.jitter + config.hello_interval * 3 + WIRE;
    SimTime::ZERO + chosen + config.tc_interval + (config.jitter + WIRE) * diameter
}

#[test]
fn every_route_on_a_random_graph_is_a_shortest_path() {
    let mut stream = Streams::new(1).stream("graphs", "shape");
    for seed in 0..100 {
        let nodes = 2 + stream.uniform_below(29) as u32;
        let wires = connected(&mut stream, nodes);
        let config = Config::default();
        let mut net = Net::new(nodes, &wires, config, seed);
        net.run(two_hops_by(&config));
        assert_eq!(net.wrong(2), 0, "two hops, graph {seed}");
        let by = all_by(&config, net.diameter());
        net.run(by);
        assert_eq!(net.wrong(u16::MAX), 0, "graph {seed}");
        // The tables stay right over many hold times.
        for later in 1..20 {
            net.run(by + Duration::from_millis(2300 * later));
            assert_eq!(net.wrong(u16::MAX), 0, "later, graph {seed}");
        }
        let balance = net.simulation.network.balance();
        assert!(
            balance.holds() && balance.dropped_total() == 0,
            "{balance:?}"
        );
    }
}

#[test]
fn long_routes_wait_for_the_second_tc_timer() {
    let config = fast_hellos();
    let mut latest = [SimTime::ZERO; 2];
    for seed in 0..10 {
        let mut net = Net::new(25, &grid(5, 5), config, seed);
        let near = net.right_at(2, SimTime::ZERO, two_hops_by(&config));
        latest[0] = latest[0].max(near.expect("two hops"));
        let second_tc = SimTime::ZERO + config.tc_interval - config.jitter;
        net.run(second_tc);
        assert!(net.wrong(3) > 0);
        // Every relay was notified earlier, so the tables are complete at the second expiry of all
        // timers.
        let last_tc = SimTime::ZERO + config.jitter + config.tc_interval;
        let by = last_tc + (config.jitter + WIRE) * net.diameter();
        let all = net.right_at(u16::MAX, second_tc, by);
        latest[1] = latest[1].max(all.expect("all"));
    }
    println!("5x5 grid, HELLO 100 ms, latest of 10: two hops, all {latest:?}");
}

/// RFC 3626 §5: neighbours at other interfaces than their first are known by main address from the
/// second round on, when the first MIDs reach them; relays are chosen after it.
#[test]
fn with_addresses_of_interfaces_long_routes_wait_for_the_third_tc_timer() {
    for addresses in [Addresses::Interface, Addresses::Ns3] {
        let config = Config {
            addresses,
            ..fast_hellos()
        };
        for seed in 0..10 {
            let mut net = Net::new(25, &grid(5, 5), config, seed);
            let third_tc = SimTime::ZERO + (config.tc_interval - config.jitter) * 2;
            net.run(third_tc);
            assert!(net.wrong(3) > 0);
            let jitters = (config.jitter + WIRE) * net.diameter();
            let by = SimTime::ZERO + config.jitter + config.tc_interval * 2 + jitters;
            assert!(
                net.right_at(u16::MAX, third_tc, by).is_some(),
                "seed {seed}"
            );
            for later in 1..10 {
                net.run(by + Duration::from_millis(2300 * later));
                assert_eq!(net.wrong(u16::MAX), 0, "later, seed {seed}");
            }
        }
    }
}

/// RFC 3626 §6.2: a HELLO lists neighbours at other interfaces by main address, which the sender
/// knows from the second round on, so that all routes of two hops are there long before the third.
#[test]
fn two_hops_need_one_mid_by_the_rfc_and_one_that_was_relayed_in_ns3() {
    let known = |addresses| {
        let config = Config {
            addresses,
            ..fast_hellos()
        };
        let mut net = Net::new(25, &grid(5, 5), config, 1);
        net.run(SimTime::ZERO + config.tc_interval - config.jitter * 2);
        let before = net.wrong(2);
        net.run(SimTime::ZERO + config.tc_interval + config.hello_interval * 5);
        (before > 0, net.wrong(2))
    };
    assert_eq!(known(Addresses::Interface), (true, 0));
    let (before, after) = known(Addresses::Ns3);
    assert!(before && after > 0, "{after}");
}

/// ns-3 3.37 recorded when OLSR has routes both ways between the EPC and each eNodeB of the grid of
/// `validation/bp_mr_authors` (HELLO 0.1 s, TC 5 s): `validation/ns3/programs/olsr_start.cc`. The
/// authors' simulator agrees: of 25 flows that start from 4.05 to 5.25 s in the order of their
/// eNodeBs, 5, 20 and 25 get their first byte at once, 10 and 15 on the second attempt 3 s later,
/// and all others 9 s later, after 13 s.
#[test]
fn routes_of_a_grid_appear_in_the_round_in_which_ns3_has_them() {
    let recorded = include_str!("../../../validation/ns3/truth/olsr_start.csv");
    let in_ns3 = |by_s: f64| -> BTreeSet<u32> {
        let rows = recorded.lines().skip(1).map(|row| {
            let mut fields = row.split(',').skip(1);
            let node: u32 = fields.next().unwrap().parse().unwrap();
            let at_s: f64 = fields.next().unwrap().parse().unwrap();
            (node, at_s)
        });
        rows.filter(|(_, at_s)| *at_s <= by_s)
            .map(|(n, _)| n)
            .collect()
    };
    // The EPC is node 0, its wires come first.
    let mut wires = vec![(0, 5), (0, 15), (0, 25)];
    wires.extend(grid(5, 5).iter().map(|&(a, b)| (a + 1, b + 1)));
    for seed in 0..10 {
        let config = Config {
            addresses: Addresses::Ns3,
            ..fast_hellos()
        };
        let mut net = Net::new(26, &wires, config, seed);
        for by_ms in [400, 4900, 5250, 9900, 10_400] {
            net.run(SimTime::ZERO + Duration::from_millis(by_ms));
            let both = |n: &u32| net.way(0, *n).is_some() && net.way(*n, 0).is_some();
            let reached: BTreeSet<u32> = (1..=25).filter(both).collect();
            assert_eq!(
                reached,
                in_ns3(by_ms as f64 / 1e3),
                "{by_ms} ms, seed {seed}"
            );
        }
    }
}

#[test]
fn among_equal_routes_the_lowest_address_wins() {
    let config = Config::default();
    // Two hops: the lowest neighbour, although the wire to the other came first.
    let mut net = Net::new(4, &[(0, 2), (0, 1), (2, 3), (1, 3)], config, 1);
    net.run(all_by(&config, 2));
    assert_eq!(net.interface(0, 3), Some(1));
    // Three hops: the lowest last hop, here 3 behind 2 and not 4 behind 1.
    let wires = [(0, 1), (0, 2), (1, 4), (2, 3), (3, 5), (4, 5)];
    let mut net = Net::new(6, &wires, config, 1);
    net.run(all_by(&config, 3));
    assert_eq!(net.interface(0, 5), Some(1));
}

#[test]
fn routes_avoid_a_cut_wire_and_use_it_again_after_repair() {
    for config in [Config::default(), fast_hellos()] {
        let mut slowest = [Duration::ZERO; 2];
        for seed in 0..10 {
            let mut net = Net::new(25, &grid(5, 5), config, seed);
            let cut = all_by(&config, 8) + Duration::from_millis(seed * 331);
            net.run(cut);
            let before = net.tables();
            let (a, b) = (NodeId(12), NodeId(13));
            assert!(net.simulation.set_wire_up(a, b, false));
            assert_eq!(net.tables(), before, "nothing is noticed at once");
            assert!(net.wrong(u16::MAX) > 0, "and packets are lost");
            // The ends miss HELLOs for the hold time (which a message may round up). Their next
            // HELLO notifies their neighbours, which select relays and notify them in their next.
            // Then every node's next TC is right.
            let hold = config.neighbour_hold + config.neighbour_hold / 16;
            let notified = hold + config.hello_interval * 2;
            let by = cut + notified + config.tc_interval + (config.jitter + WIRE) * net.diameter();
            let healed = net.right_at(u16::MAX, cut, by).expect("healed in time");
            assert!(healed >= cut + config.neighbour_hold - config.hello_interval);
            slowest[0] = slowest[0].max(healed - cut);

            net.run(by);
            assert!(net.simulation.set_wire_up(a, b, true));
            let start = all_by(&config, net.diameter()) - SimTime::ZERO;
            let back = net.right_at(u16::MAX, by, by + start).expect("back");
            slowest[1] = slowest[1].max(back - by);
            // State learned in between expires.
            net.run(by + start + config.topology_hold);
            assert_eq!(net.wrong(u16::MAX), 0, "seed {seed}");
        }
        println!("5x5 grid, slowest of 10: healed after, back after {slowest:?}");
    }
}

#[test]
fn disconnected_nodes_leave_all_tables() {
    let config = fast_hellos();
    let chain = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)];
    let mut net = Net::new(6, &chain, config, 3);
    let cut = all_by(&config, 5);
    net.run(cut);
    assert_eq!(net.way(0, 5), Some(5));
    net.simulation.set_wire_up(NodeId(3), NodeId(4), false);
    // 3 loses 4 after the hold time (300 ms are encoded as 312.5 ms), and its next TC reports this.
    // The link from 4 to 5 is then unreachable.
    let hold = Duration::from_micros(312_500);
    let by = cut + hold + config.tc_interval + (config.jitter + WIRE) * 4;
    let gone = net.right_at(u16::MAX, cut, by);
    println!("chain of 6, cut off: gone {gone:?}, cut {cut:?}");
    assert!(gone.is_some());
}

#[test]
fn no_node_sends_a_tc_twice_on_a_wire() {
    let mut stream = Streams::new(2).stream("graphs", "shape");
    for seed in 0..10 {
        let wires = connected(&mut stream, 25);
        let mut net = Net::new(25, &wires, Config::default(), seed);
        net.run(at_secs(60));
        let floods = net.floods.lock().unwrap();
        assert!(floods.len() > 1000, "{}", floods.len());
        assert!(floods.values().all(|&copies| copies == 1), "graph {seed}");
    }
}

#[test]
fn every_tc_reaches_every_node() {
    let config = Config::default();
    let mut net = Net::new(25, &grid(5, 5), config, 5);
    // Nodes that were relays at the start only send empty TCs for a while.
    let settled = all_by(&config, 8) + config.neighbour_hold + config.topology_hold;
    net.run(settled);
    net.floods.lock().unwrap().clear();
    net.run(settled + Duration::from_secs(60));
    let mut receivers: BTreeMap<(u32, u16), BTreeSet<u32>> = BTreeMap::new();
    for &(node, _, originator, sequence) in net.floods.lock().unwrap().keys() {
        let nodes = receivers.entry((originator, sequence)).or_default();
        if node != originator {
            nodes.insert(node);
        }
    }
    let originators: BTreeSet<u32> = receivers
        .keys()
        .map(|&(originator, _)| originator)
        .collect();
    for originator in &originators {
        let mine = receivers.range((*originator, 0)..=(*originator, u16::MAX));
        let reached: Vec<usize> = mine.map(|(_, nodes)| nodes.len()).collect();
        // The first and the last may have been in flight at the ends of the interval.
        assert!(reached.len() >= 12, "{reached:?}");
        let inner = &reached[1..reached.len() - 1];
        assert!(inner.iter().all(|&nodes| nodes == 24), "{reached:?}");
    }
    println!("5x5 grid: {} of 25 nodes are relays", originators.len());
}

#[test]
fn the_same_seed_gives_the_same_history_and_another_gives_another() {
    let history = |seed| {
        let mut net = Net::new(25, &grid(5, 5), Config::default(), seed);
        let tables: Vec<_> = (0..120)
            .map(|step| {
                net.run(SimTime::ZERO + Duration::from_millis(125 * step));
                net.tables()
            })
            .collect();
        (tables, net.simulation.digest())
    };
    assert_eq!(history(1), history(1));
    assert_ne!(history(1).0, history(2).0);
}

#[test]
fn parallel_wires_stand_in_for_each_other() {
    let config = fast_hellos();
    let mut net = Net::new(3, &[(0, 1), (0, 1), (1, 2)], config, 1);
    let cut = all_by(&config, 2);
    net.run(cut);
    assert_eq!(net.interface(0, 2), Some(0));
    net.simulation.set_wire_up(NodeId(0), NodeId(1), false);
    // 300 ms are encoded as 312.5 ms, the next representable time.
    net.run(cut + Duration::from_micros(312_500) + WIRE);
    assert_eq!(
        (net.interface(0, 1), net.interface(0, 2)),
        (Some(1), Some(1))
    );
}

#[test]
fn the_overhead_of_a_grid_follows_from_the_intervals() {
    let configs = [("RFC", Config::default()), ("HELLO 100 ms", fast_hellos())];
    for (name, config) in configs {
        let mut net = Net::new(25, &grid(5, 5), config, 1);
        let sent = |net: &Net| {
            let counters = net.simulation.network.links().iter().map(Link::counters);
            counters.fold((0, 0), |sum, c| (sum.0 + c.packets, sum.1 + c.bytes))
        };
        net.run(at_secs(20));
        let before = sent(&net);
        net.run(at_secs(120));
        let after = sent(&net);
        let packets_per_s = (after.0 - before.0) as f64 / 100.0;
        let bytes_per_s = (after.1 - before.1) as f64 / 100.0;
        println!("5x5 grid, {name}: {packets_per_s} packets/s, {bytes_per_s} bytes/s");
        // A HELLO for each of the 80 interfaces; jitter makes intervals shorter by its half.
        let mean = |interval: Duration| (interval - config.jitter / 2).as_secs_f64();
        let hellos_per_s = 80.0 / mean(config.hello_interval);
        assert!(packets_per_s >= hellos_per_s * 0.99, "{hellos_per_s}");
        // A TC leaves a node at most once on each interface, often in one packet with others.
        let tcs_per_s = 25.0 * 80.0 / mean(config.tc_interval);
        assert!(packets_per_s <= (hellos_per_s + tcs_per_s) * 1.01);
    }
}

/// RFC 7779 on wires of 6 and 54 Mbit/s: 349.5 for one, 77.7 for two. Between 0 and 3 one hop costs 350
/// and three cost 117; by ETX one costs 1.
#[test]
fn airtime_takes_fast_wires_and_etx_takes_few() {
    let wires = [(0, 1, 54), (1, 2, 54), (2, 3, 54), (0, 3, 6), (1, 3, 6)];
    for (metric, hops) in [(Metric::Hops, 1), (Metric::Etx, 1), (Metric::Airtime, 3)] {
        let config = Config {
            metric,
            ..Config::default()
        };
        let mut net = Net::of_rates(4, &wires, config, 1);
        net.run(SimTime::ZERO + Duration::from_secs(30));
        assert_eq!((net.way(0, 3), net.way(3, 0)), (Some(hops), Some(hops)));
        let few = if metric == Metric::Airtime { 2 } else { 1 };
        assert_eq!(net.way(1, 3), Some(few));
    }
}
