//! The one place that reads files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::codes::Code;
use crate::diagnostic::{Problems, Span};

/// The largest file.
const MOST_BYTES: u64 = 256 << 20;

/// Gives a table in a format of its own, such as Parquet, as CSV, or says why it cannot.
pub type TableReader = fn(&Path) -> Result<String, String>;

/// Reads the files that a scenario names, each once.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The folder of the scenario; `None` where no file may be read.
    folder: Option<PathBuf>,
    /// Who reads Parquet.
    read_table: Option<TableReader>,
    read: BTreeMap<String, Option<(usize, String)>>,
}

impl Files {
    /// Files named by the scenario at `path`.
    pub(crate) fn beside(path: &str, read_table: Option<TableReader>) -> Self {
        let folder = Path::new(path)
            .parent()
            .map_or_else(PathBuf::new, Path::to_path_buf);
        Self {
            folder: Some(folder),
            read_table,
            read: BTreeMap::new(),
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
    ) -> Option<(usize, String)> {
        if let Some(known) = self.read.get(name) {
            return known.clone();
        }
        let text = self.load(name, span, problems);
        self.read.insert(name.to_owned(), text.clone());
        text
    }

    fn load(&self, name: &str, span: Span, problems: &mut Problems) -> Option<(usize, String)> {
        let Some(folder) = &self.folder else {
            let message = "a resolved scenario cannot name files";
            problems.error(
                Code::Unreadable,
                span,
                message,
                "resolve the scenario first",
            );
            return None;
        };
        let path = folder.join(name);
        let metadata = std::fs::metadata(&path).and_then(|metadata| {
            if metadata.is_file() {
                Ok(metadata)
            } else {
                Err(std::io::Error::other("not a file"))
            }
        });
        let is_table = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        let bytes = match metadata.map(|metadata| metadata.len()) {
            Ok(size) if size > MOST_BYTES => {
                let message = format!("\"{name}\" has {size} bytes");
                problems.error(Code::TooLarge, span, message, "it may have 256 MiB");
                return None;
            }
            Ok(_) if is_table => self.read_table(&path).map(String::into_bytes),
            Ok(_) => std::fs::read(&path),
            Err(error) => Err(error),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!("\"{name}\" cannot be read: {}", reason(&error));
                let label = match error.kind() {
                    std::io::ErrorKind::Other if is_table => "name a table in Parquet or CSV",
                    _ => "a path counts from the folder of the scenario",
                };
                problems.error(Code::Unreadable, span, message, label);
                return None;
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            let message = format!("\"{name}\" is not UTF-8");
            problems.error(Code::NotUtf8, span, message, "save the file as UTF-8");
            return None;
        };
        if text.len() as u64 > MOST_BYTES {
            let message = format!("\"{name}\" has {} bytes as text", text.len());
            problems.error(Code::TooLarge, span, message, "it may have 256 MiB");
            return None;
        }
        let shown = path.to_string_lossy();
        Some((problems.add_source(&shown, &text), text))
    }

    fn read_table(&self, path: &Path) -> std::io::Result<String> {
        let read = self.read_table.unwrap_or(|_| {
            Err("Parquet is read by the Python package; write it as CSV".to_owned())
        });
        read(path).map_err(std::io::Error::other)
    }
}

/// Why reading failed, without the system's error number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => error.to_string(),
    }
}
