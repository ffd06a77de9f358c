//! What the routers of one network share.

use std::cell::Cell;

use backlane_net::NodeId;

use crate::graph::Distances;

/// What the routers of one network share: what is known before the run, and the exact queue lengths
/// for the setting `oracle`.
pub struct Shared {
    pub(super) distances: Distances,
    /// Nodes that do not forward other nodes' packets (the gateway of the core network).
    pub(super) no_transit: Vec<bool>,
    /// By node and queue, in packets.
    pub(super) board: Vec<Vec<Cell<u32>>>,
}

impl Shared {
    /// For a network of `node_count` nodes in which packets leave at the destinations that
    /// `distances` knows, and do not pass through the nodes in `no_transit`.
    pub fn new(node_count: usize, distances: Distances, no_transit: &[NodeId]) -> Self {
        let mut shared = Self {
            distances,
            no_transit: vec![false; node_count],
            board: vec![Vec::new(); node_count],
        };
        for node in no_transit {
            shared.no_transit[node.index()] = true;
        }
        shared
    }

    /// Adds the queues of a node.
    pub fn add_node(&mut self, node: NodeId, queues: usize) {
        self.board[node.index()] = vec![Cell::new(0); queues];
    }

    /// The number of destinations in use.
    pub fn destinations(&self) -> usize {
        self.distances.exits().len()
    }
}
