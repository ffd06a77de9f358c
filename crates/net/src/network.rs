//! Nodes, interfaces and links, and the packets on them.

use std::rc::Rc;

use backlane_engine::{EventQueue, Stream};
use backlane_units::{Duration, Rate, SimTime};

use crate::capacity::Capacity;
use crate::capture::{Capture, CapturePoint, CaptureQueue, Port};
use crate::counters::{AccessCounters, Balance, DropCause, MessageCounters};
use crate::event::Event;
use crate::link::{Enqueued, Link, RadioLink};
use crate::medium::mailbox::{Mailbox, MediumRequest};
use crate::packet::{FlowId, LinkId, MediumId, NodeId, Packet, PacketId, PacketStore};
use crate::queue::{ProportionalFair, QueueConfig, QueueDiscipline, User};
use crate::traced::Traced;

/// A router's way to one neighbour: one end of a wire, or of a link over a medium.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The neighbour at the other end.
    pub peer: NodeId,
    /// The direction that leaves from here.
    pub outgoing: LinkId,
    /// The direction that comes in here.
    pub incoming: LinkId,
    /// The rate of `outgoing`; over a medium the nominal one.
    pub rate: Rate,
    /// The radio of the node, from zero, that the link shares with others; `None` for a wire.
    pub radio: Option<u8>,
}

/// A wire, both directions alike.
#[derive(Clone, Copy, Debug)]
pub struct LinkConfig {
    /// Rate of each direction; not zero.
    pub rate: Rate,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Queue of each direction.
    pub queue: QueueConfig,
}

/// One direction of a link that carries what a trace says.
#[derive(Clone, Debug)]
pub struct TracedConfig {
    /// What it carries.
    pub capacity: Rc<Capacity>,
    /// When the trace begins; before that, it stands at its beginning.
    pub origin: SimTime,
    /// Propagation delay, after what the trace does.
    pub delay: Duration,
    /// The queue; a bandwidth-delay product is that of the trace's mean rate.
    pub queue: QueueConfig,
}

#[derive(Debug, Default)]
pub(crate) struct Node {
    router: bool,
    pub(crate) interfaces: Vec<Interface>,
    messages: MessageCounters,
    /// A host's way out.
    uplink: Option<LinkId>,
    /// A host's router.
    attached_to: Option<NodeId>,
    /// A host's way in, from the router that it is attached to.
    downlink: Option<LinkId>,
    /// The medium of a host that has no wire.
    medium: Option<MediumId>,
}

/// The nodes and links of a simulation, and the packets on them.
#[derive(Default)]
pub struct Network {
    /// All packets under way.
    pub(crate) packets: PacketStore,
    nodes: Vec<Node>,
    links: Vec<Link>,
    balance: Balance,
    /// Bytes added to packets of media's hosts inside the mesh.
    encapsulation_bytes: u32,
    /// Traffic of media up to each router and down from it, by router.
    access: Vec<[AccessCounters; 2]>,
    /// Packets whose source has no uplink. The source's router or medium gets them after the
    /// hook that sent them.
    pub(crate) outbox: Vec<PacketId>,
    /// Effects of the present hook on media and routers.
    pub(crate) mailbox: Mailbox,
    /// Packets that a link dropped in the present call; empty between calls.
    dropped: Vec<PacketId>,
    pub(crate) capture: CaptureQueue,
}

