//! The event loop.

mod ahead;
pub mod crossing;
mod dispatch;

use backlane_engine::{EventQueue, Trace};
use backlane_units::SimTime;

use crate::capture::{CapturePoint, Port};
use crate::counters::{DropCause, RouterQueue};
use crate::event::Event;
use crate::event_log::EventLog;
use crate::host::{Application, HostContext};
use crate::link::{Arrival, LinkState};
use crate::medium::{Medium, MediumContext};
use crate::network::Network;
use crate::packet::{FlowId, LinkId, MediumId, NodeId, PacketId};
use crate::router::{Context, Router};
use crate::under_way::Mark;

/// A network, its routers, media and application, and the events that drive them.
pub struct Simulation<A> {
    /// Nodes, links and packets.
    pub network: Network,
    /// What is scheduled.
    pub events: EventQueue<Event>,
    /// Sources and sinks.
    pub application: A,
    routers: Vec<Option<Box<dyn Router>>>,
    media: Vec<Box<dyn Medium>>,
    log: EventLog,
    looks_ahead: bool,
    /// Arrivals that fired here and belong to another region.
    foreign: u64,
    /// Events of regions that were absorbed.
    absorbed: u64,
}

impl<A: Application> Simulation<A> {
    /// Starts a network. `routers` holds one entry for each node: a router for the nodes that
    /// forward, `None` for hosts, and for the nodes of other [regions](crate::network::Region). `media` are in the order of their [`MediumId`]s. Calls every
    /// router's `start`, then every medium's.
    pub fn new(
        network: Network,
        events: EventQueue<Event>,
        application: A,
        routers: Vec<Option<Box<dyn Router>>>,
        media: Vec<Box<dyn Medium>>,
    ) -> Self {
        let mut simulation = Self {
            network,
            events,
            application,
            routers,
            media,
            log: EventLog::default(),
            looks_ahead: false,
            foreign: 0,
            absorbed: 0,
        };
        if simulation.is_large() {
            simulation.look_ahead();
        }
        for node in 0..simulation.routers.len() as u32 {
            simulation.with_router(NodeId(node), |router, context| router.start(context));
        }
        for medium in 0..simulation.media.len() as u32 {
            simulation.with_medium(MediumId(medium), Medium::start);
        }
        simulation.dispatch_deferred();
        simulation
    }

    /// Logs every event from here on, if a trace is given.
    #[must_use]
    pub fn with_trace(mut self, trace: Option<Trace>) -> Self {
        self.log.trace = trace;
        self
    }

    /// Runs until `until`, until nothing is scheduled, or until `stop`, called after every event,
    /// returns true. Events at `until` itself still happen. True if `stop` ended the run.
    pub fn run(&mut self, until: SimTime, mut stop: impl FnMut(&A, SimTime) -> bool) -> bool {
        while self.step(until) {
            if stop(&self.application, self.events.now()) {
                return true;
            }
        }
        false
    }

    /// Handles the next event, with the internal events that media handle before the one after.
    /// False if there is none until `until`.
    #[inline]
    pub fn step(&mut self, until: SimTime) -> bool {
        if self.looks_ahead {
            self.prefetch_coming();
        }
        let Some(event) = self.events.pop(until) else {
            return false;
        };
        self.handle(event);
        true
    }

    /// Moves the clock to `at`, to which the simulation has run, for a change from outside.
    pub fn advance(&mut self, at: SimTime) {
        self.events.advance(at);
    }

