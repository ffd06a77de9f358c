//! Overrides and sweeps: changes to the tree before it is checked.
//!
//! A path names a key with dots. Where it leads through an array of tables, a number picks one
//! and anything else means all of them. A table is merged over the section it names; when it
//! changes the section's kind or protocol, keys that belong to the old one go.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::parse::parse_value;
use crate::print;
use crate::problems::Problems;
use crate::shown::short;
use crate::spec::{Key, Kind, Section, nearest};
use crate::tree::{Entry, Item, Table, Value};
use crate::values::is_printable;

/// The most runs of a campaign.
const MOST_RUNS: u128 = 1_000_000;

/// A swept key with its values.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) path: String,
    pub(crate) path_span: Span,
    pub(crate) values: Vec<Item>,
    /// The label of each value in tables and figures.
    pub(crate) labels: Vec<serde_json::Value>,
}

/// The seeds of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seeds {
    /// This many, counted from the scenario's seed, and the place in the file.
    Count(u64, Span),
    /// Exactly these.
    List(Vec<u64>),
}

/// A sweep section.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    pub(crate) axes: Vec<Axis>,
    pub(crate) seeds: Seeds,
}

impl Sweep {
    /// The number of cells; at most [`MOST_RUNS`] after a successful [`read`].
    pub(crate) fn cells(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The index of the value of each axis in cell `cell`; the last axis varies fastest.
    pub(crate) fn choice(&self, cell: usize) -> Vec<usize> {
        let mut rest = cell;
        let mut choice: Vec<usize> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let count = axis.values.len().max(1);
                let index = rest % count;
                rest /= count;
                index
            })
            .collect();
        choice.reverse();
        choice
    }

    /// Whether an axis is a section, or a key in it.
    pub(crate) fn changes(&self, section: &str) -> bool {
        let mut axes = self.axes.iter();
        axes.any(|axis| words(&axis.path).first() == Some(&section))
    }

    /// The tree of a cell.
    pub(crate) fn apply<'t>(
        &self,
        base: &'t Table,
        choice: &[usize],
        problems: &mut Problems,
    ) -> Cow<'t, Table> {
        let mut tree = Cow::Borrowed(base);
        for (axis, index) in self.axes.iter().zip(choice) {
            if let Some(item) = axis.values.get(*index) {
                set(
                    tree.to_mut(),
                    &axis.path,
                    axis.path_span,
                    item,
                    Code::UnknownSweepKey,
                    problems,
                );
            }
        }
        tree
    }
}

/// Reads the sweep section of a tree, if it has one; its size is checked before anything is
/// built. `None` stands for a sweep that was refused.
pub(crate) fn read(tree: &Table, problems: &mut Problems) -> Option<Sweep> {
    let mut sweep = Sweep {
        axes: Vec::new(),
        seeds: Seeds::Count(1, tree.place("seed", Span::default())),
    };
    let Some(entry) = tree.entry("sweep") else {
        return Some(sweep);
    };
    let Some(table) = entry.item.as_table() else {
        let message = format!("sweep is {}", entry.item.value.type_name());
        problems.error(
            Code::WrongType,
            entry.item.span,
            message,
            "write a section [sweep]",
        );
        return None;
    };
    let mut is_sound = true;
    axes(table, "", &mut sweep, &mut is_sound, problems);
    let seeds = match &sweep.seeds {
        Seeds::Count(count, _) => u128::from(*count),
        Seeds::List(list) => list.len() as u128,
    };
    let runs = sweep.axes.iter().fold(seeds, |runs, axis| {
        runs.saturating_mul(axis.values.len() as u128)
    });
    if runs > MOST_RUNS {
        problems.error(
            Code::TooManyRuns,
            entry.key_span,
            format!("the sweep has {runs} runs"),
            format!("at most {MOST_RUNS} are possible; split the campaign"),
        );
        return None;
    }
    is_sound.then_some(sweep)
}

