//! From a resolved scenario to a simulation that is ready to run.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backlane_engine::{EventQueue, Interrupt, Streams, Trace, Watch};
use backlane_net::{
    Capacity, LinkConfig, LinkId, Network, NodeId, QueueConfig, QueueLimit, Region, Router,
    Simulation,
};
use backlane_param::Params;
use backlane_scenario::model::{
    End, FlowGroup, FlowKind, Impairments, NodeKind, Scenario, Stack, Wire,
};
use backlane_tcp::congestion::Custom;
use backlane_tcp::{self as tcp, CongestionControlConfig, Seed};
use backlane_traffic::{CodingConfig, FlowSpec, Flows, Start, TransportSpec, UdpConfig, Utility};
use backlane_units::SimTime;

use crate::builder::Builder;
use crate::capture::Captures;
use crate::controls::Instead;
use crate::convert;
pub use crate::error::BuildError;
use crate::error::Unbuilt;
use crate::estimate;
use crate::failures::Failures;
use crate::infos::{FlowInfo, LinkInfo, NodeInfo};
use crate::models::Models;
use crate::names::Names;
use crate::outcome::radio_series::RadioSeries;
use crate::outcome::sampler::Sampler;
use crate::regions::{Division, Member, Others, Whole, divided, whole};
use crate::routers::Protocol;
use crate::site::Site;
use crate::starts::{Starts, size_bytes, time};
pub use crate::world::World;

/// Space for HELLOs after the packets that backpressure hands to a device.
const BP_DEVICE_SLACK_PKTS: u32 = 64;

/// How many threads a run may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// The calling thread alone.
    #[default]
    One,
    /// This many, or fewer where the network cannot be divided into as many regions.
    Exactly(usize),
    /// Up to this many, where that shortens the run.
    AtMost(usize),
}

/// What a program supplies for one run, beside its models.
#[derive(Clone, Copy, Default)]
pub struct Supplied<'a> {
    /// Threads of the run. The results do not depend on it.
    pub threads: Threads,
    /// For tests: divides the network at random, by this seed, in place of by load.
    pub scatter: Option<u64>,
    /// Congestion controls beyond those of the simulator, by their names in the scenario.
    pub controls: &'a [Custom],
    /// The routing protocol, in place of the model of the same name.
    pub router: Option<&'a Protocol>,
    /// Congestion controls in place of those of the scenario.
    pub instead: Option<&'a Instead<'a>>,
}

impl World {
    /// Builds the world of a scenario for one seed. `trace` logs every event and draw.
    ///
    /// # Errors
    /// If the scenario contradicts itself in a way that its checks should have found, names a
    /// congestion control that the simulator does not have, or was read for another seed and is
    /// [`Scenario::is_drawn`].
    pub fn new(scenario: &Scenario, seed: u64, trace: Option<Trace>) -> Result<Self, BuildError> {
        Self::with_models(Models::standard(), scenario, seed, trace)
    }

    /// As [`World::new`], with the program's own models.
    ///
    /// # Errors
    /// As there.
    pub fn with_models(
        models: &Models,
        scenario: &Scenario,
        seed: u64,
        trace: Option<Trace>,
    ) -> Result<Self, BuildError> {
        Self::watched(
            models,
            Supplied::default(),
            scenario,
            seed,
            trace,
            |_, _| Ok(()),
        )?
        .map_err(|interrupt| BuildError(interrupt.to_string()))
    }

    /// As [`World::new`], with what the program supplies. Building a large world takes long;
    /// `watch` is called at intervals as in [`World::run`], and may end it. The inner error is
    /// [`Interrupt`], if it did.
    ///
    /// # Errors
    /// If the scenario contradicts itself in a way that its checks should have found, or names a
    /// congestion control or a router that is not supplied.
    pub fn watched(
        models: &Models,
        supplied: Supplied<'_>,
        scenario: &Scenario,
        seed: u64,
        trace: Option<Trace>,
        mut watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    ) -> Result<Result<Self, Interrupt>, BuildError> {
        let watch = &mut Watch::new(&mut watch);
        match Self::build(models, supplied, scenario, seed, trace, watch) {
            Ok(world) => Ok(Ok(world)),
            Err(Unbuilt::Interrupted) => Ok(Err(Interrupt)),
            Err(Unbuilt::Error(error)) => Err(error),
        }
    }

