//! Problems of a scenario, placed in their file and rendered.

use std::fmt;

use serde::Serialize;

use crate::codes::Code;
use crate::shown;

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
    pub(crate) mark: Option<(usize, usize)>,
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
    /// Index of the text in `Problems`.
    pub(crate) source: usize,
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}
