//! A node's state for the nodes up to two hops away: links, neighbours, 2-hop neighbours, MPRs and
//! MPR selectors (RFC 3626 §4.2, §4.3).
//!
//! A tuple is valid before its expiry time, and no longer at that instant. An expiry time of zero
//! has always passed.

use std::collections::{BTreeMap, BTreeSet};

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::addresses::Associations;
use super::link::Link;
use super::message::{Hello, LinkCode, LinkType, NeighbourType, WILL_DEFAULT, WILL_NEVER};
use super::mpr::{self, Candidate};

/// A neighbour tuple (RFC 3626 §4.3.1).
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    symmetric: bool,
    willingness: u8,
}

/// A 2-hop tuple (RFC 3626 §4.3.2): when it expires, and what the link costs.
#[derive(Clone, Copy, Debug)]
struct TwoHop {
    until: SimTime,
    cost: Option<u64>,
}

/// The local repositories of one node.
#[derive(Debug)]
pub(super) struct Neighbourhood {
    node: NodeId,
    /// The addresses of its interfaces.
    own: Vec<NodeId>,
    /// Whether a HELLO lists every link by its address, on all interfaces.
    lists_links: bool,
    associations: Associations,
    neighbour_hold: Duration,
    /// By interface.
    links: Vec<Option<Link>>,
    /// By main address, as far as it is known.
    neighbours: BTreeMap<NodeId, Neighbour>,
    /// By (neighbour, its neighbour).
    two_hops: BTreeMap<(NodeId, NodeId), TwoHop>,
    /// When an MPR selector expires (RFC 3626 §4.3.4).
    selectors: BTreeMap<NodeId, SimTime>,
    relays: Vec<NodeId>,
    /// Whether the neighbourhood changed since `relays` was computed.
    relays_stale: bool,
    /// Whether the inputs of the routing table changed.
    changed: bool,
    /// `ANSN`: counts the changes of the MPR selector set.
    advertised_sequence: u16,
}

impl Neighbourhood {
    pub(super) fn new(node: NodeId, neighbour_hold: Duration) -> Self {
        Self {
            node,
            own: Vec::new(),
            lists_links: false,
            associations: Associations::default(),
            neighbour_hold,
            links: Vec::new(),
            neighbours: BTreeMap::new(),
            two_hops: BTreeMap::new(),
            selectors: BTreeMap::new(),
            relays: Vec::new(),
            relays_stale: false,
            changed: false,
            advertised_sequence: 0,
        }
    }

    /// Gives the node's interfaces addresses of their own. `lists_links`: a HELLO lists all of its
    /// links by them, as in ns-3.
    pub(super) fn number(&mut self, own: Vec<NodeId>, lists_links: bool) {
        self.own = own;
        self.lists_links = lists_links;
    }

    /// The addresses of the node's interfaces but for its main address.
    pub(super) fn further_addresses(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.own.iter().copied().filter(|own| *own != self.node)
    }

    /// The main address of an interface's address, which is itself until a MID lists it.
    pub(super) fn main_of(&self, address: NodeId) -> NodeId {
        self.associations.main_of(address)
    }

    fn is_own(&self, address: NodeId) -> bool {
        address == self.node || self.own.contains(&address)
    }

    /// Processes a received MID (RFC 3626 §5.4).
    pub(super) fn on_mid(
        &mut self,
        until: SimTime,
        originator: NodeId,
        addresses: impl Iterator<Item = NodeId>,
    ) {
        if self.associations.on_mid(until, originator, addresses) {
            self.resolve();
        }
    }

