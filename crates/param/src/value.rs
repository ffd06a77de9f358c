//! Checked values, as plain data without places.

use std::fmt;

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text; a quantity is one too.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A list.
    List(Vec<Self>),
    /// A table.
    Table(Values),
}

/// The checked values of a section, in the order of its keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(String, Value)>);

/// A value that is missing or not of the kind that its key declares. A checked section has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The key.
    pub key: &'static str,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the value of `{}` was not checked", self.key)
    }
}

impl std::error::Error for Mismatch {}

impl Values {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// Sets `key`, at the end if it is new.
    pub fn set(&mut self, key: impl Into<String>, value: Value) {
        let key = key.into();
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// All but these keys.
    #[must_use]
    pub fn without(&self, keys: &[&str]) -> Self {
        let kept = self.0.iter().filter(|(name, _)| !keys.contains(&&**name));
        Self(kept.cloned().collect())
    }

    /// The text of `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The table of `key`.
    pub fn table(&self, key: &str) -> Option<&Self> {
        match self.get(key)? {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Whether `key` is true; `None` if it is no boolean.
    pub fn boolean(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// The quantity of `key`, such as a duration or a rate.
    pub fn quantity<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.text(key)?.parse().ok()
    }

    /// The keys and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl fmt::Display for Value {
    /// As TOML, on one line. A table is written as an inline table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Boolean(boolean) => write!(f, "{boolean}"),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Table(values) => {
                let pairs = values.iter().map(|(key, value)| format!("{key} = {value}"));
                write!(f, "{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
