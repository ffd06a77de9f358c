//! Recorded traces: what a scenario names as files, as text and as values.
//!
//! [`capacity`] reads what a link can carry, [`channel`] what a receiver hears, [`way`] where a UE
//! is; all take the rows of tables from [`rows`]. [`fading`] reads gains of resource blocks. What
//! was read becomes part of the resolved scenario in one canonical
//! spelling, as `[[trace]]`: a run's name covers it, and a resolved scenario needs no file
//! beside it.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::{Files, SourceText};
use crate::problems::Problems;
use crate::shown;
use crate::tree::{Item, Table, Value};

mod capacity;
mod channel;
mod fading;
mod rows;
mod way;

/// What identifies a trace: its file, and what is taken of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    file: String,
    /// "capacity", "sinr", "cqi", "way" or "fading".
    of: String,
    /// The value of the column `entity`, where the scenario states one.
    entity: Option<String>,
    /// The value of the column `run_id`, where the scenario states one.
    run: Option<String>,
}

/// The traces of a scenario.
pub(crate) struct Traces {
    /// The texts that the scenario brings itself.
    given: BTreeMap<Name, Rc<str>>,
    /// The canonical texts of the traces that are used.
    used: BTreeMap<Name, String>,
    place: Span,
}

impl Traces {
    /// Takes the texts out of a normal tree.
    pub(crate) fn take(tree: &mut Table, problems: &mut Problems) -> Self {
        let place = tree.place("trace", Span::default());
        let rows = tree.remove("trace").map(|entry| entry.item);
        let mut given = BTreeMap::new();
        let rows = rows.as_ref().and_then(Item::as_array).unwrap_or(&[]);
        for row in rows {
            let Some(table) = row.as_table() else {
                continue;
            };
            let text = |key: &str| table.text(key).map(str::to_owned);
            let (Some(file), Some(of), Some(source)) = (text("file"), text("of"), text("source"))
            else {
                continue;
            };
            let name = Name {
                file,
                of,
                entity: text("entity"),
                run: text("run"),
            };
            let message = format!("the trace \"{}\" stands twice", shown::short(&name.file));
            if given.insert(name, source.into()).is_some() {
                problems.error(Code::DuplicateId, row.span, message, "remove one of them");
            }
        }
        Self {
            given,
            used: BTreeMap::new(),
            place,
        }
    }

    /// Writes the texts that were used into the tree.
    pub(crate) fn write(self, tree: &mut Table) {
        let place = self.place;
        let rows: Vec<Item> = self
            .used
            .into_iter()
            .map(|(name, source)| {
                let mut row = Table::default();
                let keys = [
                    ("file", Some(name.file)),
                    ("of", Some(name.of)),
                    ("entity", name.entity),
                    ("run", name.run),
                    ("source", Some(source)),
                ];
                for (key, text) in keys {
                    if let Some(text) = text {
                        row.set(key, place, Item::text(text, place));
                    }
                }
                Item {
                    value: Value::Table(row),
                    span: place,
                }
            })
            .collect();
        if !rows.is_empty() {
            let value = Value::Array(rows);
            tree.set("trace", place, Item { value, span: place });
        }
    }

    /// The text of a trace and its index among the sources; `span` is where it is named.
    fn text(
        &self,
        name: &Name,
        span: Span,
        files: &mut Files,
        problems: &mut Problems,
    ) -> Option<SourceText> {
        match self.given.get(name) {
            Some(text) => Some((problems.add_source(&name.file, text), Rc::clone(text))),
            None => files.text(&name.file, span, problems),
        }
    }
}
