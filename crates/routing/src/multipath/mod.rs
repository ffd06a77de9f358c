//! L2.5R: traffic over many paths in proportion to given flow rates (Avallone, Akyildiz and
//! Ventre, IEEE/ACM Transactions on Networking 17(1), 2009), per packet or with flows pinned to a
//! neighbour each.
//!
//! Every link has a flow rate f that it should carry, for which the channels of a network were
//! assigned and scaled. A router sends each packet to the neighbour v that is furthest behind,
//!
//! ```text
//! v = argmin sent(v) / f(v),    sent(v) += bytes of the packet
//! ```
//!
//! among those by which the packet can still come to its exit within its hop budget. When a
//! neighbour fails it is excluded at once. Distances are given before the run and constant, or
//! routers learn and maintain them by messages.
//!
//! - `config`: the directions that are pinned, and the constants.
//! - `flow_rates`: f of every link.
//! - `discovery`, `message`: route discovery and maintenance by messages.
//! - `reach`: distances over the links that are used.
//! - `neighbours`: the counters, the choice, and exclusion after failures.
//! - `pins`: the choices of pinned flows.
//! - `router`: the router.

mod config;
mod discovery;
mod flow_rates;
mod message;
mod neighbours;
mod pins;
mod reach;
mod router;

pub use config::{Allocation, Config, RouteDiscovery};
pub use flow_rates::FlowRates;
pub use message::{LinkState, Message};
pub use reach::Reach;
pub use router::L25r;
