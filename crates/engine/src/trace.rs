//! The log of the events and draws of a run, which finds the first difference of two runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backlane_units::SimTime;

/// One event or one draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEntry {
    /// An event fired.
    Event {
        /// When.
        time: SimTime,
        /// Its debug text.
        event: String,
    },
    /// A random stream returned a value.
    Draw {
        /// "entity/purpose".
        stream: Arc<str>,
        /// The raw word.
        value: u64,
    },
}

/// A shared log. Clones write to the same list.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Mutex<Vec<TraceEntry>>>);

impl Trace {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry.
    pub fn push(&self, entry: TraceEntry) {
        self.lock().push(entry);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TraceEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries so far.
    pub fn entries(&self) -> Vec<TraceEntry> {
        self.lock().clone()
    }

    /// The first difference of two logs: the index and the entry of each side.
    pub fn first_difference(
        &self,
        other: &Self,
    ) -> Option<(usize, Option<TraceEntry>, Option<TraceEntry>)> {
        let (a, b) = (self.entries(), other.entries());
        let index = (0..a.len().max(b.len())).find(|&i| a.get(i) != b.get(i))?;
        Some((index, a.get(index).cloned(), b.get(index).cloned()))
    }
}
