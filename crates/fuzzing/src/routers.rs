//! A neighbour that sends any bytes causes no panic of a router, and packets are conserved.
//!
//! Four routers of one protocol and a babbler, which sends valid and invalid messages of the
//! protocol while packets cross the network.

use std::sync::Arc;

use backlane_engine::{EventQueue, Streams};
use backlane_net::{
    Application, Context, DropCause, Event, FlowId, HostContext, LinkConfig, Network, NodeId,
    Packet, PacketId, QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_routing::airtime::LinkMetric;
use backlane_routing::aodv::{self, Aodv};
use backlane_routing::backpressure::tcp_aware::{
    Entry, FlowLinks, Report, TcpAware, TcpAwareConfig,
};
use backlane_routing::backpressure::{
    BpMr, Classic, ClassicConfig, Config, Granularity, Hello, PenaltyRule, QueueInfo, Shared,
    SingleQueue, SingleQueueConfig, V,
};
use backlane_routing::graph::{Distances, Graph};
use backlane_routing::olsr::message as olsr_message;
use backlane_routing::olsr::{self, Addresses, Olsr};
use backlane_units::{Duration, Rate, SimTime};

use crate::choices::Choices;

/// The babbler is the first.
const NODES: u32 = 5;
const BABBLER: NodeId = NodeId(0);
/// Each has two neighbours and more.
const WIRES: [(u32, u32); 7] = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (0, 4)];
/// Packets go between these.
const ENDS: [(u32, u32); 3] = [(1, 4), (4, 3), (2, 0)];
const MOST_EVENTS: u64 = 20_000;
const MOST_MESSAGES: usize = 200;

/// The protocols that send messages.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Protocol {
    Olsr(olsr::Metric, Addresses),
    Aodv(aodv::Metric),
    AodvNs2,
    BpMr(Granularity),
    SingleQueue,
    Classic,
    TcpAware,
}

const PROTOCOLS: [Protocol; 13] = [
    Protocol::Olsr(olsr::Metric::Hops, Addresses::Node),
    Protocol::Olsr(olsr::Metric::Etx, Addresses::Node),
    Protocol::Aodv(aodv::Metric::Hops),
    Protocol::Aodv(aodv::Metric::Etx),
    Protocol::AodvNs2,
    Protocol::BpMr(Granularity::Packet),
    Protocol::BpMr(Granularity::Flow),
    Protocol::SingleQueue,
    Protocol::Classic,
    Protocol::TcpAware,
    Protocol::Olsr(olsr::Metric::Hops, Addresses::Interface),
    Protocol::Olsr(olsr::Metric::Hops, Addresses::Ns3),
    Protocol::Olsr(olsr::Metric::Airtime, Addresses::Node),
];

/// Runs a network with a babbler whose actions the bytes choose.
///
/// # Panics
/// If a router panics, or packets are not conserved.
pub fn routers(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let protocol = choices.of(&PROTOCOLS);
    let (mut network, mut events) = (Network::new(), EventQueue::new());
    for _ in 0..NODES {
        network.add_router();
    }
    let wire = LinkConfig {
        rate: Rate::from_bps(2_000_000),
        delay: Duration::from_millis(1),
        queue: QueueConfig::DropTail(QueueLimit::Packets(66)),
    };
    for (a, b) in WIRES {
        network.connect(&mut events, NodeId(a), NodeId(b), &wire);
    }
    let mut routers = of_protocol(protocol, &network, choices.byte());
    events.once(SimTime::ZERO, Event::Application { id: 0, token: 0 });
    let packets = Packets {
        every: Duration::from_millis(1 + choices.number(1)),
    };
    routers[BABBLER.index()] = Some(Box::new(Babbler {
        protocol,
        choices,
        left: MOST_MESSAGES,
    }));
    let mut simulation = Simulation::new(network, events, packets, routers, Vec::new());
    let until = SimTime::ZERO + Duration::from_secs(20);
    while simulation.events.fired() < MOST_EVENTS && simulation.step(until) {}
    let balance = simulation.network.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!(balance.in_flight, simulation.held_pkts() as u64);
}

/// Sends a packet of each flow again and again.
struct Packets {
    every: Duration,
}

