//! Every key of a scenario file with values that it may have, from the schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::choices::Choices;

/// A key: its path, of which rows of a list have one, and the kinds of values that it may have.
type Key = (String, Vec<Values>);

/// The keys by section.
static SECTIONS: LazyLock<BTreeMap<String, Vec<Key>>> = LazyLock::new(sections);

/// Values that a key may have.
#[derive(Clone, Debug)]
enum Values {
    /// One of these.
    Words(Vec<String>),
    /// A whole number from 0 or 1 to a largest one.
    Integer(i64, i64),
    /// A number between two.
    Number(f64, f64),
    /// One or two of these, as a list.
    List(Box<Values>),
}

/// Numbers under these keys say how large a network is, and stay small.
const SIZES: [&str; 12] = [
    "rows",
    "columns",
    "nodes",
    "branching",
    "depth",
    "children",
    "extra_links",
    "extra_degree",
    "ues",
    "count",
    "radios",
    "points",
];

/// Values for quantities, by what the schema gives as the first example.
const QUANTITIES: &[(&str, &[&str])] = &[
    (
        "4 ms",
        &[
            "0 s", "1 ps", "1 us", "100 us", "1 ms", "4 ms", "20 ms", "100 ms", "500 ms", "2 s",
            "10 s", "300 s",
        ],
    ),
    (
        "8 ms",
        &[
            "0 ms", "1 ms", "2 ms", "5 ms", "8 ms", "20 ms", "40 ms", "160 ms",
        ],
    ),
    (
        "500 Mbit/s",
        &[
            "1 bit/s",
            "10 kbit/s",
            "1 Mbit/s",
            "2 Mbit/s",
            "6 Mbit/s",
            "11 Mbit/s",
            "54 Mbit/s",
            "1 Gbit/s",
            "100 Gbit/s",
        ],
    ),
    (
        "10 MB",
        &[
            "0 B", "1 B", "36 B", "100 B", "1500 B", "9 kB", "100 kB", "1 MB", "10 MB", "1 GB",
        ],
    ),
    (
        "200 m",
        &[
            "0 m", "1 m", "1.5 m", "30 m", "200 m", "1 km", "30 km", "-100 m",
        ],
    ),
    (
        "30 dBm",
        &["-120 dBm", "-82 dBm", "0 dBm", "16 dBm", "30 dBm", "60 dBm"],
    ),
    (
        "3 dB",
        &["0 dB", "0.05 dB", "1 dB", "3 dB", "10 dB", "30 dB", "-5 dB"],
    ),
    (
        "2.6 GHz",
        &["450 MHz", "1.9 GHz", "2.12 GHz", "2.6 GHz", "5.18 GHz"],
    ),
    (
        "60 km/h",
        &["0 km/h", "3 km/h", "60 km/h", "500 km/h", "1 m/s"],
    ),
    (
        "45 deg",
        &["0 deg", "45 deg", "180 deg", "-90 deg", "360 deg"],
    ),
    (
        "750 packets",
        &[
            "1 packets",
            "5 packets",
            "750 packets",
            "3 kB",
            "375 kB",
            "100 ms",
        ],
    ),
    (
        "1 bdp",
        &[
            "1 bdp",
            "0.1 bdp",
            "1 packets",
            "20 packets",
            "340 packets",
            "2 kB",
            "500 kB",
        ],
    ),
];

/// Texts of which the schema says no more: names of nodes and links, and limits of queues.
const NAMES: &[&str] = &[
    "enb1",
    "enb2",
    "enb3",
    "epc",
    "server",
    "ues",
    "ue1",
    "ue2",
    "n1",
    "n2",
    "n4",
    "enb1-enb2",
    "n1-n2",
    "enb2-ue1",
    "epc-enb1",
    "all",
    "20 packets",
    "1 bdp",
    "5 packets",
];

/// A key of one of these sections and a value for it, as an override.
pub(crate) fn key_and_value(sections: &[&str], choices: &mut Choices) -> (String, String) {
    let section = choices.of(sections);
    let keys = SECTIONS.get(section).map_or(&[][..], Vec::as_slice);
    if keys.is_empty() {
        return (section.to_owned(), String::new());
    }
    let (path, values) = &keys[choices.number(2) as usize % keys.len()];
    let values = &values[choices.below(values.len())];
    let is_size = SIZES.iter().any(|size| path.ends_with(&format!(".{size}")));
    (path.clone(), values.draw(is_size, choices))
}

