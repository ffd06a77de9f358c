//! The reference page of the file, made from the table of keys.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::catalogue::{Catalogue, Profile};
use crate::spec::{Key, Kind, Presence, Section, tables};

/// The reference of every section and key, in Markdown.
pub fn reference_page(catalogue: Catalogue) -> String {
    let mut page = String::from(
        "# The scenario file\n\n\
         A scenario is a TOML file. A physical quantity is a text with its unit (\"500 Mbit/s\", \
         \"4 ms\", \"10 MB\"); a bare number is refused. An unknown key is refused, and the nearest \
         known one is named. `backlane check` lists everything that is wrong with a file, \
         `backlane schema` prints its JSON Schema. This page is made from the same table.\n",
    );
    let mut walk = Walk {
        page: &mut page,
        catalogue,
        seen: BTreeSet::new(),
    };
    walk.section("The top of the file", catalogue.file(), &mut Vec::new());
    page.push_str(SWEEP);
    page
}

const SWEEP: &str = "\n## [sweep]\n\n\
    Each key is the path of a key of the file, with dots, and each value a list; every combination \
    is a cell, and every cell is run with every seed. A path through an array of tables takes a \
    number (`flow.0.size`, the first) or means all of them (`flow.size`). A table in a list is \
    merged over the section it names; when it changes the section's kind or protocol, keys that \
    belong to the old one go; its key `label`, if it has one, is what tables and figures call it. \
    `seeds` is a number of seeds, counted from `seed`, or a list. At \
    most 1 000 000 runs are possible.\n\n\
    ```toml\n[sweep]\n\"routing\" = [{ protocol = \"olsr\" }, { protocol = \"bp-mr\", granularity = \"flow\" }]\n\
    \"access.ues\" = [25, 50, 75, 100]\nseeds = 10\n```\n";

/// Sections that stand in several places, with what the page calls them.
const SHARED: [(&Section, &str); 6] = [
    (&tables::LINK, "Link"),
    (&tables::WIRE, "Wire"),
    (&tables::SITE_LINK, "Link between sites"),
    (&tables::QUEUE, "Queue"),
    (&tables::SITE_RULE, "Rule for sites"),
    (&tables::CHANNEL, "Channel"),
];

/// Writes each section once, where the file has it first.
struct Walk<'a> {
    page: &'a mut String,
    catalogue: Catalogue,
    /// Addresses.
    seen: BTreeSet<usize>,
}

impl Walk<'_> {
    fn section(&mut self, title: &str, section: &'static Section, path: &mut Vec<&'static str>) {
        if !self.seen.insert(std::ptr::from_ref(section).addr()) {
            return;
        }
        write_section(self.page, title, section);
        for profile in self.catalogue.profiles() {
            if *path == [profile.name] {
                write_profile(self.page, profile, self.catalogue);
            }
        }
        let variants = section.tag.iter().flat_map(|tag| tag.variants);
        let inner = if columns(section).is_some() {
            0
        } else {
            usize::MAX
        };
        let keys = variants.take(inner).flat_map(|variant| variant.keys);
        for key in section.keys.iter().chain(keys) {
            let Some(inner) = key.kind.section() else {
                continue;
            };
            path.push(key.name);
            let shared = SHARED.iter();
            let mut shared =
                shared.filter(|(section, _)| std::ptr::eq(self.catalogue.of(section), inner));
            let title = match (shared.next(), &key.kind) {
                (Some((_, title)), _) => (*title).to_owned(),
                (None, Kind::Tables(_)) => format!("[[{}]]", path.join(".")),
                (None, _) => format!("[{}]", path.join(".")),
            };
            self.section(&title, inner, path);
            path.pop();
        }
    }
}

/// The words of a tag and their keys where all have keys of the same names.
fn columns(section: &Section) -> Option<Vec<(&'static str, &'static [Key])>> {
    let variants = section.tag.as_ref()?.variants;
    let [first, rest @ ..] = variants else {
        return None;
    };
    let alike = rest
        .iter()
        .all(|variant| same_names(variant.keys, first.keys));
    let columns = || variants.iter().map(|v| (v.name, v.keys)).collect();
    (alike && !rest.is_empty() && !first.keys.is_empty()).then(columns)
}

