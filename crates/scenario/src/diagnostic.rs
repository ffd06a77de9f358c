//! Problems of a scenario: collected, placed in their file and rendered.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::catalogue::Catalogue;
use crate::codes::Code;
use crate::shown::{self, Excerpt};
use crate::tree::Item;

/// At most this many errors are kept, and as many warnings; a file with more has one cause.
const MOST_KEPT: usize = 200;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The scenario cannot be run.
    Error,
    /// It can be run, but is probably not what the author meant.
    Warning,
}

/// One problem, with its place. Its texts are short and have no control characters, for any content
/// of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The code that [`crate::explain`] knows.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// The file, as it was named by the caller or in the scenario.
    pub file: String,
    /// Line, counted from 1; `None` where the problem has no place.
    pub line: Option<usize>,
    /// Column in characters, counted from 1.
    pub column: Option<usize>,
    /// The line's text, or the part of it around the place where it is long.
    pub source_line: Option<String>,
    /// Length of the place on that line, in characters; at least 1.
    pub length: Option<usize>,
    /// What to write instead, shown at the place.
    pub label: Option<String>,
    /// Further advice.
    pub help: Option<String>,
    /// Where in `source_line` the place lies, and how much of it is shown.
    #[serde(skip)]
    mark: Option<(usize, usize)>,
}

/// Warnings that need the scenario's network to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A UE is out of reach.
    OutOfReach,
    /// A path loss is extrapolated.
    BeyondPathLoss,
    /// A link over radios is out of range.
    LongRadioLink,
    /// A network with radios is in pieces.
    Partitioned,
}

impl Remark {
    /// The warning about a scenario file.
    pub fn warning(self, file: &str, message: String, help: &str) -> Diagnostic {
        let code = match self {
            Self::OutOfReach => Code::OutOfReach,
            Self::BeyondPathLoss => Code::BeyondPathLoss,
            Self::LongRadioLink => Code::LongRadioLink,
            Self::Partitioned => Code::Partitioned,
        };
        Diagnostic {
            code: code.name(),
            severity: Severity::Warning,
            message: shown::sentence(message),
            file: shown::sentence(file.to_owned()),
            line: None,
            column: None,
            source_line: None,
            length: None,
            label: None,
            help: Some(help.to_owned()),
            mark: None,
        }
    }
}

/// Every problem found, at least one of them an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// In the order of the files' text.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}[{}]: {}", self.code, self.message)?;
        let gutter = self.line.map_or(1, |line| line.to_string().len());
        match (self.line, self.column) {
            (Some(line), Some(column)) => {
                write!(f, "\n{:gutter$}--> {}:{line}:{column}", "", self.file)?;
                if let (Some(source), Some((before, length))) = (&self.source_line, self.mark) {
                    let marks = "^".repeat(length);
                    write!(f, "\n{line} | {source}")?;
                    write!(f, "\n{:gutter$} | {:before$}{marks}", "", "")?;
                    if let Some(label) = &self.label {
                        write!(f, " {label}")?;
                    }
                }
            }
            _ => {
                write!(f, "\n{:gutter$}--> {}", "", self.file)?;
                if let Some(label) = &self.label {
                    write!(f, "\n{:gutter$} = {label}", "")?;
                }
            }
        }
        if let Some(help) = &self.help {
            write!(f, "\n{:gutter$} = help: {help}", "")?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// A place in one of the texts that make up a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Index of the text in [`Sources`].
    pub(crate) source: usize,
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

/// A text that a problem may lie in.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
    /// First byte of each line.
    line_starts: Vec<usize>,
}

/// The operation was interrupted by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt;

/// A callback that returns whether to go on; it is called up to millions of times per second.
pub type Watch = Box<dyn FnMut() -> Result<(), Interrupt>>;

/// The texts read so far and the problems found in them.
#[derive(Default)]
pub(crate) struct Problems {
    sources: Vec<Source>,
    found: Vec<(Span, Diagnostic)>,
    errors: usize,
    /// Errors and warnings that are kept.
    kept: [usize; 2],
    watch: Option<Watch>,
    is_interrupted: bool,
    /// Canonical defaults by the address of their key, since a large graph asks for them often.
    pub(crate) defaults: BTreeMap<usize, Option<Item>>,
    /// The keys of the file.
    pub(crate) catalogue: Catalogue,
}

impl Problems {
    /// No problems so far; `watch` may end the search.
    pub(crate) fn watched(catalogue: Catalogue, watch: Option<Watch>) -> Self {
        Self {
            watch,
            catalogue,
            ..Self::default()
        }
    }

