//! The trait of a medium.

use std::any::Any;

use super::MediumContext;
use crate::counters::DropCause;
use crate::packet::{LinkId, NodeId, PacketId};

/// A medium that hosts and routers share, with all of its stations behind one value.
pub trait Medium: Any + Send {
    /// Called once, at time zero, after every router's `start`: arm timers here.
    fn start(&mut self, context: &mut MediumContext<'_>);

    /// `node` gives a packet to the medium. Either a host of the medium sends it, or the packet
    /// is for a host of the medium (`packet.destination`) and has reached the router `node`,
    /// where it leaves the mesh. Its TTL and `hops` already count that router. A host that moved
    /// while the packet was under way may be attached to another router now. The medium must
    /// keep the packet, deliver it, reroute it or drop it.
    fn on_packet(&mut self, context: &mut MediumContext<'_>, node: NodeId, id: PacketId);

    /// The router at the near end of `link` sends a packet to its neighbour at the far end. The
    /// medium must keep it, indicate its reception or its failure, or drop it, and must report
    /// its backlog ([`MediumContext::set_backlog`]). A failed link is known to the medium and
    /// not to the router. A medium without links drops the packet.
    fn on_frame(&mut self, context: &mut MediumContext<'_>, _link: LinkId, id: PacketId) {
        context.drop(id, DropCause::Radio);
    }

    /// A router sends a message to all its neighbours on one of its radios, without
    /// acknowledgment. The medium must keep the packet until it was sent
    /// ([`MediumContext::broadcast_sent`]) or drop it, and must report its backlog.
    fn on_broadcast(
        &mut self,
        context: &mut MediumContext<'_>,
        _node: NodeId,
        _radio: u8,
        id: PacketId,
    ) {
        context.drop(id, DropCause::Radio);
    }

    /// The router at the near end of `link` wants the packets back that wait for this link and are
    /// not in transmission ([`MediumContext::withdrawn`] for each, then its backlog). A medium
    /// without this keeps them.
    fn withdraw(&mut self, _context: &mut MediumContext<'_>, _link: LinkId) {}

    /// From now on nothing passes over `link`, or it works again. Neither router is notified.
    fn set_link_up(&mut self, _context: &mut MediumContext<'_>, _link: LinkId, _up: bool) {}

    /// From now on the radios of a router neither send nor receive, or they work again. The
    /// packets queued in them are lost ([`DropCause::LinkDown`]). The links of the node fail and
    /// recover in separate calls.
    fn set_node_up(&mut self, _context: &mut MediumContext<'_>, _node: NodeId, _up: bool) {}

    /// One of the medium's timers fired.
    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32);

    /// The number of packets that the medium holds. It must count all of them, or the balance of
    /// packets does not hold.
    fn held_pkts(&self) -> usize;
}
