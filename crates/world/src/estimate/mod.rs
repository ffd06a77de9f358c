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
mod network;
mod paths;
mod record;
mod routing;
mod share;
mod slotted;
#[cfg(test)]
mod tests;

use backlane_scenario::Described;

/// The cost of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// CPU time of the run, in seconds, on the machine of the calibration.
    pub cpu_s: f64,
    /// The peak memory of the run, beyond that of the process before it begins.
    pub memory_bytes: u64,
    /// The size of its results on the disk.
    pub disk_bytes: u64,
    /// Events that fire; slots of the slotted model.
    pub events: u64,
    /// The simulated end: the scenario's end, or when all finite flows have finished.
    pub simulated_s: f64,
    /// The components of the sums above, in no particular order. Parts that cost nothing are left
    /// out.
    pub parts: Vec<Part>,
}

/// A share of a cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is for, such as "flows" or "capture at epc".
    pub name: String,
    /// Their number: flows, packet-hops, samples.
    pub count: f64,
    /// CPU time, in seconds.
    pub cpu_s: f64,
    /// Memory.
    pub memory_bytes: u64,
    /// Disk.
    pub disk_bytes: u64,
}

/// The cost of one unit.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    cpu_ns: f64,
    memory_bytes: f64,
    disk_bytes: f64,
    events: f64,
}

/// Estimates the cost of a run of a scenario.
pub fn estimate(described: &Described) -> Estimate {
    let mut ledger = Ledger::default();
    ledger.add("the run itself", 1.0, costs::RUN);
    match described {
        Described::Network(scenario) => network::count(scenario, &mut ledger),
        Described::Slotted(model) => {
            // A checked model has a configuration.
            if let Ok(config) = crate::slotted::config(model) {
                slotted::count(&config, &mut ledger);
            }
        }
    }
    ledger.close()
}

/// Collects the parts of an estimate.
#[derive(Default)]
struct Ledger {
    parts: Vec<Part>,
    events: f64,
    simulated_s: f64,
}

impl Ledger {
    /// Adds `count` things that cost `each`.
    fn add(&mut self, name: impl Into<String>, count: f64, each: Cost) {
        let count = if count.is_finite() {
            count.max(0.0)
        } else {
            f64::MAX
        };
        let whole = |each: f64| (count * each).min(u64::MAX as f64) as u64;
        let part = Part {
            name: name.into(),
            count,
            cpu_s: (count * each.cpu_ns * 1e-9).min(f64::MAX),
            memory_bytes: whole(each.memory_bytes),
            disk_bytes: whole(each.disk_bytes),
        };
        self.events += count * each.events;
        if part.cpu_s > 0.0 || part.memory_bytes > 0 || part.disk_bytes > 0 {
            self.parts.push(part);
        }
    }

    fn close(self) -> Estimate {
        let sum = |of: fn(&Part) -> u64| self.parts.iter().map(of).fold(0, u64::saturating_add);
        Estimate {
            cpu_s: self.parts.iter().map(|part| part.cpu_s).sum(),
            memory_bytes: sum(|part| part.memory_bytes),
            disk_bytes: sum(|part| part.disk_bytes),
            events: self.events.min(u64::MAX as f64) as u64,
            simulated_s: self.simulated_s,
            parts: self.parts,
        }
    }
}
