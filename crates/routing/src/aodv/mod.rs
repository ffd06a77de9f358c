//! AODV: routes found when they are needed (RFC 3561), with real messages on the links.
//!
//! - [`message`]: the bytes of RREQ, RREP, RERR and RREP-ACK.
//! - `config`: parameters, those of the RFC and those of ns-2, and the waits that follow from them.
//! - `table`: routes, which one is taken over, and how long it lives.
//! - `buffer`: packets that wait for a route.
//! - `discovery`: requests and replies: how a route comes about.
//! - `probe`: HELLOs as probes, where routes are to be short in ETX and not in hops.
//! - `maintenance`: lost neighbours, local repair, errors, HELLOs: how it ends.
//!
//! A node that has a packet and no route floods a request, first a few hops wide, then wider.
//! Whoever passes it on notes the way back; the destination, or a node with a route that is new
//! enough, answers along it, and the answer leaves the route behind. Sequence numbers of the
//! destinations keep routes from closing into loops. When a link turns out to be broken, those
//! who send by it are told.
//!
//! What is left out: multicast, subnets (a node has one address; hosts are reached through their
//! exit router, which the packet names), several addresses of one node, the rule for rebooting,
//! and packets of a broken link that still wait in the device: each comes back when its own
//! attempts have failed. RREP-ACKs are sent when asked for but not asked for: the link layer
//! tells when a reply was lost.

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

pub use config::{Backoff, Config, Hello, LocalRepair, Profile, SendHello, Settings};

use buffer::Buffer;
use message::Message;
use neighbours::Neighbours;
use probe::Probe;
use search::{Discoveries, RateLimit};
use table::Table;

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
    /// Of the last request that this node made.
    request_id: u32,
    /// Searches under way, by destination.
    discoveries: Discoveries,
    /// Requests seen: the metric of the best copy, and until when it is remembered.
    seen: BTreeMap<(NodeId, u32), (u32, SimTime)>,
    request_limit: RateLimit,
    error_limit: RateLimit,
    /// Neighbours whose requests are ignored, each with the time until which they are.
    blacklist: BTreeMap<NodeId, SimTime>,
    neighbours: Neighbours,
    /// With ETX.
    qualities: Option<LinkQualities>,
    /// Of the last probe.
    probe_number: u16,
    /// Broadcasts that wait out their jitter, by time.
    pending: VecDeque<(SimTime, u8, Message)>,
    last_broadcast: Option<SimTime>,
    /// Interfaces on which a frame has failed in this instant.
    suspects: Vec<usize>,
    /// By what they do.
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
    /// The router of `node`, which draws its jitter from a stream of its own.
    pub fn new(node: NodeId, config: Config, jitter: Stream) -> Self {
        Self {
            node,
            config,
            jitter,
            table: Table::new(config.delete_period),
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

    /// The interface of the active route to a node at a time not before the last event.
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

    /// Broadcasts after a random time: others may be about to do so as well.
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

    /// What the link on an interface costs; `None` if nothing is known to come through.
    fn link_cost(&self, now: SimTime, interface: usize) -> Option<u32> {
        match &self.qualities {
            None => Some(1),
            Some(qualities) => u32::try_from(qualities.of(now, interface).cost()?).ok(),
        }
    }

    /// What a path costs that is `hops` long and was told to cost `told` up to a link that costs
    /// `link`; and what is told on.
    fn path_cost(&self, hops: u8, told: Option<u32>, link: u32) -> (u32, Option<u32>) {
        match self.config.metric {
            Metric::Hops => (u32::from(hops), None),
            Metric::Etx => {
                let cost = told.unwrap_or(0).saturating_add(link);
                (cost, Some(cost))
            }
        }
    }

    /// What a message says of a path that costs so much.
    fn told(&self, cost: u32) -> Option<u32> {
        (self.config.metric == Metric::Etx).then_some(cost)
    }

    fn interface_to(context: &Context<'_>, peer: NodeId) -> Option<usize> {
        let mut interfaces = context.interfaces().iter();
        interfaces.position(|interface| interface.peer == peer)
    }

    /// Sends a packet by the active route to its exit, which lives on with the routes to the
    /// next hop and to where it came from (RFC 3561 §6.2). False if there is none.
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
        if let Some(hello) = self.greeting() {
            // Not all nodes at once.
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
        self.hear(context, interface);
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

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        _attempts: u32,
        delivered: bool,
        _rate: Rate,
    ) {
        // If the packet comes back, that follows at once and says more.
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
