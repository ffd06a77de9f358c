//! Parameters that must lie in a range.

use std::fmt;

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// The control and the parameter, as `control.parameter`.
    pub parameter: &'static str,
    /// The value given.
    pub value: f64,
    /// The smallest value that is allowed.
    pub min: f64,
    /// The largest value that is allowed.
    pub max: f64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} = {} is outside {} to {}",
            self.parameter, self.value, self.min, self.max
        )
    }
}

impl std::error::Error for OutOfRange {}

pub(super) fn check(
    parameter: &'static str,
    value: u32,
    (min, max): (u32, u32),
) -> Result<(), OutOfRange> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(OutOfRange {
        parameter,
        value: f64::from(value),
        min: f64::from(min),
        max: f64::from(max),
    })
}
