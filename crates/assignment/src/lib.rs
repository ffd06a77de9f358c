//! Channels, rates and flow rates for the links of a multi-radio wireless mesh, before anything is
//! simulated.
//!
//! Each node has a few radios and each radio one channel, so two neighbours can communicate only if they
//! share one, and links on one channel near each other take turns. How much a link should carry,
//! on which channel and how fast, are therefore one question. It is answered in two steps, as in
//! the work of Avallone, Akyildiz and Ventre on L2.5 forwarding (IEEE/ACM Transactions on
//! Networking 17(1), 2009):
//!
//! 1. [`throughput`] computes the flow rate of each link for given demands, by a linear program
//!    with the numbers of radios and channels but without their assignment; [`by_paths`] and [`equal`] are
//!    simpler rules.
//! 2. [`assign`] gives each link a channel and a rate (flow-based channel and rate assignment,
//!    FCRA) and scales the flow rates down to what can be scheduled.
//!
//! [`check()`] verifies an assignment and shares no code with [`assign`].
//!
//! - [`config`]: the parameters, which a caller that knows the network applies to it.
//! - [`mesh`]: nodes, links, channels, interference; [`error`]: why an assignment fails, in words in
//!   `describe`.
//! - [`demand`]: demands and flow rates; [`flow`]: how these are computed, with the program in
//!   `program` and short paths in `paths`. [`infeasible`]: demands that cannot be met; `binding`
//!   finds the constraints that prevent it.
//! - [`fcra`]: the assignment, with its adjustment of rates; loads of collision domains in `load`.
//!
//! Everything is plain data with indices. No time, no randomness; equal input gives equal output.

mod binding;
pub mod check;
pub mod config;
pub mod demand;
mod describe;
pub mod error;
pub mod fcra;
pub mod flow;
pub mod infeasible;
mod load;
pub mod mesh;
mod paths;
mod program;

pub use check::{Violation, check};
pub use config::{ChannelSource, Config, FlowRateSource, InterferenceModel, NamedDemand, RateRule};
pub use demand::{Demand, FlowRates};
pub use error::Error;
pub use fcra::{Assignment, assign};
pub use flow::{by_paths, equal, throughput};
pub use infeasible::{Constraint, Infeasible, Remedy};
pub use load::utilisation;
pub use mesh::{Channels, Interference, Link, Mesh, Node};
