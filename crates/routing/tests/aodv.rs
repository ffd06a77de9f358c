//! AODV on whole networks: discovery times, failures and repair, and freedom from loops.

mod aodv_net;

use aodv_net::{Flow, Net, Over, at_ms, chain};
use backlane_engine::Streams;
use backlane_net::{DropCause, NodeId};
use backlane_routing::aodv::message::{Message, RouteRequest};
use backlane_routing::aodv::{Config, Metric, Waiting};
use backlane_routing::readings::{LINK_FAILURES, ROUTE_DISCOVERIES, ROUTE_REPAIRS};
use backlane_units::{Duration, SimTime};

const SECOND: Duration = Duration::from_secs(1);

/// Without HELLOs, so that nodes do not know their neighbours before the first request.
fn silent() -> Config {
    Config {
        hello: None,
        ..Config::rfc()
    }
}

fn once(from: u32, to: u32) -> Flow {
    Flow {
        from,
        to,
        start: at_ms(1000),
        every: SECOND,
        count: 1,
    }
}

/// A packet every 100 ms, beginning after one second.
fn steady(from: u32, to: u32) -> Flow {
    Flow {
        every: Duration::from_millis(100),
        count: u64::MAX,
        ..once(from, to)
    }
}

fn requests(net: &Net) -> Vec<(SimTime, u32, u32, u8, RouteRequest)> {
    let heard = net.heard().into_iter();
    heard
        .filter_map(|heard| match heard.message {
            Message::Request(request) => Some((heard.at, heard.by, heard.from, heard.ttl, request)),
            _ => None,
        })
        .collect()
}

#[test]
fn the_ring_widens_until_the_destination_answers() {
    // Six hops: rings of 1, 3 and 5 hops find nothing.
    let mut net = Net::new(7, &chain(7), Over::Wires, silent(), &[once(0, 6)], 1);
    net.run(at_ms(10_000));
    let sent: Vec<(u64, u8)> = requests(&net)
        .iter()
        .filter(|(_, by, from, ..)| (*by, *from) == (1, 0))
        .map(|(at, _, _, ttl, _)| (at.as_micros() / 1000, *ttl))
        .collect();
    // Waits of 240, 400 and 560 ms after the packet at 1000 ms, and 1 ms for the wire; all requests
    // except the first have jitter.
    let rings = [(1001, 1), (1241, 3), (1641, 5), (2201, 7)];
    assert_eq!(sent.len(), rings.len(), "{sent:?}");
    assert_eq!(sent[0], rings[0]);
    for ((left, ttl), (due, ring)) in sent.into_iter().zip(rings) {
        assert!(ttl == ring && (due..=due + 10).contains(&left), "{left}");
    }
    let &[(arrived, 0, hops)] = &net.arrivals(0)[..] else {
        panic!("one packet arrives");
    };
    assert_eq!(hops, 6);
    // The last ring's round trip: six hops there with jitter, six back, six for the packet.
    assert!(arrived <= at_ms(2200 + 6 * 10 + 3 * 6 + 2), "{arrived:?}");
}

#[test]
fn a_route_is_found_within_the_ring_traversal_time() {
    let config = silent();
    for seed in 0..20 {
        for hops in 1..=8 {
            let nodes = hops + 1;
            let flow = once(0, hops);
            let mut net = Net::new(nodes, &chain(nodes), Over::Wires, config, &[flow], seed);
            net.run(at_ms(10_000));
            let &[(arrived, ..)] = &net.arrivals(0)[..] else {
                panic!("{hops} hops");
            };
            // The earlier rings, each with its full wait, then one round trip.
            let before = [0, 0, 240, 240, 640, 640, 1200, 1200, 1920][hops as usize];
            let ring = [1, 1, 3, 3, 5, 5, 7, 7, 35][hops as usize] + 2;
            let bound = at_ms(1000 + before + 2 * 40 * ring);
            assert!(arrived <= bound, "{hops} hops: {arrived:?}");
            assert!(arrived > at_ms(1000 + before));
        }
    }
}

