//! A scenario is refused with a coded report, or resolves to a fixed point.

use backlane_scenario::{Plan, Report, Severity, explain};
use backlane_world::catalogue;
use toml::{Table, Value};

/// The longest text that is tried.
const MOST_BYTES: usize = 16 << 10;

/// Numbers under these keys set the size of a network or a campaign; large ones take too much time.
const SIZES: [&str; 16] = [
    "rows",
    "columns",
    "nodes",
    "branching",
    "depth",
    "children",
    "extra_links",
    "ues",
    "count",
    "seeds",
    "k",
    "degree_cap",
    "radios",
    "max_ues",
    "points",
    "per_enodeb",
];
/// The largest of them.
const MOST: i64 = 24;
/// The largest tree, by branching to the power of depth.
const MOST_LEAVES: i64 = 256;
/// The most cells of a sweep.
const MOST_CELLS: usize = 16;

/// Checks and resolves the bytes as a scenario file.
///
/// # Panics
/// If a report is incomplete, or a resolved scenario resolves to another one.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if text.len() > MOST_BYTES || is_large(text) {
        return;
    }
    resolves_or_is_refused(text, "fuzzed.toml");
}

/// The plan of a text, if it is a scenario, after all checks of a scenario; `path` is the folder
/// of its files.
pub(crate) fn resolves_or_is_refused(text: &str, path: &str) -> Option<Plan> {
    match catalogue().plan(text, path, &[], None) {
        Ok(plan) => {
            for cell in &plan.cells {
                is_a_fixed_point(&cell.resolved);
            }
            Some(plan)
        }
        Err(report) => {
            is_a_report(&report);
            None
        }
    }
}

/// Checks that a report has an error, codes with an explanation, and places in the text.
pub(crate) fn is_a_report(report: &Report) {
    let errors = report.diagnostics.iter();
    assert!(errors.map(|d| d.severity).any(|s| s == Severity::Error));
    for found in &report.diagnostics {
        assert!(found.code.starts_with('S'), "{}", found.code);
        assert!(explain(found.code).is_some(), "{}", found.code);
        assert!(!found.message.is_empty() && !found.file.is_empty());
        assert!(found.line != Some(0) && found.column != Some(0) && found.length != Some(0));
        assert_eq!(found.line.is_some(), found.column.is_some());
    }
    assert!(!report.to_string().is_empty());
}

/// Checks that a resolved scenario is a fixed point of resolving.
pub(crate) fn is_a_fixed_point(resolved: &str) {
    let described = catalogue().described(resolved);
    assert!(
        described.is_ok(),
        "{}\nof\n{resolved}",
        described.unwrap_err()
    );
    let again = catalogue().plan(resolved, "resolved.toml", &[], None);
    let again = again.unwrap_or_else(|report| panic!("{report}\nof\n{resolved}"));
    assert_eq!(again.cells.len(), 1);
    let [before, after] = [resolved, &again.cells[0].resolved];
    let changed = before.lines().zip(after.lines()).find(|(a, b)| a != b);
    assert_eq!(changed, None, "of\n{resolved}");
    assert_eq!(before.lines().count(), after.lines().count());
}

/// Whether a text needs more than a moment to resolve.
fn is_large(text: &str) -> bool {
    let Ok(table) = text.parse::<Table>() else {
        return false;
    };
    let cells = table
        .get("sweep")
        .and_then(Value::as_table)
        .map_or(1, |sweep| {
            let lists = sweep.values().filter_map(Value::as_array);
            lists.fold(1usize, |cells, list| {
                cells.saturating_mul(list.len().max(1))
            })
        });
    cells > MOST_CELLS || has_large(&Value::Table(table), "")
}

/// Whether a value under `key`, or one within it, sets a large size.
fn has_large(value: &Value, key: &str) -> bool {
    match value {
        Value::Integer(number) => {
            SIZES.iter().any(|size| key.ends_with(size)) && number.abs() > MOST
        }
        Value::Array(values) => values.iter().any(|value| has_large(value, key)),
        Value::Table(table) => {
            let size = |key: &str| table.get(key).and_then(Value::as_integer).unwrap_or(1);
            let leaves = (0..size("depth").clamp(0, MOST)).try_fold(1i64, |leaves, _| {
                leaves
                    .checked_mul(size("branching"))
                    .filter(|&n| n <= MOST_LEAVES)
            });
            let inner = |(name, value): (&String, &Value)| {
                // The eNodeBs are the keys of this one.
                has_large(value, if key == "per_enodeb" { key } else { name })
            };
            leaves.is_none() || table.iter().any(inner)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_texts_are_told_from_small_ones() {
        for large in [
            "[topology]\nrows = 25",
            "topology = { branching = 7, depth = 4 }",
            "[access.per_enodeb]\nenb1 = 1000",
            "[sweep]\n\"topology.nodes\" = [3, 30]",
            "[sweep]\na = [1, 2, 3, 4, 5]\nb = [1, 2, 3, 4]",
        ] {
            assert!(is_large(large), "{large}");
        }
        let small =
            "duration = \"900 s\"\n[topology]\nrows = 5\n[tcp]\nretries = 1000\n[sweep]\na = [1]";
        assert!(!is_large(small));
    }

    #[test]
    #[should_panic(expected = "duration")]
    fn what_is_no_fixed_point_is_found() {
        // A resolved text contains all defaults.
        is_a_fixed_point(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
             link = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n",
        );
    }
}
