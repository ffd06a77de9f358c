//! OLSR: optimized link state routing (RFC 3626), with real messages on the links.
//!
//! - [`message`], `link_code`, `time_code`: the bytes of packets, HELLO, TC and MID.
//! - `addresses`: the addresses of interfaces, and their main addresses from MIDs.
//! - `link`, `neighbourhood`: state from HELLOs: links, neighbours, 2-hop neighbours, MPR
//!   selectors.
//! - `quality`, `report`: the quality of links, where the metric is not hops, and its bytes.
//! - `metric`, `airtimes`: the metrics of routes; airtimes of links.
//! - `ports`: the wires and radios on which messages are sent.
//! - `topology`: the topology set from TCs, and the duplicate set.
//! - `mpr`: the selection of multipoint relays.
//! - `table`: the routing table.
//!
//! Every `hello_interval` a node sends its neighbours the list of its links; a link is used when
//! both ends list each other. From its neighbours' lists a node knows its 2-hop neighbours, and
//! selects the multipoint relays (MPRs) among its neighbours that reach all of them. A selected
//! node floods a TC with its selectors every `tc_interval`; only relays forward it. Routes are
//! shortest in hops, independent of load, and ties go to the lowest address.
//!
//! Start-up: the first HELLO leaves at a random instant within `jitter`. The TC timer starts in the
//! same way (not specified in the RFC; as in ns-3). No node is a relay then, so the first TCs are
//! sent one `tc_interval` later: routes of one and two hops exist after three HELLOs, longer ones
//! only after these TCs.
//!
//! With addresses of interfaces (`addresses`), a HELLO comes from an interface whose node is known
//! by MID alone, unless it is the first one. MIDs leave with the TCs. Neighbours are resolved in
//! the second round, relays selected after it, and routes of more than two hops exist after the
//! third.
//!
//! What is left out: HNA messages (hosts are reached through their exit router, which the packet
//! names), link hysteresis (§14),
//! link-layer notification (§13: links are sensed by HELLOs alone), redundant topology information
//! (§15), redundant MPRs (§16), and the optional TC sent early when the MPR selector set changes
//! (§9.3). Every node has the default willingness. Messages share the queues with data packets and
//! may be lost there.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, DropCause, NodeId, PacketId, Router};
use backlane_units::{Duration, Rate, SimTime};

mod addresses;
mod airtimes;
mod config;
mod link;
mod link_code;
pub mod message;
mod metric;
mod mpr;
mod neighbourhood;
mod ports;
mod quality;
mod report;
mod table;
mod time_code;
mod topology;

use airtimes::PROBE_BYTES;
use message::{
    AIRTIME_HELLO, AIRTIME_TC, HELLO, Hello, LQ_HELLO, LQ_TC, MESSAGE_HEADER_BYTES, MID, Message,
    PACKET_HEADER_BYTES, TC, TimeCode, TopologyControl, WILL_DEFAULT,
};
use neighbourhood::Neighbourhood;
use ports::Port;
use quality::Qualities;
use table::Table;
use topology::{Seen, Topology};

pub use addresses::Addresses;
pub use config::Config;
pub use metric::Metric;

/// A TC travels through the whole network (RFC 3626 §9.1).
const TC_TTL: u8 = 255;
/// Messages share a packet up to this size: an Ethernet frame less IP and UDP headers.
const PACKET_BYTES: usize = 1472;
/// An interval of zero would stop the clock.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// Timers, and what they do.
const ON_HELLO: u32 = 0;
const ON_TC: u32 = 1;
const ON_FORWARD: u32 = 2;
/// No action beyond [`Olsr::expire`], which runs at every event.
const ON_EXPIRY: u32 = 3;

