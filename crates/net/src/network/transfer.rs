//! Packets on their way through a network: sending, queueing, dropping and counting them.

use backlane_engine::EventQueue;
use backlane_units::SimTime;

use super::Network;
use crate::capture::{CapturePoint, Port};
use crate::counters::DropCause;
use crate::event::Event;
use crate::forwarding::ForwardingTable;
use crate::link::{Enqueued, LinkState};
use crate::medium::mailbox::MediumRequest;
use crate::packet::{FlowId, LinkId, MediumId, NodeId, Packet, PacketId};

impl Network {
    /// Adds a packet and counts it.
    #[inline]
    pub(crate) fn inject(&mut self, packet: Packet) -> PacketId {
        self.balance.injected += 1;
        self.packets.insert(packet)
    }

    /// Adds a copy of a packet and counts it.
    pub(crate) fn duplicate(&mut self, id: PacketId) -> PacketId {
        self.balance.duplicated += 1;
        let copy = self.packets[id].clone();
        self.packets.insert(copy)
    }

    /// Sends a packet from its source: into the host's uplink or medium, or to the router of the
    /// node.
    #[inline]
    pub(crate) fn send(&mut self, events: &mut EventQueue<Event>, mut packet: Packet) -> PacketId {
        let source = packet.source;
        packet.exit = self.exit_of(packet.destination);
        packet.previous = source;
        packet.queued_at = events.now();
        let id = self.inject(packet);
        match self.nodes[source.index()].uplink.some() {
            Some(uplink) => self.enqueue(events, uplink, id),
            None => self.outbox.push(id),
        }
        id
    }

    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        events: &mut EventQueue<Event>,
        link_id: LinkId,
        id: PacketId,
    ) {
        let link = &mut self.links[link_id.index()];
        match link.enqueue(events, link_id, id, &mut self.packets, &mut self.dropped) {
            Enqueued::Accepted => {
                if self.capture.is_on() {
                    self.capture_sent(events, link_id, id);
                }
            }
            Enqueued::ForMedium => {
                self.request_transmission(link_id, id);
                return;
            }
            Enqueued::Refused => {
                let cause = if link.up() {
                    DropCause::Queue
                } else {
                    DropCause::LinkDown
                };
                self.drop_packet(id, cause);
            }
        }
        if !self.dropped.is_empty() {
            self.drop_all(DropCause::Queue);
        }
    }

    pub(crate) fn serve(&mut self, events: &mut EventQueue<Event>, link: LinkId) {
        self.links[link.index()].serve(events, link, &mut self.packets, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.drop_all(DropCause::Queue);
        }
    }

    #[cold]
    fn drop_all(&mut self, cause: DropCause) {
        let mut dropped = std::mem::take(&mut self.dropped);
        for id in dropped.drain(..) {
            self.drop_packet(id, cause);
        }
        self.dropped = dropped;
    }

    /// A packet has entered the queue of a wire, and some nodes are captured.
    #[cold]
    fn capture_sent(&mut self, events: &EventQueue<Event>, link: LinkId, id: PacketId) {
        let link = &self.links[link.index()];
        let node = if link.from == NodeId::NONE {
            self.packets[id].source
        } else {
            link.from
        };
        let point = CapturePoint {
            at: events.now(),
            node,
            port: Port::Wire(link.to),
            sent: true,
        };
        self.capture.push_packet(point, id, &self.packets);
    }

    /// A router sends a packet over a link of one of its radios. Kept out of the path of wires.
    #[inline(never)]
    fn request_transmission(&mut self, link: LinkId, id: PacketId) {
        if let Some(ends) = self.links[link.index()].radio_link() {
            let request = MediumRequest::Transmit(link, id);
            let mailbox = &mut self.mailbox;
            mailbox.request_transmission(ends.near.0, ends.radio, request);
        }
    }

    /// A router sends a message over one of its radios.
    pub(crate) fn broadcast_over(&mut self, node: NodeId, radio: u8, id: PacketId) {
        let request = MediumRequest::Broadcast(node, radio, id);
        self.mailbox.request_transmission(node, radio, request);
    }

    /// Packets that wait before the transmitter of a link.
    #[inline]
    pub(crate) fn transmitter_backlog_pkts(&mut self, link: LinkId, now: SimTime) -> usize {
        let link = &mut self.links[link.index()];
        match link.radio_link() {
            Some(ends) => self.mailbox.backlog_pkts(ends.near.0, ends.radio),
            None => link.backlog_pkts(now),
        }
    }

    /// Whether the transmitter of a link neither sends nor has anything to send.
    pub(crate) fn transmitter_is_idle(&mut self, link: LinkId, now: SimTime) -> bool {
        let link = &mut self.links[link.index()];
        match link.radio_link() {
            Some(ends) => self.mailbox.is_idle(ends.near.0, ends.radio),
            None => link.is_idle(now),
        }
    }

    pub(crate) fn notify_when_below(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        pkts: usize,
    ) {
        let link = &mut self.links[link.index()];
        if let Some(ends) = link.radio_link() {
            let (node, interface) = ends.near;
            let mailbox = &mut self.mailbox;
            mailbox.notify_when_below(node, ends.radio, interface, pkts as u32);
            return;
        }
        debug_assert!(
            !link.is_scheduled() || link.capacity().is_some(),
            "departures of a scheduled link are not known"
        );
        link.await_room(events, pkts);
    }

    #[inline]
    pub(crate) fn drop_packet(&mut self, id: PacketId, cause: DropCause) {
        if cause == DropCause::Queue && self.packets[id].hops <= 1 {
            self.note_source_drop(id);
        }
        self.balance.dropped[cause as usize] += 1;
        self.packets.remove(id);
    }

    /// The application is notified of the drop after the present hook.
    #[cold]
    fn note_source_drop(&mut self, id: PacketId) {
        let packet = &self.packets[id];
        if packet.flow != FlowId::NONE {
            self.mailbox.note_source_drop(packet.clone());
        }
    }

    #[inline]
    pub(crate) fn deliver(&mut self, id: PacketId) {
        self.balance.delivered += 1;
        self.packets.remove(id);
    }

    /// The link by which a node forwards packets for an exit without its router.
    #[inline]
    pub(crate) fn next_link(&self, node: NodeId, exit: NodeId) -> Option<LinkId> {
        self.forwarding.get(node.index())?.get(exit)
    }

    pub(crate) fn install_route(&mut self, node: NodeId, exit: NodeId, link: LinkId) {
        if self.forwarding.len() <= node.index() {
            let tables = node.index() + 1;
            self.forwarding
                .resize_with(tables, ForwardingTable::default);
        }
        self.forwarding[node.index()].insert(exit, link);
    }

    pub(crate) fn remove_route(&mut self, node: NodeId, exit: NodeId) {
        if let Some(table) = self.forwarding.get_mut(node.index()) {
            table.remove(exit);
        }
    }

    /// The link from an exit router to a host that is attached to it by a wire.
    #[inline]
    pub(crate) fn downlink(&self, host: NodeId) -> Option<LinkId> {
        self.nodes[host.index()].downlink.some()
    }

    /// The medium of a host.
    #[inline]
    pub(crate) fn medium_of(&self, host: NodeId) -> Option<MediumId> {
        self.nodes[host.index()].medium.some()
    }

    /// Counts a packet that leaves a medium at `node`.
    #[inline]
    pub(crate) fn count_access_delivery(&mut self, node: NodeId, id: PacketId, now: SimTime) {
        let packet = &self.packets[id];
        let (router, direction) = if packet.destination == node {
            (self.exit_of(node), 1)
        } else {
            (node, 0)
        };
        let inside_ps = now.saturating_since(packet.queued_at).as_ps();
        let size_bytes = packet.size_bytes;
        if let Some(counters) = self.access.get_mut(router.index()) {
            let counters = &mut counters[direction];
            counters.bytes += u64::from(size_bytes);
            counters.packets += 1;
            counters.area += u128::from(size_bytes) * u128::from(inside_ps);
        }
    }

    /// Counts a packet that a medium drops. A packet on its way up has met no router yet.
    pub(crate) fn count_access_drop(&mut self, medium: MediumId, id: PacketId) {
        let packet = &self.packets[id];
        let (host, direction) = if packet.hops == 0 {
            (packet.source, 0)
        } else {
            (packet.destination, 1)
        };
        if host == NodeId::NONE || self.medium_of(host) != Some(medium) {
            return;
        }
        let router = self.exit_of(host);
        if let Some(counters) = self.access.get_mut(router.index()) {
            counters[direction].drops += 1;
        }
    }

    /// Prepares a packet for the path from the router `node` to the one where its destination is
    /// attached now.
    pub(crate) fn reroute(&mut self, node: NodeId, id: PacketId) {
        let exit = self.exit_of(self.packets[id].destination);
        let packet = &mut self.packets[id];
        packet.exit = exit;
        packet.previous = node;
        if exit != node {
            packet.size_bytes += self.encapsulation_bytes;
        }
    }

    #[inline]
    pub(crate) fn encapsulates(&self) -> bool {
        self.encapsulation_bytes != 0
    }

    /// A router forwards a packet whose hop there is counted: the first router of the packet
    /// adds the encapsulation and its exit router removes it.
    pub(crate) fn encapsulate(&mut self, node: NodeId, id: PacketId) {
        let packet = &self.packets[id];
        let (first, last) = (packet.hops == 1, packet.exit == node);
        let ends = [packet.source, packet.destination];
        if first == last || ends.iter().all(|&end| self.medium_of(end).is_none()) {
            return;
        }
        let packet = &mut self.packets[id];
        if first {
            packet.size_bytes += self.encapsulation_bytes;
        } else {
            packet.size_bytes -= self.encapsulation_bytes;
        }
    }

    pub(crate) fn count_message(&mut self, node: NodeId, bytes: u32) {
        let messages = &mut self.nodes[node.index()].messages;
        messages.messages += 1;
        messages.bytes += u64::from(bytes);
    }

    pub(crate) fn radio_count(&self, node: NodeId) -> usize {
        self.mailbox.radio_count(node)
    }

    /// Takes a link direction down or up. Packets queued for it and on it are lost when it goes
    /// down. No router is notified.
    pub(crate) fn set_link_state(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        state: LinkState,
    ) {
        let (packets, dropped) = (&mut self.packets, &mut self.dropped);
        self.links[link.index()].set_state(events, link, state, packets, dropped);
        if self.sends_over(link) {
            self.drop_all(DropCause::LinkDown);
        } else {
            // The sending half counts them.
            for id in self.dropped.drain(..) {
                self.packets.remove(id);
            }
        }
        if self.links[link.index()].is_over_medium() {
            let up = state == LinkState::Up;
            self.mailbox.request(MediumRequest::SetLinkUp(link, up));
        }
    }
}
