//! Checks a tree against the tables of keys and brings it into its normal form: every default
//! filled in, every value written in its one canonical way, keys in the order of the tables.
//!
//! All problems of a file are collected in one pass. Invalid values are left out, so that later
//! steps see only values of the right kind.

use backlane_units::{
    Angle, Bytes, Decibels, Duration, Frequency, Length, Power, Quantity, Rate, Speed,
};

use crate::codes::Code;
use crate::custom::{self, Stated};
use crate::diagnostic::Span;
use crate::parse::parse_value;
use crate::plain;
use crate::problems::Problems;
use crate::shown::short;
use crate::spec::{Key, Kind, Presence, Section, Variant, nearest};
use crate::tree::{Entry, Item, Shared, Table, Value};
use crate::values::{
    self, buffer, drawn, id, in_range, integer, is_printable, length_in_range, level_in_range,
    milliseconds, number, quantity, start, wrong_type,
};

/// The fastest rate, 1 Tbit/s: a byte still takes a whole number of picoseconds.
const FASTEST_BPS: u64 = 1_000_000_000_000;

/// 3600 km/h.
const FASTEST_UM_PER_H: u64 = 3_600_000_000_000;
const TURN_MDEG: i64 = 360_000;

/// The number of known keys that are named if none is similar.
const MOST_NAMED: usize = 10;

/// The normal form of `table`; `None` stands for a value that was refused.
pub(crate) fn section(
    section: &'static Section,
    table: &Table,
    span: Span,
    problems: &mut Problems,
) -> Table {
    let mut normal = Table::default();
    let mut variant: Option<&'static Variant> = None;
    let mut known_tag = true;
    if let Some(tag) = &section.tag {
        let words: Vec<_> = tag.variants.iter().map(|variant| variant.name).collect();
        let entry = table.entry(tag.key);
        let word = match entry {
            Some(entry) => word(&entry.item, &words, &[], &noun(section, tag.key), problems),
            None if tag.default.is_none() => {
                missing(section, tag.key, &one_of(&words), table, span, problems);
                None
            }
            None => tag.default.map(str::to_owned),
        };
        known_tag = word.is_some();
        if let Some(word) = word {
            variant = section.variant(&word);
            let is_default = tag.default == Some(word.as_str());
            let (key_span, item_span) = entry.map_or((span, span), |e| (e.key_span, e.item.span));
            normal.entries.push(Entry {
                key: tag.key.to_owned(),
                key_span,
                item: Item::text(word, item_span),
                is_default,
            });
        }
    }
    // Without its tag it is not known which keys a section has, so all are allowed.
    let variant_keys = variant.map_or(&[][..], |variant| variant.keys);
    let keys: Vec<&'static Key> = if known_tag {
        section.keys.iter().chain(variant_keys).collect()
    } else {
        section.keys.iter().collect()
    };
    for entry in &table.entries {
        let is_tag = section.tag.as_ref().is_some_and(|tag| tag.key == entry.key);
        let is_known = if known_tag {
            keys.iter().any(|key| key.name == entry.key)
        } else {
            section.find(&entry.key).is_some()
        };
        if !is_tag && !is_known {
            unknown_key(section, &keys, entry, &normal, problems);
        }
    }
    // The common keys come before and after those of the variant, in the usual order of a file.
    for key in keys {
        if let Some(entry) = table.entry(key.name) {
            let item = value(&key.kind, &noun(section, key.name), &entry.item, problems);
            if let Some(item) = item {
                let is_default = is_default(key, &item, problems);
                normal.entries.push(Entry {
                    key: key.name.to_owned(),
                    key_span: entry.key_span,
                    item,
                    is_default,
                });
            }
        } else if let Some((item, is_default)) = absent(key, section, table, span, problems) {
            normal.entries.push(Entry {
                key: key.name.to_owned(),
                key_span: span,
                item,
                is_default,
            });
        }
    }
    let rules = [section.rules, variant.and_then(|variant| variant.rules)];
    for rules in rules.iter().flatten() {
        plain::report_issues(rules, section.noun, &normal, problems);
        plain::complete(rules, &mut normal);
    }
    normal
}

/// Brings a section of a file that no cell of a sweep changes into its normal form once for all.
pub(crate) fn share(file: &mut Table, name: &str, problems: &mut Problems) {
    let key = problems.catalogue.file().find(name);
    let (Some(key), Some(item)) = (key, file.get_mut(name)) else {
        return;
    };
    let normal = value(&key.kind, key.name, item, problems);
    if let Some(Value::Table(table)) = normal.map(|item| item.value) {
        item.value = Value::Shared(Shared::new(table));
    }
}