    fn build(
        models: &Models,
        supplied: Supplied<'_>,
        scenario: &Scenario,
        seed: u64,
        trace: Option<Trace>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Unbuilt> {
        if scenario.is_drawn && scenario.seed != seed {
            let message = format!(
                "each run draws its network or its flows: read the scenario for seed {seed}, it was \
                 read for {}",
                scenario.seed
            );
            return Err(BuildError(message).into());
        }
        let mut builder = Builder::new(models, supplied, scenario, seed, trace.as_ref())?;
        builder.add_network(watch)?;
        let (infos, specs) = builder.flows(watch)?;
        let division = match builder.division(&specs, supplied, trace.is_some()) {
            Ok(division) => division,
            Err(whole) => {
                let world = builder.finish(infos, specs, None, trace, watch)?;
                return Ok(Self { whole, ..world });
            }
        };
        // Each thread builds the network for itself.
        let stopped = AtomicBool::new(false);
        let (world, others) = std::thread::scope(|scope| {
            let others = (1..division.regions as u16).map(|own| {
                let (division, stopped) = (&division, &stopped);
                scope.spawn(move || {
                    let mut asked = |_, _| {
                        let goes_on = !stopped.load(Ordering::Relaxed);
                        goes_on.then_some(()).ok_or(Interrupt)
                    };
                    let watch = &mut Watch::new(&mut asked);
                    let mut builder =
                        Builder::new(models, Supplied::default(), scenario, seed, None)?;
                    builder.add_network(watch)?;
                    let (infos, specs) = builder.flows(watch)?;
                    let region = Region::new(division.of_node.clone(), own);
                    let world = builder.finish(infos, specs, Some(region), None, watch)?;
                    Ok(Member {
                        simulation: world.simulation,
                        failures: world.failures,
                    })
                })
            });
            let others: Vec<_> = others.collect();
            let region = Region::new(division.of_node.clone(), 0);
            let world = builder.finish(infos, specs, Some(region), None, watch);
            stopped.store(world.is_err(), Ordering::Relaxed);
            let others = others.into_iter().map(|other| match other.join() {
                Ok(member) => member,
                Err(panic) => resume_unwind(panic),
            });
            (world, others.collect::<Result<Vec<Member>, Unbuilt>>())
        });
        Ok(Self {
            others: Some(Others::new(division, others?)),
            ..world?
        })
    }
}

impl<'a> Builder<'a> {
    fn new(
        models: &'a Models,
        supplied: Supplied<'a>,
        scenario: &'a Scenario,
        seed: u64,
        trace: Option<&Trace>,
    ) -> Result<Self, BuildError> {
        let mut streams = Streams::new(seed);
        if let Some(trace) = trace {
            streams = streams.with_trace(trace.clone());
        }
        Ok(Self {
            scenario,
            models,
            protocol: models
                .routers
                .protocol(&scenario.routing.protocol, supplied.router)?,
            controls: supplied.controls,
            instead: supplied.instead,
            streams,
            events: EventQueue::new(),
            network: Network::new(),
            media: Vec::new(),
            nodes: Vec::new(),
            links: Vec::new(),
            ues: Vec::new(),
            link_ids: Vec::new(),
            radio: None,
            wifi: None,
        })
    }
}

/// Traces of wires, by their addresses in the scenario.
type Capacities = BTreeMap<usize, Arc<Capacity>>;

impl Builder<'_> {
    fn add_network(&mut self, watch: &mut Watch<'_>) -> Result<(), Unbuilt> {
        self.add_nodes(watch)?;
        self.add_links(watch)?;
        self.add_radios(watch)?;
        self.add_access(watch)?;
        Ok(())
    }

