//! Nodes, interfaces and links, and the packets on them.

mod ahead;
mod region;
mod transfer;

use std::sync::Arc;

use backlane_engine::{EventQueue, Stream, prefetch};
use backlane_units::{Duration, Rate, SimTime};

use crate::capacity::Capacity;
use crate::capture::{Capture, CaptureQueue};
use crate::counters::{AccessCounters, Balance, MessageCounters};
use crate::event::Event;
use crate::forwarding::ForwardingTable;
use crate::impairments::ImpairmentConfig;
use crate::link::{Link, RadioLink};
use crate::medium::mailbox::Mailbox;
use crate::packet::{LinkId, MediumId, NodeId, PacketId, PacketStore};
use crate::queue::{ProportionalFair, QueueConfig, QueueDiscipline, QueuePlace, User};
use crate::traced::Traced;

pub use region::Region;

/// A router's interface to one neighbour: one end of a wire, or of a link over a medium.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The neighbour at the other end.
    pub peer: NodeId,
    /// The number of the link's interface there, from zero.
    pub peer_interface: u16,
    /// The direction that leaves from here.
    pub outgoing: LinkId,
    /// The direction that comes in here.
    pub incoming: LinkId,
    /// The rate of `outgoing`; over a medium the nominal one.
    pub rate: Rate,
    /// The radio of the node, from zero, that the link shares with others; `None` for a wire.
    pub radio: Option<u8>,
    /// The radio of the peer, likewise.
    pub peer_radio: Option<u8>,
}

/// A wire, both directions alike.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Rate of each direction; not zero.
    pub rate: Rate,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Queue of each direction.
    pub queue: QueueConfig,
}

/// One direction of a link with a capacity trace.
#[derive(Clone, Debug)]
pub struct TracedConfig {
    /// The capacity over time.
    pub capacity: Arc<Capacity>,
    /// When the trace begins; before that, its first value holds.
    pub origin: SimTime,
    /// Propagation delay, after the transmission.
    pub delay: Duration,
    /// The queue; a bandwidth-delay product uses the trace's mean rate.
    pub queue: QueueConfig,
}

/// A node; what does not exist is `NONE`.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) interfaces: Vec<Interface>,
    messages: MessageCounters,
    /// A host's link to its router.
    uplink: LinkId,
    /// The link to a host from its router.
    downlink: LinkId,
    /// A host's router.
    attached_to: NodeId,
    /// The medium of a host that has no wire.
    medium: MediumId,
    router: bool,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 64);

