//! Single values of the file: names, numbers, quantities, start times and queues, each checked and
//! brought into its one canonical text.

use std::fmt::Display;
use std::str::FromStr;

use backlane_units::{Bytes, Duration, Length, Quantity, UnitError};

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{Law, Start};
use crate::phrases::{self, PhraseError};
use crate::problems::Problems;
use crate::shown::{is_unprintable, short};
use crate::spec::{Kind, tables};
use crate::tree::{Item, Table, Value};

/// The farthest a coordinate may be from the origin, in micrometres: 100 000 km.
pub(crate) const FARTHEST_UM: i64 = 100_000_000_000_000;

/// Whether `name` can be a node's name.
pub(crate) fn is_id(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Reports a value of another type than its key takes.
pub(crate) fn wrong_type(item: &Item, noun: &str, describe: &str, problems: &mut Problems) {
    let message = format!("{noun} is {}", item.value.type_name());
    problems.error(
        Code::WrongType,
        item.span,
        message,
        format!("write {describe}"),
    );
}

/// Whether a text holds nothing that a screen would obey instead of show; a problem if it does.
pub(crate) fn is_printable(
    text: &str,
    code: Code,
    noun: &str,
    span: Span,
    problems: &mut Problems,
) -> bool {
    let Some(control) = text.chars().find(|c| is_unprintable(*c)) else {
        return true;
    };
    let message = format!(
        "{noun} holds the control character {}",
        control.escape_unicode()
    );
    let label = "write it without: it becomes part of names, tables and figures";
    problems.error(code, span, message, label);
    false
}

pub(crate) fn id(item: &Item, noun: &str, problems: &mut Problems) -> Option<String> {
    let Some(name) = item.as_text() else {
        wrong_type(item, noun, "a name in quotes", problems);
        return None;
    };
    if is_id(name) {
        return Some(name.to_owned());
    }
    problems.error(
        Code::BadName,
        item.span,
        format!("\"{}\" cannot be a name", short(name)),
        "use 1 to 64 letters, digits, '-', '_' and '.'",
    );
    None
}

pub(crate) fn integer(
    item: &Item,
    min: i64,
    max: i64,
    noun: &str,
    describe: &str,
    problems: &mut Problems,
) -> Option<Item> {
    let Value::Integer(value) = item.value else {
        wrong_type(item, noun, describe, problems);
        return None;
    };
    if (min..=max).contains(&value) {
        return Some(item.clone());
    }
    let (code, message) = match value {
        0 => (Code::Zero, format!("{noun} is zero")),
        _ if value < 0 && min >= 0 => (Code::Negative, format!("{noun} is negative")),
        _ => (Code::Range, format!("{noun} is out of range")),
    };
    problems.error(code, item.span, message, format!("write {describe}"));
    None
}

pub(crate) fn number(
    item: &Item,
    min: f64,
    max: f64,
    noun: &str,
    describe: &str,
    problems: &mut Problems,
) -> Option<Item> {
    let value = match item.value {
        Value::Integer(value) => value as f64,
        Value::Number(value) => value,
        _ => {
            wrong_type(item, noun, describe, problems);
            return None;
        }
    };
    if (min..=max).contains(&value) {
        // Minus zero would print differently from zero and mean the same.
        return Some(Item {
            value: Value::Number(value + 0.0),
            span: item.span,
        });
    }
    let code = if value < 0.0 {
        Code::Negative
    } else {
        Code::Range
    };
    problems.error(
        code,
        item.span,
        format!("{noun} is out of range"),
        format!("write {describe}"),
    );
    None
}

/// Reads a quantity, and says what is wrong with it.
pub(crate) fn quantity<T: FromStr<Err = UnitError>>(
    item: &Item,
    quantity: Quantity,
    noun: &str,
    problems: &mut Problems,
) -> Option<T> {
    let number = match &item.value {
        Value::Text(text) => match text.parse() {
            Ok(value) => return Some(value),
            Err(error) => {
                unit_error(&error, noun, item.span, problems);
                return None;
            }
        },
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        _ => {
            let (unit, _) = quantity.usual_units();
            wrong_type(
                item,
                noun,
                &format!("a {} such as \"10 {unit}\"", quantity.name()),
                problems,
            );
            return None;
        }
    };
    let error = UnitError::MissingUnit { quantity, number };
    unit_error(&error, noun, item.span, problems);
    None
}

fn unit_error(error: &UnitError, noun: &str, span: Span, problems: &mut Problems) {
    let code = match error {
        UnitError::MissingUnit { .. } => Code::MissingUnit,
        UnitError::UnknownUnit { .. } => Code::UnknownUnit,
        UnitError::Negative { .. } => Code::Negative,
        UnitError::Overflow { .. } => Code::Range,
        UnitError::Lossy { .. } => Code::Lossy,
        _ => Code::NotAQuantity,
    };
    let message = match error {
        UnitError::UnknownUnit { unit, .. } => {
            format!(
                "{noun} has a unit that is not known here: \"{}\"",
                short(unit)
            )
        }
        _ => format!("{noun} {error}"),
    };
    problems.error(code, span, message, error.help());
}

pub(crate) fn in_range<T: Display>(
    value: u64,
    min: u64,
    max: u64,
    quantity: impl Fn(u64) -> T,
    noun: &str,
    span: Span,
    problems: &mut Problems,
) -> Option<()> {
    if (min..=max).contains(&value) {
        return Some(());
    }
    if value == 0 {
        problems.error(
            Code::Zero,
            span,
            format!("{noun} is zero"),
            "write a value above zero",
        );
    } else if value < min {
        problems.error(
            Code::Range,
            span,
            format!("{noun} is too small"),
            format!("write at least \"{}\"", quantity(min)),
        );
    } else {
        problems.error(
            Code::Range,
            span,
            format!("{noun} is too large"),
            format!("write at most \"{}\"", quantity(max)),
        );
    }
    None
}

pub(crate) fn length_in_range(
    length: Length,
    min_um: i64,
    noun: &str,
    span: Span,
    problems: &mut Problems,
) -> Option<()> {
    let um = length.as_um();
    if um >= min_um && (-FARTHEST_UM..=FARTHEST_UM).contains(&um) {
        return Some(());
    }
    let (code, what, label) = if um == 0 {
        (Code::Zero, "is zero", "write a value above zero")
    } else if um < 0 && min_um >= 0 {
        (
            Code::Negative,
            "is negative",
            "write a value of zero or more",
        )
    } else {
        (Code::Range, "is out of range", "write at most 100 000 km")
    };
    problems.error(code, span, format!("{noun} {what}"), label);
    None
}

/// Levels and angles, which may be below zero.
pub(crate) fn level_in_range<T: Display>(
    value: i64,
    min: i64,
    max: i64,
    quantity: impl Fn(i64) -> T,
    noun: &str,
    span: Span,
    problems: &mut Problems,
) -> Option<()> {
    if (min..=max).contains(&value) {
        return Some(());
    }
    let (what, label) = if value < min {
        ("small", format!("write at least \"{}\"", quantity(min)))
    } else {
        ("large", format!("write at most \"{}\"", quantity(max)))
    };
    problems.error(Code::Range, span, format!("{noun} is too {what}"), label);
    None
}

pub(crate) fn milliseconds(
    item: &Item,
    min: u32,
    max: u32,
    noun: &str,
    problems: &mut Problems,
) -> Option<Item> {
    let time: Duration = quantity(item, Quantity::Duration, noun, problems)?;
    let [min, max] = [min, max].map(|ms| Duration::from_millis(u64::from(ms)).as_ps());
    let from_ps = Duration::from_ps;
    in_range(time.as_ps(), min, max, from_ps, noun, item.span, problems)?;
    if !time
        .as_ps()
        .is_multiple_of(Duration::from_millis(1).as_ps())
    {
        let message = format!("{noun} is not a whole number of subframes");
        problems.error(Code::Lossy, item.span, message, "write whole milliseconds");
        return None;
    }
    Some(Item::text(time.to_string(), item.span))
}

/// What a buffer holds.
pub(crate) fn buffer(item: &Item, noun: &str, problems: &mut Problems) -> Option<String> {
    let Some(text) = item.as_text() else {
        wrong_type(item, noun, &Kind::Buffer.describe(), problems);
        return None;
    };
    let Some(limit) = phrases::buffer(text) else {
        let message = format!("{noun} cannot be read");
        let label = format!("write {}", Kind::Buffer.describe());
        problems.error(Code::BadQueue, item.span, message, label);
        return None;
    };
    if phrases::is_zero(limit) {
        let message = format!("{noun} is zero");
        problems.error(Code::Zero, item.span, message, "write a limit above zero");
        return None;
    }
    Some(limit.to_string())
}

fn phrase_error(
    error: &PhraseError,
    shape: Code,
    noun: &str,
    label: &str,
    span: Span,
    problems: &mut Problems,
) {
    match error {
        PhraseError::Shape => problems.error(shape, span, format!("{noun} cannot be read"), label),
        PhraseError::Unit(error) => unit_error(error, noun, span, problems),
    }
}

pub(crate) fn start(item: &Item, noun: &str, problems: &mut Problems) -> Option<String> {
    let text = match &item.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        _ => {
            wrong_type(item, noun, &Kind::Start.describe(), problems);
            return None;
        }
    };
    match phrases::start(&text) {
        Ok(start) => {
            let latest = match start {
                Start::Staggered => Duration::ZERO,
                Start::At(time) | Start::Uniform(_, time) => time,
                Start::Every { first, gap } => match gap {
                    Law::Fixed(gap) | Law::Uniform(_, gap) | Law::Exponential(gap) => {
                        first.max(gap)
                    }
                },
            };
            in_range(
                latest.as_ps(),
                0,
                tables::LONGEST_PS,
                Duration::from_ps,
                noun,
                item.span,
                problems,
            )?;
            Some(phrases::start_text(start))
        }
        Err(error) => {
            let label = format!("write {}", Kind::Start.describe());
            phrase_error(&error, Code::BadStart, noun, &label, item.span, problems);
            None
        }
    }
}