/// Collects the axes below `prefix`; keys written without quotes are nested tables.
fn axes(
    table: &Table,
    prefix: &str,
    sweep: &mut Sweep,
    is_sound: &mut bool,
    problems: &mut Problems,
) {
    for entry in &table.entries {
        let path = if prefix.is_empty() {
            entry.key.clone()
        } else {
            format!("{prefix}.{}", entry.key)
        };
        match &entry.item.value {
            Value::Table(inner) => axes(inner, &path, sweep, is_sound, problems),
            _ if !may_be_swept(&path, entry, sweep, problems) => *is_sound = false,
            _ if path == "seeds" => match seeds(&entry.item, problems) {
                Some(seeds) => sweep.seeds = seeds,
                None => *is_sound = false,
            },
            Value::Array(values) if values.is_empty() => {
                *is_sound = false;
                let message = format!("the sweep of `{}` has no values", short(&path));
                problems.error(
                    Code::EmptySweep,
                    entry.item.span,
                    message,
                    "write at least one value",
                );
            }
            Value::Array(values) => {
                let mut values = values.clone();
                match labels(&path, &mut values, problems) {
                    Some(labels) => sweep.axes.push(Axis {
                        path,
                        path_span: entry.key_span,
                        values,
                        labels,
                    }),
                    None => *is_sound = false,
                }
            }
            other => {
                *is_sound = false;
                let message = format!("the sweep of `{}` is {}", short(&path), other.type_name());
                problems.error(
                    Code::WrongType,
                    entry.item.span,
                    message,
                    "write a list of values",
                );
            }
        }
    }
}

/// Whether a key can be an axis. Keys that identify the sweep or the run cannot, nor can a key that
/// is an axis already.
fn may_be_swept(path: &str, entry: &Entry, sweep: &Sweep, problems: &mut Problems) -> bool {
    let words = words(path);
    let (message, label) = match words.as_slice() {
        ["seed"] => ("the seed is no parameter", "write seeds = [1, 2, 3]"),
        ["name"] => (
            "the name is no parameter: the cells would be the same scenario",
            "take it out; what each value is called is its `label`",
        ),
        ["sweep", ..] => ("a sweep cannot be swept", "name another key"),
        ["compare", ..] => (
            "what is compared cannot be swept: it describes no run",
            "name another key",
        ),
        _ if sweep
            .axes
            .iter()
            .any(|axis| self::words(&axis.path) == words) =>
        {
            ("the key is swept twice", "join the two lists")
        }
        _ => return true,
    };
    problems.error(Code::UnknownSweepKey, entry.key_span, message, label);
    false
}

/// The words of a path.
pub(crate) fn words(path: &str) -> Vec<&str> {
    path.split('.')
        .map(|word| word.trim().trim_matches(['"', '\'']))
        .collect()
}

fn seeds(item: &Item, problems: &mut Problems) -> Option<Seeds> {
    let seed = |value: &Value| match value {
        Value::Integer(seed) => u64::try_from(*seed).ok(),
        _ => None,
    };
    match &item.value {
        Value::Integer(count) if *count > 0 => {
            return Some(Seeds::Count(count.unsigned_abs(), item.span));
        }
        Value::Array(items) if !items.is_empty() => {
            let mut list: Vec<u64> = Vec::with_capacity(items.len());
            let mut known = BTreeSet::new();
            for item in items {
                match seed(&item.value) {
                    Some(seed) if known.insert(seed) => list.push(seed),
                    Some(seed) => {
                        let message = format!("seed {seed} stands twice");
                        problems.error(Code::BadSeeds, item.span, message, "write different seeds");
                        return None;
                    }
                    None => {
                        let message = "a seed is not a non-negative integer";
                        problems.error(Code::BadSeeds, item.span, message, "write an integer");
                        return None;
                    }
                }
            }
            return Some(Seeds::List(list));
        }
        _ => {}
    }
    let message = "the sweep has no usable seeds";
    problems.error(
        Code::BadSeeds,
        item.span,
        message,
        "write a number of seeds, such as 10, or a list",
    );
    None
}

/// Applies overrides KEY=VALUE, in their order.
pub(crate) fn apply_overrides(
    tree: &mut Table,
    overrides: &[(String, String)],
    problems: &mut Problems,
) {
    for (path, text) in overrides {
        let shown = format!("{path}={text}");
        let source = problems.add_source("--set", &shown);
        let path_span = Span {
            source,
            start: 0,
            end: path.len(),
        };
        if path.trim().is_empty() {
            problems.error(
                Code::BadOverride,
                path_span,
                "the override has no key",
                "write KEY=VALUE",
            );
            continue;
        }
        let item = parse_value(text, source, path.len() + 1, problems);
        set(
            tree,
            path.trim(),
            path_span,
            &item,
            Code::UnknownSweepKey,
            problems,
        );
    }
}

