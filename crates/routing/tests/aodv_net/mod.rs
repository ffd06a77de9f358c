//! Networks that run AODV over wires or over a medium without contention, and the messages that
//! their routers received.

use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Streams};
use backlane_net::testing::{Hub, HubConfig, Load, Script, Tap};
use backlane_net::{
    Context, DropCause, FlowId, LinkConfig, Medium, MediumId, Network, NodeId, Packet, QueueConfig,
    QueueLimit, Router, Simulation,
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

/// Periodic packets from one router to another.
#[derive(Clone, Copy)]
pub struct Flow {
    pub from: u32,
    pub to: u32,
    pub start: SimTime,
    pub every: Duration,
    pub count: u64,
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

type Log = Arc<Mutex<Vec<Heard>>>;

/// How routers are joined.
#[derive(Clone, Copy, PartialEq)]
pub enum Over {
    /// Wires of 1 ms, which do not report losses.
    Wires,
    /// A medium that reports losses, with this loss probability.
    Medium(f64),
}

pub struct Net {
    pub simulation: Simulation<Script>,
    pub nodes: u32,
    tables: Vec<Arc<Mutex<Aodv>>>,
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
                let config = HubConfig {
                    rate: RATE,
                    frame: |_| FRAME,
                    attempts: ATTEMPTS,
                    queue: QueueConfig::DropTail(QueueLimit::Packets(u32::MAX)),
                };
                let links: Vec<_> = links
                    .iter()
                    .map(|&(a, b)| (a, b, [1.0 - loss; 2]))
                    .collect();
                let draws = streams.stream("hub", "loss");
                let medium = MediumId(0);
                let hub = Hub::connect(&mut network, &mut events, medium, &links, config, draws);
                media.push(Box::new(hub));
            }
        }
        let loads = flows.iter().zip(0..).map(|(flow, id)| Load {
            packet: Packet::new(FlowId(id), NodeId(flow.from), NodeId(flow.to), 1000),
            start: flow.start,
            every: flow.every,
            count: flow.count,
        });
        let script = Script::new(&mut events, loads.collect());
        let log = Log::default();
        let mut tables = Vec::new();
        let mut routers: Vec<Option<Box<dyn Router>>> = Vec::new();
        for node in 0..nodes {
            let jitter = streams.stream(&format!("n{node}"), "aodv");
            let aodv = Arc::new(Mutex::new(Aodv::new(NodeId(node), config, jitter)));
            tables.push(aodv.clone());
            let log = log.clone();
            let tap = Tap::new(
                aodv,
                move |context: &Context<'_>, interface: usize, ttl, bytes: &[u8]| {
                    log.lock().unwrap().push(Heard {
                        at: context.now(),
                        by: context.node().0,
                        from: context.interfaces()[interface].peer.0,
                        ttl,
                        message: Message::decode(bytes).expect("AODV speaks AODV"),
                    });
                },
            );
            routers.push(Some(Box::new(tap)));
        }
        Self {
            simulation: Simulation::new(network, events, script, routers, media),
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

    /// Takes the messages received since the last call.
    pub fn heard(&self) -> Vec<Heard> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    /// A node's current next hop to another.
    pub fn next(&self, from: u32, to: u32) -> Option<u32> {
        let now = self.simulation.events.now();
        let interface = self.tables[from as usize]
            .lock()
            .unwrap()
            .route(now, NodeId(to))?;
        let interfaces = self.simulation.network.mesh_interfaces(NodeId(from));
        Some(interfaces[interface].peer.0)
    }

    /// The nodes on the path in the current tables, including the first.
    ///
    /// # Panics
    ///
    /// If the path has a loop.
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

    /// Asserts that no path to any destination has a loop.
    pub fn assert_free_of_loops(&self) {
        for from in 0..self.nodes {
            for to in 0..self.nodes {
                self.way(from, to);
            }
        }
    }

    /// The arrivals of a flow: time, sequence number, routers passed.
    pub fn arrivals(&self, flow: u32) -> Vec<(SimTime, u64, u8)> {
        let arrivals = self.simulation.application.arrivals_of(flow);
        arrivals
            .map(|arrival| (arrival.at, arrival.packet.sequence, arrival.packet.hops))
            .collect()
    }

    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.simulation.network.balance().dropped[cause as usize]
    }

    pub fn reading(&self, node: u32, name: &str) -> u64 {
        let now = self.simulation.events.now();
        let readings = self.tables[node as usize].lock().unwrap().readings(now);
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
