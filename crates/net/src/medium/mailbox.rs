//! The mailbox between routers and media, and the table of the routers' radios.
//!
//! A router's request to a medium and a medium's indication to a router take effect after the
//! hook that made them, so that no router or medium is called while another one is. Requests go
//! down, indications go up; both are worked off in the one order in which they were made, which
//! is part of a run's result.
//!
//! Several interfaces may share a radio: one transmitter and one queue, which the medium keeps.
//! The table has what routers need to know of it: the backlog that the medium last reported,
//! the packets on their way to the medium, and the interfaces that wait for room.

use std::collections::VecDeque;
use std::sync::Arc;

use backlane_units::Rate;

use crate::packet::{LinkId, MediumId, NodeId, Packet, PacketId};

/// A request to a medium.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MediumRequest {
    /// Send a packet over a link.
    Transmit(LinkId, PacketId),
    /// Send a message to all neighbours on a radio.
    Broadcast(NodeId, u8, PacketId),
    /// Return what waits for a link.
    Withdraw(LinkId),
    /// Take a link down or up.
    SetLinkUp(LinkId, bool),
}

/// An indication of a medium.
#[derive(Clone, Debug)]
pub(crate) enum MediumIndication {
    /// A packet left the medium at its destination host or at a router.
    Delivered(NodeId, PacketId),
    /// The far end of a link received a packet.
    Received(LinkId, PacketId),
    /// The far end of a link overheard a message with this TTL.
    Overheard(LinkId, u8, Arc<[u8]>),
    /// A packet could not be sent over a link.
    TxFailed(LinkId, PacketId),
    /// A packet that waited for a link is returned at the router's request.
    Withdrawn(LinkId, PacketId),
    /// A frame over a link is complete.
    TxStatus {
        link: LinkId,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    },
    /// A radio may have room for which one of its interfaces waits.
    RadioReady(NodeId, u8),
}

/// An effect of a hook that takes place after it.
#[derive(Clone, Debug)]
pub(crate) enum Deferred {
    /// Down to a medium.
    Request(MediumRequest),
    /// Up from a medium.
    Indication(MediumIndication),
    /// A node dropped a packet of an application before it left its first router.
    SourceDrop,
}

/// A router's transmitter in a medium.
#[derive(Clone, Debug)]
struct Radio {
    medium: MediumId,
    /// As the medium reported.
    waiting: u32,
    in_service: bool,
    /// Requested and not yet given to the medium.
    requested: u32,
    /// Interfaces that wait for a backlog below a number of packets, in the order of requests.
    waiters: Vec<(u16, u32)>,
}

impl Radio {
    fn backlog_pkts(&self) -> u32 {
        self.waiting + self.requested
    }

    fn is_idle(&self) -> bool {
        self.backlog_pkts() == 0 && !self.in_service
    }

    fn is_below(&self, pkts: u32) -> bool {
        match pkts {
            0 => self.is_idle(),
            _ => self.backlog_pkts() < pkts,
        }
    }

    fn next_waiter(&self) -> Option<usize> {
        let mut waiters = self.waiters.iter();
        waiters.position(|&(_, pkts)| self.is_below(pkts))
    }
}

/// Deferred effects in order, and the radios that they concern.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    deferred: VecDeque<Deferred>,
    /// Copies of the packets that [`Deferred::SourceDrop`] stands for, in order.
    source_drops: VecDeque<Packet>,
    /// By node and number.
    radios: Vec<Vec<Radio>>,
}

