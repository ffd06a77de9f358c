//! Networks that run AODV, over wires or over a medium without contention, and what their
//! routers heard.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use backlane_engine::{EventQueue, Stream, Streams, TimerId};
use backlane_net::{
    Application, Context, DropCause, Event, FlowId, HostContext, LinkConfig, LinkId, Medium,
    MediumContext, MediumId, Network, NodeId, Packet, PacketId, QueueConfig, QueueLimit, Reading,
    Router, RouterQueue, Simulation,
};
use backlane_routing::aodv::message::Message;
use backlane_routing::aodv::{Aodv, Config};
use backlane_units::{Duration, Rate, SimTime};

const RATE: Rate = Rate::from_bps(100_000_000);
/// A frame of the medium.
pub const FRAME: Duration = Duration::from_millis(1);
const ATTEMPTS: u32 = 7;

pub fn at_ms(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

/// A packet every so often from one router to another.
#[derive(Clone, Copy)]
pub struct Flow {
    pub from: u32,
    pub to: u32,
    pub start: SimTime,
    pub every: Duration,
    pub count: u64,
}

/// Sends packets, and notes when each arrived after how many routers.
#[derive(Default)]
pub struct Traffic {
    flows: Vec<Flow>,
    sent: Vec<u64>,
    /// By flow: time, sequence number, hops.
    pub arrivals: Vec<Vec<(SimTime, u64, u8)>>,
}

impl Application for Traffic {
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId) {
        let packet = context.packet(id);
        self.arrivals[packet.flow.index()].push((context.now(), packet.sequence, packet.hops));
    }

    fn on_timer(&mut self, context: &mut HostContext<'_>, id: u32, token: u32) {
        let index = id as usize;
        let flow = self.flows[index];
        if self.sent[index] == flow.count {
            return;
        }
        context.send(Packet {
            sequence: self.sent[index],
            ..Packet::new(FlowId(id), NodeId(flow.from), NodeId(flow.to), 1000)
        });
        self.sent[index] += 1;
        context.call_at(context.now() + flow.every, id, token);
    }
}

/// A message that came in.
#[derive(Clone, Debug)]
pub struct Heard {
    pub at: SimTime,
    pub by: u32,
    pub from: u32,
    pub ttl: u8,
    pub message: Message,
}

type Log = Rc<RefCell<Vec<Heard>>>;

/// AODV, with an eye on what it hears and on its table.
struct Watched(Rc<RefCell<Aodv>>, Log);

impl Router for Watched {
    fn start(&mut self, context: &mut Context<'_>) {
        self.0.borrow_mut().start(context);
    }
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        self.0.borrow_mut().on_packet(context, id);
    }
    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, ttl: u8, bytes: &[u8]) {
        self.1.borrow_mut().push(Heard {
            at: context.now(),
            by: context.node().0,
            from: context.interfaces()[interface].peer.0,
            ttl,
            message: Message::decode(bytes).expect("AODV speaks AODV"),
        });
        self.0
            .borrow_mut()
            .on_message(context, interface, ttl, bytes);
    }
    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        self.0.borrow_mut().on_timer(context, token);
    }
    fn on_tx_failed(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        self.0.borrow_mut().on_tx_failed(context, interface, id);
    }
    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    ) {
        self.0
            .borrow_mut()
            .on_tx_status(context, interface, attempts, delivered, rate);
    }
    fn shared_queue(&self) -> Option<RouterQueue> {
        self.0.borrow().shared_queue()
    }
    fn readings(&self, now: SimTime) -> Vec<Reading> {
        self.0.borrow().readings(now)
    }
}

/// A medium on which nobody disturbs anybody: a frame takes 1 ms and is tried seven times; each
/// attempt, and each neighbour's reception of a broadcast, fails with the same probability.
struct Hub {
    stations: Vec<Station>,
    /// By link: the station where it begins, whether it works.
    links: Vec<(LinkId, usize, bool)>,
    loss: f64,
    draws: Stream,
}

#[derive(Default)]
struct Station {
    queue: VecDeque<(PacketId, Option<LinkId>)>,
    attempts: u32,
    timer: Option<TimerId>,
}

