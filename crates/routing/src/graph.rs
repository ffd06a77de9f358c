//! The graph of routers, for what is computed once and shared by all of them.

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

/// The number of links from every node to each destination in use.
#[derive(Debug)]
pub struct Distances {
    /// Position of a destination in `hops`, by node; `u32::MAX` if it is not in use.
    column_of: Vec<u32>,
    hops: Vec<Vec<u16>>,
}

impl Distances {
    /// Distances to each of `exits`.
    pub fn new(graph: &Graph, exits: impl IntoIterator<Item = NodeId>) -> Self {
        let mut distances = Self {
            column_of: vec![u32::MAX; graph.node_count()],
            hops: Vec::new(),
        };
        for exit in exits {
            if distances.column_of[exit.index()] == u32::MAX {
                distances.column_of[exit.index()] = distances.hops.len() as u32;
                distances.hops.push(graph.hops_to(exit));
            }
        }
        distances
    }

    /// Links from every node to `exit`, by node; `u16::MAX` where there is no way. `None` if the
    /// destination is not in use.
    #[inline]
    pub fn to(&self, exit: NodeId) -> Option<&[u16]> {
        let column = *self.column_of.get(exit.index())?;
        self.hops.get(column as usize).map(Vec::as_slice)
    }
}
