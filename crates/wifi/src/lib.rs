//! 802.11 as a medium of `net`.
//!
//! [`phy`] has the times and rates of the standards, airtimes and error rates. [`Wifi`] is a network
//! of stations: the frames on the air, and medium access by the distributed coordination function;
//! each of its radios keeps its own carrier sense, NAV and back-off, except that radios that all
//! hear each other share theirs (`domain`). [`config`] has the parameters,
//! [`counters`] the results.

#![forbid(unsafe_code)]

mod air;
mod build;
mod bystanders;
mod capture;
pub mod config;
pub mod counters;
mod deadlines;
mod domain;
mod error;
mod frame;
mod mac_params;
mod medium;
pub mod phy;
mod queues;
mod radio;
mod receiver;

pub use build::links_in_range;
pub use config::{
    AnswerWait, Arrival, BasicRate, DataRate, LossLaw, Neighbours, Profile, Reception,
    StationConfig, WifiConfig, WifiLinkConfig,
};
pub use counters::{LinkCounters, RadioCounters};
pub use error::WifiError;
pub use medium::Wifi;
