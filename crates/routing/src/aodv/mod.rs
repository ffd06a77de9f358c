//! AODV: routes found when they are needed (RFC 3561), with real messages on the links.
//!
//! - [`message`]: the bytes of RREQ, RREP, RERR and RREP-ACK.
//! - `config`: parameters, those of the RFC, of ns-2 and of ns-3, and the waits derived from them.
//! - `table`: routes, when they are replaced, and their lifetime.
//! - `buffer`: packets that wait for a route.
//! - `discovery`: route discovery by requests and replies.
//! - `probe`: HELLOs as probes, where the metric is ETX and not hops.
//! - `maintenance`: lost neighbours, local repair, errors and HELLOs.
//!
//! A node that has a packet and no route floods a request, first with a small TTL, then with larger
//! ones. Nodes that forward it note the reverse route. The destination, or a node with a route that
//! is new enough, answers along the reverse route, and the answer installs the route. Sequence
//! numbers of the destinations prevent loops. When a link breaks, errors notify the nodes whose
//! routes use it.
//!
//! What is left out: multicast, subnets (a node has one address; hosts are reached through their
//! exit router, which the packet names), several addresses of one node, and the rule for rebooting.
//! RREP-ACKs are sent on request but never requested: the link layer
//! reports the loss of a reply.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, NodeId, PacketId, Reading, Router, RouterQueue};
use backlane_units::{Duration, Rate, SimTime};

mod buffer;
mod config;
mod discovery;
mod maintenance;
pub mod message;
mod neighbours;
mod probe;
mod probing;
mod search;
mod table;

pub use config::{Backoff, Config, Hello, LocalRepair, Profile, SendHello, Settings, Waiting};

use buffer::Buffer;
use message::Message;
use neighbours::Neighbours;
use probe::Probe;
use search::{Discoveries, RateLimit};
use table::{Rules, Table};

use crate::etx::LinkQualities;
pub use crate::etx::Metric;
use crate::readings::{LINK_FAILURES, ROUTE_DISCOVERIES, ROUTE_REPAIRS};

/// Timers, and what they do.
const ON_WAIT_OVER: u32 = 0;
const ON_FORWARD: u32 = 1;
const ON_HELLO: u32 = 2;
const ON_SILENCE: u32 = 3;
const ON_SUSPICION: u32 = 4;

/// AODV on one node.
pub struct Aodv {
    node: NodeId,
    config: Config,
    jitter: Stream,
    table: Table,
    buffer: Buffer,
    /// This node's own sequence number (RFC 3561 §6.1).
    sequence: u32,
    /// The id of the last request that this node originated.
    request_id: u32,
    /// Searches in progress, by destination.
    discoveries: Discoveries,
    /// Requests seen: the metric of the best copy, and when the entry expires.
    seen: BTreeMap<(NodeId, u32), (u32, SimTime)>,
    request_limit: RateLimit,
    error_limit: RateLimit,
    /// The blacklist: neighbours whose requests are ignored, each with its expiry time.
    blacklist: BTreeMap<NodeId, SimTime>,
    neighbours: Neighbours,
    /// With ETX.
    qualities: Option<LinkQualities>,
    /// Of the last probe.
    probe_number: u16,
    /// Broadcasts delayed by jitter, by time.
    pending: VecDeque<(SimTime, u8, Message)>,
    last_broadcast: Option<SimTime>,
    /// Interfaces on which a frame has failed at this instant.
    suspects: Vec<usize>,
    /// One per kind of timer.
    timers: Vec<TimerId>,
    /// The time of the last event here.
    now: SimTime,
    counters: Counters,
}

/// Counters of a router.
#[derive(Debug, Default)]
struct Counters {
    route_discoveries: u64,
    route_repairs: u64,
    link_failures: u64,
}

impl Aodv {
    /// The router of `node`; it draws its jitter from its own stream.
    pub fn new(node: NodeId, config: Config, jitter: Stream) -> Self {
        Self {
            node,
            config,
            jitter,
            table: Table::new(Rules {
                delete_period: config.delete_period,
                renews_sequence: config.renews_sequence,
            }),
            buffer: Buffer::new(config.buffer_pkts),
            sequence: 0,
            request_id: 0,
            discoveries: Discoveries::default(),
            seen: BTreeMap::new(),
            request_limit: RateLimit::new(config.rreq_rate_limit),
            error_limit: RateLimit::new(config.rerr_rate_limit),
            blacklist: BTreeMap::new(),
            neighbours: Neighbours::default(),
            qualities: (config.metric == Metric::Etx)
                .then(|| LinkQualities::new(config.quality_window)),
            probe_number: 0,
            pending: VecDeque::new(),
            last_broadcast: None,
            suspects: Vec::new(),
            timers: Vec::new(),
            now: SimTime::ZERO,
            counters: Counters::default(),
        }
    }

    /// The interface of the active route to a node; the time must not precede the last event.
    pub fn route(&self, now: SimTime, destination: NodeId) -> Option<usize> {
        self.table.peek(now, destination)
    }

    /// Uniform between zero and `most`.
    fn draw(&mut self, most: Duration) -> Duration {
        Duration::from_ps(
            self.jitter
                .uniform_below(most.as_ps().saturating_add(1).max(1)),
        )
    }

    fn arm(&self, context: &mut Context<'_>, timer: u32, at: Option<SimTime>) {
        match (self.timers.get(timer as usize), at) {
            (Some(timer), Some(at)) => context.set_timer(*timer, at),
            (Some(timer), None) => context.cancel_timer(*timer),
            (None, _) => {}
        }
    }

    fn broadcast(&mut self, context: &mut Context<'_>, ttl: u8, message: &Message) {
        self.last_broadcast = Some(context.now());
        context.broadcast(ttl, &Arc::from(message.encode()));
    }

