//! The JSON Schema of the file (draft 2020-12), made from the table of keys.

use serde_json::{Map, Value, json};

use crate::catalogue::Catalogue;
use crate::spec::{Key, Kind, Presence, Section};

/// The JSON Schema of a scenario file, as text.
pub fn schema(catalogue: Catalogue) -> String {
    let mut root = section(catalogue.file());
    if let Value::Object(root) = &mut root {
        root.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        root.insert("title".to_owned(), json!("Backlane scenario"));
        // The required sections of a network are absent in a slotted model.
        if let Some(required) = root.remove("required") {
            let either = json!([{ "required": required }, { "required": ["slotted"] }]);
            root.insert("anyOf".to_owned(), either);
        }
    }
    // A map of texts and numbers always serialises.
    serde_json::to_string_pretty(&root).unwrap_or_default()
}

/// A table: one object, or one of several where a tag decides the keys.
fn section(section: &Section) -> Value {
    let Some(tag) = &section.tag else {
        return object(section.doc, section.keys.iter(), Map::new(), Vec::new());
    };
    let variants: Vec<Value> = tag
        .variants
        .iter()
        .map(|variant| {
            let mut properties = Map::new();
            properties.insert(
                tag.key.to_owned(),
                json!({ "const": variant.name, "description": tag.doc }),
            );
            let is_default = tag.default == Some(variant.name);
            let required = if is_default {
                Vec::new()
            } else {
                vec![json!(tag.key)]
            };
            object(
                variant.doc,
                section.keys.iter().chain(variant.keys),
                properties,
                required,
            )
        })
        .collect();
    json!({ "description": section.doc, "oneOf": variants })
}

fn object<'a>(
    doc: &str,
    keys: impl Iterator<Item = &'a Key>,
    mut properties: Map<String, Value>,
    mut required: Vec<Value>,
) -> Value {
    for key in keys {
        let mut value = kind(&key.kind);
        if let Value::Object(value) = &mut value {
            value.insert("description".to_owned(), json!(key.doc));
            if let Presence::Default(toml) = key.presence {
                let default = serde_json::from_str::<Value>(toml).unwrap_or(json!(toml));
                value.insert("default".to_owned(), default);
            }
        }
        if matches!(key.presence, Presence::Required) {
            required.push(json!(key.name));
        }
        properties.insert(key.name.to_owned(), value);
    }
    json!({
        "description": doc,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A text that begins with a number and ends with a unit.
fn quantity(example: &str) -> Value {
    json!({ "type": "string", "pattern": "^\\s*[+-]?[0-9.]", "examples": [example] })
}

fn kind(kind: &Kind) -> Value {
    match kind {
        Kind::Text | Kind::Content => json!({ "type": "string", "minLength": 1 }),
        Kind::Id => json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Duration { .. } => quantity("4 ms"),
        Kind::Rate => quantity("500 Mbit/s"),
        Kind::Bytes { .. } => quantity("10 MB"),
        Kind::Length { .. } => quantity("200 m"),
        Kind::Milliseconds { .. } => quantity("8 ms"),
        Kind::Power { .. } => quantity("30 dBm"),
        Kind::Decibels { .. } => quantity("3 dB"),
        Kind::Frequency { .. } => quantity("2.6 GHz"),
        Kind::Speed => quantity("60 km/h"),
        Kind::Angle => quantity("45 deg"),
        Kind::Choice(integers) => json!({ "enum": integers }),
        Kind::Buffer => {
            json!({ "type": "string", "examples": ["750 packets", "375 kB", "100 ms"] })
        }
        Kind::Words { words, aliases } => {
            let all: Vec<&str> = words
                .iter()
                .copied()
                .chain(aliases.iter().map(|(alias, _)| *alias))
                .collect();
            json!({ "enum": all })
        }
        Kind::CongestionControl { words, .. } => json!({ "anyOf": [
            { "enum": words },
            { "type": "string", "pattern": "^python:.+:.+$" },
        ] }),
        Kind::PythonClass => json!({ "type": "string", "pattern": "^.+:.+$" }),
        Kind::Settings => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
            "additionalProperties": { "type": ["number", "string", "boolean"] },
        }),
        Kind::OrWord(word, inner) => json!({ "anyOf": [{ "const": word }, self::kind(inner)] }),
        Kind::Drawn(inner) => {
            let examples = match inner {
                Kind::Bytes { .. } => ["10 MB", "uniform 50 kB 500 kB", "exponential 500 kB"],
                _ => ["4 ms", "uniform 0 s 100 ms", "exponential 50 ms"],
            };
            json!({ "type": "string", "examples": examples })
        }
        Kind::Start => {
            json!({ "type": "string", "examples": ["staggered", "4 s", "uniform 0 s 5 s", "every 50 ms from 4 s", "every exponential 50 ms from 4 s"] })
        }
        Kind::Queue(inner) => json!({ "anyOf": [
            { "type": "string", "examples": ["1 bdp", "500 kB", "340 packets"] },
            section(inner),
        ] }),
        Kind::List(inner) => json!({ "type": "array", "items": self::kind(inner) }),
        Kind::OneOrMany(inner) => {
            let inner = self::kind(inner);
            json!({ "anyOf": [inner.clone(), { "type": "array", "items": inner, "minItems": 1 }] })
        }
        Kind::Table(inner) => section(inner),
        Kind::TableOrTag(inner) => {
            let words: Vec<&str> = inner
                .tag
                .iter()
                .flat_map(|tag| tag.variants)
                .map(|variant| variant.name)
                .collect();
            json!({ "anyOf": [{ "enum": words }, section(inner)] })
        }
        Kind::Tables(inner) => json!({ "type": "array", "items": section(inner) }),
        Kind::Map(inner) => json!({ "type": "object", "additionalProperties": self::kind(inner) }),
        Kind::Sweep => json!({
            "type": "object",
            "properties": { "seeds": { "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": 1_000_000 },
                { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
            ] } },
        }),
    }
}