    /// The regions of this many threads.
    fn division(
        &self,
        specs: &[FlowSpec],
        Supplied {
            threads, scatter, ..
        }: Supplied<'_>,
        is_traced: bool,
    ) -> Result<Division, Whole> {
        let (threads, where_it_pays) = match threads {
            Threads::One => (1, false),
            Threads::Exactly(threads) => (threads, false),
            Threads::AtMost(threads) => (threads, true),
        };
        if threads < 2 {
            Err(Whole::OneThread)
        } else if is_traced {
            Err(Whole::Trace)
        } else if !self.controls.is_empty() || self.instead.is_some() || !self.media.is_empty() {
            // A program's own controls, and technologies of its own.
            Err(Whole::Models)
        } else if let Some(whole) = whole(self.models, self.scenario) {
            Err(whole)
        } else {
            let division = divided(&self.network, specs, threads, scatter)?;
            if where_it_pays && !division.pays(&estimate::of_network(self.scenario)) {
                return Err(Whole::Short);
            }
            Ok(division)
        }
    }

    fn add_nodes(&mut self, watch: &mut Watch<'_>) -> Result<(), Interrupt> {
        for node in &self.scenario.nodes {
            watch.tick(1)?;
            if node.kind == NodeKind::Server {
                self.network.add_host();
            } else {
                self.network.add_router();
            }
            self.nodes.push(NodeInfo {
                id: node.id.clone(),
                kind: node.kind.name(),
                position_m: node.position_m,
                geographic_deg: node.geographic_deg,
                attached_to: None,
            });
        }
        Ok(())
    }

    fn add_links(&mut self, watch: &mut Watch<'_>) -> Result<(), Unbuilt> {
        let mut capacities = Capacities::new();
        for link in &self.scenario.links {
            watch.tick(2)?;
            // Wires first: links over radios are built when all radios are known.
            let wire = link.wire();
            self.link_ids
                .push(wire.map(|_| LinkId(self.links.len() as u32)));
            let Some(wire) = wire else {
                continue;
            };
            let [a, b] = [link.a, link.b].map(|index| NodeId(index as u32));
            let config = LinkConfig {
                rate: wire.rate,
                delay: wire.delay,
                queue: self.queue(&wire.queue)?,
            };
            let there = match [a, b].map(|node| self.network.is_router(node)) {
                [true, true] => {
                    let config = LinkConfig {
                        queue: self.mesh_queue(config.queue),
                        ..config
                    };
                    self.network.connect(&mut self.events, a, b, &config).0
                }
                [false, true] => self.attach(a, b, &config)?,
                [true, false] => self.attach(b, a, &config)?,
                [false, false] => {
                    let message = format!("{} and {} are both hosts", self.id(a), self.id(b));
                    return Err(BuildError(message).into());
                }
            };
            // A host's link has the direction up first, regardless of its order in the file.
            let (from, to) = if self.network.is_router(b) {
                (a, b)
            } else {
                (b, a)
            };
            for (offset, (from, to)) in [(from, to), (to, from)].into_iter().enumerate() {
                let info = LinkInfo {
                    from: self.id(from),
                    to: self.id(to),
                };
                let id = LinkId(there.0 + offset as u32);
                let way = usize::from(from != a);
                self.set_capacity(wire, way, id, &mut capacities)?;
                self.impair(wire, way, id, &info);
                self.links.push(info);
            }
        }
        Ok(())
    }

