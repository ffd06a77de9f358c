//! The JSON Schema of the file (draft 7), made from the table of keys.
//!
//! It has two parts. `properties` describes every key at its place, with those of all words of a tag
//! side by side: servers of TOML complete keys and values, and show sentences, from this part. The
//! rules that depend on other keys stand in `then` of a condition that always holds, because servers
//! complete badly, or not at all, from alternatives beside `properties`. [`rules`] makes them: the keys
//! of each word, and the keys that a file must state. They leave out the sections that the file
//! sweeps, whose keys may come from the sweep.
//!
//! No valid file is refused. A refused file may pass: a schema knows neither names of nodes nor
//! rules between numbers.

mod kinds;
mod paths;
mod rules;
mod tables;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use crate::catalogue::Catalogue;
use crate::spec::Kind;
use tables::Source;

/// The JSON Schema of a scenario file, as text.
pub fn schema(catalogue: Catalogue) -> String {
    let file = catalogue.file();
    let mut root = tables::table(&[Source::of(file)]);
    root.insert(
        "$schema".to_owned(),
        json!("http://json-schema.org/draft-07/schema#"),
    );
    let id = format!("urn:backlane:scenario:{}", env!("CARGO_PKG_VERSION"));
    root.insert("$id".to_owned(), json!(id));
    root.insert("title".to_owned(), json!("Backlane scenario"));
    let sweep = file.keys.iter().find(|key| matches!(key.kind, Kind::Sweep));
    if let Some(key) = sweep
        && let Some(at) = root["properties"].get_mut(key.name)
    {
        *at = Value::Object(paths::sweep(file, key.doc));
    }
    root.insert("if".to_owned(), json!({ "additionalProperties": true }));
    root.insert("then".to_owned(), Value::Object(rules::of_file(file)));
    let mut text = Vec::new();
    let format = PrettyFormatter::with_indent(b" ");
    // A map of texts and numbers always serialises.
    let written = root.serialize(&mut Serializer::with_formatter(&mut text, format));
    written.map_or_else(
        |_| String::new(),
        |()| String::from_utf8_lossy(&text).into_owned(),
    )
}
