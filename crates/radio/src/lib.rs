//! Radio propagation: from where two antennas are to how much of the signal arrives.
//!
//! - [`position`] and [`mobility`]: where a user is at an instant, how fast, and how far it has
//!   come.
//! - [`path_loss`]: the median loss between two places, one law to a file.
//! - [`large_scale`]: what buildings and hills add, alike at places near each other, and both
//!   together for one base station.
//! - [`fading`]: the multipath fading of one link over frequency, as a function of the distance
//!   that the user has travelled.
//! - [`frame_fading`]: fading drawn for each frame by itself.
//! - [`level`]: decibels and thermal noise.
//!
//! Nothing here knows of LTE or of Wi-Fi. A loss is positive and in decibels; heights are
//! coordinates (`z_m`). Everything is a pure function of its arguments and of what was drawn from
//! a stream when it was made, so that it does not matter when or how often it is asked; only the
//! fading of frames is a draw each time.

pub mod fading;
pub mod frame_fading;
pub mod large_scale;
pub mod level;
pub mod mobility;
mod named;
pub mod path_loss;
pub mod position;
mod shadowing;
mod turns;

pub use fading::{
    Fading, FadingProfile, FrequencyResponse, group_offsets_hz, inter_carrier_interference,
};
pub use frame_fading::FrameFading;
pub use large_scale::{LargeScaleLoss, Shadowing};
pub use mobility::{Line, Mobility, Waypoints};
pub use named::Named;
pub use path_loss::{Deviation, PathLoss, Sight};
pub use position::Position;
