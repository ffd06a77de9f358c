//! The event loop.

use backlane_engine::{EventQueue, Trace, TraceEntry};
use backlane_units::SimTime;

use crate::application::Application;
use crate::capture::{CapturePoint, Port};
use crate::link::Arrival;
use crate::medium::{Medium, MediumContext};
use crate::network::{DropCause, Network};
use crate::over_medium::Emerged;
use crate::packet::{FlowId, LinkId, MediumId, NodeId, PacketId};
use crate::router::{Context, Router, RouterQueue};

/// Everything that can be scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next packet of a link direction arrives.
    Arrival(LinkId),
    /// A transmitter falls idle, or a router asked to be told of room in the queue.
    Transmit(LinkId),
    /// A router's timer.
    Router {
        /// Whose.
        node: NodeId,
        /// Which.
        token: u32,
    },
    /// A timer of the application.
    Application {
        /// Whose, in the application's own numbering.
        id: u32,
        /// Which.
        token: u32,
    },
    /// A timer of a medium.
    Medium {
        /// Whose.
        medium: MediumId,
        /// Which.
        token: u32,
    },
}

impl Event {
    /// What the digest gets of it.
    #[inline]
    pub(crate) fn at(self, time: SimTime) -> u64 {
        time.as_ps() ^ self.word().rotate_left(32)
    }

    #[inline]
    fn word(self) -> u64 {
        let (kind, a, b) = match self {
            Self::Arrival(link) => (0u64, link.0, 0),
            Self::Transmit(link) => (1, link.0, 0),
            Self::Router { node, token } => (2, node.0, token),
            Self::Application { id, token } => (3, id, token),
            // Counted from the far end of the routers' numbers.
            Self::Medium { medium, token } => (2, !medium.0, token),
        };
        kind << 62 | u64::from(b) << 32 | u64::from(a)
    }
}

/// A network, its routers and its applications, and the time that moves them.
pub struct Simulation<A> {
    /// Nodes, links and packets.
    pub network: Network,
    /// What is scheduled.
    pub events: EventQueue<Event>,
    /// Sources and sinks.
    pub application: A,
    routers: Vec<Option<Box<dyn Router>>>,
    media: Vec<Box<dyn Medium>>,
    trace: Option<Trace>,
}

impl<A: Application> Simulation<A> {
    /// Puts a network into motion. `routers` holds one entry for each node: a router for the
    /// nodes that forward, `None` for hosts. Calls
    /// every router's `start`, then every medium's.
    pub fn new(
        mut network: Network,
        events: EventQueue<Event>,
        application: A,
        routers: Vec<Option<Box<dyn Router>>>,
        trace: Option<Trace>,
    ) -> Self {
        let media = std::mem::take(&mut network.media);
        network.is_traced = trace.is_some();
        let mut simulation = Self {
            network,
            events,
            application,
            routers,
            media,
            trace,
        };
        for node in 0..simulation.routers.len() as u32 {
            simulation.with_router(NodeId(node), |router, context| router.start(context));
        }
        for medium in 0..simulation.media.len() as u32 {
            simulation.with_medium(MediumId(medium), Medium::start);
        }
        simulation.pass_emerged();
        simulation
    }

    /// Runs until `until`, or until nothing is scheduled or `stop` says so (asked after every
    /// event). What is scheduled at `until` itself still happens. True if `stop` ended it.
    pub fn run(&mut self, until: SimTime, mut stop: impl FnMut(&A, SimTime) -> bool) -> bool {
        while self.step(until) {
            if stop(&self.application, self.events.now()) {
                return true;
            }
        }
        false
    }

    /// Lets the next event happen, with what media do by themselves before the one after. False
    /// if there is none until `until`.
    #[inline]
    pub fn step(&mut self, until: SimTime) -> bool {
        let Some(event) = self.events.pop(until) else {
            return false;
        };
        self.handle(event);
        true
    }

    /// The router of a node.
    pub fn router(&self, node: NodeId) -> Option<&dyn Router> {
        self.routers.get(node.index())?.as_deref()
    }

    /// A medium; as [`std::any::Any`] it can be turned into the type that it has.
    pub fn medium(&self, medium: MediumId) -> Option<&dyn Medium> {
        self.media.get(medium.index()).map(Box::as_ref)
    }

    /// The same, to change it.
    pub fn medium_mut(&mut self, medium: MediumId) -> Option<&mut dyn Medium> {
        self.media.get_mut(medium.index()).map(Box::as_mut)
    }

