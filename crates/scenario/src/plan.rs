//! From a file to its cells and runs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::MODEL_VERSION;
use crate::catalogue::Catalogue;
use crate::codes::Code;
use crate::compare::{self, Compare};
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::files::{Files, TableReader};
use crate::graph::Graphs;
use crate::hash;
use crate::model::{CustomControl, Described, PythonRouter};
use crate::networks::Networks;
use crate::normal;
use crate::parse::parse;
use crate::print::{self, Style};
use crate::problems::{Problems, Watch};
use crate::resolve::{Resolved, resolve};
use crate::sweep::{self, Seeds, Sweep, apply_overrides};
use crate::tree::Table;
use crate::twins::Twins;

/// The largest scenario file.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// The limits of all cells together.
#[derive(Clone, Copy)]
struct Most {
    /// Of text.
    bytes: usize,
    /// Nodes, links and UEs: some minutes of work.
    elements: usize,
}

const MOST: Most = Most {
    bytes: 1 << 30,
    elements: 5_000_000,
};

/// The largest seed that tables can hold.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// The section whose nodes and links may be many.
const TOPOLOGY: &str = "topology";

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
    /// Every run once, cell by cell. A cell that resolves to what an earlier one resolves to has
    /// the same hash and adds none.
    pub runs: Vec<Run>,
    /// The congestion controls of all cells that the simulator does not have, by name and text.
    pub custom_controls: Vec<CustomControl>,
    /// The Python classes of routers of all cells, by text and parameters.
    pub python_routers: Vec<PythonRouter>,
    /// What is compared, where the file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<Compare>,
    /// The warnings about the cells.
    pub warnings: Vec<Diagnostic>,
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
    /// SHA-256 of the resolved scenario without comments, seed and defaults, in hexadecimal.
    pub hash: String,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The first 16 hexadecimal digits of the SHA-256 of the cell's hash, the seed and the model
    /// version.
    pub run_id: String,
    /// The index of the first cell that has it.
    pub cell: usize,
    /// The seed.
    pub seed: u64,
}

/// How a scenario file is read.
#[derive(Default)]
pub struct Options<'a> {
    /// Keys with values, applied in their order before the sweep.
    pub overrides: &'a [(String, String)],
    /// Replaces the file's seed.
    pub seed: Option<u64>,
    /// The texts of the files that the scenario names, by the names that it gives them. With them
    /// nothing is read from a disk.
    pub texts: Option<BTreeMap<String, String>>,
    /// Reads the tables that are no text.
    pub read_table: Option<TableReader>,
    /// May interrupt the check.
    pub watch: Option<Watch>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Every problem found, at least one of them an error.
    Refused(Report),
    /// The watch interrupted it.
    Interrupted,
}

impl Stopped {
    /// The report; without a watch, nothing else stops.
    pub(crate) fn report(self) -> Report {
        match self {
            Self::Refused(report) => report,
            Self::Interrupted => Report {
                diagnostics: Vec::new(),
            },
        }
    }
}

impl Catalogue {
    /// Checks a scenario file: its warnings, or all its problems if there is an error.
    ///
    /// `path` is the file's name in messages and the place that relative file references count
    /// from. `overrides` are keys with values, applied in their order before the sweep.
    ///
    /// # Errors
    ///
    /// A report of every problem found, at least one of them an error.
    pub fn check(
        self,
        text: &str,
        path: &str,
        overrides: &[(String, String)],
    ) -> Result<Vec<Diagnostic>, Report> {
        let options = Options {
            overrides,
            ..Options::default()
        };
        self.check_with(text, path, options)
            .map_err(Stopped::report)
    }

    /// [`check`](Self::check), with all options.
    ///
    /// # Errors
    ///
    /// As there, or the watch ended it.
    pub fn check_with(
        self,
        text: &str,
        path: &str,
        options: Options<'_>,
    ) -> Result<Vec<Diagnostic>, Stopped> {
        let (mut planning, sweep) = Planning::begin(self, text, path, options, MOST);
        let seed = planning.seed;
        match sweep {
            None if !planning.problems.is_readable() => {}
            None => planning.check_alone(),
            Some(sweep) => {
                let choices = checked_choices(&sweep);
                let mut twins = Twins::default();
                planning.each(&sweep, choices, |planning, choice, resolved| {
                    if twins.cells.is_empty() {
                        seeds(
                            &sweep.seeds,
                            seed,
                            resolved.scenario.seed(),
                            &mut planning.problems,
                        );
                    }
                    let hash = planning.content_hash(&resolved);
                    twins.add(hash, choice);
                });
                twins.warn(&sweep, &mut planning.problems);
            }
        }
        planning.finish()
    }

