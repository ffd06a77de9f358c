//! Distances over the links that are used.

use backlane_net::{Network, NodeId};

use super::FlowRates;
use crate::graph::{Distances, links_to};

/// What the routers of one network share: the flow rates, and the distances to every exit over
/// links with a positive rate. Both are known before the run and constant.
#[derive(Debug)]
pub struct Reach {
    pub(super) flow_rates: FlowRates,
    pub(super) distances: Distances,
    /// Nodes that do not forward other nodes' packets.
    pub(super) no_transit: Vec<bool>,
}

impl Reach {
    /// For packets that leave the mesh at one of `exits` and do not pass through the nodes in
    /// `no_transit`.
    pub fn new(
        network: &Network,
        flow_rates: FlowRates,
        exits: impl IntoIterator<Item = NodeId>,
        no_transit: &[NodeId],
    ) -> Self {
        let nodes = network.node_count();
        let mut closed = vec![false; nodes];
        for node in no_transit {
            closed[node.index()] = true;
        }
        let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); nodes];
        for node in (0..nodes as u32).map(NodeId) {
            let interfaces = network.mesh_interfaces(node).iter();
            for (interface, &rate) in interfaces.zip(flow_rates.of(node)) {
                if rate > 0.0 {
                    into[interface.peer.index()].push(node);
                }
            }
        }
        let distances = Distances::by(nodes, exits, |exit| links_to(exit, &into, &closed));
        Self {
            flow_rates,
            distances,
            no_transit: closed,
        }
    }

    /// The number of used links from a node to an exit; `None` if there is no path.
    pub fn links(&self, from: NodeId, exit: NodeId) -> Option<u16> {
        let links = self.distances.to(exit)?[from.index()];
        (links != u16::MAX).then_some(links)
    }
}

#[cfg(test)]
mod tests {
    use backlane_engine::EventQueue;
    use backlane_net::{LinkConfig, QueueConfig, QueueLimit};
    use backlane_units::{Duration, Rate};

    use super::*;

    /// A ring of five.
    fn ring() -> Network {
        let (mut network, mut events) = (Network::new(), EventQueue::new());
        let wire = LinkConfig {
            rate: Rate::from_bps(1_000_000),
            delay: Duration::ZERO,
            queue: QueueConfig::DropTail(QueueLimit::Packets(1)),
        };
        let nodes: Vec<NodeId> = (0..5).map(|_| network.add_router()).collect();
        for node in 0..5 {
            network.connect(&mut events, nodes[node], nodes[(node + 1) % 5], &wire);
        }
        network
    }

    fn links(reach: &Reach, exit: u32) -> [Option<u16>; 5] {
        [0, 1, 2, 3, 4].map(|node| reach.links(NodeId(node), NodeId(exit)))
    }

    #[test]
    fn distances_are_over_the_links_that_are_used_in_their_direction() {
        let network = ring();
        let all = Reach::new(&network, FlowRates::equal(&network), [NodeId(0)], &[]);
        assert_eq!(links(&all, 0), [0, 1, 2, 2, 1].map(Some));
        assert_eq!(links(&all, 1), [None; 5], "not an exit in use");
        // The link from 1 to 0 has no rate; that from 0 to 1 has one.
        let rates = FlowRates::by(&network, |node, interface| {
            let peer = network.mesh_interfaces(node)[interface].peer;
            f64::from(u8::from((node, peer) != (NodeId(1), NodeId(0))))
        });
        let one_way = Reach::new(&network, rates, [NodeId(0), NodeId(1)], &[]);
        assert_eq!(links(&one_way, 0), [0, 4, 3, 2, 1].map(Some));
        assert_eq!(links(&one_way, 1), [1, 0, 1, 2, 2].map(Some));
    }

    #[test]
    fn a_closed_node_forwards_no_other_nodes_packets() {
        let network = ring();
        let closed = [NodeId(1)];
        let exits = [NodeId(0), NodeId(1)];
        let reach = Reach::new(&network, FlowRates::equal(&network), exits, &closed);
        assert_eq!(links(&reach, 0), [0, 1, 3, 2, 1].map(Some));
        assert_eq!(links(&reach, 1), [1, 0, 1, 2, 2].map(Some));
    }
}
