//! Fading of resource blocks over time, in the format of ns-3's LENA.

use std::fmt::Write;

use backlane_units::Duration;

use super::{Name, Traces};
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::FadingTrace;
use crate::problems::Problems;
use crate::shown;
use crate::tree::Table;

/// Decibels of a deep fade that a file may have, and more than a crest has.
const RANGE_DB: std::ops::RangeInclusive<f64> = -200.0..=100.0;

impl Traces {
    /// Reads the trace that a normal section `fading_trace` names, for carriers of at most
    /// `blocks` resource blocks.
    pub(crate) fn fading(
        &mut self,
        table: &Table,
        span: Span,
        blocks: usize,
        files: &mut Files,
        problems: &mut Problems,
    ) -> Option<FadingTrace> {
        let name = Name {
            file: table.text("file")?.to_owned(),
            of: "fading".to_owned(),
            entity: None,
            run: None,
        };
        let window: Duration = table.quantity("window")?;
        let millisecond = Duration::from_millis(1).as_ps();
        if window == Duration::ZERO || !window.as_ps().is_multiple_of(millisecond) {
            let place = table.place("window", span);
            let message = format!("a window of {window} is no whole number of milliseconds");
            problems.error(Code::TraceBlocks, place, message, "write \"500 ms\"");
            return None;
        }
        let place = table.place("file", span);
        let (source, text) = self.text(&name, place, files, problems)?;
        let before = problems.error_count();
        let mut rows_db: Vec<Vec<f64>> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if !problems.go_on() {
                return None;
            }
            if line.trim().is_empty() {
                continue;
            }
            let here = problems.line_span(source, index + 1);
            let value = |word: &str| word.parse().ok().filter(|db| RANGE_DB.contains(db));
            let row: Option<Vec<f64>> = line.split_whitespace().map(value).collect();
            let Some(row) = row else {
                let message = "the line has something that is no gain in decibels";
                let label = "write numbers from -200 to 100, with spaces between them";
                problems.error(Code::TraceValue, here, message, label);
                continue;
            };
            let samples = rows_db.first().map_or(row.len(), Vec::len);
            if row.len() != samples {
                let message = format!("the line has {} values, the first {samples}", row.len());
                let label = "write one value for each millisecond in every line";
                problems.error(Code::TraceBlocks, here, message, label);
                continue;
            }
            rows_db.push(row);
        }
        if problems.error_count() > before {
            return None;
        }
        if rows_db.len() < blocks {
            let message = format!(
                "\"{}\" has lines for {} resource blocks, and a carrier has {blocks}",
                shown::short(&name.file),
                rows_db.len()
            );
            let label = "write one line for each resource block, or a narrower carrier";
            problems.error(Code::TraceBlocks, place, message, label);
            return None;
        }
        self.used.insert(name, canonical(&rows_db));
        Some(FadingTrace { rows_db, window })
    }
}

fn canonical(rows_db: &[Vec<f64>]) -> String {
    let mut text = String::new();
    for row in rows_db {
        for (at, db) in row.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            let _ = write!(text, "{space}{db}");
        }
        text.push('\n');
    }
    text
}
