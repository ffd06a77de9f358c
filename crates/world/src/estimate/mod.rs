//! The expected cost of a run: CPU time, memory, disk.
//!
//! One estimator for everything that asks, such as a remark before a campaign begins and a refusal
//! beyond the machine's memory. It counts a run's operations and multiplies each count by a
//! measured cost (`costs`):
//!
//! - `hops` computes how long a packet occupies a wire, a radio or a cell;
//! - `paths` finds the shortest path of each pair of endpoints and its resources;
//! - `share` bounds the bytes that each flow carries by its size, its load, its window and its share
//!   of every link on the path;
//! - `network` turns bytes into packets, hops, frames and intervals, by technology;
//! - `record` counts the rows of tables and series and the bytes of captures;
//! - `slotted` does the same for the slotted model.
//!
//! An estimate takes microseconds to milliseconds and never fails. It ignores congestion losses,
//! slow start and routes other than the shortest; its measured error is in `docs/concepts/cost.md`.

mod costs;
mod hops;
mod ledger;
mod network;
mod paths;
mod record;
mod routing;
mod share;
mod slotted;
#[cfg(test)]
mod tests;

use backlane_scenario::{Described, Scenario};

use ledger::Ledger;
pub use ledger::{Estimate, Part};

use crate::models::Models;
use crate::regions::whole;

/// Estimates the cost of a run of a scenario.
pub fn estimate(described: &Described) -> Estimate {
    match described {
        Described::Network(scenario) => of_network(scenario),
        Described::Slotted(model) => {
            let mut ledger = Ledger::default();
            ledger.add("the run itself", 1.0, costs::RUN);
            // A checked model has a configuration.
            if let Ok(config) = crate::slotted::config(model) {
                slotted::count(&config, &mut ledger);
            }
            ledger.close()
        }
    }
}

/// Estimates the cost of a run of a network.
pub(crate) fn of_network(scenario: &Scenario) -> Estimate {
    let mut ledger = Ledger::default();
    ledger.add("the run itself", 1.0, costs::RUN);
    network::count(scenario, &mut ledger);
    Estimate {
        divides: whole(Models::standard(), scenario).is_none(),
        ..ledger.close()
    }
}
