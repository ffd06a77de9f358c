//! A small CSV reader (RFC 4180 without line breaks in fields) whose problems have a place.

use crate::codes::Code;
use crate::diagnostic::{Problems, Span};

/// A CSV text: its header and the rows that have the right number of fields.
#[derive(Debug)]
pub(crate) struct Csv {
    header: Vec<String>,
    header_span: Span,
    pub(crate) rows: Vec<Row>,
}

/// The fields of a row, each with its place.
#[derive(Debug)]
pub(crate) struct Row {
    fields: Vec<(String, Span)>,
}

impl Csv {
    /// Reads `text`; rows that are cut short or have stray quotes are reported and left out.
    pub(crate) fn read(text: &str, source: usize, problems: &mut Problems) -> Self {
        let mut csv = Self {
            header: Vec::new(),
            header_span: Span {
                source,
                start: 0,
                end: 0,
            },
            rows: Vec::new(),
        };
        let mut start = 0;
        let mut is_header = true;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']);
            // Spreadsheets begin UTF-8 files with a byte order mark.
            let mark = if start == 0 && content.starts_with('\u{feff}') {
                3
            } else {
                0
            };
            let at = start + mark;
            let content = &content[mark..];
            start += line.len();
            if content.trim().is_empty() || content.starts_with('#') {
                continue;
            }
            let span = Span {
                source,
                start: at,
                end: at + content.len(),
            };
            let Some(fields) = fields(content, at, source) else {
                problems.error(
                    Code::CsvQuote,
                    span,
                    "a quote is not closed",
                    "end the field with a quote",
                );
                continue;
            };
            if is_header {
                csv.header = fields
                    .iter()
                    .map(|(name, _)| name.to_ascii_lowercase())
                    .collect();
                csv.header_span = span;
                is_header = false;
            } else if fields.len() == csv.header.len() {
                csv.rows.push(Row { fields });
            } else {
                let message = format!(
                    "the row has {} fields, the header {}",
                    fields.len(),
                    csv.header.len()
                );
                problems.error(
                    Code::CsvRow,
                    span,
                    message,
                    "write one field for each column",
                );
            }
        }
        csv
    }

    /// The index of a column, if it is there.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    /// The index of a column that must be there.
    pub(crate) fn column(&self, name: &str, problems: &mut Problems) -> Option<usize> {
        let found = self.find(name);
        if found.is_none() {
            let message = format!("the file has no column \"{name}\"");
            problems.error(
                Code::CsvColumn,
                self.header_span,
                message,
                format!("add {name} to the header"),
            );
        }
        found
    }

    /// The place of the header.
    pub(crate) fn header_span(&self) -> Span {
        self.header_span
    }
}

impl Row {
    /// The text of a field and its place.
    pub(crate) fn text(&self, column: usize) -> (&str, Span) {
        self.fields
            .get(column)
            .map_or(("", Span::default()), |(text, span)| (text, *span))
    }

    /// The number of a field within ±`bound`.
    pub(crate) fn number(
        &self,
        column: usize,
        name: &str,
        bound: f64,
        problems: &mut Problems,
    ) -> Option<f64> {
        let number = self.finite(column, name, problems)?;
        if number.abs() <= bound {
            return Some(number);
        }
        let (_, span) = self.text(column);
        problems.error(
            Code::CsvRange,
            span,
            format!("{name} is out of range"),
            format!("write a value from -{bound} to {bound}"),
        );
        None
    }

    /// The number of a field.
    pub(crate) fn finite(&self, column: usize, name: &str, problems: &mut Problems) -> Option<f64> {
        let (text, span) = self.text(column);
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        if let Ok(number) = text.parse::<f64>()
            && is_plain
            && number.is_finite()
        {
            return Some(number);
        }
        problems.error(
            Code::CsvNumber,
            span,
            format!("{name} is not a number"),
            "write a plain decimal number",
        );
        None
    }
}

/// The fields of a line; `None` if a quote is not closed.
fn fields(line: &str, offset: usize, source: usize) -> Option<Vec<(String, Span)>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let start = line.len() - rest.len();
        let (text, length) = if rest.starts_with('"') {
            quoted(rest)?
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim().to_owned(), end)
        };
        fields.push((
            text,
            Span {
                source,
                start: offset + start,
                end: offset + start + length,
            },
        ));
        match rest[length..].strip_prefix(',') {
            Some(next) => rest = next,
            None if rest.len() == length => return Some(fields),
            None => return None,
        }
    }
}

/// A quoted field at the start of `rest`, and its length with the quotes.
fn quoted(rest: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut at = 1;
    loop {
        let quote = at + rest.get(at..)?.find('"')?;
        text.push_str(&rest[at..quote]);
        if rest[quote + 1..].starts_with('"') {
            text.push('"');
            at = quote + 2;
        } else {
            return Some((text, quote + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_may_hold_commas_and_quotes() {
        let mut problems = Problems::default();
        let source = problems.add_source("t.csv", "");
        let csv = Csv::read("id,b\r\n\"x, \"\"y\"\"\", 2 \r\n", source, &mut problems);
        assert_eq!(csv.rows[0].text(0).0, "x, \"y\"");
        assert_eq!(csv.rows[0].number(1, "b", 5.0, &mut problems), Some(2.0));
        assert!(!problems.has_errors());
    }
}
