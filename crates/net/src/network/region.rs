//! The part of a network that one of several simulations runs.

use std::sync::Arc;

use super::Network;
use crate::link::Link;
use crate::packet::{LinkId, NodeId};

/// The region of each node of a network, and which of them a simulation runs.
#[derive(Clone, Debug)]
pub struct Region {
    of_node: Arc<[u16]>,
    own: u16,
    /// Links from the own region to others.
    pub(crate) outgoing: Vec<LinkId>,
    /// Links from other regions to the own.
    incoming: Vec<LinkId>,
}

impl Region {
    /// The region `own`; `of_node` has the region of each node.
    pub fn new(of_node: Arc<[u16]>, own: u16) -> Self {
        Self {
            of_node,
            own,
            outgoing: Vec::new(),
            incoming: Vec::new(),
        }
    }

    /// The region of a node.
    #[inline]
    pub fn of(&self, node: NodeId) -> u16 {
        self.of_node[node.index()]
    }

    /// Whether a node is in the own region.
    #[inline]
    pub fn has(&self, node: NodeId) -> bool {
        self.of(node) == self.own
    }

    /// Whether the sending half of a link is in the own region. The shared pipe of a cell has no
    /// node at one end: its hosts are where its router is.
    fn sends_over(&self, link: &Link) -> bool {
        self.has(link.from.some().unwrap_or(link.to))
    }
}

impl Network {
    /// From now on, before any packet is sent, this network is one of several that run a network
    /// together. The regions join nodes by wires alone.
    pub fn restrict_to(&mut self, mut region: Region) {
        for (number, link) in self.links.iter_mut().enumerate() {
            let id = LinkId(number as u32);
            let (Some(from), Some(to)) = (link.from.some(), link.to.some()) else {
                continue;
            };
            match (region.has(from), region.has(to)) {
                (true, false) => {
                    link.lead_out();
                    region.outgoing.push(id);
                }
                (false, true) => region.incoming.push(id),
                _ => {}
            }
        }
        self.region = Some(Box::new(region));
    }

    /// What this network runs of a divided one; `None` if it is not divided.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_deref()
    }

    /// Whether this network runs a node.
    #[inline]
    pub fn runs(&self, node: NodeId) -> bool {
        self.region.as_ref().is_none_or(|region| region.has(node))
    }

    /// Whether this network runs the sending half of a link.
    #[inline]
    pub fn sends_over(&self, link: LinkId) -> bool {
        let region = self.region.as_ref();
        region.is_none_or(|region| region.sends_over(self.link(link)))
    }

    /// Packets that were handed over and have not arrived: both halves of a link have them.
    pub(super) fn duplicates(&self) -> isize {
        let incoming = self.region.iter().flat_map(|region| &region.incoming);
        let halves = incoming.map(|&link| self.link(link).under_way_pkts());
        halves.sum::<usize>() as isize
    }

    /// Takes the nodes, links and counters of another region, when both stand at one instant and
    /// everything was handed over.
    pub(crate) fn absorb(&mut self, other: Self) {
        let balance = other.balance();
        self.elsewhere += balance.in_flight as isize - self.duplicates();
        self.region = None;
        self.balance.injected += balance.injected;
        self.balance.duplicated += balance.duplicated;
        self.balance.delivered += balance.delivered;
        for (sum, more) in self.balance.dropped.iter_mut().zip(balance.dropped) {
            *sum += more;
        }
        let Some(region) = other.region else {
            return;
        };
        for (node, theirs) in other.nodes.into_iter().enumerate() {
            if region.has(NodeId(node as u32)) {
                self.nodes[node] = theirs;
            }
        }
        for (link, theirs) in self.links.iter_mut().zip(other.links) {
            if region.sends_over(&theirs) {
                *link = theirs;
            }
        }
    }
}
