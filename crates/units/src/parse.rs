//! Reading a quantity from text, exactly.
//!
//! A quantity is a decimal number, optional spaces and a unit. The number is kept as integer
//! digits and a power of ten, so that the result is either exact or refused: there is no binary
//! fraction between the text and the stored integer.

use std::fmt;

/// The kind of quantity that was expected, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A span of time.
    Duration,
    /// A data rate.
    Rate,
    /// An amount of data.
    Bytes,
    /// A length.
    Length,
    /// A frequency.
    Frequency,
    /// A power level.
    Power,
    /// A ratio of powers.
    Decibels,
    /// An angle.
    Angle,
    /// A speed.
    Speed,
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnitError {
    /// There is a number but no unit.
    MissingUnit {
        /// What was expected.
        quantity: Quantity,
        /// The number as written.
        number: String,
    },
    /// The unit is not one of this quantity.
    UnknownUnit {
        /// What was expected.
        quantity: Quantity,
        /// The number as written.
        number: String,
        /// The unit as written.
        unit: String,
        /// The known unit that is spelled most like it.
        nearest: Option<&'static str>,
    },
    /// The text does not begin with a number.
    NotANumber {
        /// What was expected.
        quantity: Quantity,
    },
    /// The quantity cannot be below zero.
    Negative {
        /// What was expected.
        quantity: Quantity,
    },
    /// The quantity is too large to be stored.
    Overflow {
        /// What was expected.
        quantity: Quantity,
    },
    /// The quantity is not a whole number of the smallest unit stored.
    Lossy {
        /// What was expected.
        quantity: Quantity,
    },
}

/// A unit as a ratio to the stored base unit.
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) factor: u128,
    pub(crate) divisor: u128,
}

/// A shorthand for unit tables: `factor` base units.
pub(crate) const fn unit(name: &'static str, factor: u128) -> Unit {
    Unit {
        name,
        factor,
        divisor: 1,
    }
}

impl Quantity {
    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duration => "time",
            Self::Rate => "rate",
            Self::Bytes => "size",
            Self::Length => "length",
            Self::Frequency => "frequency",
            Self::Power => "power",
            Self::Decibels => "ratio",
            Self::Angle => "angle",
            Self::Speed => "speed",
        }
    }

    /// The most common units, the most common first.
    pub const fn usual_units(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Duration => ("ms", Some("s")),
            Self::Rate => ("Mbit/s", Some("kbit/s")),
            Self::Bytes => ("MB", Some("kB")),
            Self::Length => ("m", Some("km")),
            Self::Frequency => ("MHz", Some("GHz")),
            Self::Power => ("dBm", None),
            Self::Decibels => ("dB", None),
            Self::Angle => ("deg", None),
            Self::Speed => ("km/h", Some("m/s")),
        }
    }

    /// The smallest amount that can be stored.
    pub const fn resolution(self) -> &'static str {
        match self {
            Self::Duration => "1 ps",
            Self::Rate => "1 bit/s",
            Self::Bytes => "1 B",
            Self::Length => "1 um",
            Self::Frequency => "1 Hz",
            Self::Power => "0.001 dBm",
            Self::Decibels => "0.001 dB",
            Self::Angle => "0.001 deg",
            Self::Speed => "1 um/h",
        }
    }

    /// What to write for a bare `number`: `write "500 Mbit/s" (or "500 kbit/s")`.
    pub fn suggestion(self, number: &str) -> String {
        match self.usual_units() {
            (first, Some(second)) => {
                format!("write \"{number} {first}\" (or \"{number} {second}\")")
            }
            (first, None) => format!("write \"{number} {first}\""),
        }
    }
}

impl UnitError {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::UnknownUnit {
                number,
                nearest: Some(nearest),
                ..
            } => {
                format!("write \"{number} {nearest}\"")
            }
            Self::MissingUnit { quantity, number }
            | Self::UnknownUnit {
                quantity,
                number,
                nearest: None,
                ..
            } => quantity.suggestion(number),
            Self::NotANumber { quantity } => {
                let (first, _) = quantity.usual_units();
                format!("write a number and a unit, such as \"10 {first}\"")
            }
            Self::Negative { .. } => "write a value of zero or more".to_owned(),
            Self::Overflow { .. } => "write a smaller value".to_owned(),
            Self::Lossy { quantity } => {
                format!("write a whole multiple of {}", quantity.resolution())
            }
        }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingUnit { .. } => write!(f, "needs a unit"),
            Self::UnknownUnit { quantity, unit, .. } => {
                write!(f, "\"{unit}\" is not a unit of {}", quantity.name())
            }
            Self::NotANumber { quantity } => {
                write!(
                    f,
                    "is not a {}: it does not begin with a number",
                    quantity.name()
                )
            }
            Self::Negative { .. } => write!(f, "is negative"),
            Self::Overflow { .. } => write!(f, "is too large"),
            Self::Lossy { quantity } => {
                write!(
                    f,
                    "is finer than {}, the finest kept",
                    quantity.resolution()
                )
            }
        }
    }
}

impl std::error::Error for UnitError {}

/// A decimal number: `digits · 10^exponent`.
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

