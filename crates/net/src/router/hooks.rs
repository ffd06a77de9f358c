//! The trait of a routing protocol.

use backlane_units::{Rate, SimTime};

use super::Context;
use crate::counters::{DropCause, RouterQueue};
use crate::packet::{FlowId, NodeId, Packet, PacketId};

/// A measure that a routing protocol keeps, by name.
pub type Reading = (&'static str, u128);

/// Several paths among which a router has chosen for a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// The first interfaces of all of them, in order.
    pub interfaces: Vec<u16>,
    /// The one of the flow.
    pub chosen: u16,
}

/// A routing protocol on one node. It learns of the failure of a wire from its own messages, or by
/// the carrier ([`Router::on_carrier`], [`Context::has_carrier`]). Over a medium it gets the status
/// of its transmissions.
pub trait Router: Send {
    /// Called once, at time zero, before anything else: arm timers here.
    fn start(&mut self, context: &mut Context<'_>);

    /// A packet is to be forwarded. Its TTL is already decremented and above zero and its `hops`
    /// are counted. Its `previous` still names the node that it came from (the source host, or
    /// the node itself for a packet that this node sends). The router must transmit it, drop it
    /// or keep it.
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId);

    /// A routing message was received on an interface: one for this node, a broadcast, or one
    /// that a packet carried, be it for this node or for another neighbour of the sender. `ttl`
    /// is the TTL of the IP packet that carried it.
    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, ttl: u8, message: &[u8]);

    /// One of the router's timers fired.
    fn on_timer(&mut self, context: &mut Context<'_>, token: u32);

    /// A wire has failed or works again, and this is what its carrier is now: a silent failure leaves
    /// it. All links that change at this time are already updated. Not called over a medium.
    fn on_carrier(&mut self, _context: &mut Context<'_>, _interface: usize, _present: bool) {}

    /// The node fails, or works again. Its links are already updated; their carriers are reported
    /// after this.
    fn on_power(&mut self, _context: &mut Context<'_>, _on: bool) {}

    /// The queue of an interface has room again, see [`Context::notify_when_below`].
    fn on_interface_ready(&mut self, _context: &mut Context<'_>, _interface: usize) {}

    /// A medium gave up sending a packet, be it data or a routing message, to the neighbour on
    /// an interface. The router owns the packet again, without a message that it carried, and
    /// must transmit it, drop it or keep it.
    fn on_tx_failed(&mut self, context: &mut Context<'_>, _interface: usize, id: PacketId) {
        context.drop(id, DropCause::Radio);
    }

    /// A medium returns a packet that waited for the neighbour on an interface
    /// ([`Context::withdraw`]), without a message that it carried. The router must transmit it, drop
    /// it or keep it.
    fn on_withdrawn(&mut self, context: &mut Context<'_>, _interface: usize, id: PacketId) {
        context.drop(id, DropCause::Radio);
    }

    /// A medium has completed a frame to the neighbour on an interface: the frame was sent
    /// `attempts` times, the last time at `rate`, and was acknowledged or not. The packet of a
    /// frame without acknowledgment is returned too ([`Router::on_tx_failed`]), before or after
    /// this, unless the neighbour has received it.
    fn on_tx_status(
        &mut self,
        _context: &mut Context<'_>,
        _interface: usize,
        _attempts: u32,
        _delivered: bool,
        _rate: Rate,
    ) {
    }

    /// The measures of the protocol so far, for results.
    fn readings(&self, _now: SimTime) -> Vec<Reading> {
        Vec::new()
    }

    /// Packets of a flow that wait in the router, where it keeps a queue for each flow: a source
    /// may adapt its rate to the backlog at its first router.
    fn flow_backlog_pkts(&self, _flow: FlowId) -> u32 {
        0
    }

    /// The queue that the router keeps before an interface, if it keeps queues of its own. It
    /// must count all of their packets, or the balance of packets does not hold.
    fn queue(&self, _interface: usize) -> Option<RouterQueue> {
        None
    }

    /// The queue that the router keeps before all its interfaces together, likewise.
    fn shared_queue(&self) -> Option<RouterQueue> {
        None
    }

    /// The interfaces among which the router chooses for packets like this one, and the one that it
    /// has for all of this flow; `None` where it has one path, or decides packet by packet.
    fn division(&self, _packet: &Packet) -> Option<Division> {
        None
    }

    /// The interface that a packet to the router `exit` would take now, where the protocol has a
    /// routing table; for tests and for drawing routes.
    fn next_hop(&self, _exit: NodeId) -> Option<usize> {
        None
    }
}