impl Network {
    /// A network without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a router: a node that forwards.
    pub fn add_router(&mut self) -> NodeId {
        self.nodes.push(Node {
            router: true,
            ..Node::default()
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a host: a node at the edge that is attached to one router.
    pub fn add_host(&mut self) -> NodeId {
        self.nodes.push(Node::default());
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Joins two routers by a wire. The interfaces are the next ones on either side.
    pub fn connect(
        &mut self,
        events: &mut EventQueue<Event>,
        a: NodeId,
        b: NodeId,
        config: &LinkConfig,
    ) -> (LinkId, LinkId) {
        let (there, back) = self.wire(events, a, b, config);
        let interface = |peer, outgoing, incoming| Interface {
            peer,
            outgoing,
            incoming,
            rate: config.rate,
            radio: None,
        };
        self.nodes[a.index()]
            .interfaces
            .push(interface(b, there, back));
        self.nodes[b.index()]
            .interfaces
            .push(interface(a, back, there));
        (there, back)
    }

    /// Attaches a host to a router by a wire of its own. Gives the direction from the host and
    /// the direction to it.
    pub fn attach(
        &mut self,
        events: &mut EventQueue<Event>,
        host: NodeId,
        router: NodeId,
        config: &LinkConfig,
    ) -> (LinkId, LinkId) {
        let (up, down) = self.wire(events, host, router, config);
        self.attach_by(host, router, up, down);
        (up, down)
    }

    /// Attaches hosts to a router by one shared pipe for each direction, a cell of ideal radio:
    /// `rate` is shared among those that have something to send, proportionally fair, each
    /// with a queue of `queue_bytes`. Gives the direction up and the direction down.
    pub fn attach_cell(
        &mut self,
        events: &mut EventQueue<Event>,
        hosts: &[NodeId],
        router: NodeId,
        rate: Rate,
        delay: Duration,
        queue_bytes: u64,
    ) -> (LinkId, LinkId) {
        let fair = |user| -> Option<Box<dyn QueueDiscipline>> {
            Some(Box::new(ProportionalFair::new(user, queue_bytes)))
        };
        let up = self.link(
            events,
            NodeId::NONE,
            router,
            rate,
            delay,
            None,
            fair(User::Source),
        );
        let down = self.link(
            events,
            router,
            NodeId::NONE,
            rate,
            delay,
            None,
            fair(User::Destination),
        );
        for &host in hosts {
            self.attach_by(host, router, up, down);
        }
        (up, down)
    }

    /// Joins two routers over a medium, each by one of its radios. Radios are numbered from
    /// zero; a radio belongs to one medium. `rate` is the link's rate for routing protocols. The
    /// interfaces are the next ones on either side. The two link directions hold no packets: the
    /// medium gets what is sent over them ([`Medium::on_frame`](crate::Medium::on_frame)).
    pub fn connect_over(
        &mut self,
        events: &mut EventQueue<Event>,
        medium: MediumId,
        (a, radio_a): (NodeId, u8),
        (b, radio_b): (NodeId, u8),
        rate: Rate,
    ) -> (LinkId, LinkId) {
        let ends = [(a, radio_a), (b, radio_b)].map(|(node, radio)| {
            self.mailbox.add_radio(node, radio, medium);
            (node, self.nodes[node.index()].interfaces.len() as u16)
        });
        let mut direction = |near: (NodeId, u16), radio, far: (NodeId, u16)| {
            let id = self.link(events, near.0, far.0, rate, Duration::ZERO, None, None);
            self.links[id.index()].set_radio_link(RadioLink {
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

    /// Attaches a host to a router by a medium: what it sends and what is for it goes to
    /// [`Medium::on_packet`](crate::Medium::on_packet).
    pub fn attach_over(&mut self, host: NodeId, router: NodeId, medium: MediumId) {
        let host = &mut self.nodes[host.index()];
        host.attached_to = Some(router);
        host.medium = Some(medium);
        if router.index() >= self.access.len() {
            self.access
                .resize(router.index() + 1, [AccessCounters::default(); 2]);
        }
    }

    /// The traffic of media so far from the hosts of a router up to it, and down to them.
    pub fn access_counters(&self, router: NodeId) -> [AccessCounters; 2] {
        self.access.get(router.index()).copied().unwrap_or_default()
    }

    /// Adds so many bytes to each packet that a host of a medium sends or receives, between the
    /// first router of the packet and its exit router: the headers of an encapsulation. A packet
    /// that meets one router only is not encapsulated.
    pub fn set_encapsulation_bytes(&mut self, bytes: u32) {
        self.encapsulation_bytes = bytes;
    }

    /// Captures what these nodes send and receive from now on.
    pub fn set_capture(&mut self, nodes: &[NodeId], capture: Box<dyn Capture>) {
        self.capture.set(nodes, self.nodes.len(), capture);
    }

    /// Attaches hosts to a router by a link whose capacity varies, one for each direction; where
    /// there are several hosts they share it. Gives the direction up and the direction down.
    pub fn attach_traced(
        &mut self,
        events: &mut EventQueue<Event>,
        hosts: &[NodeId],
        router: NodeId,
        up: &TracedConfig,
        down: &TracedConfig,
    ) -> (LinkId, LinkId) {
        let host = match hosts {
            [single] => *single,
            _ => NodeId::NONE,
        };
        let up = self.traced(events, host, router, up);
        let down = self.traced(events, router, host, down);
        for &host in hosts {
            self.attach_by(host, router, up, down);
        }
        (up, down)
    }

    /// Loses each packet that a link direction sends with this probability.
    pub fn set_loss(&mut self, link: LinkId, probability: f64, stream: Stream) {
        self.links[link.index()].set_loss(probability, stream);
    }

    /// Cuts or mends a link direction. What was queued for it and on it when it is cut is lost.
    /// No router is told.
    pub(crate) fn set_link_up(&mut self, events: &mut EventQueue<Event>, link: LinkId, up: bool) {
        self.links[link.index()].set_up(events, up, &mut self.packets, &mut self.dropped);
        self.drop_dropped(DropCause::LinkDown);
        if self.links[link.index()].is_over_medium() {
            self.mailbox.request(MediumRequest::SetLinkUp(link, up));
        }
    }

    /// The number of nodes, hosts included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a node forwards.
    #[inline]
    pub fn is_router(&self, node: NodeId) -> bool {
        self.nodes[node.index()].router
    }

    /// A router's interfaces towards other routers.
    #[inline]
    pub fn mesh_interfaces(&self, node: NodeId) -> &[Interface] {
        &self.nodes[node.index()].interfaces
    }

    /// The router where packets for a node leave the mesh: the node itself, or where the host
    /// is attached.
    #[inline]
    pub fn exit_of(&self, node: NodeId) -> NodeId {
        self.nodes[node.index()].attached_to.unwrap_or(node)
    }

    /// All link directions, by [`LinkId`].
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// One link direction, to ask its backlog.
    #[inline]
    pub fn link_mut(&mut self, link: LinkId) -> &mut Link {
        &mut self.links[link.index()]
    }

    /// Adds a packet and counts it.
    #[inline]
    pub(crate) fn inject(&mut self, packet: Packet) -> PacketId {
        self.balance.injected += 1;
        self.packets.insert(packet)
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
        match self.nodes[source.index()].uplink {
            Some(uplink) => self.enqueue(events, uplink, id),
            None => self.outbox.push(id),
        }
        id
    }

    /// Packets counted in and out so far.
    pub fn balance(&self) -> Balance {
        Balance {
            in_flight: self.packets.live() as u64,
            ..self.balance
        }
    }

    /// Packets held by the links: queued, in transmission, on the wire.
    pub fn held_by_links(&self) -> usize {
        self.links.iter().map(Link::held_pkts).sum()
    }

    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        events: &mut EventQueue<Event>,
        link_id: LinkId,
        id: PacketId,
    ) {
        let link = &mut self.links[link_id.index()];
        match link.enqueue(events, id, &mut self.packets, &mut self.dropped) {
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
            self.drop_dropped(DropCause::Queue);
        }
    }

    pub(crate) fn serve(&mut self, events: &mut EventQueue<Event>, link: LinkId) {
        self.links[link.index()].serve(events, &mut self.packets, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.drop_dropped(DropCause::Queue);
        }
    }

    #[cold]
    fn drop_dropped(&mut self, cause: DropCause) {
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
            !link.is_scheduled(),
            "departures of a scheduled link are not known"
        );
        let at = link.ready_at(events.now(), pkts);
        events.set(link.transmit_timer(), at);
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

    /// The way from an exit router to a host that is attached to it.
    #[inline]
    pub(crate) fn downlink(&self, host: NodeId) -> Option<LinkId> {
        self.nodes[host.index()].downlink
    }

    /// The medium of a host.
    #[inline]
    pub(crate) fn medium_of(&self, host: NodeId) -> Option<MediumId> {
        self.nodes[host.index()].medium
    }

    /// A packet comes out of a medium at `node`.
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

    /// A medium gives a packet up; on its way up it has met no router yet.
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

    /// Readies a packet for its way from the router `node` to the one where its destination is
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

    /// Routing messages that a node has sent so far.
    pub fn messages_sent(&self, node: NodeId) -> MessageCounters {
        self.nodes[node.index()].messages
    }

    pub(crate) fn count_message(&mut self, node: NodeId, bytes: u32) {
        let messages = &mut self.nodes[node.index()].messages;
        messages.messages += 1;
        messages.bytes += u64::from(bytes);
    }

    pub(crate) fn radio_count(&self, node: NodeId) -> usize {
        self.mailbox.radio_count(node)
    }

    fn attach_by(&mut self, host: NodeId, router: NodeId, up: LinkId, down: LinkId) {
        let host = &mut self.nodes[host.index()];
        host.uplink = Some(up);
        host.downlink = Some(down);
        host.attached_to = Some(router);
    }

    fn wire(
        &mut self,
        events: &mut EventQueue<Event>,
        a: NodeId,
        b: NodeId,
        config: &LinkConfig,
    ) -> (LinkId, LinkId) {
        let mut direction = |from, to| {
            let limit = config.queue.limit().resolve(config.rate, config.delay);
            let discipline = config.queue.discipline(limit);
            let id = self.link(
                events,
                from,
                to,
                config.rate,
                config.delay,
                Some(limit),
                discipline,
            );
            if let QueueConfig::Marking { mark_above, .. } = config.queue {
                let threshold = mark_above.resolve(config.rate, config.delay);
                self.links[id.index()].set_marking(threshold);
            }
            id
        };
        (direction(a, b), direction(b, a))
    }

    fn traced(
        &mut self,
        events: &mut EventQueue<Event>,
        from: NodeId,
        to: NodeId,
        config: &TracedConfig,
    ) -> LinkId {
        let (rate, delay) = (config.capacity.mean_rate(), config.delay);
        let discipline = config.queue.build(rate, delay);
        let id = self.link(events, from, to, rate, delay, None, None);
        let traced = Traced::new(config.capacity.clone(), config.origin, discipline);
        self.links[id.index()].set_traced(traced);
        id
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn link(
        &mut self,
        events: &mut EventQueue<Event>,
        from: NodeId,
        to: NodeId,
        rate: Rate,
        delay: Duration,
        fifo_limit: Option<(u64, u32)>,
        discipline: Option<Box<dyn QueueDiscipline>>,
    ) -> LinkId {
        let id = LinkId(self.links.len() as u32);
        let arrival = events.timer(Event::Arrival(id));
        let transmit = events.timer(Event::Transmit(id));
        self.links.push(Link::new(
            from, to, rate, delay, fifo_limit, discipline, arrival, transmit,
        ));
        id
    }
}
