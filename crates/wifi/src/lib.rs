//! 802.11 as a medium of `net`.
//!
//! [`phy`] knows what a standard's times and rates are, how long a frame takes and what signal it
//! needs. [`Wifi`] is a network of stations: the frames on the air, and who sends when by the
//! distributed coordination function; each radio of it knows what it hears and when it may send.
//! [`config`] has the parameters.

#![forbid(unsafe_code)]

mod build;
mod capture;
pub mod config;
pub mod counters;
mod deadlines;
mod error;
mod frame;
mod mac_params;
mod medium;
pub mod phy;
mod queues;
mod radio;

pub use build::links_in_range;
pub use config::{
    BasicRate, DataRate, Neighbours, Profile, Reception, StationConfig, WifiConfig, WifiLinkConfig,
};
pub use counters::{LinkCounters, RadioCounters};
pub use error::WifiError;
pub use medium::Wifi;
