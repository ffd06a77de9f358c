//! Physical quantities as types.
//!
//! `time` holds the simulator's clock ([`SimTime`], [`Duration`]: whole picoseconds), `data`
//! holds [`Rate`] (bits per second) and [`Bytes`]. Arithmetic is exact integer arithmetic; a
//! quantity is read from text ("500 Mbit/s", "4 ms") by `parse` and a lossy or unit-less text
//! is refused.

mod data;
mod time;

pub use data::{Bytes, Rate};
pub use time::{Duration, SimTime};
