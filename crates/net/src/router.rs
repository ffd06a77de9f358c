//! The trait that a routing protocol implements, one instance per node.

use std::sync::Arc;

use backlane_engine::{EventQueue, TimerId};
use backlane_units::{Rate, SimTime};

use crate::network::{DropCause, Interface, Network};
use crate::packet::{
    Ecn, FlowId, INITIAL_TTL, IPV4_HEADER_BYTES, NodeId, Packet, PacketId, UDP_HEADER_BYTES,
};
use crate::simulation::Event;

/// What a router sees of the world: its own node, and the packets that it is given.
pub struct Context<'a> {
    node: NodeId,
    network: &'a mut Network,
    events: &'a mut EventQueue<Event>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        node: NodeId,
        network: &'a mut Network,
        events: &'a mut EventQueue<Event>,
    ) -> Self {
        Self {
            node,
            network,
            events,
        }
    }

    /// The simulated time.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.events.now()
    }

    /// The router's own node.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The interfaces towards other routers; a router's hosts are not among them, since
    /// packets for them never reach the router.
    #[inline]
    pub fn interfaces(&self) -> &[Interface] {
        self.network.mesh_interfaces(self.node)
    }

    /// A packet that was handed to the router and is not yet sent or dropped.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.network.packets[id]
    }

    /// The same, to change it.
    #[inline]
    pub fn packet_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.network.packets[id]
    }

    /// The router by which a packet came into the mesh: where its source is attached now. A
    /// protocol whose header tells it from there on may ask.
    #[inline]
    pub fn entry_of(&self, id: PacketId) -> NodeId {
        self.network.exit_of(self.network.packets[id].source)
    }

    /// Whether the wire of an interface is whole, as its carrier tells. A medium has no carrier:
    /// it is always said to be.
    #[inline]
    pub fn has_carrier(&self, interface: usize) -> bool {
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        let link = &self.network.links()[link.index()];
        link.up() || link.medium().is_some()
    }

    /// Fetches a packet that will be needed soon into the processor's cache; nobody waits for it.
    #[inline]
    pub fn touch(&self, id: PacketId) {
        self.network.packets.touch(id);
    }

    /// Puts a packet into the queue of an interface (an index into [`Context::interfaces`]).
    #[inline]
    pub fn transmit(&mut self, interface: usize, id: PacketId) {
        self.network.packets[id].previous = self.node;
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.enqueue(self.events, link, id);
    }

    /// Puts a packet into the queue of an interface with a message that rides on it for one hop:
    /// the packet is larger by the message's length until the far end has taken it off
    /// ([`Router::on_message`] comes before [`Router::on_packet`] there). Over a medium other
    /// neighbours may hear it too.
    pub fn transmit_with(&mut self, interface: usize, id: PacketId, message: Arc<[u8]>) {
        let bytes = message.len() as u32;
        self.network.count_message(self.node, bytes);
        let packet = &mut self.network.packets[id];
        packet.size_bytes += bytes;
        packet.message = Some(message);
        self.transmit(interface, id);
    }

    /// Gives a packet up.
    pub fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.network.drop_packet(id, cause);
    }

    /// Packets that wait in the queue of an interface; the one in transmission does not count.
    /// Interfaces of one radio have one queue.
    #[inline]
    pub fn device_backlog_pkts(&mut self, interface: usize) -> usize {
        let now = self.events.now();
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        match self.network.links()[link.index()].medium() {
            Some(medium) => self.network.radio_backlog_pkts(medium),
            None => self.network.link_mut(link).backlog_pkts(now),
        }
    }

    /// Whether nothing waits before the transmitter of an interface and it sends nothing.
    pub fn device_is_idle(&mut self, interface: usize) -> bool {
        let now = self.events.now();
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        match self.network.links()[link.index()].medium() {
            Some(medium) => self.network.radio_is_idle(medium),
            None => self.network.link_mut(link).is_idle(now),
        }
    }

    /// Calls [`Router::on_interface_ready`] as soon as fewer than `pkts` packets wait in the
    /// interface's queue, or for zero `pkts` as soon as its transmitter is idle; at once (after
    /// the present hook, or in the next event) if that is so already. On wires only with plain
    /// drop-tail queues, whose departures are known in advance. Interfaces of one radio that
    /// have asked are called in turn, as long as there is room.
    #[inline]
    pub fn notify_when_below(&mut self, interface: usize, pkts: usize) {
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.notify_when_below(self.events, link, pkts);
    }

    /// Sends a routing message to the neighbour on an interface, in a UDP datagram of its own:
    /// `message.len()` + 28 bytes on the link.
    pub fn send_message(&mut self, interface: usize, message: Arc<[u8]>) {
        let peer = self.network.mesh_interfaces(self.node)[interface].peer;
        let id = self.inject_message(peer, INITIAL_TTL, message);
        self.transmit(interface, id);
    }

    /// Sends a routing message to all neighbours, in a UDP datagram: one frame on each radio,
    /// without acknowledgment, and a copy on each wire. Nothing passes the message on by itself:
    /// its `ttl` is for the protocol ([`Context::message_ttl`]).
    pub fn broadcast(&mut self, ttl: u8, message: &Arc<[u8]>) {
        for interface in 0..self.interfaces().len() {
            let Interface { peer, radio, .. } = self.interfaces()[interface];
            if radio.is_none() {
                let id = self.inject_message(peer, ttl, message.clone());
                self.transmit(interface, id);
            }
        }
        for radio in 0..self.network.radio_count(self.node) as u8 {
            self.broadcast_over(radio, ttl, message.clone());
        }
    }

    /// Sends a routing message to all neighbours on one radio, as [`Context::broadcast`] does.
    pub fn broadcast_over(&mut self, radio: u8, ttl: u8, message: Arc<[u8]>) {
        let id = self.inject_message(NodeId::NONE, ttl, message);
        self.network.broadcast_over(self.node, radio, id);
    }

    /// The TTL of the IP packet whose message the router is given in [`Router::on_message`]; of
    /// no meaning elsewhere.
    pub fn message_ttl(&self) -> u8 {
        self.network.message_ttl
    }

    /// Tells how many packets of a flow wait at the router of its source, for whoever controls
    /// what the flow sends ([`Network::source_backlog`]).
    pub fn publish_backlog(&mut self, flow: FlowId, pkts: u32) {
        self.network.set_source_backlog(flow, pkts);
    }

    fn inject_message(&mut self, peer: NodeId, ttl: u8, message: Arc<[u8]>) -> PacketId {
        let size_bytes = message.len() as u32 + IPV4_HEADER_BYTES + UDP_HEADER_BYTES;
        self.network.count_message(self.node, size_bytes);
        self.network.inject(Packet {
            flow: FlowId::NONE,
            reverse: false,
            ttl,
            hops: 0,
            ecn: Ecn::NotCapable,
            size_bytes,
            source: self.node,
            destination: peer,
            exit: peer,
            previous: self.node,
            path: 0,
            sequence: 0,
            queued_at: self.events.now(),
            message: Some(message),
        })
    }

    /// A timer that calls [`Router::on_timer`] with `token` when it fires.
    pub fn timer(&mut self, token: u32) -> TimerId {
        self.events.timer(Event::Router {
            node: self.node,
            token,
        })
    }

    /// Arms or moves a timer.
    #[inline]
    pub fn set_timer(&mut self, timer: TimerId, at: SimTime) {
        self.events.set(timer, at);
    }

    /// Disarms a timer.
    #[inline]
    pub fn cancel_timer(&mut self, timer: TimerId) {
        self.events.cancel(timer);
    }
}

