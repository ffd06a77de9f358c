//! The units of each quantity by name.

use crate::parse::Quantity;
use crate::{angle, data, length, radio, speed, time};

impl Quantity {
    /// The names of all units that can be written.
    pub fn units(self) -> impl Iterator<Item = &'static str> {
        let units = match self {
            Self::Duration => time::UNITS,
            Self::Rate => data::RATE_UNITS,
            Self::Bytes => data::SIZE_UNITS,
            Self::Length => length::UNITS,
            Self::Frequency => radio::FREQUENCY_UNITS,
            Self::Power => radio::POWER_UNITS,
            Self::Decibels => radio::RATIO_UNITS,
            Self::Angle => angle::UNITS,
            Self::Speed => speed::UNITS,
        };
        units.iter().map(|unit| unit.name)
    }

    /// Whether it can be below zero.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Self::Length | Self::Power | Self::Decibels | Self::Angle
        )
    }
}
