//! Short phrases of the file that are more than a quantity: start times and queue limits.

use std::fmt;
use std::str::FromStr;

use backlane_param::BufferLimit;
use backlane_units::{Bytes, Duration, Rate, UnitError};

use crate::model::{Law, QueueLimit, Start};

/// Picoseconds in a second times bits in a byte.
const PS_BITS: u128 = 8_000_000_000_000;

/// A queue limit as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Thousandths of the bandwidth-delay product of the link.
    Bdp {
        thousandths: u64,
    },
    Bytes(Bytes),
    Packets(u64),
}

/// Reads "1 bdp", "500 kB" or "340 packets"; the error is a sentence about it.
pub(crate) fn limit(text: &str) -> Result<Limit, PhraseError> {
    let text = text.trim();
    let word =
        text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | ' '));
    let number = text[..text.len() - word.len()].trim();
    match word {
        "bdp" => bdp_thousandths(number)
            .map(|thousandths| Limit::Bdp { thousandths })
            .ok_or(PhraseError::Shape),
        "packets" | "packet" | "pkts" => match number.parse::<u64>() {
            Ok(packets) if packets <= 1_000_000_000_000 => Ok(Limit::Packets(packets)),
            _ => Err(PhraseError::Shape),
        },
        _ => text.parse().map(Limit::Bytes).map_err(PhraseError::Unit),
    }
}

/// A decimal with up to three decimals, at most a million, in thousandths.
fn bdp_thousandths(number: &str) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 3 {
        return None;
    }
    let digits = |text: &str| {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("0{text}").parse::<u64>().ok()
        } else {
            None
        }
    };
    let thousandths = digits(whole)?.checked_mul(1000)? + digits(&format!("{fraction:0<3}"))?;
    (thousandths <= 1_000_000_000).then_some(thousandths)
}

impl Limit {
    /// The limit on a link of this rate and delay. The bandwidth-delay product is
    /// rate × 2 · delay, rounded down to the byte.
    pub(crate) fn on(self, rate: Rate, delay: Duration) -> QueueLimit {
        match self {
            Self::Bytes(bytes) => QueueLimit::Bytes(bytes),
            Self::Packets(packets) => QueueLimit::Packets(packets),
            Self::Bdp { thousandths } => {
                let bits_ps =
                    u128::from(rate.as_bps()).saturating_mul(2 * u128::from(delay.as_ps()));
                let bytes = bits_ps.saturating_mul(u128::from(thousandths)) / (1000 * PS_BITS);
                QueueLimit::Bytes(Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX)))
            }
        }
    }

    /// Whether it holds nothing on any link.
    pub(crate) fn is_zero(self) -> bool {
        matches!(self, Self::Bdp { thousandths: 0 } | Self::Packets(0))
            || self == Self::Bytes(Bytes::new(0))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bdp { thousandths } => {
                let fraction = format!("{:03}", thousandths % 1000);
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                write!(f, "{}{point}{fraction} bdp", thousandths / 1000)
            }
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

impl From<QueueLimit> for Limit {
    fn from(limit: QueueLimit) -> Self {
        match limit {
            QueueLimit::Bytes(bytes) => Self::Bytes(bytes),
            QueueLimit::Packets(packets) => Self::Packets(packets),
        }
    }
}

/// Reads "750 packets", "375 kB" or "100 ms".
pub(crate) fn buffer(text: &str) -> Option<BufferLimit> {
    if let Ok(time) = text.parse() {
        return Some(BufferLimit::Time(time));
    }
    match limit(text).ok()? {
        Limit::Packets(packets) => u32::try_from(packets).ok().map(BufferLimit::Packets),
        Limit::Bytes(bytes) => Some(BufferLimit::Bytes(bytes)),
        Limit::Bdp { .. } => None,
    }
}

/// Whether a buffer holds nothing.
pub(crate) fn is_zero(limit: BufferLimit) -> bool {
    match limit {
        BufferLimit::Packets(packets) => packets == 0,
        BufferLimit::Bytes(bytes) => bytes == Bytes::new(0),
        BufferLimit::Time(time) => time == Duration::ZERO,
    }
}

/// Why a phrase cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PhraseError {
    /// It is not of a known shape.
    Shape,
    /// A quantity in it cannot be read.
    Unit(UnitError),
}

/// Reads "staggered", "4 s", "uniform 0 s 5 s", "every 50 ms from 4 s" or, with a drawn time between
/// two starts, "every uniform 0 s 100 ms from 4 s".
pub(crate) fn start(text: &str) -> Result<Start, PhraseError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.split_first() {
        // "paper" is an earlier spelling.
        Some((&("staggered" | "paper"), [])) => Ok(Start::Staggered),
        Some((&"uniform", rest)) => {
            let (first, last) = ascending(rest)?;
            Ok(Start::Uniform(first, last))
        }
        Some((&"every", rest)) => {
            let from = rest
                .iter()
                .position(|word| *word == "from")
                .ok_or(PhraseError::Shape)?;
            let gap = law(&rest[..from].join(" "))?;
            let first = one(&rest[from + 1..].join(" "))?;
            Ok(Start::Every { first, gap })
        }
        Some((word, _)) if word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            one(&words.join(" ")).map(Start::At)
        }
        _ => Err(PhraseError::Shape),
    }
}

