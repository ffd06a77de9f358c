//! A TOML document as a tree of values that remember their place.
//!
//! Overrides and sweeps change this tree before it is checked, so that a problem of a swept value
//! is shown where the sweep names it.

use std::sync::Arc;

use crate::diagnostic::Span;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<Item>),
    Table(Table),
    /// A table in its normal form.
    Shared(Shared),
}

/// A table that the trees of several cells have.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Table>);

impl Shared {
    /// Takes a table.
    pub(crate) fn new(table: Table) -> Self {
        Self(Arc::new(table))
    }

    /// The table.
    pub(crate) fn table(&self) -> &Table {
        &self.0
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

/// Keys and values in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) item: Item,
    /// Whether the value is what leaving the key out would mean; set when the tree is checked.
    pub(crate) is_default: bool,
}

impl Value {
    /// The word for its type in messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "an integer",
            Self::Number(_) => "a number",
            Self::Boolean(_) => "a boolean",
            Self::Datetime => "a date",
            Self::Array(_) => "a list",
            Self::Table(_) | Self::Shared(_) => "a table",
        }
    }
}

impl Item {
    /// A text.
    pub(crate) fn text(text: impl Into<String>, span: Span) -> Self {
        Self {
            value: Value::Text(text.into()),
            span,
        }
    }

    /// The text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The table, if it is one.
    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            Value::Shared(shared) => Some(shared.table()),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }
}

impl Table {
    /// The entry of `key`.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Item> {
        self.entry(key).map(|entry| &entry.item)
    }

    /// The value of `key`, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        self.entries
            .iter_mut()
            .find(|entry| entry.key == key)
            .map(|entry| &mut entry.item)
    }

    /// Sets `key`, at the end if it is new.
    pub(crate) fn set(&mut self, key: &str, key_span: Span, item: Item) {
        match self.get_mut(key) {
            Some(old) => *old = item,
            None => self.entries.push(Entry {
                key: key.to_owned(),
                key_span,
                item,
                is_default: false,
            }),
        }
    }

    /// Removes `key`.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }
}
