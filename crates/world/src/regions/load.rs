//! An estimate of the load of each node: packets that it handles.
//!
//! Packets of a flow are taken to follow a path of fewest hops. Of many destinations only some are
//! looked at, and stand for the others.

use std::collections::{BTreeMap, VecDeque};

use backlane_net::{Network, NodeId};
use backlane_traffic::{FlowSpec, TransportSpec};

/// Destinations that are looked at.
const MOST_DESTINATIONS: usize = 256;
/// What a data packet and its acknowledgment cost at a router that they pass.
const HOP: u64 = 3;
/// The same at an endpoint of TCP.
const TCP_END: u64 = 8;
/// A packet at an endpoint of UDP.
const UDP_END: u64 = 2;
/// What a node costs without any flow, over the mean of those with flows: HELLOs and the like.
const IDLE_SHARE: u64 = 20;

/// The load of each node, in a unit of its own.
pub(super) fn loads(network: &Network, specs: &[FlowSpec]) -> Vec<u64> {
    let mut by_destination: BTreeMap<NodeId, Vec<&FlowSpec>> = BTreeMap::new();
    for spec in specs {
        let exit = network.exit_of(spec.destination);
        by_destination.entry(exit).or_default().push(spec);
    }
    let every = by_destination.len().div_ceil(MOST_DESTINATIONS).max(1);
    let mut loads = vec![0; network.node_count()];
    for (exit, specs) in by_destination.into_iter().step_by(every) {
        let towards = next_hops(network, exit);
        for spec in specs {
            let end = match spec.transport {
                TransportSpec::Tcp(_) | TransportSpec::CodedTcp(..) => TCP_END,
                TransportSpec::Udp(_) | TransportSpec::Source(_) | TransportSpec::External => {
                    UDP_END
                }
            };
            let mut node = network.exit_of(spec.source);
            loads[node.index()] += end;
            loads[exit.index()] += end;
            loop {
                loads[node.index()] += HOP;
                match towards[node.index()].some() {
                    Some(next) => node = next,
                    None => break,
                }
            }
        }
    }
    let idle = 1 + loads.iter().sum::<u64>() / (loads.len() as u64 * IDLE_SHARE).max(1);
    loads.iter().map(|load| load + idle).collect()
}

/// The next router of each router on its path to `exit`.
fn next_hops(network: &Network, exit: NodeId) -> Vec<NodeId> {
    let mut towards = vec![NodeId::NONE; network.node_count()];
    let mut is_known = vec![false; network.node_count()];
    is_known[exit.index()] = true;
    let mut queue = VecDeque::from([exit]);
    while let Some(node) = queue.pop_front() {
        for interface in network.mesh_interfaces(node) {
            let peer = interface.peer;
            if !std::mem::replace(&mut is_known[peer.index()], true) {
                towards[peer.index()] = node;
                queue.push_back(peer);
            }
        }
    }
    towards
}
