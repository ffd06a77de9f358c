//! Nodes, interfaces, links, and the balance of packets.

use std::collections::VecDeque;
use std::rc::Rc;

use backlane_engine::{Digest, EventQueue, Stream};
use backlane_units::{Duration, Rate, SimTime};

use crate::capacity::Capacity;
use crate::capture::CaptureQueue;
use crate::link::{Enqueued, Link};
use crate::medium::{Medium, MediumCounters};
use crate::over_medium::{Emerged, MessageCounters, Radio};
use crate::packet::{FlowId, LinkId, MediumId, NodeId, Packet, PacketId, PacketStore};
use crate::queue::{ProportionalFair, QueueConfig, QueueDiscipline, User};
use crate::simulation::Event;
use crate::traced::Traced;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// A queue was full, or its discipline dropped the packet.
    Queue,
    /// The wire lost it.
    Loss,
    /// The wire was cut.
    LinkDown,
    /// The router knew no way.
    NoRoute,
    /// The time to live ran out.
    TtlExpired,
    /// The protocols of a radio link gave it up.
    Radio,
}

impl DropCause {
    /// All causes, in the order of their counters.
    pub const ALL: [Self; 6] = [
        Self::Queue,
        Self::Loss,
        Self::LinkDown,
        Self::NoRoute,
        Self::TtlExpired,
        Self::Radio,
    ];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Loss => "loss",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::TtlExpired => "ttl_expired",
            Self::Radio => "radio",
        }
    }
}

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
    pub(crate) radios: Vec<Radio>,
    pub(crate) messages: MessageCounters,
    /// A host's way out.
    uplink: Option<LinkId>,
    /// A host's router.
    attached_to: Option<NodeId>,
    /// A host's way in, from the router that it is attached to.
    downlink: Option<LinkId>,
    /// The medium of a host that has no wire.
    medium: Option<MediumId>,
}

/// Packets counted in and out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Packets that applications and routers sent.
    pub injected: u64,
    /// Packets that reached their destination.
    pub delivered: u64,
    /// Packets dropped, by [`DropCause`].
    pub dropped: [u64; DropCause::ALL.len()],
    /// Packets still under way.
    pub in_flight: u64,
}

impl Balance {
    /// Packets dropped for any cause.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Injected = delivered + dropped + in flight.
    pub fn holds(&self) -> bool {
        self.injected == self.delivered + self.dropped_total() + self.in_flight
    }
}

/// The nodes and wires of a simulation, and the packets on them.
#[derive(Default)]
pub struct Network {
    /// All packets under way.
    pub packets: PacketStore,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    balance: Balance,
    /// Bytes that a packet of a medium's host is larger in the mesh.
    tunnel_bytes: u32,
    /// Media, until the simulation takes them.
    pub(crate) media: Vec<Box<dyn Medium>>,
    /// What media carried up to each router and down from it, by router.
    carried: Vec<[MediumCounters; 2]>,
    /// Packets sent where no wire takes them, to be given to the source's router or medium after
    /// the callback that made them.
    pub(crate) born: Vec<PacketId>,
    /// What came out of media in the present call, and what was given to them.
    pub(crate) emerged: VecDeque<Emerged>,
    /// Copies of packets that their own node refused in the present call.
    pub(crate) refused: VecDeque<Packet>,
    /// TTL of the message that a router is being given.
    pub(crate) message_ttl: u8,
    /// Packets that wait at the source of a flow, as its router tells, by flow.
    pub(crate) source_backlogs: Vec<u32>,
    /// What a link gave up in the present call.
    given_up: Vec<PacketId>,
    /// What was seen in the present call, for a capture.
    pub(crate) captured: CaptureQueue,
    /// Of the events so far.
    pub(crate) digest: Digest,
    /// Every event is logged.
    pub(crate) is_traced: bool,
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

    /// The name of the medium that is added next, so that links can be made for it before
    /// ([`Network::connect_over`]).
    pub fn next_medium(&self) -> MediumId {
        MediumId(self.media.len() as u32)
    }

    /// Adds a medium. [`crate::Simulation::new`] starts it.
    pub fn add_medium(&mut self, medium: Box<dyn Medium>) -> MediumId {
        let id = self.next_medium();
        self.media.push(medium);
        id
    }

    /// Attaches a host to a router by a medium: what it sends and what is for it goes to
    /// [`Medium::on_packet`].
    pub fn attach_over(&mut self, host: NodeId, router: NodeId, medium: MediumId) {
        let host = &mut self.nodes[host.index()];
        host.attached_to = Some(router);
        host.medium = Some(medium);
        if router.index() >= self.carried.len() {
            self.carried
                .resize(router.index() + 1, [MediumCounters::default(); 2]);
        }
    }

