//! Hosts: the sources and sinks at the edge.
//!
//! - [`Application`]: the trait that the sources and sinks of a simulation implement.
//! - [`Divisible`]: of an application whose network may be run by several simulations.
//! - [`HostContext`]: the packets and timers that its hooks may use.

mod application;
mod context;
mod divisible;

pub use application::Application;
pub use context::HostContext;
pub use divisible::Divisible;
