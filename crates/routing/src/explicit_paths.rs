//! Explicit paths with weights: what an operator installs as MPLS label-switched paths (RFC 3209) or
//! segment routing policies with weighted segment lists (RFC 9256 §2.11).
//!
//! The first router divides the packets for a last router among the paths of that pair. In a real
//! network it writes labels or segments into the packet, which the routers behind it follow. Here
//! the path is a function of fields that no router changes (flow, addresses and the packet's number
//! in its flow), so that each router on it computes the same path, and packets carry nothing more.
//! Labels therefore add no bytes, and the paths of a pair may pass the same nodes in any order.

use std::collections::{BTreeMap, BTreeSet};

use backlane_net::{Network, NodeId, Packet};
use backlane_param::{Id, params, words};

use crate::ospf::config::Hash;
use crate::ospf::paths::{Paths, hash};

words! {
    /// How packets are divided among the explicit paths of a pair.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Spread {
        /// By a hash of addresses and ports: a flow keeps its path.
        #[default]
        Hash = "hash",
        /// Each packet of a flow in turn, in proportion to the weights.
        RoundRobin = "round-robin",
    }
}

params! {
    /// A path that packets follow from the router where they enter the mesh to that where they
    /// leave it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Path as "path" {
        /// The router where packets enter the mesh.
        from: Id;
        /// The router where packets leave it.
        to: Id;
        /// All routers of the path in order, the first and the last included.
        nodes: Vec<Id>;
        /// Its share of the pair's packets is its weight by the sum of the pair's weights.
        weight: f64 = 1.0, in 1e-9..=1e9;
    }
}

/// The sum of the scaled weights of a pair: shares are exact to 2⁻²⁴.
const WHOLE: f64 = 16_777_216.0;
/// 2³² by the golden ratio. Multiples of it modulo 2³² lie in each interval in proportion to its
/// length, to a few among any number that follow each other (Weyl's sequence; Knuth, The Art of
/// Computer Programming, vol. 3, §6.4).
const STEP: u32 = 2_654_435_769;

/// The paths from one router to another.
#[derive(Clone, Debug)]
struct Pair {
    /// Of the hash: real routers have each their own.
    key: u64,
    /// The shares of the paths, by their numbers.
    shares: Paths,
    /// By path and node: the interface; `None` where there is no link.
    steps: Vec<BTreeMap<NodeId, Option<u16>>>,
}

impl Pair {
    /// The number of the path that a packet follows.
    #[inline]
    fn path_of(&self, spread: Spread, packet: &Packet) -> usize {
        let first = hash(self.key, packet, Hash::Ports);
        let number = match spread {
            Spread::Hash => first,
            Spread::RoundRobin => first.wrapping_add(STEP.wrapping_mul(packet.sequence as u32)),
        };
        self.shares.choose(number).map_or(0, usize::from)
    }
}

/// Where the packets of a pair go at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By this interface.
    Interface(usize),
    /// The path leads over a link that the network does not have.
    NoLink,
}

/// All explicit paths of a network.
#[derive(Clone, Debug, Default)]
pub struct ExplicitPaths {
    spread: Spread,
    pairs: BTreeMap<(NodeId, NodeId), Pair>,
    /// By node: the last routers of the paths that pass it or begin there.
    exits: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl ExplicitPaths {
    /// Paths as their nodes and weights; those with less than two nodes are left out. Between
    /// neighbours with parallel links, a path takes the first. `key` gives a first router the key of
    /// its hash.
    pub fn new(
        network: &Network,
        spread: Spread,
        paths: impl IntoIterator<Item = (Vec<NodeId>, f64)>,
        mut key: impl FnMut(NodeId) -> u64,
    ) -> Self {
        let mut grouped: BTreeMap<_, Vec<(Vec<NodeId>, f64)>> = BTreeMap::new();
        for (nodes, weight) in paths {
            if let (Some(&first), Some(&last)) = (nodes.first(), nodes.last())
                && first != last
            {
                grouped
                    .entry((first, last))
                    .or_default()
                    .push((nodes, weight));
            }
        }
        let pairs = grouped.into_iter().map(|(ends, mut paths)| {
            paths.truncate(usize::from(u16::MAX));
            let sum: f64 = paths.iter().map(|(_, weight)| weight).sum();
            let numbers: Vec<u16> = (0..paths.len() as u16).collect();
            let shares = Paths::new(&numbers, |at| {
                (paths[usize::from(at)].1 / sum * WHOLE).round() as u64
            });
            let steps = paths.iter().map(|(nodes, _)| steps(network, nodes));
            let pair = Pair {
                key: key(ends.0),
                shares,
                steps: steps.collect(),
            };
            (ends, pair)
        });
        let pairs: BTreeMap<_, Pair> = pairs.collect();
        let mut exits: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for ((_, exit), pair) in &pairs {
            for &node in pair.steps.iter().flat_map(BTreeMap::keys) {
                exits.entry(node).or_default().insert(*exit);
            }
        }
        Self {
            spread,
            pairs,
            exits,
        }
    }

    /// Whether a path to `exit` passes `node` or begins there.
    pub fn passes(&self, node: NodeId, exit: NodeId) -> bool {
        (self.exits.get(&node)).is_some_and(|exits| exits.contains(&exit))
    }

    /// Where a packet that entered the mesh at `entry` goes at `node`; `None` if its path does not
    /// pass there, or if it has none.
    #[inline]
    pub fn way(&self, node: NodeId, entry: NodeId, packet: &Packet) -> Option<Way> {
        let pair = self.pairs.get(&(entry, packet.exit))?;
        let path = pair.path_of(self.spread, packet);
        let interface = pair.steps[path].get(&node)?;
        Some(interface.map_or(Way::NoLink, |at| Way::Interface(usize::from(at))))
    }
}

/// The interface at each node but the last.
fn steps(network: &Network, nodes: &[NodeId]) -> BTreeMap<NodeId, Option<u16>> {
    let hops = nodes.windows(2).map(|hop| {
        let mut interfaces = network.mesh_interfaces(hop[0]).iter();
        let found = interfaces.position(|interface| interface.peer == hop[1]);
        (hop[0], found.map(|at| at as u16))
    });
    hops.collect()
}

#[cfg(test)]
mod tests {
    use backlane_engine::EventQueue;
    use backlane_net::{FlowId, LinkConfig, QueueConfig, QueueLimit};
    use backlane_units::{Duration, Rate};
    use proptest::prelude::*;