/// The defaults that a profile changes.
fn write_profile(page: &mut String, profile: &Profile, catalogue: Catalogue) {
    let (name, word) = (profile.name, profile.changed.word);
    let _ = write!(
        page,
        "\nWith `profile = \"{word}\"` these are the defaults; each key can still be set.\n\n\
         | section | key | standard | {word} |\n|---|---|---|---|\n",
    );
    for other in &profile.changed.defaults {
        let path = match (other.table, other.under) {
            ("", _) => format!("[{name}]"),
            (section, "") => format!("[{name}.{section}]"),
            (section, word) => format!("[{name}.{section}] with \"{word}\""),
        };
        let section = profile.section(other, catalogue);
        let standard = section.map_or_else(String::new, |section| match &section.tag {
            Some(tag) if tag.key == other.key => {
                format!("`\"{}\"`", tag.default.unwrap_or_default())
            }
            _ => section.find(other.key).map_or_else(String::new, default),
        });
        let _ = writeln!(
            page,
            "| {path} | `{}` | {standard} | `{}` |",
            other.key, other.value
        );
    }
}

fn write_section(page: &mut String, title: &str, section: &Section) {
    let _ = write!(page, "\n## {title}\n\n{}\n", section.doc);
    let common: Vec<&Key> = section.keys.iter().collect();
    if let Some(tag) = &section.tag {
        let words: Vec<String> = tag
            .variants
            .iter()
            .map(|v| format!("`\"{}\"`", v.name))
            .collect();
        let default = match tag.default {
            Some(default) => format!("default `\"{default}\"`"),
            None => "required".to_owned(),
        };
        let _ = write!(
            page,
            "\n`{}`: {} ({default}) {}\n",
            tag.key,
            words.join(", "),
            tag.doc
        );
    }
    write_keys(page, &common);
    if let Some(columns) = columns(section) {
        write_columns(page, &columns);
        return;
    }
    for variant in section.tag.iter().flat_map(|tag| tag.variants) {
        let _ = write!(
            page,
            "\n### {} = \"{}\"\n\n{}\n",
            section.tag.as_ref().map_or("", |tag| tag.key),
            variant.name,
            variant.doc
        );
        write_keys(page, &variant.keys.iter().collect::<Vec<_>>());
    }
}

fn same_names(a: &[Key], b: &[Key]) -> bool {
    a.iter()
        .map(|key| key.name)
        .eq(b.iter().map(|key| key.name))
}

/// Keys that are the same under every word of a tag: one table with a column of defaults for each
/// word, then the tables inside.
fn write_columns(page: &mut String, columns: &[(&str, &'static [Key])]) {
    let [(_, first), ..] = columns else {
        return;
    };
    let words: Vec<_> = columns.iter().map(|(word, _)| *word).collect();
    let _ = write!(
        page,
        "\n| key | value | {} | meaning |\n|---|---|{}---|\n",
        words.join(" | "),
        "---|".repeat(columns.len())
    );
    for (index, key) in first.iter().enumerate() {
        if key.kind.section().is_some() {
            continue;
        }
        let defaults: Vec<_> = columns
            .iter()
            .map(|(_, keys)| default(&keys[index]))
            .collect();
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            key.name,
            value(&key.kind),
            defaults.join(" | "),
            key.doc
        );
    }
    for (index, key) in first.iter().enumerate() {
        let Some(section) = key.kind.section() else {
            continue;
        };
        let _ = write!(page, "\n### [{}]\n\n{}\n", section.noun, section.doc);
        let inner: Vec<_> = columns
            .iter()
            .filter_map(|(word, keys)| Some((*word, keys[index].kind.section()?.keys)))
            .collect();
        if !section.keys.is_empty() {
            write_columns(page, &inner);
        }
    }
}

fn default(key: &Key) -> String {
    match &key.presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "–".to_owned(),
        Presence::Section => "its keys' defaults".to_owned(),
        Presence::Default(toml) => format!("`{toml}`"),
    }
}

fn write_keys(page: &mut String, keys: &[&Key]) {
    if keys.is_empty() {
        return;
    }
    page.push_str("\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            key.name,
            value(&key.kind),
            default(key),
            key.doc
        );
    }
}

/// A kind with the limits that messages leave out.
fn value(kind: &Kind) -> String {
    kind.describe().replace('|', "\\|")
}
