//! The trait of a medium that hosts and routers share, such as a radio access network.
//!
//! A medium stands between hosts and the routers that they are attached to, in place of the
//! wires of [`Network::attach`], or between routers, in place of the wires of
//! [`Network::connect`]. It holds the packets that it was given until each comes out elsewhere or
//! is given up, and decides itself who sends when.
//!
//! Between routers a medium serves links: pairs of an interface here and one at a neighbour
//! ([`Network::connect_over`]). It queues what it is given, tells how much waits before each
//! transmitter, and says what it learnt: what was heard by others, how often a frame was tried,
//! which packets it could not bring over.

use std::any::Any;

use backlane_engine::{EventQueue, TimerId};
use backlane_units::{Rate, SimTime};

use crate::network::{DropCause, Network};
use crate::over_medium::Emerged;
use crate::packet::{FlowId, LinkId, MediumId, NodeId, Packet, PacketId, PacketStore};
use crate::simulation::Event;

/// A medium that hosts and routers share, all of it behind one value.
pub trait Medium: Any {
    /// Called once, at time zero, after every router's `start`: arm timers here.
    fn start(&mut self, context: &mut MediumContext<'_>);

    /// `node` gives a packet to the medium: a host of the medium sends it, or it is for a host
    /// of the medium (`packet.destination`) and has come to the router `node`, where it leaves
    /// the mesh. Its TTL and `hops` are already those behind that router. The host may be
    /// attached elsewhere by now, if it moved while the packet was under way. The medium must
    /// keep the packet, deliver it, send it back or drop it.
    fn on_packet(&mut self, context: &mut MediumContext<'_>, node: NodeId, id: PacketId);

    /// The router at the near end of `link` sends a packet to its neighbour at the far end. The
    /// medium must keep it, let it arrive, give it back or drop it; and say how much waits now
    /// ([`MediumContext::set_backlog`]). That the link is down, the medium was told and the router
    /// was not. A medium without links drops it.
    fn on_frame(&mut self, context: &mut MediumContext<'_>, _link: LinkId, id: PacketId) {
        context.drop(id, DropCause::Radio);
    }

    /// A router sends a message to all its neighbours on one of its radios, without
    /// acknowledgment. The medium must keep the packet until it was sent
    /// ([`MediumContext::broadcast_sent`]) or drop it; and say how much waits now.
    fn on_broadcast(
        &mut self,
        context: &mut MediumContext<'_>,
        _node: NodeId,
        _radio: u8,
        id: PacketId,
    ) {
        context.drop(id, DropCause::Radio);
    }

    /// From now on nothing comes over `link`, or it works again. Neither router is told.
    fn set_link_up(&mut self, _context: &mut MediumContext<'_>, _link: LinkId, _up: bool) {}

    /// From now on the radios of a router are silent and deaf, or they work again. What waits
    /// in them is lost ([`DropCause::LinkDown`]). The links of the node go down and come up
    /// beside this, each by a call of its own.
    fn set_node_up(&mut self, _context: &mut MediumContext<'_>, _node: NodeId, _up: bool) {}

    /// One of the medium's timers fired.
    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32);

    /// Packets that it holds. They must all be counted here, or the balance of packets does not
    /// hold.
    fn held_pkts(&self) -> usize;
}

/// What media have carried between one router and its hosts, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediumCounters {
    /// Bytes that came out, IP headers included.
    pub bytes: u64,
    /// Packets that came out.
    pub packets: u64,
    /// Packets given up.
    pub drops: u64,
    /// Sum over the packets that came out of their size times their time inside, in
    /// byte-picoseconds: the time integral of what is inside.
    pub area: u128,
}

/// What a medium sees of the world: its own packets, timers and hosts.
pub struct MediumContext<'a> {
    medium: MediumId,
    network: &'a mut Network,
    events: &'a mut EventQueue<Event>,
}

impl<'a> MediumContext<'a> {
    pub(crate) fn new(
        medium: MediumId,
        network: &'a mut Network,
        events: &'a mut EventQueue<Event>,
    ) -> Self {
        Self {
            medium,
            network,
            events,
        }
    }

    pub(crate) fn network(&self) -> &Network {
        self.network
    }

    pub(crate) fn network_mut(&mut self) -> &mut Network {
        self.network
    }

    /// The simulated time.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.events.now()
    }

