//! The section `[sweep]`: every path that can be swept, with its values.
//!
//! A path is one key with dots in quotes, or a key in nested tables. After an array of tables it may
//! have a number. Keys with quotes or spaces in them are accepted as they are.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::tables::{Entry, Source, bare, values};
use crate::spec::{Kind, Section};

/// The keys at the top that are no parameters of a run.
const UNSWEPT: [&str; 4] = ["seed", "name", "sweep", "compare"];

/// What stands under a name in a path.
#[derive(Default)]
struct Node {
    doc: &'static str,
    entries: Vec<Entry>,
    /// The words, where it is a tag.
    words: Vec<&'static str>,
    below: BTreeMap<&'static str, Node>,
    /// Whether a number may follow.
    has_rows: bool,
    /// Whether a name that the file chooses may follow.
    has_names: bool,
}

/// The schema of the sweep of a file.
pub(super) fn sweep(file: &'static Section, doc: &str) -> Map<String, Value> {
    let mut nodes = nodes(&[file]);
    nodes.retain(|name, _| !UNSWEPT.contains(name));
    let mut object = tables(&nodes);
    let mut patterns = Vec::new();
    if let Some(properties) = object["properties"].as_object_mut() {
        for (name, node) in &nodes {
            properties[*name] = node.above(node.axis());
            node.dotted(name, properties);
            patterns.extend(node.pattern(name, false));
        }
        properties.insert(
            "seeds".to_owned(),
            json!({
                "description": "A number of seeds, counted from `seed`, or a list of seeds.",
                "anyOf": [
                    { "type": "integer", "minimum": 1, "maximum": 1_000_000 },
                    { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
                ],
            }),
        );
    }
    let numbered = format!("^({})$", patterns.join("|"));
    object["patternProperties"][numbered] = json!({ "type": "array", "minItems": 1 });
    object.insert("description".to_owned(), json!(doc));
    object
}

/// What stands in a path under the names of all keys of these sections.
fn nodes(sections: &[&'static Section]) -> BTreeMap<&'static str, Node> {
    let mut found: BTreeMap<&'static str, Node> = BTreeMap::new();
    for section in sections {
        for entry in Source::of(section).entries() {
            let node = found.entry(entry.1.name).or_default();
            if node.entries.is_empty() {
                node.doc = entry.1.doc;
            }
            node.entries.push(entry);
            node.has_rows |= matches!(entry.1.kind, Kind::Tables(_));
            node.has_names |= matches!(entry.1.kind, Kind::Map(_) | Kind::Settings);
        }
        if let Some(tag) = &section.tag {
            let node = found.entry(tag.key).or_default();
            node.doc = tag.doc;
            let words = tag.variants.iter().map(|variant| variant.name);
            node.words.extend(words);
        }
    }
    for node in found.values_mut() {
        let mut inner: Vec<&'static Section> = Vec::new();
        for section in node
            .entries
            .iter()
            .filter_map(|(_, key)| key.kind.section())
        {
            if !inner.iter().any(|known| std::ptr::eq(*known, section)) {
                inner.push(section);
            }
        }
        node.below = nodes(&inner);
    }
    found
}

/// Nested tables, whose keys are single words.
fn tables(nodes: &BTreeMap<&'static str, Node>) -> Map<String, Value> {
    let properties: Map<_, _> = nodes
        .iter()
        .map(|(name, node)| ((*name).to_owned(), node.schema()))
        .collect();
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("patternProperties".to_owned(), json!({ "[\"' ]": {} }));
    object.insert("additionalProperties".to_owned(), json!(false));
    object
}

impl Node {
    /// A list of any values, or the table of the paths below.
    fn schema(&self) -> Value {
        self.above(json!({ "description": self.doc, "type": "array", "minItems": 1 }))
    }

    /// `axis`, or the table of the paths below.
    fn above(&self, mut axis: Value) -> Value {
        if self.has_names || !self.below.is_empty() {
            axis["type"] = json!(["array", "object"]);
        }
        if !self.below.is_empty() {
            for (key, value) in tables(&self.below) {
                if key != "type" {
                    axis[key] = value;
                }
            }
            // A part of a path with dots, or the number of a row.
            axis["patternProperties"] = json!({ "[\"' .]|^[0-9]+$": {} });
        }
        axis
    }

    /// A list of values.
    fn axis(&self) -> Value {
        let mut axis = json!({ "description": self.doc, "type": "array", "minItems": 1 });
        let is_section = |entry: &Entry| entry.1.kind.section().is_some();
        if !self.words.is_empty() {
            axis["items"] = json!({ "enum": self.words });
        } else if !self.entries.iter().any(is_section) {
            axis["items"] = bare(&Value::Object(values(&self.entries)));
        }
        axis
    }

    /// Adds the paths below this one, with dots.
    fn dotted(&self, path: &str, properties: &mut Map<String, Value>) {
        for (name, node) in &self.below {
            let path = format!("{path}.{name}");
            properties.insert(path.clone(), node.axis());
            node.dotted(&path, properties);
        }
    }

    /// The pattern of the paths from here on that are not known word for word: those in rows of an
    /// array of tables, and those with a name that the file chooses. `None` where there are none.
    fn pattern(&self, name: &str, in_rows: bool) -> Option<String> {
        if self.has_names {
            return Some(format!(r"{name}\.[^.]+"));
        }
        let in_rows = in_rows || self.has_rows;
        let below: Vec<_> = (self.below.iter())
            .filter_map(|(name, node)| node.pattern(name, in_rows))
            .collect();
        let row = if self.has_rows { r"(\.[0-9]+)?" } else { "" };
        match (&*below, in_rows) {
            ([], false) => None,
            ([], true) => Some(format!("{name}{row}")),
            (_, _) => {
                // Paths outside of rows are known.
                let end = if in_rows { "?" } else { "" };
                Some(format!(r"{name}{row}(\.({})){end}", below.join("|")))
            }
        }
    }
}
