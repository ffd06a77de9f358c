//! The event loop.

use backlane_engine::{Digest, EventQueue, Trace, TraceEntry};
use backlane_units::SimTime;

use crate::application::Application;
use crate::link::Arrival;
use crate::network::{DropCause, Network};
use crate::packet::{LinkId, NodeId, PacketId};
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
}

impl Event {
    #[inline]
    fn word(self) -> u64 {
        let (kind, a, b) = match self {
            Self::Arrival(link) => (0u64, link.0, 0),
            Self::Transmit(link) => (1, link.0, 0),
            Self::Router { node, token } => (2, node.0, token),
            Self::Application { id, token } => (3, id, token),
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
    digest: Digest,
    trace: Option<Trace>,
}

impl<A: Application> Simulation<A> {
    /// Puts a network into motion. `routers` holds one entry for each node: a router for the
    /// nodes that forward, `None` for hosts. Calls every router's `start`.
    pub fn new(
        network: Network,
        events: EventQueue<Event>,
        application: A,
        routers: Vec<Option<Box<dyn Router>>>,
        trace: Option<Trace>,
    ) -> Self {
        let mut simulation = Self {
            network,
            events,
            application,
            routers,
            digest: Digest::default(),
            trace,
        };
        for node in 0..simulation.routers.len() as u32 {
            simulation.with_router(NodeId(node), |router, context| router.start(context));
        }
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

    /// A number for all that happened so far.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }

    /// Packets that are somewhere: on links and in routers. Must equal the balance's count.
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
        self.network.held_by_links() + (before_links + in_nodes) as usize
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
        if packet.exit == node {
            let destination = packet.destination;
            match self.network.downlink(destination) {
                Some(downlink) => self.network.enqueue(&mut self.events, downlink, id),
                None => self.network.drop_packet(id, DropCause::NoRoute),
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
            self.forward(source, id);
        }
        self.network.born.clear();
    }

    #[inline]
    fn with_router(&mut self, node: NodeId, hook: impl FnOnce(&mut dyn Router, &mut Context<'_>)) {
        if let Some(router) = &mut self.routers[node.index()] {
            let mut context = Context::new(node, &mut self.network, &mut self.events);
            hook(router.as_mut(), &mut context);
        }
    }
}
