//! The trait of sources and sinks.

use super::HostContext;
use crate::capture::TransportHeader;
use crate::packet::{Packet, PacketId};

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

    /// The transport header of one of the application's packets under way, for captures.
    fn transport_header(&self, _id: PacketId, _packet: &Packet) -> TransportHeader {
        TransportHeader::default()
    }
}