    use super::*;

    /// Four routers, each with a link to every other, and one without links.
    fn mesh() -> Network {
        let mut events = EventQueue::new();
        let mut network = Network::new();
        for _ in 0..5 {
            network.add_router();
        }
        let config = LinkConfig {
            rate: Rate::from_bps(1_000_000),
            delay: Duration::from_millis(1),
            queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
        };
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            network.connect(&mut events, NodeId(a), NodeId(b), &config);
        }
        network
    }

    fn explicit(spread: Spread, paths: &[(&[u32], f64)]) -> ExplicitPaths {
        let nodes = |nodes: &[u32]| nodes.iter().copied().map(NodeId).collect();
        let paths = paths.iter().map(|&(path, weight)| (nodes(path), weight));
        ExplicitPaths::new(&mesh(), spread, paths, |_| 77)
    }

    fn packet(flow: u32, sequence: u64) -> Packet {
        let mut packet = Packet::new(FlowId(flow), NodeId(0), NodeId(3), 1500);
        packet.sequence = sequence;
        packet
    }

    /// The nodes that a packet passes.
    fn trace(paths: &ExplicitPaths, packet: &Packet) -> Vec<u32> {
        let network = mesh();
        let (mut at, mut passed) = (NodeId(0), vec![0]);
        while let Some(Way::Interface(interface)) = paths.way(at, NodeId(0), packet) {
            at = network.mesh_interfaces(at)[interface].peer;
            passed.push(at.0);
        }
        passed
    }

    /// Between 1 and 2 the first path goes one way and the second the other, which no tables by
    /// destination could do.
    const CROSSED: [(&[u32], f64); 2] = [(&[0, 1, 2, 3], 3.0), (&[0, 2, 1, 3], 1.0)];

    #[test]
    fn packets_follow_their_path_though_the_paths_of_a_pair_cross() {
        let paths = explicit(Spread::RoundRobin, &CROSSED);
        let mut counts = [0; 2];
        for sequence in 0..1000 {
            let passed = trace(&paths, &packet(5, sequence));
            let path = CROSSED.iter().position(|(nodes, _)| *nodes == passed);
            counts[path.unwrap()] += 1;
        }
        assert!((counts[0] - 750i32).abs() <= 3, "{counts:?}");
    }

    #[test]
    fn a_flow_keeps_its_path_and_flows_have_the_shares_of_the_weights() {
        let paths = explicit(Spread::Hash, &CROSSED);
        let mut long = 0;
        for flow in 0..10_000 {
            let first = trace(&paths, &packet(flow, 0));
            assert_eq!(first, trace(&paths, &packet(flow, 9)));
            long += u32::from(first[1] == 1);
        }
        // Five standard deviations of the binomial count are 217.
        assert!(long.abs_diff(7500) < 217, "{long}");
    }

    #[test]
    fn other_pairs_and_other_nodes_have_no_explicit_way() {
        let paths = explicit(Spread::Hash, &[(&[0, 1, 3], 1.0)]);
        assert_eq!(paths.way(NodeId(0), NodeId(2), &packet(1, 0)), None);
        assert_eq!(paths.way(NodeId(2), NodeId(0), &packet(1, 0)), None);
        let passed = (0..4).filter(|&node| paths.passes(NodeId(node), NodeId(3)));
        assert_eq!(passed.collect::<Vec<_>>(), [0, 1]);
        assert!(!paths.passes(NodeId(1), NodeId(2)));
    }

    #[test]
    fn a_path_without_its_link_leads_nowhere() {
        let paths = explicit(Spread::Hash, &[(&[0, 4, 3], 1.0)]);
        let way = paths.way(NodeId(0), NodeId(0), &packet(1, 0));
        assert_eq!(way, Some(Way::NoLink));
    }

    proptest! {
        /// Any run of packets of a flow has the shares of any weights to a few packets. The bound is
        /// that of the golden ratio's discrepancy, at most 1 + log(n) / log(φ) for an interval.
        #[test]
        fn turns_have_the_shares_of_any_weights(
            weights in prop::collection::vec(1e-9..1e9, 1..8),
            flow in any::<u32>(),
            first in any::<u64>(),
            count in 1u64..3000,
        ) {
            let ends: [&[u32]; 1] = [&[0, 3]];
            let rows: Vec<(&[u32], f64)> = weights.iter().map(|&weight| (ends[0], weight)).collect();
            let paths = explicit(Spread::RoundRobin, &rows);
            let pair = &paths.pairs[&(NodeId(0), NodeId(3))];
            let mut counts = vec![0.0; weights.len()];
            for sequence in first..first.saturating_add(count) {
                counts[pair.path_of(Spread::RoundRobin, &packet(flow, sequence))] += 1.0;
            }
            let sent: f64 = counts.iter().sum();
            let sum: f64 = weights.iter().sum();
            let most = 2.0 + (count as f64).ln() / 0.4812;
            for (found, weight) in counts.iter().zip(&weights) {
                prop_assert!((found - sent * weight / sum).abs() < most, "{counts:?}");
            }
        }
    }
}