/// Sets the key at `path`.
fn set(tree: &mut Table, path: &str, span: Span, item: &Item, code: Code, problems: &mut Problems) {
    let words = words(path);
    let place = Place {
        path,
        span,
        item,
        code,
    };
    if words.first() == Some(&"sweep") && code == Code::UnknownSweepKey && words.len() < 2 {
        problems.error(code, span, "a sweep cannot be swept", "name another key");
        return;
    }
    place.descend(tree, problems.catalogue.file(), &words, problems);
}

/// A change in progress.
struct Place<'a> {
    path: &'a str,
    span: Span,
    item: &'a Item,
    code: Code,
}

impl Place<'_> {
    fn unknown(&self, word: &str, label: String, problems: &mut Problems) {
        let message = format!(
            "`{}` is not a key of a scenario: `{}` is not known",
            short(self.path),
            short(word)
        );
        problems.error(self.code, self.span, message, label);
    }

    fn descend(
        &self,
        table: &mut Table,
        section: &'static Section,
        words: &[&str],
        problems: &mut Problems,
    ) {
        let Some((word, rest)) = words.split_first() else {
            return;
        };
        if section.tag.as_ref().is_some_and(|tag| tag.key == *word) && rest.is_empty() {
            let mut single = Table::default();
            single.set(word, self.span, self.item.clone());
            merge(table, section, &single);
            return;
        }
        let Some(key) = find(section, table, word) else {
            let label = match nearest(word, section.names()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("known here: {}", section.names().join(", ")),
            };
            self.unknown(word, label, problems);
            return;
        };
        if rest.is_empty() {
            match (key.kind.section(), &self.item.value, table.get_mut(word)) {
                (
                    Some(inner),
                    Value::Table(new),
                    Some(Item {
                        value: Value::Table(old),
                        span,
                    }),
                ) => {
                    merge(old, inner, new);
                    *span = self.item.span;
                }
                _ => table.set(word, self.span, self.item.clone()),
            }
            return;
        }
        match &key.kind {
            Kind::Tables(inner) => self.descend_rows(table, word, inner, rest, problems),
            Kind::Map(_) | Kind::Settings if rest.len() == 1 => {
                if let Some(map) = self.table_at(table, word, None) {
                    map.set(rest[0], self.span, self.item.clone());
                }
            }
            Kind::Sweep => self.sweep(table, rest),
            kind => match kind.section() {
                Some(inner) => {
                    // The short form of a queue or of a rule stands for one of its keys.
                    let short = match kind {
                        Kind::Queue(_) => Some("limit"),
                        _ => inner.tag.as_ref().map(|tag| tag.key),
                    };
                    if let Some(table) = self.table_at(table, word, short) {
                        self.descend(table, inner, rest, problems);
                    }
                }
                None => {
                    let label = format!("`{word}` has no keys of its own");
                    self.unknown(rest[0], label, problems);
                }
            },
        }
    }

    /// The table at `word`, made if it is not there or stands there in its short form.
    fn table_at<'t>(
        &self,
        table: &'t mut Table,
        word: &str,
        short: Option<&str>,
    ) -> Option<&'t mut Table> {
        let (span, old) = (self.span, table.get(word).cloned());
        if !matches!(
            &old,
            Some(Item {
                value: Value::Table(_),
                ..
            })
        ) {
            let mut new = Table::default();
            if let (Some(old), Some(short)) = (old, short) {
                new.set(short, span, old);
            }
            table.set(
                word,
                span,
                Item {
                    value: Value::Table(new),
                    span,
                },
            );
        }
        match table.get_mut(word) {
            Some(Item {
                value: Value::Table(table),
                ..
            }) => Some(table),
            _ => None,
        }
    }

    fn descend_rows(
        &self,
        table: &mut Table,
        word: &str,
        inner: &'static Section,
        rest: &[&str],
        problems: &mut Problems,
    ) {
        let rows = match table.get_mut(word).map(|item| &mut item.value) {
            Some(Value::Array(rows)) => rows.as_mut_slice(),
            Some(Value::Table(row)) => {
                self.descend(row, inner, rest, problems);
                return;
            }
            _ => &mut [],
        };
        let picked = rest[0].parse::<usize>().ok();
        let count = rows.len();
        if count == 0 || picked.is_some_and(|index| index >= count) {
            let label = format!("the file has {count} [[{word}]]; the first is {word}.0");
            self.unknown(rest[0], label, problems);
            return;
        }
        let words = if picked.is_some() { &rest[1..] } else { rest };
        for (index, row) in rows.iter_mut().enumerate() {
            if picked.is_some_and(|picked| picked != index) {
                continue;
            }
            match &mut row.value {
                Value::Table(row) if words.is_empty() => {
                    if let Value::Table(new) = &self.item.value {
                        merge(row, inner, new);
                    }
                }
                Value::Table(row) => self.descend(row, inner, words, problems),
                _ => {}
            }
        }
    }

    /// An override of a swept list: the sweep is read after the overrides.
    fn sweep(&self, table: &mut Table, rest: &[&str]) {
        if let Some(sweep) = self.table_at(table, "sweep", None) {
            sweep.set(&rest.join("."), self.span, self.item.clone());
        }
    }
}