    /// Brings neighbours and 2-hop tuples under the main addresses known now.
    fn resolve(&mut self) {
        let before = std::mem::take(&mut self.neighbours);
        for link in self.links.iter().flatten() {
            let main = self.associations.main_of(link.neighbour);
            let held = before.get(&main).or_else(|| before.get(&link.neighbour));
            let willingness = held.map_or(WILL_DEFAULT, |held| held.willingness);
            let neighbour = self.neighbours.entry(main).or_insert(Neighbour {
                symmetric: false,
                willingness,
            });
            neighbour.symmetric |= link.symmetric;
        }
        for ((through, node), tuple) in std::mem::take(&mut self.two_hops) {
            let names = (self.main_of(through), self.main_of(node));
            if !self.is_own(names.1) {
                self.two_hops.entry(names).or_insert(tuple);
            }
        }
        self.relays_stale = true;
        self.changed = true;
    }

    /// Processes a received HELLO (RFC 3626 §7.1.1, §8.1.1, §8.2.1, §8.4.1) from an interface with
    /// the address `source`.
    pub(super) fn on_hello(
        &mut self,
        now: SimTime,
        interface: usize,
        (source, originator): (NodeId, NodeId),
        validity: Duration,
        hello: &Hello<'_>,
    ) {
        let until = now.saturating_add(validity);
        self.sense(interface, source, until, hello);
        let main = self.main_of(source);
        let willingness = hello.willingness;
        let neighbour = self.neighbours.entry(main).or_insert(Neighbour {
            symmetric: false,
            willingness,
        });
        if neighbour.willingness != willingness {
            neighbour.willingness = willingness;
            self.relays_stale = true;
            self.changed = true;
        }
        // Until the main address is known, the list belongs to no neighbour (§8.2.1).
        let symmetric = self.refresh_neighbour(main) && main == originator;

        for ((code, address), quality) in hello.neighbours().zip(hello.qualities()) {
            if self.is_own(address) {
                if code.neighbour == NeighbourType::Mpr
                    && self.selectors.insert(originator, until).is_none()
                {
                    self.advertised_sequence = self.advertised_sequence.wrapping_add(1);
                }
                continue;
            }
            if !symmetric {
                continue;
            }
            let tuple = (originator, self.main_of(address));
            let cost = quality.cost();
            let before = match code.neighbour {
                NeighbourType::Not => self.two_hops.remove(&tuple),
                _ => self.two_hops.insert(tuple, TwoHop { until, cost }),
            };
            let leaves = code.neighbour == NeighbourType::Not;
            let appeared_or_left = before.is_some() == leaves;
            self.relays_stale |= appeared_or_left;
            self.changed |= appeared_or_left || before.is_some_and(|before| before.cost != cost);
        }
    }

    fn sense(&mut self, interface: usize, source: NodeId, until: SimTime, hello: &Hello<'_>) {
        if self.links.len() <= interface {
            self.links.resize(interface + 1, None);
        }
        let link = self.links[interface].get_or_insert(Link::heard(source, until));
        let was = link.symmetric;
        let own = self.own.get(interface).copied().unwrap_or(self.node);
        link.sense(own, until, self.neighbour_hold, hello);
        self.changed |= link.symmetric != was;
    }

    /// A neighbour is symmetric while one of its links is, and is removed with its last link (RFC
    /// 3626 §8.1). Its 2-hop tuples are removed when the symmetry ends (§8.5).
    fn refresh_neighbour(&mut self, node: NodeId) -> bool {
        let mut known = false;
        let mut symmetric = false;
        for link in self.links.iter().flatten() {
            if self.associations.main_of(link.neighbour) == node {
                known = true;
                symmetric |= link.symmetric;
            }
        }
        let Some(neighbour) = self.neighbours.get_mut(&node) else {
            return false;
        };
        let was = std::mem::replace(&mut neighbour.symmetric, symmetric);
        if !known {
            self.neighbours.remove(&node);
        }
        if was != symmetric {
            self.relays_stale = true;
            self.changed = true;
        }
        if was && !symmetric {
            self.two_hops.retain(|(through, _), _| *through != node);
            if self.selectors.remove(&node).is_some() {
                self.advertised_sequence = self.advertised_sequence.wrapping_add(1);
            }
        }
        symmetric
    }

