//! The link-state database of a router.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_net::{Interface, Network, NodeId};
use backlane_units::{Duration, SimTime};

use super::config::Config;
use super::costs::Costs;
use super::lsa::{Entry, Header, INITIAL_SEQUENCE, Link, Lsa, MAX_AGE_S, address};

/// A router accepts no newer instance of an LSA sooner than this after the last (appendix B:
/// MinLSArrival).
const MIN_ARRIVAL: Duration = Duration::from_secs(1);

/// An LSA in a database.
#[derive(Debug)]
struct Installed {
    lsa: Lsa,
    age_s: u16,
    at: SimTime,
}

/// The LSAs of a router by origin.
#[derive(Debug, Default)]
pub struct Database {
    /// What was installed since the start, in place of the LSA of the same origin in `initial`.
    entries: BTreeMap<NodeId, Installed>,
    /// What all routers knew at time zero, with age zero.
    initial: Initial,
}

/// The LSAs of a network in which all links are up, in the order of their origins. All routers share
/// one copy.
#[derive(Clone, Debug, Default)]
pub struct Initial(Arc<[Lsa]>);

impl Initial {
    /// Those of `network`.
    pub fn new(network: &Network, config: &Config, costs: &Costs) -> Self {
        let nodes = (0..network.node_count() as u32).map(NodeId);
        let routers = nodes.filter(|&node| network.is_router(node));
        let lsas = routers.map(|node| {
            let interfaces = network.mesh_interfaces(node).iter().enumerate();
            let ends = interfaces.map(|(index, interface)| Described {
                interface: index as u16,
                peer: interface.peer,
                subnet: subnet(interface),
                cost: costs.of(interface, config),
                is_full: true,
            });
            Lsa::new(node, INITIAL_SEQUENCE, entries(node, ends))
        });
        Self(lsas.collect())
    }

    fn get(&self, origin: NodeId) -> Option<&Lsa> {
        let by_origin = |lsa: &Lsa| lsa.header(0).origin.cmp(&origin);
        let at = self.0.binary_search_by(by_origin).ok()?;
        Some(&self.0[at])
    }
}

/// One end of a link with a carrier, as the own LSA describes it.
pub(super) struct Described {
    pub(super) interface: u16,
    pub(super) peer: NodeId,
    pub(super) subnet: u32,
    pub(super) cost: u16,
    pub(super) is_full: bool,
}

/// The network of a link: four addresses from 172.16.0.0 on.
pub(super) fn subnet(interface: &Interface) -> u32 {
    let link = interface.outgoing.0.min(interface.incoming.0);
    0xac10_0000 + 4 * link
}

/// The parts of a router's LSA: its own address, its networks, and its adjacencies.
pub(super) fn entries(node: NodeId, ends: impl Iterator<Item = Described>) -> Vec<Entry> {
    let own = Entry::Stub {
        address: address(node),
        mask: u32::MAX,
        cost: 0,
    };
    let ends = ends.flat_map(|end| {
        let link = end.is_full.then_some(Entry::Link(Link {
            neighbour: end.peer,
            interface: end.interface,
            cost: end.cost,
        }));
        let network = Entry::Stub {
            address: end.subnet,
            mask: u32::MAX << 2,
            cost: end.cost,
        };
        link.into_iter().chain([network])
    });
    std::iter::once(own).chain(ends).collect()
}

impl Database {
    /// A database with all LSAs of `initial`, of age zero at time zero.
    pub fn converged(initial: Initial) -> Self {
        Self {
            entries: BTreeMap::new(),
            initial,
        }
    }

    /// Sets the LSA of its origin. True if it has other links than the one before.
    pub fn install(&mut self, now: SimTime, lsa: Lsa, age_s: u16) -> bool {
        let origin = lsa.header(0).origin;
        let old = self.get(now, origin);
        let changed = old.is_none_or(|(old, _)| old.entries() != lsa.entries());
        let entry = Installed {
            lsa,
            age_s,
            at: now,
        };
        self.entries.insert(origin, entry);
        changed
    }

    /// An LSA and its age now.
    pub fn get(&self, now: SimTime, origin: NodeId) -> Option<(&Lsa, u16)> {
        if let Some(entry) = self.entries.get(&origin) {
            return Some((&entry.lsa, aged(entry.age_s, entry.at, now)));
        }
        let lsa = self.initial.get(origin)?;
        Some((lsa, aged(0, SimTime::ZERO, now)))
    }

    /// An LSA's header, with its age now.
    pub fn header(&self, now: SimTime, origin: NodeId) -> Option<Header> {
        let (lsa, age_s) = self.get(now, origin)?;
        Some(lsa.header(age_s))
    }

    /// All headers, with their ages.
    pub fn headers(&self, now: SimTime) -> Vec<Header> {
        let initial = self.initial.0.iter().map(|lsa| lsa.header(0).origin);
        let first = initial.filter(|origin| !self.entries.contains_key(origin));
        let origins = first.chain(self.entries.keys().copied());
        origins
            .filter_map(|origin| self.header(now, origin))
            .collect()
    }

    /// The LSA for the computation of routes: one of age `MaxAge` is not used.
    pub fn usable(&self, now: SimTime, origin: NodeId) -> Option<&Lsa> {
        let (lsa, age_s) = self.get(now, origin)?;
        (age_s < MAX_AGE_S).then_some(lsa)
    }

    /// When an LSA was installed.
    pub fn installed(&self, origin: NodeId) -> SimTime {
        self.entries
            .get(&origin)
            .map_or(SimTime::ZERO, |entry| entry.at)
    }

    /// Whether an LSA was installed too recently for another instance (§13, step 5a).
    pub fn is_recent(&self, now: SimTime, origin: NodeId) -> bool {
        let entry = self.entries.get(&origin);
        entry.is_some_and(|entry| now < entry.at.saturating_add(MIN_ARRIVAL))
    }
}

/// The age at `now` of what had `age_s` at `since`.
fn aged(age_s: u16, since: SimTime, now: SimTime) -> u16 {
    let elapsed_s = now.saturating_since(since).as_ps() / 1_000_000_000_000;
    let age_s = u64::from(age_s).saturating_add(elapsed_s);
    age_s.min(u64::from(MAX_AGE_S)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> SimTime {
        SimTime::ZERO.saturating_add(Duration::from_secs(s))
    }

    #[test]
    fn an_lsa_ages_until_it_is_no_longer_used() {
        let mut database = Database::default();
        let node = NodeId(3);
        assert!(database.install(at(10), Lsa::new(node, INITIAL_SEQUENCE, Vec::new()), 5));
        assert!(database.is_recent(at(10), node));
        assert!(!database.is_recent(at(11), node));
        assert_eq!(database.header(at(20), node).unwrap().age_s, 15);
        assert!(database.usable(at(3604), node).is_some());
        assert!(database.usable(at(3605), node).is_none());
        assert_eq!(database.header(at(9999), node).unwrap().age_s, MAX_AGE_S);
        assert!(
            !database.install(at(20), Lsa::new(node, INITIAL_SEQUENCE + 1, Vec::new()), 0),
            "the same links"
        );
    }
}
