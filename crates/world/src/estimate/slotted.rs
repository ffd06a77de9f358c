//! What the slotted model has to do.

use backlane_scenario::model::slotted::{Interference, Slotted};

use super::{Ledger, costs, record};

/// Counts slots and what is done in each.
pub(super) fn count(slotted: &Slotted, ledger: &mut Ledger) {
    let slots = slotted.total_slots() as f64;
    let (links, flows) = (slotted.links.len() as f64, slotted.flows.len() as f64);
    ledger.simulated_s = (slotted.warm_up_slots.saturating_add(slotted.slots)) as f64;
    ledger.add("slots", slots, costs::SLOT);
    ledger.add("flows in slots", slots * flows, costs::SLOT_FLOW);
    ledger.add(
        "queues weighed",
        slots * links * flows,
        costs::SLOT_LINK_FLOW,
    );
    if slotted.greedy {
        ledger.add(
            "links sorted",
            slots * links * libm::log2(links + 1.0),
            costs::SLOT_SORTED,
        );
    } else {
        ledger.add(
            "schedules tried",
            slots * schedules(slotted),
            costs::SLOT_SCHEDULE,
        );
    }
    ledger.add(
        "queues",
        flows * slotted.nodes.len() as f64,
        costs::SLOTTED_QUEUE,
    );
    if let Some(region) = slotted.region {
        let points = f64::from(region.points) * f64::from(region.points);
        ledger.add("points of the map", points, costs::REGION_POINT);
    }
    if let Some(every) = slotted.sample_slots {
        let rows = ledger.simulated_s / every.max(1) as f64 * flows;
        record::rows("series of flows", rows, costs::SLOTTED_ROW, ledger);
    }
}

/// Steps of a search for the heaviest set of links.
fn schedules(slotted: &Slotted) -> f64 {
    let links = slotted.links.len() as f64;
    match &slotted.interference {
        Interference::None | Interference::CollisionDomain => links,
        // Branch and bound; the number of sets of lattices grows so with their links.
        Interference::Primary | Interference::Conflicts(_) => {
            links * libm::pow(2.0, (links / costs::SLOT_LINKS_PER_DOUBLING).min(30.0))
        }
    }
}
