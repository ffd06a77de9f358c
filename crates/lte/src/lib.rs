//! An LTE radio access network, layer by layer as 3GPP has it.
//!
//! [`phy`] knows what a transport block holds, what signal it needs and how often it is lost.

#![forbid(unsafe_code)]

pub mod phy;
