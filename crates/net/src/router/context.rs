//! The context of a router's hooks.

use std::sync::Arc;

use backlane_engine::{EventQueue, TimerId};
use backlane_units::SimTime;

use crate::counters::DropCause;
use crate::event::Event;
use crate::medium::mailbox::MediumRequest;
use crate::network::{Interface, Network};
use crate::packet::{
    FlowId, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, NodeId, Packet, PacketId, UDP_HEADER_BYTES,
};

/// Bytes of the headers before a routing message.
const UDP: u32 = IPV4_HEADER_BYTES + UDP_HEADER_BYTES;
const BARE: u32 = IPV4_HEADER_BYTES;
const UDP_OVER_IPV6: u32 = IPV6_HEADER_BYTES + UDP_HEADER_BYTES;

/// What a router may see and do: its own node, and the packets that it is given.
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

    /// The interfaces towards other routers. A router's hosts are not among them, since packets
    /// for them never reach the router.
    #[inline]
    pub fn interfaces(&self) -> &[Interface] {
        self.network.mesh_interfaces(self.node)
    }

    /// A packet that the router was given and has neither sent nor dropped.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.network.packets[id]
    }

    /// A packet that the router was given, for changes.
    #[inline]
    pub fn packet_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.network.packets[id]
    }

    /// The router by which a packet entered the mesh: where its source is attached now. For
    /// protocols whose header carries it.
    #[inline]
    pub fn entry_of(&self, id: PacketId) -> NodeId {
        self.network.exit_of(self.network.packets[id].source)
    }

    /// Whether the wire of an interface has carrier. A medium has no carrier: always true there.
    #[inline]
    pub fn has_carrier(&self, interface: usize) -> bool {
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        let link = &self.network.links()[link.index()];
        link.has_carrier() || link.is_over_medium()
    }

    /// Prefetches a packet that will be needed soon into the processor's cache.
    #[inline]
    pub fn touch(&self, id: PacketId) {
        self.network.packets.prefetch(id);
    }

    /// Puts a packet into the queue of an interface (an index into [`Context::interfaces`]).
    #[inline]
    pub fn transmit(&mut self, interface: usize, id: PacketId) {
        self.network.packets[id].previous = self.node;
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.enqueue(self.events, link, id);
    }

    /// From now on packets for an exit leave by this interface, as by [`Context::transmit`], without
    /// a call of the router.
    pub fn install_route(&mut self, exit: NodeId, interface: usize) {
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.install_route(self.node, exit, link);
    }

    /// From now on the router is called for packets for an exit.
    pub fn remove_route(&mut self, exit: NodeId) {
        self.network.remove_route(self.node, exit);
    }

    /// Puts a packet into the queue of an interface with a message that it carries for one hop:
    /// the packet is larger by the message's length until the far end has taken the message off
    /// ([`Router::on_message`](crate::Router::on_message) comes before
    /// [`Router::on_packet`](crate::Router::on_packet) there). Over a medium other neighbours
    /// may overhear it.
    pub fn transmit_with(&mut self, interface: usize, id: PacketId, message: Arc<[u8]>) {
        let bytes = message.len() as u32;
        self.network.count_message(self.node, bytes);
        let packet = &mut self.network.packets[id];
        packet.size_bytes += bytes;
        packet.message = Some(message);
        self.transmit(interface, id);
    }

    /// Takes back the packets that wait for the neighbour on an interface of a medium
    /// ([`Router::on_withdrawn`](crate::Router::on_withdrawn) follows for each, after the present
    /// hook). What is in transmission stays; so do packets on wires and in queue disciplines that
    /// cannot return them.
    pub fn withdraw(&mut self, interface: usize) {
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        if self.network.links()[link.index()].is_over_medium() {
            self.network.mailbox.request(MediumRequest::Withdraw(link));
        }
    }

    /// Drops a packet.
    pub fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.network.drop_packet(id, cause);
    }

    /// Packets that wait in the queue of an interface; the one in transmission does not count.
    /// Interfaces of one radio have one queue.
    #[inline]
    pub fn device_backlog_pkts(&mut self, interface: usize) -> usize {
        let now = self.events.now();
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.transmitter_backlog_pkts(link, now)
    }

    /// Whether the transmitter of an interface neither sends nor has anything to send.
    pub fn device_is_idle(&mut self, interface: usize) -> bool {
        let now = self.events.now();
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.transmitter_is_idle(link, now)
    }

    /// Calls [`Router::on_interface_ready`](crate::Router::on_interface_ready) as soon as fewer
    /// than `pkts` packets wait in the interface's queue, or for zero `pkts` as soon as its
    /// transmitter is idle; if that is so already, after the present hook or in the next event.
    /// Wires support this with plain drop-tail queues, whose departures are known in advance, and
    /// with a capacity trace. The interfaces of one radio that wait are called in turn, as long as there is
    /// room.
    #[inline]
    pub fn notify_when_below(&mut self, interface: usize, pkts: usize) {
        let link = self.network.mesh_interfaces(self.node)[interface].outgoing;
        self.network.notify_when_below(self.events, link, pkts);
    }

    /// Sends a routing message to the neighbour on an interface, in a UDP datagram of its own:
    /// `message.len()` + 28 bytes on the link.
    pub fn send_message(&mut self, interface: usize, message: Arc<[u8]>) {
        self.send_over(UDP, interface, message);
    }

    /// Sends a routing message to the neighbour on an interface, in an IP datagram of its own
    /// without a transport header: `message.len()` + 20 bytes on the link.
    pub fn send_over_ip(&mut self, interface: usize, message: Arc<[u8]>) {
        self.send_over(BARE, interface, message);
    }

    /// Sends a routing message to the neighbour on an interface, in a UDP datagram over IPv6 of its
    /// own: `message.len()` + 48 bytes on the link.
    pub fn send_over_ipv6(&mut self, interface: usize, message: Arc<[u8]>) {
        self.send_over(UDP_OVER_IPV6, interface, message);
    }

    /// Sends a routing message to the neighbour on an interface as the payload of a frame, without
    /// IP: `message.len()` bytes on the link.
    pub fn send_frame(&mut self, interface: usize, message: Arc<[u8]>) {
        self.send_over(0, interface, message);
    }

    fn send_over(&mut self, header_bytes: u32, interface: usize, message: Arc<[u8]>) {
        let peer = self.network.mesh_interfaces(self.node)[interface].peer;
        let id = self.inject_message(peer, None, header_bytes, message);
        self.transmit(interface, id);
    }

    /// Sends a routing message to all neighbours, in a UDP datagram: one frame on each radio,
    /// without acknowledgment, and a copy on each wire. The network does not forward it: its
    /// `ttl` is for the protocol, which gets it in
    /// [`Router::on_message`](crate::Router::on_message).
    pub fn broadcast(&mut self, ttl: u8, message: &Arc<[u8]>) {
        for interface in 0..self.interfaces().len() {
            let Interface { peer, radio, .. } = self.interfaces()[interface];
            if radio.is_none() {
                let id = self.inject_message(peer, Some(ttl), UDP, message.clone());
                self.transmit(interface, id);
            }
        }
        for radio in 0..self.network.radio_count(self.node) as u8 {
            self.broadcast_over(radio, ttl, message.clone());
        }
    }

    /// Sends a routing message to all neighbours on one radio, as [`Context::broadcast`] does.
    pub fn broadcast_over(&mut self, radio: u8, ttl: u8, message: Arc<[u8]>) {
        let id = self.inject_message(NodeId::NONE, Some(ttl), UDP, message);
        self.network.broadcast_over(self.node, radio, id);
    }

    /// Sends a routing message to all neighbours on one radio, in a UDP datagram over IPv6 with hop
    /// limit 1.
    pub fn broadcast_over_ipv6(&mut self, radio: u8, message: Arc<[u8]>) {
        let id = self.inject_message(NodeId::NONE, Some(1), UDP_OVER_IPV6, message);
        self.network.broadcast_over(self.node, radio, id);
    }

    /// Sends a routing message to all neighbours on one radio as the payload of a frame, without
    /// IP.
    pub fn broadcast_frame(&mut self, radio: u8, message: Arc<[u8]>) {
        let id = self.inject_message(NodeId::NONE, None, 0, message);
        self.network.broadcast_over(self.node, radio, id);
    }

    fn inject_message(
        &mut self,
        peer: NodeId,
        ttl: Option<u8>,
        header_bytes: u32,
        message: Arc<[u8]>,
    ) -> PacketId {
        let size_bytes = message.len() as u32 + header_bytes;
        self.network.count_message(self.node, size_bytes);
        let mut packet = Packet::new(FlowId::NONE, self.node, peer, size_bytes);
        packet.ttl = ttl.unwrap_or(packet.ttl);
        packet.queued_at = self.events.now();
        packet.message = Some(message);
        self.network.inject(packet)
    }

    /// A timer that calls [`Router::on_timer`](crate::Router::on_timer) with `token` when it
    /// fires.
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
