//! What a link can carry over time: delivery opportunities as mahimahi writes them, or rates.

use std::fmt::Write;

use backlane_units::Duration;

use super::rows::{Column, Rows};
use super::{Name, Traces};
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{AtEnd, Capacity};
use crate::problems::Problems;
use crate::shown;

/// A thousand terabits per second, as for links.
const RATE: Column = Column {
    name: "rate_bps",
    min: 0.0,
    max: 1e15,
    may_lack: false,
    mend: "write bits per second, from 0 to 1e15",
};

impl Traces {
    /// Reads the capacity trace in a file, which a scenario names at `span`.
    pub(crate) fn capacity(
        &mut self,
        file: &str,
        span: Span,
        (at_end, at_end_span): (AtEnd, Span),
        max_gap: Duration,
        files: &mut Files,
        problems: &mut Problems,
    ) -> Option<Capacity> {
        let name = Name {
            file: file.to_owned(),
            of: "capacity".to_owned(),
            entity: None,
            run: None,
        };
        let (source, text) = self.text(&name, span, files, problems)?;
        let (capacity, canonical) = if is_table(&text) {
            let rows = Rows::read(&text, source, &name, &RATE, max_gap, problems)?;
            let steps = rows
                .starts()
                .zip(rows.values.iter().map(|bps| bps.round() as u64));
            let capacity = Capacity::Rates {
                steps: steps.collect(),
                period: rows.period(),
            };
            (capacity, rows.text(&RATE))
        } else {
            let times = opportunities(&text, source, &name, problems)?;
            if at_end == AtEnd::Hold {
                let message = format!(
                    "\"{}\" holds delivery opportunities, no rate that could stay",
                    shown::short(file)
                );
                let label = "write \"repeat\" or \"stop\"";
                problems.error(Code::TraceEnd, at_end_span, message, label);
                return None;
            }
            let canonical = lines(&times);
            (Capacity::Opportunities(times), canonical)
        };
        self.used.insert(name, canonical);
        Some(capacity)
    }
}

/// Whether a text is a table and not a list of integers: its first line that says anything has a
/// word or a comma.
fn is_table(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.contains(',') || line.contains(|c: char| c.is_alphabetic()))
}

/// The delivery opportunities of a file in mahimahi's format: each line is the millisecond of
/// one (mm-link(1)); several may fall into the same.
fn opportunities(
    text: &str,
    source: usize,
    name: &Name,
    problems: &mut Problems,
) -> Option<Vec<(u32, u32)>> {
    let before = problems.error_count();
    let mut times: Vec<(u32, u32)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if !problems.go_on() {
            return None;
        }
        let Ok(at_ms) = line.trim().parse::<u32>() else {
            let place = problems.line_span(source, index + 1);
            let message = "the line is not a time in whole milliseconds";
            let label = "write an integer, or a table with the columns time_s and rate_bps";
            problems.error(Code::TraceLine, place, message, label);
            continue;
        };
        match times.last_mut() {
            Some((last_ms, count)) if *last_ms == at_ms => *count += 1,
            Some((last_ms, _)) if *last_ms > at_ms => {
                let place = problems.line_span(source, index + 1);
                let message = format!("{at_ms} ms come after {last_ms} ms");
                problems.error(Code::TraceOrder, place, message, "sort the lines");
                times.push((at_ms, 1));
            }
            _ => times.push((at_ms, 1)),
        }
    }
    if problems.error_count() > before {
        return None;
    }
    if times.last().is_none_or(|(last_ms, _)| *last_ms == 0) {
        let message = format!(
            "\"{}\" has no opportunity after 0 ms",
            shown::short(&name.file)
        );
        let label = "the last line is how long the trace lasts";
        problems.error(
            Code::TraceEmpty,
            problems.line_span(source, 1),
            message,
            label,
        );
        return None;
    }
    Some(times)
}

/// The lines of a file in mahimahi's format.
fn lines(times: &[(u32, u32)]) -> String {
    let mut text = String::new();
    for (at_ms, count) in times {
        for _ in 0..*count {
            let _ = writeln!(text, "{at_ms}");
        }
    }
    text
}
