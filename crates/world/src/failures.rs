//! What fails during a run, and when.

use backlane_net::{Link, LinkId, NodeId, Simulation};
use backlane_scenario::model::{Failed, Failure};
use backlane_traffic::Flows;
use backlane_units::SimTime;

struct Outage {
    /// The node that fails; its radios fall silent, beside its links.
    node: Option<NodeId>,
    links: Vec<LinkId>,
    at: SimTime,
    until: SimTime,
}

/// The outages of a run.
#[derive(Default)]
pub(crate) struct Failures {
    outages: Vec<Outage>,
    /// When something fails or works again, and was not yet applied; the next one last.
    changes: Vec<SimTime>,
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
        let outages: Vec<Outage> = failures
            .iter()
            .map(|failure| Outage {
                node: match failure.failed {
                    Failed::Node(index) => Some(NodeId(index as u32)),
                    Failed::Link(_) => None,
                },
                links: match failure.failed {
                    Failed::Link(index) => ids[index]
                        .into_iter()
                        .flat_map(|there| [there, LinkId(there.0 + 1)])
                        .collect(),
                    Failed::Node(index) => {
                        let node = NodeId(index as u32);
                        let touches = |link: &Link| link.from == node || link.to == node;
                        (0..links.len() as u32)
                            .map(LinkId)
                            .filter(|link| touches(&links[link.index()]))
                            .collect()
                    }
                },
                at: clock.saturating_add(failure.at),
                until: failure
                    .until
                    .map_or(SimTime::MAX, |until| clock.saturating_add(until)),
            })
            .collect();
        let mut changes: Vec<SimTime> = outages
            .iter()
            .flat_map(|outage| [outage.at, outage.until])
            .filter(|&at| at != SimTime::MAX)
            .collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        changes.dedup();
        Self { outages, changes }
    }

    /// When something fails or works again next.
    pub(crate) fn next_change(&self) -> SimTime {
        self.changes.last().copied().unwrap_or(SimTime::MAX)
    }

    /// Cuts and mends what is to be cut and mended at `now`, the next change. A link is down as
    /// long as any outage holds it down.
    pub(crate) fn apply(&mut self, simulation: &mut Simulation<Flows>, now: SimTime) {
        self.changes.pop();
        let is_active = |outage: &&Outage| outage.at <= now && now < outage.until;
        for outage in &self.outages {
            if let Some(node) = outage.node
                && (outage.at == now || outage.until == now)
            {
                let mut active = self.outages.iter().filter(is_active);
                let up = !active.any(|outage| outage.node == Some(node));
                simulation.set_node_up(node, up);
            }
        }
        for &link in self.outages.iter().flat_map(|outage| &outage.links) {
            let mut active = self.outages.iter().filter(is_active);
            let up = !active.any(|outage| outage.links.contains(&link));
            if simulation.network.links()[link.index()].up() != up {
                simulation.set_link_up(link, up);
            }
        }
    }
}
