//! Speeds, in whole micrometres per hour, which keeps both km/h and m/s exact.

use std::fmt;
use std::str::FromStr;

use crate::parse::{Quantity, Unit, UnitError, parse_unsigned, unit, write_decimal};

/// Micrometres per hour in one metre per second.
const UM_PER_H_AT_1_M_PER_S: u64 = 3_600_000_000;

/// A speed, in whole micrometres per hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(u64);

impl Speed {
    /// `um_per_h` micrometres per hour.
    pub const fn from_um_per_h(um_per_h: u64) -> Self {
        Self(um_per_h)
    }

    /// Micrometres per hour.
    pub const fn as_um_per_h(self) -> u64 {
        self.0
    }

    /// Metres per second.
    pub fn as_m_per_s_f64(self) -> f64 {
        self.0 as f64 / UM_PER_H_AT_1_M_PER_S as f64
    }
}

pub(crate) const UNITS: &[Unit] = &[
    unit("km/h", 1_000_000_000),
    unit("m/s", UM_PER_H_AT_1_M_PER_S as u128),
    unit("m/h", 1_000_000),
    unit("mph", 1_609_344_000),
    unit("um/h", 1),
];

/// Reads "60 km/h", exactly.
impl FromStr for Speed {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::Speed;
        let um_per_h = parse_unsigned(text, quantity, UNITS)?;
        i64::try_from(um_per_h).map_err(|_| UnitError::Overflow { quantity })?;
        Ok(Self(um_per_h))
    }
}

/// Prints km/h, exactly.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0 as i64, 9, "km/h")
    }
}