#[test]
fn an_unreachable_destination_is_given_up_after_the_last_doubled_wait() {
    // Node 2 is cut off.
    let mut net = Net::new(3, &chain(3), Over::Wires, silent(), &[once(0, 2)], 1);
    net.cut(1, 2);
    // 240 + 400 + 560 + 720 + 2800 + 5600 + 11 200 ms.
    net.run(at_ms(1000 + 21_519));
    assert_eq!(net.dropped(DropCause::NoRoute), 0);
    net.run(at_ms(1000 + 21_520));
    assert_eq!(net.dropped(DropCause::NoRoute), 1);
    let all = requests(&net);
    let sent: Vec<u8> = all
        .iter()
        .filter(|(_, by, from, ..)| (*by, *from) == (1, 0))
        .map(|(_, _, _, ttl, _)| *ttl)
        .collect();
    assert_eq!(sent, [1, 3, 5, 7, 35, 35, 35]);
    // Each attempt has its own id and a greater sequence number of the originator.
    let own: Vec<(u32, u32)> = all
        .iter()
        .filter(|(_, by, from, ..)| (*by, *from) == (1, 0))
        .map(|(.., request)| (request.id, request.originator_sequence))
        .collect();
    assert!(own.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1));
    assert!(own.windows(2).all(|pair| pair[1].1 == pair[0].1 + 1));
}

#[test]
fn no_node_forwards_a_request_twice() {
    // A full mesh of six with a tail: many copies of each request meet.
    let mut links = chain(6);
    for a in 0..6 {
        for b in a + 2..6 {
            links.push((a, b));
        }
    }
    links.push((5, 6));
    links.push((6, 7));
    let mut net = Net::new(8, &links, Over::Wires, Config::rfc(), &[once(0, 7)], 3);
    net.run(at_ms(10_000));
    let mut passed: Vec<(u32, u32, u32, u32)> = requests(&net)
        .iter()
        .map(|(_, by, from, _, request)| (*by, *from, request.originator.0, request.id))
        .collect();
    passed.sort_unstable();
    let count = passed.len();
    passed.dedup();
    assert_eq!(passed.len(), count);
    assert_eq!(net.arrivals(0).len(), 1);
}

#[test]
fn a_node_with_a_fresh_route_answers_and_sends_the_destination_the_reverse_route() {
    let later = Flow {
        start: at_ms(4000),
        ..once(4, 3)
    };
    // 0 - 1 - 2 - 3, and 4 at node 1.
    let links = [(0, 1), (1, 2), (2, 3), (1, 4)];
    let flows = [steady(0, 3), later];
    let mut net = Net::new(5, &links, Over::Wires, Config::rfc(), &flows, 1);
    net.run(at_ms(3999));
    net.heard();
    net.run(at_ms(4500));
    assert_eq!(net.arrivals(1).len(), 1);
    let heard = net.heard();
    let asked = |heard: &aodv_net::Heard| matches!(heard.message, Message::Request(_));
    // Only node 1 received the request; it answered for node 3 and sent node 3 a route to node 4.
    assert!(heard.iter().filter(|h| asked(h)).all(|h| h.by == 1));
    assert_eq!(net.way(4, 3), [4, 1, 2, 3]);
    assert_eq!(net.way(3, 4), [3, 2, 1, 4]);
}

#[test]
fn a_lost_link_is_reported_along_the_route_and_a_new_route_found() {
    // A ring of eight; the path over 1, 2, 3 is cut next to the destination.
    let mut links = chain(8);
    links.push((7, 0));
    for over in [Over::Wires, Over::Medium(0.0)] {
        let config = Config {
            local_repair: backlane_routing::aodv::LocalRepair::Never,
            ..Config::rfc()
        };
        let mut net = Net::new(8, &links, over, config, &[steady(0, 3)], 2);
        net.run(at_ms(10_000));
        assert_eq!(net.way(0, 3), [0, 1, 2, 3]);
        net.heard();
        net.cut(2, 3);
        let before = net.arrivals(0).len();
        // Two HELLO intervals, or the next frame; then rings from the old distance + 2 on: 5.
        let noticed = if over == Over::Wires { 2000 } else { 110 };
        net.run(at_ms(10_000 + noticed + 2 * 40 * 7));
        let errors: Vec<(u32, u32)> = net
            .heard()
            .iter()
            .filter(|heard| matches!(heard.message, Message::Error(_)))
            .map(|heard| (heard.from, heard.by))
            .collect();
        assert!(
            errors.contains(&(2, 1)) && errors.contains(&(1, 0)),
            "{errors:?}"
        );
        assert_eq!(net.way(0, 3), [0, 7, 6, 5, 4, 3]);
        let after = &net.arrivals(0)[before..];
        assert!(after.iter().any(|(_, _, hops)| *hops == 5));
        if over != Over::Wires {
            // The lost packet revealed the failure; the source buffered its own packets.
            assert!(net.dropped(DropCause::Radio) <= 2);
        }
    }
}

