//! The one place that reads files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::problems::Problems;
use crate::shown;

/// The largest file.
const MOST_BYTES: u64 = 256 << 20;

/// The bytes read between two calls of the watch.
const STEP_BYTES: u64 = 16 << 20;

/// Why a table was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The cause why it cannot be read.
    Unreadable(String),
    /// The caller has interrupted the read.
    Interrupted,
}

/// Gives a table in a format of its own, such as Parquet, as CSV, or says why it cannot.
pub type TableReader = Box<dyn Fn(&Path) -> Result<String, TableError>>;

/// A text and its index among the sources.
pub(crate) type SourceText = (usize, Rc<str>);

/// Where the files are that a scenario names.
#[derive(Default)]
enum Place {
    /// No file may be read.
    #[default]
    Nowhere,
    /// The folder of the scenario.
    Folder(PathBuf),
    /// Texts that the caller has, by the name that the scenario gives them.
    Texts(BTreeMap<String, String>),
}

/// Reads the files that a scenario names, each once.
#[derive(Default)]
pub(crate) struct Files {
    place: Place,
    /// The reader of Parquet files.
    read_table: Option<TableReader>,
    read: BTreeMap<String, Option<SourceText>>,
}

impl Files {
    /// Files named by the scenario at `path`.
    pub(crate) fn beside(path: &str, read_table: Option<TableReader>) -> Self {
        let folder = Path::new(path)
            .parent()
            .map_or_else(PathBuf::new, Path::to_path_buf);
        Self {
            place: Place::Folder(folder),
            read_table,
            read: BTreeMap::new(),
        }
    }

    /// These texts by name, and no folder.
    pub(crate) fn given(texts: BTreeMap<String, String>) -> Self {
        Self {
            place: Place::Texts(texts),
            ..Self::default()
        }
    }

    /// No files at all.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// The text of a file and its index among the sources; `span` is where it is named.
    pub(crate) fn text(
        &mut self,
        name: &str,
        span: Span,
        problems: &mut Problems,
    ) -> Option<SourceText> {
        if let Some(known) = self.read.get(name) {
            return known.clone();
        }
        let text = self.load(name, span, problems);
        self.read.insert(name.to_owned(), text.clone());
        text
    }

    /// The path of a file that a scenario names; `None` where no folder is read.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        match &self.place {
            Place::Folder(folder) => Some(folder.join(name)),
            Place::Nowhere | Place::Texts(_) => None,
        }
    }

    fn load(&self, name: &str, span: Span, problems: &mut Problems) -> Option<SourceText> {
        let path = match &self.place {
            Place::Folder(folder) => folder.join(name),
            Place::Texts(texts) => return given(texts, name, span, problems),
            Place::Nowhere => {
                let message = "a resolved scenario cannot name files";
                let label = "resolve the scenario first";
                problems.error(Code::Unreadable, span, message, label);
                return None;
            }
        };
        let name = shown::short(name);
        let is_table = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        let bytes = match regular_size(&path) {
            Ok(size) if size > MOST_BYTES => Err(Refusal::TooLarge(size)),
            Ok(_) if is_table => self.read_table(&path, problems),
            Ok(_) => read(&path, MOST_BYTES, problems),
            Err(error) => Err(Refusal::Unreadable(reason(&error))),
        };
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).map_err(|_| Refusal::NotUtf8));
        let (code, message, label) = match text {
            Ok(text) if text.len() as u64 <= MOST_BYTES => {
                let shown = path.to_string_lossy();
                let source = problems.add_source(&shown, &text);
                return Some((source, text.into()));
            }
            Ok(text) => (
                Code::TooLarge,
                format!("\"{name}\" has {} bytes as text", text.len()),
                "it may have 256 MiB",
            ),
            Err(Refusal::TooLarge(size)) => (
                Code::TooLarge,
                format!("\"{name}\" has {size} bytes"),
                "it may have 256 MiB",
            ),
            Err(Refusal::NotUtf8) => (
                Code::NotUtf8,
                format!("\"{name}\" is not UTF-8"),
                "save the file as UTF-8",
            ),
            Err(Refusal::NoTable(reason)) => (
                Code::Unreadable,
                format!("\"{name}\" cannot be read: {}", shown::sentence(reason)),
                "name a table in Parquet or CSV",
            ),
            Err(Refusal::Unreadable(reason)) => (
                Code::Unreadable,
                format!("\"{name}\" cannot be read: {reason}"),
                "a path counts from the folder of the scenario",
            ),
            Err(Refusal::Interrupted) => return None,
        };
        problems.error(code, span, message, label);
        None
    }

    fn read_table(&self, path: &Path, problems: &mut Problems) -> Result<Vec<u8>, Refusal> {
        let Some(read) = &self.read_table else {
            let reason = "Parquet is read by the Python package; write it as CSV";
            return Err(Refusal::NoTable(reason.to_owned()));
        };
        match read(path) {
            Ok(text) => Ok(text.into_bytes()),
            Err(TableError::Unreadable(reason)) => Err(Refusal::NoTable(reason)),
            Err(TableError::Interrupted) => {
                problems.interrupt();
                Err(Refusal::Interrupted)
            }
        }
    }
}

/// The text of this name among those that the caller has.
fn given(
    texts: &BTreeMap<String, String>,
    name: &str,
    span: Span,
    problems: &mut Problems,
) -> Option<SourceText> {
    let Some(text) = texts.get(name) else {
        let message = format!("\"{}\" is not among the attached files", shown::short(name));
        problems.error(Code::Unreadable, span, message, "attach the file");
        return None;
    };
    let source = problems.add_source(&shown::short(name), text);
    Some((source, text.as_str().into()))
}

/// Why a file is not taken.
pub(crate) enum Refusal {
    Unreadable(String),
    NoTable(String),
    NotUtf8,
    TooLarge(u64),
    Interrupted,
}

/// The size of a regular file. A pipe, a device or a folder is refused before it is opened: it
/// might block, or never end.
pub(crate) fn regular_size(path: &Path) -> io::Result<u64> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() {
        Ok(metadata.len())
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// The bytes of a file, at most `most` of them, even if the file grows meanwhile.
pub(crate) fn read(path: &Path, most: u64, problems: &mut Problems) -> Result<Vec<u8>, Refusal> {
    let unreadable = |error: io::Error| Refusal::Unreadable(reason(&error));
    let mut file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    loop {
        let step = file.by_ref().take(STEP_BYTES).read_to_end(&mut bytes);
        match step.map_err(unreadable)? {
            _ if bytes.len() as u64 > most => return Err(Refusal::TooLarge(bytes.len() as u64)),
            0 => return Ok(bytes),
            _ if !problems.go_on() => return Err(Refusal::Interrupted),
            _ => {}
        }
    }
}

/// The cause of a read error, without the system's error number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => error.to_string(),
    }
}