/// Whether `text` begins with a word that says how a value is drawn.
pub(crate) fn is_drawn(text: &str) -> bool {
    matches!(
        text.split_whitespace().next(),
        Some("uniform" | "exponential")
    )
}

/// Reads "100 ms", "uniform 0 s 5 s" or "exponential 2 s", or the same with sizes.
pub(crate) fn law<T>(text: &str) -> Result<Law<T>, PhraseError>
where
    T: FromStr<Err = UnitError> + PartialOrd,
{
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.split_first() {
        Some((&"uniform", rest)) => ascending(rest).map(|(low, high)| Law::Uniform(low, high)),
        Some((&"exponential", rest)) => one(&rest.join(" ")).map(Law::Exponential),
        _ => one(&words.join(" ")).map(Law::Fixed),
    }
}

/// Prints what [`law`] reads.
pub(crate) fn law_text<T: fmt::Display>(law: &Law<T>) -> String {
    match law {
        Law::Fixed(value) => value.to_string(),
        Law::Uniform(low, high) => format!("uniform {low} {high}"),
        Law::Exponential(mean) => format!("exponential {mean}"),
    }
}

fn one<T: FromStr<Err = UnitError>>(text: &str) -> Result<T, PhraseError> {
    text.parse().map_err(PhraseError::Unit)
}

/// Two quantities, the second not below the first, each with or without a space before its unit.
fn ascending<T>(words: &[&str]) -> Result<(T, T), PhraseError>
where
    T: FromStr<Err = UnitError> + PartialOrd,
{
    let mut error = PhraseError::Shape;
    for at in 1..words.len().min(4) {
        match (one(&words[..at].join(" ")), one(&words[at..].join(" "))) {
            (Ok(low), Ok(high)) if low <= high => return Ok((low, high)),
            (Ok(_), Ok(_)) => return Err(PhraseError::Shape),
            (Err(unit), Ok(_)) | (Ok(_), Err(unit)) => error = unit,
            _ => {}
        }
    }
    Err(error)
}

/// Prints what [`start`] reads.
pub(crate) fn start_text(start: Start) -> String {
    match start {
        Start::Staggered => "staggered".to_owned(),
        Start::At(time) => time.to_string(),
        Start::Uniform(first, last) => format!("uniform {first} {last}"),
        Start::Every { first, gap } => format!("every {} from {first}", law_text(&gap)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_link_of_the_paper_has_a_bdp_of_500_kb() {
        let rate = Rate::from_bps(500_000_000);
        let limit = limit("1 bdp").unwrap().on(rate, Duration::from_millis(4));
        assert_eq!(limit, QueueLimit::Bytes(Bytes::new(500_000)));
    }

    #[test]
    fn queue_limits_print_as_they_are_read() {
        for text in ["1 bdp", "0.5 bdp", "1.125 bdp", "500 kB", "340 packets"] {
            assert_eq!(limit(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "large",
            "1.2345 bdp",
            "-1 bdp",
            "1.5 packets",
            ". bdp",
            "bdp",
        ] {
            assert!(limit(text).is_err(), "{text}");
        }
    }

    #[test]
    fn starts_print_as_they_are_read() {
        for text in [
            "staggered",
            "4 s",
            "uniform 0 s 5 s",
            "every 50 ms from 4 s",
            "every uniform 0 s 100 ms from 4 s",
            "every exponential 50 ms from 4 s",
        ] {
            assert_eq!(start_text(start(text).unwrap()), text);
        }
        assert_eq!(start("uniform 0s 5s"), start("uniform 0 s 5 s"));
        for text in [
            "",
            "soon",
            "uniform 5 s 0 s",
            "uniform 5 s",
            "every 4 s",
            "4",
            "every from",
            "every uniform 50 ms from 4 s",
        ] {
            assert!(start(text).is_err(), "{text}");
        }
    }

    #[test]
    fn laws_print_as_they_are_read() {
        for text in ["500 kB", "uniform 50 kB 500 kB", "exponential 500 kB"] {
            assert_eq!(law_text(&law::<Bytes>(text).unwrap()), text);
        }
        assert_eq!(
            law::<Duration>("uniform 0s 100 ms"),
            law("uniform 0 s 0.1 s")
        );
        for text in [
            "",
            "uniform",
            "uniform 5 s",
            "uniform 5 s 0 s",
            "exponential",
            "normal 5 s",
        ] {
            assert!(law::<Duration>(text).is_err(), "{text}");
        }
    }
}