/// The value of a key that is left out.
fn absent(
    key: &'static Key,
    section: &Section,
    table: &Table,
    span: Span,
    problems: &mut Problems,
) -> Option<(Item, bool)> {
    match key.presence {
        Presence::Optional => None,
        Presence::Required => {
            missing(
                section,
                key.name,
                &key.kind.describe(),
                table,
                span,
                problems,
            );
            None
        }
        Presence::Default(toml) => {
            default_value(key, toml, span, problems).map(|item| (item, true))
        }
        Presence::Section => {
            let inner = key.kind.section()?;
            let table = self::section(inner, &Table::default(), span, problems);
            Some((
                Item {
                    value: Value::Table(table),
                    span,
                },
                true,
            ))
        }
    }
}

/// The canonical item of a default.
fn default_value(
    key: &'static Key,
    toml: &str,
    span: Span,
    problems: &mut Problems,
) -> Option<Item> {
    let address = std::ptr::from_ref(key).addr();
    let known = problems.defaults.entry(address).or_insert_with(|| {
        let mut none = Problems::default();
        let item = parse_value(toml, 0, 0, &mut none);
        value(&key.kind, key.name, &item, &mut none)
    });
    let item = known.clone()?;
    Some(Item { span, ..item })
}

/// The canonical form of a key's value that is written as TOML.
pub(crate) fn canonical(key: &Key, toml: &str) -> Option<Value> {
    let mut none = Problems::default();
    let item = parse_value(toml, 0, 0, &mut none);
    value(&key.kind, key.name, &item, &mut none).map(|item| item.value)
}

/// Whether a canonical value is the default that its key declares.
pub(crate) fn is_default_of(key: &Key, value: &Value) -> bool {
    match key.presence {
        Presence::Default(toml) => {
            canonical(key, toml).is_some_and(|default| same_value(&default, value))
        }
        _ => false,
    }
}

/// Whether `item` is what leaving the key out would mean. The presence of a section whose keys
/// decide for themselves means nothing.
fn is_default(key: &'static Key, item: &Item, problems: &mut Problems) -> bool {
    match key.presence {
        Presence::Section => true,
        Presence::Default(toml) => default_value(key, toml, item.span, problems)
            .is_some_and(|default| same_value(&default.value, &item.value)),
        _ => false,
    }
}

/// Whether a value that looks like a word is one of this kind.
fn accepts(kind: &Kind, item: &Item) -> bool {
    match kind {
        Kind::OrWord(word, _) => item.as_text() == Some(word),
        Kind::Drawn(_) => item.as_text().is_some_and(crate::phrases::is_drawn),
        _ => false,
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(&a.value, &b.value))
        }
        _ => a == b,
    }
}

/// "link rate", or "`duration`" at the top of the file.
fn noun(section: &Section, key: &str) -> String {
    if section.noun.is_empty() {
        key.to_owned()
    } else {
        format!("{} {key}", section.noun)
    }
}

fn one_of(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect::<Vec<_>>()
        .join(", ")
}

fn missing(
    section: &Section,
    key: &str,
    describe: &str,
    table: &Table,
    span: Span,
    problems: &mut Problems,
) {
    // The header of an implicit table has no text of its own; its first key does.
    let place = if span.end > span.start {
        span
    } else {
        table.entries.first().map_or(span, |entry| entry.key_span)
    };
    let message = format!("{} is missing", noun(section, key));
    problems.error(
        Code::MissingKey,
        place,
        message,
        format!("add `{key} = …`: {describe}"),
    );
}

