//! Shortest paths, computed before the run and known at once everywhere: what MPLS or static
//! routes give a network in which nothing moves or fails.
//!
//! Among equal paths every node takes its neighbour with the lowest node number, so that a
//! destination's traffic follows one tree. Links that are cut during the run are not noticed.

use std::rc::Rc;

use backlane_net::{Context, DropCause, Network, NodeId, PacketId, Router};

use crate::graph::{Graph, UNREACHABLE};

/// What makes a path short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The number of links.
    #[default]
    Hops,
    /// The sum of the propagation delays, in picoseconds.
    Delay,
    /// The sum of the inverse rates, scaled as OSPF does (RFC 2328 leaves the reference open;
    /// here 10¹⁵ b/s).
    InverseRate,
}

/// Configuration of shortest-path routing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// What makes a path short.
    pub metric: Metric,
}

/// The next interface towards each destination in use, for all nodes.
#[derive(Debug)]
pub struct Tables {
    /// Position of a destination in `trees`, by node; `u32::MAX` if it is not in use.
    tree_of: Vec<u32>,
    /// By tree and node: the interface to take, `u16::MAX` where there is no way.
    trees: Vec<Vec<u16>>,
}

impl Tables {
    /// The tables for packets that leave the mesh at one of `exits`.
    pub fn new(network: &Network, config: Config, exits: impl IntoIterator<Item = NodeId>) -> Self {
        let graph = Graph::of(network, |node, interface| {
            let interface = network.mesh_interfaces(node)[interface];
            match config.metric {
                Metric::Hops => 1,
                Metric::Delay => network.links()[interface.outgoing.index()]
                    .delay()
                    .as_ps()
                    .max(1),
                Metric::InverseRate => 1_000_000_000_000_000 / interface.rate.as_bps().max(1),
            }
        });
        let mut tables = Self {
            tree_of: vec![u32::MAX; graph.node_count()],
            trees: Vec::new(),
        };
        for exit in exits {
            if tables.tree_of[exit.index()] == u32::MAX {
                tables.tree_of[exit.index()] = tables.trees.len() as u32;
                tables.trees.push(tree(&graph, exit));
            }
        }
        tables
    }

    /// The interface by which `node` sends packets that leave at `exit`.
    #[inline]
    pub fn interface(&self, node: NodeId, exit: NodeId) -> Option<usize> {
        let tree = *self.tree_of.get(exit.index())?;
        let interface = self.trees.get(tree as usize)?[node.index()];
        (interface != u16::MAX).then_some(usize::from(interface))
    }
}

fn tree(graph: &Graph, exit: NodeId) -> Vec<u16> {
    let costs = graph.costs_to(exit);
    (0..graph.node_count() as u32)
        .map(|node| {
            graph
                .neighbours(NodeId(node))
                .iter()
                .enumerate()
                .filter(|(_, (neighbour, _))| costs[neighbour.index()] != UNREACHABLE)
                .min_by_key(|(_, (neighbour, weight))| {
                    (costs[neighbour.index()].saturating_add(*weight), *neighbour)
                })
                .map_or(u16::MAX, |(interface, _)| interface as u16)
        })
        .collect()
}

/// Shortest-path routing on one node.
pub struct ShortestPath {
    tables: Rc<Tables>,
    node: NodeId,
}

impl ShortestPath {
    /// The router of `node`.
    pub fn new(node: NodeId, tables: Rc<Tables>) -> Self {
        Self { tables, node }
    }
}

impl Router for ShortestPath {
    fn start(&mut self, _context: &mut Context<'_>) {}

    #[inline]
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let exit = context.packet(id).exit;
        match self.tables.interface(self.node, exit) {
            Some(interface) => context.transmit(interface, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_message(&mut self, _context: &mut Context<'_>, _interface: usize, _message: &[u8]) {}

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

    /// a – b – d by fast, long wires; a – c – d by slow, short ones; a – d slowest and longest.
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
        let tables = Tables::new(&network, Config { metric }, [NodeId(3)]);
        let interface = tables.interface(NodeId(0), NodeId(3)).unwrap();
        network.mesh_interfaces(NodeId(0))[interface].peer
    }

    #[test]
    fn the_metric_decides_the_path() {
        assert_eq!(first_hop(Metric::Hops), NodeId(3));
        assert_eq!(first_hop(Metric::Delay), NodeId(2));
        assert_eq!(first_hop(Metric::InverseRate), NodeId(1));
    }

    #[test]
    fn a_destination_that_was_not_asked_for_has_no_route() {
        let tables = Tables::new(&square(), Config::default(), [NodeId(3)]);
        assert_eq!(tables.interface(NodeId(0), NodeId(1)), None);
    }
}
