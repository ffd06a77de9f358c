//! From a file to its cells and runs.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::MODEL_VERSION;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Problems, Report, Span};
use crate::files::{Files, TableReader};
use crate::model::{CustomControl, Described, Scenario};
use crate::print::{self, Style};
use crate::resolve::{Resolved, resolve};
use crate::sweep::{self, Seeds, Sweep, apply_overrides};
use crate::topology;
use crate::tree::{self, Table};

/// The largest scenario file.
const MOST_BYTES: usize = 64 << 20;

/// The most text of all cells together.
const MOST_PLAN_BYTES: usize = 1 << 30;

/// Cells of a sweep that a check looks at in all combinations; beyond, each value is looked at
/// once, with the first of all others.
const MOST_CHECKED: usize = 256;

/// A scenario file in full: every cell of its sweep and every run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// Hash over the cells' hashes; that of the one cell where there is no sweep.
    pub scenario_hash: String,
    /// The version of the models, [`MODEL_VERSION`].
    pub model_version: &'static str,
    /// The swept keys, in the order of the file.
    pub parameters: Vec<String>,
    /// The cells; the last parameter varies fastest.
    pub cells: Vec<Cell>,
    /// The seeds that each cell is run with.
    pub seeds: Vec<u64>,
    /// Every run, cell by cell.
    pub runs: Vec<Run>,
    /// The congestion controls of all cells that the simulator does not have, by name.
    pub custom_controls: Vec<CustomControl>,
}

/// A combination of swept values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Its index.
    pub index: usize,
    /// The label of each parameter: a text, a number or a boolean.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// The resolved scenario, as TOML.
    pub resolved: String,
    /// SHA-256 of the resolved scenario without comments and seed, in hexadecimal.
    pub hash: String,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The first 16 hexadecimal digits of the SHA-256 of the cell's hash, the seed and the model
    /// version.
    pub run_id: String,
    /// The cell's index.
    pub cell: usize,
    /// The seed.
    pub seed: u64,
}

/// Checks a scenario file: its warnings, or all its problems if there is an error.
///
/// `path` is the file's name in messages and the place that relative file references count from.
/// `overrides` are keys with values, applied in their order before the sweep.
///
/// # Errors
///
/// A report of every problem found, at least one of them an error.
pub fn check(
    text: &str,
    path: &str,
    overrides: &[(String, String)],
) -> Result<Vec<Diagnostic>, Report> {
    check_with(text, path, overrides, None)
}

/// [`check`], with a reader of the tables that are no text.
///
/// # Errors
///
/// As [`check`].
pub fn check_with(
    text: &str,
    path: &str,
    overrides: &[(String, String)],
    read_table: Option<TableReader>,
) -> Result<Vec<Diagnostic>, Report> {
    let mut problems = Problems::default();
    let mut files = Files::beside(path, read_table);
    let tree = load(text, path, overrides, &mut problems);
    if !problems.is_readable() {
        return problems.finish();
    }
    let sweep = sweep::read(&tree, &mut problems);
    let sweep = sweep.unwrap_or(Sweep {
        axes: Vec::new(),
        seeds: Seeds::Count(1),
    });
    for choice in checked_choices(&sweep) {
        let cell = sweep.apply(&tree, &choice, &mut problems);
        resolve(&cell, &mut files, &mut problems);
    }
    problems.finish()
}

/// The combinations that a check looks at.
fn checked_choices(sweep: &Sweep) -> Vec<Vec<usize>> {
    let cells = sweep.cells();
    if cells <= MOST_CHECKED {
        return (0..cells).map(|cell| sweep.choice(cell)).collect();
    }
    let first = vec![0; sweep.axes.len()];
    let mut choices = vec![first.clone()];
    for (axis, values) in sweep.axes.iter().enumerate() {
        for index in 1..values.values.len().min(MOST_CHECKED) {
            let mut choice = first.clone();
            choice[axis] = index;
            choices.push(choice);
        }
    }
    choices
}

/// Resolves every cell of a scenario file and names its runs. A `seed` replaces the file's.
///
/// # Errors
///
/// A report of every problem found, at least one of them an error; a sweep that is too large is
/// refused before any of it is built.
pub fn plan(
    text: &str,
    path: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
) -> Result<Plan, Report> {
    plan_with(text, path, overrides, seed, None)
}

