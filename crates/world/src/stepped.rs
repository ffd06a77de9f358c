//! A run that pauses at instants that its caller chooses, and shows its state there.
//!
//! A pause is no event: with the same commands at the same instants a run has the same events, and
//! without commands those of [`World::run`]. What a caller may change in a pause is outside of the
//! simulation: the windows of its own congestion controls
//! ([`Command`](backlane_tcp::congestion::external::Command)), and the costs of links
//! ([`Stepped::set_costs`]). One thread runs it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use backlane_engine::{Interrupt, Watch};
use backlane_net::{LinkId, NodeId};
use backlane_routing::shortest_path::{ShortestPath, Tables};
use backlane_traffic::{Transport, TransportSpec};
use backlane_units::{Duration, SimTime};

use crate::error::BuildError;
use crate::guard;
use crate::link_state::LinkState;
use crate::outcome::{Ended, Outcome};
use crate::regions::Team;
use crate::run::Passage;
use crate::world::World;

/// The state of a flow in a pause. Counts are totals since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowState {
    /// Whether it has started.
    pub has_started: bool,
    /// Whether it has finished or failed.
    pub has_ended: bool,
    /// Payload delivered, in order where the transport promises order.
    pub delivered_bytes: u64,
    /// The sender's side of TCP; `None` of other flows, and before the start.
    pub tcp: Option<TcpState>,
}

/// The state of a TCP sender in a pause. Counts are totals since its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpState {
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// Congestion window, in packets.
    pub cwnd_pkts: u32,
    /// Packets in flight.
    pub in_flight_pkts: u32,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// The smallest RTT of all samples.
    pub min_rtt: Option<Duration>,
    /// RTT samples.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Duration,
    /// Packets that acknowledgments reported as delivered.
    pub delivered_pkts: u64,
    /// Segments with data sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent again.
    pub retransmits: u64,
}

/// A run in a pause.
pub struct Stepped {
    world: World,
    passage: Passage,
    ended: Option<(Ended, SimTime)>,
}

impl Stepped {
    /// A world before its first event. It must have been built for one thread
    /// ([`Threads::One`](crate::Threads::One)).
    pub fn new(mut world: World) -> Self {
        debug_assert!(world.others.is_none());
        let passage = Passage::of(&mut world);
        Self {
            world,
            passage,
            ended: None,
        }
    }

    /// Runs until `pause`, what happens at that instant included, or to the end. `watch` is called
    /// at intervals, as in [`World::run`]. Nothing happens if the run has ended or is there already.
    ///
    /// # Errors
    /// [`Interrupt`] from `watch`. The run may go on from there.
    pub fn run_until(
        &mut self,
        pause: SimTime,
        mut watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        if self.ended.is_some() {
            return Ok(());
        }
        let watch = &mut Watch::new(&mut watch);
        let passage = &mut self.passage;
        let now = |world: &World| world.simulation.events.now();
        self.ended = guard::timed(&mut self.world, now, |world| {
            world.pass_time(passage, pause, &Team::Alone, watch, &mut None)
        })?;
        Ok(())
    }

    /// The simulated time, that of the warm-up included.
    pub fn now(&self) -> SimTime {
        match self.ended {
            Some((_, at)) => at,
            None => self.passage.now(),
        }
    }

    /// When the run ends at the latest, the warm-up included.
    pub fn end(&self) -> SimTime {
        self.world.end
    }

    /// When the warm-up ends.
    pub fn warm_up(&self) -> SimTime {
        self.world.warm_up
    }

    /// How the run ended, if it did.
    pub fn ended(&self) -> Option<Ended> {
        self.ended.map(|(ended, _)| ended)
    }

    /// The names of the flows, in the order of the results.
    pub fn flow_names(&self) -> impl Iterator<Item = &str> {
        self.world.flows.iter().map(|flow| flow.name.as_str())
    }

    /// The state of a flow, by its position among the names.
    pub fn flow(&self, index: usize) -> Option<FlowState> {
        let flow = self.world.simulation.application.flows().get(index)?;
        let config = match &flow.spec.transport {
            TransportSpec::Tcp(config) | TransportSpec::CodedTcp(config, _) => Some(config),
            TransportSpec::Udp(_) | TransportSpec::Source(_) | TransportSpec::External => None,
        };
        let tcp = match (&flow.transport, config) {
            (Some(Transport::Tcp(tcp)), Some(config)) => {
                let (now, sum) = (tcp.sender().readings(), tcp.sender().statistics());
                Some(TcpState {
                    mss_bytes: config.mss_bytes(),
                    cwnd_pkts: now.cwnd_pkts,
                    in_flight_pkts: now.in_flight_pkts,
                    srtt: now.srtt,
                    min_rtt: sum.rtt_min,
                    rtt_samples: sum.rtt_samples,
                    rtt_sum: sum.rtt_sum,
                    delivered_pkts: now.delivered_pkts,
                    segments_sent: sum.segments_sent,
                    retransmits: sum.retransmits,
                })
            }
            _ => None,
        };
        Some(FlowState {
            has_started: flow.transport.is_some(),
            has_ended: flow.finished.is_some() || flow.failed,
            delivered_bytes: flow.delivered_bytes(),
            tcp,
        })
    }

