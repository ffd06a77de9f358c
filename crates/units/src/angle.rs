//! Angles, in whole thousandths of a degree.

use std::fmt;
use std::str::FromStr;

use crate::parse::{Quantity, Unit, UnitError, parse_signed, unit, write_decimal};

/// An angle, in whole thousandths of a degree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Angle(i64);

impl Angle {
    /// `mdeg` thousandths of a degree.
    pub const fn from_mdeg(mdeg: i64) -> Self {
        Self(mdeg)
    }

    /// Thousandths of a degree.
    pub const fn as_mdeg(self) -> i64 {
        self.0
    }

    /// Radians.
    pub fn as_rad_f64(self) -> f64 {
        (self.0 as f64 / 1e3).to_radians()
    }
}

pub(crate) const UNITS: &[Unit] = &[unit("deg", 1_000)];

/// Reads "45 deg", exactly.
impl FromStr for Angle {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::Angle;
        let mdeg = parse_signed(text, quantity, UNITS)?;
        i64::try_from(mdeg)
            .map(Self)
            .map_err(|_| UnitError::Overflow { quantity })
    }
}

/// Prints degrees, exactly.
impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0, 3, "deg")
    }
}