/// [`plan`], with a reader of the tables that are no text.
///
/// # Errors
///
/// As [`plan`].
pub fn plan_with(
    text: &str,
    path: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    read_table: Option<TableReader>,
) -> Result<Plan, Report> {
    let mut files = Files::beside(path, read_table);
    plan_within(text, path, overrides, seed, &mut files, MOST_PLAN_BYTES)
}

/// A plan whose cells have at most `most_bytes` of text together.
fn plan_within(
    text: &str,
    path: &str,
    overrides: &[(String, String)],
    seed: Option<u64>,
    files: &mut Files,
    most_bytes: usize,
) -> Result<Plan, Report> {
    let mut problems = Problems::default();
    let tree = load(text, path, overrides, &mut problems);
    if !problems.is_readable() {
        return Err(report(problems));
    }
    let Some(sweep) = sweep::read(&tree, &mut problems) else {
        resolve(&tree, files, &mut problems);
        return Err(report(problems));
    };
    let mut cells = Vec::new();
    let mut base: Option<(String, u64)> = None;
    let mut plan_bytes = 0;
    let mut custom_controls = BTreeMap::new();
    for index in 0..sweep.cells() {
        let choice = sweep.choice(index);
        let cell = sweep.apply(&tree, &choice, &mut problems);
        let Some(Resolved {
            tree: normal,
            scenario,
        }) = resolve(&cell, files, &mut problems)
        else {
            // More cells show more problems, but a wrong file needs no million of them.
            if index >= MOST_CHECKED {
                break;
            }
            continue;
        };
        let resolved = print::document(&normal, Style::Marked);
        let hash = hex(&print::document(&normal, Style::Bare));
        plan_bytes += resolved.len();
        if plan_bytes > most_bytes {
            let place = tree
                .entry("sweep")
                .map_or(Span::default(), |entry| entry.key_span);
            let message = format!("the cells have more than 1 GiB of text after {index} cells");
            problems.error(Code::PlanTooLarge, place, message, "split the campaign");
            break;
        }
        let parameters = sweep
            .axes
            .iter()
            .zip(&choice)
            .map(|(axis, value)| (axis.path.clone(), axis.labels[*value].clone()))
            .collect();
        for control in scenario.custom_controls() {
            custom_controls.insert(control.name.clone(), control.clone());
        }
        base.get_or_insert_with(|| (scenario.name().to_owned(), scenario.seed()));
        cells.push(Cell {
            index,
            parameters,
            resolved,
            hash,
        });
    }
    let Some((name, file_seed)) = base.filter(|_| !problems.has_errors()) else {
        return Err(report(problems));
    };
    let seeds = seeds(&sweep.seeds, seed, file_seed);
    let scenario_hash = match cells.as_slice() {
        [single] => single.hash.clone(),
        cells => hex(&cells
            .iter()
            .map(|cell| cell.hash.as_str())
            .collect::<Vec<_>>()
            .join("\n")),
    };
    let runs = cells
        .iter()
        .flat_map(|cell| seeds.iter().map(move |seed| (cell, *seed)))
        .map(|(cell, seed)| Run {
            run_id: run_id(&cell.hash, seed),
            cell: cell.index,
            seed,
        })
        .collect();
    let parameters = sweep.axes.into_iter().map(|axis| axis.path).collect();
    Ok(Plan {
        name,
        scenario_hash,
        model_version: MODEL_VERSION,
        parameters,
        cells,
        seeds,
        runs,
        custom_controls: custom_controls.into_values().collect(),
    })
}

/// The seeds of a plan.
fn seeds(seeds: &Seeds, given: Option<u64>, in_file: u64) -> Vec<u64> {
    match (seeds, given) {
        (Seeds::List(list), None) => list.clone(),
        (Seeds::List(_), Some(seed)) => vec![seed],
        (Seeds::Count(count), given) => {
            let first = given.unwrap_or(in_file);
            (0..*count).map(|index| first.wrapping_add(index)).collect()
        }
    }
}

/// The name of a run.
fn run_id(hash: &str, seed: u64) -> String {
    let mut id = hex(&format!("{hash}\n{seed}\n{MODEL_VERSION}"));
    id.truncate(16);
    id
}

