//! 802.11 as a medium of `net`.
//!
//! [`phy`] knows what a standard's times and rates are, how long a frame takes and what signal it
//! needs. [`config`] is what a network is built from.

#![forbid(unsafe_code)]

pub mod config;
pub mod phy;

pub use config::{Reception, StationConfig, WifiConfig, WifiLinkConfig};
