//! Cells with a server beside each of them, and loads between servers and UEs.

#![allow(dead_code)]

use std::any::Any;
use std::sync::Arc;

use backlane_engine::{EventQueue, Streams, Watch};
use backlane_lte::config::{CellConfig, RanConfig, UeChannel, UeConfig};
use backlane_lte::{FadingTrace, Ran};
use backlane_net::testing::LineRouter;
use backlane_net::{
    Application, Event, FlowId, HostContext, LinkConfig, MediumId, Network, NodeId, Packet,
    PacketId, QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_radio::{Mobility, Position};
use backlane_units::{Duration, Rate, SimTime};

/// Packets of one size, in bursts of a fixed number.
#[derive(Clone, Copy)]
pub struct Load {
    pub ue: usize,
    pub up: bool,
    pub bytes: u32,
    pub first: Duration,
    pub every: Duration,
    pub pkts: u32,
    /// Bursts in all.
    pub bursts: u32,
}

/// More than any cell carries, for `s` seconds.
pub fn saturating(ue: usize, pkts_per_ms: u32, s: u64) -> Load {
    Load {
        ue,
        up: false,
        bytes: 1500,
        first: Duration::ZERO,
        every: Duration::from_millis(1),
        pkts: pkts_per_ms,
        bursts: (s * 1000) as u32,
    }
}

/// One packet at a time.
pub fn single(ue: usize, up: bool, bytes: u32, first: Duration) -> Load {
    Load {
        ue,
        up,
        bytes,
        first,
        every: Duration::from_millis(1),
        pkts: 1,
        bursts: 1,
    }
}

/// What came in over one load.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    pub bytes: u64,
    pub sequences: Vec<u64>,
    /// From sending to arrival.
    pub delays: Vec<Duration>,
}

pub struct Sources {
    loads: Vec<Load>,
    ends: Vec<(NodeId, NodeId)>,
    sent: Vec<Vec<SimTime>>,
    pub sinks: Vec<Sink>,
}

impl Application for Sources {
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId) {
        let packet = context.packet(id);
        let flow = packet.flow.index();
        let sink = &mut self.sinks[flow];
        sink.bytes += u64::from(packet.size_bytes);
        sink.sequences.push(packet.sequence);
        let sent = self.sent[flow][packet.sequence as usize];
        sink.delays.push(context.now() - sent);
    }

    fn on_timer(&mut self, context: &mut HostContext<'_>, id: u32, n: u32) {
        let flow = id as usize;
        let load = self.loads[flow];
        let (source, destination) = self.ends[flow];
        for _ in 0..load.pkts {
            let packet = Packet {
                sequence: self.sent[flow].len() as u64,
                ..Packet::new(FlowId(id), source, destination, load.bytes)
            };
            self.sent[flow].push(context.now());
            context.send(packet);
        }
        if n + 1 < load.bursts {
            let at = context.now() + load.every;
            context.call_at(at, id, n + 1);
        }
    }
}

pub struct Cells {
    pub simulation: Simulation<Sources>,
    medium: MediumId,
}

/// A place on the ground, 1.5 m high.
pub fn at(x_m: f64, y_m: f64) -> Mobility {
    Mobility::Static(Position::new(x_m, y_m, 1.5))
}

impl Cells {
    /// Cells at these places, 30 m high, each joined to the next by a wire of 2 ms; UEs `ue1`,
    /// `ue2`, … with their cells.
    pub fn new(
        config: RanConfig,
        cells: &[(f64, f64)],
        ues: &[(Mobility, Option<usize>)],
        loads: &[Load],
        seed: u64,
    ) -> Self {
        Self::with_servers(config, cells, ues, loads, seed, |serving| serving)
    }

    /// The same with each load's server beside the cell that `server` gives for the UE's first one.
    pub fn with_servers(
        config: RanConfig,
        cells: &[(f64, f64)],
        ues: &[(Mobility, Option<usize>)],
        loads: &[Load],
        seed: u64,
        server: impl Fn(usize) -> usize,
    ) -> Self {
        let radio = |_: usize| UeChannel::Radio;
        Self::with_channels(config, cells, ues, loads, seed, server, radio)
    }

    /// The same with what each UE hears.
    pub fn with_channels(
        config: RanConfig,
        cells: &[(f64, f64)],
        ues: &[(Mobility, Option<usize>)],
        loads: &[Load],
        seed: u64,
        server: impl Fn(usize) -> usize,
        channel: impl Fn(usize) -> UeChannel,
    ) -> Self {
        let trace = None;
        Self::all(config, cells, ues, loads, seed, server, channel, trace)
    }

