//! The network that routers are made for.

use std::collections::BTreeSet;
use std::sync::Arc;

use backlane_engine::{Interrupt, Stream, Streams, Watch};
use backlane_net::{LinkId, Network, NodeId};
use backlane_routing::backpressure::{Distance, Shared};
use backlane_routing::graph::{Distances, Graph};
use backlane_scenario::model::{NodeKind, Scenario};
use backlane_traffic::FlowSpec;

use crate::infos::NodeInfo;

/// Nodes to which a search finds the way in the time of one step.
pub(crate) const NODES_PER_STEP: u64 = 16;

/// The network that routers are made for, with all its nodes, links and flows.
pub struct Site<'a, 's, 'w> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) network: &'a Network,
    pub(crate) nodes: &'a [NodeInfo],
    pub(crate) streams: &'a Streams,
    /// The first direction of each link of the file.
    pub(crate) link_ids: &'a [Option<LinkId>],
    pub(crate) specs: &'a [FlowSpec],
    /// The routers where packets enter the mesh and leave it.
    pub(crate) paths: &'a BTreeSet<(NodeId, NodeId)>,
    pub(crate) watch: &'s mut Watch<'w>,
}

impl<'a> Site<'a, '_, '_> {
    /// The network.
    pub fn network(&self) -> &'a Network {
        self.network
    }

    /// The random streams of nodes for a purpose.
    pub fn streams(&self, purpose: &'static str) -> impl Fn(NodeId) -> Stream + use<'a> {
        let (streams, nodes) = (self.streams, self.nodes);
        move |node| streams.stream(&nodes[node.index()].id, purpose)
    }

    /// The first and the last router of all paths that packets take through the mesh.
    pub fn paths(&self) -> impl Iterator<Item = (NodeId, NodeId)> + use<'a> {
        self.paths.iter().copied()
    }

    /// The nodes of core networks. They forward no packets of others.
    pub fn gateways(&self) -> Vec<NodeId> {
        let nodes = &self.scenario.nodes;
        (0..nodes.len() as u32)
            .map(NodeId)
            .filter(|node| nodes[node.index()].kind == NodeKind::Epc)
            .collect()
    }

    /// The names of all nodes in the scenario, by number.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.nodes.iter().map(|node| node.id.as_str())
    }

    /// The node of a name in the scenario.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let index = self.nodes.iter().position(|node| node.id == name)?;
        Some(NodeId(index as u32))
    }

    /// The directions of the link "a-b" of the scenario, from a to b and back; of parallel links the
    /// first. Nothing if there is none, or if it is left out.
    pub fn directions(&self, link: &str) -> impl Iterator<Item = LinkId> + use<> {
        let id = |index: usize| self.nodes[index].id.as_str();
        let named = |a: usize, b: usize| {
            let rest = link.strip_prefix(id(a));
            rest.and_then(|rest| rest.strip_prefix('-')) == Some(id(b))
        };
        let mut links = self.scenario.links.iter().zip(self.link_ids);
        let found = links.find_map(|(link, first)| {
            let first = (*first)?;
            let back = LinkId(first.0 + 1);
            if named(link.a, link.b) {
                Some([first, back])
            } else {
                named(link.b, link.a).then_some([back, first])
            }
        });
        found.into_iter().flatten()
    }

    /// Counts a step of work; a caller that runs long may end the building.
    ///
    /// # Errors
    ///
    /// The caller wants it to end.
    pub fn tick(&mut self, steps: u64) -> Result<(), Interrupt> {
        self.watch.tick(steps)
    }

    /// What backpressure's routers share; `queues` is the number of queues of a node, from the node
    /// and the number of destinations.
    pub(crate) fn backpressure(
        &mut self,
        distance: Distance,
        queues: impl Fn(NodeId, usize) -> usize,
    ) -> Result<Arc<Shared>, Interrupt> {
        let network = self.network();
        let nodes = &self.scenario.nodes;
        let exits = self.paths().map(|(_, exit)| exit);
        let steps = 1 + network.node_count() as u64 / NODES_PER_STEP;
        let distances = match distance {
            Distance::Euclidean => {
                // Servers and UEs are not between routers; their positions do not matter.
                let at = |node: NodeId| {
                    let node = nodes.get(node.index());
                    node.and_then(|node| node.position_m).unwrap_or_default()
                };
                let squared = |node, exit| {
                    let ((x, y), (to_x, to_y)) = (at(node), at(exit));
                    (x - to_x) * (x - to_x) + (y - to_y) * (y - to_y)
                };
                while_watched(self.watch, steps, exits, |exits| {
                    Distances::ranked(network.node_count(), exits, squared)
                })?
            }
            Distance::Hops => {
                let graph = Graph::of(network, |_, _| 1);
                while_watched(self.watch, steps, exits, |exits| {
                    Distances::new(&graph, exits)
                })?
            }
        };
        let mut shared = Shared::new(network.node_count(), distances, &self.gateways());
        let destinations = shared.destinations();
        for node in (0..network.node_count() as u32).map(NodeId) {
            shared.add_node(node, queues(node, destinations));
        }
        Ok(Arc::new(shared))
    }

    /// The streams that break ties and spread HELLOs.
    pub(crate) fn ties_and_hellos(&self) -> impl Fn(NodeId) -> [Stream; 2] + use<'a> {
        let [ties, hellos] = ["ties", "hello"].map(|purpose| self.streams(purpose));
        move |node| [ties(node), hellos(node)]
    }

    /// Source, its router and the router of the destination, of both directions of each flow.
    pub(crate) fn flow_ends(&self) -> Vec<(NodeId, NodeId, NodeId)> {
        let exit = |node: NodeId| self.network.exit_of(node);
        self.specs
            .iter()
            .map(|spec| [spec.source, spec.destination])
            .flat_map(|[from, to]| [(from, to), (to, from)])
            .map(|(source, destination)| (source, exit(source), exit(destination)))
            .collect()
    }
}

/// Applies `make` to `items`; each takes this many steps.
pub(crate) fn while_watched<T, M>(
    watch: &mut Watch<'_>,
    steps: u64,
    items: impl IntoIterator<Item = T>,
    make: impl FnOnce(&mut dyn Iterator<Item = T>) -> M,
) -> Result<M, Interrupt> {
    let mut answer = Ok(());
    let mut items = items.into_iter().take_while(|_| {
        answer = watch.tick(steps);
        answer.is_ok()
    });
    let made = make(&mut items);
    drop(items);
    answer.map(|()| made)
}