    /// Resolves every cell of a scenario file and names its runs. A `seed` replaces the file's.
    ///
    /// # Errors
    ///
    /// A report of every problem found, at least one of them an error; a sweep that is too large is
    /// refused before any of it is built.
    pub fn plan(
        self,
        text: &str,
        path: &str,
        overrides: &[(String, String)],
        seed: Option<u64>,
    ) -> Result<Plan, Report> {
        let options = Options {
            overrides,
            seed,
            ..Options::default()
        };
        self.plan_with(text, path, options).map_err(Stopped::report)
    }

    /// [`plan`](Self::plan), with all options.
    ///
    /// # Errors
    ///
    /// As there, or the watch ended it.
    pub fn plan_with(self, text: &str, path: &str, options: Options<'_>) -> Result<Plan, Stopped> {
        plan_within(self, text, path, options, MOST)
    }
}

/// The combinations that a check looks at, with their indices.
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

/// A plan whose cells have at most this much in total.
fn plan_within(
    catalogue: Catalogue,
    text: &str,
    path: &str,
    options: Options<'_>,
    most: Most,
) -> Result<Plan, Stopped> {
    let (mut planning, sweep) = Planning::begin(catalogue, text, path, options, most);
    let Some(sweep) = sweep else {
        if planning.problems.is_readable() {
            planning.check_alone();
        }
        return Err(planning.refusal());
    };
    let given_seed = planning.seed;
    let mut name = None;
    let mut seeds = Vec::new();
    let mut cells: Vec<Cell> = Vec::new();
    let mut twins = Twins::default();
    let mut custom_controls = BTreeMap::new();
    let mut python_routers = BTreeMap::new();
    let choices = (0..sweep.cells()).map(|cell| sweep.choice(cell));
    planning.each(&sweep, choices, |planning, choice, resolved| {
        let scenario = &resolved.scenario;
        if name.is_none() {
            name = Some(scenario.name().to_owned());
            let in_file = scenario.seed();
            seeds = self::seeds(&sweep.seeds, given_seed, in_file, &mut planning.problems);
        }
        for control in scenario.custom_controls() {
            let key = (control.name.clone(), control.python.source.clone());
            custom_controls
                .entry(key)
                .or_insert_with(|| control.clone());
        }
        if let Some(router) = scenario.python_router() {
            let key = serde_json::to_string(router).unwrap_or_default();
            python_routers.entry(key).or_insert_with(|| router.clone());
        }
        let hash = planning.content_hash(&resolved);
        let text = planning.text(&resolved, Style::Marked);
        planning.count_bytes(text.len());
        let parameters = sweep.axes.iter().zip(&choice);
        let parameters = parameters
            .map(|(axis, value)| (axis.path.clone(), axis.labels[*value].clone()))
            .collect();
        twins.add(hash.clone(), choice);
        cells.push(Cell {
            index: cells.len(),
            parameters,
            resolved: text,
            hash,
        });
    });
    let Some(name) = name.filter(|_| !planning.problems.has_errors()) else {
        return Err(planning.refusal());
    };
    let scenario_hash = match cells.as_slice() {
        [single] => single.hash.clone(),
        cells => hash::of_name(
            &cells
                .iter()
                .map(|cell| cell.hash.as_str())
                .collect::<Vec<_>>()
                .join("\n"),
        ),
    };
    twins.warn(&sweep, &mut planning.problems);
    let mut runs = Vec::with_capacity(twins.originals().count() * seeds.len());
    for (index, hash) in twins.originals() {
        for seed in &seeds {
            if !planning.problems.go_on() {
                break;
            }
            runs.push(Run {
                run_id: run_id(hash, *seed),
                cell: index,
                seed: *seed,
            });
        }
    }
    Ok(Plan {
        name,
        scenario_hash,
        model_version: MODEL_VERSION,
        parameters: sweep.axes.iter().map(|axis| axis.path.clone()).collect(),
        cells,
        seeds,
        runs,
        custom_controls: custom_controls.into_values().collect(),
        python_routers: python_routers.into_values().collect(),
        compare: planning.compare.take(),
        warnings: planning.finish()?,
    })
}

