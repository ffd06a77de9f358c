//! Rules between keys: which keys a word of a tag has, and which keys a file must state.
//!
//! A condition on a tag holds where the tag has this word, or is left out and the word is its
//! default. Every part allows further keys in the eyes of servers that would otherwise warn of them.

use serde_json::{Map, Value, json};

use super::tables::{Entry, Form, Source, bare, values};
use crate::spec::{Key, Kind, Presence, Section, Variant};

/// The rules of all sections that the file does not sweep.
pub(super) fn of_file(file: &'static Section) -> Map<String, Value> {
    let mut all = Vec::new();
    for key in file.keys {
        if let Some(inner) = of_kind(&key.kind) {
            let mut rule = Map::new();
            rule.insert("properties".to_owned(), json!({ key.name: inner }));
            all.push(when(&unswept(key.name, false), &open(rule)));
        }
        if matches!(key.presence, Presence::Required) {
            let required = json!({ "required": [key.name] });
            all.push(when(&unswept(key.name, true), &required));
        }
    }
    let mut then = Map::new();
    then.insert("allOf".to_owned(), Value::Array(all));
    open(then).as_object().cloned().unwrap_or_default()
}

fn when(condition: &Value, rule: &Value) -> Value {
    json!({ "if": condition, "then": rule })
}

fn open(mut rule: Map<String, Value>) -> Value {
    rule.insert("additionalProperties".to_owned(), json!(true));
    Value::Object(rule)
}

/// Whether no path of the sweep begins with `name`; and, if asked, the file describes a network.
fn unswept(name: &str, is_network: bool) -> Value {
    let path = format!(r#"^\s*["']?{name}["']?\s*([.]|$)"#);
    let mut condition = Map::new();
    condition.insert(
        "properties".to_owned(),
        json!({ "sweep": {
            "propertyNames": { "not": { "pattern": path } },
            "additionalProperties": true,
        } }),
    );
    if is_network {
        condition.insert("not".to_owned(), json!({ "required": ["slotted"] }));
    }
    open(condition)
}

/// The rules of a value; `None` where there are none.
fn of_kind(kind: &Kind) -> Option<Value> {
    match Form::of(kind) {
        Some((Form::Tables, section)) => {
            of_section(section).map(|inner| json!({ "items": inner, "additionalProperties": true }))
        }
        // These ask nothing of a value that is no table.
        Some((_, section)) => of_section(section),
        None => None,
    }
}

fn of_section(section: &'static Section) -> Option<Value> {
    let all: Vec<Entry> = Source::of(section).entries().collect();
    let mut rule = Map::new();
    let mut properties = Map::new();
    for key in section.keys {
        // A word may have a key of the same name.
        if let Some(inner) = of_key(&all, ("", key)) {
            properties.insert(key.name.to_owned(), inner);
        }
    }
    if !properties.is_empty() {
        rule.insert("properties".to_owned(), Value::Object(properties));
    }
    let mut required: Vec<&str> = section
        .keys
        .iter()
        .filter(|key| is_required(key))
        .map(name)
        .collect();
    if let Some(tag) = &section.tag {
        if tag.default.is_none() {
            required.push(tag.key);
        }
        let mut cases = Vec::new();
        for variant in tag.variants {
            let mut condition = Map::new();
            let word = json!({ tag.key: { "const": variant.name } });
            condition.insert("properties".to_owned(), word);
            if tag.default != Some(variant.name) {
                condition.insert("required".to_owned(), json!([tag.key]));
            }
            let then = of_variant(section, tag.key, variant, &all);
            cases.push(when(&open(condition), &then));
        }
        rule.insert("allOf".to_owned(), Value::Array(cases));
    }
    if !required.is_empty() {
        rule.insert("required".to_owned(), json!(required));
    }
    (!rule.is_empty()).then(|| open(rule))
}

/// The keys that a word has, and its own values for keys that other words have, too.
fn of_variant(section: &Section, tag: &'static str, variant: &Variant, all: &[Entry]) -> Value {
    let mut rule = Map::new();
    let common = section.keys.iter().map(name);
    let names: Vec<&str> = std::iter::once(tag)
        .chain(common)
        .chain(variant.keys.iter().map(name))
        .collect();
    rule.insert("propertyNames".to_owned(), json!({ "enum": names }));
    let mut properties = Map::new();
    for key in variant.keys {
        if let Some(inner) = of_key(all, (variant.name, key)) {
            properties.insert(key.name.to_owned(), inner);
        }
    }
    if !properties.is_empty() {
        rule.insert("properties".to_owned(), Value::Object(properties));
    }
    let required: Vec<&str> = variant
        .keys
        .iter()
        .filter(|key| is_required(key))
        .map(name)
        .collect();
    if !required.is_empty() {
        rule.insert("required".to_owned(), json!(required));
    }
    open(rule)
}

/// The values of a key, where the keys of this name together take more, and its rules.
fn of_key(all: &[Entry], entry: Entry) -> Option<Value> {
    let same: Vec<Entry> = all
        .iter()
        .filter(|(_, key)| key.name == entry.1.name)
        .copied()
        .collect();
    let [own, together] = [&[entry], &*same].map(|entries| bare(&Value::Object(values(entries))));
    let narrower = (own != together).then_some(own);
    match (narrower, of_kind(&entry.1.kind)) {
        (Some(own), Some(rules)) => Some(json!({ "allOf": [own, rules] })),
        (own, rules) => own.or(rules),
    }
}

fn is_required(key: &Key) -> bool {
    matches!(key.presence, Presence::Required)
}

fn name(key: &Key) -> &'static str {
    key.name
}
