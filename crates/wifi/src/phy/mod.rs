//! The 802.11 physical layer, as pure functions.
//!
//! - [`standard`]: the four radios, their modes (rate and modulation), interframe spaces and
//!   contention windows, and the rule for the rate of control frames.
//! - [`airtime`]: how long a frame lasts.
//! - [`error_rate`]: how probably bits come through at a ratio of signal to noise.
//! - [`reception`]: how probably a frame is decoded, by the error rates over all that happened on
//!   the air while it lasted.

pub mod airtime;
pub mod error_rate;
pub mod reception;
pub mod standard;

pub use airtime::{ack_airtime, eifs, frame_airtime};
pub use error_rate::ErrorRate;
pub use reception::{SinrReception, finds_preamble};
pub use standard::{Mode, Preamble, Standard};
