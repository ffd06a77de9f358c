//! The failures of a run.
//!
//! Each failing node and link has a counter of the outages that hold it down, so that a change
//! examines only what it changes.

use std::collections::BTreeMap;

use backlane_net::{Link, LinkId, LinkState, NodeId, Simulation};
use backlane_scenario::model::{Failed, Failure};
use backlane_traffic::Flows;
use backlane_units::SimTime;

/// A node or a link of the file that fails once or several times.
#[derive(Debug)]
struct Failing {
    /// The node, whose radios stop; its links go down with it.
    node: Option<NodeId>,
    links: Vec<LinkId>,
    down: Held,
}

/// The outages that hold a node or a link down, or the nodes and links that hold a link direction
/// down.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    holders: u32,
    /// Those of them that take the carrier.
    without_carrier: u32,
    /// The state that was last passed on.
    state: LinkState,
}

impl Held {
    fn change(&mut self, count: i32, takes_carrier: bool) {
        self.holders = self.holders.saturating_add_signed(count);
        if takes_carrier {
            self.without_carrier = self.without_carrier.saturating_add_signed(count);
        }
    }

    /// The state now and before, if it has changed since the last call.
    fn take_change(&mut self) -> Option<(LinkState, LinkState)> {
        let now = match (self.holders, self.without_carrier) {
            (0, _) => LinkState::Up,
            (_, 0) => LinkState::Silent,
            _ => LinkState::Down,
        };
        let before = std::mem::replace(&mut self.state, now);
        (now != before).then_some((now, before))
    }
}

/// The beginning or the end of an outage.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: SimTime,
    /// Its place in the file.
    outage: u32,
    failing: u32,
    /// The change of the number of outages that hold it down.
    outages: i32,
    takes_carrier: bool,
}

/// A link direction that fails with a node or a link.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    /// Its index among all failing links, in the order of the file.
    rank: u32,
    down: Held,
}

/// The outages of a run.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    failing: Vec<Failing>,
    directions: BTreeMap<LinkId, Direction>,
    /// In order of time, and of the file at one time; `next` is the first to come.
    changes: Vec<Change>,
    next: usize,
}

/// The effect of a change: nodes and link directions that go up or down, each in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    nodes: Vec<(NodeId, bool)>,
    links: Vec<(LinkId, LinkState)>,
    /// Outages and links examined.
    pub(crate) looked_at: u64,
}

impl Failures {
    /// `ids` are the first directions of the links of the file that are laid, each followed by its
    /// other one, and `links` those of the network; times count from `clock`.
    pub(crate) fn new(
        failures: &[Failure],
        ids: &[Option<LinkId>],
        links: &[Link],
        clock: SimTime,
    ) -> Self {
        let ends: Vec<_> = links.iter().map(|link| [link.from, link.to]).collect();
        Self::of(failures, ids, &ends, clock)
    }

    fn of(
        failures: &[Failure],
        ids: &[Option<LinkId>],
        ends: &[[NodeId; 2]],
        clock: SimTime,
    ) -> Self {
        let mut by_node: BTreeMap<NodeId, Vec<LinkId>> = failures
            .iter()
            .filter_map(|failure| match failure.failed {
                Failed::Node(index) => Some((NodeId(index as u32), Vec::new())),
                Failed::Link(_) => None,
            })
            .collect();
        for (link, ends) in ends.iter().enumerate() {
            for node in ends {
                if let Some(links) = by_node.get_mut(node) {
                    links.push(LinkId(link as u32));
                }
            }
        }
        let mut this = Self::default();
        let mut known = BTreeMap::new();
        for (outage, failure) in failures.iter().enumerate() {
            let key = match failure.failed {
                Failed::Node(index) => (0, index),
                Failed::Link(index) => (1, index),
            };
            let failing = *known.entry(key).or_insert_with(|| {
                this.add(match failure.failed {
                    Failed::Node(index) => {
                        let node = NodeId(index as u32);
                        (Some(node), by_node.remove(&node).unwrap_or_default())
                    }
                    Failed::Link(index) => {
                        let both = |there: LinkId| vec![there, LinkId(there.0 + 1)];
                        (None, ids[index].map(both).unwrap_or_default())
                    }
                })
            });
            let at = clock.saturating_add(failure.at);
            let until = failure
                .until
                .map_or(SimTime::MAX, |until| clock.saturating_add(until));
            // An outage of zero length begins and ends in one change, and has no effect.
            let length = i32::from(at < until);
            let end = (until != at).then_some((until, -length));
            for (at, outages) in [Some((at, length)), end].into_iter().flatten() {
                if at != SimTime::MAX {
                    this.changes.push(Change {
                        at,
                        outage: outage as u32,
                        failing,
                        outages,
                        takes_carrier: !failure.silent,
                    });
                }
            }
        }
        this.changes
            .sort_by_key(|change| (change.at, change.outage));
        this
    }

