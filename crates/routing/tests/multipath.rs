//! L2.5R over wires and radios: hop budgets, failures and pinned flows.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Load, Script};
use backlane_net::{
    DropCause, FlowId, LinkConfig, Network, NodeId, Packet, QueueConfig, QueueLimit, Simulation,
};
use backlane_param::OrOff;
use backlane_routing::multipath::{Allocation, Config, FlowRates, L25r, Reach, RouteDiscovery};
use backlane_routing::readings::{LINK_FAILURES, reading};
use backlane_units::{Duration, Rate, SimTime};
use common::hub;
use proptest::prelude::*;

/// One flow of packets.
struct Flow {
    source: u32,
    destination: u32,
    reverse: bool,
    packets: u64,
    every: Duration,
}

fn ms(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Over {
    Wires,
    Radios,
    /// Radios; half of the frames to and from node 0 are lost.
    LossyRadios,
}

fn simulation(
    over: Over,
    nodes: u32,
    links: &[(u32, u32)],
    config: Config,
    flows: &[Flow],
) -> Simulation<Script> {
    let streams = Streams::new(3);
    let (mut network, mut events) = (Network::new(), EventQueue::new());
    for _ in 0..nodes {
        network.add_router();
    }
    let wire = LinkConfig {
        rate: Rate::from_bps(10_000_000),
        delay: Duration::from_millis(1),
        queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
    };
    let mut media: Vec<Box<dyn backlane_net::Medium>> = Vec::new();
    match over {
        Over::Wires => {
            for &(a, b) in links {
                network.connect(&mut events, NodeId(a), NodeId(b), &wire);
            }
        }
        Over::Radios | Over::LossyRadios => {
            let delivery = |a| {
                if over == Over::LossyRadios && a == 0 {
                    0.5
                } else {
                    1.0
                }
            };
            let links: Vec<_> = links
                .iter()
                .map(|&(a, b)| (a, b, [delivery(a); 2]))
                .collect();
            media.push(Box::new(hub(&mut network, &mut events, &links, &streams)));
        }
    }
    let loads = flows.iter().zip(0..).map(|(flow, id)| {
        let (source, destination) = (NodeId(flow.source), NodeId(flow.destination));
        Load {
            packet: Packet {
                reverse: flow.reverse,
                ..Packet::new(FlowId(id), source, destination, 1000)
            },
            start: ms(1),
            every: flow.every,
            count: flow.packets,
        }
    });
    let script = Script::new(&mut events, loads.collect());
    let exits: Vec<NodeId> = flows.iter().map(|flow| NodeId(flow.destination)).collect();
    let rates = FlowRates::equal(&network);
    let reach = Arc::new(Reach::new(&network, rates, exits, &[]));
    let routers = (0..nodes)
        .map(|node| {
            let ties = streams.stream(&format!("n{node}"), "ties");
            let jitter = streams.stream(&format!("n{node}"), "hello");
            let router = L25r::new(NodeId(node), config, reach.clone(), ties, jitter);
            Some(Box::new(router) as Box<dyn backlane_net::Router>)
        })
        .collect();
    Simulation::new(network, events, script, routers, media)
}

fn run(simulation: &mut Simulation<Script>, until: SimTime) {
    simulation.run(until, |_, _| false);
    let balance = simulation.network.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!(balance.in_flight, simulation.held_pkts() as u64);
}

/// From 0 to 7 by 1; by 2 and 3; by 4, 5 and 6.
const THREE_WAYS: [(u32, u32); 9] = [
    (0, 1),
    (1, 7),
    (0, 2),
    (2, 3),
    (3, 7),
    (0, 4),
    (4, 5),
    (5, 6),
    (6, 7),
];

/// One flow over the three paths, with a packet every 3 ms.
fn three_ways(over: Over, config: Config, packets: u64) -> Simulation<Script> {
    let flow = Flow {
        source: 0,
        destination: 7,
        reverse: false,
        packets,
        every: Duration::from_millis(3),
    };
    simulation(over, 8, &THREE_WAYS, config, &[flow])
}

/// Removes a node with all its links.
fn kill(simulation: &mut Simulation<Script>, node: u32) {
    let links = |simulation: &Simulation<Script>| -> Vec<_> {
        let interfaces = simulation.network.mesh_interfaces(NodeId(node)).iter();
        interfaces.flat_map(|i| [i.outgoing, i.incoming]).collect()
    };
    simulation.set_node_up(NodeId(node), false);
    for link in links(simulation) {
        simulation.set_link_up(link, false);
    }
}

/// Restores a node with all its links.
fn revive(simulation: &mut Simulation<Script>, node: u32) {
    simulation.set_node_up(NodeId(node), true);
    let interfaces = simulation.network.mesh_interfaces(NodeId(node)).to_vec();
    for interface in interfaces {
        simulation.set_link_up(interface.outgoing, true);
        simulation.set_link_up(interface.incoming, true);
    }
}

/// The packets that arrived within these times, by the number of links that they took.
fn by_links(simulation: &Simulation<Script>, from: SimTime, to: SimTime) -> BTreeMap<u8, u64> {
    let mut by_links = BTreeMap::new();
    for arrival in simulation.application.arrivals_of(0) {
        if (from..to).contains(&arrival.at) {
            *by_links.entry(arrival.packet.hops).or_default() += 1;
        }
    }
    by_links
}

fn dropped(simulation: &Simulation<Script>, cause: DropCause) -> u64 {
    simulation.network.balance().dropped[cause as usize]
}

fn failures_seen(simulation: &Simulation<Script>, node: u32) -> u64 {
    let router = simulation.router(NodeId(node)).unwrap();
    reading(&router.readings(ms(0)), LINK_FAILURES) as u64
}

#[test]
fn a_dead_neighbour_is_excluded_at_once_and_only_its_queued_packets_are_lost() {
    for over in [Over::Wires, Over::Radios] {
        let mut net = three_ways(over, Config::default(), 1000);
        run(&mut net, ms(1000));
        kill(&mut net, 1);
        run(&mut net, ms(4000));
        let balance = net.network.balance();
        assert_eq!(balance.in_flight, 0);
        assert!(balance.dropped_total() <= 3, "{balance:?}");
        assert_eq!(balance.dropped_total(), dropped(&net, DropCause::LinkDown));
        assert_eq!(failures_seen(&net, 0), 1);
        // The first packets over the radio are attempted seven times each, 8 ms, before they are
        // rerouted.
        let after = by_links(&net, ms(1050), ms(4000));
        assert_eq!(after.keys().copied().collect::<Vec<_>>(), [3, 4]);
        assert!(after[&3].abs_diff(after[&4]) <= 2, "{after:?}");
    }
}

#[test]
fn a_dead_node_further_on_is_avoided_within_the_budget() {
    for over in [Over::Wires, Over::Radios] {
        let mut net = three_ways(over, Config::default(), 1000);
        run(&mut net, ms(1000));
        kill(&mut net, 3);
        run(&mut net, ms(5000));
        let balance = net.network.balance();
        assert_eq!(balance.in_flight, 0);
        assert!(balance.dropped_total() <= 3, "{balance:?}");
        assert_eq!(failures_seen(&net, 0), 0, "its neighbour lives");
        assert_eq!(failures_seen(&net, 2), 1);
        // Packets that 2 returns to 0 continue over 1, and since their bytes count there, no others
        // do: four links, as over 4.
        let after = by_links(&net, ms(1100), ms(5000));
        assert_eq!(after.keys().copied().collect::<Vec<_>>(), [4]);
    }
}

#[test]
fn a_neighbour_that_returns_is_probed_and_then_takes_its_turns_again() {
    for over in [Over::Wires, Over::Radios] {
        let mut net = three_ways(over, Config::default(), 5000);
        run(&mut net, ms(1000));
        kill(&mut net, 1);
        run(&mut net, ms(2000));
        net.set_node_up(NodeId(1), true);
        for (a, b) in [(0, 1), (1, 7)] {
            let interfaces = net.network.mesh_interfaces(NodeId(a)).to_vec();
            let to_b = interfaces.iter().find(|i| i.peer == NodeId(b)).unwrap();
            net.set_link_up(to_b.outgoing, true);
            net.set_link_up(to_b.incoming, true);
        }
        run(&mut net, ms(15_001));
        assert_eq!(by_links(&net, ms(2000), ms(5900)).get(&2), None);
        let after = by_links(&net, ms(6200), ms(15_000));
        let (least, most) = (after.values().min().unwrap(), after.values().max().unwrap());
        assert!(after.len() == 3 && most - least <= 4, "{after:?}");
    }
}

#[test]
fn a_packet_without_candidates_is_dropped() {
    let flow = Flow {
        source: 0,
        destination: 2,
        reverse: false,
        packets: 100,
        every: Duration::from_millis(100),
    };
    let config = Config {
        failure_threshold: 3,
        ..Config::default()
    };
    let mut net = simulation(Over::Radios, 3, &[(0, 1), (1, 2)], config, &[flow]);
    kill(&mut net, 1);
    run(&mut net, ms(20_000));
    // Three attempts and the probe after 5 s; the other packets have no candidate.
    assert_eq!(dropped(&net, DropCause::Radio), 4);
    assert_eq!(dropped(&net, DropCause::NoRoute), 96);
}

#[test]
fn a_pinned_flow_moves_as_a_whole_when_its_neighbour_dies() {
    let config = Config {
        allocation: Allocation::Data,
        ..Config::default()
    };
    for over in [Over::Wires, Over::Radios] {
        let mut net = three_ways(over, config, 1000);
        run(&mut net, ms(1000));
        let before = by_links(&net, ms(0), ms(1000));
        assert_eq!(before.len(), 1, "{before:?}");
        let first = match *before.keys().next().unwrap() {
            2 => 1,
            3 => 2,
            _ => 4,
        };
        kill(&mut net, first);
        run(&mut net, ms(4000));
        let after = by_links(&net, ms(1100), ms(4000));
        assert!(after.len() == 1 && after != before, "{after:?}");
        assert!(net.network.balance().dropped_total() <= 3);
    }
}

#[test]
fn a_given_up_frame_takes_another_path_and_its_flow_keeps_its_own() {
    let config = Config {
        allocation: Allocation::Data,
        ..Config::default()
    };
    let mut net = three_ways(Over::LossyRadios, config, 3000);
    run(&mut net, ms(20_000));
    assert_eq!(net.network.balance().dropped_total(), 0);
    assert_eq!(failures_seen(&net, 0), 0);
    // One frame in 2⁷ is given up after seven attempts.
    let mut ways: Vec<u64> = by_links(&net, ms(0), ms(20_000)).into_values().collect();
    ways.sort_unstable();
    assert_eq!(ways.iter().sum::<u64>(), 3000);
    assert_eq!(ways.len(), 3);
    assert!((10..50).contains(&(ways[0] + ways[1])), "{ways:?}");
}

/// The paths of a flow of 600 packets, one every 3 ms.
fn ways(config: Config, reverse: bool) -> BTreeMap<u8, u64> {
    let flow = Flow {
        source: 0,
        destination: 7,
        reverse,
        packets: 600,
        every: Duration::from_millis(3),
    };
    let mut net = simulation(Over::Wires, 8, &THREE_WAYS, config, &[flow]);
    run(&mut net, ms(3000));
    assert_eq!(net.network.balance().dropped_total(), 0);
    by_links(&net, ms(0), ms(3000))
}

#[test]
fn each_allocation_pins_one_direction_the_other_both_or_none() {
    let spread = BTreeMap::from([(2, 200), (3, 200), (4, 200)]);
    for (allocation, data, ack) in [
        (Allocation::Packet, false, false),
        (Allocation::DataAck, true, true),
        (Allocation::Data, true, false),
        (Allocation::Ack, false, true),
    ] {
        for (reverse, pinned) in [(false, data), (true, ack)] {
            let config = Config {
                allocation,
                ..Config::default()
            };
            let ways = ways(config, reverse);
            if pinned {
                assert_eq!(ways.len(), 1, "{allocation:?}: {ways:?}");
            } else {
                assert_eq!(ways, spread, "{allocation:?}");
            }
        }
    }
}

#[test]
fn a_flowlet_begins_after_the_gap_and_not_before() {
    for (gap_ms, expected) in [(2, 3), (4, 1)] {
        let config = Config {
            burst_gap: OrOff::Value(Duration::from_millis(gap_ms)),
            ..Config::default()
        };
        assert_eq!(ways(config, false).len(), expected, "{gap_ms} ms");
    }
}

#[test]
fn a_pinned_flow_chooses_again_with_every_period() {
    let config = Config {
        allocation: Allocation::DataAck,
        repin_period: OrOff::Value(Duration::from_millis(30)),
        ..Config::default()
    };
    // Runs of ten packets, in turn over the three paths.
    assert_eq!(
        ways(config, false),
        BTreeMap::from([(2, 200), (3, 200), (4, 200)])
    );
}

#[test]
fn pinned_flows_take_turns_and_their_bytes_are_counted() {
    let flow = |every_ms| Flow {
        source: 0,
        destination: 7,
        reverse: false,
        packets: 300,
        every: Duration::from_millis(every_ms),
    };
    let config = Config {
        allocation: Allocation::Data,
        ..Config::default()
    };
    // Six at once: two on each path.
    let six: Vec<Flow> = (0..6).map(|_| flow(10)).collect();
    let mut net = simulation(Over::Wires, 8, &THREE_WAYS, config, &six);
    run(&mut net, ms(5000));
    let mut ways = BTreeMap::new();
    for flow in 0..6 {
        let arrivals = net.application.arrivals_of(flow);
        let taken: Vec<u8> = arrivals.map(|arrival| arrival.packet.hops).collect();
        let links = taken[0];
        assert!(taken.iter().all(|&other| other == links));
        *ways.entry(links).or_insert(0) += 1;
    }
    assert_eq!(ways, BTreeMap::from([(2, 2), (3, 2), (4, 2)]));
}

/// A connected graph, flows over it (ends, and whether they are acknowledgments), and the settings.
#[derive(Clone, Debug)]
struct Mesh {
    nodes: u32,
    links: Vec<(u32, u32)>,
    flows: Vec<(u32, u32, bool)>,
    config: Config,
}

fn any_mesh() -> impl Strategy<Value = Mesh> {
    (2..14_u32).prop_flat_map(|nodes| {
        let tree = proptest::collection::vec(any::<prop::sample::Index>(), nodes as usize - 1);
        let more = proptest::collection::vec((0..nodes, 0..nodes), 0..20);
        let flows = proptest::collection::vec((0..nodes, 0..nodes, any::<bool>()), 1..6);
        let settings = (0..4_u8, 0..4_usize, any::<bool>(), any::<bool>());
        (tree, more, flows, settings).prop_map(move |(tree, more, flows, settings)| {
            let mut links: Vec<(u32, u32)> = tree
                .iter()
                .zip(1..nodes)
                .map(|(before, node)| (before.index(node as usize) as u32, node))
                .collect();
            for (a, b) in more {
                let known = links.contains(&(a, b)) || links.contains(&(b, a));
                if a != b && !known {
                    links.push((a, b));
                }
            }
            let (extra_hops, allocation, deliver_directly, flowlets) = settings;
            let allocations = [
                Allocation::Packet,
                Allocation::DataAck,
                Allocation::Data,
                Allocation::Ack,
            ];
            let config = Config {
                allocation: allocations[allocation],
                extra_hops,
                deliver_directly,
                burst_gap: if flowlets {
                    OrOff::Value(Duration::from_millis(40))
                } else {
                    OrOff::default()
                },
                ..Config::default()
            };
            Mesh {
                nodes,
                links,
                flows,
                config,
            }
        })
    })
}

/// The minimum number of links between two nodes, by relaxation.
fn shortest(nodes: u32, links: &[(u32, u32)], from: u32) -> Vec<u8> {
    let mut least = vec![u8::MAX; nodes as usize];
    least[from as usize] = 0;
    for _ in 0..nodes {
        for &(a, b) in links {
            let [a, b] = [a, b].map(|node| node as usize);
            least[a] = least[a].min(least[b].saturating_add(1));
            least[b] = least[b].min(least[a].saturating_add(1));
        }
    }
    least
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_packet_arrives_within_its_budget_on_any_graph(
        mesh in any_mesh()
    ) {
        let Mesh { nodes, links, flows, config } = mesh;
        let flows: Vec<Flow> = flows
            .iter()
            .filter(|(source, destination, _)| source != destination)
            .map(|&(source, destination, reverse)| Flow {
                source,
                destination,
                reverse,
                packets: 50,
                every: Duration::from_millis(30),
            })
            .collect();
        let ends: Vec<(u32, u32)> = flows.iter().map(|f| (f.source, f.destination)).collect();
        let mut net = simulation(Over::Wires, nodes, &links, config, &flows);
        run(&mut net, ms(10_000));
        for (flow, &(source, destination)) in ends.iter().enumerate() {
            let arrivals = net.application.arrivals_of(flow as u32);
            let taken: Vec<u8> = arrivals.map(|arrival| arrival.packet.hops).collect();
            prop_assert_eq!(taken.len(), 50);
            let least = shortest(nodes, &links, source)[destination as usize];
            for taken in taken {
                prop_assert!((least..=least + config.extra_hops).contains(&taken));
            }
        }
    }
}

/// Routers learn the links by messages.
fn by_messages() -> Config {
    Config {
        discovery: RouteDiscovery::Messages,
        ..Config::default()
    }
}

/// HELLOs come within two jitters of 20 ms, and link states within one more on each of four links.
#[test]
fn paths_are_discovered_by_messages_within_200_ms_and_then_used_as_given_ones() {
    for over in [Over::Wires, Over::Radios] {
        let mut net = three_ways(over, by_messages(), 1000);
        run(&mut net, ms(200));
        let early = net.network.balance().dropped_total();
        assert_eq!(early, dropped(&net, DropCause::NoRoute));
        run(&mut net, ms(4000));
        assert_eq!(net.network.balance().dropped_total(), early, "{over:?}");
        let ways = by_links(&net, ms(250), ms(2950));
        assert_eq!(ways.keys().copied().collect::<Vec<_>>(), [2, 3, 4]);
        let (least, most) = (ways.values().min().unwrap(), ways.values().max().unwrap());
        assert!(most - least <= 4, "{ways:?}");
    }
}

/// Node 2 is not next to the source, and paths may be as long as the shortest only.
#[test]
fn a_lost_node_further_on_lengthens_the_paths_and_its_return_shortens_them_again() {
    let flow = || Flow {
        source: 0,
        destination: 7,
        reverse: false,
        packets: 4000,
        every: Duration::from_millis(10),
    };
    // From 0 to 7 by 1, 2 and 3, or by 4, 5, 6 and 8.
    let links = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 7),
        (0, 4),
        (4, 5),
        (5, 6),
        (6, 8),
        (8, 7),
    ];
    for over in [Over::Wires, Over::Radios] {
        let lengths = |discovery| {
            let config = Config {
                extra_hops: 0,
                discovery,
                ..Config::default()
            };
            let mut net = simulation(over, 9, &links, config, &[flow()]);
            run(&mut net, ms(5000));
            kill(&mut net, 2);
            run(&mut net, ms(20_000));
            revive(&mut net, 2);
            run(&mut net, ms(41_000));
            [
                (500, 5000),
                (5000, 10_000),
                (10_000, 20_000),
                (32_000, 40_000),
            ]
            .map(|(from, to)| by_links(&net, ms(from), ms(to)))
        };
        let [before, _, broken, repaired] = lengths(RouteDiscovery::Given);
        assert_eq!(before, BTreeMap::from([(4, 450)]));
        assert_eq!(broken, BTreeMap::new(), "no path was known but this");
        assert_eq!(repaired.keys().copied().collect::<Vec<_>>(), [4]);
        let [before, at_once, broken, repaired] = lengths(RouteDiscovery::Messages);
        assert_eq!(before, BTreeMap::from([(4, 450)]));
        // A loss is noticed by the carrier with the next HELLO, or after three to four intervals of
        // silence and less: of 500 packets those of 4.2 s at most are lost.
        let most_lost = if over == Over::Wires { 110 } else { 420 };
        let saved = at_once.get(&5).copied().unwrap_or_default();
        assert!(saved >= 500 - most_lost, "{over:?}: {at_once:?}");
        assert_eq!(broken, BTreeMap::from([(5, 1000)]));
        assert_eq!(repaired, BTreeMap::from([(4, 800)]));
    }
}

#[test]
fn messages_are_a_hello_each_second_and_link_states_every_five() {
    let mut net = three_ways(Over::Radios, by_messages(), 1);
    run(&mut net, ms(10_000));
    let before: u64 = (0..8).map(|node| messages(&net, node)).sum();
    run(&mut net, ms(110_000));
    let after: u64 = (0..8).map(|node| messages(&net, node)).sum();
    // An interval less an eighth of it on average: 114 HELLOs of each node in 100 s. Each of eight
    // nodes sends or passes on eight link states every 5 s to 6 s, several in one datagram.
    let (hellos, states) = (8 * 100 * 8 / 7, 8 * 8 * 100 / 5);
    let sent = after - before;
    assert!(
        sent > hellos * 95 / 100 && sent < hellos * 105 / 100 + states,
        "{sent}"
    );
}

fn messages(simulation: &Simulation<Script>, node: u32) -> u64 {
    simulation.network.messages_sent(NodeId(node)).messages
}
