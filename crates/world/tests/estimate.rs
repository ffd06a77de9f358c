//! Estimates beside the events of real runs: a count that no machine makes slower or faster.

use std::path::{Path, PathBuf};

use backlane_scenario::Described;
use backlane_world::{World, estimate, slotted};

/// What an estimate may be off by.
const MOST: f64 = 5.0;
/// Longer runs are left to `validation.cost`.
const MOST_EVENTS: f64 = 2e6;

/// Times of examples, and in their place.
const TIMES: [(&str, &str); 10] = [
    (
        "protocol = \"olsr\" }",
        "protocol = \"olsr\", warm_up = \"20 s\" }",
    ),
    ("at = \"9 s\"", "at = \"1 s\""),
    ("until = \"11 s\"", "until = \"2 s\""),
    ("at = \"10 s\"", "at = \"500 ms\""),
    ("until = \"40 s\"", "until = \"1 s\""),
    ("at = \"63 s\"", "at = \"1500 ms\""),
    ("until = \"110 s\"", "until = \"2 s\""),
    ("\"staggered\"", "\"every 10 ms from 0 s\""),
    ("\"every 50 ms from 4 s\"", "\"every 1 ms from 0 s\""),
    ("\"uniform 0 s 5 s\"", "\"uniform 0 s 1 s\""),
];

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut folders = vec![root];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Runs the first and the last cell of each example, cut short; the templates are examples.
#[test]
fn the_events_of_each_example_are_near_the_estimate() {
    let mut tried = 0;
    for file in examples() {
        let text = std::fs::read_to_string(&file).unwrap();
        // What only the program beside it or Python can run, and what is no scenario.
        let has_program =
            file.with_file_name("Cargo.toml").exists() || text.contains("protocol = \"python\"");
        if has_program || !(text.contains("[[flow]]") || text.contains("[slotted]")) {
            continue;
        }
        // What happens late happens early in runs that are cut short.
        let text = TIMES
            .iter()
            .fold(text, |text, (late, early)| text.replace(late, early));
        let short = if text.contains("[slotted]") {
            Vec::new()
        } else {
            vec![("duration".to_owned(), "\"3 s\"".to_owned())]
        };
        let name = file.to_string_lossy();
        let plan = backlane_world::catalogue()
            .plan(&text, &name, &short, None)
            .unwrap_or_else(|report| panic!("{report}"));
        let last = plan.cells.len() - 1;
        for cell in plan.cells.iter().step_by(last.max(1)) {
            let described = backlane_world::catalogue()
                .described(&cell.resolved)
                .unwrap();
            let expected = estimate(&described).events as f64;
            if expected > MOST_EVENTS {
                continue;
            }
            let outcome = match &described {
                Described::Network(scenario) => {
                    World::new(scenario, 1, None).unwrap().run(|_, _| Ok(()))
                }
                Described::Slotted(slotted) => slotted::run(slotted, 1, |_| Ok(()), None).unwrap(),
            };
            let fired = outcome.unwrap().summary.events as f64;
            let ratio = expected / fired;
            assert!(
                (1.0 / MOST..MOST).contains(&ratio),
                "{name}, cell {}: {expected} expected, {fired} fired",
                cell.index
            );
            tried += 1;
        }
    }
    assert!(tried >= 18, "{tried}");
}