/// The law by which a quantity is drawn, in its canonical form.
pub(crate) fn drawn(
    item: &Item,
    kind: &'static Kind,
    noun: &str,
    problems: &mut Problems,
) -> Option<String> {
    match kind {
        Kind::Bytes { min, max } => law(item, kind, noun, problems, |low: &Bytes, high: &Bytes| {
            (low.get(), high.get(), *min, *max)
        }),
        Kind::Duration { min_ps, max_ps } => law(
            item,
            kind,
            noun,
            problems,
            |low: &Duration, high: &Duration| (low.as_ps(), high.as_ps(), *min_ps, *max_ps),
        ),
        _ => None,
    }
}

/// `range` gives the law's least and largest value, and their limits.
fn law<T>(
    item: &Item,
    kind: &'static Kind,
    noun: &str,
    problems: &mut Problems,
    range: impl Fn(&T, &T) -> (u64, u64, u64, u64),
) -> Option<String>
where
    T: FromStr<Err = UnitError> + PartialOrd + Display,
{
    let law = match phrases::law::<T>(item.as_text()?) {
        Ok(law) => law,
        Err(error) => {
            let label = format!("write {}", Kind::Drawn(kind).describe());
            phrase_error(&error, Code::BadLaw, noun, &label, item.span, problems);
            return None;
        }
    };
    let (low, high, min, max) = match &law {
        Law::Fixed(value) | Law::Exponential(value) => range(value, value),
        Law::Uniform(low, high) => range(low, high),
    };
    if low < min || high > max {
        let message = format!("{noun} is drawn from beyond its range");
        problems.error(
            Code::Range,
            item.span,
            message,
            format!("write {}", kind.describe()),
        );
        return None;
    }
    Some(phrases::law_text(&law))
}