/// OLSR on one node.
pub struct Olsr {
    node: NodeId,
    config: Config,
    jitter: Stream,
    near: Neighbourhood,
    far: Topology,
    /// With ETX or airtimes.
    qualities: Option<Qualities>,
    seen: Seen,
    /// Computed on demand after a change.
    table: RefCell<Table>,
    table_stale: Cell<bool>,
    /// The time of the last event here.
    now: SimTime,
    /// One per kind of timer.
    timers: Vec<TimerId>,
    next_expiry: SimTime,
    /// Messages to be forwarded, each with the time at which it must leave, in that order.
    pending: VecDeque<(SimTime, Vec<u8>)>,
    message_sequence: u16,
    /// Wires and radios, and the one of each interface.
    ports: Vec<Port>,
    port_of: Vec<usize>,
    /// Empty TCs are sent until then (RFC 3626 §9.3).
    empty_tc_until: SimTime,
}

impl Olsr {
    /// The router of `node`; it draws its jitter from its own stream.
    pub fn new(node: NodeId, config: Config, jitter: Stream) -> Self {
        Self {
            node,
            config,
            jitter,
            near: Neighbourhood::new(node, config.neighbour_hold),
            far: Topology::default(),
            qualities: Qualities::of_config(&config),
            seen: Seen::default(),
            table: RefCell::default(),
            table_stale: Cell::new(false),
            now: SimTime::ZERO,
            timers: Vec::new(),
            next_expiry: SimTime::MAX,
            pending: VecDeque::new(),
            message_sequence: 0,
            ports: Vec::new(),
            port_of: Vec::new(),
            empty_tc_until: SimTime::ZERO,
        }
    }

    /// Uniform between zero and `most`.
    fn draw(&mut self, most: Duration) -> Duration {
        Duration::from_ps(
            self.jitter
                .uniform_below(most.as_ps().saturating_add(1).max(1)),
        )
    }

    /// When the next emission is due: an interval less jitter (RFC 3626 §18.1).
    ///
    /// In ns-3 the timers of all nodes expire at once, and packets wait instead.
    fn next_emission(&mut self, interval: Duration) -> SimTime {
        let interval = interval.max(SHORTEST_INTERVAL);
        if self.config.addresses == Addresses::Ns3 {
            return self.now.saturating_add(interval);
        }
        let jitter = self.draw(self.config.jitter.min(interval / 2));
        self.now.saturating_add(interval - jitter)
    }

