//! The trait that a routing protocol implements, one instance per node.

use std::sync::Arc;

use backlane_engine::{EventQueue, TimerId};
use backlane_units::SimTime;

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

    /// Gives a packet up.
    pub fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.network.drop_packet(id, cause);
    }

    /// Packets that wait in the queue of an interface; the one in transmission does not count.
    #[inline]
    pub fn device_backlog_pkts(&mut self, interface: usize) -> usize {
        let now = self.events.now();
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.link_mut(link).backlog_pkts(now)
    }

    /// Calls [`Router::on_interface_ready`] as soon as fewer than `pkts` packets wait in the
    /// interface's queue; at once (in the next event) if that is so already. Only on links with
    /// plain drop-tail queues, whose departures are known in advance.
    #[inline]
    pub fn call_when_ready(&mut self, interface: usize, pkts: usize) {
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.call_when_ready(self.events, link, pkts);
    }

    /// Sends a routing message to the neighbour on an interface, in a UDP datagram of its own:
    /// `message.len()` + 28 bytes on the link.
    pub fn send_message(&mut self, interface: usize, message: Arc<[u8]>) {
        let peer = self.network.mesh_interfaces(self.node)[interface].peer;
        let id = self.network.inject(Packet {
            flow: FlowId::NONE,
            reverse: false,
            ttl: INITIAL_TTL,
            hops: 0,
            ecn: Ecn::NotCapable,
            size_bytes: message.len() as u32 + IPV4_HEADER_BYTES + UDP_HEADER_BYTES,
            source: self.node,
            destination: peer,
            exit: peer,
            previous: self.node,
            path: 0,
            sequence: 0,
            queued_at: self.events.now(),
            message: Some(message),
        });
        self.transmit(interface, id);
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

/// A routing protocol on one node. That a wire is cut, it learns only from what its own messages
/// tell.
pub trait Router {
    /// Called once, at time zero, before anything else: arm timers here.
    fn start(&mut self, context: &mut Context<'_>);

    /// A packet wants to be forwarded. Its TTL is already decremented and above zero, its
    /// `hops` counted; its `previous` still names the node that it came from (the source host
    /// or, for a packet born here, the node itself). The router must transmit it, drop it or
    /// keep it.
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId);

    /// A routing message came in on an interface.
    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, message: &[u8]);

    /// One of the router's timers fired.
    fn on_timer(&mut self, context: &mut Context<'_>, token: u32);

    /// The queue of an interface has room again, see [`Context::call_when_ready`].
    fn on_interface_ready(&mut self, _context: &mut Context<'_>, _interface: usize) {}

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