    /// A number for all that happened so far.
    pub fn digest(&self) -> u64 {
        self.network.digest.value()
    }

    /// Packets that are somewhere: on links, in routers and in media. Must equal the balance's count.
    pub fn held_pkts(&self) -> usize {
        let before_links: u64 = (0..self.network.links().len() as u32)
            .filter_map(|link| self.router_queue(LinkId(link)))
            .map(|queue| queue.backlog_pkts)
            .sum();
        let in_nodes: u64 = self
            .routers
            .iter()
            .filter_map(|router| router.as_deref()?.shared_queue())
            .map(|queue| queue.backlog_pkts)
            .sum();
        let in_media: usize = self.media.iter().map(|medium| medium.held_pkts()).sum();
        self.network.held_by_links() + (before_links + in_nodes) as usize + in_media
    }

    /// The queue that the sending router keeps before a link direction, if it keeps one.
    pub fn router_queue(&self, link: LinkId) -> Option<RouterQueue> {
        let from = self.network.links()[link.index()].from;
        let router = self.routers.get(from.index())?.as_deref()?;
        let mut interfaces = self.network.mesh_interfaces(from).iter();
        router.queue(interfaces.position(|interface| interface.outgoing == link)?)
    }

    /// Cuts or mends the wire between two routers, both directions, and tells neither. False if
    /// there is none.
    pub fn set_wire_up(&mut self, a: NodeId, b: NodeId, up: bool) -> bool {
        let mut interfaces = self.network.mesh_interfaces(a).iter();
        let Some(&wire) = interfaces.find(|interface| interface.peer == b) else {
            return false;
        };
        for link in [wire.outgoing, wire.incoming] {
            self.set_link_up(link, up);
        }
        true
    }

    /// Cuts or mends a link direction. What is queued for a wire and on it when it is cut is
    /// lost; over a medium nothing gets through from now on. No router is told.
    pub fn set_link_up(&mut self, link: LinkId, up: bool) {
        self.network.set_link_up(&mut self.events, link, up);
        self.pass_emerged();
    }

    /// Silences the radios of a router, or lets them work again. Its links are a matter of their
    /// own.
    pub fn set_node_up(&mut self, node: NodeId, up: bool) {
        for medium in 0..self.media.len() as u32 {
            self.with_medium(MediumId(medium), |medium, context| {
                medium.set_node_up(context, node, up);
            });
        }
        self.pass_emerged();
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        self.network.digest.add(event.at(self.events.now()));
        if let Some(trace) = &self.trace {
            let time = self.events.now();
            trace.push(TraceEntry::Event {
                time,
                event: format!("{event:?}"),
            });
        }
        match event {
            Event::Arrival(link) => self.arrive(link),
            Event::Transmit(link) => {
                let (scheduled, from) = {
                    let link = &self.network.links()[link.index()];
                    (link.is_scheduled(), link.from)
                };
                if scheduled {
                    self.network.serve(&mut self.events, link);
                } else {
                    let interface = self
                        .network
                        .mesh_interfaces(from)
                        .iter()
                        .position(|interface| interface.outgoing == link);
                    if let Some(interface) = interface {
                        self.with_router(from, |router, context| {
                            router.on_interface_ready(context, interface);
                        });
                    }
                }
            }
            Event::Router { node, token } => {
                self.with_router(node, |router, context| router.on_timer(context, token));
            }
            Event::Application { id, token } => {
                self.application
                    .on_event(&mut self.network, &mut self.events, id, token);
                self.forward_born();
            }
            Event::Medium { medium, token } => {
                self.with_medium(medium, |medium, context| medium.on_timer(context, token));
            }
        }
        self.tell_capture();
        if !self.network.emerged.is_empty() {
            self.pass_emerged();
        }
    }

    /// Tells a capture what was seen in the last hook.
    #[inline]
    fn tell_capture(&mut self) {
        if !self.network.captured.pending.is_empty() {
            self.network.tell_capture(&self.application);
        }
    }

    /// A packet has come to a node, and some nodes are captured.
    #[cold]
    fn note_received(&mut self, node: NodeId, port: impl FnOnce(&Network) -> Port, id: PacketId) {
        if self.network.captured.is_captured(node) {
            let seen = CapturePoint {
                at: self.events.now(),
                node,
                port: port(&self.network),
                sent: false,
            };
            self.network.note_packet(seen, id);
            self.tell_capture();
        }
    }

