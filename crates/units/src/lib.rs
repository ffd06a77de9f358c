//! Physical quantities as types.
//!
//! `time` holds the simulator's clock ([`SimTime`], [`Duration`]: whole picoseconds), `data`
//! holds [`Rate`] (bits per second) and [`Bytes`], `length`, `radio` and `speed` hold the
//! quantities of geometry and radio. Arithmetic is exact integer arithmetic. A quantity is parsed
//! from text ("500 Mbit/s", "4 ms") by its `FromStr` and printed by its `Display`, both exact and
//! inverse to each other; a text without a unit, or without an exact value, is refused with a
//! [`UnitError`] that suggests a correction.
//!
//! ```
//! use backlane_units::{Duration, Rate};
//!
//! let rate: Rate = "0.5 Gbit/s".parse().unwrap();
//! assert_eq!(rate.to_string(), "500 Mbit/s");
//! let error = "500".parse::<Rate>().unwrap_err();
//! assert_eq!(error.help(), r#"write "500 Mbit/s" (or "500 kbit/s")"#);
//! assert!("0.3 ps".parse::<Duration>().is_err());
//! ```

mod angle;
mod data;
mod length;
mod names;
mod parse;
mod radio;
mod speed;
mod time;

pub use angle::Angle;
pub use data::{Bytes, Rate};
pub use length::Length;
pub use parse::{Quantity, UnitError};
pub use radio::{Decibels, Frequency, Power};
pub use speed::Speed;
pub use time::{Duration, SimTime};