    fn message(&mut self, kind: u8, hold: Duration, ttl: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MESSAGE_HEADER_BYTES + body.len());
        Message {
            kind,
            validity: TimeCode::encode(hold),
            originator: self.node,
            ttl,
            hops: 0,
            sequence: self.message_sequence,
            body,
        }
        .encode(&mut bytes);
        bytes
    }

    /// As in ns-3: a message waits for the next packet, which leaves on all interfaces, up to the
    /// jitter after the first message in it.
    fn enqueue(&mut self, message: Vec<u8>) {
        let due = match self.pending.front() {
            Some((due, _)) => *due,
            None => self.now.saturating_add(self.draw(self.config.jitter)),
        };
        self.pending.push_back((due, message));
    }

    fn send_hello(&mut self, context: &mut Context<'_>) {
        if self.config.addresses == Addresses::Ns3 {
            let list = self.near.hello(self.now, &[]);
            let interval = TimeCode::encode(self.config.hello_interval);
            let body = Hello::encode(interval, WILL_DEFAULT, &list);
            let hello = self.message(HELLO, self.config.neighbour_hold, 1, &body);
            self.message_sequence = self.message_sequence.wrapping_add(1);
            self.enqueue(hello);
            return;
        }
        let forwarded = self.take_pending(SimTime::MAX);
        let interval = TimeCode::encode(self.config.hello_interval);
        for port in 0..self.ports.len() {
            let here = &self.ports[port].interfaces;
            let list = self.near.hello(self.now, here);
            let (kind, body) = if let Some(qualities) = &mut self.qualities {
                let reported = list.iter().map(|&(code, node)| {
                    let link = self.near.interface_to(node, here);
                    let quality = match link {
                        Some(interface) => qualities.of(self.now, interface),
                        None => qualities.best(self.now, &self.near, node),
                    };
                    (code, node, quality)
                });
                let reported: Vec<_> = reported.collect();
                let body = Hello::encode_with_quality(interval, WILL_DEFAULT, &reported);
                (self.kinds().0, body)
            } else {
                (HELLO, Hello::encode(interval, WILL_DEFAULT, &list))
            };
            let hello = self.message(kind, self.config.neighbour_hold, 1, &body);
            self.send(context, port, std::slice::from_ref(&hello), &forwarded);
            self.probe(context, port);
        }
        self.message_sequence = self.message_sequence.wrapping_add(1);
    }

    /// With airtimes: sends a probe to the neighbours on a radio of which the rate is not known.
    fn probe(&mut self, context: &mut Context<'_>, port: usize) {
        let Some(Qualities::Airtime(airtimes)) = &mut self.qualities else {
            return;
        };
        for &interface in &self.ports[port].interfaces {
            if airtimes.take_stale(interface) {
                context.send_message(interface, Arc::from([0; PROBE_BYTES]));
            }
        }
    }

    /// Broadcasts a MID, if the node has several addresses (RFC 3626 §5.2), and a TC.
    fn send_topology(&mut self, context: &mut Context<'_>) {
        let addresses = message::encode_mid(self.near.further_addresses());
        let mut own = Vec::with_capacity(2);
        if !addresses.is_empty() {
            own.push(self.message(MID, self.config.topology_hold, TC_TTL, &addresses));
            self.message_sequence = self.message_sequence.wrapping_add(1);
        }
        own.extend(self.advertisement());
        if self.config.addresses == Addresses::Ns3 {
            for message in own {
                self.enqueue(message);
            }
            return;
        }
        if own.is_empty() {
            return;
        }
        let forwarded = self.take_pending(SimTime::MAX);
        for port in 0..self.ports.len() {
            self.send(context, port, &own, &forwarded);
        }
    }

    /// A TC if there is something to advertise, or was until recently (RFC 3626 §9.3): the MPR
    /// selectors, or with a metric other than hops all neighbours (§15, redundancy 2), since the cheapest path
    /// may avoid the relays.
    fn advertisement(&mut self) -> Option<Vec<u8>> {
        let near = &self.near;
        let empty = match self.qualities {
            Some(_) => near.symmetric_links().next().is_none(),
            None => near.selectors().len() == 0,
        };
        if !empty {
            self.empty_tc_until = self.now.saturating_add(self.config.topology_hold);
        } else if self.empty_tc_until <= self.now {
            return None;
        }
        let (kind, body) = if let Some(qualities) = &mut self.qualities {
            let mut neighbours: Vec<NodeId> =
                near.symmetric_links().map(|(node, _)| node).collect();
            neighbours.sort_unstable();
            neighbours.dedup();
            let links = neighbours
                .into_iter()
                .map(|node| (node, qualities.best(self.now, near, node)));
            // Each TC has new content, so the message sequence number serves as ANSN.
            let sequence = self.message_sequence;
            let body = TopologyControl::encode_with_quality(sequence, links);
            (self.kinds().1, body)
        } else {
            let sequence = near.advertised_sequence();
            (TC, TopologyControl::encode(sequence, near.selectors()))
        };
        let tc = self.message(kind, self.config.topology_hold, TC_TTL, &body);
        self.message_sequence = self.message_sequence.wrapping_add(1);
        Some(tc)
    }

    /// Messages to be forwarded that must leave at `until` at the latest. Any emission takes all of
    /// them along: the jitter is an upper bound, and messages should share packets (RFC 3626
    /// §3.4.1).
    fn take_pending(&mut self, until: SimTime) -> Vec<Vec<u8>> {
        let count = self.pending.partition_point(|(due, _)| *due <= until);
        self.pending
            .drain(..count)
            .map(|(_, bytes)| bytes)
            .collect()
    }

    /// Sends messages by one port, in as few packets as possible.
    fn send(
        &mut self,
        context: &mut Context<'_>,
        port: usize,
        own: &[Vec<u8>],
        forwarded: &[Vec<u8>],
    ) {
        let port = &mut self.ports[port];
        let mut flush = |batch: &mut Vec<&[u8]>| {
            if !batch.is_empty() {
                let packet = message::encode_packet(port.next_sequence(), batch);
                port.send(context, packet);
                batch.clear();
            }
        };
        let mut batch: Vec<&[u8]> = Vec::with_capacity(own.len() + forwarded.len());
        let mut size = PACKET_HEADER_BYTES;
        for message in own.iter().chain(forwarded) {
            if size + message.len() > PACKET_BYTES {
                flush(&mut batch);
                size = PACKET_HEADER_BYTES;
            }
            size += message.len();
            batch.push(message);
        }
        flush(&mut batch);
    }

    /// A message that is not a HELLO (RFC 3626 §3.4), from an interface with the address `source`.
    fn on_flooded(&mut self, port: usize, source: NodeId, message: &Message<'_>) {
        let now = self.now;
        let sender = self.near.main_of(source);
        // Neither processed (§9.5) nor forwarded (§3.4.1) unless the link is symmetric.
        if !self.near.is_symmetric(sender) {
            return;
        }
        let name = (message.originator, message.sequence);
        if message.kind == self.kinds().1
            && !self.seen.contains(now, name)
            && let Some(tc) = TopologyControl::decode(message.kind, message.body)
        {
            let validity = message.validity.decode();
            self.far.on_tc(now, message.originator, validity, &tc);
        }
        if message.kind == MID
            && self.config.addresses != Addresses::Node
            && !self.seen.contains(now, name)
        {
            let until = now.saturating_add(message.validity.decode());
            let addresses = message::interface_addresses(message.body);
            self.near.on_mid(until, message.originator, addresses);
        }
        let sender = self.near.main_of(source);
        let from_selector = self.near.is_selector(sender);
        let seen = &mut self.seen;
        if seen.must_forward(now, port, name, message.ttl, from_selector) {
            let onward = Message {
                ttl: message.ttl - 1,
                hops: message.hops.saturating_add(1),
                ..*message
            };
            let mut bytes = Vec::with_capacity(MESSAGE_HEADER_BYTES + message.body.len());
            onward.encode(&mut bytes);
            if self.config.addresses == Addresses::Ns3 {
                self.enqueue(bytes);
                return;
            }
            let due = now.saturating_add(self.draw(self.config.jitter));
            let at = self.pending.partition_point(|(other, _)| *other <= due);
            self.pending.insert(at, (due, bytes));
        }
    }

    fn arm(&self, context: &mut Context<'_>, timer: u32, at: SimTime) {
        match self.timers.get(timer as usize) {
            Some(timer) if at == SimTime::MAX => context.cancel_timer(*timer),
            Some(timer) => context.set_timer(*timer, at),
            None => {}
        }
    }

    fn arm_forward(&self, context: &mut Context<'_>) {
        let due = self.pending.front().map_or(SimTime::MAX, |(due, _)| *due);
        self.arm(context, ON_FORWARD, due);
    }

    /// Removes expired entries, before any other action at this instant.
    fn expire(&mut self, context: &mut Context<'_>) {
        self.now = context.now();
        if self.next_expiry > self.now {
            return;
        }
        let near = self.near.expire(self.now);
        self.next_expiry = near.min(self.far.expire(self.now));
        self.seen.expire(self.now);
        self.note_changes();
        self.arm(context, ON_EXPIRY, self.next_expiry);
    }

    fn note_changes(&mut self) {
        // Both are called, so that both clear their flag.
        if self.near.take_changed() | self.far.take_changed() {
            self.table_stale.set(true);
        }
    }

    /// The types of HELLOs and TCs.
    fn kinds(&self) -> (u8, u8) {
        match self.config.metric {
            Metric::Hops => (HELLO, TC),
            Metric::Etx => (LQ_HELLO, LQ_TC),
            Metric::Airtime => (AIRTIME_HELLO, AIRTIME_TC),
        }
    }

    #[cold]
    fn compute_table(&self) {
        let mut table = self.table.borrow_mut();
        match &self.qualities {
            None => table.compute(self.node, &self.near, &self.far),
            Some(qualities) => {
                let own = self.near.symmetric_links().map(|(neighbour, interface)| {
                    let cost = qualities.of(self.now, interface).cost();
                    (neighbour, interface, cost)
                });
                table.compute_cheapest(self.node, own, &self.near, &self.far);
            }
        }
        self.table_stale.set(false);
    }
}