    /// Seed 1, with what each UE hears, and a trace of fading.
    pub fn with_fading(
        config: RanConfig,
        cells: &[(f64, f64)],
        ues: &[(Mobility, Option<usize>)],
        loads: &[Load],
        channel: impl Fn(usize) -> UeChannel,
        trace: Option<Arc<FadingTrace>>,
    ) -> Self {
        Self::all(config, cells, ues, loads, 1, |cell| cell, channel, trace)
    }

    #[expect(clippy::too_many_arguments, reason = "all that tests vary")]
    fn all(
        config: RanConfig,
        cells: &[(f64, f64)],
        ues: &[(Mobility, Option<usize>)],
        loads: &[Load],
        seed: u64,
        server: impl Fn(usize) -> usize,
        channel: impl Fn(usize) -> UeChannel,
        trace: Option<Arc<FadingTrace>>,
    ) -> Self {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        let routers: Vec<NodeId> = cells.iter().map(|_| network.add_router()).collect();
        let wire = LinkConfig {
            rate: Rate::from_bps(1_000_000_000_000),
            delay: Duration::ZERO,
            queue: QueueConfig::DropTail(QueueLimit::Packets(1_000_000)),
        };
        let backhaul = LinkConfig {
            delay: Duration::from_millis(2),
            ..wire.clone()
        };
        for pair in routers.windows(2) {
            network.connect(&mut events, pair[0], pair[1], &backhaul);
        }
        let servers: Vec<NodeId> = routers
            .iter()
            .map(|&router| {
                let server = network.add_host();
                network.attach(&mut events, server, router, &wire);
                server
            })
            .collect();
        let hosts: Vec<NodeId> = ues.iter().map(|_| network.add_host()).collect();
        let cell_configs: Vec<CellConfig> = cells
            .iter()
            .zip(&routers)
            .map(|(&(x, y), &node)| CellConfig {
                node,
                position: Position::new(x, y, 30.0),
            })
            .collect();
        let ue_configs: Vec<UeConfig> = ues
            .iter()
            .zip(&hosts)
            .enumerate()
            .map(|(index, ((mobility, serving), &node))| UeConfig {
                node,
                name: format!("ue{}", index + 1),
                mobility: mobility.clone(),
                serving: *serving,
                channel: channel(index),
                fading_trace: trace.clone(),
            })
            .collect();
        let streams = Streams::new(seed);
        let mut nobody = |_, _| Ok(());
        let mut watch = Watch::new(&mut nobody);
        let ran = Ran::new(config, &cell_configs, &ue_configs, &streams, &mut watch).unwrap();
        let serving: Vec<usize> = (0..ues.len()).map(|ue| ran.serving_cell(ue)).collect();
        let medium = MediumId(0);
        for (&host, &cell) in hosts.iter().zip(&serving) {
            network.attach_over(host, routers[cell], medium);
        }
        let ends = loads.iter().map(|load| {
            let (server, ue) = (servers[server(serving[load.ue])], hosts[load.ue]);
            if load.up { (ue, server) } else { (server, ue) }
        });
        let sources = Sources {
            loads: loads.to_vec(),
            ends: ends.collect(),
            sent: vec![Vec::new(); loads.len()],
            sinks: vec![Sink::default(); loads.len()],
        };
        for (id, load) in loads.iter().enumerate() {
            let at = SimTime::ZERO + load.first;
            let id = id as u32;
            events.once(at, Event::Application { id, token: 0 });
        }
        let n = network.node_count();
        let routers = (0..n)
            .map(|node| -> Option<Box<dyn Router>> {
                (node < cells.len()).then(|| Box::new(LineRouter) as Box<dyn Router>)
            })
            .collect();
        Self {
            simulation: Simulation::new(network, events, sources, routers, vec![Box::new(ran)]),
            medium,
        }
    }

    /// Runs until `s` seconds and counts the packets.
    pub fn run(&mut self, s: f64) -> &mut Self {
        let until = SimTime::ZERO + Duration::from_secs_f64(s);
        self.simulation.run(until, |_, _| false);
        let balance = self.simulation.network.balance();
        assert!(balance.holds(), "{balance:?}");
        assert_eq!(balance.in_flight, self.simulation.held_pkts() as u64);
        self
    }

    pub fn ran(&self) -> &Ran {
        let medium: &dyn Any = self.simulation.medium(self.medium).expect("the medium");
        medium.downcast_ref().expect("an LTE network")
    }

    pub fn sink(&self, load: usize) -> &Sink {
        &self.simulation.application.sinks[load]
    }

    /// Bits of packets each second.
    pub fn goodput_bps(&self, load: usize, s: f64) -> f64 {
        self.sink(load).bytes as f64 * 8.0 / s
    }
}

/// The network as LENA has it.
pub fn lena() -> RanConfig {
    RanConfig::default().as_lena().unwrap()
}
