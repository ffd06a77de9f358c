//! The record of the events of a run: its digest, and its trace if one is kept.

use backlane_engine::{Digest, Trace, TraceEntry};
use backlane_units::SimTime;

use crate::event::Event;

/// The digest and the optional trace of a run.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    digest: Digest,
    pub(crate) trace: Option<Trace>,
}

impl EventLog {
    /// Adds an event that fires at `time`.
    #[inline]
    pub(crate) fn record(&mut self, event: Event, time: SimTime) {
        self.digest.add(event.at(time));
        if let Some(trace) = &self.trace {
            trace.push(TraceEntry::Event {
                time,
                event: format!("{event:?}"),
            });
        }
    }

    /// The digest so far.
    pub(crate) fn digest(&self) -> u64 {
        self.digest.value()
    }
}
