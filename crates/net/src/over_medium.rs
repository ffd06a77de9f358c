//! Links between routers over a medium: radios that several of them share, and what is on its way
//! between routers and media.
//!
//! An interface leads to one neighbour, over a medium as over a wire. Several interfaces may be
//! one radio: one transmitter, and one queue, which the medium keeps. What a router gives to a
//! radio and what a medium tells go through one list, which the simulation works off after each
//! hook, in order, so that no router or medium is called while another one is.

use std::sync::Arc;

use backlane_engine::EventQueue;
use backlane_units::{Duration, Rate};

use crate::link::MediumLink;
use crate::network::{Interface, Network};
use crate::packet::{FlowId, LinkId, MediumId, NodeId, PacketId};
use crate::simulation::Event;

/// What happens next, after the present hook.
#[derive(Clone, Debug)]
pub(crate) enum Emerged {
    /// A packet came out of a medium, at the host that it is meant for or at a router.
    Out(NodeId, PacketId),
    /// A packet came out at the far end of a link.
    Arrived(LinkId, PacketId),
    /// The far end of a link heard a message, with this TTL.
    Heard(LinkId, u8, Arc<[u8]>),
    /// A packet could not be brought over a link.
    GivenBack(LinkId, PacketId),
    /// A frame over a link is done with.
    Attempted {
        link: LinkId,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    },
    /// A router waits for room in a radio, and there may be some.
    Room(NodeId, u8),
    /// A router sends a packet over a link.
    Frame(LinkId, PacketId),
    /// A router sends a message to all its neighbours on a radio.
    Broadcast(NodeId, u8, PacketId),
    /// A link goes down or comes up.
    LinkUp(LinkId, bool),
    /// The first of `Network::refused` is to be told of.
    Refused,
}

/// Routing messages that a node has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Messages: datagrams of their own, broadcasts (once for each radio and wire) and messages
    /// that rode on a packet.
    pub messages: u64,
    /// Their bytes, IP and UDP headers included where they had any.
    pub bytes: u64,
}

/// A router's transmitter in a medium.
#[derive(Debug)]
pub(crate) struct Radio {
    medium: MediumId,
    /// As the medium has told.
    waiting: u32,
    in_service: bool,
    /// Given to the medium, which does not know it yet.
    on_the_way: u32,
    /// Interfaces that wait for fewer packets than so many, in the order in which they asked.
    wanted: Vec<(u16, u32)>,
}

impl Radio {
    fn backlog_pkts(&self) -> u32 {
        self.waiting + self.on_the_way
    }

    fn is_idle(&self) -> bool {
        self.backlog_pkts() == 0 && !self.in_service
    }

    fn has_room(&self, pkts: u32) -> bool {
        match pkts {
            0 => self.is_idle(),
            _ => self.backlog_pkts() < pkts,
        }
    }
}

impl Network {
    /// Joins two routers over a medium, each by one of its radios; radios are numbered from
    /// zero, and a radio belongs to one medium. `rate` is what protocols take the link's rate to
    /// be. The interfaces are the next ones on either side. The two link directions hold no
    /// packets; the medium gets what is sent over them ([`crate::Medium::on_frame`]).
    #[allow(clippy::too_many_arguments)]
    pub fn connect_over(
        &mut self,
        events: &mut EventQueue<Event>,
        a: NodeId,
        radio_a: u8,
        b: NodeId,
        radio_b: u8,
        medium: MediumId,
        rate: Rate,
    ) -> (LinkId, LinkId) {
        let ends = [(a, radio_a), (b, radio_b)].map(|(node, radio)| {
            let node_radios = &mut self.nodes[node.index()].radios;
            while node_radios.len() <= usize::from(radio) {
                node_radios.push(Radio {
                    medium,
                    waiting: 0,
                    in_service: false,
                    on_the_way: 0,
                    wanted: Vec::new(),
                });
            }
            node_radios[usize::from(radio)].medium = medium;
            (node, self.nodes[node.index()].interfaces.len() as u16)
        });
        let mut direction = |near: (NodeId, u16), radio, far: (NodeId, u16)| {
            let id = self.link(events, near.0, far.0, rate, Duration::ZERO, None, None);
            self.links[id.index()].set_medium(MediumLink {
                medium,
                radio,
                near,
                far,
            });
            id
        };
        let there = direction(ends[0], radio_a, ends[1]);
        let back = direction(ends[1], radio_b, ends[0]);
        let mut interface = |node: NodeId, radio, peer, outgoing, incoming| {
            self.nodes[node.index()].interfaces.push(Interface {
                peer,
                outgoing,
                incoming,
                rate,
                radio: Some(radio),
            });
        };
        interface(a, radio_a, b, there, back);
        interface(b, radio_b, a, back, there);
        (there, back)
    }

