//! Applications, routers and media for tests.
//!
//! - [`Script`]: sends given packets at given times, and records what arrives.
//! - [`LineRouter`]: forwards along a line of routers.
//! - [`Tap`]: a router whose messages a test watches.
//! - [`Hub`]: a medium without contention and with random loss.

mod hub;
mod routers;
mod script;

pub use hub::{Hub, HubConfig};
pub use routers::{LineRouter, Tap};
pub use script::{Arrival, Load, Script};
