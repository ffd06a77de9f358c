//! Single values: types, ranges, words, and patterns of texts with units.

use backlane_units::Quantity;
use serde_json::{Value, json};

use crate::spec::Kind;

/// A decimal number, as quantities begin with it.
const NUMBER: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?";
/// Zero, before which a minus sign changes nothing.
const ZERO: &str = r"[0.]+([eE][+-]?[0-9]+)?";

/// A number and a unit.
fn amount(quantity: Quantity) -> String {
    let units: Vec<_> = quantity.units().collect();
    let number = if quantity.is_signed() {
        format!("[+-]?{NUMBER}")
    } else {
        format!(r"(\+?{NUMBER}|-{ZERO})")
    };
    format!(r"{number}\s*({})", units.join("|"))
}

/// A text that consists of this.
fn text(pattern: &str, examples: &[&str]) -> Value {
    let pattern = format!(r"^\s*({pattern})\s*$");
    json!({ "type": "string", "pattern": pattern, "examples": examples })
}

fn quantity(quantity: Quantity, example: &str) -> Value {
    text(&amount(quantity), &[example])
}

/// A number of packets; a number of bandwidth-delay products, if these are taken.
fn count(with_bdp: bool) -> String {
    let words = if with_bdp { "bdp|" } else { "" };
    format!(r"[+0-9. -]*({words}packets|packet|pkts)")
}

/// A law by which a quantity is drawn, or the quantity.
fn law(amount: &str) -> String {
    format!(r"{amount}|uniform\s+{amount}\s+{amount}|exponential\s+{amount}")
}

/// The limit of a queue.
pub(super) fn queue() -> Value {
    let pattern = format!("{}|{}", count(true), amount(Quantity::Bytes));
    text(&pattern, &["1 bdp", "500 kB", "340 packets"])
}

/// The values of a kind that is no section.
pub(super) fn kind(kind: &Kind) -> Value {
    match kind {
        Kind::Text | Kind::Content => json!({ "type": "string", "minLength": 1 }),
        Kind::Id => json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Duration { .. } => quantity(Quantity::Duration, "4 ms"),
        Kind::Rate => quantity(Quantity::Rate, "500 Mbit/s"),
        Kind::Bytes { .. } => quantity(Quantity::Bytes, "10 MB"),
        Kind::Length { .. } => quantity(Quantity::Length, "200 m"),
        Kind::Milliseconds { .. } => quantity(Quantity::Duration, "8 ms"),
        Kind::Power { .. } => quantity(Quantity::Power, "30 dBm"),
        Kind::Decibels { .. } => quantity(Quantity::Decibels, "3 dB"),
        Kind::Frequency { .. } => quantity(Quantity::Frequency, "2.6 GHz"),
        Kind::Speed => quantity(Quantity::Speed, "60 km/h"),
        Kind::Angle => quantity(Quantity::Angle, "45 deg"),
        Kind::Choice(integers) => json!({ "enum": integers }),
        Kind::Buffer => {
            let (size, time) = (amount(Quantity::Bytes), amount(Quantity::Duration));
            text(
                &format!("{}|{size}|{time}", count(false)),
                &["750 packets", "375 kB", "100 ms"],
            )
        }
        Kind::Words { words, aliases } => {
            let aliases = aliases.iter().map(|(alias, _)| *alias);
            let all: Vec<&str> = words.iter().copied().chain(aliases).collect();
            json!({ "enum": all })
        }
        Kind::CongestionControl { words, .. } => json!({ "anyOf": [
            { "enum": words },
            { "type": "string", "pattern": r"^python:.+:[^\W\d]\w*$" },
        ] }),
        Kind::PythonClass => json!({ "type": "string", "pattern": r"^.+:[^\W\d]\w*$" }),
        Kind::Settings => json!({
            "type": "object",
            "propertyNames": { "pattern": r"^[^\W\d]\w*$" },
            "additionalProperties": { "type": ["number", "string", "boolean"] },
        }),
        Kind::OrWord(word, inner) => json!({ "anyOf": [{ "const": word }, self::kind(inner)] }),
        Kind::Drawn(inner @ Kind::Bytes { .. }) => {
            let examples = ["10 MB", "uniform 50 kB 500 kB", "exponential 500 kB"];
            drawn(inner, Quantity::Bytes, &examples)
        }
        Kind::Drawn(inner) => {
            let examples = ["4 ms", "uniform 0 s 100 ms", "exponential 50 ms"];
            drawn(inner, Quantity::Duration, &examples)
        }
        Kind::Start => {
            let time = amount(Quantity::Duration);
            let pattern = format!(
                r"staggered|paper|{time}|uniform\s+{time}\s+{time}|every\s+({})\s+from\s+{time}",
                law(&time)
            );
            text(
                &pattern,
                &[
                    "staggered",
                    "4 s",
                    "uniform 0 s 5 s",
                    "every 50 ms from 4 s",
                    "every exponential 50 ms from 4 s",
                ],
            )
        }
        Kind::List(inner) => json!({ "type": "array", "items": self::kind(inner) }),
        Kind::OneOrMany(inner) => {
            let inner = self::kind(inner);
            json!({ "anyOf": [inner, { "type": "array", "items": inner, "minItems": 1 }] })
        }
        Kind::Map(inner) => {
            json!({ "type": "object", "additionalProperties": self::kind(inner) })
        }
        // Sections and the sweep are described elsewhere.
        Kind::Queue(_) | Kind::Table(_) | Kind::TableOrTag(_) | Kind::Tables(_) | Kind::Sweep => {
            json!({})
        }
    }
}

fn drawn(inner: &Kind, quantity: Quantity, examples: &[&str]) -> Value {
    match inner {
        Kind::Bytes { .. } | Kind::Duration { .. } => text(&law(&amount(quantity)), examples),
        other => kind(other),
    }
}