    /// Routing messages that a node has sent so far.
    pub fn messages_sent(&self, node: NodeId) -> MessageCounters {
        self.nodes[node.index()].messages
    }

    /// Packets of a flow that wait at its source, as the router there last told
    /// ([`crate::Context::publish_backlog`]); zero before.
    pub fn source_backlog(&self, flow: FlowId) -> u32 {
        let told = self.source_backlogs.get(flow.index());
        told.copied().unwrap_or(0)
    }

    pub(crate) fn set_source_backlog(&mut self, flow: FlowId, pkts: u32) {
        let index = flow.index();
        if self.source_backlogs.len() <= index {
            self.source_backlogs.resize(index + 1, 0);
        }
        self.source_backlogs[index] = pkts;
    }

    pub(crate) fn count_message(&mut self, node: NodeId, bytes: u32) {
        let messages = &mut self.nodes[node.index()].messages;
        messages.messages += 1;
        messages.bytes += u64::from(bytes);
    }

    pub(crate) fn radio_count(&self, node: NodeId) -> usize {
        self.nodes[node.index()].radios.len()
    }

    fn radio(&mut self, node: NodeId, radio: u8) -> Option<&mut Radio> {
        self.nodes[node.index()].radios.get_mut(usize::from(radio))
    }

    pub(crate) fn medium_of_radio(&self, node: NodeId, radio: u8) -> Option<MediumId> {
        let radio = self.nodes[node.index()].radios.get(usize::from(radio))?;
        Some(radio.medium)
    }

    /// A router sends a packet over a link of one of its radios. Out of the way of wires.
    #[inline(never)]
    pub(crate) fn give_to_radio(&mut self, link: LinkId, id: PacketId) {
        if let Some(medium) = self.links[link.index()].medium()
            && let Some(radio) = self.radio(medium.near.0, medium.radio)
        {
            radio.on_the_way += 1;
            self.emerged.push_back(Emerged::Frame(link, id));
        }
    }

    /// A router sends a message over one of its radios.
    pub(crate) fn broadcast_over(&mut self, node: NodeId, radio: u8, id: PacketId) {
        if let Some(transmitter) = self.radio(node, radio) {
            transmitter.on_the_way += 1;
            self.emerged.push_back(Emerged::Broadcast(node, radio, id));
        }
    }

    /// The medium is about to be given what a router sent, and to tell how much waits.
    pub(crate) fn hand_over(&mut self, node: NodeId, radio: u8) {
        if let Some(radio) = self.radio(node, radio) {
            radio.on_the_way -= 1;
        }
    }

    pub(crate) fn set_backlog(&mut self, node: NodeId, number: u8, waiting: u32, in_service: bool) {
        if let Some(radio) = self.radio(node, number) {
            radio.waiting = waiting;
            radio.in_service = in_service;
            self.look_for_room(node, number);
        }
    }

    /// Whether interfaces that wait for room in a radio can be served is seen after the hook.
    pub(crate) fn look_for_room(&mut self, node: NodeId, number: u8) {
        if let Some(radio) = self.radio(node, number) {
            let mut wanted = radio.wanted.iter();
            if wanted.any(|&(_, pkts)| radio.has_room(pkts)) {
                self.emerged.push_back(Emerged::Room(node, number));
            }
        }
    }

    pub(crate) fn radio_backlog_pkts(&self, medium: MediumLink) -> usize {
        let radios = &self.nodes[medium.near.0.index()].radios;
        radios
            .get(usize::from(medium.radio))
            .map_or(0, |radio| radio.backlog_pkts() as usize)
    }

    pub(crate) fn radio_is_idle(&self, medium: MediumLink) -> bool {
        let radios = &self.nodes[medium.near.0.index()].radios;
        radios
            .get(usize::from(medium.radio))
            .is_none_or(Radio::is_idle)
    }

    /// An interface asks to be told of room. It keeps its place if it has asked before.
    pub(crate) fn ask_radio_for_room(&mut self, medium: MediumLink, pkts: u32) {
        let (node, interface) = medium.near;
        if let Some(radio) = self.radio(node, medium.radio) {
            let mut wanted = radio.wanted.iter_mut();
            match wanted.find(|(asked, _)| *asked == interface) {
                Some((_, wanted_pkts)) => *wanted_pkts = pkts,
                None => radio.wanted.push((interface, pkts)),
            }
            self.look_for_room(node, medium.radio);
        }
    }

    /// The next interface that is to be told of room in a radio. They take turns: one that is
    /// told and asks again is the last.
    pub(crate) fn take_ready(&mut self, node: NodeId, number: u8) -> Option<usize> {
        let radio = self.radio(node, number)?;
        let mut wanted = radio.wanted.iter();
        let next = wanted.position(|&(_, pkts)| radio.has_room(pkts))?;
        let (interface, _) = radio.wanted.remove(next);
        self.look_for_room(node, number);
        Some(usize::from(interface))
    }
}