/// A scenario file while its cells are built.
struct Planning {
    tree: Table,
    compare: Option<Compare>,
    files: Files,
    networks: Networks,
    graphs: Graphs,
    problems: Problems,
    seed: Option<u64>,
    most: Most,
    /// Of the cells so far.
    bytes: usize,
    elements: usize,
}

impl Planning {
    /// Reads the file and its sweep; without a sweep, it was refused.
    fn begin(
        catalogue: Catalogue,
        text: &str,
        path: &str,
        options: Options<'_>,
        most: Most,
    ) -> (Self, Option<Sweep>) {
        let mut problems = Problems::watched(catalogue, options.watch);
        let mut tree = load(text, path, options.overrides, &mut problems);
        let is_readable = problems.is_readable();
        let sweep = is_readable
            .then(|| sweep::read(&tree, &mut problems))
            .flatten();
        if let Some(sweep) = &sweep
            && sweep.cells() > 1
            && !sweep.changes(TOPOLOGY)
        {
            normal::share(&mut tree, TOPOLOGY, &mut problems);
        }
        let compare = sweep
            .as_ref()
            .and_then(|sweep| compare::read(&tree, sweep, &mut problems));
        let files = match options.texts {
            Some(texts) => Files::given(texts),
            None => Files::beside(path, options.read_table),
        };
        let planning = Self {
            tree,
            compare,
            files,
            networks: Networks::of_cells(sweep.as_ref().map_or(1, Sweep::cells)),
            graphs: Graphs::default(),
            problems,
            seed: options.seed,
            most,
            bytes: 0,
            elements: 0,
        };
        (planning, sweep)
    }

    /// Looks for further problems beside those of the sweep.
    fn check_alone(&mut self) {
        let (files, networks) = (&mut self.files, &mut self.networks);
        resolve(&self.tree, files, networks, &mut self.problems);
    }

    /// Resolves a cell for each choice; what is wrong with them is among the problems.
    fn each(
        &mut self,
        sweep: &Sweep,
        choices: impl IntoIterator<Item = Vec<usize>>,
        mut then: impl FnMut(&mut Self, Vec<usize>, Resolved),
    ) {
        for (index, choice) in choices.into_iter().enumerate() {
            // More cells show more problems, but a few are enough for a wrong file.
            let is_enough = self.problems.has_errors() && index >= MOST_CHECKED;
            if is_enough || self.is_too_large(index) || !self.problems.go_on() {
                return;
            }
            let cell = sweep.apply(&self.tree, &choice, &mut self.problems);
            let (files, networks) = (&mut self.files, &mut self.networks);
            let resolved = resolve(&cell, files, networks, &mut self.problems);
            if let Some(resolved) = resolved {
                self.elements += resolved.scenario.elements();
                then(self, choice, resolved);
            }
        }
    }

    /// A resolved scenario as text.
    fn text(&mut self, resolved: &Resolved, style: Style) -> String {
        let problems = &mut self.problems;
        let graph = match (&resolved.network, &resolved.scenario) {
            (Some(network), Described::Network(scenario)) => {
                Some(self.graphs.of(network, scenario, problems))
            }
            _ => None,
        };
        let lines = graph.as_ref().map(|graph| graph.lines(style));
        print::document(&resolved.tree, lines, style, problems)
    }

    /// SHA-256 of a resolved scenario without comments, seed and defaults, in hexadecimal.
    fn content_hash(&mut self, resolved: &Resolved) -> String {
        let text = self.text(resolved, Style::Bare);
        hash::of_text(&text, &mut self.problems)
    }

