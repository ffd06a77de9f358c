//! What a campaign compares: the section `[compare]`, which describes no run.
//!
//! It is no part of a resolved scenario, so that run ids do not depend on it: `resolve` takes it
//! out, as it does the sweep.

use serde::Serialize;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::normal;
use crate::problems::Problems;
use crate::shown::short;
use crate::spec::nearest;
use crate::spec::tables::COMPARE;
use crate::sweep::{Sweep, words};
use crate::tree::Table;

/// The widest margin of equality, in percent.
const MOST_PERCENT: f64 = 100.0;

/// The section `[compare]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Compare {
    /// The swept keys whose values are compared; none for the default rule.
    pub keys: Vec<String>,
    /// The measure by which they are, a word of the file.
    pub measure: Option<String>,
    /// Differences below this share of the best count as none, 0 to 1.
    pub equal_within: Option<f64>,
}

/// Reads the section of a tree, if it has one.
pub(crate) fn read(tree: &Table, sweep: &Sweep, problems: &mut Problems) -> Option<Compare> {
    let entry = tree.entry("compare")?;
    // A section that is no table is refused with the rest of the file.
    let table = entry.item.as_table()?;
    let table = normal::section(&COMPARE, table, entry.item.span, problems);
    let mut keys = Vec::new();
    for (key, place) in table.texts("keys") {
        let swept = sweep
            .axes
            .iter()
            .find(|axis| words(&axis.path) == words(key));
        match swept {
            Some(axis) if keys.contains(&axis.path) => {
                let message = format!("`{}` is compared twice", short(key));
                problems.error(Code::NotSwept, place, message, "take one out");
            }
            Some(axis) => keys.push(axis.path.clone()),
            None => not_swept(key, place, sweep, problems),
        }
    }
    if table.get("keys").is_some() && table.texts("keys").is_empty() {
        let place = table.place("keys", entry.key_span);
        let label = "name a swept key, or take `keys` out";
        problems.error(Code::NotSwept, place, "no key is compared", label);
    }
    let equal_within = table.text("equal_within").and_then(|text| {
        let share = percent(text);
        if share.is_none() {
            let place = table.place("equal_within", entry.key_span);
            let message = format!("\"{}\" is no share of the best", short(text));
            let label = "write a percentage above 0 % and below 100 %, such as \"5 %\"";
            problems.error(Code::BadMargin, place, message, label);
        }
        share
    });
    Some(Compare {
        keys,
        measure: table.text("measure").map(str::to_owned),
        equal_within,
    })
}

/// Sections of the scenario file that are choices of the network's designer.
const SECTIONS: [&str; 3] = ["routing", "tcp", "assignment"];
/// Parts of the names of keys that set the size or the discipline of a queue.
const QUEUES: [&str; 2] = ["queue", "buffer"];
/// Keys of the topology's links that describe the surroundings, with all in them.
const GIVEN: [&str; 6] = [
    "loss",
    "loss_back",
    "impairments",
    "impairments_back",
    "capacity",
    "capacity_back",
];

/// The swept keys that make a contender, in the order of the sweep; the others make a condition.
///
/// `named` are those of `[compare]`. Without any they are the choices of the designer of a network:
/// the keys of routing, TCP, congestion control and channel assignment, of queues, and of the links
/// of the topology but for their losses, impairments and capacities over time; if none of these is
/// swept, all swept keys.
pub fn choices<'a>(swept: &'a [String], named: &[String]) -> Vec<&'a str> {
    let those = |wanted: &dyn Fn(&str) -> bool| -> Vec<&'a str> {
        let keys = swept.iter().map(String::as_str);
        keys.filter(|key| wanted(key)).collect()
    };
    if !named.is_empty() {
        return those(&|key| named.iter().any(|name| words(name) == words(key)));
    }
    let found = those(&is_choice);
    if found.is_empty() {
        those(&|_| true)
    } else {
        found
    }
}

/// Whether a key is a choice unless `[compare]` names others.
fn is_choice(key: &str) -> bool {
    let path = words(key);
    let parts = path.iter().flat_map(|word| word.split('_'));
    path.first().is_some_and(|first| SECTIONS.contains(first))
        || path.contains(&"congestion_control")
        || parts.into_iter().any(|part| QUEUES.contains(&part))
        || (path.starts_with(&["topology", "link"])
            && !path.iter().any(|word| GIVEN.contains(word)))
}

fn not_swept(key: &str, place: Span, sweep: &Sweep, problems: &mut Problems) {
    let axes: Vec<_> = sweep.axes.iter().map(|axis| axis.path.as_str()).collect();
    let label = match nearest(key, axes.iter().copied()) {
        Some(nearest) => format!("did you mean `{}`?", short(nearest)),
        None if axes.is_empty() => "add the key to [sweep]".to_owned(),
        None => format!("swept here: {}", short(&axes.join(", "))),
    };
    let message = format!("`{}` is compared and not swept", short(key));
    problems.error(Code::NotSwept, place, message, label);
}

/// "5 %" as a share.
fn percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?.trim_end();
    let is_plain = |c: char| c.is_ascii_digit() || c == '.';
    let percent: f64 = number
        .chars()
        .all(is_plain)
        .then(|| number.parse().ok())??;
    (percent > 0.0 && percent < MOST_PERCENT).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_margin_is_a_percentage_between_the_ends() {
        assert_eq!(percent("5 %"), Some(0.05));
        assert_eq!(percent("0.5%"), Some(0.005));
        for text in [
            "5", "0 %", "100 %", "-1 %", "nan %", "1e1 %", " %", "%", "5 %%",
        ] {
            assert_eq!(percent(text), None, "{text}");
        }
    }
}
