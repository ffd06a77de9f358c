//! A small CSV reader (RFC 4180 without line breaks in fields) whose problems have a place.

use std::borrow::Cow;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::problems::Problems;

/// The most columns of a table.
const MOST_COLUMNS: usize = 1_000;

/// The most rows of a table.
const MOST_ROWS: usize = 20_000_000;

/// A CSV text: its header and the rows that have the right number of fields.
#[derive(Debug)]
pub(crate) struct Csv<'t> {
    header: Vec<String>,
    header_span: Span,
    pub(crate) rows: Vec<Row<'t>>,
}

/// A row. Its fields are found when they are asked for, so that a large table costs little more
/// than its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'t> {
    line: &'t str,
    source: usize,
    start: usize,
}

/// A field's text and its place.
pub(crate) type Field<'t> = (Cow<'t, str>, Span);

impl<'t> Csv<'t> {
    /// Reads `text`; rows that are cut short or have stray quotes are reported and left out.
    pub(crate) fn read(text: &'t str, source: usize, problems: &mut Problems) -> Self {
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
            let row = Row {
                line: &content[mark..],
                source,
                start: start + mark,
            };
            start += line.len();
            if row.line.trim().is_empty() || row.line.starts_with('#') {
                continue;
            }
            if !problems.go_on() {
                break;
            }
            let mut fields = row.fields();
            // More fields than columns are counted and not kept.
            let columns = if is_header {
                csv.header = fields
                    .by_ref()
                    .take(MOST_COLUMNS)
                    .map(|(name, _)| name.to_ascii_lowercase())
                    .collect();
                csv.header_span = row.span();
                csv.header.len() + fields.by_ref().count()
            } else {
                fields.by_ref().count()
            };
            if fields.is_torn {
                problems.error(
                    Code::CsvQuote,
                    row.span(),
                    "a quote is not closed",
                    "end the field with a quote",
                );
            } else if columns > MOST_COLUMNS {
                let message = format!("the line has {columns} fields");
                let label = format!("a table may have {MOST_COLUMNS} columns");
                problems.error(Code::TooLarge, row.span(), message, label);
                break;
            } else if columns != csv.header.len() {
                let message = format!(
                    "the row has {columns} fields, the header {}",
                    csv.header.len()
                );
                problems.error(
                    Code::CsvRow,
                    row.span(),
                    message,
                    "write one field for each column",
                );
            } else if csv.rows.len() >= MOST_ROWS {
                let message = format!("the table has more than {MOST_ROWS} rows");
                let label = format!("a table may have {MOST_ROWS} rows");
                problems.error(Code::TooLarge, row.span(), message, label);
                break;
            } else if !is_header {
                csv.rows.push(row);
            }
            is_header &= fields.is_torn;
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

impl<'t> Row<'t> {
    /// The place of the row.
    fn span(&self) -> Span {
        Span {
            source: self.source,
            start: self.start,
            end: self.start + self.line.len(),
        }
    }

    fn fields(&self) -> Fields<'t> {
        Fields {
            row: *self,
            rest: Some(self.line),
            is_torn: false,
        }
    }

    /// The text of a field and its place.
    pub(crate) fn text(&self, column: usize) -> Field<'t> {
        self.fields()
            .nth(column)
            .unwrap_or((Cow::Borrowed(""), Span::default()))
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

/// The fields of a row, one after the other.
struct Fields<'t> {
    row: Row<'t>,
    rest: Option<&'t str>,
    /// Whether a quote was not closed, which ends the fields.
    is_torn: bool,
}

impl<'t> Iterator for Fields<'t> {
    type Item = Field<'t>;

    fn next(&mut self) -> Option<Field<'t>> {
        let rest = self.rest.take()?;
        let (text, length) = if rest.starts_with('"') {
            quoted(rest)
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            Some((Cow::Borrowed(rest[..end].trim()), end))
        }
        .filter(|(_, length)| rest.len() == *length || rest[*length..].starts_with(','))
        .or_else(|| {
            self.is_torn = true;
            None
        })?;
        self.rest = rest.get(length + 1..);
        let start = self.row.start + self.row.line.len() - rest.len();
        let span = Span {
            source: self.row.source,
            start,
            end: start + length,
        };
        Some((text, span))
    }
}

/// A quoted field at the start of `rest`, and its length with the quotes.
fn quoted(rest: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut at = 1;
    let mut has_quotes = false;
    loop {
        let quote = at + rest.get(at..)?.find('"')?;
        if rest[quote + 1..].starts_with('"') {
            has_quotes = true;
            at = quote + 2;
            continue;
        }
        let text = &rest[1..quote];
        let text = if has_quotes {
            Cow::Owned(text.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(text)
        };
        return Some((text, quote + 1));
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