    /// Lets a direction of a wire carry what its trace says; `known` are traces of other wires.
    fn set_capacity(
        &mut self,
        wire: &Wire,
        way: usize,
        id: LinkId,
        known: &mut Capacities,
    ) -> Result<(), BuildError> {
        let own = wire.capacity.as_ref().and_then(|both| both[way].as_ref());
        let Some((own, trace)) = own.and_then(|own| Some((own, own.trace.as_ref()?))) else {
            return Ok(());
        };
        let address = Arc::as_ptr(trace).addr();
        let capacity = match known.get(&address) {
            Some(capacity) => capacity.clone(),
            None => {
                let read = convert::capacity(trace, own.at_end);
                let message = "a capacity has no order or no length";
                let capacity = Arc::new(read.ok_or_else(|| BuildError(message.to_owned()))?);
                known.insert(address, capacity.clone());
                capacity
            }
        };
        let link = &self.network.links()[id.index()];
        let ends = [link.from, link.to];
        let mut queue = self.queue(&wire.queue)?;
        if ends.iter().all(|&node| self.network.is_router(node)) {
            queue = self.mesh_queue(queue);
        }
        let origin = SimTime::ZERO + self.scenario.warm_up;
        self.network.set_capacity(id, capacity, origin, &queue);
        Ok(())
    }

    /// Impairs a direction of a wire: 0 from its first end to the second, 1 back.
    fn impair(&mut self, wire: &Wire, way: usize, id: LinkId, info: &LinkInfo) {
        let name = || format!("{}-{}", info.from, info.to);
        if wire.loss[way] > 0.0 {
            let stream = self.streams.stream(&name(), "loss");
            self.network.set_loss(id, wire.loss[way], stream);
        }
        if let Some(both) = &wire.impairments
            && both[way] != Impairments::default()
        {
            let config = convert::impairments(&both[way]);
            let (streams, name) = (&self.streams, name());
            self.network
                .set_impairments(id, &config, |purpose| streams.stream(&name, purpose));
        }
    }

    fn attach(
        &mut self,
        host: NodeId,
        router: NodeId,
        config: &LinkConfig,
    ) -> Result<LinkId, BuildError> {
        let info = &mut self.nodes[host.index()];
        if info.attached_to.is_some() {
            return Err(BuildError(format!("{} has more than one link", info.id)));
        }
        info.attached_to = Some(router);
        Ok(self
            .network
            .attach(&mut self.events, host, router, config)
            .0)
    }

    /// Backpressure routers keep their own queues and hand the device a few packets at a time.
    fn mesh_queue(&self, queue: QueueConfig) -> QueueConfig {
        match self
            .protocol
            .device_queue_pkts(&self.scenario.routing.values)
        {
            Some(pkts) => QueueConfig::DropTail(QueueLimit::Packets(pkts + BP_DEVICE_SLACK_PKTS)),
            None => queue,
        }
    }

    /// Captures, if the scenario has any.
    fn captures(&mut self) -> Option<Captures> {
        let wanted: BTreeSet<_> = self.scenario.record.capture.iter().collect();
        if wanted.is_empty() {
            return None;
        }
        let asked = |(_, node): &(usize, &NodeInfo)| wanted.contains(&node.id);
        let nodes = self.nodes.iter().enumerate().filter(asked);
        let nodes: Vec<_> = nodes.map(|(number, _)| NodeId(number as u32)).collect();
        let names = self.nodes.iter().map(|node| node.id.clone()).collect();
        let port = self.protocol.port();
        Some(Captures::set(&mut self.network, &nodes, names, port))
    }