impl Mailbox {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.deferred.is_empty()
    }

    /// The next effect.
    pub(crate) fn pop(&mut self) -> Option<Deferred> {
        self.deferred.pop_front()
    }

    /// The packet of the [`Deferred::SourceDrop`] that was just taken.
    pub(crate) fn pop_source_drop(&mut self) -> Option<Packet> {
        self.source_drops.pop_front()
    }

    pub(crate) fn request(&mut self, request: MediumRequest) {
        self.deferred.push_back(Deferred::Request(request));
    }

    #[inline]
    pub(crate) fn indicate(&mut self, indication: MediumIndication) {
        self.deferred.push_back(Deferred::Indication(indication));
    }

    pub(crate) fn note_source_drop(&mut self, packet: Packet) {
        self.source_drops.push_back(packet);
        self.deferred.push_back(Deferred::SourceDrop);
    }

    /// Makes sure that a node has a radio of this number, and gives it to the medium.
    pub(crate) fn add_radio(&mut self, node: NodeId, number: u8, medium: MediumId) {
        if self.radios.len() <= node.index() {
            self.radios.resize(node.index() + 1, Vec::new());
        }
        let radios = &mut self.radios[node.index()];
        let idle = Radio {
            medium,
            waiting: 0,
            in_service: false,
            requested: 0,
            waiters: Vec::new(),
        };
        if radios.len() <= usize::from(number) {
            radios.resize(usize::from(number) + 1, idle);
        }
        radios[usize::from(number)].medium = medium;
    }

    pub(crate) fn radio_count(&self, node: NodeId) -> usize {
        self.radios.get(node.index()).map_or(0, Vec::len)
    }

    fn radio(&self, node: NodeId, number: u8) -> Option<&Radio> {
        self.radios.get(node.index())?.get(usize::from(number))
    }

    fn radio_mut(&mut self, node: NodeId, number: u8) -> Option<&mut Radio> {
        let radios = self.radios.get_mut(node.index())?;
        radios.get_mut(usize::from(number))
    }

    pub(crate) fn medium_of(&self, node: NodeId, number: u8) -> Option<MediumId> {
        Some(self.radio(node, number)?.medium)
    }

    /// Packets that wait before a radio's transmitter.
    pub(crate) fn backlog_pkts(&self, node: NodeId, number: u8) -> usize {
        let radio = self.radio(node, number);
        radio.map_or(0, |radio| radio.backlog_pkts() as usize)
    }

    /// Whether a radio neither sends nor has anything to send.
    pub(crate) fn is_idle(&self, node: NodeId, number: u8) -> bool {
        self.radio(node, number).is_none_or(Radio::is_idle)
    }

    /// Requests a transmission over a link of a radio, or a broadcast.
    pub(crate) fn request_transmission(&mut self, node: NodeId, number: u8, what: MediumRequest) {
        if let Some(radio) = self.radio_mut(node, number) {
            radio.requested += 1;
            self.request(what);
        }
    }

    /// The medium is about to get a requested transmission, and to report its backlog.
    pub(crate) fn hand_over(&mut self, node: NodeId, number: u8) {
        if let Some(radio) = self.radio_mut(node, number) {
            radio.requested -= 1;
        }
    }

    /// A medium reports the backlog of a radio.
    pub(crate) fn set_backlog(&mut self, node: NodeId, number: u8, waiting: u32, in_service: bool) {
        if let Some(radio) = self.radio_mut(node, number) {
            radio.waiting = waiting;
            radio.in_service = in_service;
            self.indicate_room(node, number);
        }
    }

    /// Indicates room if an interface waits for it.
    pub(crate) fn indicate_room(&mut self, node: NodeId, number: u8) {
        let radio = self.radio(node, number);
        if radio.is_some_and(|radio| radio.next_waiter().is_some()) {
            self.indicate(MediumIndication::RadioReady(node, number));
        }
    }

    /// An interface waits until fewer than `pkts` packets wait in its radio. It keeps its place
    /// if it waits already.
    pub(crate) fn notify_when_below(
        &mut self,
        node: NodeId,
        number: u8,
        interface: u16,
        pkts: u32,
    ) {
        if let Some(radio) = self.radio_mut(node, number) {
            let mut waiters = radio.waiters.iter_mut();
            match waiters.find(|(waiter, _)| *waiter == interface) {
                Some((_, wanted)) => *wanted = pkts,
                None => radio.waiters.push((interface, pkts)),
            }
            self.indicate_room(node, number);
        }
    }

    /// Takes the next interface for which a radio has room. Interfaces take turns: one that
    /// waits again is the last.
    pub(crate) fn take_ready(&mut self, node: NodeId, number: u8) -> Option<usize> {
        let radio = self.radio_mut(node, number)?;
        let next = radio.next_waiter()?;
        let (interface, _) = radio.waiters.remove(next);
        self.indicate_room(node, number);
        Some(usize::from(interface))
    }
}