impl Application for Packets {
    fn on_packet(&mut self, _: &mut HostContext<'_>, _: PacketId) {}

    fn on_timer(&mut self, context: &mut HostContext<'_>, _: u32, _: u32) {
        for (flow, (from, to)) in ENDS.into_iter().enumerate() {
            let packet = Packet::new(FlowId(flow as u32), NodeId(from), NodeId(to), 1000);
            context.send(packet);
        }
        let next = context.now() + self.every;
        context.call_at(next, 0, 0);
    }
}

/// Handles packets and messages by choices of the bytes.
struct Babbler {
    protocol: Protocol,
    choices: Choices,
    left: usize,
}

impl Router for Babbler {
    fn start(&mut self, context: &mut Context<'_>) {
        let timer = context.timer(0);
        context.set_timer(timer, context.now());
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let interface = self.choices.below(context.interfaces().len() + 1);
        if interface == context.interfaces().len() {
            context.drop(id, DropCause::NoRoute);
        } else if self.choices.chance(64) {
            let message = message(self.protocol, &mut self.choices);
            context.transmit_with(interface, id, message.into());
        } else {
            context.transmit(interface, id);
        }
    }

    fn on_message(&mut self, _: &mut Context<'_>, _: usize, _: u8, _: &[u8]) {}

    fn on_timer(&mut self, context: &mut Context<'_>, _: u32) {
        if self.choices.is_empty() || self.left == 0 {
            return;
        }
        self.left -= 1;
        let message = message(self.protocol, &mut self.choices).into();
        let interface = self.choices.below(context.interfaces().len() + 1);
        if interface == context.interfaces().len() {
            let ttl = self.choices.byte();
            context.broadcast(ttl, &message);
        } else {
            context.send_message(interface, message);
        }
        let waits_ms = [1, 0, 10, 100, 400, 2000];
        let at = context.now() + Duration::from_millis(self.choices.of(&waits_ms));
        let timer = context.timer(0);
        context.set_timer(timer, at);
    }
}

/// A message that is valid for the protocol, or random bytes.
fn message(protocol: Protocol, choices: &mut Choices) -> Vec<u8> {
    let mut message = match protocol {
        Protocol::Olsr(..) => olsr_packet(choices),
        Protocol::Aodv(_) | Protocol::AodvNs2 => aodv_message(choices),
        Protocol::BpMr(_) | Protocol::SingleQueue | Protocol::Classic => hello(choices),
        Protocol::TcpAware => report(choices),
    };
    match choices.below(16) {
        0 => {
            let length = choices.below(64);
            return choices.take(length);
        }
        1 => message.truncate(choices.below(message.len() + 1)),
        2 if !message.is_empty() => {
            let at = choices.below(message.len());
            message[at] = choices.byte();
        }
        _ => {}
    }
    message
}

/// A node of the network, or sometimes an unknown one. Tables have a place for each number up to
/// the highest received one, so that 24 bits would take 1 GB.
fn node(choices: &mut Choices) -> NodeId {
    match choices.below(16) {
        0 => NodeId(choices.number(2) as u32 % 4096),
        some => NodeId(some as u32 % NODES),
    }
}

/// A number that is often small, and otherwise at the end of its range.
fn number(choices: &mut Choices) -> u32 {
    match choices.below(4) {
        0 => choices.below(8) as u32,
        1 => u32::MAX - choices.below(8) as u32,
        2 => choices.number(2) as u32,
        _ => choices.number(4) as u32,
    }
}

fn olsr_packet(choices: &mut Choices) -> Vec<u8> {
    let mut messages = Vec::new();
    for _ in 0..=choices.below(3) {
        let kinds = [
            olsr_message::HELLO,
            olsr_message::TC,
            olsr_message::LQ_HELLO,
            olsr_message::LQ_TC,
            olsr_message::AIRTIME_HELLO,
            olsr_message::AIRTIME_TC,
            olsr_message::MID,
            77,
        ];
        let kind = choices.of(&kinds);
        let links: Vec<_> = (0..choices.below(6))
            .map(|_| (choices.byte(), node(choices), choices.byte()))
            .collect();
        let quality = |heard, reached| match kind {
            olsr_message::AIRTIME_HELLO | olsr_message::AIRTIME_TC => {
                let bits = u16::from_be_bytes([reached, heard]);
                let outgoing = LinkMetric::from_bits(bits);
                olsr_message::LinkReport::Airtime(olsr_message::Airtime {
                    heard: bits,
                    outgoing,
                })
            }
            _ => olsr_message::LinkReport::Etx(olsr_message::Quality { heard, reached }),
        };
        let sequence = number(choices) as u16;
        let code = |byte: u8| olsr_message::TimeCode(byte);
        let hold = choices.byte();
        let body = match kind {
            olsr_message::HELLO | olsr_message::LQ_HELLO | olsr_message::AIRTIME_HELLO => {
                let coded = links.iter().filter_map(|&(byte, node, heard)| {
                    let code = link_code(byte)?;
                    Some((code, node, quality(heard, byte)))
                });
                let coded: Vec<_> = coded.collect();
                if kind == olsr_message::HELLO {
                    let plain: Vec<_> = coded.iter().map(|&(c, node, _)| (c, node)).collect();
                    olsr_message::Hello::encode(code(hold), hold, &plain)
                } else {
                    olsr_message::Hello::encode_with_quality(code(hold), hold, &coded)
                }
            }
            olsr_message::TC => {
                let nodes = links.iter().map(|link| link.1);
                olsr_message::TopologyControl::encode(sequence, nodes)
            }
            olsr_message::LQ_TC | olsr_message::AIRTIME_TC => {
                let nodes = links.iter().map(|link| (link.1, quality(link.0, link.2)));
                olsr_message::TopologyControl::encode_with_quality(sequence, nodes)
            }
            olsr_message::MID => {
                // Addresses of wires have the highest of 24 bits.
                let interface = |byte: u8| NodeId(1 << 23 | u32::from(byte));
                olsr_message::encode_mid(links.iter().map(|link| interface(link.0)))
            }
            _ => choices.take(20),
        };
        let mut bytes = Vec::new();
        olsr_message::Message {
            kind,
            validity: code(choices.byte()),
            originator: node(choices),
            ttl: choices.byte(),
            hops: choices.byte(),
            sequence: number(choices) as u16,
            body: &body,
        }
        .encode(&mut bytes);
        messages.push(bytes);
    }
    let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    olsr_message::encode_packet(number(choices) as u16, &slices)
}

/// The link code of a byte, if it is one.
fn link_code(byte: u8) -> Option<olsr_message::LinkCode> {
    let body = [0, 0, 0, 0, byte & 15, 0, 0, 8, 10, 0, 0, 1];
    let hello = olsr_message::Hello::decode(olsr_message::HELLO, &body)?;
    let code = hello.neighbours().next();
    code.map(|(code, _)| code)
}

fn aodv_message(choices: &mut Choices) -> Vec<u8> {
    let flags = choices.byte();
    let flag = |bit: u8| flags & 1 << bit != 0;
    let metric = flag(7).then(|| number(choices));
    let message = match choices.below(4) {
        0 => aodv::message::Message::Request(aodv::message::RouteRequest {
            join: flag(0),
            repair: flag(1),
            gratuitous: flag(2),
            destination_only: flag(3),
            hops: choices.byte(),
            id: number(choices),
            destination: node(choices),
            destination_sequence: flag(4).then(|| number(choices)),
            originator: node(choices),
            originator_sequence: number(choices),
            metric,
        }),
        1 => {
            let destination = node(choices);
            aodv::message::Message::Reply(aodv::message::RouteReply {
                repair: flag(0),
                ack_required: flag(1),
                prefix: flags >> 3 & 15,
                hops: choices.byte(),
                destination,
                destination_sequence: number(choices),
                // The same: a HELLO.
                originator: if flag(2) { destination } else { node(choices) },
                lifetime_ms: number(choices),
                metric,
            })
        }
        2 => aodv::message::Message::Error(aodv::message::RouteError {
            no_delete: flag(0),
            unreachable: (0..choices.below(6))
                .map(|_| (node(choices), number(choices)))
                .collect(),
        }),
        _ => aodv::message::Message::ReplyAck,
    };
    let mut bytes = message.encode();
    if flag(6) {
        // An extension that may be that of a probe.
        let list = 5 * choices.below(4);
        bytes.extend([11, 2 + list as u8, choices.byte(), choices.byte()]);
        for _ in 0..list / 5 {
            bytes.extend(aodv::message::address(node(choices)).to_be_bytes());
            bytes.push(choices.byte());
        }
    }
    bytes
}

fn hello(choices: &mut Choices) -> Vec<u8> {
    let queue = |choices: &mut Choices| choices.chance(230).then(|| number(choices) as u16);
    Hello {
        originator: node(choices).0,
        sequence: number(choices) as u16,
        queues_pkts: (0..choices.below(6)).map(|_| queue(choices)).collect(),
        by_destination: (0..choices.below(6))
            .map(|_| (node(choices).0, number(choices) as u16))
            .collect(),
    }
    .encode()
    .to_vec()
}

fn report(choices: &mut Choices) -> Vec<u8> {
    Report {
        complete: choices.chance(128),
        entries: (0..choices.below(8))
            .map(|_| Entry {
                key: number(choices),
                pkts: number(choices),
            })
            .collect(),
    }
    .encode()
    .to_vec()
}

/// The routers of a network of one protocol.
fn of_protocol(protocol: Protocol, network: &Network, kind: u8) -> Vec<Option<Box<dyn Router>>> {
    let streams = Streams::new(1);
    let shared = Arc::new(shared(network));
    let links = Arc::new(FlowLinks::all(network, &[], (0..NODES).map(NodeId)));
    (0..NODES)
        .map(|number| -> Option<Box<dyn Router>> {
            let node = NodeId(number);
            let name = format!("n{number}");
            let [ties, jitter] = ["ties", "hello"].map(|purpose| streams.stream(&name, purpose));
            let shared = shared.clone();
            Some(match protocol {
                Protocol::Olsr(metric, addresses) => {
                    let config = olsr::Config {
                        metric,
                        addresses,
                        ..olsr::Config::default()
                    };
                    Box::new(Olsr::new(node, config, jitter))
                }
                Protocol::Aodv(metric) => {
                    let config = aodv::Config {
                        metric,
                        ..aodv::Config::rfc()
                    };
                    Box::new(Aodv::new(node, config, jitter))
                }
                Protocol::AodvNs2 => Box::new(Aodv::new(node, aodv::Config::ns2(), jitter)),
                Protocol::BpMr(granularity) => {
                    let config = Config {
                        granularity,
                        ..Config::default()
                    };
                    Box::new(BpMr::new(node, config, number == 4, shared, ties, jitter))
                }
                Protocol::SingleQueue => {
                    let penalties = [PenaltyRule::Plain, PenaltyRule::Sparse, PenaltyRule::Shadow];
                    let penalty = penalties[usize::from(kind) % 3];
                    let v = usize::from(kind / 3) % 3;
                    let config = SingleQueueConfig {
                        v: [V::Variable, V::Variable, V::Fixed(3.0)][v],
                        anticipate: v == 1,
                        queue_limit_pkts: 50,
                        ..SingleQueueConfig::default()
                    };
                    Box::new(SingleQueue::new(
                        node, penalty, config, shared, ties, jitter,
                    ))
                }
                Protocol::Classic => {
                    let config = ClassicConfig {
                        queue_limit_pkts: 50,
                        queue_info: QueueInfo::Hello,
                        ..ClassicConfig::default()
                    };
                    Box::new(Classic::new(node, config, shared, ties, jitter))
                }
                Protocol::TcpAware => {
                    let config = TcpAwareConfig::default();
                    Box::new(TcpAware::new(config, links.clone(), jitter))
                }
            })
        })
        .collect()
}

fn shared(network: &Network) -> Shared {
    let exits = (0..NODES).map(NodeId);
    let distances = Distances::new(&Graph::of(network, |_, _| 1), exits);
    let mut shared = Shared::new(NODES as usize, distances, &[]);
    for node in (0..NODES).map(NodeId) {
        let queues = network.mesh_interfaces(node).len().max(NODES as usize);
        shared.add_node(node, queues);
    }
    shared
}
