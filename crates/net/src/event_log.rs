//! The record of the events of a run: its digest, and its trace if one is kept.

use backlane_engine::{EventDigest, Trace, TraceEntry};
use backlane_units::SimTime;

use crate::event::Event;

/// The digest and the optional trace of a run.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    pub(crate) digest: EventDigest,
    pub(crate) trace: Option<Trace>,
}

impl EventLog {
    /// Adds an event that fires at `time`.
    #[inline]
    pub(crate) fn record(&mut self, event: Event, time: SimTime) {
        self.digest.add(time.as_ps(), event.word());
        if let Some(trace) = &self.trace {
            trace.push(TraceEntry::Event {
                time,
                event: format!("{event:?}"),
            });
        }
    }
}