/// The key `name` of a section whose tag stands in `table`, or of any of its variants.
fn find(section: &'static Section, table: &Table, name: &str) -> Option<&'static Key> {
    let word = section
        .tag
        .as_ref()
        .and_then(|tag| table.text(tag.key).or(tag.default));
    let own = word.and_then(|word| section.variant(word));
    let keys = own.map_or(&[] as &[Key], |variant| variant.keys);
    section
        .keys
        .iter()
        .chain(keys)
        .find(|key| key.name == name)
        .or_else(|| section.find(name))
}

/// Sets the keys of `new` in `old`, a table of `section`.
fn merge(old: &mut Table, section: &'static Section, new: &Table) {
    if let Some(tag) = &section.tag
        && let Some(word) = new.text(tag.key)
        && old.text(tag.key).or(tag.default) != Some(word)
    {
        let known = section
            .variant(word)
            .map_or(&[] as &[Key], |variant| variant.keys);
        old.entries.retain(|entry| {
            section
                .keys
                .iter()
                .chain(known)
                .any(|key| key.name == entry.key)
                || section.find(&entry.key).is_none()
        });
    }
    for entry in &new.entries {
        let inner = find(section, new, &entry.key).and_then(|key| key.kind.section());
        match (inner, &entry.item.value, old.get_mut(&entry.key)) {
            (
                Some(inner),
                Value::Table(new),
                Some(Item {
                    value: Value::Table(old),
                    ..
                }),
            ) => {
                merge(old, inner, new);
            }
            _ => old.set(&entry.key, entry.key_span, entry.item.clone()),
        }
    }
}

/// The labels of an axis. A table may bring its own under the key `label`, which is taken out.
fn labels(
    path: &str,
    values: &mut [Item],
    problems: &mut Problems,
) -> Option<Vec<serde_json::Value>> {
    let mut labels: Vec<serde_json::Value> = Vec::with_capacity(values.len());
    for item in values {
        let own = match &mut item.value {
            Value::Table(table) => table.remove("label").map(|entry| entry.item),
            _ => None,
        };
        let label = match own {
            None => label(&item.value),
            Some(Item {
                value: Value::Text(text),
                ..
            }) if !text.is_empty() => {
                if labels.iter().any(|other| other == text.as_str()) {
                    let message = format!(
                        "two values of `{}` are labelled \"{}\"",
                        short(path),
                        short(&text)
                    );
                    problems.error(Code::BadLabel, item.span, message, "write different labels");
                    return None;
                }
                text.into()
            }
            Some(own) => {
                let message = format!("the label is {}", own.value.type_name());
                let mend = "write a text that is not empty, such as \"per flow\"";
                problems.error(Code::BadLabel, own.span, message, mend);
                return None;
            }
        };
        let noun = "the label of the value";
        if let serde_json::Value::String(text) = &label
            && !is_printable(text, Code::BadLabel, noun, item.span, problems)
        {
            return None;
        }
        labels.push(label);
    }
    Some(labels)
}

/// The label of a swept value: a table's values joined, anything else as it is written.
fn label(value: &Value) -> serde_json::Value {
    match value {
        Value::Text(text) => text.clone().into(),
        Value::Integer(integer) => (*integer).into(),
        Value::Number(number) => (*number).into(),
        Value::Boolean(boolean) => (*boolean).into(),
        Value::Datetime => "".into(),
        Value::Array(_) | Value::Table(_) | Value::Shared(_) => joined(value).into(),
    }
}

fn joined(value: &Value) -> String {
    let parts: Vec<String> = match value {
        Value::Text(text) => vec![text.clone()],
        Value::Array(items) => items.iter().map(|item| joined(&item.value)).collect(),
        Value::Table(table) => table
            .entries
            .iter()
            .map(|entry| joined(&entry.item.value))
            .collect(),
        other => vec![print::inline(other)],
    };
    parts.join("/")
}
