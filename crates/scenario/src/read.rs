//! Typed values out of a normal tree.
//!
//! The tree was checked, so a value that is not there was refused before or is optional; each
//! reader then gives `None`, and no step has to report a problem twice.

use std::str::FromStr;

use crate::diagnostic::Span;
use crate::tree::{Item, Table, Value};

impl Table {
    /// The text of `key`.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// The text of `key`, read as a quantity.
    pub(crate) fn quantity<T: FromStr>(&self, key: &str) -> Option<T> {
        self.text(key)?.parse().ok()
    }

    /// The integer of `key`, where it fits.
    pub(crate) fn integer<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        match self.get(key)?.value {
            Value::Integer(value) => T::try_from(value).ok(),
            _ => None,
        }
    }

    /// The number of `key`.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)?.value {
            Value::Integer(value) => Some(value as f64),
            Value::Number(value) => Some(value),
            _ => None,
        }
    }

    /// The boolean of `key`.
    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        match self.get(key)?.value {
            Value::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// The table of `key`.
    pub(crate) fn table(&self, key: &str) -> Option<&Self> {
        self.get(key)?.as_table()
    }

    /// The tables of `key`, with their places; none if it is left out.
    pub(crate) fn tables(&self, key: &str) -> Vec<(&Self, Span)> {
        self.get(key)
            .and_then(Item::as_array)
            .unwrap_or_default()
            .iter()
            .filter_map(|item| Some((item.as_table()?, item.span)))
            .collect()
    }

    /// The one text of `key` or its list of texts, with their places.
    pub(crate) fn texts(&self, key: &str) -> Vec<(&str, Span)> {
        let Some(item) = self.get(key) else {
            return Vec::new();
        };
        let single = std::slice::from_ref(item);
        item.as_array()
            .unwrap_or(single)
            .iter()
            .filter_map(|item| Some((item.as_text()?, item.span)))
            .collect()
    }

    /// Where `key` stands, or else `fallback`.
    pub(crate) fn place(&self, key: &str, fallback: Span) -> Span {
        self.get(key).map_or(fallback, |item| item.span)
    }
}
