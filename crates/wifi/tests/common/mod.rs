//! A small world for tests: stations that are routers, fixed next hops, and sources that send
//! packets at given times or always have one more.

#![allow(dead_code)]

pub mod bianchi;

use std::sync::{Arc, Mutex};

use backlane_engine::{EventQueue, Streams, Watch};
use backlane_net::{
    Application, Context, DropCause, Event, FlowId, HostContext, Network, NodeId, Packet, PacketId,
    QueueConfig, QueueLimit, Router, Simulation,
};
use backlane_param::OrOff;
use backlane_radio::Position;
use backlane_units::{Bytes, Duration, Rate, SimTime};
use backlane_wifi::{Profile, StationConfig, Wifi, WifiConfig, WifiLinkConfig};

/// An RTS threshold that no frame exceeds.
pub const RTS_NEVER: u32 = u32::MAX;

/// RTS and CTS before unicast frames of more bytes.
pub fn rts_above(bytes: u32) -> OrOff<Bytes> {
    match bytes {
        RTS_NEVER => OrOff::Off,
        bytes => OrOff::Value(Bytes::new(u64::from(bytes))),
    }
}

/// IP packets of 1000 bytes of payload under UDP.
pub const PACKET_BYTES: u32 = 1028;

/// A notification of a station's router.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// `attempts`, `delivered`.
    Attempts(u32, bool),
    /// A packet of this number came back.
    Back(u64),
    /// A message of this many bytes from a neighbour.
    Message(u32, usize),
}

/// Node, time in microseconds, what.
pub type Log = Arc<Mutex<Vec<(u32, u64, Told)>>>;

/// Sends along fixed next hops.
struct Fixed {
    /// By destination: the neighbour.
    next_hop: Vec<usize>,
    /// Tries again what came back.
    persistent: bool,
    /// A message that rides on every packet.
    rides: Option<Arc<[u8]>>,
    /// Broadcasts of this many bytes, at these times in microseconds.
    broadcasts: Vec<(u64, usize)>,
    log: Log,
}

impl Fixed {
    fn note(&self, context: &Context<'_>, told: Told) {
        let at = (context.node().0, context.now().as_micros(), told);
        self.log.lock().unwrap().push(at);
    }
}

impl Router for Fixed {
    fn start(&mut self, context: &mut Context<'_>) {
        for (token, (at_us, _)) in self.broadcasts.iter().enumerate() {
            let timer = context.timer(token as u32);
            context.set_timer(timer, at_us_of(*at_us));
        }
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let neighbour = self.next_hop[context.packet(id).exit.index()];
        let mut interfaces = context.interfaces().iter();
        let Some(interface) = interfaces.position(|face| face.peer.index() == neighbour) else {
            context.drop(id, DropCause::NoRoute);
            return;
        };
        match self.rides.clone() {
            Some(message) => context.transmit_with(interface, id, message),
            None => context.transmit(interface, id),
        }
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, _: u8, message: &[u8]) {
        let from = context.interfaces()[interface].peer.0;
        self.note(context, Told::Message(from, message.len()));
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        let (_, bytes) = self.broadcasts[token as usize];
        context.broadcast(1, &vec![0; bytes].into());
    }

    fn on_tx_failed(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        let sequence = context.packet(id).sequence;
        if self.persistent {
            context.transmit(interface, id);
        } else {
            self.note(context, Told::Back(sequence));
            context.drop(id, DropCause::Radio);
        }
    }

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        _: usize,
        attempts: u32,
        delivered: bool,
        _: Rate,
    ) {
        if !self.persistent {
            self.note(context, Told::Attempts(attempts, delivered));
        }
    }
}

/// Packets from one station to another.
#[derive(Clone, Debug)]
pub struct Source {
    pub from: usize,
    pub to: usize,
    pub bytes: u32,
    pub supply: Supply,
}

#[derive(Clone, Debug)]
pub enum Supply {
    /// This many packets are always in the network.
    Endless(u32),
    /// One at each of these times, in microseconds.
    At(Vec<u64>),
}

impl Source {
    pub fn endless(from: usize, to: usize) -> Self {
        Self {
            from,
            to,
            bytes: PACKET_BYTES,
            supply: Supply::Endless(3),
        }
    }