    /// Broadcasts after a random delay, since neighbours may broadcast at the same instant.
    fn broadcast_soon(&mut self, context: &mut Context<'_>, ttl: u8, message: Message) {
        let due = context.now().saturating_add(self.draw(self.config.jitter));
        let at = self.pending.partition_point(|(other, ..)| *other <= due);
        self.pending.insert(at, (due, ttl, message));
        self.arm_forward(context);
    }

    fn arm_forward(&self, context: &mut Context<'_>) {
        let due = self.pending.front().map(|(due, ..)| *due);
        self.arm(context, ON_FORWARD, due);
    }

    fn send_pending(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        while let Some((due, ..)) = self.pending.front()
            && *due <= now
        {
            if let Some((_, ttl, message)) = self.pending.pop_front() {
                self.broadcast(context, ttl, &message);
            }
        }
        self.arm_forward(context);
    }

    /// The cost of the link on an interface; `None` if no delivery is known.
    fn link_cost(&self, now: SimTime, interface: usize) -> Option<u32> {
        match &self.qualities {
            None => Some(1),
            Some(qualities) => u32::try_from(qualities.of(now, interface).cost()?).ok(),
        }
    }

    /// The cost of a path of `hops` hops whose reported cost is `reported` up to a link of cost
    /// `link`; and the cost to report.
    fn path_cost(&self, hops: u8, reported: Option<u32>, link: u32) -> (u32, Option<u32>) {
        match self.config.metric {
            Metric::Hops => (u32::from(hops), None),
            Metric::Etx => {
                let cost = reported.unwrap_or(0).saturating_add(link);
                (cost, Some(cost))
            }
        }
    }

    /// The metric field of a message for a path of this cost.
    fn reported(&self, cost: u32) -> Option<u32> {
        (self.config.metric == Metric::Etx).then_some(cost)
    }

    fn interface_to(context: &Context<'_>, peer: NodeId) -> Option<usize> {
        let mut interfaces = context.interfaces().iter();
        interfaces.position(|interface| interface.peer == peer)
    }

    /// Sends a packet by the active route to its exit and extends the lifetime of this route and of
    /// those to the next hop and to the source (RFC 3561 §6.2). False if there is no route.
    #[inline]
    fn forward(&mut self, context: &mut Context<'_>, id: PacketId) -> bool {
        let now = context.now();
        self.now = now;
        let packet = context.packet(id);
        let (exit, previous, source) = (packet.exit, packet.previous, packet.source);
        let until = now.saturating_add(self.config.active_route_timeout);
        let Some(route) = self.table.active(now, exit) else {
            return false;
        };
        route.until = route.until.max(until);
        let interface = route.interface;
        let next = context.interfaces()[interface].peer;
        for node in [next, previous, source] {
            self.table.refresh(now, node, until);
        }
        context.transmit(interface, id);
        true
    }
}

fn send(context: &mut Context<'_>, interface: usize, message: &Message) {
    context.send_message(interface, Arc::from(message.encode()));
}

impl Router for Aodv {
    fn start(&mut self, context: &mut Context<'_>) {
        let timers = [ON_WAIT_OVER, ON_FORWARD, ON_HELLO, ON_SILENCE, ON_SUSPICION];
        self.timers = timers.map(|what| context.timer(what)).to_vec();
        if let Some(hello) = self.with_hellos() {
            // Nodes must not start at the same instant.
            let first = context.now().saturating_add(self.draw(hello.interval));
            self.arm(context, ON_HELLO, Some(first));
        }
    }

    #[inline]
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        if !self.forward(context, id) {
            self.on_packet_without_route(context, id);
        }
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, ttl: u8, bytes: &[u8]) {
        let Some(message) = Message::decode(bytes) else {
            return;
        };
        self.now = context.now();
        self.note_message(context, interface);
        match message {
            Message::Request(request) => self.on_request(context, interface, ttl, request),
            Message::Reply(reply) if reply.is_hello() => {
                if let Some(probe) = Probe::decode(bytes) {
                    self.on_probe(context, interface, &probe);
                }
                self.on_hello(context, interface, &reply);
            }
            Message::Reply(reply) => self.on_reply(context, interface, reply),
            Message::Error(error) => self.on_error(context, interface, &error),
            Message::ReplyAck => {}
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        self.now = context.now();
        match token {
            ON_WAIT_OVER => self.on_wait_over(context),
            ON_FORWARD => self.send_pending(context),
            ON_HELLO => self.send_hello(context),
            ON_SILENCE => self.on_silence(context),
            ON_SUSPICION => self.on_suspicion(context),
            _ => {}
        }
    }

    fn on_tx_failed(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        self.suspects.retain(|suspect| *suspect != interface);
        self.on_lost_packet(context, interface, id);
    }

    fn on_withdrawn(&mut self, context: &mut Context<'_>, _interface: usize, id: PacketId) {
        self.on_returned(context, id);
    }

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        _attempts: u32,
        delivered: bool,
        _rate: Rate,
    ) {
        // If the packet is returned, the next call at this instant reports it.
        if !delivered {
            self.suspects.push(interface);
            let now = context.now();
            self.arm(context, ON_SUSPICION, Some(now));
        }
    }

    fn shared_queue(&self) -> Option<RouterQueue> {
        Some(self.buffer.counters())
    }

    fn readings(&self, _now: SimTime) -> Vec<Reading> {
        vec![
            (ROUTE_DISCOVERIES, self.counters.route_discoveries.into()),
            (ROUTE_REPAIRS, self.counters.route_repairs.into()),
            (LINK_FAILURES, self.counters.link_failures.into()),
        ]
    }

    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        self.route(self.now, exit)
    }
}
