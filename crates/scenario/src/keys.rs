//! Explanations of single keys, by their path.

use std::collections::BTreeMap;

use crate::catalogue::Catalogue;
use crate::spec::{Key, Presence, Section, nearest};

impl Catalogue {
    /// The explanation of the key at a path such as `routing.hello_interval`: for each word that
    /// has it, its values, its default and its sentence. For a section, its keys too. `None` if no
    /// section has it.
    pub fn explain(self, path: &str) -> Option<String> {
        let words: Vec<&str> = path.split('.').collect();
        let (name, above) = words.split_last()?;
        let section = self.section(above)?;
        let tag = section.tag.as_ref();
        let mut lines: Vec<String> = keys_under_words(section)
            .filter(|(_, key)| key.name == *name)
            .map(|(word, key)| {
                let of = match (tag, word) {
                    (Some(tag), Some(word)) => format!(" with {} = \"{word}\"", tag.key),
                    _ => String::new(),
                };
                let default = match key.presence {
                    Presence::Default(toml) => format!(", default {toml}"),
                    Presence::Required => ", required".to_owned(),
                    Presence::Optional | Presence::Section => String::new(),
                };
                let takes = key.kind.describe();
                format!("{path}{of}: {takes}{default}\n  {}", key.doc)
            })
            .collect();
        if let Some(tag) = tag.filter(|tag| tag.key == *name) {
            let words = tag.variants.iter();
            let words = words.map(|word| format!("\n  \"{}\": {}", word.name, word.doc));
            lines.push(format!("{path}: {}{}", tag.doc, words.collect::<String>()));
        }
        if let Some(inner) = self.section(&words) {
            lines.push(format!("Its keys: {}", inner.names().join(", ")));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The paths of all keys, each once.
    pub fn paths(self) -> Vec<String> {
        let mut all = Vec::new();
        paths("", self.file(), &mut all);
        all
    }

    /// Every default as TOML, by the path of its key; a word in brackets is the tag's or the
    /// profile's that the default needs.
    pub fn defaults(self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        defaults("", self.file(), &mut all);
        for profile in self.profiles() {
            for changed in &profile.changed.defaults {
                let word = profile.changed.word;
                let path = [profile.name, changed.table, changed.under, changed.key];
                let path = path.iter().filter(|part| !part.is_empty());
                let path = path.copied().collect::<Vec<_>>().join(".");
                all.insert(format!("{path}[{word}]"), changed.value.to_string());
            }
        }
        all
    }

    /// The path most similar to `path`, if any is similar.
    pub fn nearest_path(self, path: &str) -> Option<String> {
        let all = self.paths();
        nearest(path, all.iter().map(String::as_str)).map(str::to_owned)
    }
}

/// The keys of a section, each with the word of the tag that it needs.
fn keys_under_words(
    section: &'static Section,
) -> impl Iterator<Item = (Option<&'static str>, &'static Key)> {
    let common = section.keys.iter().map(|key| (None, key));
    let variants = section.tag.iter().flat_map(|tag| tag.variants);
    let under = variants.flat_map(|v| v.keys.iter().map(move |key| (Some(v.name), key)));
    common.chain(under)
}

fn defaults(above: &str, section: &'static Section, all: &mut BTreeMap<String, String>) {
    let below = |name: &str, word: Option<&str>| {
        let dot = if above.is_empty() { "" } else { "." };
        let word = word.map(|word| format!("[{word}]")).unwrap_or_default();
        format!("{above}{word}{dot}{name}")
    };
    if let Some(tag) = &section.tag
        && let Some(default) = tag.default
    {
        all.insert(below(tag.key, None), format!("\"{default}\""));
    }
    for (word, key) in keys_under_words(section) {
        let path = below(key.name, word);
        if let Presence::Default(toml) = key.presence {
            all.insert(path.clone(), toml.to_owned());
        }
        if let Some(inner) = key.kind.section() {
            defaults(&path, inner, all);
        }
    }
}

fn paths(above: &str, section: &'static Section, all: &mut Vec<String>) {
    for name in section.names() {
        let path = match above {
            "" => name.to_owned(),
            above => format!("{above}.{name}"),
        };
        all.push(path.clone());
        if let Some(inner) = section.find(name).and_then(|key| key.kind.section()) {
            paths(&path, inner, all);
        }
    }
}
