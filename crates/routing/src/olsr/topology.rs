//! State from flooded messages: the links that TCs advertise (RFC 3626 §4.4, §9.5), and the
//! messages seen before (§3.4).

use std::collections::BTreeMap;

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::message::{TopologyControl, newer};

/// `DUP_HOLD_TIME` (RFC 3626 §18.3).
const DUPLICATE_HOLD: Duration = Duration::from_secs(30);

/// A topology tuple (RFC 3626 §4.4), under its last hop and destination.
#[derive(Clone, Copy, Debug)]
struct Advertised {
    sequence: u16,
    until: SimTime,
    cost: Option<u64>,
}

/// The topology set of one node.
#[derive(Debug, Default)]
pub(super) struct Topology {
    /// By (last hop, destination).
    tuples: BTreeMap<(NodeId, NodeId), Advertised>,
    /// Whether the inputs of the routing table changed.
    changed: bool,
}

impl Topology {
    /// Processes a TC that was not processed before (RFC 3626 §9.5).
    pub(super) fn on_tc(
        &mut self,
        now: SimTime,
        originator: NodeId,
        validity: Duration,
        tc: &TopologyControl<'_>,
    ) {
        let sequence = tc.sequence;
        let until = now.saturating_add(validity);
        let held: Vec<_> = self
            .tuples
            .range((originator, NodeId(0))..=(originator, NodeId(u32::MAX)))
            .map(|(&key, tuple)| (key, tuple.sequence))
            .collect();
        if held.iter().any(|(_, held)| newer(*held, sequence)) {
            return;
        }
        for (destination, quality) in tc.links() {
            let key = (originator, destination);
            let cost = quality.cost();
            let tuple = Advertised {
                sequence,
                until,
                cost,
            };
            let before = self.tuples.insert(key, tuple);
            self.changed |= before.is_none_or(|before| before.cost != cost);
        }
        for (key, _) in held {
            if self
                .tuples
                .get(&key)
                .is_some_and(|t| t.sequence != sequence)
            {
                self.tuples.remove(&key);
                self.changed = true;
            }
        }
    }

    /// The nodes that `last` advertises in its TCs, in the order of their numbers.
    pub(super) fn advertised_by(&self, last: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.links_of(last).map(|(destination, _)| destination)
    }

    /// The same with the costs of the links to them.
    pub(super) fn links_of(
        &self,
        last: NodeId,
    ) -> impl Iterator<Item = (NodeId, Option<u64>)> + '_ {
        self.tuples
            .range((last, NodeId(0))..=(last, NodeId(u32::MAX)))
            .map(|((_, destination), tuple)| (*destination, tuple.cost))
    }

    /// Removes expired tuples; returns the next expiry time.
    pub(super) fn expire(&mut self, now: SimTime) -> SimTime {
        let mut next = SimTime::MAX;
        let before = self.tuples.len();
        self.tuples.retain(|_, tuple| {
            if tuple.until > now {
                next = next.min(tuple.until);
            }
            tuple.until > now
        });
        self.changed |= self.tuples.len() != before;
        next
    }

    /// Whether the routing table must be recomputed; clears the flag.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}

/// A duplicate tuple (RFC 3626 §3.4).
#[derive(Clone, Debug)]
struct Duplicate {
    until: SimTime,
    retransmitted: bool,
    interfaces: Vec<usize>,
}

/// The duplicate set of one node.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// By originator and sequence number.
    messages: BTreeMap<(NodeId, u16), Duplicate>,
}

impl Seen {
    /// Whether a message was processed before (RFC 3626 §3.4).
    pub(super) fn contains(&self, now: SimTime, name: (NodeId, u16)) -> bool {
        let duplicate = self.messages.get(&name);
        duplicate.is_some_and(|duplicate| duplicate.until > now)
    }

