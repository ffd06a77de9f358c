//! The dumbbell: senders, one bottleneck, receivers.

use std::collections::BTreeSet;
use std::sync::Arc;

use backlane_engine::{EventQueue, Streams, Trace, Watch};
use backlane_net::{LinkConfig, LinkId, Network, NodeId, QueueConfig, QueueLimit, Simulation};
use backlane_routing::shortest_path::{self, ShortestPath, Tables};
use backlane_traffic::{CodingConfig, FlowSpec, Flows, Start, TransportSpec};
use backlane_units::{Duration, Rate, SimTime};

/// Flows over one bottleneck. Each flow has hosts of its own; their wires are so fast that they
/// do not matter, and have no delay but [`source_delays`](Self::source_delays).
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// One-way delay of the bottleneck.
    pub delay: Duration,
    /// Its queue, in each direction.
    pub queue: QueueConfig,
    /// Probability that the bottleneck loses a data packet.
    pub loss: f64,
    /// Probability that it loses a packet on the way back.
    pub loss_back: f64,
    /// Network coding below each flow's TCP.
    pub coding: Option<CodingConfig>,
    /// TCP of each flow.
    pub flows: Vec<backlane_tcp::Config>,
    /// Time between the starts of two flows.
    pub stagger: Duration,
    /// One-way delay of the wire of each flow's source; none beyond the end of the list.
    pub source_delays: Vec<Duration>,
    /// Bytes of each flow; `None` is endless.
    pub size_bytes: Option<u64>,
    /// Seed of the run.
    pub seed: u64,
}

impl Default for Dumbbell {
    /// The path of the recorded kernel traces: 50 Mb/s, 20 ms each way, 173 packets of queue.
    fn default() -> Self {
        Self {
            rate: Rate::from_bps(50_000_000),
            delay: Duration::from_millis(20),
            queue: QueueConfig::DropTail(QueueLimit::Packets(173)),
            loss: 0.0,
            loss_back: 0.0,
            coding: None,
            flows: vec![backlane_tcp::Config::default()],
            stagger: Duration::from_millis(10),
            source_delays: Vec::new(),
            size_bytes: None,
            seed: 1,
        }
    }
}

impl Dumbbell {
    /// The direction of the bottleneck that carries data.
    pub const BOTTLENECK: LinkId = LinkId(0);

    /// Puts it together.
    pub fn build(&self, trace: Option<Trace>) -> Simulation<Flows> {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        let mut streams = Streams::new(self.seed);
        if let Some(trace) = &trace {
            streams = streams.with_trace(trace.clone());
        }
        let left = network.add_router();
        let right = network.add_router();
        let bottleneck = LinkConfig {
            rate: self.rate,
            delay: self.delay,
            queue: self.queue.clone(),
        };
        network.connect(&mut events, left, right, &bottleneck);
        if self.loss > 0.0 {
            network.set_loss(
                Self::BOTTLENECK,
                self.loss,
                streams.stream("bottleneck", "loss"),
            );
        }
        if self.loss_back > 0.0 {
            let stream = streams.stream("bottleneck back", "loss");
            network.set_loss(LinkId(Self::BOTTLENECK.0 + 1), self.loss_back, stream);
        }
        let wire = LinkConfig {
            rate: Rate::from_bps(1_000_000_000_000),
            delay: Duration::ZERO,
            queue: QueueConfig::DropTail(QueueLimit::Packets(u32::MAX)),
        };
        let specs = self
            .flows
            .iter()
            .enumerate()
            .map(|(index, config)| {
                let source = network.add_host();
                let destination = network.add_host();
                let delay = self.source_delays.get(index).copied();
                let longer = LinkConfig {
                    delay: delay.unwrap_or(Duration::ZERO),
                    ..wire.clone()
                };
                network.attach(&mut events, source, left, &longer);
                network.attach(&mut events, destination, right, &wire);
                FlowSpec {
                    source,
                    destination,
                    size_bytes: self.size_bytes,
                    start: Start::At(SimTime::ZERO + self.stagger * index as u64),
                    stop: None,
                    transport: match self.coding {
                        None => TransportSpec::Tcp(config.clone()),
                        Some(coding) => TransportSpec::CodedTcp(config.clone(), coding),
                    },
                }
            })
            .collect();
        let tables = Tables::new(
            &network,
            shortest_path::Metric::Hops,
            &BTreeSet::new(),
            [(left, right), (right, left)],
            &mut Watch::new(&mut |_, _| Ok(())),
        );
        let tables = Arc::new(tables.expect("nobody interrupts"));
        let routers = (0..network.node_count() as u32)
            .map(NodeId)
            .map(|node| -> Option<Box<dyn backlane_net::Router>> {
                network.is_router(node).then(|| {
                    let router: Box<dyn backlane_net::Router> =
                        Box::new(ShortestPath::new(node, tables.clone()));
                    router
                })
            })
            .collect();
        let flows = Flows::new(&mut events, streams, specs);
        Simulation::new(network, events, flows, routers, Vec::new()).with_trace(trace)
    }

    /// Runs it for a while.
    pub fn run(&self, span: Duration) -> Simulation<Flows> {
        let mut simulation = self.build(None);
        simulation.run(SimTime::ZERO + span, |_, _| false);
        assert!(simulation.network.balance().holds());
        assert_eq!(
            simulation.network.balance().in_flight,
            simulation.held_pkts() as u64
        );
        simulation
    }
}