    /// Counts what the text of a cell adds.
    fn count_bytes(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Whether the cells so far are more than a plan can have, which is a problem.
    fn is_too_large(&mut self, cells: usize) -> bool {
        let place = self.tree.entry("sweep");
        let place = place.map_or(Span::default(), |entry| entry.key_span);
        let message = if self.bytes > self.most.bytes {
            format!("the cells have more than 1 GiB of text after {cells} cells")
        } else if self.elements > self.most.elements && cells > 1 {
            format!(
                "the cells have {} nodes, links and UEs after {cells} cells",
                self.elements
            )
        } else {
            return false;
        };
        let label = "split the campaign into files with fewer values, or take a smaller network";
        self.problems
            .error(Code::PlanTooLarge, place, message, label);
        true
    }

    /// The warnings, or why there is no result.
    fn finish(self) -> Result<Vec<Diagnostic>, Stopped> {
        if self.problems.is_interrupted() {
            return Err(Stopped::Interrupted);
        }
        self.problems.finish().map_err(Stopped::Refused)
    }

    /// Why there is no plan.
    fn refusal(self) -> Stopped {
        if self.problems.is_interrupted() {
            return Stopped::Interrupted;
        }
        Stopped::Refused(report(self.problems))
    }
}

/// The seeds of a plan; none where they lead beyond the largest seed.
fn seeds(seeds: &Seeds, given: Option<u64>, in_file: u64, problems: &mut Problems) -> Vec<u64> {
    let (count, place) = match (seeds, given) {
        (Seeds::List(list), None) => return list.clone(),
        (Seeds::List(_), Some(_)) => (1, Span::default()),
        (Seeds::Count(count, place), _) => (*count, *place),
    };
    let first = given.unwrap_or(in_file);
    let last = first
        .checked_add(count - 1)
        .filter(|last| *last <= LARGEST_SEED);
    let Some(last) = last else {
        let message = match count {
            1 => format!("seed {first} is beyond the largest one"),
            _ => format!("{count} seeds from {first} on lead beyond the largest one"),
        };
        let label = format!("write a `seed` of at most {}", LARGEST_SEED - (count - 1));
        problems.error(Code::BadSeeds, place, message, label);
        return Vec::new();
    };
    (first..=last).collect()
}

/// The name of a run.
fn run_id(hash: &str, seed: u64) -> String {
    let mut id = hash::of_name(&format!("{hash}\n{seed}\n{MODEL_VERSION}"));
    id.truncate(16);
    id
}

/// The problems as a report; one is added where, against expectation, there is none.
pub(crate) fn report(mut problems: Problems) -> Report {
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
pub(crate) fn load(
    text: &str,
    path: &str,
    overrides: &[(String, String)],
    problems: &mut Problems,
) -> Table {
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
    let mut tree = parse(text, source, problems);
    apply_overrides(&mut tree, overrides, problems);
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Declared;
    use crate::spec::{Section, Tag, Variant};

    const CHAIN: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
        link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n\
        [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n";

    /// The keys of this crate, and the congestion control that flows have by default.
    fn catalogue() -> Catalogue {
        let linux = Variant {
            doc: "Linux.",
            ..Variant::slot("linux")
        };
        let tcp = Section {
            doc: "TCP.",
            tag: Some(Tag {
                key: "profile",
                default: Some("linux"),
                doc: "Whose defaults.",
                variants: vec![linux].leak(),
            }),
            ..Section::slot("tcp")
        };
        let cubic = Declared::Control {
            name: "cubic",
            table: Section::slot("tcp.cubic"),
            profiles: &[],
        };
        Catalogue::new(&[Declared::Section(tcp), cubic]).unwrap()
    }

    #[test]
    fn a_plan_with_too_much_text_or_too_many_nodes_is_refused() {
        let text = format!("{CHAIN}[sweep]\n\"topology.nodes\" = [3, 4, 5]\n");
        let refusal = |most| {
            let stopped = plan_within(catalogue(), &text, "s.toml", Options::default(), most);
            let stopped = stopped.unwrap_err();
            let [refusal] = stopped.report().diagnostics.try_into().unwrap();
            (refusal.code, refusal.message)
        };
        let bytes = "the cells have more than 1 GiB of text after 1 cells".to_owned();
        assert_eq!(
            refusal(Most {
                bytes: 1000,
                ..MOST
            }),
            ("S064", bytes)
        );
        // Three nodes and two links, then four and three.
        let elements = "the cells have 12 nodes, links and UEs after 2 cells".to_owned();
        let most = Most {
            elements: 11,
            ..MOST
        };
        assert_eq!(refusal(most), ("S064", elements));
        let whole = plan_within(catalogue(), &text, "s.toml", Options::default(), MOST);
        assert!(whole.is_ok());
    }
}
