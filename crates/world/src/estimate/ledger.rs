//! The parts of an estimate and their sums.

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
    /// Whether the run may use several threads, if the delays and the load allow it.
    pub divides: bool,
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
pub(super) struct Cost {
    pub(super) cpu_ns: f64,
    pub(super) memory_bytes: f64,
    pub(super) disk_bytes: f64,
    pub(super) events: f64,
}

/// Collects the parts of an estimate.
#[derive(Default)]
pub(super) struct Ledger {
    parts: Vec<Part>,
    events: f64,
    pub(super) simulated_s: f64,
}

impl Ledger {
    /// Adds `count` things that cost `each`.
    pub(super) fn add(&mut self, name: impl Into<String>, count: f64, each: Cost) {
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

    pub(super) fn close(self) -> Estimate {
        let sum = |of: fn(&Part) -> u64| self.parts.iter().map(of).fold(0, u64::saturating_add);
        Estimate {
            cpu_s: self.parts.iter().map(|part| part.cpu_s).sum(),
            memory_bytes: sum(|part| part.memory_bytes),
            disk_bytes: sum(|part| part.disk_bytes),
            events: self.events.min(u64::MAX as f64) as u64,
            divides: false,
            simulated_s: self.simulated_s,
            parts: self.parts,
        }
    }
}