/// SHA-256 of a text, in hexadecimal.
fn hex(text: &str) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    Sha256::digest(text.as_bytes())
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The problems as a report; one is added where, against expectation, there is none.
fn report(mut problems: Problems) -> Report {
    if !problems.has_errors() {
        let message = "the scenario cannot be resolved";
        problems.error(
            Code::Empty,
            Span::default(),
            message,
            "check the values of this file",
        );
    }
    match problems.finish() {
        Err(report) => report,
        Ok(diagnostics) => Report { diagnostics },
    }
}

/// The tree of a file with its overrides.
fn load(text: &str, path: &str, overrides: &[(String, String)], problems: &mut Problems) -> Table {
    let source = problems.add_source(path, if text.len() > MOST_BYTES { "" } else { text });
    if text.len() > MOST_BYTES {
        let message = format!("the scenario has {} bytes", text.len());
        problems.file_error(
            Code::TooLarge,
            path,
            message,
            "a scenario may have 64 MiB".to_owned(),
        );
        return Table::default();
    }
    let mut tree = tree::parse(text, source, problems);
    apply_overrides(&mut tree, overrides, problems);
    tree
}

/// Checks the text of a sites file; the result is the number of sites.
///
/// # Errors
///
/// A report of every problem found.
pub fn check_sites(text: &str, path: &str) -> Result<usize, Report> {
    let mut problems = Problems::default();
    let source = problems.add_source(path, text);
    let count = topology::sites::count(source, text, &mut problems);
    problems.finish().map(|_| count)
}

impl Described {
    /// Reads a resolved scenario, as it stands in [`Cell::resolved`]. Any scenario without a
    /// sweep and without references to files will do.
    ///
    /// # Errors
    ///
    /// A report of every problem found.
    pub fn from_resolved(text: &str) -> Result<Self, Report> {
        single(text, RESOLVED, &mut Files::none())
    }
}

/// What a resolved scenario is called in messages.
const RESOLVED: &str = "scenario.resolved.toml";

impl Scenario {
    /// Reads a resolved scenario, as it stands in [`Cell::resolved`]. Any scenario without a
    /// sweep and without references to files will do.
    ///
    /// # Errors
    ///
    /// A report of every problem found, or that it is a slotted model and no network.
    pub fn from_resolved(text: &str) -> Result<Self, Report> {
        network(text, RESOLVED, &mut Files::none())
    }

    /// Reads a scenario file without a sweep. `path` is the file's name in messages and the place
    /// that relative file references count from.
    ///
    /// # Errors
    ///
    /// A report of every problem found, or that it is a slotted model and no network.
    pub fn parse(text: &str, path: &str) -> Result<Self, Report> {
        network(text, path, &mut Files::beside(path, None))
    }
}

/// The network of a text without a sweep.
fn network(text: &str, path: &str, files: &mut Files) -> Result<Scenario, Report> {
    match single(text, path, files)? {
        Described::Network(scenario) => Ok(*scenario),
        Described::Slotted(_) => {
            let mut problems = Problems::default();
            let message = "a slotted model is no network".to_owned();
            problems.file_error(
                Code::WrongType,
                path,
                message,
                "remove [slotted]".to_owned(),
            );
            Err(report(problems))
        }
    }
}

/// What a text without a sweep describes.
fn single(text: &str, path: &str, files: &mut Files) -> Result<Described, Report> {
    let mut problems = Problems::default();
    let tree = load(text, path, &[], &mut problems);
    if !problems.is_readable() {
        return Err(report(problems));
    }
    if let Some(entry) = tree.entry("sweep") {
        let message = "a single run cannot have a sweep";
        problems.error(Code::SweepInRun, entry.key_span, message, "remove [sweep]");
    }
    match resolve(&tree, files, &mut problems) {
        Some(resolved) if !problems.has_errors() => Ok(resolved.scenario),
        _ => Err(report(problems)),
    }
}

