//! What a web page asks of the simulator: a request in, an answer out, both JSON.
//!
//! [`answer`] goes through the resolver, planner and runner of the command line; a run has the run
//! id, digest and tables that the same scenario has there. Nothing here reads a file, a clock or
//! the network: a request brings the texts of the files that its scenario names.
//!
//! Seeds and all other integers beyond 2⁵³ are texts, since JavaScript would round them.
//!
//! `playground/engine` has the exports for WebAssembly. This crate is the same on every target, so
//! that its tests run natively.

mod answers;
mod problems;
mod request;
mod tables;

pub use answers::answer;
pub use request::{MOST_FILES_BYTES, MOST_MEMORY_BYTES};

/// What a page can do while a run goes on.
pub trait Page {
    /// Called during a run, with simulated seconds, the duration and the number of events so far.
    /// `false` ends the run.
    fn progress(&mut self, now_s: f64, duration_s: f64, events: u64) -> bool;
}
