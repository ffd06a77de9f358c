//! What a file can choose between: words, numbers of a list, and yes or no.

use std::collections::BTreeSet;

use crate::catalogue::Catalogue;
use crate::spec::{Key, Kind, Section};

/// Every choice of a run that a file can make, in order: the path of the key, with dots and without
/// the places in lists, and the value as text. Keys of all kinds of a section are together;
/// `[compare]` changes no run.
pub fn choices(catalogue: Catalogue) -> BTreeSet<(String, String)> {
    let mut all = BTreeSet::new();
    section("", catalogue.file(), &mut all);
    all.retain(|(path, _)| !path.starts_with("compare."));
    all
}

fn section(path: &str, section: &Section, all: &mut BTreeSet<(String, String)>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let mut keys: Vec<&Key> = section.keys.iter().collect();
    if let Some(tag) = &section.tag {
        let words = tag.variants.iter().map(|variant| variant.name.to_owned());
        all.extend(words.map(|word| (below(tag.key), word)));
        keys.extend(tag.variants.iter().flat_map(|variant| variant.keys));
    }
    for key in keys {
        kind(&below(key.name), &key.kind, all);
    }
}

fn kind(path: &str, of: &Kind, all: &mut BTreeSet<(String, String)>) {
    let mut add = |value: String| {
        all.insert((path.to_owned(), value));
    };
    match of {
        Kind::Boolean => [true, false]
            .iter()
            .for_each(|value| add(value.to_string())),
        Kind::Choice(integers) => integers.iter().for_each(|value| add(value.to_string())),
        Kind::Words { words, .. } | Kind::CongestionControl { words, .. } => {
            words.iter().for_each(|&word| add(word.to_owned()));
        }
        Kind::OrWord(word, inner) => {
            add((*word).to_owned());
            kind(path, inner, all);
        }
        Kind::List(inner) | Kind::OneOrMany(inner) | Kind::Map(inner) => kind(path, inner, all),
        _ => {
            if let Some(inner) = of.section() {
                section(path, inner, all);
            }
        }
    }
}
