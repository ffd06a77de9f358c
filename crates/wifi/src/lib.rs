//! 802.11 as a medium of `net`.
//!
//! [`phy`] knows what a standard's times and rates are, how long a frame takes and what signal it
//! needs. [`Wifi`] is a network of stations: the frames on the air, and who sends when by the
//! distributed coordination function; each radio of it knows what it hears and when it may send.
//! [`config`] is what a network is built from, [`readings`] what it tells of itself.

#![forbid(unsafe_code)]

mod agenda;
mod build;
mod capture;
pub mod config;
mod error;
mod frame;
mod medium;
pub mod phy;
mod queues;
mod radio;
pub mod readings;
mod rules;

pub use build::links_in_range;
pub use config::{
    BasicRate, DataRate, Neighbours, Profile, Reception, StationConfig, WifiConfig, WifiLinkConfig,
};
pub use error::WifiError;
pub use medium::Wifi;
pub use readings::{LinkReadings, RadioReadings};