#[test]
fn with_the_sequence_numbers_of_ns3_a_neighbour_answers_and_in_the_rfc_the_destination() {
    for (config, answers) in [(Config::ns3(), 1), (Config::rfc(), 3)] {
        let config = Config {
            hello: None,
            local_repair: backlane_routing::aodv::LocalRepair::Never,
            ..config
        };
        let mut net = Net::new(4, &chain(4), Over::Medium(0.0), config, &[steady(0, 3)], 1);
        net.run(at_ms(10_000));
        net.cut(0, 1);
        net.run(at_ms(10_200));
        assert_eq!(net.way(0, 3), [0]);
        net.heard();
        net.mend(0, 1);
        net.run(at_ms(11_500));
        assert_eq!(net.way(0, 3), [0, 1, 2, 3]);
        // The nodes that have heard a request, up to the one that answered.
        let asked = requests(&net).iter().map(|(_, by, ..)| *by).max();
        assert_eq!(asked, Some(answers));
    }
}

/// What happens to forty packets whose next hop is lost, with seven attempts of 1 ms for each: those
/// dropped, and when the last of the others has arrived.
fn fortys_fate(config: Config) -> (u64, SimTime) {
    let links = [(0, 1), (0, 2), (1, 3), (2, 3)];
    let burst = Flow {
        start: at_ms(3000),
        every: Duration::from_micros(1),
        count: 40,
        ..once(0, 3)
    };
    let flows = [
        Flow {
            count: 1,
            ..steady(0, 3)
        },
        burst,
    ];
    let mut net = Net::new(4, &links, Over::Medium(0.0), config, &flows, 1);
    net.run(at_ms(2999));
    let first = net.way(0, 3)[1];
    net.cut(0, first);
    net.run(at_ms(4500));
    let way = net.way(0, 3);
    let last = net.arrivals(1).last().map_or(SimTime::ZERO, |(at, ..)| *at);
    let dropped = net.dropped(DropCause::Radio);
    assert_eq!(net.arrivals(1).len() as u64 + dropped, 40);
    // No packet is left to search for a route if all are lost.
    let searched = [0, 3 - first, 3];
    assert_eq!(
        way,
        if dropped < 40 {
            &searched[..]
        } else {
            &searched[..1]
        }
    );
    (dropped, last)
}

#[test]
fn packets_that_wait_for_a_lost_neighbour_are_tried_or_rerouted_or_dropped() {
    let with = |waiting| Config {
        waiting,
        ..silent()
    };
    // Each is tried seven times, and then takes the new route.
    let (dropped, last) = fortys_fate(with(Waiting::Stay));
    assert_eq!(dropped, 0);
    assert!(last > at_ms(3000 + 40 * 7), "{last:?}");
    // Two are tried: the one that fails, and the one in service when it did. The search, its jitter
    // and two hops for each packet follow.
    let (dropped, last) = fortys_fate(with(Waiting::Reroute));
    assert_eq!(dropped, 0);
    assert!(last < at_ms(3000 + 2 * 7 + 30 + 2 * 41), "{last:?}");
    // In ns-2 the failed packet and those that wait are lost.
    let (dropped, _) = fortys_fate(with(Waiting::Drop));
    assert_eq!(dropped, 38);
    let (dropped, _) = fortys_fate(Config::ns2());
    assert_eq!(dropped, 40);
}

#[test]
fn the_node_before_a_lost_link_repairs_it_without_the_source() {
    // 0 - 1 - 2 - 3 - 4, and a detour around 3 over 5.
    let mut links = chain(5);
    links.extend([(2, 5), (5, 4)]);
    let mut net = Net::new(
        6,
        &links,
        Over::Medium(0.0),
        Config::rfc(),
        &[steady(0, 4)],
        1,
    );
    net.run(at_ms(10_000));
    let old = net.way(0, 4)[3];
    net.heard();
    net.cut(2, old);
    net.run(at_ms(11_000));
    assert_eq!(net.way(0, 4), [0, 1, 2, 8 - old, 4]);
    // No packet was lost, and only node 2 sent a request.
    assert_eq!(net.dropped(DropCause::Radio), 0);
    assert_eq!(net.dropped(DropCause::NoRoute), 0);
    let asked: Vec<NodeId> = requests(&net)
        .iter()
        .map(|(.., request)| request.originator)
        .collect();
    assert!(!asked.is_empty() && asked.iter().all(|node| *node == NodeId(2)));
    assert_eq!(net.reading(2, ROUTE_REPAIRS), 1);
    assert_eq!(net.reading(0, ROUTE_DISCOVERIES), 1);
}

