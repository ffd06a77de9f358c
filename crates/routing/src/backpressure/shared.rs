//! What the routers of one network share.

use std::sync::atomic::{AtomicU32, Ordering};

use backlane_net::NodeId;

use crate::graph::Distances;

/// What the routers of one network share: what is known before the run, and the exact queue lengths
/// for the setting `oracle`.
pub struct Shared {
    pub(super) distances: Distances,
    /// Nodes that do not forward other nodes' packets (the gateway of the core network).
    pub(super) no_transit: Vec<bool>,
    /// By node and queue, in packets. Atomic since a run may change its thread; it has one at a time.
    board: Vec<Vec<AtomicU32>>,
}

impl Shared {
    /// For a network of `node_count` nodes in which packets leave at the destinations that
    /// `distances` knows, and do not pass through the nodes in `no_transit`.
    pub fn new(node_count: usize, distances: Distances, no_transit: &[NodeId]) -> Self {
        let mut shared = Self {
            distances,
            no_transit: vec![false; node_count],
            board: (0..node_count).map(|_| Vec::new()).collect(),
        };
        for node in no_transit {
            shared.no_transit[node.index()] = true;
        }
        shared
    }

    /// Adds the queues of a node.
    pub fn add_node(&mut self, node: NodeId, queues: usize) {
        self.board[node.index()] = (0..queues).map(|_| AtomicU32::new(0)).collect();
    }

    /// The exact length of a queue, in packets.
    #[inline]
    pub(super) fn queue_pkts(&self, node: NodeId, queue: usize) -> u32 {
        self.board[node.index()][queue].load(Ordering::Relaxed)
    }

    /// The length of the shortest queue of a node, in packets.
    pub(super) fn shortest_queue_pkts(&self, node: NodeId) -> u32 {
        let queues = self.board[node.index()].iter();
        let lengths = queues.map(|length| length.load(Ordering::Relaxed));
        lengths.min().unwrap_or(0)
    }

    /// Stores the length of a queue, in packets.
    #[inline]
    pub(super) fn set_queue_pkts(&self, node: NodeId, queue: usize, length: u32) {
        self.board[node.index()][queue].store(length, Ordering::Relaxed);
    }

    /// The number of destinations in use.
    pub fn destinations(&self) -> usize {
        self.distances.exits().len()
    }
}