    fn add(&mut self, (node, links): (Option<NodeId>, Vec<LinkId>)) -> u32 {
        for &link in &links {
            let rank = self.directions.len() as u32;
            let down = Held::default();
            let direction = Direction { rank, down };
            self.directions.entry(link).or_insert(direction);
        }
        self.failing.push(Failing {
            node,
            links,
            down: Held::default(),
        });
        self.failing.len() as u32 - 1
    }

    /// The time of the next failure or recovery.
    pub(crate) fn next_change(&self) -> SimTime {
        (self.changes.get(self.next)).map_or(SimTime::MAX, |change| change.at)
    }

    /// Applies the next change; returns the number of outages and links examined. A link is down
    /// while any outage holds it down.
    pub(crate) fn apply(&mut self, simulation: &mut Simulation<Flows>) -> u64 {
        let now = self.next_change();
        let effects = self.advance();
        for &(node, up) in &effects.nodes {
            simulation.set_node_up(node, up);
        }
        for &(link, state) in &effects.links {
            simulation.set_link_state(link, state);
        }
        simulation.advance(now);
        for &(node, up) in &effects.nodes {
            simulation.report_power(node, up);
        }
        for &(link, _) in &effects.links {
            simulation.report_carrier(link);
        }
        effects.looked_at
    }

