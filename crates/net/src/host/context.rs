//! The context of an application's hooks.

use backlane_engine::{EventQueue, TimerId};
use backlane_units::SimTime;

use crate::event::Event;
use crate::network::Network;
use crate::packet::{FlowId, NodeId, Packet, PacketId};
use crate::router::Router;

/// What an application may see and do: the packet that it is given, its timers, and sending.
pub struct HostContext<'a> {
    network: &'a mut Network,
    events: &'a mut EventQueue<Event>,
    routers: &'a [Option<Box<dyn Router>>],
}

impl<'a> HostContext<'a> {
    #[inline]
    pub(crate) fn new(
        network: &'a mut Network,
        events: &'a mut EventQueue<Event>,
        routers: &'a [Option<Box<dyn Router>>],
    ) -> Self {
        Self {
            network,
            events,
            routers,
        }
    }

    /// The simulated time.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.events.now()
    }

    /// A packet that has reached its destination, or that was sent just now.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.network.packets[id]
    }

    /// Sends a packet from its source. `exit`, `previous` and `queued_at` are filled in.
    #[inline]
    pub fn send(&mut self, packet: Packet) -> PacketId {
        self.network.send(self.events, packet)
    }

    /// Packets of a flow that wait at the first router of the node `source`, where that router
    /// keeps a queue for each flow ([`Router::flow_backlog_pkts`]).
    pub fn first_hop_backlog_pkts(&self, source: NodeId, flow: FlowId) -> u32 {
        let entry = self.network.exit_of(source);
        let router = self.routers.get(entry.index()).and_then(Option::as_deref);
        router.map_or(0, |router| router.flow_backlog_pkts(flow))
    }

    /// A timer that calls [`Application::on_timer`](crate::Application::on_timer) with `id` and
    /// `token` when it fires.
    pub fn timer(&mut self, id: u32, token: u32) -> TimerId {
        self.events.timer(Event::Application { id, token })
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

    /// Calls [`Application::on_timer`](crate::Application::on_timer) once, at `at`.
    pub fn call_at(&mut self, at: SimTime, id: u32, token: u32) {
        self.events.once(at, Event::Application { id, token });
    }
}