/// Reads a scenario file.
///
/// # Errors
///
/// A report that the file cannot be read, is too large or is not UTF-8.
pub fn read_file(path: &str) -> Result<String, Report> {
    let mut problems = Problems::default();
    match std::fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let message = format!("\"{path}\" is not UTF-8 (byte {at})");
                problems.file_error(
                    Code::NotUtf8,
                    path,
                    message,
                    "save the file as UTF-8".to_owned(),
                );
            }
        },
        Err(error) => {
            let message = format!(
                "\"{path}\" cannot be read: {}",
                crate::files::reason(&error)
            );
            problems.file_error(
                Code::Unreadable,
                path,
                message,
                "name a scenario file".to_owned(),
            );
        }
    }
    Err(report(problems))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Law;

    const CHAIN: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
        link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n\
        [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n";

    fn swept(sweep: &str) -> Plan {
        plan(&format!("{CHAIN}[sweep]\n{sweep}"), "s.toml", &[], None)
            .unwrap_or_else(|report| panic!("{report}"))
    }

    #[test]
    fn a_plan_with_too_much_text_is_refused() {
        let text = format!("{CHAIN}[sweep]\n\"topology.nodes\" = [3, 4]\n");
        let report = plan_within(&text, "s.toml", &[], None, &mut Files::none(), 1000).unwrap_err();
        assert_eq!(report.diagnostics[0].code, "S064");
    }

    #[test]
    fn the_last_parameter_varies_fastest_and_seeds_count_from_the_scenarios() {
        let plan = swept(
            "\"topology.nodes\" = [3, 4]\n\"tcp.mss\" = [\"1000 B\", \"1448 B\"]\nseeds = 2\n",
        );
        let labels: Vec<_> = plan
            .cells
            .iter()
            .map(|cell| {
                format!(
                    "{} {}",
                    cell.parameters["topology.nodes"], cell.parameters["tcp.mss"]
                )
            })
            .collect();
        assert_eq!(
            labels,
            [
                "3 \"1000 B\"",
                "3 \"1448 B\"",
                "4 \"1000 B\"",
                "4 \"1448 B\""
            ]
        );
        assert_eq!(plan.seeds, [1, 2]);
        let ids: std::collections::BTreeSet<_> = plan.runs.iter().map(|run| &run.run_id).collect();
        assert_eq!(ids.len(), 8);
    }

    #[test]
    fn the_hash_sees_values_and_neither_comments_nor_seeds_nor_spelling() {
        let hash = |text: &str| plan(text, "s.toml", &[], None).unwrap().scenario_hash;
        let base = hash(CHAIN);
        assert_eq!(hash(&format!("# hello\nseed = 7\n{CHAIN}")), base);
        assert_eq!(
            hash(
                &CHAIN
                    .replace("10 Mbit/s", "10000 kbit/s")
                    .replace("\"4 ms\"", "\"0.004 s\"")
            ),
            base
        );
        assert_ne!(hash(&CHAIN.replace("4 ms", "5 ms")), base);
    }

    #[test]
    fn a_given_seed_replaces_that_of_the_file() {
        let text = format!("seed = 5\n{CHAIN}");
        assert_eq!(plan(&text, "s.toml", &[], None).unwrap().seeds, [5]);
        assert_eq!(plan(&text, "s.toml", &[], Some(9)).unwrap().seeds, [9]);
    }

    #[test]
    fn an_override_comes_before_the_sweep_and_drops_the_old_protocols_keys() {
        let text = format!("{CHAIN}[routing]\nprotocol = \"bp-mr\"\ngranularity = \"packet\"\n");
        let set = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        let plan = plan(&text, "s.toml", &set("routing.protocol", "olsr"), None).unwrap();
        assert!(plan.cells[0].resolved.contains("protocol = \"olsr\""));
        assert!(!plan.cells[0].resolved.contains("granularity"));
        let text = format!("{CHAIN}[sweep]\n\"topology.nodes\" = [3, 4]\n");
        let plan = super::plan(&text, "s.toml", &set("sweep.seeds", "3"), None).unwrap();
        assert_eq!(plan.runs.len(), 6);
    }

    #[test]
    fn a_path_reaches_every_row_or_the_numbered_one() {
        let both = format!(
            "{CHAIN}[[flow]]\nkind = \"transfer\"\nfrom = \"enb2\"\nto = \"enb3\"\nsize = \"1 MB\"\n"
        );
        let sizes = |key: &str| {
            let overrides = vec![(key.to_owned(), "2 MB".to_owned())];
            let plan = plan(&both, "s.toml", &overrides, None).unwrap();
            let scenario = Scenario::from_resolved(&plan.cells[0].resolved).unwrap();
            scenario
                .flows
                .iter()
                .map(|flow| flow.size.unwrap())
                .collect::<Vec<_>>()
        };
        let [one, two] = [1_000_000, 2_000_000].map(Law::Fixed);
        assert_eq!(sizes("flow.size"), [two, two]);
        assert_eq!(sizes("flow.1.size"), [one, two]);
    }
}
