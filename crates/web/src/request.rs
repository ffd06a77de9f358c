//! The requests of a page.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The most bytes of attached files.
pub const MOST_FILES_BYTES: usize = 64 << 20;

/// The most memory that a run may take by its estimate; a tab has 1 GiB.
pub const MOST_MEMORY_BYTES: f64 = 768.0 * 1024.0 * 1024.0;

/// A request, by its key `do`.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// The versions and the templates.
    About,
    /// The JSON Schema of scenario files.
    Schema,
    /// The long text of an error code.
    Explain { code: String },
    /// A template by name.
    Template { name: String },
    /// The problems and warnings of a scenario file.
    Check(File),
    /// Every cell and run of a scenario file, with the cost of each cell.
    Plan(File),
    /// The nodes and links of a resolved scenario.
    Network { resolved: String },
    /// The order of contenders by a measure of each seed, and what the seeds decide.
    Rank {
        contenders: Vec<Contender>,
        /// The margin of equality, as a share of the best.
        #[serde(default = "equal_within")]
        equal_within: f64,
        /// Whether more is better.
        #[serde(default)]
        more: bool,
        /// What the values can be.
        #[serde(default)]
        limits: Option<(f64, f64)>,
    },
    /// One run of a resolved scenario.
    Run {
        resolved: String,
        /// As text: a seed has 63 bits.
        seed: String,
        /// Whether the answer has the series.
        #[serde(default)]
        series: bool,
    },
}

/// A scenario file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The text.
    pub text: String,
    /// The name in messages.
    #[serde(default = "name")]
    pub name: String,
    /// The texts of the files that it names, by the names that it gives them.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Keys with values, applied in their order before the sweep.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// In place of the file's seed.
    #[serde(default)]
    pub seed: Option<String>,
}

/// A contender with a value for each seed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contender {
    /// What it is called.
    pub name: String,
    /// Seeds as text, and values.
    pub values: BTreeMap<String, f64>,
}

fn equal_within() -> f64 {
    backlane_stats::EQUAL_WITHIN
}

fn name() -> String {
    "scenario.toml".to_owned()
}
