//! Shortest paths, computed before the run and known to every node: what MPLS or static routes
//! provide in a network without mobility or failures.
//!
//! Among equal paths every node takes its neighbour with the lowest node number, so that a
//! destination's traffic follows one tree. A node that sprays sends the packets for a destination
//! over all its shortest paths in turn. Packets between two routers that have explicit paths follow
//! those ([`crate::explicit_paths`]). Links that are cut during the run are not noticed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use backlane_engine::{Interrupt, Watch};
use backlane_net::{ByExit, Context, DropCause, Network, NodeId, PacketId, Router};

use backlane_param::{Id, params, words};

use crate::airtime::hwmp;
use crate::explicit_paths::{ExplicitPaths, Path, Spread, Way};
use crate::graph::Graph;

words! {
    /// The metric of paths.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Metric {
        /// The number of links.
        #[default]
        Hops = "hops",
        /// The sum of the propagation delays, in picoseconds.
        Delay = "delay",
        /// The sum of the inverse rates, scaled as OSPF does (RFC 2328 does not fix the reference;
        /// here 10¹⁵ b/s).
        InverseRate = "inverse-rate",
        /// The sum of the airtimes of a frame of 8192 bits, as 802.11s in Linux computes them of the
        /// links' rates, without losses.
        Airtime = "airtime",
    }
}

params! {
    /// Shortest paths, computed before the run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// What is shortest.
        metric: Metric = Metric::Hops;
        /// Nodes that send the packets for a destination over all their shortest paths in turn, one
        /// packet each, in the order of the links in the file; the others keep to one path.
        spray: Vec<Id> = Vec::new();
        /// Explicit paths, among which the packets of their pair of routers are divided by weight;
        /// pairs without one take the shortest path.
        explicit_paths: Vec<Path> = Vec::new();
        /// How packets are divided among the explicit paths of a pair.
        spread: Spread = Spread::Hash;
    }
}

/// The forwarding tables of all nodes.
///
/// Only the paths in use are kept. A mesh of 10 000 nodes has 10⁸ pairs, of which a run uses few,
/// and a forwarding table should stay in the processor's cache.
#[derive(Debug)]
pub struct Tables {
    nodes: Vec<ByExit<u16>>,
    /// For the nodes that spray: the interfaces of all shortest paths to an exit, in order, if
    /// there are several.
    equal: BTreeMap<NodeId, BTreeMap<NodeId, Vec<u16>>>,
}