impl Hub {
    fn take_in(
        &mut self,
        context: &mut MediumContext<'_>,
        station: usize,
        id: PacketId,
        link: Option<LinkId>,
    ) {
        let queue = &mut self.stations[station].queue;
        queue.push_back((id, link));
        if queue.len() == 1 {
            self.serve(context, station);
        }
        self.tell_backlog(context, station);
    }

    fn serve(&mut self, context: &mut MediumContext<'_>, station: usize) {
        let timer = self.stations[station].timer.unwrap();
        let end = context.now() + FRAME;
        context.set_timer(timer, end);
    }

    fn tell_backlog(&self, context: &mut MediumContext<'_>, station: usize) {
        let waiting = self.stations[station].queue.len() as u32;
        let node = NodeId(station as u32);
        context.set_backlog(node, 0, waiting.saturating_sub(1), waiting > 0);
    }

    fn works(&mut self, link: LinkId) -> bool {
        let up = self.links.iter().any(|&(other, _, up)| other == link && up);
        up && !self.draws.bernoulli(self.loss)
    }
}

impl Medium for Hub {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        for (token, station) in self.stations.iter_mut().enumerate() {
            station.timer = Some(context.timer(token as u32));
        }
    }

    fn on_packet(&mut self, _: &mut MediumContext<'_>, _: NodeId, _: PacketId) {
        unreachable!("no host is attached");
    }

    fn on_frame(&mut self, context: &mut MediumContext<'_>, link: LinkId, id: PacketId) {
        let &(_, station, _) = self.links.iter().find(|(own, ..)| *own == link).unwrap();
        self.take_in(context, station, id, Some(link));
    }

    fn on_broadcast(&mut self, context: &mut MediumContext<'_>, node: NodeId, _: u8, id: PacketId) {
        self.take_in(context, node.index(), id, None);
    }

    fn set_link_up(&mut self, _: &mut MediumContext<'_>, link: LinkId, up: bool) {
        let known = self.links.iter_mut().find(|(own, ..)| *own == link);
        known.unwrap().2 = up;
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        let station = token as usize;
        let &(id, link) = self.stations[station].queue.front().unwrap();
        if let Some(link) = link {
            self.stations[station].attempts += 1;
            let attempts = self.stations[station].attempts;
            let delivered = self.works(link);
            if !delivered && attempts < ATTEMPTS {
                self.serve(context, station);
                return;
            }
            self.stations[station].attempts = 0;
            context.tx_status(link, attempts, delivered, RATE);
            if delivered {
                context.receive(link, id);
            } else {
                context.tx_failed(link, id);
            }
        } else {
            let own: Vec<LinkId> = self
                .links
                .iter()
                .filter(|&&(_, from, _)| from == station)
                .map(|&(link, ..)| link)
                .collect();
            for link in own {
                if self.works(link) {
                    context.overhear(link, id);
                }
            }
            context.broadcast_sent(id);
        }
        self.stations[station].queue.pop_front();
        if !self.stations[station].queue.is_empty() {
            self.serve(context, station);
        }
        self.tell_backlog(context, station);
    }

    fn held_pkts(&self) -> usize {
        self.stations
            .iter()
            .map(|station| station.queue.len())
            .sum()
    }
}

/// How routers are joined.
#[derive(Clone, Copy, PartialEq)]
pub enum Over {
    /// Wires of 1 ms, on which nobody is told of a loss.
    Wires,
    /// A medium that tells, with this probability of a loss.
    Medium(f64),
}

pub struct Net {
    pub simulation: Simulation<Traffic>,
    pub nodes: u32,
    tables: Vec<Rc<RefCell<Aodv>>>,
    log: Log,
}

