//! Routers: one instance of a routing protocol for each node that forwards.
//!
//! - [`Router`]: the trait that a routing protocol implements.
//! - [`Context`]: the node, interfaces, packets and timers that its hooks may use.

mod context;
mod hooks;

pub use context::Context;
pub use hooks::{Division, Reading, Router};