    /// A packet that the medium was given and still holds.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.network.packets[id]
    }

    /// The same, to change it.
    #[inline]
    pub fn packet_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.network.packets[id]
    }

    /// The packet comes out of the medium at `node`: at the host that it is meant for, or at a
    /// router that passes it on. What follows from it happens after the present hook, in the
    /// order in which packets came out.
    #[inline]
    pub fn deliver(&mut self, node: NodeId, id: PacketId) {
        let now = self.events.now();
        self.network.count_carried(node, id, now);
        self.network.emerged.push_back(Emerged::Out(node, id));
    }

    /// Routes a packet that is for a host of the medium through the mesh, from the router `node`
    /// to the one where the host is attached now; there it comes to [`Medium::on_packet`] again. It
    /// takes effect as [`MediumContext::deliver`] does.
    pub fn reroute(&mut self, node: NodeId, id: PacketId) {
        let exit = self.network.exit_of(self.network.packets[id].destination);
        let tunnel_bytes = self.network.tunnel_bytes();
        let packet = &mut self.network.packets[id];
        packet.exit = exit;
        packet.previous = node;
        if exit != node {
            packet.size_bytes += tunnel_bytes;
        }
        self.network.emerged.push_back(Emerged::Out(node, id));
    }

    /// Gives a packet up.
    pub fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.network.count_dropped(self.medium, id);
        self.network.drop_packet(id, cause);
    }

    /// All packets, as queue disciplines want them ([`crate::QueueDiscipline`]).
    #[inline]
    pub fn packets_mut(&mut self) -> &mut PacketStore {
        &mut self.network.packets
    }

    /// The packet comes out at the far end of `link`. Like all that a medium tells of its links,
    /// it takes effect after the present hook, in the order in which it was told. A packet that
    /// has come out and whose sender heard no acknowledgment is not given back:
    /// [`MediumContext::tx_status`] alone tells of it.
    #[inline]
    pub fn receive(&mut self, link: LinkId, id: PacketId) {
        let bytes = self.network.packets[id].size_bytes;
        self.network.link_mut(link).count_arrival(bytes);
        self.network.emerged.push_back(Emerged::Arrived(link, id));
    }

    /// The far end of `link` decoded a frame with a message in it that was not for it alone: a
    /// broadcast, or a packet with a message riding on it for another neighbour. The medium must
    /// still hold the packet. A routing message for another neighbour is not passed on.
    #[inline]
    pub fn overhear(&mut self, link: LinkId, id: PacketId) {
        let packet = &self.network.packets[id];
        let for_one = packet.flow == FlowId::NONE && packet.destination != NodeId::NONE;
        if !for_one && let Some(message) = &packet.message {
            let heard = Emerged::Heard(link, packet.ttl, message.clone());
            self.network.emerged.push_back(heard);
        }
    }

    /// The broadcast `id` was sent, whoever heard it.
    #[inline]
    pub fn broadcast_sent(&mut self, id: PacketId) {
        self.network.deliver(id);
    }

    /// The medium gives up bringing a packet over `link`; it is the sending router's again
    /// ([`crate::Router::on_tx_failed`]).
    pub fn tx_failed(&mut self, link: LinkId, id: PacketId) {
        self.network.link_mut(link).count_drop();
        self.network.emerged.push_back(Emerged::GivenBack(link, id));
    }

    /// A frame over `link` is done with: it was sent `attempts` times, the last time at `rate`,
    /// and was acknowledged or not.
    #[inline]
    pub fn tx_status(&mut self, link: LinkId, attempts: u32, delivered: bool, rate: Rate) {
        self.network.emerged.push_back(Emerged::Attempted {
            link,
            attempts,
            delivered,
            rate,
        });
    }

    /// Packets that wait before the transmitter of a radio now, the one in service not counted,
    /// and whether one is in service. Routers that wait for room are called.
    #[inline]
    pub fn set_backlog(&mut self, node: NodeId, radio: u8, waiting: u32, in_service: bool) {
        self.network.set_backlog(node, radio, waiting, in_service);
    }

    /// Attaches a host of the medium to another router: packets sent from now on leave the mesh
    /// there. Those under way still come to the old router, and [`Medium::on_packet`] is told so.
    pub fn move_host(&mut self, host: NodeId, router: NodeId) {
        self.network.attach_over(host, router, self.medium);
    }

    /// A timer that calls [`Medium::on_timer`] with `token` when it fires.
    pub fn timer(&mut self, token: u32) -> TimerId {
        self.events.timer(Event::Medium {
            medium: self.medium,
            token,
        })
    }

    /// Arms or moves a timer.
    #[inline]
    pub fn set_timer(&mut self, timer: TimerId, at: SimTime) {
        self.events.set(timer, at);
    }

    /// Goes on to `at` within the present hook, as if a timer of this `token` had been set to it
    /// and had fired: nothing else happens before, and nobody is to be told of what the medium
    /// has done so far. False, and nothing is changed, if that is not so; then the timer must be
    /// set. What the medium does often and tells nobody of, it saves the way through the event
    /// queue.
    #[inline]
    pub fn try_advance(&mut self, token: u32, at: SimTime) -> bool {
        let quiet = self.network.emerged.is_empty() && self.network.captured.pending.is_empty();
        if !quiet || self.network.is_traced || !self.events.try_advance(at) {
            return false;
        }
        let medium = self.medium;
        self.network
            .digest
            .add(Event::Medium { medium, token }.at(at));
        true
    }

    /// Disarms a timer.
    #[inline]
    pub fn cancel_timer(&mut self, timer: TimerId) {
        self.events.cancel(timer);
    }
}
