//! The trait of sources and sinks.

use super::HostContext;
use crate::capture::TransportHeader;
use crate::packet::{FlowId, NodeId, Packet, PacketId};

/// The sources and sinks of a simulation, all behind one value.
pub trait Application {
    /// A packet has reached its destination. It is freed when this returns; the clock is at its
    /// arrival, and its `hops` and `path` are final.
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId);

    /// A timer of the application fired: the endpoint `id` and the `token` that it was made with.
    fn on_timer(&mut self, context: &mut HostContext<'_>, id: u32, token: u32);

    /// A packet was dropped for [`DropCause::Queue`](crate::DropCause::Queue) before it left its
    /// first router. The packet is already freed, and this is a copy. Called after the hook that
    /// dropped it.
    fn on_source_drop(&mut self, _context: &mut HostContext<'_>, _packet: &Packet) {}

    /// A wire has duplicated a packet: what the transport keeps of `id` belongs to `copy` too.
    fn on_duplicate(&mut self, _id: PacketId, _copy: PacketId) {}

    /// Prefetches a step of what a timer of the endpoint `id` will need: 0 is its own record, 1 and 2
    /// what that leads to. With steps 1 and 2, the source and the destination of what it will send.
    fn prefetch(&self, _id: u32, _step: u8) -> Option<(NodeId, NodeId)> {
        None
    }

    /// Prefetches what the delivery of a packet of a flow will need.
    fn prefetch_delivery(&self, _flow: FlowId) {}

    /// The transport header of one of the application's packets under way, for captures.
    fn transport_header(&self, _id: PacketId, _packet: &Packet) -> TransportHeader {
        TransportHeader::default()
    }
}