    /// Of a divided network, the world runs `region` alone.
    fn finish(
        mut self,
        infos: Vec<FlowInfo>,
        specs: Vec<FlowSpec>,
        region: Option<Region>,
        trace: Option<Trace>,
        watch: &mut Watch<'_>,
    ) -> Result<World, Unbuilt> {
        if let Some(region) = region {
            self.network.restrict_to(region);
        }
        let paths = self.paths(&specs, watch)?;
        let routers = self.routers(&specs, &paths, watch)?;
        let warm_up = SimTime::ZERO + self.scenario.warm_up;
        let record = &self.scenario.record;
        let radio = RadioSeries::new(record, self.radio.as_ref(), &self.nodes);
        let sampler = Sampler::new(record, warm_up, &infos, &self.links, radio);
        let failures = Failures::new(
            &self.scenario.failures,
            &self.link_ids,
            self.network.links(),
            warm_up,
        );
        let captures = self.captures();
        let assigned = self.assigned();
        let network = &self.network;
        let runs = |node| network.runs(node);
        let mut flows = Flows::of_region(&mut self.events, self.streams, specs, runs);
        let record = &self.scenario.record;
        if record.reordering {
            flows.measure_reordering(record.reordering_threshold_pkts as usize);
        }
        Ok(World {
            routers: routers.iter().flatten().count(),
            simulation: Simulation::new(self.network, self.events, flows, routers, self.media)
                .with_trace(trace),
            nodes: self.nodes,
            links: self.links,
            captures,
            assigned,
            flows: infos,
            end: warm_up.saturating_add(self.scenario.duration),
            warm_up,
            sampler,
            carried_in_warm_up: None,
            busiest: None,
            failures,
            others: None,
            whole: Whole::OneThread,
            radio: self.radio,
            wifi: self.wifi,
            protocol: self.scenario.routing.protocol.clone(),
        })
    }

    /// The routers where packets enter the mesh and leave it, in pairs. A UE of a radio network may
    /// enter any cell, and its packets are then forwarded from one eNodeB to another.
    fn paths(
        &self,
        specs: &[FlowSpec],
        watch: &mut Watch<'_>,
    ) -> Result<BTreeSet<(NodeId, NodeId)>, Interrupt> {
        let exit = |node: NodeId| self.network.exit_of(node);
        let mut paths: BTreeSet<_> = specs
            .iter()
            .map(|spec| [exit(spec.source), exit(spec.destination)])
            .flat_map(|[from, to]| [(from, to), (to, from)])
            .collect();
        if let Some(radio) = &self.radio {
            let ends: BTreeSet<NodeId> = paths.iter().map(|&(from, _)| from).collect();
            let ends: Vec<NodeId> = ends.into_iter().chain(radio.enodebs.clone()).collect();
            for &enodeb in &radio.enodebs {
                watch.tick(ends.len() as u64)?;
                paths.extend(ends.iter().flat_map(|&end| [(end, enodeb), (enodeb, end)]));
            }
        }
        Ok(paths)
    }

