//! The graph of routers, for computations shared by all of them.

use std::collections::VecDeque;

use backlane_net::{Network, NodeId};

/// Routers and the wires between them; neighbours in the order of their interfaces.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// (neighbour, weight) by node and interface.
    neighbours: Vec<Vec<(NodeId, u64)>>,
}

impl Graph {
    /// The graph of a network; `weight` gives the cost of leaving a node by an interface.
    pub fn of(network: &Network, mut weight: impl FnMut(NodeId, usize) -> u64) -> Self {
        let neighbours = (0..network.node_count() as u32)
            .map(|node| {
                let node = NodeId(node);
                let interfaces = network.mesh_interfaces(node).iter().enumerate();
                interfaces
                    .map(|(index, i)| (i.peer, weight(node, index)))
                    .collect()
            })
            .collect();
        Self { neighbours }
    }

    /// The number of nodes, hosts included (they have no neighbours here).
    pub fn node_count(&self) -> usize {
        self.neighbours.len()
    }

    /// A node's neighbours and the cost to reach each, by interface.
    pub fn neighbours(&self, node: NodeId) -> &[(NodeId, u64)] {
        &self.neighbours[node.index()]
    }

    /// The number of links from every node to `to`.
    pub fn hops_to(&self, to: NodeId) -> Vec<u16> {
        let mut hops = vec![u16::MAX; self.neighbours.len()];
        hops[to.index()] = 0;
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            for &(neighbour, _) in self.neighbours(node) {
                if hops[neighbour.index()] == u16::MAX {
                    hops[neighbour.index()] = hops[node.index()].saturating_add(1);
                    reached.push_back(neighbour);
                }
            }
        }
        hops
    }
}

/// The distance of every node from each destination in use: in links, or as a rank by another
/// distance.
#[derive(Debug)]
pub struct Distances {
    /// Position of a destination in `hops`, by node; `u32::MAX` if it is not in use.
    column_of: Vec<u32>,
    exits: Vec<NodeId>,
    hops: Vec<Vec<u16>>,
}

impl Distances {
    /// Numbers of links to each of `exits`.
    pub fn new(graph: &Graph, exits: impl IntoIterator<Item = NodeId>) -> Self {
        Self::by(graph.node_count(), exits, |exit| graph.hops_to(exit))
    }

    /// For each of `exits`, the rank of every node by `distance(node, exit)`: equal distances have
    /// equal ranks, and ranks beyond `u16::MAX` are equal.
    pub fn ranked(
        node_count: usize,
        exits: impl IntoIterator<Item = NodeId>,
        distance: impl Fn(NodeId, NodeId) -> f64,
    ) -> Self {
        Self::by(node_count, exits, |exit| {
            let to_exit: Vec<f64> = (0..node_count as u32)
                .map(|node| distance(NodeId(node), exit))
                .collect();
            let mut all = to_exit.clone();
            all.sort_unstable_by(f64::total_cmp);
            all.dedup();
            let rank = |own: &f64| all.partition_point(|other| other < own);
            to_exit
                .iter()
                .map(|own| u16::try_from(rank(own)).unwrap_or(u16::MAX))
                .collect()
        })
    }

    /// Distances to each of `exits`, as `to` gives them by node.
    pub(crate) fn by(
        node_count: usize,
        exits: impl IntoIterator<Item = NodeId>,
        to: impl Fn(NodeId) -> Vec<u16>,
    ) -> Self {
        let mut distances = Self {
            column_of: vec![u32::MAX; node_count],
            exits: Vec::new(),
            hops: Vec::new(),
        };
        for exit in exits {
            if distances.column_of[exit.index()] == u32::MAX {
                distances.column_of[exit.index()] = distances.hops.len() as u32;
                distances.exits.push(exit);
                distances.hops.push(to(exit));
            }
        }
        distances
    }

    /// The destinations in use, by column.
    pub fn exits(&self) -> &[NodeId] {
        &self.exits
    }

    /// The index of a destination in [`Distances::exits`].
    #[inline]
    pub fn column(&self, exit: NodeId) -> Option<usize> {
        let column = *self.column_of.get(exit.index())? as usize;
        (column < self.hops.len()).then_some(column)
    }

    /// Distances from every node to `exit`, by node; `u16::MAX` where there is no path. `None` if
    /// the destination is not in use.
    #[inline]
    pub fn to(&self, exit: NodeId) -> Option<&[u16]> {
        self.column(exit).map(|column| self.by_column(column))
    }

    /// Distances from every node to the destination of a column, by node.
    #[inline]
    pub(crate) fn by_column(&self, column: usize) -> &[u16] {
        &self.hops[column]
    }
}

/// A breadth-first search against the direction of the links; `into` has the nodes with a link to
/// each node.
pub(crate) fn links_to(exit: NodeId, into: &[Vec<NodeId>], closed: &[bool]) -> Vec<u16> {
    let mut links = vec![u16::MAX; into.len()];
    links[exit.index()] = 0;
    let mut reached = VecDeque::from([exit]);
    while let Some(node) = reached.pop_front() {
        if closed[node.index()] && node != exit {
            continue;
        }
        let further = links[node.index()].saturating_add(1);
        for &before in &into[node.index()] {
            if links[before.index()] == u16::MAX {
                links[before.index()] = further;
                reached.push_back(before);
            }
        }
    }
    links
}