/// How much a queue holds, or how much of it is too much.
fn queue_limit(item: &Item, noun: &str, problems: &mut Problems) -> Option<phrases::Limit> {
    match phrases::limit(item.as_text().unwrap_or_default()) {
        Ok(limit) => return Some(limit),
        Err(PhraseError::Unit(UnitError::NotANumber { .. }) | PhraseError::Shape) => {
            let message = format!("{noun} cannot be read");
            let label = "write \"1 bdp\", \"500 kB\" or \"340 packets\"";
            problems.error(Code::BadQueue, item.span, message, label);
        }
        Err(PhraseError::Unit(UnitError::MissingUnit { number, .. })) => {
            let message = format!("{noun} needs a unit");
            let label = format!("write \"{number} packets\" (or \"{number} kB\")");
            problems.error(Code::MissingUnit, item.span, message, label);
        }
        Err(PhraseError::Unit(error)) => unit_error(&error, noun, item.span, problems),
    }
    None
}

/// A checked queue: the limit alone where it is plain drop-tail, else the table. `span` is that
/// of the whole.
pub(crate) fn queue(table: Table, span: Span, problems: &mut Problems) -> Option<Item> {
    let limit_item = table.get("limit")?;
    let limit = queue_limit(limit_item, "queue limit", problems)?;
    if limit.is_zero() {
        problems.error(
            Code::Zero,
            limit_item.span,
            "queue limit is zero",
            "write a limit above zero",
        );
        return None;
    }
    let limit = Item::text(limit.to_string(), limit_item.span);
    let mark_above = match table.get("mark_above") {
        Some(threshold) => {
            let read = queue_limit(threshold, "marking threshold", problems)?;
            Some(Item::text(read.to_string(), threshold.span))
        }
        None => None,
    };
    if mark_above.is_none()
        && table.get("discipline").and_then(Item::as_text) == Some("drop-tail")
        && table.boolean("routing_first") != Some(true)
    {
        return Some(Item { span, ..limit });
    }
    let mut table = table;
    table.set("limit", span, limit);
    if let Some(threshold) = mark_above {
        table.set("mark_above", span, threshold);
    }
    Some(Item {
        value: Value::Table(table),
        span,
    })
}
