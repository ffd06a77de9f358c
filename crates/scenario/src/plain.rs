//! Checked values without their places, as models read them, and back.

use backlane_param::{Rules, Value as Plain, Values};

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::problems::Problems;
use crate::tree::{Entry, Item, Table, Value};

/// The values of a checked table.
pub(crate) fn values(table: &Table) -> Values {
    let mut values = Values::default();
    for entry in &table.entries {
        values.set(entry.key.clone(), plain(&entry.item.value));
    }
    values
}

fn plain(value: &Value) -> Plain {
    match value {
        Value::Text(text) => Plain::Text(text.clone()),
        Value::Integer(integer) => Plain::Integer(*integer),
        Value::Number(number) => Plain::Number(*number),
        Value::Boolean(boolean) => Plain::Boolean(*boolean),
        // No key takes one.
        Value::Datetime => Plain::Text(String::new()),
        Value::Array(items) => Plain::List(items.iter().map(|item| plain(&item.value)).collect()),
        Value::Table(table) => Plain::Table(values(table)),
        Value::Shared(shared) => Plain::Table(values(shared.table())),
    }
}

/// A value without a place.
pub(crate) fn placed(value: Plain) -> Value {
    let item = |value| Item {
        value: placed(value),
        span: Span::default(),
    };
    match value {
        Plain::Text(text) => Value::Text(text),
        Plain::Integer(integer) => Value::Integer(integer),
        Plain::Number(number) => Value::Number(number),
        Plain::Boolean(boolean) => Value::Boolean(boolean),
        Plain::List(items) => Value::Array(items.into_iter().map(item).collect()),
        Plain::Table(values) => {
            let mut table = Table::default();
            for (key, value) in values.iter() {
                table.set(key, Span::default(), item(value.clone()));
            }
            Value::Table(table)
        }
    }
}

/// Reports the rules between the keys of a section that do not hold.
pub(crate) fn report_issues(rules: &Rules, noun: &str, table: &Table, problems: &mut Problems) {
    // A section with a value that was refused cannot be read; its rules are not asked.
    for issue in (rules.issues)(&values(table)).unwrap_or_default() {
        let find = |path: &str| {
            let mut table = table;
            let mut words = path.split('.').peekable();
            while let Some(word) = words.next() {
                if words.peek().is_none() {
                    return table.entry(word);
                }
                table = table.table(word)?;
            }
            None
        };
        let stated = |key: &&&str| find(key).is_some_and(|entry| !entry.is_default);
        let key = issue.keys.iter().find(stated).or(issue.keys.last());
        let place = key.and_then(|key| find(key)).or(table.entries.first());
        let place = place.map_or(Span::default(), |entry| entry.item.span);
        let message = if issue.is_sentence {
            issue.message
        } else {
            format!("{noun} {}", issue.message)
        };
        problems.error(code(noun), place, message, issue.mend);
    }
}

/// The code of the rules between the keys of a section.
fn code(noun: &str) -> Code {
    match noun {
        "access" => Code::BeyondLte,
        "wifi" => Code::BadRadio,
        "capacity" => Code::TraceChoice,
        _ => Code::Range,
    }
}

/// Writes out, as the last keys, what follows from other keys.
pub(crate) fn complete(rules: &Rules, table: &mut Table) {
    for derived in (rules.derived)(&values(table)).unwrap_or_default() {
        table.remove(derived.key);
        table.entries.push(Entry {
            key: derived.key.to_owned(),
            key_span: Span::default(),
            item: Item {
                value: placed(derived.value),
                span: Span::default(),
            },
            is_default: derived.is_default,
        });
    }
}