#[test]
fn a_failed_repair_ends_in_an_error_to_the_source() {
    // Only the source has a path around the cut: 0 - 6 - … - 5.
    let links = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 5),
        (0, 6),
        (6, 7),
        (7, 8),
        (8, 9),
        (9, 5),
    ];
    let mut net = Net::new(
        10,
        &links,
        Over::Medium(0.0),
        Config::rfc(),
        &[steady(0, 5)],
        1,
    );
    net.run(at_ms(10_000));
    assert_eq!(net.way(0, 5), [0, 1, 2, 3, 5]);
    net.cut(3, 5);
    net.cut(3, 2);
    net.run(at_ms(13_000));
    assert_eq!(net.way(0, 5), [0, 6, 7, 8, 9, 5]);
    assert_eq!(net.reading(2, ROUTE_REPAIRS), 0);
    assert!(
        net.dropped(DropCause::NoRoute) > 0,
        "what node 2 kept is lost"
    );
}

#[test]
fn an_unused_route_ends_and_a_used_one_stays() {
    let mut net = Net::new(
        4,
        &chain(4),
        Over::Medium(0.0),
        Config::rfc(),
        &[once(0, 3), steady(1, 2)],
        1,
    );
    net.run(at_ms(3000));
    assert_eq!(net.way(0, 3), [0, 1, 2, 3]);
    // MY_ROUTE_TIMEOUT after the reply at the latest, ACTIVE_ROUTE_TIMEOUT after the packet.
    net.run(at_ms(1000 + 640 + 200 + 6000));
    assert_eq!(net.next(0, 3), None);
    assert_eq!(net.next(1, 2), Some(2));
}

/// A random tree and some more links.
fn connected(stream: &mut backlane_engine::Stream, nodes: u32) -> Vec<(u32, u32)> {
    let mut links: Vec<_> = (1..nodes)
        .map(|node| (stream.uniform_below(u64::from(node)) as u32, node))
        .collect();
    for _ in 0..nodes {
        let a = stream.uniform_below(u64::from(nodes)) as u32;
        let b = stream.uniform_below(u64::from(nodes)) as u32;
        if a < b && !links.contains(&(a, b)) {
            links.push((a, b));
        }
    }
    links
}

/// Random graphs whose links come and go. At every 20 ms there is no routing loop, and no packet
/// crosses a router twice.
fn watch_for_loops(over: Over, config: Config, graphs: u64) {
    let mut stream = Streams::new(5).stream("graphs", "shape");
    let mut carried = 0;
    for seed in 0..graphs {
        let nodes = 4 + stream.uniform_below(9) as u32;
        let links = connected(&mut stream, nodes);
        let flows: Vec<Flow> = (0..4)
            .map(|_| {
                let from = stream.uniform_below(u64::from(nodes)) as u32;
                let to = (from + 1 + stream.uniform_below(u64::from(nodes) - 1) as u32) % nodes;
                steady(from, to)
            })
            .collect();
        let mut net = Net::new(nodes, &links, over, config, &flows, seed);
        let mut up = vec![true; links.len()];
        for step in 1..1500u64 {
            net.run(at_ms(20 * step));
            net.assert_free_of_loops();
            if step % 10 == 0 {
                let link = stream.uniform_below(links.len() as u64) as usize;
                let (a, b) = links[link];
                up[link] = !up[link];
                if up[link] {
                    net.mend(a, b);
                } else {
                    net.cut(a, b);
                }
            }
        }
        carried += net.simulation.application.arrivals.len();
    }
    assert!(carried > 100 * graphs as usize, "{carried}");
}

#[test]
fn no_loop_forms_over_a_medium_whose_links_come_and_go() {
    watch_for_loops(Over::Medium(0.0), Config::rfc(), 30);
    watch_for_loops(Over::Medium(0.3), Config::rfc(), 15);
    watch_for_loops(Over::Medium(0.3), Config::ns2(), 15);
    let etx = Config {
        metric: Metric::Etx,
        ..Config::rfc()
    };
    watch_for_loops(Over::Medium(0.3), etx, 15);
}

#[test]
fn no_loop_forms_over_wires_monitored_by_hellos() {
    watch_for_loops(Over::Wires, Config::rfc(), 30);
}

