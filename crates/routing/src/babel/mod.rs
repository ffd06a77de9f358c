//! Babel (RFC 8966) as babeld and BIRD run it: a distance vector without loops, on wires and over
//! radios, with real packets.
//!
//! - [`config`]: its parameters.
//! - [`message`]: bytes on the link.
//! - [`link`]: the cost of a link by the HELLOs that were heard.
//! - `daemon`: what both daemons have: the clock, packets to send, routes to install.
//! - `babeld`, `bird`: the two daemons, without I/O.
//! - `router`: the hooks and timers.
//!
//! Left out: authentication, prefixes other than those of routers, source-specific routes, channel
//! diversity, and the time that a daemon computes.

mod babeld;
mod bird;
pub mod config;
mod daemon;
pub mod link;
pub mod message;
mod router;

pub use config::Config;
pub use router::Babel;