    /// `paths` are the routers where packets enter the mesh and leave it.
    fn routers(
        &self,
        specs: &[FlowSpec],
        paths: &BTreeSet<(NodeId, NodeId)>,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Option<Box<dyn Router>>>, Unbuilt> {
        let network = &self.network;
        let site = Site {
            scenario: self.scenario,
            network,
            nodes: &self.nodes,
            streams: &self.streams,
            link_ids: &self.link_ids,
            specs,
            paths,
            watch,
        };
        let make = self.protocol.make(&self.scenario.routing.values, site)?;
        (0..network.node_count() as u32)
            .map(NodeId)
            .map(|node| {
                watch.tick(1)?;
                let is_own = network.is_router(node) && network.runs(node);
                Ok(is_own.then(|| make(node)))
            })
            .collect()
    }

    fn flows(&self, watch: &mut Watch<'_>) -> Result<(Vec<FlowInfo>, Vec<FlowSpec>), Unbuilt> {
        let mut names = Names::default();
        let mut infos = Vec::new();
        let mut specs = Vec::new();
        for group in &self.scenario.flows {
            let mut starts = Starts::new(group.start);
            let (transport, congestion_control) = self.transport(group)?;
            for (from, to) in group.pairs(self.ues.len()) {
                let (source, destination) = (self.end(from), self.end(to));
                for turn in 0..group.count {
                    watch.tick(4)?;
                    let name = names.unique(&match group.kind {
                        FlowKind::Download => self.id(destination),
                        FlowKind::Upload => self.id(source),
                        _ => format!("{}-{}", self.id(source), self.id(destination)),
                    });
                    let warm_up = SimTime::ZERO + self.scenario.warm_up;
                    let at = |after| warm_up.saturating_add(after);
                    let stop = group.stop.map(at);
                    let start = match group.gap {
                        Some(gap) if turn > 0 => {
                            Start::AfterPrevious(time(gap, &name, "gap", &self.streams))
                        }
                        _ => Start::At(at(starts.next(&name, &self.streams))),
                    };
                    let end = at(self.scenario.duration);
                    if matches!(start, Start::At(at) if at >= stop.unwrap_or(end).min(end)) {
                        // Its drawn start is too late; flows that wait for it do not start either.
                        if group.gap.is_some() {
                            break;
                        }
                        continue;
                    }
                    let mut transport = self.seeded(transport.clone(), &name);
                    let mut congestion_control = congestion_control.clone();
                    if let TransportSpec::Tcp(config) | TransportSpec::CodedTcp(config, _) =
                        &mut transport
                        && let Some(control) = self.instead.and_then(|by| by(&name))
                    {
                        congestion_control = Some(control.name().to_owned());
                        config.congestion_control = CongestionControlConfig::Custom(control);
                    }
                    let size = |law| size_bytes(law, &name, &self.streams);
                    specs.push(FlowSpec {
                        source,
                        destination,
                        size_bytes: group.size.map(size),
                        start,
                        stop,
                        transport,
                    });
                    infos.push(FlowInfo {
                        name,
                        kind: group.kind.name(),
                        congestion_control,
                        programs: group.programs.clone(),
                    });
                }
            }
        }
        Ok((infos, specs))
    }

    /// The transport of the flows of a group, and the name of their congestion control.
    fn transport(&self, group: &FlowGroup) -> Result<(TransportSpec, Option<String>), BuildError> {
        if let (FlowKind::Source(name), Some(values)) = (group.kind, &group.source) {
            let factory = self.models.sources.factory(name, values)?;
            return Ok((TransportSpec::Source(factory), None));
        }
        Ok(match &group.udp {
            Some(udp) => {
                let config = UdpConfig {
                    rate: udp.rate,
                    packet_bytes: udp.packet_bytes,
                    on_off: udp.on_off,
                    control: udp.control.map(|control| Utility {
                        m: control.m,
                        slot: control.slot,
                    }),
                };
                (TransportSpec::Udp(config), None)
            }
            None => {
                let values = &self.scenario.tcp.values;
                let control = group.congestion_control.as_deref();
                let control = control.unwrap_or(&self.scenario.tcp.congestion_control);
                let control = self.models.controls.read(control, values, self.controls)?;
                let name = control.name().to_owned();
                let config = tcp::Config {
                    congestion_control: control,
                    ..tcp::Config::read(values)?
                };
                let transport = match &self.scenario.coding {
                    _ if group.stack != Stack::Model => TransportSpec::External,
                    Some(coding) => TransportSpec::CodedTcp(config, CodingConfig::read(coding)?),
                    None => TransportSpec::Tcp(config),
                };
                (transport, Some(name))
            }
        })
    }

    /// A transport whose congestion control draws from a stream of the flow.
    fn seeded(&self, mut transport: TransportSpec, flow: &str) -> TransportSpec {
        if let TransportSpec::Tcp(config) | TransportSpec::CodedTcp(config, _) = &mut transport {
            let mut stream = self.streams.stream(flow, "congestion control");
            config.random_seed = Seed(stream.next_u64());
        }
        transport
    }

    fn end(&self, end: End) -> NodeId {
        match end {
            End::Ue(index) => self.ues[index],
            End::Node(index) => NodeId(index as u32),
        }
    }
}
