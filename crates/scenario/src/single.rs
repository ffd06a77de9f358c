//! Scenarios for a single run, and files by themselves.

use std::path::Path;

use crate::catalogue::Catalogue;
use crate::codes::Code;
use crate::diagnostic::Report;
use crate::files::{self, Files, Refusal, regular_size};
use crate::model::{Described, Scenario};
use crate::networks::Networks;
use crate::plan::{MOST_BYTES, load, report};
use crate::problems::Problems;
use crate::resolve::resolve;
use crate::shown;
use crate::topology;

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

/// The name of a resolved scenario in messages.
const RESOLVED: &str = "scenario.resolved.toml";

impl Catalogue {
    /// Reads a resolved scenario, as it stands in [`crate::Cell::resolved`]. Any scenario without a
    /// sweep and without references to files will do.
    ///
    /// # Errors
    ///
    /// A report of every problem found.
    pub fn described(self, text: &str) -> Result<Described, Report> {
        single(self, text, RESOLVED, None, &mut Files::none())
    }

    /// [`described`](Self::described), with this seed in place of its own: what each run draws is
    /// that of a run of this seed.
    ///
    /// # Errors
    ///
    /// A report of every problem found.
    pub fn described_for(self, text: &str, seed: u64) -> Result<Described, Report> {
        single(self, text, RESOLVED, Some(seed), &mut Files::none())
    }

    /// [`described`](Self::described), for a network.
    ///
    /// # Errors
    ///
    /// A report of every problem found, or that it is a slotted model and no network.
    pub fn from_resolved(self, text: &str) -> Result<Scenario, Report> {
        network(self, text, RESOLVED, None, &mut Files::none())
    }

    /// Reads a scenario file without a sweep.
    ///
    /// # Errors
    ///
    /// A report of every problem found, or that it is a slotted model and no network.
    pub fn parse(self, text: &str, path: &str) -> Result<Scenario, Report> {
        network(self, text, path, None, &mut Files::beside(path, None))
    }

    /// [`parse`](Self::parse), with this seed in place of the file's: what each run draws is that of
    /// a run of this seed.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn parse_for(self, text: &str, path: &str, seed: u64) -> Result<Scenario, Report> {
        network(self, text, path, Some(seed), &mut Files::beside(path, None))
    }
}

/// The network of a text without a sweep.
fn network(
    catalogue: Catalogue,
    text: &str,
    path: &str,
    seed: Option<u64>,
    files: &mut Files,
) -> Result<Scenario, Report> {
    match single(catalogue, text, path, seed, files)? {
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

/// The network or slotted model of a text without a sweep.
fn single(
    catalogue: Catalogue,
    text: &str,
    path: &str,
    seed: Option<u64>,
    files: &mut Files,
) -> Result<Described, Report> {
    let mut problems = Problems::watched(catalogue, None);
    let seed = seed.map(|seed| ("seed".to_owned(), seed.to_string()));
    let tree = load(text, path, seed.as_slice(), &mut problems);
    if !problems.is_readable() {
        return Err(report(problems));
    }
    if let Some(entry) = tree.entry("sweep") {
        let message = "a single run cannot have a sweep";
        problems.error(Code::SweepInRun, entry.key_span, message, "remove [sweep]");
    }
    match resolve(&tree, files, &mut Networks::default(), &mut problems) {
        Some(resolved) if !problems.has_errors() => Ok(resolved.scenario),
        _ => Err(report(problems)),
    }
}

/// Reads a scenario file. A pipe or a device is refused and not opened.
///
/// # Errors
///
/// A report that the file cannot be read, is too large or is not UTF-8.
pub fn read_file(path: &str) -> Result<String, Report> {
    let mut problems = Problems::default();
    let file = Path::new(path);
    let shown = shown::short(path);
    let most = MOST_BYTES as u64;
    let bytes = match regular_size(file) {
        Ok(size) if size > most => Err(Refusal::TooLarge(size)),
        Ok(_) => files::read(file, most, &mut problems),
        Err(error) => Err(Refusal::Unreadable(files::reason(&error))),
    };
    let (code, message, label) = match bytes.map(String::from_utf8) {
        Ok(Ok(text)) => return Ok(text),
        Ok(Err(error)) => (
            Code::NotUtf8,
            format!(
                "\"{shown}\" is not UTF-8 (byte {})",
                error.utf8_error().valid_up_to()
            ),
            "save the file as UTF-8",
        ),
        Err(Refusal::TooLarge(size)) => (
            Code::TooLarge,
            format!("the scenario has {size} bytes"),
            "a scenario may have 64 MiB",
        ),
        Err(Refusal::Unreadable(reason)) => (
            Code::Unreadable,
            format!("\"{shown}\" cannot be read: {reason}"),
            "name a scenario file",
        ),
        // Neither a table nor interrupted.
        Err(_) => (
            Code::Unreadable,
            format!("\"{shown}\" cannot be read"),
            "name a scenario file",
        ),
    };
    problems.file_error(code, path, message, label.to_owned());
    Err(report(problems))
}