fn unknown_key(
    section: &Section,
    keys: &[&'static Key],
    entry: &Entry,
    normal: &Table,
    problems: &mut Problems,
) {
    let mut known: Vec<_> = keys.iter().map(|key| key.name).collect();
    known.extend(section.tag.iter().map(|tag| tag.key));
    let label = match nearest(&entry.key, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => {
            let more = if known.len() > MOST_NAMED {
                ", …"
            } else {
                ""
            };
            known.truncate(MOST_NAMED);
            format!("known here: {}{more}", known.join(", "))
        }
    };
    let tag = section
        .tag
        .as_ref()
        .and_then(|tag| normal.get(tag.key)?.as_text().map(|w| (tag.key, w)));
    let place = match (section.noun, tag) {
        ("", _) => "at the top of a scenario".to_owned(),
        (noun, Some((key, word))) => format!("in {noun} with {key} = \"{word}\""),
        (noun, None) => format!("in {noun}"),
    };
    problems.error(
        Code::UnknownKey,
        entry.key_span,
        format!("`{}` is not a key {place}", short(&entry.key)),
        label,
    );
}

/// One of `words`, with aliases replaced.
fn word(
    item: &Item,
    words: &[&str],
    aliases: &[(&str, &str)],
    noun: &str,
    problems: &mut Problems,
) -> Option<String> {
    let Some(text) = item.as_text() else {
        wrong_type(item, noun, &one_of(words), problems);
        return None;
    };
    if let Some((_, word)) = aliases.iter().find(|(alias, _)| *alias == text) {
        return Some((*word).to_owned());
    }
    if words.contains(&text) {
        return Some(text.to_owned());
    }
    let all = words
        .iter()
        .copied()
        .chain(aliases.iter().map(|(alias, _)| *alias));
    let label = match nearest(text, all) {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None => format!("write one of {}", one_of(words)),
    };
    problems.error(
        Code::UnknownWord,
        item.span,
        format!("\"{}\" is not a known {noun}", short(text)),
        label,
    );
    None
}

/// The canonical forms of the elements of a list.
fn list(kind: &Kind, noun: &str, items: &[Item], span: Span, problems: &mut Problems) -> Item {
    let mut canonical = Vec::with_capacity(items.len());
    for item in items {
        if !problems.go_on() {
            break;
        }
        canonical.extend(value(kind, noun, item, problems));
    }
    Item {
        value: Value::Array(canonical),
        span,
    }
}

/// Values by names that the file chooses, in the order of the names.
fn settings(item: &Item, noun: &str, problems: &mut Problems) -> Option<Item> {
    let Some(table) = item.as_table() else {
        wrong_type(item, noun, &Kind::Settings.describe(), problems);
        return None;
    };
    let mut normal = table.clone();
    normal.entries.sort_by(|a, b| a.key.cmp(&b.key));
    for entry in &normal.entries {
        let Entry { key, item, .. } = entry;
        let noun = format!("{noun} {}", short(key));
        if !custom::is_identifier(key) {
            let label = "write letters, digits and _, such as period_s";
            let message = format!("\"{}\" cannot be the name of a parameter", short(key));
            problems.error(Code::BadName, entry.key_span, message, label);
        }
        match &item.value {
            Value::Number(number) if !number.is_finite() => {
                let message = format!("{noun} is not finite");
                problems.error(Code::Range, item.span, message, "write a number");
            }
            Value::Text(text) => {
                is_printable(text, Code::BadName, &noun, item.span, problems);
            }
            Value::Integer(_) | Value::Number(_) | Value::Boolean(_) => {}
            _ => wrong_type(item, &noun, "a number, a text or a boolean", problems),
        }
    }
    Some(Item {
        value: Value::Table(normal),
        span: item.span,
    })
}

/// A queue: its limit alone, or a table.
fn queue(declared: &'static Section, item: &Item, problems: &mut Problems) -> Option<Item> {
    let table = match &item.value {
        Value::Table(table) => section(declared, table, item.span, problems),
        Value::Text(_) => {
            let mut table = Table::default();
            table.set("limit", item.span, item.clone());
            section(declared, &table, item.span, problems)
        }
        Value::Integer(number) => {
            let message = "queue limit needs a unit";
            let label = format!("write \"{number} packets\" (or \"{number} kB\")");
            problems.error(Code::MissingUnit, item.span, message, label);
            return None;
        }
        _ => {
            wrong_type(item, "queue", &Kind::Queue(declared).describe(), problems);
            return None;
        }
    };
    values::queue(table, item.span, problems)
}

/// The canonical form of one value.
fn value(kind: &Kind, noun: &str, item: &Item, problems: &mut Problems) -> Option<Item> {
    let span = item.span;
    let text = |text: String| Some(Item::text(text, span));
    match kind {
        _ if matches!(item.value, Value::Shared(_)) => Some(item.clone()),
        Kind::Text | Kind::Content => match item.as_text() {
            Some("") => {
                problems.error(
                    Code::Empty,
                    span,
                    format!("{noun} is empty"),
                    "write a text",
                );
                None
            }
            Some(content) => {
                let is_fine = matches!(kind, Kind::Content)
                    || is_printable(content, Code::BadName, noun, span, problems);
                is_fine.then(|| Item::text(content, span))
            }
            None => {
                wrong_type(item, noun, &kind.describe(), problems);
                None
            }
        },
        Kind::Id => id(item, noun, problems).and_then(text),
        Kind::Boolean => match item.value {
            Value::Boolean(_) => Some(item.clone()),
            _ => {
                wrong_type(item, noun, &kind.describe(), problems);
                None
            }
        },
        Kind::Integer { min, max } => integer(item, *min, *max, noun, &kind.describe(), problems),
        Kind::Number { min, max } => number(item, *min, *max, noun, &kind.describe(), problems),
        Kind::Duration { min_ps, max_ps } => {
            let time: Duration = quantity(item, Quantity::Duration, noun, problems)?;
            in_range(
                time.as_ps(),
                *min_ps,
                *max_ps,
                Duration::from_ps,
                noun,
                span,
                problems,
            )?;
            text(time.to_string())
        }
        Kind::Rate => {
            let rate: Rate = quantity(item, Quantity::Rate, noun, problems)?;
            in_range(
                rate.as_bps(),
                1,
                FASTEST_BPS,
                Rate::from_bps,
                noun,
                span,
                problems,
            )?;
            text(rate.to_string())
        }
        Kind::Bytes { min, max } => {
            let size: Bytes = quantity(item, Quantity::Bytes, noun, problems)?;
            in_range(size.get(), *min, *max, Bytes::new, noun, span, problems)?;
            text(size.to_string())
        }
        Kind::Length { min_um } => {
            let length: Length = quantity(item, Quantity::Length, noun, problems)?;
            length_in_range(length, *min_um, noun, span, problems)?;
            text(length.to_string())
        }
        Kind::Milliseconds { min, max } => milliseconds(item, *min, *max, noun, problems),
        Kind::Power { min_mdbm, max_mdbm } => {
            let power: Power = quantity(item, Quantity::Power, noun, problems)?;
            let (min, max) = (*min_mdbm, *max_mdbm);
            level_in_range(
                power.as_mdbm(),
                min,
                max,
                Power::from_mdbm,
                noun,
                span,
                problems,
            )?;
            text(power.to_string())
        }
        Kind::Decibels { min_mdb, max_mdb } => {
            let ratio: Decibels = quantity(item, Quantity::Decibels, noun, problems)?;
            let (min, max) = (*min_mdb, *max_mdb);
            level_in_range(
                ratio.as_mdb(),
                min,
                max,
                Decibels::from_mdb,
                noun,
                span,
                problems,
            )?;
            text(ratio.to_string())
        }
        Kind::Frequency { min_hz, max_hz } => {
            let frequency: Frequency = quantity(item, Quantity::Frequency, noun, problems)?;
            let (min, max) = (*min_hz, *max_hz);
            in_range(
                frequency.as_hz(),
                min,
                max,
                Frequency::from_hz,
                noun,
                span,
                problems,
            )?;
            text(frequency.to_string())
        }
        Kind::Speed => {
            let speed: Speed = quantity(item, Quantity::Speed, noun, problems)?;
            let um_per_h = speed.as_um_per_h();
            in_range(
                um_per_h,
                0,
                FASTEST_UM_PER_H,
                Speed::from_um_per_h,
                noun,
                span,
                problems,
            )?;
            text(speed.to_string())
        }
        Kind::Angle => {
            let angle: Angle = quantity(item, Quantity::Angle, noun, problems)?;
            let mdeg = angle.as_mdeg();
            level_in_range(
                mdeg,
                -TURN_MDEG,
                TURN_MDEG,
                Angle::from_mdeg,
                noun,
                span,
                problems,
            )?;
            text(angle.to_string())
        }
        Kind::Choice(integers) => match item.value {
            Value::Integer(integer) if integers.contains(&integer) => Some(item.clone()),
            Value::Integer(_) => {
                let message = format!("{noun} is out of range");
                let label = format!("write {}", kind.describe());
                problems.error(Code::Range, span, message, label);
                None
            }
            _ => {
                wrong_type(item, noun, &kind.describe(), problems);
                None
            }
        },
        Kind::Buffer => buffer(item, noun, problems).and_then(text),
        Kind::Words { words, aliases } => word(item, words, aliases, noun, problems).and_then(text),
        Kind::CongestionControl { words, .. } => match item.as_text().and_then(Stated::of) {
            Some(Ok(_)) => {
                let text = item.as_text().unwrap_or_default();
                is_printable(text, Code::BadControl, noun, span, problems).then(|| item.clone())
            }
            Some(Err(label)) => {
                let content = short(item.as_text().unwrap_or_default());
                let message = format!("\"{content}\" names no congestion control");
                problems.error(Code::BadControl, span, message, label);
                None
            }
            None => word(item, words, &[], noun, problems).and_then(text),
        },
        Kind::PythonClass => {
            let Some(text) = item.as_text() else {
                wrong_type(item, noun, &kind.describe(), problems);
                return None;
            };
            if custom::class_of(text).is_none() {
                let message = format!("\"{}\" names no class in a file", short(text));
                let label = "write \"FILE:CLASS\", such as \"router.py:Own\"";
                problems.error(Code::BadClass, span, message, label);
                return None;
            }
            is_printable(text, Code::BadClass, noun, span, problems).then(|| item.clone())
        }
        Kind::Settings => settings(item, noun, problems),
        Kind::OrWord(word, _) if item.as_text() == Some(word) => Some(item.clone()),
        Kind::OrWord(word, inner) => {
            // For a word that is neither, the message names both.
            let looks_like_word = item
                .as_text()
                .is_some_and(|text| text.starts_with(char::is_alphabetic));
            if looks_like_word && !accepts(inner, item) {
                let content = item.as_text().unwrap_or_default();
                problems.error(
                    Code::UnknownWord,
                    span,
                    format!("\"{}\" is not a known {noun}", short(content)),
                    format!("write \"{word}\" or {}", inner.describe()),
                );
                return None;
            }
            value(inner, noun, item, problems)
        }
        Kind::Drawn(inner) if item.as_text().is_some_and(crate::phrases::is_drawn) => {
            drawn(item, inner, noun, problems).and_then(text)
        }
        Kind::Drawn(inner) => value(inner, noun, item, problems),
        Kind::Start => start(item, noun, problems).and_then(text),
        Kind::Queue(section) => queue(section, item, problems),
        Kind::List(inner) => match item.as_array() {
            Some(items) => Some(list(inner, noun, items, span, problems)),
            None => {
                wrong_type(item, noun, &kind.describe(), problems);
                None
            }
        },
        Kind::OneOrMany(inner) => match item.as_array() {
            Some([]) => {
                problems.error(
                    Code::Empty,
                    span,
                    format!("{noun} is an empty list"),
                    format!("write {}", inner.describe()),
                );
                None
            }
            Some([single]) => value(inner, noun, single, problems),
            Some(items) => Some(list(inner, noun, items, span, problems)),
            None => value(inner, noun, item, problems),
        },
        Kind::Table(inner) => match item.as_table() {
            Some(table) => {
                let table = section(inner, table, span, problems);
                Some(Item {
                    value: Value::Table(table),
                    span,
                })
            }
            None => {
                wrong_type(item, noun, "a table", problems);
                None
            }
        },
        Kind::TableOrTag(inner) => match (&inner.tag, &item.value) {
            (Some(tag), Value::Text(_)) => {
                let mut table = Table::default();
                table.set(tag.key, span, item.clone());
                let table = section(inner, &table, span, problems);
                Some(Item {
                    value: Value::Table(table),
                    span,
                })
            }
            _ => value(&Kind::Table(inner), noun, item, problems),
        },
        Kind::Tables(inner) => match &item.value {
            Value::Array(items) => Some(list(&Kind::Table(inner), noun, items, span, problems)),
            // `[flow]` in place of `[[flow]]` is unambiguous.
            Value::Table(_) => {
                let item = value(&Kind::Table(inner), noun, item, problems)?;
                Some(Item {
                    value: Value::Array(vec![item]),
                    span,
                })
            }
            _ => {
                wrong_type(item, noun, "an array of tables", problems);
                None
            }
        },
        Kind::Map(inner) => match item.as_table() {
            Some(table) => {
                let mut normal = Table::default();
                for entry in &table.entries {
                    if !problems.go_on() {
                        break;
                    }
                    let noun = short(&entry.key);
                    if let Some(item) = value(inner, &noun, &entry.item, problems) {
                        normal.entries.push(Entry {
                            key: entry.key.clone(),
                            key_span: entry.key_span,
                            item,
                            is_default: false,
                        });
                    }
                }
                Some(Item {
                    value: Value::Table(normal),
                    span,
                })
            }
            None => {
                wrong_type(item, noun, &kind.describe(), problems);
                None
            }
        },
        Kind::Sweep => Some(item.clone()),
    }
}
