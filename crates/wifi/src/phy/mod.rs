//! The 802.11 physical layer, as pure functions.
//!
//! - [`standard`]: the four radios, their modes (rate and modulation), interframe spaces and
//!   contention windows, and the rule for the rate of control frames.
//! - [`airtime`]: the airtime of a frame.
//! - [`error_rate`]: the bit error rate at a ratio of signal to noise.
//! - [`reception`]: the probability that a frame is decoded, from the error rates between all changes
//!   of the interference.

pub mod airtime;
pub mod error_rate;
pub mod reception;
pub mod standard;

pub use airtime::{ack_airtime, eifs, frame_airtime};
pub use error_rate::ErrorRate;
pub use reception::{SinrReception, finds_preamble};
pub use standard::{Mode, Preamble, Standard};
