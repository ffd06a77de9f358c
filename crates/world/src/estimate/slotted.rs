//! The operations of the slotted model.

use std::collections::BTreeSet;

use backlane_slotted::{Config, Interference, Scheduler};

use super::ledger::Ledger;
use super::{costs, record};

/// Counts slots and the operations in each.
pub(super) fn count(config: &Config, ledger: &mut Ledger) {
    let slots = config.total_slots() as f64;
    let (links, flows) = (config.link.len() as f64, config.flow.len() as f64);
    ledger.simulated_s = (config.warm_up_slots.saturating_add(config.slots)) as f64;
    ledger.add("slots", slots, costs::SLOT);
    ledger.add("flows in slots", slots * flows, costs::SLOT_FLOW);
    ledger.add(
        "queues weighed",
        slots * links * flows,
        costs::SLOT_LINK_FLOW,
    );
    if config.scheduler == Scheduler::Greedy {
        ledger.add(
            "links sorted",
            slots * links * libm::log2(links + 1.0),
            costs::SLOT_SORTED,
        );
    } else {
        ledger.add(
            "schedules tried",
            slots * schedules(config),
            costs::SLOT_SCHEDULE,
        );
    }
    ledger.add("queues", flows * nodes(config), costs::SLOTTED_QUEUE);
    if let Some(region) = &config.region {
        let points = f64::from(region.points) * f64::from(region.points);
        ledger.add("points of the map", points, costs::REGION_POINT);
    }
    if let Some(every) = config.sample_slots {
        let rows = ledger.simulated_s / every.max(1) as f64 * flows;
        record::rows("series of flows", rows, costs::SLOTTED_ROW, ledger);
    }
}

/// Number of nodes.
fn nodes(config: &Config) -> f64 {
    let ends = config.link.iter().flat_map(|link| [&link.from, &link.to]);
    ends.collect::<BTreeSet<_>>().len() as f64
}

/// Steps of a search for the heaviest set of links.
fn schedules(config: &Config) -> f64 {
    let links = config.link.len() as f64;
    match &config.interference {
        Interference::None | Interference::CollisionDomain => links,
        // Branch and bound; the number of sets of lattices grows so with their links.
        Interference::Primary | Interference::Conflicts { .. } => {
            links * libm::pow(2.0, (links / costs::SLOT_LINKS_PER_DOUBLING).min(30.0))
        }
    }
}