    #[inline]
    fn arrive(&mut self, link_id: LinkId) {
        let link = self.network.link_mut(link_id);
        let to = link.to;
        let Some(Arrival { id, lost, next }) = link.arrive(&mut self.events) else {
            return;
        };
        if let Some(next) = next {
            self.network.packets.touch(next);
        }
        if lost {
            self.network.drop_packet(id, DropCause::Loss);
            return;
        }
        let node = if to == NodeId::NONE {
            self.network.packets[id].destination
        } else {
            to
        };
        if self.network.captured.is_on() {
            let from = |network: &Network| Port::Wire(network.links()[link_id.index()].from);
            self.note_received(node, from, id);
        }
        let packet = &self.network.packets[id];
        if packet.message.is_some() {
            let mut interfaces = self.network.mesh_interfaces(node).iter();
            let interface = interfaces.position(|interface| interface.incoming == link_id);
            if self.take_message(node, interface, id) {
                return;
            }
            return self.come_to(node, id);
        }
        if packet.destination == node {
            self.hand_over(id);
        } else {
            self.forward(node, id);
        }
    }

    /// A packet has come to a node: to its destination, or to a router that passes it on.
    fn come_to(&mut self, node: NodeId, id: PacketId) {
        if self.network.packets[id].destination == node {
            self.hand_over(id);
        } else {
            self.forward(node, id);
        }
    }

    /// A packet is where it was meant to go.
    #[inline]
    fn hand_over(&mut self, id: PacketId) {
        self.application
            .on_packet(&mut self.network, &mut self.events, id);
        self.network.deliver(id);
        self.forward_born();
    }

    /// Takes the message off a packet that came in on an interface, and gives it to the router.
    /// True if there was nothing else to the packet, which is freed then.
    #[cold]
    fn take_message(&mut self, node: NodeId, interface: Option<usize>, id: PacketId) -> bool {
        let packet = &mut self.network.packets[id];
        let Some(message) = packet.message.take() else {
            return false;
        };
        let alone = packet.flow == FlowId::NONE;
        self.network.message_ttl = packet.ttl;
        let packet = &mut self.network.packets[id];
        if alone {
            self.network.deliver(id);
        } else {
            packet.size_bytes -= message.len() as u32;
        }
        if let Some(interface) = interface {
            self.with_router(node, |router, context| {
                router.on_message(context, interface, &message);
            });
        }
        alone
    }

    /// A router has a packet to pass on.
    #[inline]
    fn forward(&mut self, node: NodeId, id: PacketId) {
        let packet = &mut self.network.packets[id];
        if packet.ttl <= 1 {
            self.network.drop_packet(id, DropCause::TtlExpired);
            return;
        }
        packet.ttl -= 1;
        packet.hops += 1;
        packet.path = (packet.path.rotate_left(5) ^ node.0).wrapping_mul(0x9e37_79b9);
        let (exit, destination) = (packet.exit, packet.destination);
        if self.network.tunnel_bytes() != 0 {
            self.network.pass_tunnel_end(node, id);
        }
        if exit == node {
            match self.network.downlink(destination) {
                Some(downlink) => self.network.enqueue(&mut self.events, downlink, id),
                None => self.give_to_medium(node, destination, id),
            }
            return;
        }
        if let Some(router) = &mut self.routers[node.index()] {
            let mut context = Context::new(node, &mut self.network, &mut self.events);
            router.on_packet(&mut context, id);
        } else {
            self.network.drop_packet(id, DropCause::NoRoute);
        }
    }

    #[inline]
    fn forward_born(&mut self) {
        for index in 0..self.network.born.len() {
            let id = self.network.born[index];
            let source = self.network.packets[id].source;
            if self.network.is_router(source) {
                self.forward(source, id);
            } else {
                self.give_to_medium(source, source, id);
            }
        }
        self.network.born.clear();
    }

    /// `node` gives a packet to the medium of `host`.
    fn give_to_medium(&mut self, node: NodeId, host: NodeId, id: PacketId) {
        match self.network.medium_of(host) {
            Some(medium) => {
                self.network.packets[id].queued_at = self.events.now();
                let seen = CapturePoint {
                    at: self.events.now(),
                    node,
                    port: Port::Medium,
                    sent: true,
                };
                self.network.note_packet(seen, id);
                self.with_medium(medium, |medium, context| {
                    medium.on_packet(context, node, id)
                });
            }
            None => self.network.drop_packet(id, DropCause::NoRoute),
        }
    }

