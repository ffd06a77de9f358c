//! The contents and times of OLSR's messages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Script, Tap};
use backlane_net::{
    Context, LinkConfig, Network, NodeId, QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_routing::olsr::message::{TC, messages};
use backlane_routing::olsr::{Config, Olsr};
use backlane_units::{Duration, Rate, SimTime};

/// A TC that came in.
#[derive(Clone, Copy)]
struct Heard {
    at: SimTime,
    by: u32,
    from: u32,
    originator: u32,
    sequence: u16,
    ttl: u8,
    hops: u8,
}

/// The TCs of ten minutes on a chain, by receiver.
fn chain(nodes: u32, config: Config) -> Vec<Heard> {
    let mut events = EventQueue::new();
    let mut network = Network::new();
    for _ in 0..nodes {
        network.add_router();
    }
    let wire = LinkConfig {
        rate: Rate::from_bps(100_000_000),
        delay: Duration::from_millis(1),
        queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
    };
    for node in 1..nodes {
        network.connect(&mut events, NodeId(node - 1), NodeId(node), &wire);
    }
    let heard = Arc::new(Mutex::new(Vec::new()));
    let router = |node: u32| -> Option<Box<dyn Router>> {
        let stream = Streams::new(3).stream(&format!("n{node}"), "jitter");
        let olsr = Olsr::new(NodeId(node), config, stream);
        let heard = heard.clone();
        let tap = Tap::new(
            Arc::new(Mutex::new(olsr)),
            move |context: &Context<'_>, interface: usize, _, bytes: &[u8]| {
                for message in messages(bytes).filter(|message| message.kind == TC) {
                    heard.lock().unwrap().push(Heard {
                        at: context.now(),
                        by: context.node().0,
                        from: context.interfaces()[interface].peer.0,
                        originator: message.originator.0,
                        sequence: message.sequence,
                        ttl: message.ttl,
                        hops: message.hops,
                    });
                }
            },
        );
        Some(Box::new(tap))
    };
    let routers = (0..nodes).map(router).collect();
    let mut simulation = Simulation::new(network, events, Script::default(), routers, Vec::new());
    simulation.run(SimTime::ZERO + Duration::from_secs(600), |_, _| false);
    std::mem::take(&mut *heard.lock().unwrap())
}

/// RFC 3626 §3.4.1: a node that forwards a message reduces its TTL by one and increases its hop
/// count by one. On a chain, a message received at distance d has passed d − 1 nodes.
#[test]
fn a_message_counts_the_nodes_that_forwarded_it() {
    let heard = chain(5, Config::default());
    let far = heard.iter().filter(|tc| tc.by.abs_diff(tc.originator) == 3);
    assert!(far.count() > 200);
    // A message forwarded by a neighbour also returns, with one more hop.
    for tc in &heard {
        let passed = tc.from.abs_diff(tc.originator) as u8;
        assert_eq!((tc.hops, tc.ttl), (passed, 255 - passed));
    }
}

/// RFC 3626 §3.4.1 and §18.1: messages are forwarded with a jitter, uniform up to HELLO_INTERVAL/4
/// = 0.5 s. Node 2 of the chain 0-1-2-3 forwards messages of node 1. Its own emissions take waiting
/// messages along, so the mean is between a third and a half of the maximum.
#[test]
fn a_message_is_forwarded_after_a_jitter() {
    let config = Config::default();
    let heard = chain(4, config);
    let of_node_1 = |by: u32, from: u32| -> BTreeMap<u16, SimTime> {
        let mine = heard.iter().filter(|tc| tc.originator == 1);
        let copies = mine.filter(|tc| (tc.by, tc.from) == (by, from));
        copies.map(|tc| (tc.sequence, tc.at)).collect()
    };
    let (before, after) = (of_node_1(2, 1), of_node_1(3, 2));
    let waits: Vec<f64> = after
        .iter()
        .map(|(sequence, &at)| (at - before[sequence]).as_secs_f64())
        .collect();
    // Five seconds less up to 0.5 of jitter between two TCs.
    assert!(waits.len() > 110, "{}", waits.len());
    let most = config.jitter.as_secs_f64();
    assert_eq!(most, 0.5);
    let wire = 0.001_1;
    assert!(waits.iter().all(|&wait| wait <= most + wire), "{waits:?}");
    let mean = waits.iter().sum::<f64>() / waits.len() as f64 / most;
    assert!((0.33..0.6).contains(&mean), "{mean}");
}
