//! An LTE radio access network, layer by layer as 3GPP has it.
//!
//! [`phy`] knows what a transport block holds, what signal it needs and how often it is lost.
//! [`pdcp`] is what is put around a packet; [`rlc`] cuts packets into what the MAC grants, orders
//! them again, and repeats what was lost. [`mac`] says who sends what in which millisecond.
//! [`rrc`] says which cell serves a UE. [`Ran`] is all of it as a medium of `net`; [`config`] is
//! what a network is built from, [`readings`] what it reports.

#![forbid(unsafe_code)]

mod channel;
pub mod config;
mod fading_trace;
pub mod mac;
pub mod pdcp;
pub mod phy;
mod ran;
pub mod readings;
pub mod rlc;
pub mod rrc;
mod sinr_of_cqi;
mod time;
mod trace;
mod ue;

pub use fading_trace::FadingTrace;
pub use ran::Ran;
pub use trace::ChannelTrace;