    pub fn at(from: usize, to: usize, times_us: &[u64]) -> Self {
        Self {
            supply: Supply::At(times_us.to_vec()),
            ..Self::endless(from, to)
        }
    }
}

/// What came out, by source.
pub struct Ends {
    sources: Vec<Source>,
    sent: Vec<u64>,
    pub delivered: Vec<u64>,
    /// Source, number, microsecond.
    pub arrivals: Vec<(usize, u64, u64)>,
    keep_arrivals: bool,
}

impl Ends {
    fn send(&mut self, context: &mut HostContext<'_>, source: usize) {
        let Source {
            from, to, bytes, ..
        } = self.sources[source];
        let [from, to] = [from, to].map(|node| NodeId(node as u32));
        let sequence = self.sent[source];
        self.sent[source] += 1;
        context.send(Packet {
            sequence,
            ..Packet::new(FlowId(source as u32), from, to, bytes)
        });
    }
}

impl Application for Ends {
    fn on_packet(&mut self, context: &mut HostContext<'_>, id: PacketId) {
        let packet = context.packet(id);
        let (source, sequence) = (packet.flow.index(), packet.sequence);
        self.delivered[source] += 1;
        if self.keep_arrivals {
            self.arrivals
                .push((source, sequence, context.now().as_micros()));
        }
        if matches!(self.sources[source].supply, Supply::Endless(_)) {
            self.send(context, source);
        }
    }

    fn on_timer(&mut self, context: &mut HostContext<'_>, id: u32, _: u32) {
        self.send(context, id as usize);
    }
}

/// What a test builds its world from.
pub struct Setting {
    pub config: WifiConfig,
    pub queue: QueueConfig,
    pub positions: Vec<Position>,
    pub channels: Vec<Vec<u8>>,
    pub links: Vec<WifiLinkConfig>,
    pub sources: Vec<Source>,
    pub persistent: bool,
    pub rides: Option<Arc<[u8]>>,
    /// Station, microsecond, bytes.
    pub broadcasts: Vec<(usize, u64, usize)>,
    pub seed: u64,
    pub keep_arrivals: bool,
    /// Each radio is notified of each frame, also in domains.
    pub without_domains: bool,
}

impl Setting {
    /// Stations at these places, in metres along a line, each joined to those that it decodes.
    pub fn line(config: WifiConfig, metres: &[f64]) -> Self {
        let positions: Vec<_> = metres
            .iter()
            .map(|&x_m| Position::new(x_m, 0.0, 0.0))
            .collect();
        let mut setting = Self {
            queue: QueueConfig::DropTail(QueueLimit::Packets(match config.profile {
                Profile::Standard => 100,
                Profile::Ns2 => 50,
                Profile::Ns3 => 500,
            })),
            config,
            channels: vec![vec![1]; positions.len()],
            positions,
            links: Vec::new(),
            sources: Vec::new(),
            persistent: false,
            rides: None,
            broadcasts: Vec::new(),
            seed: 1,
            keep_arrivals: true,
            without_domains: false,
        };
        let pairs = backlane_wifi::links_in_range(
            &setting.config,
            &setting.stations(),
            1,
            &mut Watch::new(&mut |_, _| Ok(())),
        )
        .unwrap();
        setting.links = pairs.into_iter().map(|(a, b)| link(a, b)).collect();
        setting
    }

    pub fn stations(&self) -> Vec<StationConfig> {
        let stations = self.positions.iter().zip(&self.channels).enumerate();
        stations
            .map(|(index, (&position, channels))| StationConfig {
                node: NodeId(index as u32),
                name: format!("n{index}"),
                position,
                channels: channels.clone(),
            })
            .collect()
    }

