//! OSPF (RFC 2328) as FRR and BIRD run it: point-to-point links in one area, real packets on the
//! links, and several equal paths.
//!
//! - [`config`]: its parameters.
//! - [`lsa`], [`packet`]: bytes on the link.
//! - [`neighbour`]: the exchange of databases with one neighbour.
//! - [`database`]: the LSAs of a router with their ages.
//! - [`costs`]: costs of links by hand.
//! - [`spf`]: shortest paths from the database; [`alternates`]: loop-free alternates.
//! - [`paths`], [`spreading`]: the choice among equal paths.
//! - [`bfd`]: detection of a lost neighbour by BFD.
//! - `router`: the hooks and timers; `adjacency`: HELLOs, carrier and exchange; `flooding`: updates,
//!   acknowledgments and the router's own LSA.
//!
//! Left out: broadcast networks and designated routers, areas, external and summary LSAs,
//! authentication, the time that a daemon computes, and the priority of control packets in a
//! router's queues.

mod adjacency;
pub mod alternates;
pub mod bfd;
pub mod config;
pub mod costs;
pub mod database;
mod flooding;
pub mod lsa;
pub mod neighbour;
pub mod packet;
pub mod paths;
mod router;
pub mod spf;
pub mod spreading;

pub use config::Config;
pub use costs::Costs;
pub use database::Initial;
pub use router::Ospf;