    /// The default forwarding algorithm (RFC 3626 §3.4.1): records the message, and returns whether
    /// it must be forwarded. It came in on `interface`, from a symmetric neighbour; `from_selector`
    /// is whether that neighbour is an MPR selector.
    pub(super) fn must_forward(
        &mut self,
        now: SimTime,
        interface: usize,
        name: (NodeId, u16),
        ttl: u8,
        from_selector: bool,
    ) -> bool {
        let until = now.saturating_add(DUPLICATE_HOLD);
        let new = || Duplicate {
            until,
            retransmitted: false,
            interfaces: Vec::new(),
        };
        let duplicate = self.messages.entry(name).or_insert_with(new);
        if duplicate.until <= now {
            *duplicate = new();
        }
        if duplicate.retransmitted || duplicate.interfaces.contains(&interface) {
            return false;
        }
        duplicate.until = until;
        duplicate.interfaces.push(interface);
        duplicate.retransmitted = from_selector && ttl > 1;
        duplicate.retransmitted
    }

    /// Removes expired tuples. No other state depends on it, so it can run at any time.
    pub(super) fn expire(&mut self, now: SimTime) {
        self.messages.retain(|_, duplicate| duplicate.until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::TC;
    use super::*;

    fn at(s: u64) -> SimTime {
        SimTime::ZERO + Duration::from_secs(s)
    }

    /// Node 1 advertises at time `now`, for 15 s.
    fn hear(topology: &mut Topology, now: u64, sequence: u16, neighbours: &[u32]) -> Vec<u32> {
        let list = neighbours.iter().copied().map(NodeId);
        let body = TopologyControl::encode(sequence, list);
        let tc = TopologyControl::decode(TC, &body).unwrap();
        topology.on_tc(at(now), NodeId(1), Duration::from_secs(15), &tc);
        let held = topology.advertised_by(NodeId(1));
        held.map(|node| node.0).collect()
    }

    #[test]
    fn a_newer_tc_replaces_and_an_older_one_is_ignored() {
        let mut topology = Topology::default();
        assert_eq!(hear(&mut topology, 0, 65_535, &[4, 5]), [4, 5]);
        assert!(topology.take_changed());
        assert_eq!(hear(&mut topology, 1, 65_535, &[4, 5]), [4, 5]);
        assert!(!topology.take_changed(), "a repetition changes nothing");
        assert_eq!(hear(&mut topology, 2, 0, &[5, 6]), [5, 6]);
        assert_eq!(hear(&mut topology, 3, 65_535, &[4]), [5, 6]);
        assert_eq!(hear(&mut topology, 4, 1, &[]), []);
    }

    #[test]
    fn a_tuple_expires_after_its_validity() {
        let mut topology = Topology::default();
        hear(&mut topology, 0, 0, &[4, 5]);
        // A part of the list, under the same number, refreshes that part.
        hear(&mut topology, 5, 0, &[5]);
        assert_eq!(topology.expire(at(14)), at(15));
        assert_eq!(topology.advertised_by(NodeId(1)).count(), 2);
        topology.take_changed();
        assert_eq!(topology.expire(at(15)), at(20));
        assert!(topology.take_changed());
        assert!(topology.advertised_by(NodeId(1)).eq([NodeId(5)]));
    }

    #[test]
    fn a_message_is_forwarded_once_and_for_selectors_only() {
        let mut seen = Seen::default();
        let name = (NodeId(1), 7);
        assert!(!seen.contains(at(0), name));
        assert!(!seen.must_forward(at(0), 0, name, 9, false));
        assert!(seen.contains(at(0), name));
        assert!(
            !seen.must_forward(at(0), 0, name, 9, true),
            "same interface"
        );
        assert!(seen.must_forward(at(0), 1, name, 9, true));
        assert!(
            !seen.must_forward(at(0), 2, name, 9, true),
            "sent on already"
        );
        assert!(!seen.must_forward(at(0), 0, (NodeId(1), 8), 1, true), "TTL");
        // Thirty seconds later the number may be used again.
        assert!(!seen.contains(at(30), name));
        assert!(seen.must_forward(at(30), 0, name, 9, true));
    }

    /// RFC 3626 §3.4.1, step 4: a copy on another interface renews D_time.
    #[test]
    fn another_copy_of_a_message_extends_its_duplicate_tuple() {
        let mut seen = Seen::default();
        let name = (NodeId(1), 7);
        assert!(!seen.must_forward(at(0), 0, name, 9, false));
        assert!(!seen.must_forward(at(20), 1, name, 9, false));
        seen.expire(at(49));
        assert!(seen.contains(at(49), name));
        assert!(!seen.contains(at(50), name));
    }
}
