//! The reference page of the file, made from the table of keys.

use std::fmt::Write;

use crate::profile::{self, Profile};
use crate::spec::tables::{lte, wifi};
use crate::spec::{Key, Kind, Presence, Section, Tag, tables};

/// The reference of every section and key, in Markdown.
pub fn reference_page() -> String {
    let mut page = String::from(
        "# The scenario file\n\n\
         A scenario is a TOML file. A physical quantity is a text with its unit (\"500 Mbit/s\", \
         \"4 ms\", \"10 MB\"); a bare number is refused. An unknown key is refused, and the nearest \
         known one is named. `backlane check` lists everything that is wrong with a file, \
         `backlane schema` prints its JSON Schema. This page is made from the same table.\n",
    );
    let sections: &[(&str, &'static Section)] = &[
        ("The top of the file", &tables::FILE),
        ("[topology]", &tables::TOPOLOGY),
        ("Link", &tables::LINK),
        ("Wire", &tables::WIRE),
        ("Link between sites", &tables::SITE_LINK),
        ("Queue", &tables::QUEUE),
        ("Rule for sites", &tables::SITE_RULE),
        ("[[topology.node]]", &tables::NODE),
        ("[[topology.link]]", &tables::GRAPH_LINK),
        ("[[gateway]]", &tables::GATEWAY),
        ("[[server]]", &tables::SERVER),
        ("[access]", &tables::ACCESS),
        ("[[access.carrier]]", &lte::CARRIER),
        ("[access.path_loss]", &lte::PATH_LOSS),
        ("[access.shadowing]", &lte::SHADOWING),
        ("[access.scheduler]", &lte::SCHEDULER),
        ("[access.cqi]", &lte::CQI),
        ("[access.adaptation]", &lte::ADAPTATION),
        ("[access.harq]", &lte::HARQ),
        ("[access.uplink]", &lte::UPLINK),
        ("[access.rlc]", &lte::RLC),
        ("[access.rlc.aqm]", &lte::AQM),
        ("[access.pdcp]", &lte::PDCP),
        ("[access.attach]", &lte::ATTACH),
        ("[access.handover]", &lte::HANDOVER),
        ("[access.radio_link]", &lte::RADIO_LINK),
        ("[[access.ue]]", &lte::UE),
        ("[wifi]", &tables::WIFI),
        ("[wifi.path_loss]", &wifi::PATH_LOSS),
        ("[wifi.fading]", &wifi::FADING),
        ("[wifi.reception]", &wifi::RECEPTION),
        ("[assignment]", &tables::ASSIGNMENT),
        ("[[assignment.demands]]", &tables::DEMAND),
        ("[assignment.interference]", &tables::INTERFERENCE),
        ("[routing]", &tables::ROUTING),
        ("[routing.burst]", &tables::BURST),
        ("[tcp]", &tables::TCP),
        ("[tcp.rr]", &tables::RR),
        ("[tcp.pr]", &tables::PR),
        ("[coding]", &tables::CODING),
        ("[[flow]]", &tables::FLOW),
        ("[[failure]]", &tables::FAILURE),
        ("[record]", &tables::RECORD),
        ("[slotted]", &tables::SLOTTED),
        ("[slotted.region]", &tables::SLOTTED_REGION),
        ("[[slotted.link]]", &tables::SLOTTED_LINK),
        ("[[slotted.flow]]", &tables::SLOTTED_FLOW),
        ("[[python]]", &tables::PYTHON),
        ("Channel", &tables::CHANNEL),
        ("[[trace]]", &tables::TRACE),
    ];
    for (title, section) in sections {
        write_section(&mut page, title, section);
        match *title {
            "[access]" => write_profile(&mut page, &profile::LENA),
            "[wifi]" => write_profile(&mut page, &profile::NS2),
            _ => {}
        }
    }
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

/// The defaults that a profile changes.
fn write_profile(page: &mut String, profile: &Profile) {
    let Profile { name, word, .. } = profile;
    let _ = write!(
        page,
        "\nWith `profile = \"{word}\"` these are the defaults; each key can still be set.\n\n\
         | section | key | standard | {word} |\n|---|---|---|---|\n",
    );
    for other in profile.defaults {
        let path = match (other.section, other.word) {
            ("", _) => format!("[{name}]"),
            (section, "") => format!("[{name}.{section}]"),
            (section, word) => format!("[{name}.{section}] with \"{word}\""),
        };
        let section = profile.section(other);
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
    if let Some(Tag {
        variants: [first, rest @ ..],
        ..
    }) = &section.tag
        && !rest.is_empty()
        && rest
            .iter()
            .all(|variant| same_names(variant.keys, first.keys))
    {
        let keys: Vec<_> = section
            .tag
            .iter()
            .flat_map(|tag| tag.variants)
            .map(|v| (v.name, v.keys))
            .collect();
        write_columns(page, &keys);
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
