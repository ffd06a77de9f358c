//! The engine: what every model stands on and none of them owns.
//!
//! - [`queue`]: the total order of events, (time, sequence), and timers that can be moved and
//!   cancelled for nothing.
//! - [`stream`]: random streams by name. A stream depends on the run's seed, the entity and the
//!   purpose, and on nothing else, so that adding a node moves no other stream.
//! - [`digest`]: one number for all that happened in a run.
//! - [`histogram`]: durations, with their mean, extremes and quantiles.
//! - [`trace`]: the log of events and draws that finds where two runs part.
//! - [`watch`]: who may end a run, and how often that is asked.

pub mod digest;
pub mod histogram;
pub mod queue;
pub mod stream;
pub mod trace;
pub mod watch;

pub use digest::Digest;
pub use histogram::Histogram;
pub use queue::{EventQueue, TimerId};
pub use stream::{Stream, Streams};
pub use trace::{Trace, TraceEntry};
pub use watch::{Interrupt, Watch};