/// The nodes and links of a simulation, and the packets on them.
#[derive(Default)]
pub struct Network {
    /// All packets under way.
    pub(crate) packets: PacketStore,
    nodes: Vec<Node>,
    /// By node, up to the last one that has a route.
    forwarding: Vec<ForwardingTable>,
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
    /// What this network runs of a divided one.
    pub(crate) region: Option<Box<Region>>,
    /// Packets under way in regions that were absorbed, less those that both halves of a link had.
    elsewhere: isize,
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
        let [at_a, at_b] = [a, b].map(|node| self.nodes[node.index()].interfaces.len() as u16);
        let interface = |peer, peer_interface, outgoing, incoming| Interface {
            peer,
            peer_interface,
            outgoing,
            incoming,
            rate: config.rate,
            radio: None,
            peer_radio: None,
        };
        self.nodes[a.index()]
            .interfaces
            .push(interface(b, at_b, there, back));
        self.nodes[b.index()]
            .interfaces
            .push(interface(a, at_a, back, there));
        (there, back)
    }

    /// Attaches a host to a router by a wire of its own. Returns the direction from the host and
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
    /// `rate` is shared proportionally fair among the hosts with a backlog, each with a queue of
    /// `queue_bytes`. Returns the direction up and the direction down.
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
        let up = self.add_link(
            events,
            NodeId::NONE,
            router,
            rate,
            delay,
            None,
            fair(User::Source),
        );
        let down = self.add_link(
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
            let id = self.add_link(events, near.0, far.0, rate, Duration::ZERO, None, None);
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
        let mut interface =
            |node: NodeId, radios: [u8; 2], far: (NodeId, u16), links: [LinkId; 2]| {
                let ((peer, peer_interface), [outgoing, incoming]) = (far, links);
                self.nodes[node.index()].interfaces.push(Interface {
                    peer,
                    peer_interface,
                    outgoing,
                    incoming,
                    rate,
                    radio: Some(radios[0]),
                    peer_radio: Some(radios[1]),
                });
            };
        interface(a, [radio_a, radio_b], ends[1], [there, back]);
        interface(b, [radio_b, radio_a], ends[0], [back, there]);
        (there, back)
    }

    /// Attaches a host to a router by a medium: packets from it and for it go to
    /// [`Medium::on_packet`](crate::Medium::on_packet).
    pub fn attach_over(&mut self, host: NodeId, router: NodeId, medium: MediumId) {
        let host = &mut self.nodes[host.index()];
        host.attached_to = router;
        host.medium = medium;
        if router.index() >= self.access.len() {
            self.access
                .resize(router.index() + 1, [AccessCounters::default(); 2]);
        }
    }

    /// The traffic of media so far from the hosts of a router up to it, and down to them.
    pub fn access_counters(&self, router: NodeId) -> [AccessCounters; 2] {
        self.access.get(router.index()).copied().unwrap_or_default()
    }

    /// Adds these bytes to each packet that a host of a medium sends or receives, between the first
    /// router of the packet and its exit router: the headers of an encapsulation. A packet that
    /// meets one router only is not encapsulated.
    pub fn set_encapsulation_bytes(&mut self, bytes: u32) {
        self.encapsulation_bytes = bytes;
    }

    /// Captures what these nodes send and receive from now on.
    pub fn set_capture(&mut self, nodes: &[NodeId], capture: Box<dyn Capture>) {
        self.capture.set(nodes, self.nodes.len(), capture);
    }

    /// Attaches hosts to a router by a link with a capacity trace for each direction; several
    /// hosts share it. Returns the direction up and the direction down.
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

    /// Impairs what a link direction sends; `stream` gives the random stream of a purpose. Called
    /// before any packet is sent.
    pub fn set_impairments(
        &mut self,
        link: LinkId,
        config: &ImpairmentConfig,
        stream: impl FnMut(&'static str) -> Stream,
    ) {
        self.links[link.index()].set_impairments(config, stream);
    }

    /// Lets a direction of a wire carry what a trace says; the queue is built again. Called before any
    /// packet is sent. The nominal rate remains that of the interface, and of a queue in
    /// bandwidth-delay products.
    pub fn set_capacity(
        &mut self,
        link: LinkId,
        capacity: Arc<Capacity>,
        origin: SimTime,
        queue: &QueueConfig,
    ) {
        let own = &mut self.links[link.index()];
        let discipline = queue.build(own.rate(), own.delay(), QueuePlace::Link(link));
        own.set_traced(Traced::new(capacity, origin, discipline));
    }

    /// Routing messages that a node has sent so far.
    pub fn messages_sent(&self, node: NodeId) -> MessageCounters {
        self.nodes[node.index()].messages
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
        self.nodes[node.index()].attached_to.some().unwrap_or(node)
    }

    /// All link directions, by [`LinkId`].
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    #[inline]
    pub(crate) fn link(&self, link: LinkId) -> &Link {
        &self.links[link.index()]
    }

    /// Bytes of the records that packets meet on their way.
    pub(crate) fn record_bytes(&self) -> usize {
        size_of_val(self.links.as_slice()) + size_of_val(self.nodes.as_slice())
    }

    #[inline]
    pub(crate) fn prefetch_node(&self, node: NodeId) {
        prefetch(&self.nodes[node.index()]);
    }

    #[inline]
    pub(crate) fn prefetch_routes(&self, node: NodeId) {
        if let Some(table) = self.forwarding.get(node.index()) {
            prefetch(table);
        }
    }

    /// The node at the far end of a link, and the exit of the first packet on it.
    #[inline]
    pub(crate) fn first_hop_of(&self, link: LinkId) -> Option<(NodeId, NodeId)> {
        let link = self.link(link);
        let id = link.first_pkt().some()?;
        Some((link.to.some()?, self.packets[id].exit))
    }

    /// One link direction, for its backlog.
    #[inline]
    pub fn link_mut(&mut self, link: LinkId) -> &mut Link {
        &mut self.links[link.index()]
    }

    /// The balance of packets so far. Of a region alone it does not hold.
    pub fn balance(&self) -> Balance {
        Balance {
            in_flight: (self.packets.live() as isize + self.elsewhere - self.duplicates()) as u64,
            ..self.balance
        }
    }

    /// Packets held by the links: queued, in transmission, on the wire.
    pub fn held_by_links(&self) -> usize {
        self.links.iter().map(Link::held_pkts).sum()
    }

    fn attach_by(&mut self, host: NodeId, router: NodeId, up: LinkId, down: LinkId) {
        let host = &mut self.nodes[host.index()];
        host.uplink = up;
        host.downlink = down;
        host.attached_to = router;
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
            let place = QueuePlace::Link(LinkId(self.links.len() as u32));
            let discipline = config.queue.discipline(config.rate, config.delay, place);
            let id = self.add_link(
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
        let place = QueuePlace::Link(LinkId(self.links.len() as u32));
        let discipline = config.queue.build(rate, delay, place);
        let id = self.add_link(events, from, to, rate, delay, None, None);
        let traced = Traced::new(config.capacity.clone(), config.origin, discipline);
        self.links[id.index()].set_traced(traced);
        id
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn add_link(
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
        let transmit = events.timer(Event::Transmit(id));
        self.links.push(Link::new(
            from, to, rate, delay, fifo_limit, discipline, transmit,
        ));
        id
    }
}
