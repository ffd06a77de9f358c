//! The engine: what all models share.
//!
//! - [`queue`]: the order of events, and timers that are cheap to move and cancel.
//! - [`stream`]: named random streams. A stream depends only on the run's seed, the entity and the
//!   purpose, so that adding a node moves no other stream.
//! - [`prefetch()`]: loads into the cache ahead of their use.
//! - [`digest`]: a hash of all events of a run.
//! - [`histogram`]: durations, with their mean, extremes and quantiles.
//! - [`trace`]: the log of events and draws, which finds the first difference of two runs.
//! - [`watch`]: the callback that may interrupt a run.

mod calendar;
pub mod digest;
pub mod histogram;
mod prefetch;
pub mod queue;
pub mod stream;
pub mod trace;
pub mod watch;

pub use digest::{Digest, EventDigest};
pub use histogram::Histogram;
pub use prefetch::{prefetch, prefetch_start};
pub use queue::{EventQueue, Numbered, TimerId};
pub use stream::{Stream, Streams};
pub use trace::{Trace, TraceEntry};
pub use watch::{Interrupt, Watch};