/// Splits `text` into its number and the rest; `None` if it does not begin with a number.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let digits_from = |start: usize| {
        bytes[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
            + start
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut end = digits_from(sign);
    let mut any = end > sign;
    if bytes.get(end) == Some(&b'.') {
        let fraction_end = digits_from(end + 1);
        any |= fraction_end > end + 1;
        end = fraction_end;
    }
    if !any {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent_end = digits_from(end + 1 + sign);
        if exponent_end > end + 1 + sign {
            end = exponent_end;
        }
    }
    Some(text.split_at(end))
}

/// Reads the number; `None` if it has more digits than an exact product could use.
fn decimal(number: &str) -> Option<Decimal> {
    let negative = number.starts_with('-');
    let unsigned = number.trim_start_matches(['+', '-']);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut digits: u128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        digits = digits
            .checked_mul(10)?
            .checked_add(u128::from(byte - b'0'))?;
    }
    let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    Some(Decimal {
        negative,
        digits,
        exponent,
    })
}

/// Reads `text` as a whole number of base units, positive or negative.
pub(crate) fn parse_signed(
    text: &str,
    quantity: Quantity,
    units: &'static [Unit],
) -> Result<i128, UnitError> {
    let text = text.trim();
    let Some((number, rest)) = split_number(text) else {
        return Err(UnitError::NotANumber { quantity });
    };
    let name = rest.trim_start();
    if name.is_empty() {
        return Err(UnitError::MissingUnit {
            quantity,
            number: number.to_owned(),
        });
    }
    let Some(unit) = units.iter().find(|unit| unit.name == name) else {
        return Err(UnitError::UnknownUnit {
            quantity,
            number: number.to_owned(),
            unit: name.to_owned(),
            nearest: nearest(name, units),
        });
    };
    let overflow = || UnitError::Overflow { quantity };
    let decimal = decimal(number).ok_or_else(overflow)?;
    if decimal.digits == 0 {
        return Ok(0);
    }
    let mut numerator = decimal
        .digits
        .checked_mul(unit.factor)
        .ok_or_else(overflow)?;
    let mut divisor = unit.divisor;
    if decimal.exponent > 0 {
        let scale = 10_u128
            .checked_pow(decimal.exponent.unsigned_abs())
            .ok_or_else(overflow)?;
        numerator = numerator.checked_mul(scale).ok_or_else(overflow)?;
    } else {
        // Cancelling tens first keeps the divisor in range for every exact quantity.
        let mut tens = decimal.exponent.unsigned_abs();
        while tens > 0 && numerator % 10 == 0 {
            numerator /= 10;
            tens -= 1;
        }
        divisor = 10_u128
            .checked_pow(tens)
            .and_then(|scale| divisor.checked_mul(scale))
            .ok_or(UnitError::Lossy { quantity })?;
    }
    if !numerator.is_multiple_of(divisor) {
        return Err(UnitError::Lossy { quantity });
    }
    let magnitude = i128::try_from(numerator / divisor).map_err(|_| overflow())?;
    Ok(if decimal.negative {
        -magnitude
    } else {
        magnitude
    })
}

/// Reads `text` as a whole number of base units, zero or more.
pub(crate) fn parse_unsigned(
    text: &str,
    quantity: Quantity,
    units: &'static [Unit],
) -> Result<u64, UnitError> {
    let value = parse_signed(text, quantity, units)?;
    if value < 0 {
        return Err(UnitError::Negative { quantity });
    }
    u64::try_from(value).map_err(|_| UnitError::Overflow { quantity })
}

/// The known unit spelled most like `name`: one with few edits regardless of case, else the
/// longest one that `name` begins with ("sec", "metres").
fn nearest(name: &str, units: &'static [Unit]) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let edits = |unit: &Unit| {
        // Transpositions matter little in words this short, so the cheaper distance suffices;
        // the length is bounded because the text is arbitrary.
        let bounded: String = lower.chars().take(20).collect();
        strsim::levenshtein(&bounded, &unit.name.to_lowercase())
    };
    units
        .iter()
        .map(|unit| (edits(unit), unit.name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, nearest)| *distance <= nearest.len() / 3)
        .map(|(_, nearest)| nearest)
        .or_else(|| {
            units
                .iter()
                .map(|unit| unit.name)
                .filter(|unit| lower.starts_with(&unit.to_lowercase()))
                .max_by_key(|unit| unit.len())
        })
}

/// Prints `value` in the largest of `units` (ordered from large to small, the last one is the
/// base) that divides it.
pub(crate) fn write_largest(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(&str, u64)],
    zero: &str,
) -> fmt::Result {
    if value == 0 {
        return f.pad(&format!("0 {zero}"));
    }
    let (name, factor) = units
        .iter()
        .find(|(_, factor)| value.is_multiple_of(*factor))
        .unwrap_or(&("", 1));
    f.pad(&format!("{} {name}", value / factor))
}

/// Prints `value / 10^decimals` without trailing zeros, then the unit.
pub(crate) fn write_decimal(
    f: &mut fmt::Formatter<'_>,
    value: i64,
    decimals: u32,
    name: &str,
) -> fmt::Result {
    let scale = 10_u64.pow(decimals);
    let magnitude = value.unsigned_abs();
    let sign = if value < 0 { "-" } else { "" };
    let fraction = format!("{:0width$}", magnitude % scale, width = decimals as usize);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    f.pad(&format!(
        "{sign}{}{point}{fraction} {name}",
        magnitude / scale
    ))
}
