//! Lengths, in whole micrometres.

use std::fmt;
use std::str::FromStr;

use crate::parse::{Quantity, Unit, UnitError, parse_signed, unit, write_decimal};

/// A length or a coordinate, in whole micrometres; may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(i64);

impl Length {
    /// `um` micrometres.
    pub const fn from_um(um: i64) -> Self {
        Self(um)
    }

    /// `m` metres, rounded to the micrometre; values out of range are clamped.
    pub fn from_m_f64(m: f64) -> Self {
        Self((m * 1e6).round() as i64)
    }

    /// Micrometres.
    pub const fn as_um(self) -> i64 {
        self.0
    }

    /// Metres.
    pub fn as_m_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

pub(crate) const UNITS: &[Unit] = &[
    unit("um", 1),
    unit("µm", 1),
    unit("mm", 1_000),
    unit("cm", 10_000),
    unit("m", 1_000_000),
    unit("km", 1_000_000_000),
];

/// Reads "120 m", exactly.
impl FromStr for Length {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::Length;
        let um = parse_signed(text, quantity, UNITS)?;
        i64::try_from(um)
            .map(Self)
            .map_err(|_| UnitError::Overflow { quantity })
    }
}

/// Prints metres, exactly.
impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0, 6, "m")
    }
}
