//! The context of a medium's hooks.

use backlane_engine::{EventQueue, TimerId};
use backlane_units::{Rate, SimTime};

use super::mailbox::MediumIndication;
use crate::capture::AirFrame;
use crate::counters::DropCause;
use crate::event::Event;
use crate::event_log::EventLog;
use crate::network::Network;
use crate::packet::{FlowId, LinkId, MediumId, NodeId, Packet, PacketId, PacketStore};

/// What a medium may see and do: its own packets, timers and hosts.
pub struct MediumContext<'a> {
    medium: MediumId,
    network: &'a mut Network,
    events: &'a mut EventQueue<Event>,
    log: &'a mut EventLog,
}

impl<'a> MediumContext<'a> {
    pub(crate) fn new(
        medium: MediumId,
        network: &'a mut Network,
        events: &'a mut EventQueue<Event>,
        log: &'a mut EventLog,
    ) -> Self {
        Self {
            medium,
            network,
            events,
            log,
        }
    }

    /// The simulated time.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.events.now()
    }

    /// A packet that the medium holds.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.network.packets[id]
    }

    /// A packet that the medium holds, for changes.
    #[inline]
    pub fn packet_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.network.packets[id]
    }

    /// All packets, for [queue disciplines](crate::QueueDiscipline).
    #[inline]
    pub fn packets_mut(&mut self) -> &mut PacketStore {
        &mut self.network.packets
    }

    /// The packet leaves the medium at `node`: at its destination host, or at a router that
    /// forwards it. Like all indications, it takes effect after the present hook, in the order
    /// in which they were made.
    #[inline]
    pub fn deliver(&mut self, node: NodeId, id: PacketId) {
        let now = self.events.now();
        self.network.count_access_delivery(node, id, now);
        self.indicate(MediumIndication::Delivered(node, id));
    }

    /// Routes a packet that is for a host of the medium through the mesh, from the router `node`
    /// to the one where the host is attached now. It comes to
    /// [`Medium::on_packet`](crate::Medium::on_packet) there. An indication, like
    /// [`MediumContext::deliver`].
    pub fn reroute(&mut self, node: NodeId, id: PacketId) {
        self.network.reroute(node, id);
        self.indicate(MediumIndication::Delivered(node, id));
    }

    /// Drops a packet.
    pub fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.network.count_access_drop(self.medium, id);
        self.network.drop_packet(id, cause);
    }

    /// The far end of `link` receives the packet. A packet that was received, but whose sender
    /// decoded no acknowledgment, does not fail: [`MediumContext::tx_status`] alone reports it.
    #[inline]
    pub fn receive(&mut self, link: LinkId, id: PacketId) {
        let bytes = self.network.packets[id].size_bytes;
        self.network.link_mut(link).count_reception(bytes);
        self.indicate(MediumIndication::Received(link, id));
    }

    /// The far end of `link` decoded a frame with a message that was not for it alone: a
    /// broadcast, or a packet for another neighbour that carries a message. The medium must
    /// still hold the packet. A separate routing message for another neighbour is not passed on.
    #[inline]
    pub fn overhear(&mut self, link: LinkId, id: PacketId) {
        let packet = &self.network.packets[id];
        let for_one = packet.flow == FlowId::NONE && packet.destination != NodeId::NONE;
        if !for_one && let Some(message) = &packet.message {
            let overheard = MediumIndication::Overheard(link, packet.ttl, message.clone());
            self.indicate(overheard);
        }
    }

    /// The broadcast `id` was sent, whether or not a neighbour decoded it.
    #[inline]
    pub fn broadcast_sent(&mut self, id: PacketId) {
        self.network.deliver(id);
    }

    /// The medium gives up sending a packet over `link` and returns it to the sending router
    /// ([`Router::on_tx_failed`](crate::Router::on_tx_failed)).
    pub fn tx_failed(&mut self, link: LinkId, id: PacketId) {
        self.network.link_mut(link).count_drop();
        self.indicate(MediumIndication::TxFailed(link, id));
    }

    /// Returns a packet that waited for `link` to the sending router, at its request
    /// ([`Router::on_withdrawn`](crate::Router::on_withdrawn)).
    pub fn withdrawn(&mut self, link: LinkId, id: PacketId) {
        self.network.link_mut(link).count_drop();
        self.indicate(MediumIndication::Withdrawn(link, id));
    }

    /// A frame over `link` is complete: it was sent `attempts` times, the last time at `rate`,
    /// and was acknowledged or not.
    #[inline]
    pub fn tx_status(&mut self, link: LinkId, attempts: u32, delivered: bool, rate: Rate) {
        self.indicate(MediumIndication::TxStatus {
            link,
            attempts,
            delivered,
            rate,
        });
    }

    /// Reports the number of packets that wait before the transmitter of a radio, the one in
    /// service not counted, and whether one is in service. Routers that wait for room are
    /// notified.
    #[inline]
    pub fn set_backlog(&mut self, node: NodeId, radio: u8, waiting: u32, in_service: bool) {
        let mailbox = &mut self.network.mailbox;
        mailbox.set_backlog(node, radio, waiting, in_service);
    }

    /// Attaches a host of the medium to another router: packets sent from now on leave the mesh
    /// there. Packets under way still come to the old router, and
    /// [`Medium::on_packet`](crate::Medium::on_packet) gets them with that router.
    pub fn move_host(&mut self, host: NodeId, router: NodeId) {
        self.network.attach_over(host, router, self.medium);
    }

    /// A timer that calls [`Medium::on_timer`](crate::Medium::on_timer) with `token` when it
    /// fires.
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

    /// Disarms a timer.
    #[inline]
    pub fn cancel_timer(&mut self, timer: TimerId) {
        self.events.cancel(timer);
    }

    /// Advances the clock to `at`, counts an event of this `token`, and returns true, if no
    /// other event is due by then and this hook has made no indications. Otherwise it returns
    /// false and changes nothing; the medium arms its timer instead. The effect on a run is that
    /// of the timer; this saves an entry of the event queue for each internal event of a medium.
    #[inline]
    pub fn try_advance(&mut self, token: u32, at: SimTime) -> bool {
        let quiet = self.network.mailbox.is_empty() && self.network.capture.is_flushed();
        if !quiet || !self.events.try_advance(at) {
            return false;
        }
        let medium = self.medium;
        self.log.record(Event::Medium { medium, token }, at);
        true
    }

    /// Whether frames at a node are captured.
    #[inline]
    pub fn is_captured(&self, node: NodeId) -> bool {
        self.network.capture.is_captured(node)
    }

    /// Whether any node is captured.
    #[inline]
    pub fn is_capturing(&self) -> bool {
        self.network.capture.is_on()
    }

    /// Captures a frame that a radio of a node sends, or has decoded. `packet` is the packet
    /// behind the frame's header, if the medium or its far end still holds it. Worth a call only
    /// where [`MediumContext::is_captured`].
    pub fn capture_frame(
        &mut self,
        node: NodeId,
        radio: u8,
        sent: bool,
        frame: AirFrame,
        packet: Option<PacketId>,
    ) {
        let at = self.now();
        let packet = packet.map(|id| (id, self.network.packets[id].clone()));
        let capture = &mut self.network.capture;
        capture.push_frame(at, (node, radio), sent, frame, packet);
    }

    #[inline]
    fn indicate(&mut self, indication: MediumIndication) {
        self.network.mailbox.indicate(indication);
    }
}