    /// Removes expired tuples; returns the next expiry time.
    pub(super) fn expire(&mut self, now: SimTime) -> SimTime {
        let mut next = SimTime::MAX;
        let mut lives = |until: SimTime| {
            if until > now {
                next = next.min(until);
            }
            until > now
        };
        let mut expired = Vec::new();
        for slot in &mut self.links {
            let Some(link) = slot else { continue };
            if link.symmetric && !lives(link.symmetric_until) {
                link.symmetric = false;
                self.changed = true;
                expired.push(link.neighbour);
            }
            if !lives(link.until) {
                expired.push(link.neighbour);
                *slot = None;
            }
        }
        let before = self.two_hops.len();
        self.two_hops.retain(|_, tuple| lives(tuple.until));
        let changed = self.two_hops.len() != before;
        self.relays_stale |= changed;
        self.changed |= changed;

        let before = self.selectors.len();
        self.selectors.retain(|_, until| lives(*until));
        if self.selectors.len() != before {
            self.advertised_sequence = self.advertised_sequence.wrapping_add(1);
        }

        for address in expired {
            self.refresh_neighbour(self.main_of(address));
        }
        let (forgot, until) = self.associations.expire(now);
        if forgot {
            self.resolve();
        }
        next.min(until)
    }

    /// The content of a HELLO sent on these interfaces (RFC 3626 §6.2), grouped by code.
    pub(super) fn hello(&mut self, now: SimTime, here: &[usize]) -> Vec<(LinkCode, NodeId)> {
        self.select_relays();
        let code = |link: LinkType, main: NodeId| {
            let neighbour = if self.relays.binary_search(&main).is_ok() {
                NeighbourType::Mpr
            } else if self.is_symmetric(main) {
                NeighbourType::Symmetric
            } else {
                NeighbourType::Not
            };
            LinkCode { link, neighbour }
        };
        let mut listed = BTreeSet::new();
        let mut list = Vec::with_capacity(self.neighbours.len());
        for (interface, link) in self.links.iter().enumerate() {
            let Some(link) = link else { continue };
            if self.lists_links || here.contains(&interface) {
                let main = self.main_of(link.neighbour);
                if listed.insert(link.neighbour) {
                    list.push((code(link.kind(now), main), link.neighbour));
                }
                listed.insert(main);
            }
        }
        let others = self.neighbours.keys();
        let others = others.filter(|main| !listed.contains(main));
        list.extend(others.map(|&main| (code(LinkType::Unspecified, main), main)));
        list.sort_unstable();
        list
    }

    fn select_relays(&mut self) {
        if !std::mem::take(&mut self.relays_stale) {
            return;
        }
        let candidates: Vec<Candidate> = self
            .relaying_neighbours()
            .map(|(node, willingness)| Candidate {
                node,
                willingness,
                reaches: self
                    .neighbours_of(node)
                    .filter(|two_hop| !self.is_symmetric(*two_hop))
                    .collect(),
            })
            .collect();
        self.relays = mpr::select(&candidates);
    }

