//! Congestion controls and routers beyond those of the simulator: their names in the file, and the
//! text of those that are Python classes.
//!
//! The text becomes part of the resolved scenario. A run's name covers it, so that a changed
//! class is another run, and a resolved scenario needs no file beside it.

use std::collections::BTreeMap;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{CustomControl, PythonClass, PythonRouter};
use crate::plain;
use crate::problems::Problems;
use crate::shown;
use crate::tree::{Item, Table, Value};

/// How the file names a congestion control that is a Python class.
pub(crate) const FORMS: &[&str] = &["python:FILE:CLASS"];

/// A congestion control in Python as the file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stated<'a> {
    file: &'a str,
    class: &'a str,
}

impl<'a> Stated<'a> {
    /// Reads the value of `congestion_control`; `None` where it is no Python class. The error says
    /// what to write.
    pub(crate) fn of(text: &'a str) -> Option<Result<Self, &'static str>> {
        let rest = text.strip_prefix("python:")?;
        Some(match class_of(rest) {
            Some((file, class)) => Ok(Self { file, class }),
            None => Err("write \"python:FILE:CLASS\", such as \"python:aimd.py:Aimd\""),
        })
    }
}

/// File and class of "FILE:CLASS".
pub(crate) fn class_of(text: &str) -> Option<(&str, &str)> {
    // A path may hold a colon, a class may not.
    let named = text.rsplit_once(':');
    named.filter(|(file, class)| !file.is_empty() && is_identifier(class))
}

/// Whether Python takes it for a name.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|c| c.is_alphanumeric() || c == '_')
}

/// What a normal tree names that the simulator does not have.
pub(crate) struct Customs {
    /// In the order of their names.
    pub(crate) controls: Vec<CustomControl>,
    pub(crate) router: Option<PythonRouter>,
}

/// The custom controls and the custom router that a normal tree names. The texts of their files are
/// read, unless the tree has them, and written into it.
pub(crate) fn customs(
    tree: &mut Table,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Customs> {
    let mut texts = Texts {
        given: given(tree, problems),
        used: BTreeMap::new(),
    };
    let place = tree.place("python", Span::default());
    tree.remove("python");
    let flows = tree.get("flow").and_then(Item::as_array).unwrap_or(&[]);
    let named = tree
        .table("tcp")
        .into_iter()
        .chain(flows.iter().filter_map(Item::as_table))
        .filter_map(|table| table.get("congestion_control"))
        .filter_map(|item| {
            let text = item.as_text()?;
            Some((text, Stated::of(text)?.ok()?, item.span))
        });
    let mut controls = BTreeMap::new();
    for (name, Stated { file, class }, span) in named {
        let python = texts.class(file, class, span, files, problems)?;
        let name = name.to_owned();
        controls.insert(name.clone(), CustomControl { name, python });
    }
    let routing = tree.table("routing");
    let routing = routing.filter(|routing| routing.text("protocol") == Some("python"));
    let mut router = None;
    if let Some((routing, item)) = routing.and_then(|table| Some((table, table.get("router")?)))
        && let Some((file, class)) = item.as_text().and_then(class_of)
    {
        let parameters = routing.table("parameters");
        router = Some(PythonRouter {
            class: texts.class(file, class, item.span, files, problems)?,
            parameters: parameters.map(plain::values).unwrap_or_default(),
        });
    }
    texts.write(tree, place);
    Some(Customs {
        controls: controls.into_values().collect(),
        router,
    })
}

/// The texts of Python files.
struct Texts {
    /// Those that the scenario contains.
    given: BTreeMap<String, String>,
    /// Those of the classes that it names.
    used: BTreeMap<String, String>,
}

impl Texts {
    fn class(
        &mut self,
        file: &str,
        class: &str,
        span: Span,
        files: &mut Files,
        problems: &mut Problems,
    ) -> Option<PythonClass> {
        let given = self.given.get(file);
        let source = match given {
            Some(source) => source.clone(),
            None => files.text(file, span, problems)?.1.to_string(),
        };
        let path = files.path(file).filter(|_| given.is_none());
        self.used.insert(file.to_owned(), source.clone());
        Some(PythonClass {
            file: file.to_owned(),
            class: class.to_owned(),
            source,
            embedded: given.is_some(),
            path: path.map(|path| path.to_string_lossy().into_owned()),
        })
    }

    /// Writes the texts in use under `[[python]]`.
    fn write(self, tree: &mut Table, place: Span) {
        let rows: Vec<Item> = (self.used.into_iter())
            .map(|(file, source)| {
                let mut row = Table::default();
                row.set("file", place, Item::text(file, place));
                row.set("source", place, Item::text(source, place));
                Item {
                    value: Value::Table(row),
                    span: place,
                }
            })
            .collect();
        if !rows.is_empty() {
            let value = Value::Array(rows);
            tree.set("python", place, Item { value, span: place });
        }
    }
}

/// The texts that the file brings itself.
fn given(tree: &Table, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut given = BTreeMap::new();
    let rows = tree.get("python").and_then(Item::as_array).unwrap_or(&[]);
    for row in rows {
        let Some(table) = row.as_table() else {
            continue;
        };
        let (Some(file), Some(source)) = (table.text("file"), table.text("source")) else {
            continue;
        };
        if given.insert(file.to_owned(), source.to_owned()).is_some() {
            let message = format!("the text of \"{}\" stands twice", shown::short(file));
            problems.error(Code::DuplicateId, row.span, message, "remove one of them");
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_what_follows_the_last_colon() {
        let Some(Ok(Stated { file, class })) = Stated::of("python:C:/a b.py:Aimd") else {
            panic!("not read");
        };
        assert_eq!((file, class), ("C:/a b.py", "Aimd"));
    }

    #[test]
    fn what_is_no_file_with_a_class_is_refused() {
        for text in [
            "python:",
            "python:aimd.py",
            "python::Aimd",
            "python:aimd.py:",
            "python:aimd.py:2nd",
            "python:aimd.py:a.b",
        ] {
            assert!(matches!(Stated::of(text), Some(Err(_))), "{text}");
        }
        assert_eq!(Stated::of("cubic"), None);
    }
}