    pub fn build(&self) -> World {
        let mut network = Network::new();
        let mut events = EventQueue::new();
        for _ in &self.positions {
            network.add_router();
        }
        let streams = Streams::new(self.seed);
        let wifi = Wifi::new(
            &self.config,
            &self.queue,
            &self.stations(),
            &self.links,
            &streams,
            &mut Watch::new(&mut |_, _| Ok(())),
        )
        .unwrap();
        let medium = backlane_net::MediumId(0);
        let wifi = if self.without_domains {
            wifi.without_domains()
        } else {
            wifi
        };
        let wifi = wifi.connect(&mut network, &mut events, medium);
        let log = Log::default();
        let next_hops = self.next_hops();
        let routers = (0..self.positions.len())
            .map(|node| -> Option<Box<dyn Router>> {
                let broadcasts = self.broadcasts.iter().filter(|entry| entry.0 == node);
                Some(Box::new(Fixed {
                    next_hop: next_hops[node].clone(),
                    persistent: self.persistent,
                    rides: self.rides.clone(),
                    broadcasts: broadcasts
                        .map(|&(_, at_us, bytes)| (at_us, bytes))
                        .collect(),
                    log: log.clone(),
                }))
            })
            .collect();
        let ends = Ends {
            sent: vec![0; self.sources.len()],
            delivered: vec![0; self.sources.len()],
            sources: self.sources.clone(),
            arrivals: Vec::new(),
            keep_arrivals: self.keep_arrivals,
        };
        for (id, source) in self.sources.iter().enumerate() {
            let id = id as u32;
            let times_us = match &source.supply {
                // Apart by less than a slot, so that no station is first in all runs.
                Supply::Endless(packets) => vec![u64::from(id % 7); *packets as usize],
                Supply::At(times_us) => times_us.clone(),
            };
            for at_us in times_us {
                events.once(at_us_of(at_us), Event::Application { id, token: 0 });
            }
        }
        World {
            simulation: Simulation::new(network, events, ends, routers, vec![Box::new(wifi)]),
            medium,
            log,
        }
    }

    /// By node and destination: the neighbour on a way of fewest hops.
    fn next_hops(&self) -> Vec<Vec<usize>> {
        let count = self.positions.len();
        let mut neighbours = vec![Vec::new(); count];
        for link in &self.links {
            neighbours[link.a].push(link.b);
            neighbours[link.b].push(link.a);
        }
        let mut next_hops = vec![vec![usize::MAX; count]; count];
        let to_each = |destination: usize, next_hops: &mut Vec<Vec<usize>>| {
            let mut reached = vec![destination];
            let mut at = 0;
            while let Some(&node) = reached.get(at) {
                at += 1;
                for &neighbour in &neighbours[node] {
                    if !reached.contains(&neighbour) {
                        reached.push(neighbour);
                        next_hops[neighbour][destination] = node;
                    }
                }
            }
        };
        (0..count).for_each(|destination| to_each(destination, &mut next_hops));
        next_hops
    }
}

/// A world in motion.
pub struct World {
    pub simulation: Simulation<Ends>,
    pub medium: backlane_net::MediumId,
    pub log: Log,
}

impl World {
    /// Runs up to this time, in microseconds, and checks that no packet is unaccounted for.
    pub fn run_until(&mut self, us: u64) -> &mut Self {
        self.simulation.run(at_us_of(us), |_, _| false);
        let balance = self.simulation.network.balance();
        assert!(balance.holds(), "{balance:?}");
        assert_eq!(balance.in_flight, self.simulation.held_pkts() as u64);
        self
    }

    pub fn wifi(&self) -> &Wifi {
        let medium: &dyn std::any::Any = self.simulation.medium(self.medium).unwrap();
        medium.downcast_ref().unwrap()
    }

    pub fn readings(&self, station: usize) -> backlane_wifi::RadioCounters {
        self.wifi()
            .radio_counters(NodeId(station as u32), 0)
            .unwrap()
    }

    /// When packets came out, in microseconds, in their order.
    pub fn arrivals_us(&self) -> Vec<u64> {
        let arrivals = &self.simulation.application.arrivals;
        arrivals.iter().map(|&(_, _, us)| us).collect()
    }

    pub fn told(&self) -> Vec<(u32, u64, Told)> {
        self.log.lock().unwrap().clone()
    }
}

pub fn link(a: usize, b: usize) -> WifiLinkConfig {
    WifiLinkConfig {
        a,
        b,
        channel: 1,
        loss: None,
        rate: None,
    }
}

pub fn at_us_of(us: u64) -> SimTime {
    SimTime::ZERO + Duration::from_micros(us)
}

pub fn mbps(rate: f64) -> Rate {
    Rate::from_bps((rate * 1e6) as u64)
}
