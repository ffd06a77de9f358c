//! Tables with the keys of all words of their tags side by side.

use serde_json::{Map, Value, json};

use super::kinds;
use crate::spec::{Key, Kind, Presence, Section};

/// A section under a word of an outer tag, for which one description is made together with others.
#[derive(Clone, Copy)]
pub(super) struct Source {
    /// The word; empty outside of tags.
    word: &'static str,
    section: &'static Section,
}

/// A key under a word.
pub(super) type Entry = (&'static str, &'static Key);

impl Source {
    pub(super) fn of(section: &'static Section) -> Self {
        Self { word: "", section }
    }

    /// Its keys with their words, without its tag.
    pub(super) fn entries(self) -> impl Iterator<Item = Entry> {
        let common = self.section.keys.iter().map(move |key| (self.word, key));
        let variants = self.section.tag.iter().flat_map(|tag| tag.variants);
        common.chain(variants.flat_map(|variant| {
            let keys = variant.keys.iter();
            keys.map(|key| (variant.name, key))
        }))
    }
}

/// A table with all keys of all sources.
pub(super) fn table(sources: &[Source]) -> Map<String, Value> {
    let mut properties = Map::new();
    for Source { section, .. } in sources {
        let Some(tag) = &section.tag else { continue };
        let words = tag.variants.iter().map(|variant| variant.name);
        let known = properties
            .entry(tag.key)
            .or_insert_with(|| json!({ "description": tag.doc, "enum": [] }));
        if let Some(known) = known["enum"].as_array_mut() {
            for word in words {
                if !known.contains(&json!(word)) {
                    known.push(json!(word));
                }
            }
        }
        if let Some(default) = tag.default {
            known["default"] = json!(default);
        }
    }
    let mut names: Vec<(&str, Vec<Entry>)> = Vec::new();
    for entry in sources.iter().flat_map(|source| source.entries()) {
        match names.iter_mut().find(|(name, _)| *name == entry.1.name) {
            Some((_, entries)) => entries.push(entry),
            None => names.push((entry.1.name, vec![entry])),
        }
    }
    for (name, entries) in names {
        properties.insert(name.to_owned(), Value::Object(property(&entries)));
    }
    let mut object = Map::new();
    if let [Source { section, .. }] = sources {
        object.insert("description".to_owned(), json!(section.doc));
    }
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("additionalProperties".to_owned(), json!(false));
    object
}

/// A key with its sentence and default. Where they differ from word to word, all are listed.
fn property(entries: &[Entry]) -> Map<String, Value> {
    let mut object = values(entries);
    let sentences = grouped(entries, |key| Some(key.doc.to_owned()));
    let mut text = match &*sentences {
        [(_, sentence)] => sentence.clone(),
        many => many
            .iter()
            .map(|(words, sentence)| format!("{words}: {sentence}"))
            .collect::<Vec<_>>()
            .join("\n\n"),
    };
    let defaults = grouped(entries, |key| match key.presence {
        Presence::Default(toml) => Some(toml.to_owned()),
        _ => None,
    });
    match &*defaults {
        [] => {}
        [(_, toml)] => {
            let default = serde_json::from_str::<Value>(toml).unwrap_or(json!(toml));
            object.insert("default".to_owned(), default);
        }
        many => {
            let listed: Vec<_> = many
                .iter()
                .map(|(words, toml)| format!("{toml} ({words})"))
                .collect();
            text = format!("{text} Default: {}.", listed.join(", "));
        }
    }
    object.insert("description".to_owned(), json!(text));
    object
}

/// What `of` says of the entries, each text once, with the words under which it holds.
fn grouped(entries: &[Entry], of: impl Fn(&Key) -> Option<String>) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (word, key) in entries {
        let Some(text) = of(key) else { continue };
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((words, _)) if !words.contains(word) => words.push(word),
            Some(_) => {}
            None => groups.push((vec![word], text)),
        }
    }
    let joined = |(words, text): (Vec<&str>, _)| (words.join(", "), text);
    groups.into_iter().map(joined).collect()
}

/// The values that any of the entries takes, without sentences of its own.
pub(super) fn values(entries: &[Entry]) -> Map<String, Value> {
    let mut forms: Vec<Value> = Vec::new();
    let mut sections: Vec<(Form, Vec<Source>)> = Vec::new();
    for (word, key) in entries {
        match Form::of(&key.kind) {
            Some((form, section)) => {
                let source = Source { word, section };
                let same = sections.iter_mut().find(|(known, _)| *known == form);
                let (_, sources) = match same {
                    Some(found) => found,
                    None => {
                        sections.push((form, Vec::new()));
                        let last = sections.len() - 1;
                        &mut sections[last]
                    }
                };
                if !sources
                    .iter()
                    .any(|known| std::ptr::eq(known.section, section))
                {
                    sources.push(source);
                }
            }
            None => {
                let form = kinds::kind(&key.kind);
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
    }
    for (form, sources) in &sections {
        forms.extend(form.around(sources));
    }
    if let [Value::Object(single)] = &mut *forms {
        return std::mem::take(single);
    }
    let mut object = Map::new();
    object.insert("anyOf".to_owned(), Value::Array(forms));
    object
}

/// How a section stands under its key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Table,
    TableOrTag,
    Tables,
    Queue,
}

impl Form {
    pub(super) fn of(kind: &Kind) -> Option<(Self, &'static Section)> {
        let form = match kind {
            Kind::Table(_) => Self::Table,
            Kind::TableOrTag(_) => Self::TableOrTag,
            Kind::Tables(_) => Self::Tables,
            Kind::Queue(_) => Self::Queue,
            _ => return None,
        };
        kind.section().map(|section| (form, section))
    }

    /// The values of this form.
    fn around(self, sources: &[Source]) -> Vec<Value> {
        let mut inner = table(sources);
        inner.remove("description");
        match self {
            Self::Table => vec![Value::Object(inner)],
            Self::TableOrTag => {
                let words: Vec<&str> = sources
                    .iter()
                    .flat_map(|source| &source.section.tag)
                    .flat_map(|tag| tag.variants)
                    .map(|variant| variant.name)
                    .collect();
                vec![json!({ "enum": words }), Value::Object(inner)]
            }
            // `[flow]` in place of `[[flow]]` is read as well.
            Self::Tables => vec![json!({
                "type": ["array", "object"],
                "items": inner,
                "additionalProperties": true,
            })],
            Self::Queue => vec![kinds::queue(), Value::Object(inner)],
        }
    }
}

/// A schema without what does not change which values it allows.
pub(super) fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map
                .iter()
                .filter(|(key, _)| !["description", "default", "examples"].contains(&&***key));
            let inner = |(key, value): (&String, &Value)| {
                let value = match (&**key, value) {
                    ("properties", Value::Object(properties)) => Value::Object(
                        properties
                            .iter()
                            .map(|(name, one)| (name.clone(), bare(one)))
                            .collect(),
                    ),
                    _ => bare(value),
                };
                (key.clone(), value)
            };
            Value::Object(kept.map(inner).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}
