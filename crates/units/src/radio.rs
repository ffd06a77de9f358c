//! Frequencies, power levels and ratios of powers.

use std::fmt;
use std::str::FromStr;

use crate::parse::{
    Quantity, Unit, UnitError, parse_signed, parse_unsigned, unit, write_decimal, write_largest,
};

/// A frequency, in whole hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frequency(u64);

/// A power level relative to one milliwatt, in thousandths of a decibel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Power(i64);

/// A ratio of two powers, in thousandths of a decibel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decibels(i64);

impl Frequency {
    /// `hz` hertz.
    pub const fn from_hz(hz: u64) -> Self {
        Self(hz)
    }

    /// Hertz.
    pub const fn as_hz(self) -> u64 {
        self.0
    }
}

impl Power {
    /// `mdbm` thousandths of a dBm.
    pub const fn from_mdbm(mdbm: i64) -> Self {
        Self(mdbm)
    }

    /// Thousandths of a dBm.
    pub const fn as_mdbm(self) -> i64 {
        self.0
    }

    /// dBm.
    pub fn as_dbm_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Decibels {
    /// `mdb` thousandths of a dB.
    pub const fn from_mdb(mdb: i64) -> Self {
        Self(mdb)
    }

    /// Thousandths of a dB.
    pub const fn as_mdb(self) -> i64 {
        self.0
    }

    /// dB.
    pub fn as_db_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

pub(crate) const FREQUENCY_UNITS: &[Unit] = &[
    unit("Hz", 1),
    unit("kHz", 1_000),
    unit("MHz", 1_000_000),
    unit("GHz", 1_000_000_000),
    unit("THz", 1_000_000_000_000),
];

// A level in watts has no exact logarithm, so it is refused.
pub(crate) const POWER_UNITS: &[Unit] = &[unit("dBm", 1_000)];
pub(crate) const RATIO_UNITS: &[Unit] = &[unit("dB", 1_000)];

/// Reads "2.6 GHz", exactly.
impl FromStr for Frequency {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_unsigned(text, Quantity::Frequency, FREQUENCY_UNITS).map(Self)
    }
}

/// Prints a whole number of the largest unit that divides the frequency.
impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTED: &[(&str, u64)] = &[
            ("THz", 1_000_000_000_000),
            ("GHz", 1_000_000_000),
            ("MHz", 1_000_000),
            ("kHz", 1_000),
            ("Hz", 1),
        ];
        write_largest(f, self.0, PRINTED, "Hz")
    }
}

/// Reads "-174 dBm", exactly.
impl FromStr for Power {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::Power;
        let mdbm = parse_signed(text, quantity, POWER_UNITS)?;
        i64::try_from(mdbm)
            .map(Self)
            .map_err(|_| UnitError::Overflow { quantity })
    }
}

/// Prints dBm, exactly.
impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0, 3, "dBm")
    }
}

/// Reads "9 dB", exactly.
impl FromStr for Decibels {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::Decibels;
        let mdb = parse_signed(text, quantity, RATIO_UNITS)?;
        i64::try_from(mdb)
            .map(Self)
            .map_err(|_| UnitError::Overflow { quantity })
    }
}

/// Prints dB, exactly.
impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0, 3, "dB")
    }
}
