//! The rows of a trace in CSV: times in order, each with a value.

use std::fmt::Write;

use backlane_units::Duration;

use super::Name;
use crate::codes::Code;
use crate::csv::{Csv, Row};
use crate::diagnostic::Span;
use crate::problems::Problems;
use crate::shown;
use crate::spec::tables::LONGEST_PS;

/// Times are kept as whole nanoseconds.
const PS_PER_NS: u64 = 1000;
const NS_PER_S: f64 = 1e9;

/// The values that a column may have.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) min: f64,
    pub(super) max: f64,
    /// Whether a row without a value is left out.
    pub(super) may_lack: bool,
    /// What to write, where a value is out of range.
    pub(super) mend: &'static str,
}

/// Times and values, at least two of each.
pub(super) struct Rows {
    pub(super) times: Vec<Duration>,
    pub(super) values: Vec<f64>,
}

impl Rows {
    /// Reads `time_s` and `column`; rows may be `max_gap` apart. Where the file has the columns
    /// `entity` and `run_id`, the rows of the one that `name` states are read.
    pub(super) fn read(
        text: &str,
        source: usize,
        name: &Name,
        column: &Column,
        max_gap: Duration,
        problems: &mut Problems,
    ) -> Option<Self> {
        let before = problems.error_count();
        let csv = Csv::read(text, source, problems);
        let time_at = csv.column("time_s", problems);
        let value_at = csv.column(column.name, problems);
        let (time_at, value_at) = (time_at?, value_at?);
        let mut rows = csv.rows.clone();
        for (key, header, stated) in [
            ("entity", "entity", &name.entity),
            ("run", "run_id", &name.run),
        ] {
            let key = if ["capacity", "way"].contains(&&*name.of) {
                None
            } else {
                Some(key)
            };
            rows = chosen(&csv, rows, key, header, stated.as_deref(), problems)?;
        }
        if column.may_lack {
            rows.retain(|row| !row.text(value_at).0.is_empty());
        }
        if rows.len() < 2 {
            let message = "the trace has fewer than two rows";
            let label = "write at least two; the last value lasts as long as the one before it";
            problems.error(Code::TraceEmpty, csv.header_span(), message, label);
            return None;
        }
        let mut read = Self {
            times: Vec::with_capacity(rows.len()),
            values: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            if !problems.go_on() {
                return None;
            }
            let time = time(&row, time_at, problems);
            let value = value(&row, value_at, column, problems);
            let (Some(time), Some(value)) = (time, value) else {
                continue;
            };
            read.push(time, value, row.text(time_at).1, max_gap, problems);
        }
        (problems.error_count() == before).then_some(read)
    }

    /// When each value begins; the first one holds from the beginning.
    pub(super) fn starts(&self) -> impl Iterator<Item = Duration> + '_ {
        let later = self.times.iter().skip(1).copied();
        std::iter::once(Duration::ZERO).chain(later)
    }

    /// How long the trace is: the last value lasts as long as the one before it.
    pub(super) fn period(&self) -> Duration {
        let mut from_end = self.times.iter().rev().copied();
        let last = from_end.next().unwrap_or_default();
        let before = from_end.next().unwrap_or_default();
        last.saturating_add(last.saturating_sub(before))
    }

    /// The canonical text.
    pub(super) fn text(&self, column: &Column) -> String {
        let mut text = format!("time_s,{}\n", column.name);
        for (time, value) in self.times.iter().zip(&self.values) {
            let _ = writeln!(text, "{},{value}", seconds(*time));
        }
        text
    }

    fn push(
        &mut self,
        time: Duration,
        value: f64,
        span: Span,
        max_gap: Duration,
        problems: &mut Problems,
    ) {
        let last = self.times.last().copied();
        if last.is_some_and(|last| time <= last) {
            let message = "times of the trace do not increase";
            let label = "sort the rows, and leave one for each time";
            problems.error(Code::TraceOrder, span, message, label);
            // What follows is compared with this row, so that one mistake is reported once.
        } else if time.saturating_sub(last.unwrap_or_default()) > max_gap {
            let gap = time.saturating_sub(last.unwrap_or_default());
            let (message, label) = match last {
                Some(_) => (
                    format!("the trace says nothing for {gap}"),
                    format!("fill the gap, or allow it: max_gap = \"{gap}\""),
                ),
                None => (
                    format!("the trace begins at {gap}"),
                    format!(
                        "times count from the start of the flows' clock; subtract the first, or write max_gap = \"{gap}\""
                    ),
                ),
            };
            problems.error(Code::TraceGap, span, message, label);
        }
        self.times.push(time);
        self.values.push(value);
    }
}

/// The rows that have the stated value in a column, which must be stated if there are several;
/// `key` is where a scenario states it.
fn chosen<'a>(
    csv: &Csv<'a>,
    rows: Vec<Row<'a>>,
    key: Option<&str>,
    header: &str,
    stated: Option<&str>,
    problems: &mut Problems,
) -> Option<Vec<Row<'a>>> {
    let Some(at) = csv.find(header) else {
        // The text in a resolved scenario holds what was chosen.
        return Some(rows);
    };
    let Some(stated) = stated else {
        let first = rows.first().map(|row| row.text(at).0);
        let other = rows
            .iter()
            .map(|row| row.text(at).0)
            .find(|text| Some(text) != first.as_ref());
        if let (Some(first), Some(other)) = (first, other) {
            let (first, other) = (shown::short(&first), shown::short(&other));
            let message = format!("the trace has several {header}: \"{first}\", \"{other}\", …");
            let label = match key {
                Some(key) => format!("choose one in the scenario: {key} = \"{first}\""),
                None => "keep the rows of one of them".to_owned(),
            };
            problems.error(Code::TraceChoice, csv.header_span(), message, label);
            return None;
        }
        return Some(rows);
    };
    let example = rows.first().map(|row| shown::short(&row.text(at).0));
    let chosen: Vec<Row<'a>> = rows
        .into_iter()
        .filter(|row| row.text(at).0 == stated)
        .collect();
    if chosen.is_empty() {
        let message = format!("no row has {header} \"{}\"", shown::short(stated));
        let label = match example {
            Some(example) => format!("there is, for instance, \"{example}\""),
            None => "the trace has no rows".to_owned(),
        };
        problems.error(Code::TraceChoice, csv.header_span(), message, label);
        return None;
    }
    Some(chosen)
}

fn time(row: &Row<'_>, at: usize, problems: &mut Problems) -> Option<Duration> {
    let longest_s = LONGEST_PS as f64 / 1e12;
    let (_, span) = row.text(at);
    let seconds = row.finite(at, "time_s", problems)?;
    if !(0.0..=longest_s).contains(&seconds) {
        let message = "time_s is out of range";
        let label =
            format!("write seconds from the start of the flows' clock, from 0 to {longest_s}");
        problems.error(Code::TraceValue, span, message, label);
        return None;
    }
    Some(Duration::from_nanos((seconds * NS_PER_S).round() as u64))
}

fn value(row: &Row<'_>, at: usize, column: &Column, problems: &mut Problems) -> Option<f64> {
    let value = row.finite(at, column.name, problems)?;
    if (column.min..=column.max).contains(&value) {
        return Some(value);
    }
    let (text, span) = row.text(at);
    let message = format!("{} is {}", column.name, shown::short(&text));
    problems.error(Code::TraceValue, span, message, column.mend);
    None
}

/// A time in seconds, exactly.
pub(super) fn seconds(time: Duration) -> String {
    let ns = time.as_ps() / PS_PER_NS;
    let (whole, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let text = format!("{whole}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