    /// The application acts at `at`, without a timer: a packet comes from outside the simulation.
    /// Everything due before must have happened. The digest counts the act as an event of the
    /// application's endpoint `id`.
    pub fn act<R>(
        &mut self,
        at: SimTime,
        id: u32,
        hook: impl FnOnce(&mut A, &mut HostContext<'_>) -> R,
    ) -> R {
        self.events.advance(at);
        let token = u32::MAX;
        self.log
            .record(Event::Application { id, token }, self.events.now());
        let (application, mut context) = self.host();
        let result = hook(application, &mut context);
        self.flush_outbox();
        self.flush_capture();
        if !self.network.mailbox.is_empty() {
            self.dispatch_deferred();
        }
        result
    }

    /// Puts `router` in place of a node's router and starts it. The old one must hold no packets and
    /// have no timers; routes that it installed stay where the new one installs none.
    pub fn replace_router(&mut self, node: NodeId, router: Box<dyn Router>) {
        self.routers[node.index()] = Some(router);
        self.with_router(node, |router, context| router.start(context));
        self.dispatch_deferred();
    }

    /// The router of a node.
    pub fn router(&self, node: NodeId) -> Option<&dyn Router> {
        self.routers.get(node.index())?.as_deref()
    }

    /// A medium; [`std::any::Any`] gives access to its type.
    pub fn medium(&self, medium: MediumId) -> Option<&dyn Medium> {
        self.media.get(medium.index()).map(Box::as_ref)
    }

    /// A medium, for changes.
    pub fn medium_mut(&mut self, medium: MediumId) -> Option<&mut dyn Medium> {
        self.media.get_mut(medium.index()).map(Box::as_mut)
    }

    /// The digest of all events so far.
    pub fn digest(&self) -> u64 {
        self.log.digest.value()
    }

    /// The number of events so far.
    pub fn fired(&self) -> u64 {
        self.events.fired() - self.foreign + self.absorbed
    }

    /// Packets that links, routers and media hold. Must equal the balance's count in flight.
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

    /// Takes the wire between two routers down or up, both directions, without notice to either.
    /// False if there is none.
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

    /// Takes a link direction down or up, with its carrier ([`Simulation::set_link_state`]).
    pub fn set_link_up(&mut self, link: LinkId, up: bool) {
        let state = if up { LinkState::Up } else { LinkState::Down };
        self.set_link_state(link, state);
    }

    /// Sets the state of a link direction. Packets queued for a wire and on it when it goes down
    /// are lost; over a medium nothing passes from then on. No router is notified.
    pub fn set_link_state(&mut self, link: LinkId, state: LinkState) {
        self.network.set_link_state(&mut self.events, link, state);
        self.dispatch_deferred();
    }

    /// Notifies the sending router of a wire of its carrier ([`Router::on_carrier`]).
    pub fn report_carrier(&mut self, link: LinkId) {
        let record = &self.network.links()[link.index()];
        let (from, present) = (record.from, record.has_carrier());
        if from == NodeId::NONE || record.is_over_medium() {
            return;
        }
        let mut interfaces = self.network.mesh_interfaces(from).iter();
        if let Some(interface) = interfaces.position(|interface| interface.outgoing == link) {
            self.with_router(from, |router, context| {
                router.on_carrier(context, interface, present);
            });
            self.flush_capture();
            self.dispatch_deferred();
        }
    }

    /// Notifies a router that its node fails or works again ([`Router::on_power`]).
    pub fn report_power(&mut self, node: NodeId, on: bool) {
        self.with_router(node, |router, context| router.on_power(context, on));
        self.flush_capture();
        self.dispatch_deferred();
    }

    /// Silences the radios of a router, or lets them work again. Its links are separate.
    pub fn set_node_up(&mut self, node: NodeId, up: bool) {
        for medium in 0..self.media.len() as u32 {
            self.with_medium(MediumId(medium), |medium, context| {
                medium.set_node_up(context, node, up);
            });
        }
        self.dispatch_deferred();
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        if let Event::Arrival(link) = event
            && self.network.link(link).leads_out()
        {
            return self.leave(link);
        }
        self.log.record(event, self.events.now());
        match event {
            Event::Arrival(link) => self.arrive(link),
            Event::Transmit(link) => {
                let (scheduled, from) = {
                    let link = &self.network.links()[link.index()];
                    (link.is_scheduled(), link.from)
                };
                if scheduled {
                    self.network.serve(&mut self.events, link);
                }
                if !scheduled || self.network.link_mut(link).take_room() {
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
                let (application, mut context) = self.host();
                application.on_timer(&mut context, id, token);
                self.flush_outbox();
            }
            Event::Medium { medium, token } => {
                self.with_medium(medium, |medium, context| medium.on_timer(context, token));
            }
        }
        self.flush_capture();
        if !self.network.mailbox.is_empty() {
            self.dispatch_deferred();
        }
    }

    /// Passes on the records of the last hook to the capture.
    #[inline]
    fn flush_capture(&mut self) {
        if !self.network.capture.is_flushed() {
            let (network, application) = (&mut self.network, &self.application);
            network.capture.flush(&network.packets, |id, packet| {
                application.transport_header(id, packet)
            });
        }
    }

    /// A packet has come to a node, and some nodes are captured.
    #[cold]
    fn capture_received(&mut self, node: NodeId, port: Port, id: PacketId) {
        if self.network.capture.is_captured(node) {
            let point = CapturePoint {
                at: self.events.now(),
                node,
                port,
                sent: false,
            };
            let network = &mut self.network;
            network.capture.push_packet(point, id, &network.packets);
            self.flush_capture();
        }
    }

    #[inline]
    fn arrive(&mut self, link_id: LinkId) {
        let link = self.network.link_mut(link_id);
        let to = link.to;
        let Some(Arrival { id, mark, next }) = link.arrive(&mut self.events, link_id) else {
            return;
        };
        if let Some(next) = next {
            self.network.packets.prefetch(next);
        }
        let node = if to == NodeId::NONE {
            self.network.packets[id].destination
        } else {
            to
        };
        if mark != Mark::None {
            return self.arrive_marked(link_id, node, id, mark);
        }
        self.reach(link_id, node, id);
    }

    /// An impaired wire has lost or duplicated a packet.
    #[cold]
    fn arrive_marked(&mut self, link: LinkId, node: NodeId, id: PacketId, mark: Mark) {
        if mark == Mark::Lost {
            return self.network.drop_packet(id, DropCause::Loss);
        }
        let copy = self.network.duplicate(id);
        self.application.on_duplicate(id, copy);
        self.reach(link, node, id);
        self.reach(link, node, copy);
    }

    /// A packet has come to the node at the far end of a wire.
    #[inline]
    fn reach(&mut self, link_id: LinkId, node: NodeId, id: PacketId) {
        if self.network.capture.is_on() {
            let from = self.network.links()[link_id.index()].from;
            self.capture_received(node, Port::Wire(from), id);
        }
        let packet = &self.network.packets[id];
        if packet.message.is_some() {
            let mut interfaces = self.network.mesh_interfaces(node).iter();
            let interface = interfaces.position(|interface| interface.incoming == link_id);
            if self.take_message(node, interface, id) {
                return;
            }
            return self.arrive_at(node, id);
        }
        if packet.destination == node {
            self.deliver(id);
        } else {
            self.forward(node, id);
        }
    }

    /// A packet has come to a node: to its destination, or to a router that forwards it.
    fn arrive_at(&mut self, node: NodeId, id: PacketId) {
        if self.network.packets[id].destination == node {
            self.deliver(id);
        } else {
            self.forward(node, id);
        }
    }

    /// A packet has reached its destination.
    #[inline]
    fn deliver(&mut self, id: PacketId) {
        let (application, mut context) = self.host();
        application.on_packet(&mut context, id);
        self.network.deliver(id);
        self.flush_outbox();
    }

    /// Removes the message of a packet that was received on an interface, and gives it to the
    /// router. True if the packet was the message alone; it is freed then.
    #[cold]
    fn take_message(&mut self, node: NodeId, interface: Option<usize>, id: PacketId) -> bool {
        let packet = &mut self.network.packets[id];
        let Some(message) = packet.message.take() else {
            return false;
        };
        let (alone, ttl) = (packet.flow == FlowId::NONE, packet.ttl);
        if alone {
            self.network.deliver(id);
        } else {
            packet.size_bytes -= message.len() as u32;
        }
        if let Some(interface) = interface {
            self.with_router(node, |router, context| {
                router.on_message(context, interface, ttl, &message);
            });
        }
        alone
    }

    /// A router forwards a packet.
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
        if self.network.encapsulates() {
            self.network.encapsulate(node, id);
        }
        if exit == node {
            match self.network.downlink(destination) {
                Some(downlink) => self.network.enqueue(&mut self.events, downlink, id),
                None => self.give_to_medium(node, destination, id),
            }
            return;
        }
        if let Some(link) = self.network.next_link(node, exit) {
            self.network.packets[id].previous = node;
            self.network.enqueue(&mut self.events, link, id);
        } else if let Some(router) = &mut self.routers[node.index()] {
            let mut context = Context::new(node, &mut self.network, &mut self.events);
            router.on_packet(&mut context, id);
        } else {
            self.network.drop_packet(id, DropCause::NoRoute);
        }
    }

    /// Gives packets without an uplink to the router or medium of their source.
    #[inline]
    fn flush_outbox(&mut self) {
        for index in 0..self.network.outbox.len() {
            let id = self.network.outbox[index];
            let source = self.network.packets[id].source;
            if self.network.is_router(source) {
                self.forward(source, id);
            } else {
                self.give_to_medium(source, source, id);
            }
        }
        self.network.outbox.clear();
    }

    /// `node` gives a packet to the medium of `host`.
    fn give_to_medium(&mut self, node: NodeId, host: NodeId, id: PacketId) {
        match self.network.medium_of(host) {
            Some(medium) => {
                self.network.packets[id].queued_at = self.events.now();
                let point = CapturePoint {
                    at: self.events.now(),
                    node,
                    port: Port::Medium,
                    sent: true,
                };
                let network = &mut self.network;
                network.capture.push_packet(point, id, &network.packets);
                self.with_medium(medium, |medium, context| {
                    medium.on_packet(context, node, id);
                });
            }
            None => self.network.drop_packet(id, DropCause::NoRoute),
        }
    }

    /// The application with its context.
    #[inline]
    fn host(&mut self) -> (&mut A, HostContext<'_>) {
        let context = HostContext::new(&mut self.network, &mut self.events, &self.routers);
        (&mut self.application, context)
    }

    fn with_medium(
        &mut self,
        id: MediumId,
        hook: impl FnOnce(&mut dyn Medium, &mut MediumContext<'_>),
    ) {
        if let Some(medium) = self.media.get_mut(id.index()) {
            let mut context =
                MediumContext::new(id, &mut self.network, &mut self.events, &mut self.log);
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