/// What a router keeps in a queue of its own before an interface's link, so far. The fields mean
/// what they mean in [`crate::LinkCounters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterQueue {
    /// Bytes that wait.
    pub backlog_bytes: u64,
    /// Packets that wait.
    pub backlog_pkts: u64,
    /// The largest backlog, in bytes.
    pub max_bytes: u64,
    /// Time integral of the backlog, in byte-picoseconds, of the packets that have left.
    pub area: u128,
    /// Packets refused or given up.
    pub drops: u64,
}

/// What a routing protocol has counted on one node. What does not exist in it stays zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterReadings {
    /// Packets dropped from full queues before they left their first router.
    pub overflow_at_source: u64,
    /// Packets dropped from full queues elsewhere.
    pub overflow_in_transit: u64,
    /// Searches for a route begun.
    pub route_discoveries: u64,
    /// Broken routes repaired on the spot.
    pub route_repairs: u64,
    /// Neighbours taken for lost.
    pub link_failures: u64,
    /// Packets that have been in the router's queues for more than 10 s now.
    pub trapped_pkts: u64,
    /// What packets spent there beyond 10 s, summed over packets, in packet-picoseconds.
    pub trapped_area: u128,
}

/// A routing protocol on one node. That a wire is cut, it is not told: it learns it from what its
/// own messages tell, or asks for the carrier ([`Context::has_carrier`]). Over a medium it is told
/// what could not be delivered.
pub trait Router {
    /// Called once, at time zero, before anything else: arm timers here.
    fn start(&mut self, context: &mut Context<'_>);

    /// A packet wants to be forwarded. Its TTL is already decremented and above zero, its
    /// `hops` counted; its `previous` still names the node that it came from (the source host
    /// or, for a packet born here, the node itself). The router must transmit it, drop it or
    /// keep it.
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId);

    /// A routing message came in on an interface: one meant for this node, a broadcast, or one
    /// that rode on a packet, be it for this node or for another neighbour of the sender.
    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, message: &[u8]);

    /// One of the router's timers fired.
    fn on_timer(&mut self, context: &mut Context<'_>, token: u32);

    /// The queue of an interface has room again, see [`Context::notify_when_below`].
    fn on_interface_ready(&mut self, _context: &mut Context<'_>, _interface: usize) {}

    /// A medium gave up bringing a packet, a routing message among them, to the neighbour on an
    /// interface. The router owns the packet again, without a message that rode on it, and must
    /// transmit it, drop it or keep it.
    fn on_tx_failed(&mut self, context: &mut Context<'_>, _interface: usize, id: PacketId) {
        context.drop(id, DropCause::Radio);
    }

    /// A medium is done with a frame to the neighbour on an interface: it was sent `attempts`
    /// times, the last time at `rate`, and acknowledged or not. A packet that was not comes back
    /// too ([`Router::on_tx_failed`]), before or after this, unless it reached the neighbour
    /// all the same.
    fn on_tx_status(
        &mut self,
        _context: &mut Context<'_>,
        _interface: usize,
        _attempts: u32,
        _delivered: bool,
        _rate: Rate,
    ) {
    }

    /// What the protocol has counted so far.
    fn readings(&self, _now: SimTime) -> RouterReadings {
        RouterReadings::default()
    }

    /// The queue that the router keeps before an interface, if it keeps queues of its own. Their
    /// packets must all be counted here, or the balance of packets does not hold.
    fn queue(&self, _interface: usize) -> Option<RouterQueue> {
        None
    }

    /// The queue that the router keeps before all its interfaces together, likewise.
    fn shared_queue(&self) -> Option<RouterQueue> {
        None
    }

    /// The interface that a packet to the router `exit` would take now, where the protocol has
    /// a table to ask; for tests and for drawing routes.
    fn next_hop(&self, _exit: NodeId) -> Option<usize> {
        None
    }
}