    /// What media carried so far from the hosts of a router up to it, and down to them.
    pub fn carried_by_media(&self, router: NodeId) -> [MediumCounters; 2] {
        self.carried
            .get(router.index())
            .copied()
            .unwrap_or_default()
    }

    /// Makes each packet that a host of a medium sends or gets so many bytes larger in the mesh,
    /// between its first router and the one where it leaves: the headers of a tunnel. Where both
    /// are the same router there is no tunnel.
    pub fn set_tunnel_bytes(&mut self, bytes: u32) {
        self.tunnel_bytes = bytes;
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
        self.links[link.index()].set_up(events, up, &mut self.packets, &mut self.given_up);
        self.drop_given_up(DropCause::LinkDown);
        if self.links[link.index()].medium().is_some() {
            self.emerged.push_back(Emerged::LinkUp(link, up));
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

    /// Counts a packet in.
    #[inline]
    pub fn inject(&mut self, packet: Packet) -> PacketId {
        self.balance.injected += 1;
        self.packets.insert(packet)
    }

    /// Sends a packet from its source: into the host's uplink or medium, or to the router of the
    /// node.
    #[inline]
    pub fn send(&mut self, events: &mut EventQueue<Event>, packet: Packet) -> PacketId {
        let source = packet.source;
        let id = self.inject(packet);
        match self.nodes[source.index()].uplink {
            Some(uplink) => self.enqueue(events, uplink, id),
            None => self.born.push(id),
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
        match link.enqueue(events, id, &mut self.packets, &mut self.given_up) {
            Enqueued::Accepted => {
                if self.captured.is_on() {
                    self.note_sent(events, link_id, id);
                }
            }
            Enqueued::ForMedium => {
                self.give_to_radio(link_id, id);
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
        if !self.given_up.is_empty() {
            self.drop_given_up(DropCause::Queue);
        }
    }

    pub(crate) fn serve(&mut self, events: &mut EventQueue<Event>, link: LinkId) {
        self.links[link.index()].serve(events, &mut self.packets, &mut self.given_up);
        if !self.given_up.is_empty() {
            self.drop_given_up(DropCause::Queue);
        }
    }

    #[cold]
    fn drop_given_up(&mut self, cause: DropCause) {
        let mut given_up = std::mem::take(&mut self.given_up);
        for id in given_up.drain(..) {
            self.drop_packet(id, cause);
        }
        self.given_up = given_up;
    }

    pub(crate) fn notify_when_below(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        pkts: usize,
    ) {
        if let Some(medium) = self.links[link.index()].medium() {
            self.ask_radio_for_room(medium, pkts as u32);
            return;
        }
        let link = &mut self.links[link.index()];
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
            self.note_refused(id);
        }
        self.balance.dropped[cause as usize] += 1;
        self.packets.remove(id);
    }

    /// What waits before an application is told of it.
    #[cold]
    fn note_refused(&mut self, id: PacketId) {
        let packet = &self.packets[id];
        if packet.flow != FlowId::NONE {
            self.refused.push_back(packet.clone());
            self.emerged.push_back(Emerged::Refused);
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
    pub(crate) fn count_carried(&mut self, node: NodeId, id: PacketId, now: SimTime) {
        let packet = &self.packets[id];
        let (router, direction) = if packet.destination == node {
            (self.exit_of(node), 1)
        } else {
            (node, 0)
        };
        let inside_ps = now.saturating_since(packet.queued_at).as_ps();
        let size_bytes = packet.size_bytes;
        if let Some(carried) = self.carried.get_mut(router.index()) {
            let carried = &mut carried[direction];
            carried.bytes += u64::from(size_bytes);
            carried.packets += 1;
            carried.area += u128::from(size_bytes) * u128::from(inside_ps);
        }
    }

    /// A medium gives a packet up; on its way up it has met no router yet.
    pub(crate) fn count_dropped(&mut self, medium: MediumId, id: PacketId) {
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
        if let Some(carried) = self.carried.get_mut(router.index()) {
            carried[direction].drops += 1;
        }
    }

    #[inline]
    pub(crate) fn tunnel_bytes(&self) -> u32 {
        self.tunnel_bytes
    }

    /// A packet has come to a router that will pass it on, and was counted there: it enters the
    /// tunnel at its first router and leaves it at its last.
    pub(crate) fn pass_tunnel_end(&mut self, node: NodeId, id: PacketId) {
        let packet = &self.packets[id];
        let (first, last) = (packet.hops == 1, packet.exit == node);
        let ends = [packet.source, packet.destination];
        if first == last || ends.iter().all(|&end| self.medium_of(end).is_none()) {
            return;
        }
        let packet = &mut self.packets[id];
        if first {
            packet.size_bytes += self.tunnel_bytes;
        } else {
            packet.size_bytes -= self.tunnel_bytes;
        }
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