    /// Whether to go on. Long operations call this between their steps, and stop without a result
    /// on `false`: the caller has interrupted them, or enough errors were found.
    pub(crate) fn go_on(&mut self) -> bool {
        if !self.is_interrupted
            && let Some(watch) = &mut self.watch
        {
            self.is_interrupted = watch().is_err();
        }
        !self.is_interrupted && self.kept[Severity::Error as usize] < MOST_KEPT
    }

    /// Whether the caller may interrupt the search.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Records that the caller has interrupted the search.
    pub(crate) fn interrupt(&mut self) {
        self.is_interrupted = true;
    }

    /// Whether the caller has interrupted the search.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Adds a text, which may be known already; the result is its index.
    pub(crate) fn add_source(&mut self, name: &str, text: &str) -> usize {
        let is_this = |source: &Source| source.name == name && source.text == text;
        if let Some(known) = self.sources.iter().position(is_this) {
            return known;
        }
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|(_, byte)| *byte == b'\n')
                    .map(|(i, _)| i + 1),
            )
            .collect();
        self.sources.push(Source {
            name: name.to_owned(),
            text: text.to_owned(),
            line_starts,
        });
        self.sources.len() - 1
    }

    /// The span of line `line` (from 1) of a text.
    pub(crate) fn line_span(&self, source: usize, line: usize) -> Span {
        let Some(Source {
            text, line_starts, ..
        }) = self.sources.get(source)
        else {
            return Span::default();
        };
        let start = line_starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(text.len());
        let end = line_starts.get(line).map_or(text.len(), |next| next - 1);
        Span {
            source,
            start,
            end: end.max(start),
        }
    }

    /// Records an error; `label` is what to write at the place.
    pub(crate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.add(Severity::Error, code, span, message.into(), label.into());
    }

    /// Records a warning.
    pub(crate) fn warning(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.add(Severity::Warning, code, span, message.into(), label.into());
    }

    /// Records an error about `file` as a whole.
    pub(crate) fn file_error(&mut self, code: Code, file: &str, message: String, label: String) {
        self.errors += 1;
        self.found.push((
            Span::default(),
            Diagnostic {
                code: code.name(),
                severity: Severity::Error,
                message: shown::sentence(message),
                file: shown::sentence(file.to_owned()),
                line: None,
                column: None,
                source_line: None,
                length: None,
                label: Some(shown::sentence(label)),
                help: None,
                mark: None,
            },
        ));
    }

    fn add(&mut self, severity: Severity, code: Code, span: Span, message: String, label: String) {
        if severity == Severity::Error {
            self.errors += 1;
        }
        if self.kept[severity as usize] >= MOST_KEPT {
            return;
        }
        let Some(source) = self.sources.get(span.source) else {
            return;
        };
        let line = source
            .line_starts
            .partition_point(|start| *start <= span.start)
            .max(1);
        let whole = self.line_span(span.source, line);
        let text = source
            .text
            .get(whole.start..whole.end)
            .unwrap_or("")
            .trim_end_matches('\r');
        let chars_to = |byte: usize| {
            let mut end = byte.saturating_sub(whole.start).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text[..end].chars().count()
        };
        let column = chars_to(span.start);
        let length = chars_to(span.end).saturating_sub(column).max(1);
        let excerpt = Excerpt::of(text, column, length);
        let diagnostic = Diagnostic {
            code: code.name(),
            severity,
            message: shown::sentence(message),
            file: shown::sentence(source.name.clone()),
            line: Some(line),
            column: Some(column + 1),
            source_line: Some(excerpt.text),
            length: Some(length),
            label: Some(shown::sentence(label)).filter(|label| !label.is_empty()),
            help: None,
            mark: Some((excerpt.before, excerpt.length)),
        };
        // The cells of a sweep share most of their text, and with it their problems.
        if !self.found.iter().any(|(_, known)| *known == diagnostic) {
            self.kept[severity as usize] += 1;
            self.found.push((span, diagnostic));
        }
    }

    /// Whether the text could be read; keys missing from a truncated text are not reported.
    pub(crate) fn is_readable(&self) -> bool {
        let torn = [Code::Syntax.name(), Code::TooLarge.name()];
        !self
            .found
            .iter()
            .any(|(_, diagnostic)| torn.contains(&diagnostic.code))
    }

    /// How many errors were recorded.
    pub(crate) fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether there can be no result: an error was recorded, or the caller has interrupted.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0 || self.is_interrupted
    }

    /// The problems in the order of the text: warnings alone, or a report with an error.
    pub(crate) fn finish(mut self) -> Result<Vec<Diagnostic>, Report> {
        self.found.sort_by_key(|(span, _)| *span);
        let diagnostics = self
            .found
            .into_iter()
            .map(|(_, diagnostic)| diagnostic)
            .collect();
        if self.errors > 0 {
            Err(Report { diagnostics })
        } else {
            Ok(diagnostics)
        }
    }
}
