//! Addresses of interfaces, and the main address that each belongs to (RFC 3626 §4.1, §5).
//!
//! Without addresses of interfaces a node has its main address alone. With them the first interface
//! of a node has its main address, 10.0.0.0 + its number, and each further wire an address of its
//! own, 10.128.0.0 + the number of the link direction that leaves there. Radios have the main
//! address. A receiver knows the source address of a packet as from its IP header; the main address
//! follows from MID messages alone.

use std::collections::BTreeMap;

use backlane_net::{Interface, LinkId, NodeId};
use backlane_units::SimTime;

backlane_param::words! {
    /// What has an address, and in whose way.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Addresses {
        /// A node: its interfaces are unnumbered, and there are no MID messages.
        #[default]
        Node = "node",
        /// Each wire of a node (RFC 3626 §5): neighbours resolve them by MID messages, which leave
        /// with the TCs. A HELLO lists neighbours on other interfaces by their main address
        /// (§6.2).
        Interface = "interface",
        /// The same as in ns-3: a HELLO lists every link by the neighbour's interface address, on
        /// all interfaces; the timers of all nodes expire at once, and a packet leaves on all
        /// interfaces up to the jitter after its first message.
        Ns3 = "ns3",
    }
}

/// The first number of an interface's address.
const FIRST: u32 = 1 << 23;

/// Whether it is the main address of a node.
pub(super) fn is_main(address: NodeId) -> bool {
    address.0 < FIRST
}

fn of(node: NodeId, number: usize, outgoing: LinkId, radio: Option<u8>) -> NodeId {
    if number == 0 || radio.is_some() {
        node
    } else {
        NodeId(FIRST | outgoing.0)
    }
}

/// The addresses of a node's interfaces.
pub(super) fn here(node: NodeId, interfaces: &[Interface]) -> Vec<NodeId> {
    let numbered = interfaces.iter().enumerate();
    numbered
        .map(|(number, i)| of(node, number, i.outgoing, i.radio))
        .collect()
}

/// The source address of packets that come in on an interface.
pub(super) fn there(interface: &Interface) -> NodeId {
    let number = usize::from(interface.peer_interface);
    of(interface.peer, number, interface.incoming, interface.radio)
}

/// The interface association set (RFC 3626 §4.1): the main address of interface addresses, and
/// until when it is known.
#[derive(Debug, Default)]
pub(super) struct Associations {
    tuples: BTreeMap<NodeId, (NodeId, SimTime)>,
}

impl Associations {
    /// The main address of an address: itself if no MID lists it (RFC 3626 §5.5).
    pub(super) fn main_of(&self, address: NodeId) -> NodeId {
        self.tuples.get(&address).map_or(address, |(main, _)| *main)
    }

    /// Processes a MID (RFC 3626 §5.4); returns whether a main address changed.
    pub(super) fn on_mid(
        &mut self,
        until: SimTime,
        originator: NodeId,
        addresses: impl Iterator<Item = NodeId>,
    ) -> bool {
        let mut changed = false;
        for address in addresses {
            let before = self.tuples.insert(address, (originator, until));
            changed |= before.is_none_or(|(main, _)| main != originator);
        }
        changed
    }

    /// Removes expired tuples; returns whether there were any, and the next expiry time.
    pub(super) fn expire(&mut self, now: SimTime) -> (bool, SimTime) {
        let before = self.tuples.len();
        self.tuples.retain(|_, (_, until)| *until > now);
        let next = self.tuples.values().map(|(_, until)| *until).min();
        (self.tuples.len() != before, next.unwrap_or(SimTime::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_units::Duration;

    fn at(s: u64) -> SimTime {
        SimTime::ZERO + Duration::from_secs(s)
    }

    #[test]
    fn an_address_is_its_own_main_address_until_a_mid_lists_it_and_after_that_expires() {
        let (first, second) = (NodeId(FIRST | 4), NodeId(FIRST | 9));
        let mut known = Associations::default();
        assert_eq!(known.main_of(first), first);
        assert!(known.on_mid(at(15), NodeId(3), [first].into_iter()));
        assert!(known.on_mid(at(20), NodeId(3), [first, second].into_iter()));
        assert!(!known.on_mid(at(21), NodeId(3), [first].into_iter()));
        assert_eq!(known.main_of(first), NodeId(3));
        assert_eq!(known.expire(at(19)), (false, at(20)));
        assert_eq!(known.expire(at(20)), (true, at(21)));
        assert_eq!(known.main_of(second), second);
    }
}