    /// Removes the next change and returns its effect.
    fn advance(&mut self) -> Effects {
        let now = self.next_change();
        let rest = &self.changes[self.next..];
        let count = rest.partition_point(|change| change.at <= now);
        let changes = &rest[..count];
        self.next += count;
        let mut effects = Effects {
            looked_at: count as u64,
            ..Effects::default()
        };
        for change in changes {
            let failing = &mut self.failing[change.failing as usize];
            failing.down.change(change.outages, change.takes_carrier);
        }
        let mut touched = Vec::new();
        for change in changes {
            let failing = &mut self.failing[change.failing as usize];
            let Some((now, before)) = failing.down.take_change() else {
                continue;
            };
            let is_up = now == LinkState::Up;
            if is_up || before == LinkState::Up {
                effects.nodes.extend(failing.node.map(|node| (node, is_up)));
            }
            effects.looked_at += failing.links.len() as u64;
            for &link in &failing.links {
                let Some(direction) = self.directions.get_mut(&link) else {
                    continue;
                };
                for (state, count) in [(before, -1), (now, 1)] {
                    if state != LinkState::Up {
                        direction.down.change(count, state == LinkState::Down);
                    }
                }
                touched.push((direction.rank, link));
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for (_, link) in touched {
            let direction = self.directions.get_mut(&link);
            if let Some((state, _)) = direction.and_then(|direction| direction.down.take_change()) {
                effects.links.push((link, state));
            }
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use backlane_units::Duration;
    use proptest::prelude::*;

    use super::*;

    /// The specification: a node or link is down during its outages, and has a carrier if all of
    /// them are silent. Nodes that change are called in the order of the file, and links that change
    /// in the order in which outages name them.
    struct Law {
        outages: Vec<Outage>,
        nodes: Vec<bool>,
        links: Vec<LinkState>,
    }

    struct Outage {
        node: Option<NodeId>,
        links: Vec<LinkId>,
        at: SimTime,
        until: SimTime,
        silent: bool,
    }

    impl Law {
        fn new(failures: &[Failure], ids: &[Option<LinkId>], ends: &[[NodeId; 2]]) -> Self {
            let outage = |failure: &Failure| {
                let (node, links) = match failure.failed {
                    Failed::Link(index) => {
                        let both = |there: LinkId| vec![there, LinkId(there.0 + 1)];
                        (None, ids[index].map(both).unwrap_or_default())
                    }
                    Failed::Node(index) => {
                        let node = NodeId(index as u32);
                        let all = (0..ends.len() as u32).map(LinkId);
                        let touching = all.filter(|link| ends[link.index()].contains(&node));
                        (Some(node), touching.collect())
                    }
                };
                let at = CLOCK.saturating_add(failure.at);
                let until = failure
                    .until
                    .map_or(SimTime::MAX, |u| CLOCK.saturating_add(u));
                Outage {
                    node,
                    links,
                    at,
                    until,
                    silent: failure.silent,
                }
            };
            Self {
                outages: failures.iter().map(outage).collect(),
                nodes: vec![true; 6],
                links: vec![LinkState::Up; ends.len()],
            }
        }

        fn instants(&self) -> Vec<SimTime> {
            let both = self
                .outages
                .iter()
                .flat_map(|outage| [outage.at, outage.until]);
            let mut instants: Vec<_> = both.filter(|at| *at != SimTime::MAX).collect();
            instants.sort_unstable();
            instants.dedup();
            instants
        }

        fn at(&mut self, now: SimTime) -> Effects {
            let is_active = |outage: &&Outage| outage.at <= now && now < outage.until;
            let mut effects = Effects::default();
            for outage in &self.outages {
                if let Some(node) = outage.node
                    && (outage.at == now || outage.until == now)
                {
                    let mut active = self.outages.iter().filter(is_active);
                    let up = !active.any(|outage| outage.node == Some(node));
                    if self.nodes[node.index()] != up {
                        self.nodes[node.index()] = up;
                        effects.nodes.push((node, up));
                    }
                }
            }
            for &link in self.outages.iter().flat_map(|outage| &outage.links) {
                let active = self.outages.iter().filter(is_active);
                let mut holding = active.filter(|outage| outage.links.contains(&link));
                let state = match holding.next() {
                    None => LinkState::Up,
                    Some(outage) if outage.silent && holding.all(|outage| outage.silent) => {
                        LinkState::Silent
                    }
                    Some(_) => LinkState::Down,
                };
                if self.links[link.index()] != state {
                    self.links[link.index()] = state;
                    effects.links.push((link, state));
                }
            }
            effects
        }
    }

    const CLOCK: SimTime = SimTime::from_ps(7);

    fn failure(failed: Failed, at: u64, until: Option<u64>, silent: bool) -> Failure {
        Failure {
            failed,
            silent,
            at: Duration::from_ps(at),
            until: until.map(Duration::from_ps),
        }
    }

    /// A ring of six nodes and its six links; the fourth is not laid.
    fn ring() -> (Vec<Option<LinkId>>, Vec<[NodeId; 2]>) {
        let mut ids = Vec::new();
        let mut ends = Vec::new();
        for node in 0..6 {
            let pair = [NodeId(node), NodeId((node + 1) % 6)];
            ids.push((node != 3).then_some(LinkId(ends.len() as u32)));
            if node != 3 {
                ends.extend([pair, [pair[1], pair[0]]]);
            }
        }
        (ids, ends)
    }

    fn any_failure() -> impl Strategy<Value = Failure> {
        let failed = prop_oneof![
            (0..6usize).prop_map(Failed::Node),
            (0..6usize).prop_map(Failed::Link)
        ];
        // Few instants, so that many things happen at one; ends may lie before beginnings.
        let silent = proptest::bool::ANY;
        (failed, 0..8u64, proptest::option::of(0..8u64), silent)
            .prop_map(|(failed, at, until, silent)| failure(failed, at, until, silent))
    }

    proptest! {
        #[test]
        fn changes_are_those_of_the_law(failures in proptest::collection::vec(any_failure(), 0..12)) {
            let (ids, ends) = ring();
            let mut law = Law::new(&failures, &ids, &ends);
            let mut counted = Failures::of(&failures, &ids, &ends, CLOCK);
            for now in law.instants() {
                prop_assert_eq!(counted.next_change(), now);
                let effects = counted.advance();
                prop_assert_eq!(Effects { looked_at: 0, ..effects }, law.at(now));
            }
            prop_assert_eq!(counted.next_change(), SimTime::MAX);
        }
    }

    /// Each of 10 000 outages begins and ends once, and each time two directions change. The work
    /// grows linearly with the outages, not with their square.
    #[test]
    fn many_outages_cost_what_they_change() {
        let (ids, ends) = ring();
        let outages = 10_000;
        let failures: Vec<Failure> = (0..outages)
            .map(|n| {
                failure(
                    Failed::Link(n % 3),
                    10 * n as u64,
                    Some(10 * n as u64 + 1),
                    false,
                )
            })
            .collect();
        let mut counted = Failures::of(&failures, &ids, &ends, CLOCK);
        let (mut looked_at, mut changed) = (0, 0);
        while counted.next_change() < SimTime::MAX {
            let effects = counted.advance();
            looked_at += effects.looked_at;
            changed += effects.links.len();
        }
        assert_eq!(changed, 4 * outages);
        assert_eq!(
            looked_at,
            6 * outages as u64,
            "a change and its two directions"
        );
    }
}