/// Every word that the schema names: keys, and the words among their values.
pub(crate) fn words() -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (path, values) in SECTIONS.values().flatten() {
        words.extend(path.split('.').map(str::to_owned));
        for values in values {
            let values = match values {
                Values::List(inner) => inner,
                other => other,
            };
            if let Values::Words(all) = values {
                words.extend(all.iter().cloned());
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

impl Values {
    fn draw(&self, is_size: bool, choices: &mut Choices) -> String {
        match self {
            Self::Words(words) => words[choices.below(words.len())].clone(),
            Self::Integer(least, most) => {
                let number = match choices.below(6) {
                    0 => *least,
                    1 if !is_size => *most,
                    2 if !is_size => least + choices.number(2) as i64,
                    _ => least + choices.below(if is_size { 4 } else { 16 }) as i64,
                };
                number.min(*most).to_string()
            }
            Self::Number(least, most) => {
                let share = choices.share();
                let number = match choices.below(3) {
                    0 => least + share * (most - least),
                    1 => least + share * (most - least).min(1.0),
                    _ => least + share * (most - least).min(1e-3),
                };
                // A number with a point is one, regardless of its digits.
                format!("{number:?}")
            }
            Self::List(inner) => {
                let quoted = |choices: &mut Choices| {
                    let value = inner.draw(is_size, choices);
                    match **inner {
                        Self::Words(_) => format!("\"{value}\""),
                        _ => value,
                    }
                };
                let values: Vec<_> = (0..=choices.below(2)).map(|_| quoted(choices)).collect();
                format!("[{}]", values.join(", "))
            }
        }
    }
}

fn sections() -> BTreeMap<String, Vec<Key>> {
    let schema: Value =
        serde_json::from_str(&backlane_scenario::schema(backlane_world::catalogue()))
            .unwrap_or_default();
    let mut keys = BTreeMap::new();
    walk(&schema, "", &mut keys);
    let mut sections: BTreeMap<String, Vec<Key>> = BTreeMap::new();
    for (path, values) in keys {
        let section = path.split('.').next().unwrap_or_default().to_owned();
        sections.entry(section).or_default().push((path, values));
    }
    sections
}

/// Adds the keys below `path`.
fn walk(schema: &Value, path: &str, keys: &mut BTreeMap<String, Vec<Values>>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for alternatives in ["oneOf", "anyOf"] {
        for one in schema[alternatives].as_array().into_iter().flatten() {
            walk(one, path, keys);
        }
    }
    if let Some(properties) = schema["properties"].as_object() {
        // A path of a sweep is a key of its own, with values of another.
        let is_key = |name: &&String| path != "sweep" || *name == "seeds";
        for (name, inner) in properties.iter().filter(|(name, _)| is_key(name)) {
            walk(inner, &below(name), keys);
        }
    } else if schema["additionalProperties"].is_object() {
        walk(&schema["additionalProperties"], &below("enb1"), keys);
    } else if is_table(&schema["items"]) {
        walk(&schema["items"], path, keys);
    } else if let Some(values) = schema.as_object().and_then(values) {
        keys.entry(path.to_owned()).or_default().push(values);
    }
}

fn is_table(schema: &Value) -> bool {
    let has_tables = |key: &str| {
        let all = schema[key].as_array();
        all.is_some_and(|all| all.iter().any(|one| one["properties"].is_object()))
    };
    schema["properties"].is_object() || has_tables("oneOf") || has_tables("anyOf")
}

/// The values that a part of the schema allows, if it says anything of values.
fn values(schema: &Map<String, Value>) -> Option<Values> {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(items) = schema.get("items") {
        let inner = items.as_object().and_then(values);
        let inner = inner.or_else(|| items["anyOf"][0].as_object().and_then(values))?;
        return Some(Values::List(Box::new(inner)));
    }
    if let Some(word) = schema.get("const") {
        return Some(Values::Words(vec![plain(word)]));
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return Some(Values::Words(words.iter().map(plain).collect()));
    }
    let listed = |words: &[&str]| Values::Words(words.iter().map(|w| (*w).to_owned()).collect());
    match schema.get("type").and_then(Value::as_str)? {
        "boolean" => Some(listed(&["true", "false"])),
        "integer" => {
            let most = number("maximum").unwrap_or(1e6).min(1e9);
            Some(Values::Integer(
                number("minimum").unwrap_or(0.0) as i64,
                most as i64,
            ))
        }
        "number" => Some(Values::Number(
            number("minimum").unwrap_or(0.0),
            number("maximum").unwrap_or(1.0),
        )),
        "string" => {
            let examples: Vec<String> = (schema.get("examples").and_then(Value::as_array))
                .map_or_else(Vec::new, |all| all.iter().map(plain).collect());
            let Some(first) = examples.first() else {
                return Some(listed(NAMES));
            };
            let known = QUANTITIES.iter().find(|(example, _)| example == first);
            // Some lists of examples begin with a plain quantity and have laws beside it.
            Some(match known {
                Some((_, words)) if examples.len() == 1 || first == "1 bdp" => listed(words),
                _ => Values::Words(examples),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_section_and_depth_have_values() {
        let paths: Vec<&str> = SECTIONS
            .values()
            .flatten()
            .map(|(path, _)| &**path)
            .collect();
        for path in [
            "tcp.cubic.beta",
            "topology.link.queue.mark_above",
            "routing.burst.period",
            "access.carrier.bandwidth",
            "access.per_enodeb.enb1",
            "flow.count",
            "record.series",
            "slotted.flow.rate",
            "failure.until",
            "wifi.reception.capture",
            "assignment.interference.hops",
        ] {
            assert!(paths.contains(&path), "{path}");
        }
        assert!(paths.len() > 300, "{}", paths.len());
        let mut choices = Choices::new(&[5; 40]);
        for (path, values) in SECTIONS.values().flatten() {
            assert!(!values.is_empty(), "{path}");
            for values in values {
                assert!(!values.draw(false, &mut choices).is_empty(), "{path}");
            }
        }
    }
}
