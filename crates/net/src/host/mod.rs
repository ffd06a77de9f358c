//! Hosts: the sources and sinks at the edge.
//!
//! - [`Application`]: the trait that the sources and sinks of a simulation implement.
//! - [`HostContext`]: the packets and timers that its hooks may use.

mod application;
mod context;

pub use application::Application;
pub use context::HostContext;