impl Router for Olsr {
    fn start(&mut self, context: &mut Context<'_>) {
        self.now = context.now();
        (self.ports, self.port_of) = ports::of(context.interfaces());
        if let Some(qualities) = &mut self.qualities {
            qualities.start(context.interfaces());
        }
        if self.config.addresses != Addresses::Node {
            let own = addresses::here(self.node, context.interfaces());
            let lists_links = self.config.addresses == Addresses::Ns3;
            self.near.number(own, lists_links);
        }
        let timers = [ON_HELLO, ON_TC, ON_FORWARD, ON_EXPIRY];
        self.timers = timers.map(|what| context.timer(what)).to_vec();
        for timer in [ON_HELLO, ON_TC] {
            let first = match self.config.addresses {
                Addresses::Ns3 => self.now,
                _ => self.now.saturating_add(self.draw(self.config.jitter)),
            };
            self.arm(context, timer, first);
        }
    }

    #[inline]
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let exit = context.packet(id).exit;
        if self.table_stale.get() {
            self.compute_table();
        }
        match self.table.get_mut().interface(exit) {
            Some(interface) => context.transmit(interface, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, _ttl: u8, bytes: &[u8]) {
        if self.config.metric == Metric::Airtime && message::is_probe(bytes) {
            return;
        }
        self.expire(context);
        let sender = context.interfaces()[interface].peer;
        let source = match self.config.addresses {
            Addresses::Node => sender,
            _ => addresses::there(&context.interfaces()[interface]),
        };
        if let Some(qualities) = &mut self.qualities
            && let Some(sequence) = message::packet_sequence(bytes)
        {
            qualities.on_packet(self.now, interface, sequence);
        }
        let mut nearest = SimTime::MAX;
        for message in message::messages(bytes) {
            if message.ttl == 0 || message.originator == self.node {
                continue;
            }
            let validity = message.validity.decode();
            nearest = nearest.min(self.now.saturating_add(validity));
            if message.kind == self.kinds().0 {
                // A HELLO is never forwarded: it describes the wire on which it arrives.
                if message.originator == sender
                    && let Some(hello) = Hello::decode(message.kind, message.body)
                {
                    if let Some(qualities) = &mut self.qualities {
                        qualities.on_hello(self.node, interface, &hello);
                        self.table_stale.set(true);
                    }
                    let from = (source, message.originator);
                    self.near
                        .on_hello(self.now, interface, from, validity, &hello);
                }
            } else {
                self.on_flooded(self.port_of[interface], source, &message);
            }
        }
        self.note_changes();
        // A refreshed entry expires later than the timer; this is found when the timer fires.
        if nearest < self.next_expiry {
            self.next_expiry = nearest;
            self.arm(context, ON_EXPIRY, nearest);
        }
        self.arm_forward(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        self.expire(context);
        match token {
            ON_HELLO => {
                self.send_hello(context);
                let next = self.next_emission(self.config.hello_interval);
                self.arm(context, ON_HELLO, next);
            }
            ON_TC => {
                self.send_topology(context);
                let next = self.next_emission(self.config.tc_interval);
                self.arm(context, ON_TC, next);
            }
            ON_FORWARD => {
                let due = self.take_pending(self.now);
                for port in 0..self.ports.len() {
                    self.send(context, port, &[], &due);
                }
            }
            _ => {}
        }
        self.arm_forward(context);
    }

    fn on_tx_status(
        &mut self,
        _context: &mut Context<'_>,
        interface: usize,
        _attempts: u32,
        _delivered: bool,
        rate: Rate,
    ) {
        if let Some(Qualities::Airtime(airtimes)) = &mut self.qualities {
            airtimes.on_status(interface, rate);
        }
    }

    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        if self.table_stale.get() {
            self.compute_table();
        }
        self.table.borrow().interface(exit)
    }
}