impl Tables {
    /// The tables for packets that enter the mesh at the first router of one of `paths` and leave
    /// it at the second. The two directions of a flow are two paths. Nodes in `spray` send the
    /// packets for a destination over all their shortest paths in turn.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` requests it.
    pub fn new(
        network: &Network,
        metric: Metric,
        spray: &BTreeSet<NodeId>,
        paths: impl IntoIterator<Item = (NodeId, NodeId)>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Interrupt> {
        let weight = |node, interface: usize| {
            let interface = network.mesh_interfaces(node)[interface];
            match metric {
                Metric::Hops => 1,
                Metric::Delay => network.links()[interface.outgoing.index()]
                    .delay()
                    .as_ps()
                    .max(1),
                Metric::InverseRate => 1_000_000_000_000_000 / interface.rate.as_bps().max(1),
                Metric::Airtime => hwmp(interface.rate, 0).max(1),
            }
        };
        Self::weighed(network, weight, spray, paths, watch)
    }

    /// As [`Tables::new`], where `weight` gives the cost of leaving a node by an interface: at least
    /// 1, and the same in both directions of a link.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` requests it.
    pub fn weighed(
        network: &Network,
        weight: impl FnMut(NodeId, usize) -> u64,
        spray: &BTreeSet<NodeId>,
        paths: impl IntoIterator<Item = (NodeId, NodeId)>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, Interrupt> {
        let graph = Graph::of(network, weight);
        let mut sources: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for (entry, exit) in paths {
            sources.entry(exit).or_default().push(entry);
        }
        let mut tables = Self {
            nodes: vec![ByExit::default(); graph.node_count()],
            equal: spray.iter().map(|&node| (node, BTreeMap::new())).collect(),
        };
        let mut search = Search::new(&graph);
        for (exit, entries) in sources {
            // A search visits most of the nodes.
            watch.tick(1 + graph.node_count() as u64 / 8)?;
            search.run(exit, &entries);
            for entry in entries {
                watch.tick(1)?;
                tables.install(&graph, &search, entry, exit);
            }
        }
        Ok(tables)
    }

    /// Follows the shortest paths from `entry` until they end or join one installed before.
    fn install(&mut self, graph: &Graph, search: &Search<'_>, entry: NodeId, exit: NodeId) {
        let mut open = vec![entry];
        while let Some(node) = open.pop() {
            if node == exit || self.interface(node, exit).is_some() {
                continue;
            }
            let mut ways: Vec<(u64, NodeId, usize)> = graph
                .neighbours(node)
                .iter()
                .enumerate()
                .filter_map(|(interface, &(neighbour, weight))| {
                    let cost = search.cost(neighbour)?.saturating_add(weight);
                    Some((cost, neighbour, interface))
                })
                .collect();
            let Some(&(least, neighbour, interface)) = ways.iter().min() else {
                continue;
            };
            self.nodes[node.index()].insert(exit, interface as u16);
            match self.equal.get_mut(&node) {
                Some(equal) => {
                    ways.retain(|&(cost, ..)| cost == least);
                    open.extend(ways.iter().map(|&(_, neighbour, _)| neighbour));
                    if ways.len() > 1 {
                        let interfaces = ways.iter().map(|&(.., interface)| interface as u16);
                        equal.insert(exit, interfaces.collect());
                    }
                }
                None => open.push(neighbour),
            }
        }
    }

    /// The interface by which `node` sends packets that leave at `exit`; `None` where no path in
    /// use passes.
    #[inline]
    pub fn interface(&self, node: NodeId, exit: NodeId) -> Option<usize> {
        self.nodes[node.index()].get(exit).map(usize::from)
    }
}

/// Least costs to one node (Dijkstra 1959), as far out as needed. Costs must be equal in both
/// directions of a wire.
struct Search<'a> {
    graph: &'a Graph,
    costs: Vec<u64>,
    touched: Vec<NodeId>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Self {
        Self {
            graph,
            costs: vec![u64::MAX; graph.node_count()],
            touched: Vec::new(),
        }
    }

    /// Computes the costs to `to` from all `from` and from every nearer node.
    fn run(&mut self, to: NodeId, from: &[NodeId]) {
        for node in self.touched.drain(..) {
            self.costs[node.index()] = u64::MAX;
        }
        let mut wanted: BTreeSet<NodeId> = from.iter().copied().collect();
        let mut open = BinaryHeap::from([(Reverse(0), to)]);
        self.costs[to.index()] = 0;
        self.touched.push(to);
        while let Some((Reverse(cost), node)) = open.pop() {
            if cost > self.costs[node.index()] {
                continue;
            }
            wanted.remove(&node);
            if wanted.is_empty() {
                return;
            }
            for &(neighbour, weight) in self.graph.neighbours(node) {
                let through = cost.saturating_add(weight);
                let known = &mut self.costs[neighbour.index()];
                if through < *known {
                    if *known == u64::MAX {
                        self.touched.push(neighbour);
                    }
                    *known = through;
                    open.push((Reverse(through), neighbour));
                }
            }
        }
    }

    /// The cost of a node, if it was reached.
    fn cost(&self, node: NodeId) -> Option<u64> {
        let cost = self.costs[node.index()];
        (cost != u64::MAX).then_some(cost)
    }
}

/// The equal paths from a node that sprays to one exit.
struct Turns {
    interfaces: Vec<u16>,
    /// Index of the interface whose turn it is.
    next: usize,
}

/// Shortest-path routing on one node.
pub struct ShortestPath {
    tables: Arc<Tables>,
    explicit: Arc<ExplicitPaths>,
    node: NodeId,
    /// By exit; empty at a node that does not spray.
    turns: BTreeMap<NodeId, Turns>,
}

impl ShortestPath {
    /// The router of `node`.
    pub fn new(node: NodeId, tables: Arc<Tables>) -> Self {
        let equal = tables.equal.get(&node).into_iter().flatten();
        let turns = equal.map(|(&exit, interfaces)| {
            let interfaces = interfaces.clone();
            (
                exit,
                Turns {
                    interfaces,
                    next: 0,
                },
            )
        });
        Self {
            turns: turns.collect(),
            tables,
            explicit: Arc::default(),
            node,
        }
    }

    /// The router follows these paths first.
    #[must_use]
    pub fn with_explicit_paths(mut self, explicit: Arc<ExplicitPaths>) -> Self {
        self.explicit = explicit;
        self
    }

    /// The interface of the next path in turn, where there is more than one.
    #[inline]
    fn in_turn(&mut self, exit: NodeId) -> Option<usize> {
        if self.turns.is_empty() {
            return None;
        }
        let turns = self.turns.get_mut(&exit)?;
        let interface = turns.interfaces[turns.next];
        turns.next = (turns.next + 1) % turns.interfaces.len();
        Some(usize::from(interface))
    }
}

impl Router for ShortestPath {
    fn start(&mut self, context: &mut Context<'_>) {
        for (exit, interface) in self.tables.nodes[self.node.index()].iter() {
            if !self.turns.contains_key(&exit) && !self.explicit.passes(self.node, exit) {
                context.install_route(exit, usize::from(interface));
            }
        }
    }