    /// What came out of media in the last hook, and what was given to them, happens, in order;
    /// more may come meanwhile.
    fn pass_emerged(&mut self) {
        while let Some(emerged) = self.network.emerged.pop_front() {
            self.tell_capture();
            match emerged {
                Emerged::Out(node, id) => {
                    self.note_received(node, |_| Port::Medium, id);
                    self.come_to(node, id);
                }
                Emerged::Arrived(link, id) => {
                    let Some(medium) = self.network.links()[link.index()].medium() else {
                        continue;
                    };
                    let (node, interface) = medium.far;
                    if !self.take_message(node, Some(usize::from(interface)), id) {
                        self.come_to(node, id);
                    }
                }
                Emerged::Heard(link, ttl, message) => {
                    self.network.message_ttl = ttl;
                    self.with_end(link, false, |router, context, interface| {
                        router.on_message(context, interface, &message);
                    });
                }
                Emerged::GivenBack(link, id) => {
                    let packet = &mut self.network.packets[id];
                    if packet.flow != FlowId::NONE
                        && let Some(message) = packet.message.take()
                    {
                        packet.size_bytes -= message.len() as u32;
                    }
                    self.with_end(link, true, |router, context, interface| {
                        router.on_tx_failed(context, interface, id);
                    });
                }
                Emerged::Attempted {
                    link,
                    attempts,
                    delivered,
                    rate,
                } => self.with_end(link, true, |router, context, interface| {
                    router.on_tx_status(context, interface, attempts, delivered, rate);
                }),
                Emerged::Room(node, radio) => {
                    if let Some(interface) = self.network.take_ready(node, radio) {
                        self.with_router(node, |router, context| {
                            router.on_interface_ready(context, interface);
                        });
                    }
                }
                Emerged::Frame(link, id) => {
                    let Some(medium) = self.network.links()[link.index()].medium() else {
                        continue;
                    };
                    self.network.packets[id].queued_at = self.events.now();
                    self.network.hand_over(medium.near.0, medium.radio);
                    self.with_medium(medium.medium, |medium, context| {
                        medium.on_frame(context, link, id)
                    });
                    self.network.look_for_room(medium.near.0, medium.radio);
                }
                Emerged::Broadcast(node, radio, id) => {
                    let Some(medium) = self.network.medium_of_radio(node, radio) else {
                        continue;
                    };
                    self.network.packets[id].queued_at = self.events.now();
                    self.network.hand_over(node, radio);
                    self.with_medium(medium, |medium, context| {
                        medium.on_broadcast(context, node, radio, id);
                    });
                    self.network.look_for_room(node, radio);
                }
                Emerged::LinkUp(link, up) => {
                    if let Some(medium) = self.network.links()[link.index()].medium() {
                        self.with_medium(medium.medium, |medium, context| {
                            medium.set_link_up(context, link, up);
                        });
                    }
                }
                Emerged::Refused => {
                    if let Some(packet) = self.network.refused.pop_front() {
                        self.application
                            .on_refused(&mut self.network, &mut self.events, &packet);
                        self.forward_born();
                    }
                }
            }
        }
        self.tell_capture();
    }

    /// Calls the router at the near or the far end of a link over a medium.
    fn with_end(
        &mut self,
        link: LinkId,
        near: bool,
        hook: impl FnOnce(&mut dyn Router, &mut Context<'_>, usize),
    ) {
        if let Some(medium) = self.network.links()[link.index()].medium() {
            let (node, interface) = if near { medium.near } else { medium.far };
            self.with_router(node, |router, context| {
                hook(router, context, usize::from(interface));
            });
        }
    }

    fn with_medium(
        &mut self,
        id: MediumId,
        hook: impl FnOnce(&mut dyn Medium, &mut MediumContext<'_>),
    ) {
        if let Some(medium) = self.media.get_mut(id.index()) {
            let mut context = MediumContext::new(id, &mut self.network, &mut self.events);
            hook(medium.as_mut(), &mut context);
        }
    }

    #[inline]
    fn with_router(&mut self, node: NodeId, hook: impl FnOnce(&mut dyn Router, &mut Context<'_>)) {
        if let Some(router) = &mut self.routers[node.index()] {
            let mut context = Context::new(node, &mut self.network, &mut self.events);
            hook(router.as_mut(), &mut context);
        }
    }
}
