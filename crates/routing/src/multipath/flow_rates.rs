//! The flow rates that links should carry.

use backlane_net::{Network, NodeId};

/// The flow rate f of every link direction, by node and interface, in bit/s. Only the proportions
/// at a node matter; a link whose rate is zero is not used.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRates(Vec<Vec<f64>>);

impl FlowRates {
    /// The same rate for every link: neighbours take turns.
    pub fn equal(network: &Network) -> Self {
        Self::by(network, |_, _| 1.0)
    }

    /// Rates given by `rate` for a node and one of its interfaces ([`Network::mesh_interfaces`]). A
    /// value that is not a positive number counts as zero.
    pub fn by(network: &Network, mut rate: impl FnMut(NodeId, usize) -> f64) -> Self {
        let mut of = |node: NodeId| -> Vec<f64> {
            (0..network.mesh_interfaces(node).len())
                .map(|interface| rate(node, interface))
                .map(|rate| if rate.is_finite() { rate.max(0.0) } else { 0.0 })
                .collect()
        };
        Self(
            (0..network.node_count() as u32)
                .map(|n| of(NodeId(n)))
                .collect(),
        )
    }

    /// The rates of a node's interfaces, in their order.
    pub fn of(&self, node: NodeId) -> &[f64] {
        &self.0[node.index()]
    }
}