impl Net {
    pub fn new(
        nodes: u32,
        links: &[(u32, u32)],
        over: Over,
        config: Config,
        flows: &[Flow],
        seed: u64,
    ) -> Self {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        for _ in 0..nodes {
            network.add_router();
        }
        let streams = Streams::new(seed);
        let mut media: Vec<Box<dyn Medium>> = Vec::new();
        match over {
            Over::Wires => {
                let wire = LinkConfig {
                    rate: RATE,
                    delay: Duration::from_millis(1),
                    queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
                };
                for &(a, b) in links {
                    network.connect(&mut events, NodeId(a), NodeId(b), &wire);
                }
            }
            Over::Medium(loss) => {
                let mut hub = Hub {
                    stations: (0..nodes).map(|_| Station::default()).collect(),
                    links: Vec::new(),
                    loss,
                    draws: streams.stream("hub", "loss"),
                };
                for &(a, b) in links {
                    let (a, b) = (NodeId(a), NodeId(b));
                    let (there, back) =
                        network.connect_over(&mut events, MediumId(0), (a, 0), (b, 0), RATE);
                    hub.links.push((there, a.index(), true));
                    hub.links.push((back, b.index(), true));
                }
                media.push(Box::new(hub));
            }
        }
        let traffic = Traffic {
            flows: flows.to_vec(),
            sent: vec![0; flows.len()],
            arrivals: vec![Vec::new(); flows.len()],
        };
        for (id, flow) in flows.iter().enumerate() {
            let id = id as u32;
            events.once(flow.start, Event::Application { id, token: 0 });
        }
        let log = Log::default();
        let mut tables = Vec::new();
        let mut routers: Vec<Option<Box<dyn Router>>> = Vec::new();
        for node in 0..nodes {
            let jitter = streams.stream(&format!("n{node}"), "aodv");
            let aodv = Rc::new(RefCell::new(Aodv::new(NodeId(node), config, jitter)));
            tables.push(aodv.clone());
            routers.push(Some(Box::new(Watched(aodv, log.clone()))));
        }
        Self {
            simulation: Simulation::new(network, events, traffic, routers, media),
            nodes,
            tables,
            log,
        }
    }

    pub fn run(&mut self, until: SimTime) {
        self.simulation.run(until, |_, _| false);
        self.assert_balanced();
    }

    pub fn cut(&mut self, a: u32, b: u32) {
        assert!(self.simulation.set_wire_up(NodeId(a), NodeId(b), false));
    }

    pub fn mend(&mut self, a: u32, b: u32) {
        assert!(self.simulation.set_wire_up(NodeId(a), NodeId(b), true));
    }

    /// What routers heard since the last time that somebody asked.
    pub fn heard(&self) -> Vec<Heard> {
        self.log.take()
    }

    /// The neighbour to which a node sends packets for another now.
    pub fn next(&self, from: u32, to: u32) -> Option<u32> {
        let now = self.simulation.events.now();
        let interface = self.tables[from as usize].borrow().route(now, NodeId(to))?;
        let interfaces = self.simulation.network.mesh_interfaces(NodeId(from));
        Some(interfaces[interface].peer.0)
    }

    /// The nodes on the way that the tables give now, the first one included.
    ///
    /// # Panics
    ///
    /// If the way runs in a circle.
    pub fn way(&self, from: u32, to: u32) -> Vec<u32> {
        let mut way = vec![from];
        while let Some(&here) = way.last()
            && here != to
            && let Some(next) = self.next(here, to)
        {
            assert!(!way.contains(&next), "a loop towards {to}: {way:?}, {next}");
            way.push(next);
        }
        way
    }

    /// No way to any destination runs in a circle.
    pub fn assert_free_of_loops(&self) {
        for from in 0..self.nodes {
            for to in 0..self.nodes {
                self.way(from, to);
            }
        }
    }

    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.simulation.network.balance().dropped[cause as usize]
    }

    pub fn reading(&self, node: u32, name: &str) -> u64 {
        let now = self.simulation.events.now();
        let readings = self.tables[node as usize].borrow().readings(now);
        backlane_routing::readings::reading(&readings, name) as u64
    }

    pub fn assert_balanced(&self) {
        let balance = self.simulation.network.balance();
        assert!(balance.holds(), "{balance:?}");
        assert_eq!(balance.in_flight, self.simulation.held_pkts() as u64);
    }
}

pub fn chain(nodes: u32) -> Vec<(u32, u32)> {
    (1..nodes).map(|node| (node - 1, node)).collect()
}
