//! The routing table: shortest in hops (RFC 3626 §10), or cheapest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use backlane_net::NodeId;

use super::addresses::is_main;
use super::neighbourhood::Neighbourhood;
use super::topology::Topology;

const NONE: u16 = u16::MAX;

/// A path to a node: cost, hops, the node, the first interface. The order breaks ties between
/// cheapest paths.
type Way = (u64, u32, NodeId, u16);

/// The interface towards each node.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// By node number; [`NONE`] where there is no route.
    interfaces: Vec<u16>,
    /// The nodes at the current distance and at the next.
    reached: Vec<NodeId>,
    next: Vec<NodeId>,
}

impl Table {
    #[inline]
    pub(super) fn interface(&self, destination: NodeId) -> Option<usize> {
        let interface = *self.interfaces.get(destination.index())?;
        (interface != NONE).then_some(usize::from(interface))
    }

    /// Recomputes the table. Of several shortest routes, the RFC takes the first found. Tuples are
    /// visited in the order of addresses here, so the route over the lowest neighbour (two hops) or
    /// the lowest last hop (more) wins.
    pub(super) fn compute(&mut self, node: NodeId, near: &Neighbourhood, far: &Topology) {
        self.interfaces.clear();
        self.next.clear();
        for (neighbour, interface) in near.symmetric_links() {
            self.add(node, neighbour, interface as u16);
        }
        self.advance();
        for neighbour in near.next_hops() {
            let Some(interface) = self.interface(neighbour) else {
                continue;
            };
            for two_hop in near.neighbours_of(neighbour) {
                self.add(node, two_hop, interface as u16);
            }
        }
        // Every round adds a node, so there are fewer rounds than nodes.
        loop {
            self.advance();
            if self.reached.is_empty() {
                break;
            }
            for index in 0..self.reached.len() {
                let last = self.reached[index];
                let interface = self.interfaces[last.index()];
                for destination in far.advertised_by(last) {
                    self.add(node, destination, interface);
                }
            }
        }
    }

    /// Recomputes the table with the cheapest paths (Dijkstra 1959) over the node's own links,
    /// those that its neighbours report, and those that TCs advertise. Ties go to the path with
    /// fewer hops, then to the lowest interface. `own` are the links to symmetric neighbours with
    /// their interfaces and costs.
    pub(super) fn compute_cheapest(
        &mut self,
        node: NodeId,
        own: impl Iterator<Item = (NodeId, usize, Option<u64>)>,
        near: &Neighbourhood,
        far: &Topology,
    ) {
        self.interfaces.clear();
        self.next.clear();
        let mut open: BinaryHeap<Reverse<Way>> = own
            .filter_map(|(neighbour, interface, cost)| {
                Some(Reverse((cost?, 1, neighbour, interface as u16)))
            })
            .collect();
        while let Some(Reverse((cost, hops, last, interface))) = open.pop() {
            if last == node || self.interface(last).is_some() {
                continue;
            }
            self.add(node, last, interface);
            // A neighbour's HELLO is fresher than its last TC.
            let reported = near.links_of(last).chain(far.links_of(last));
            open.extend(reported.filter_map(|(next, link)| {
                let known = next == node || self.interface(next).is_some();
                (!known).then_some(Reverse((
                    cost.saturating_add(link?),
                    hops + 1,
                    next,
                    interface,
                )))
            }));
        }
    }

    fn add(&mut self, node: NodeId, destination: NodeId, interface: u16) {
        // No packet is for an interface whose node is not known, and no TC names it.
        if !is_main(destination) {
            return;
        }
        let index = destination.index();
        if self.interfaces.len() <= index {
            self.interfaces.resize(index + 1, NONE);
        }
        if destination != node && self.interfaces[index] == NONE {
            self.interfaces[index] = interface;
            self.next.push(destination);
        }
    }

    fn advance(&mut self) {
        std::mem::swap(&mut self.reached, &mut self.next);
        self.next.clear();
        self.reached.sort_unstable();
    }
}
