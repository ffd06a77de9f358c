//! Reads TOML into a tree.

use toml::de::{DeTable, DeValue};

use crate::aside::aside;
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::problems::Problems;
use crate::tree::{Entry, Item, Table, Value};

/// Deeper nesting than any scenario has; keeps recursion over the tree bounded.
const DEEPEST: usize = 32;

/// A text that takes longer to parse than an interrupt should wait.
const LONG_BYTES: usize = 1 << 20;

/// Reads a document; syntax errors are recorded, and what can be read is returned.
pub(crate) fn parse(text: &str, source: usize, problems: &mut Problems) -> Table {
    if text.len() < LONG_BYTES || !problems.is_watched() {
        return parse_at_once(text, source, problems);
    }
    let owned = text.to_owned();
    let parsed = aside(problems, move || {
        let mut found = Problems::default();
        let tree = parse_at_once(&owned, source, &mut found);
        (tree, found.has_errors())
    });
    match parsed {
        Some((tree, false)) => tree,
        // What is wrong is found again, and placed: such a text is seldom long.
        Some((_, true)) => parse_at_once(text, source, problems),
        None => Table::default(),
    }
}

fn parse_at_once(text: &str, source: usize, problems: &mut Problems) -> Table {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().lines().next().unwrap_or("").to_owned();
        problems.error(
            Code::Syntax,
            Span {
                source,
                start: span.start,
                end: span.end,
            },
            "the text is not valid TOML",
            message,
        );
    }
    convert_table(document.get_ref(), source, 0, problems)
}

/// Reads one value, as on a command line: as TOML if it is that, else as plain text.
pub(crate) fn parse_value(
    text: &str,
    source: usize,
    offset: usize,
    problems: &mut Problems,
) -> Item {
    let whole = Span {
        source,
        start: offset,
        end: offset + text.len(),
    };
    match DeValue::parse(text) {
        Ok(value) => {
            let mut item = convert(value.get_ref(), whole, source, 0, problems);
            shift(&mut item, whole);
            item
        }
        Err(_) => Item::text(text, whole),
    }
}

/// Gives every part of `item` the place of the whole.
fn shift(item: &mut Item, whole: Span) {
    item.span = whole;
    match &mut item.value {
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, whole)),
        Value::Table(table) => {
            for entry in &mut table.entries {
                entry.key_span = whole;
                shift(&mut entry.item, whole);
            }
        }
        _ => {}
    }
}

fn convert_table(
    table: &DeTable<'_>,
    source: usize,
    depth: usize,
    problems: &mut Problems,
) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| {
            let place = |span: std::ops::Range<usize>| Span {
                source,
                start: span.start,
                end: span.end,
            };
            let key_span = place(key.span());
            Entry {
                key: key.get_ref().to_string(),
                key_span,
                item: convert(
                    value.get_ref(),
                    place(value.span()),
                    source,
                    depth + 1,
                    problems,
                ),
                is_default: false,
            }
        })
        .collect();
    // The parser sorts keys by name; the order of the text is the order of a sweep.
    entries.sort_by_key(|entry| (entry.key_span, entry.item.span));
    Table { entries }
}

fn convert(
    value: &DeValue<'_>,
    span: Span,
    source: usize,
    depth: usize,
    problems: &mut Problems,
) -> Item {
    if depth > DEEPEST {
        problems.error(
            Code::Syntax,
            span,
            "the text is nested too deeply",
            format!("write at most {DEEPEST} levels"),
        );
        return Item {
            value: Value::Boolean(false),
            span,
        };
    }
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let digits = integer.as_str().replace('_', "");
            if let Ok(integer) = i64::from_str_radix(&digits, integer.radix()) {
                Value::Integer(integer)
            } else {
                problems.error(
                    Code::Range,
                    span,
                    "the integer does not fit into 64 bits",
                    "write a smaller number",
                );
                Value::Integer(0)
            }
        }
        DeValue::Float(number) => {
            Value::Number(number.as_str().replace('_', "").parse().unwrap_or(f64::NAN))
        }
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| {
                    let place = item.span();
                    let span = Span {
                        source,
                        start: place.start,
                        end: place.end,
                    };
                    convert(item.get_ref(), span, source, depth + 1, problems)
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(convert_table(table, source, depth, problems)),
    };
    Item { value, span }
}