#[test]
fn with_half_of_all_attempts_lost_intact_links_are_considered_lost() {
    // A frame fails in all of its seven attempts with probability 1/128.
    let flow = Flow {
        every: Duration::from_millis(20),
        ..steady(0, 3)
    };
    let mut net = Net::new(4, &chain(4), Over::Medium(0.5), Config::ns2(), &[flow], 1);
    net.run(at_ms(1_001_000));
    let failures: u64 = (0..4).map(|node| net.reading(node, LINK_FAILURES)).sum();
    let links = net.simulation.network.links().iter();
    let frames: u64 = links.map(|link| link.counters().packets).sum();
    let arrived = net.arrivals(0).len();
    // The expected number of failed frames; failed replies do not count as lost links.
    let expected = frames as f64 / 127.0;
    let spread = 4.0 * expected.sqrt();
    assert!(
        (failures as f64 - expected).abs() < spread,
        "{failures} lost links, {frames} frames that came through"
    );
    // A broadcast is not repeated: a search crosses three links one time in eight, and most of
    // what is sent finds no route.
    assert!(arrived * 10 < 50_000, "{arrived}");
    assert!(net.dropped(DropCause::Queue) + net.dropped(DropCause::NoRoute) > 40_000);
}

/// RFC 3561 §6.5: before a node forwards a request, it sets the sequence number in it to the larger
/// of the requested and its own. Node 1 has requested node 3 more recently than node 0.
#[test]
fn a_forwarded_request_has_the_newest_sequence_number_known_on_the_path() {
    let asks = |from, at| Flow {
        start: at_ms(at),
        ..once(from, 3)
    };
    // In between all routes expire; their sequence numbers are kept.
    let flows = [asks(0, 1000), asks(1, 9000), asks(0, 17_000)];
    let mut net = Net::new(4, &chain(4), Over::Medium(0.0), silent(), &flows, 1);
    net.run(at_ms(16_999));
    let answers: Vec<u32> = net
        .heard()
        .into_iter()
        .filter(|heard| heard.by == 1 && heard.from == 2)
        .filter_map(|heard| match heard.message {
            Message::Reply(reply) => Some(reply.destination_sequence),
            _ => None,
        })
        .collect();
    let [first, second] = answers[..] else {
        panic!("{answers:?}");
    };
    assert!(second > first);
    net.run(at_ms(20_000));
    let numbers = |requests: &[(SimTime, u32, u32, u8, RouteRequest)], by| {
        let heard = requests
            .iter()
            .filter(|request| (request.1, request.2) == (by, by - 1));
        heard
            .map(|request| request.4.destination_sequence)
            .next_back()
    };
    let requests = requests(&net);
    // §6.11: the sequence number of a route that expires grows by one.
    assert_eq!(numbers(&requests, 1), Some(Some(first + 1)));
    assert_eq!(numbers(&requests, 2), Some(Some(second + 1)));
    assert_eq!(net.arrivals(2).len(), 1);
}

/// RFC 3561 §6.9: a node sends a HELLO if it has not sent a broadcast within the last interval.
/// Node 0 searches for node 2, which does not exist, in rings and then with increasing waits.
#[test]
fn a_node_that_has_sent_a_broadcast_sends_no_hello() {
    let config = Config::rfc();
    let interval = config.hello.unwrap().interval;
    let flow = Flow {
        count: 90,
        ..steady(0, 2)
    };
    let mut net = Net::new(3, &[(0, 1)], Over::Wires, config, &[flow], 1);
    net.run(at_ms(20_000));
    let heard: Vec<(SimTime, bool)> = net
        .heard()
        .iter()
        .filter(|heard| (heard.by, heard.from) == (1, 0))
        .map(|heard| (heard.at, matches!(heard.message, Message::Request(_))))
        .collect();
    let requests = heard.iter().filter(|(_, request)| *request).count();
    assert!(requests >= 6, "{requests}");
    let hellos: Vec<SimTime> = heard
        .iter()
        .filter(|(_, r)| !r)
        .map(|(at, _)| *at)
        .collect();
    assert!(hellos.len() >= 8, "{hellos:?}");
    for hello in hellos {
        let since = |at: SimTime| hello > at && hello - at < interval - Duration::from_millis(1);
        let recent = heard.iter().find(|(at, request)| *request && since(*at));
        assert_eq!(recent, None, "a HELLO at {hello:?}");
    }
}