    #[inline]
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let packet = context.packet(id);
        let exit = packet.exit;
        match (self.explicit).way(self.node, context.entry_of(id), packet) {
            Some(Way::Interface(interface)) => return context.transmit(interface, id),
            Some(Way::NoLink) => return context.drop(id, DropCause::NoRoute),
            None => {}
        }
        let in_turn = self.in_turn(exit);
        match in_turn.or_else(|| self.tables.interface(self.node, exit)) {
            Some(interface) => context.transmit(interface, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_message(
        &mut self,
        _context: &mut Context<'_>,
        _interface: usize,
        _ttl: u8,
        _message: &[u8],
    ) {
    }

    fn on_timer(&mut self, _context: &mut Context<'_>, _token: u32) {}

    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        self.tables.interface(self.node, exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_engine::EventQueue;
    use backlane_net::{LinkConfig, QueueConfig, QueueLimit};
    use backlane_units::{Duration, Rate};

    fn tables<const N: usize>(
        network: &Network,
        metric: Metric,
        spray: &BTreeSet<NodeId>,
        paths: [(NodeId, NodeId); N],
    ) -> Tables {
        Tables::new(
            network,
            metric,
            spray,
            paths,
            &mut Watch::new(&mut |_, _| Ok(())),
        )
        .unwrap()
    }

    /// a – b – d has fast, long wires; a – c – d slow, short ones; a – d is slowest and longest.
    fn square() -> Network {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        for _ in 0..4 {
            network.add_router();
        }
        let mut wire = |a, b, mbps: u64, ms| {
            let config = LinkConfig {
                rate: Rate::from_bps(mbps * 1_000_000),
                delay: Duration::from_millis(ms),
                queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
            };
            network.connect(&mut events, NodeId(a), NodeId(b), &config);
        };
        wire(0, 1, 1000, 10);
        wire(1, 3, 1000, 10);
        wire(0, 2, 100, 1);
        wire(2, 3, 100, 1);
        wire(0, 3, 10, 50);
        network
    }

    fn first_hop(metric: Metric) -> NodeId {
        let network = square();
        let tables = tables(&network, metric, &BTreeSet::new(), [(NodeId(0), NodeId(3))]);
        let interface = tables.interface(NodeId(0), NodeId(3)).unwrap();
        network.mesh_interfaces(NodeId(0))[interface].peer
    }

    #[test]
    fn the_metric_decides_the_path() {
        assert_eq!(first_hop(Metric::Hops), NodeId(3));
        assert_eq!(first_hop(Metric::Delay), NodeId(2));
        assert_eq!(first_hop(Metric::InverseRate), NodeId(1));
        assert_eq!(first_hop(Metric::Airtime), NodeId(1));
    }

    #[test]
    fn a_destination_without_requested_paths_has_no_route() {
        let tables = tables(
            &square(),
            Metric::Hops,
            &BTreeSet::new(),
            [(NodeId(0), NodeId(3))],
        );
        assert_eq!(tables.interface(NodeId(0), NodeId(1)), None);
    }

    /// a – c – d and a – b – d, with equal costs.
    fn diamond() -> Network {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        for _ in 0..4 {
            network.add_router();
        }
        let config = LinkConfig {
            rate: Rate::from_bps(1_000_000),
            delay: Duration::from_millis(1),
            queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
        };
        for (a, b) in [(0, 2), (0, 1), (1, 3), (2, 3)] {
            network.connect(&mut events, NodeId(a), NodeId(b), &config);
        }
        network
    }

    fn turns(spray: &[u32], node: u32, exit: u32, packets: usize) -> Vec<Option<usize>> {
        let spray = spray.iter().copied().map(NodeId).collect();
        let paths = [(NodeId(0), NodeId(3)), (NodeId(3), NodeId(0))];
        let tables = Arc::new(tables(&diamond(), Metric::Hops, &spray, paths));
        let mut router = ShortestPath::new(NodeId(node), tables);
        (0..packets).map(|_| router.in_turn(NodeId(exit))).collect()
    }

    #[test]
    fn a_node_that_sprays_takes_its_equal_paths_in_the_order_of_its_interfaces() {
        let (first, second) = (Some(0), Some(1));
        assert_eq!(turns(&[0], 0, 3, 5), [first, second, first, second, first]);
    }

    #[test]
    fn the_other_nodes_keep_to_one_path() {
        assert_eq!(turns(&[0], 3, 0, 2), [None, None]);
        assert_eq!(turns(&[0], 0, 1, 2), [None, None]);
    }

    #[test]
    fn every_sprayed_path_reaches_the_exit() {
        let spray = BTreeSet::from([NodeId(0)]);
        let tables = tables(&diamond(), Metric::Hops, &spray, [(NodeId(0), NodeId(3))]);
        for between in [1, 2] {
            assert_eq!(tables.interface(NodeId(between), NodeId(3)), Some(1));
        }
    }
}
