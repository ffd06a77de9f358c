//! A resolved scenario becomes a running world, and a finished one becomes tables.
//!
//! [`build`] wires nodes, links, routers and flows together; [`World::run`] moves time;
//! [`outcome`] is what came of it.

pub mod build;
mod convert;
mod names;
pub mod outcome;
mod run;
mod starts;

pub use build::{BuildError, World};
pub use outcome::{Ended, Outcome, Summary};
pub use run::Interrupt;
