//! The slotted model of backpressure: queues, ON/OFF channels, interference and schedules, one
//! slot after another.
//!
//! It is the model in which backpressure is proved to be stable (Tassiulas and Ephremides 1992)
//! and in which TCP-aware backpressure is stated (Seferoglu and Modiano 2014, §II and §III): no
//! packets that travel, no protocols, no clock, only per-flow queues and the rule that moves them.
//!
//! - [`config`]: the parameters; [`network`]: the tables made of them.
//! - [`conflicts`]: the conflict graph of the links.
//! - [`schedule`]: the schedule of a slot: the exact max-weight set, or a greedy maximal one.
//! - [`source`]: random and constant arrivals, congestion windows, and the flow control of
//!   equation (5) in [`flow_control`].
//! - [`model`]: the slot; [`statistics`]: what is measured over them.
//!
//! Queues are of whole packets. A packet that moves in a slot can move again in the next.

pub mod config;
pub mod conflicts;
pub mod flow_control;
pub mod model;
pub mod network;
pub mod schedule;
pub mod source;
pub mod statistics;

pub use config::{
    Arrivals, Config, Flow, FlowControl, Growth, Interference, Link, Region, Rule, Scheduler, Ties,
    Window,
};
pub use model::{Balance, Model};
pub use network::Problem;
pub use statistics::{FlowStatistics, Slope};