    /// The ends of each link direction, in the order of the results.
    pub fn link_names(&self) -> impl Iterator<Item = (&str, &str)> {
        let links = self.world.links.iter();
        links.map(|link| (link.from.as_str(), link.to.as_str()))
    }

    /// The state of a link direction, by its position among the names.
    pub fn link(&mut self, index: usize) -> Option<LinkState> {
        let now = self.now();
        LinkState::of(&mut self.world.simulation, index, now)
    }

    /// The links between routers: the positions of both directions, in the order of the results.
    pub fn wires(&self) -> Vec<[usize; 2]> {
        let network = &self.world.simulation.network;
        let mut wires = Vec::new();
        for node in (0..network.node_count() as u32).map(NodeId) {
            for interface in network.mesh_interfaces(node) {
                let directions = [interface.outgoing, interface.incoming].map(LinkId::index);
                if directions[0] < directions[1] {
                    wires.push(directions);
                }
            }
        }
        wires.sort_unstable();
        wires
    }

    /// The routing protocol.
    pub fn protocol(&self) -> &str {
        &self.world.protocol
    }

    /// Sets the cost of each link of [`wires`](Self::wires), in this order and in both directions,
    /// at least 1: from now on every router forwards along the shortest paths by these costs. Among
    /// equal paths it takes the neighbour with the lowest number. Packets that are under way in a
    /// queue keep their link.
    ///
    /// # Errors
    /// The protocol is not shortest-path, or there is another number of links.
    pub fn set_costs(&mut self, costs: &[u64]) -> Result<(), BuildError> {
        let wires = self.wires();
        if self.protocol() != "shortest-path" {
            let message = format!("costs are those of shortest-path, not {}", self.protocol());
            return Err(BuildError(message));
        }
        if costs.len() != wires.len() {
            let (got, links) = (costs.len(), wires.len());
            let message = format!("there are {got} costs for {links} links between routers");
            return Err(BuildError(message));
        }
        let simulation = &mut self.world.simulation;
        let network = &simulation.network;
        let by_link: BTreeMap<LinkId, u64> = wires
            .iter()
            .zip(costs)
            .flat_map(|(ends, &cost)| ends.map(|link| (LinkId(link as u32), cost.max(1))))
            .collect();
        let weight = |node, interface: usize| {
            let interface = network.mesh_interfaces(node)[interface];
            by_link.get(&interface.outgoing).copied().unwrap_or(1)
        };
        let flows = simulation.application.flows().iter();
        let ends = flows.flat_map(|flow| [flow.spec.source, flow.spec.destination]);
        let mut exits: BTreeSet<NodeId> = ends.map(|end| network.exit_of(end)).collect();
        exits.extend(self.world.radio.iter().flat_map(|radio| &radio.enodebs));
        let nodes = (0..network.node_count() as u32).map(NodeId);
        let routers: Vec<_> = nodes.filter(|&node| network.is_router(node)).collect();
        // From every router, so that a packet meets no route of earlier costs.
        let paths = exits
            .iter()
            .flat_map(|&exit| routers.iter().map(move |&router| (router, exit)));
        let (spray, mut unwatched) = (BTreeSet::new(), |_, _| Ok(()));
        let watch = &mut Watch::new(&mut unwatched);
        let tables = Tables::weighed(network, weight, &spray, paths, watch)
            .map_err(|interrupt| BuildError(interrupt.to_string()))?;
        let tables = Arc::new(tables);
        for node in routers {
            simulation.replace_router(node, Box::new(ShortestPath::new(node, tables.clone())));
        }
        Ok(())
    }

    /// The digest of all events so far.
    pub fn digest(&self) -> u64 {
        self.world.simulation.digest()
    }

    /// The outcome of a run that has ended; `None` of one that has not.
    ///
    /// # Errors
    /// [`Interrupt`] from `watch`.
    pub fn finish(
        self,
        mut watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    ) -> Result<Option<Outcome>, Interrupt> {
        let Some(ended) = self.ended else {
            return Ok(None);
        };
        let now = self.now();
        let watch = &mut Watch::new(&mut watch);
        guard::timed(
            &mut (),
            |()| now,
            |()| Outcome::of(self.world, ended, watch),
        )
        .map(Some)
    }
}
