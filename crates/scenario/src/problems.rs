//! Collects the problems of the texts that make up a scenario.

use std::collections::BTreeMap;

use crate::catalogue::Catalogue;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Report, Severity, Span};
use crate::shown::{self, Excerpt};
use crate::tree::Item;

/// At most this many errors are kept, and as many warnings; a file with more has one cause.
const MOST_KEPT: usize = 200;

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
