//! The event loop.

use backlane_engine::{Digest, EventQueue, Trace, TraceEntry};
use backlane_units::SimTime;

use crate::application::Application;
use crate::link::Arrival;
use crate::mac::{Mac, MacContext};
use crate::network::{DropCause, Network};
use crate::packet::{LinkId, MacId, NodeId, PacketId};
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
    Mac {
        /// Whose.
        mac: MacId,
        /// Which.
        token: u32,
    },
}

impl Event {
    #[inline]
    fn word(self) -> u64 {
        let (kind, a, b) = match self {
            Self::Arrival(link) => (0u64, link.0, 0),
            Self::Transmit(link) => (1, link.0, 0),
            Self::Router { node, token } => (2, node.0, token),
            Self::Application { id, token } => (3, id, token),
            // Counted from the far end of the routers' numbers.
            Self::Mac { mac, token } => (2, !mac.0, token),
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
    macs: Vec<Box<dyn Mac>>,
    digest: Digest,
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
        let macs = std::mem::take(&mut network.macs);
        let mut simulation = Self {
            network,
            events,
            application,
            routers,
            macs,
            digest: Digest::default(),
            trace,
        };
        for node in 0..simulation.routers.len() as u32 {
            simulation.with_router(NodeId(node), |router, context| router.start(context));
        }
        for mac in 0..simulation.macs.len() as u32 {
            simulation.with_mac(MacId(mac), Mac::start);
        }
        simulation.pass_emerged();
        simulation
    }

    /// Runs until `until`, or until nothing is scheduled or `stop` says so (asked after every
    /// event). What is scheduled at `until` itself still happens. True if `stop` ended it.
    pub fn run(&mut self, until: SimTime, mut stop: impl FnMut(&A, SimTime) -> bool) -> bool {
        while let Some(event) = self.events.pop(until) {
            self.handle(event);
            if stop(&self.application, self.events.now()) {
                return true;
            }
        }
        false
    }

    /// The router of a node.
    pub fn router(&self, node: NodeId) -> Option<&dyn Router> {
        self.routers.get(node.index())?.as_deref()
    }

    /// A medium; as [`std::any::Any`] it can be turned into the type that it has.
    pub fn mac(&self, mac: MacId) -> Option<&dyn Mac> {
        self.macs.get(mac.index()).map(Box::as_ref)
    }

    /// The same, to change it.
    pub fn mac_mut(&mut self, mac: MacId) -> Option<&mut dyn Mac> {
        self.macs.get_mut(mac.index()).map(Box::as_mut)
    }

    /// A number for all that happened so far.
    pub fn digest(&self) -> u64 {
        self.digest.value()
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
        let in_media: usize = self.macs.iter().map(|mac| mac.held_pkts()).sum();
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
            self.network.set_link_up(&mut self.events, link, up);
        }
        true
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        self.digest
            .add(self.events.now().as_ps() ^ event.word().rotate_left(32));
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
            Event::Mac { mac, token } => {
                self.with_mac(mac, |mac, context| mac.on_timer(context, token));
            }
        }
        if !self.network.emerged.is_empty() {
            self.pass_emerged();
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
        let packet = &mut self.network.packets[id];
        let node = if to == NodeId::NONE {
            packet.destination
        } else {
            to
        };
        if packet.destination == node {
            match packet.message.take() {
                Some(message) => {
                    let interface = self
                        .network
                        .mesh_interfaces(node)
                        .iter()
                        .position(|interface| interface.incoming == link_id);
                    self.network.deliver(id);
                    if let Some(interface) = interface {
                        self.with_router(node, |router, context| {
                            router.on_message(context, interface, &message);
                        });
                    }
                }
                None => {
                    self.application
                        .on_packet(&mut self.network, &mut self.events, id);
                    self.network.deliver(id);
                    self.forward_born();
                }
            }
            return;
        }
        self.forward(node, id);
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
        match self.network.mac_of(host) {
            Some(mac) => {
                self.network.packets[id].queued_at = self.events.now();
                self.with_mac(mac, |mac, context| mac.on_packet(context, node, id));
            }
            None => self.network.drop_packet(id, DropCause::NoRoute),
        }
    }

    /// Packets that came out of media reach their destinations, or routers that pass them on;
    /// more may come out meanwhile.
    fn pass_emerged(&mut self) {
        let mut index = 0;
        while let Some(&(node, id)) = self.network.emerged.get(index) {
            index += 1;
            if self.network.packets[id].destination == node {
                self.application
                    .on_packet(&mut self.network, &mut self.events, id);
                self.network.deliver(id);
                self.forward_born();
            } else {
                self.forward(node, id);
            }
        }
        self.network.emerged.clear();
    }

    fn with_mac(&mut self, mac: MacId, hook: impl FnOnce(&mut dyn Mac, &mut MacContext<'_>)) {
        if let Some(medium) = self.macs.get_mut(mac.index()) {
            let mut context = MacContext::new(mac, &mut self.network, &mut self.events);
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
