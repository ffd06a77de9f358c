//! What runs at the edge: sources and sinks.

use backlane_engine::EventQueue;

use crate::capture::TransportHeader;
use crate::network::Network;
use crate::packet::{Packet, PacketId};
use crate::simulation::Event;

/// Sources and sinks of a simulation, all behind one value.
pub trait Application {
    /// A packet has reached its destination. It is freed when this returns; the clock is at its
    /// arrival, and its `hops` and `path` are final.
    fn on_packet(&mut self, network: &mut Network, events: &mut EventQueue<Event>, id: PacketId);

    /// An [`Event::Application`] fired.
    fn on_event(
        &mut self,
        network: &mut Network,
        events: &mut EventQueue<Event>,
        id: u32,
        token: u32,
    );

    /// The transport header of a packet of its own that is under way, for captures.
    fn transport_header(&self, _id: PacketId, _packet: &Packet) -> TransportHeader {
        TransportHeader::default()
    }

    /// A packet was dropped for [`crate::DropCause::Queue`] before it left its first router: its
    /// own node refused it. It is already freed, and this is a copy. Called after the hook that
    /// dropped it.
    fn on_refused(
        &mut self,
        _network: &mut Network,
        _events: &mut EventQueue<Event>,
        _packet: &Packet,
    ) {
    }
}
