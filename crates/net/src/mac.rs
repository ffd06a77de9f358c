//! The trait of a medium that hosts and routers share, such as a radio access network.
//!
//! A medium stands between hosts and the routers that they are attached to, in place of the
//! wires of [`Network::attach`]. It holds the packets that it was given until each comes out
//! elsewhere or is given up, and decides itself who sends when.

use std::any::Any;

use backlane_engine::{EventQueue, TimerId};
use backlane_units::SimTime;

use crate::network::{DropCause, Network};
use crate::packet::{MacId, NodeId, Packet, PacketId};
use crate::simulation::Event;

/// A medium that hosts and routers share, all of it behind one value.
pub trait Mac: Any {
    /// Called once, at time zero, after every router's `start`: arm timers here.
    fn start(&mut self, context: &mut MacContext<'_>);

    /// `node` gives a packet to the medium: a host of the medium sends it, or it is for a host
    /// of the medium (`packet.destination`) and has come to the router `node`, where it leaves
    /// the mesh. Its TTL and `hops` are already those behind that router. The host may be
    /// attached elsewhere by now, if it moved while the packet was under way. The medium must
    /// keep the packet, deliver it, send it back or drop it.
    fn on_packet(&mut self, context: &mut MacContext<'_>, node: NodeId, id: PacketId);

    /// One of the medium's timers fired.
    fn on_timer(&mut self, context: &mut MacContext<'_>, token: u32);

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
pub struct MacContext<'a> {
    mac: MacId,
    network: &'a mut Network,
    events: &'a mut EventQueue<Event>,
}

impl<'a> MacContext<'a> {
    pub(crate) fn new(
        mac: MacId,
        network: &'a mut Network,
        events: &'a mut EventQueue<Event>,
    ) -> Self {
        Self {
            mac,
            network,
            events,
        }
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
        self.network.emerged.push((node, id));
    }

    /// Routes a packet that is for a host of the medium through the mesh, from the router `node`
    /// to the one where the host is attached now; there it comes to [`Mac::on_packet`] again. It
    /// takes effect as [`MacContext::deliver`] does.
    pub fn send_back(&mut self, node: NodeId, id: PacketId) {
        let exit = self.network.exit_of(self.network.packets[id].destination);
        let tunnel_bytes = self.network.tunnel_bytes();
        let packet = &mut self.network.packets[id];
        packet.exit = exit;
        packet.previous = node;
        if exit != node {
            packet.size_bytes += tunnel_bytes;
        }
        self.network.emerged.push((node, id));
    }

    /// Gives a packet up.
    pub fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.network.count_dropped(id);
        self.network.drop_packet(id, cause);
    }

    /// Attaches a host of the medium to another router: packets sent from now on leave the mesh
    /// there. Those under way still come to the old router, and [`Mac::on_packet`] is told so.
    pub fn move_host(&mut self, host: NodeId, router: NodeId) {
        self.network.attach_to_mac(host, router, self.mac);
    }

    /// A timer that calls [`Mac::on_timer`] with `token` when it fires.
    pub fn timer(&mut self, token: u32) -> TimerId {
        self.events.timer(Event::Mac {
            mac: self.mac,
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