    /// Symmetric neighbours that may forward, with their willingness.
    fn relaying_neighbours(&self) -> impl Iterator<Item = (NodeId, u8)> + '_ {
        self.neighbours
            .iter()
            .filter(|(_, neighbour)| neighbour.symmetric && neighbour.willingness != WILL_NEVER)
            .map(|(&node, neighbour)| (node, neighbour.willingness))
    }

    /// Symmetric neighbours that may forward, in the order of their numbers.
    pub(super) fn next_hops(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.relaying_neighbours().map(|(node, _)| node)
    }

    /// Whether a symmetric link leads to a node.
    pub(super) fn is_symmetric(&self, node: NodeId) -> bool {
        self.neighbours.get(&node).is_some_and(|n| n.symmetric)
    }

    /// Every symmetric link as (neighbour, interface), in the order of the interfaces.
    pub(super) fn symmetric_links(&self) -> impl Iterator<Item = (NodeId, usize)> + '_ {
        self.links
            .iter()
            .enumerate()
            .filter_map(|(interface, link)| {
                let link = (*link)?;
                let main = self.main_of(link.neighbour);
                link.symmetric.then_some((main, interface))
            })
    }

    /// The neighbours that a neighbour reports, in the order of their numbers.
    pub(super) fn neighbours_of(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.links_of(node).map(|(two_hop, _)| two_hop)
    }

    /// The same with the costs of the links to them.
    pub(super) fn links_of(
        &self,
        node: NodeId,
    ) -> impl Iterator<Item = (NodeId, Option<u64>)> + '_ {
        self.two_hops
            .range((node, NodeId(0))..=(node, NodeId(u32::MAX)))
            .map(|((_, two_hop), tuple)| (*two_hop, tuple.cost))
    }

    /// The first of these interfaces with a link to a node.
    pub(super) fn interface_to(&self, node: NodeId, here: &[usize]) -> Option<usize> {
        let leads_there = |&interface: &usize| {
            let link = self.links.get(interface).copied().flatten();
            link.is_some_and(|link| self.main_of(link.neighbour) == node)
        };
        here.iter().copied().find(leads_there)
    }

    /// The MPR selectors: the neighbours that selected this node as a relay.
    pub(super) fn selectors(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.selectors.keys().copied()
    }

    pub(super) fn is_selector(&self, node: NodeId) -> bool {
        self.selectors.contains_key(&node)
    }

    /// The sequence number of the selector set, which grows with every change.
    pub(super) fn advertised_sequence(&self) -> u16 {
        self.advertised_sequence
    }

    /// Whether the routing table must be recomputed; clears the flag.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{HELLO, TimeCode, WILL_DEFAULT};
    use super::*;
    use LinkType::{Asymmetric, Lost, Symmetric, Unspecified};
    use NeighbourType::{Mpr, Not};

    const SYM: NeighbourType = NeighbourType::Symmetric;

    fn at(s: u64) -> SimTime {
        SimTime::ZERO + Duration::from_secs(s)
    }

    /// Node 0, with a neighbour hold time of six seconds.
    fn node() -> Neighbourhood {
        Neighbourhood::new(NodeId(0), Duration::from_secs(6))
    }

    type List<'a> = &'a [(LinkType, NeighbourType, u32)];

    /// A HELLO of node `from`, on interface `from` - 1.
    fn hear(near: &mut Neighbourhood, s: u64, from: u32, list: List<'_>) {
        hear_willing(near, s, from, WILL_DEFAULT, list);
    }

    fn hear_willing(near: &mut Neighbourhood, s: u64, from: u32, willingness: u8, list: List<'_>) {
        let code = |&(link, neighbour, node)| (LinkCode { link, neighbour }, NodeId(node));
        let list: Vec<_> = list.iter().map(code).collect();
        let body = Hello::encode(TimeCode(0x05), willingness, &list);
        let hello = Hello::decode(HELLO, &body).unwrap();
        let interface = from as usize - 1;
        let validity = Duration::from_secs(6);
        let from = NodeId(from);
        near.on_hello(at(s), interface, (from, from), validity, &hello);
    }

    fn says(
        near: &mut Neighbourhood,
        s: u64,
        interface: usize,
    ) -> Vec<(LinkType, NeighbourType, u32)> {
        let list = near.hello(at(s), &[interface]);
        let plain = |(code, node): (LinkCode, NodeId)| (code.link, code.neighbour, node.0);
        list.into_iter().map(plain).collect()
    }

    #[test]
    fn a_link_is_heard_then_symmetric_then_lost_then_forgotten() {
        let mut near = node();
        hear(&mut near, 1, 1, &[]);
        assert_eq!(says(&mut near, 1, 0), [(Asymmetric, Not, 1)]);
        assert!(!near.is_symmetric(NodeId(1)));
        hear(&mut near, 3, 1, &[(Asymmetric, Not, 0)]);
        assert_eq!(says(&mut near, 3, 0), [(Symmetric, SYM, 1)]);
        assert_eq!(says(&mut near, 3, 1), [(Unspecified, SYM, 1)]);
        assert_eq!(near.expire(at(8)), at(9));
        assert!(near.is_symmetric(NodeId(1)));
        // Silent for six seconds; the loss is announced for another six.
        assert_eq!(near.expire(at(9)), at(15));
        assert_eq!(says(&mut near, 9, 0), [(Lost, Not, 1)]);
        assert_eq!(near.expire(at(15)), SimTime::MAX);
        assert_eq!(says(&mut near, 15, 0), []);
    }

    #[test]
    fn a_neighbour_that_lost_this_node_is_lost_with_all_that_it_reached() {
        let mut near = node();
        hear(&mut near, 1, 1, &[(Symmetric, Mpr, 0), (Symmetric, SYM, 7)]);
        assert_eq!(says(&mut near, 1, 0), [(Symmetric, Mpr, 1)]);
        assert!(near.neighbours_of(NodeId(1)).eq([NodeId(7)]));
        assert!(near.selectors().eq([NodeId(1)]));
        assert_eq!(near.advertised_sequence(), 1);
        hear(&mut near, 2, 1, &[(Lost, Not, 0), (Symmetric, SYM, 7)]);
        assert_eq!(says(&mut near, 2, 0), [(Asymmetric, Not, 1)]);
        assert_eq!(near.neighbours_of(NodeId(1)).count(), 0);
        assert_eq!(near.selectors().len(), 0);
        assert_eq!(near.advertised_sequence(), 2);
    }

    #[test]
    fn a_neighbour_in_reach_needs_no_relay() {
        let mut near = node();
        hear(&mut near, 1, 1, &[(Symmetric, SYM, 0), (Symmetric, SYM, 2)]);
        assert_eq!(says(&mut near, 1, 0), [(Symmetric, Mpr, 1)]);
        hear(
            &mut near,
            1,
            2,
            &[(Symmetric, SYM, 0), (Unspecified, SYM, 1)],
        );
        assert_eq!(
            says(&mut near, 1, 1),
            [(Unspecified, SYM, 1), (Symmetric, SYM, 2)]
        );
        // Node 1 reports that node 2 is no longer its neighbour.
        assert_eq!(near.neighbours_of(NodeId(1)).count(), 1);
        hear(&mut near, 2, 1, &[(Symmetric, SYM, 0), (Lost, Not, 2)]);
        assert_eq!(near.neighbours_of(NodeId(1)).count(), 0);
    }

    #[test]
    fn selection_as_a_relay_expires() {
        let mut near = node();
        hear(&mut near, 1, 1, &[(Symmetric, Mpr, 0)]);
        hear(&mut near, 3, 1, &[(Symmetric, SYM, 0)]);
        assert!(
            near.is_selector(NodeId(1)),
            "not chosen again, but still held"
        );
        assert_eq!(near.expire(at(7)), at(9));
        assert!(!near.is_selector(NodeId(1)) && near.is_symmetric(NodeId(1)));
    }

    /// RFC 3626 §8.3.1: of two neighbours that reach the same nodes, the more willing one relays,
    /// from the HELLO on that reports this.
    #[test]
    fn a_neighbour_that_becomes_more_willing_takes_over_as_relay() {
        let mut near = node();
        let list = [(Symmetric, SYM, 0), (Symmetric, SYM, 7)];
        hear(&mut near, 1, 1, &list);
        hear(&mut near, 1, 2, &list);
        let relays = |near: &mut Neighbourhood, s| -> Vec<u32> {
            let said = says(near, s, 0).into_iter();
            said.filter(|said| said.1 == Mpr)
                .map(|said| said.2)
                .collect()
        };
        assert_eq!(relays(&mut near, 1), [1]);
        hear_willing(&mut near, 2, 2, WILL_DEFAULT + 1, &list);
        assert_eq!(relays(&mut near, 2), [2]);
    }
}
