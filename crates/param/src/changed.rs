//! Words of a key `profile` that change defaults of a section and of the tables within it.

use crate::{Mismatch, Param, Params, Section, Value, Values};

/// A word of the key `profile`, with the defaults that it changes.
#[derive(Clone, Debug)]
pub struct ChangedDefaults {
    /// The word.
    pub word: &'static str,
    /// What it changes. The tag of a table comes before the keys of its words.
    pub defaults: Vec<ChangedDefault>,
}

/// A default that a profile changes.
#[derive(Clone, Debug)]
pub struct ChangedDefault {
    /// The table within the section; empty for the section itself.
    pub table: &'static str,
    /// The word of the table's tag under which it holds; empty for any.
    pub under: &'static str,
    /// The key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
}

impl ChangedDefaults {
    /// Changes a default. A value that leaves its key out changes none.
    #[doc(hidden)]
    pub fn set<T: Param>(
        &mut self,
        table: &'static str,
        under: &'static str,
        key: &'static str,
        value: &T,
    ) {
        self.defaults
            .extend(value.to_value().map(|value| ChangedDefault {
                table,
                under,
                key,
                value,
            }));
    }

    /// The configuration `standard` with the defaults of the profile.
    ///
    /// # Errors
    ///
    /// A default is no value of its key.
    pub fn apply<C: Params>(&self, standard: &C) -> Result<C, Mismatch> {
        let mut values = standard.write();
        for default in &self.defaults {
            let ChangedDefault {
                table, under, key, ..
            } = *default;
            if table.is_empty() {
                values.set(key, default.value.clone());
                continue;
            }
            let section = C::spec().keys.iter().find(|key| key.name == table);
            let section = section.and_then(|key| key.kind.section());
            let mut inner = values.table(table).cloned().unwrap_or_default();
            if under.is_empty() || section.and_then(|s| word(s, &inner)) == Some(under) {
                inner.set(key, default.value.clone());
                values.set(table, Value::Table(inner));
            }
        }
        C::read(&values)
    }
}

/// The word of a table's tag.
fn word<'a>(section: &Section, table: &'a Values) -> Option<&'a str> {
    table.text(section.tag.as_ref()?.key)
}

/// Declares a function that gives [`ChangedDefaults`]: keys of the section, and keys of the tables
/// within it as `table.key`. A key of one word of the table's tag is `table["word"].key`.
///
/// ```
/// use backlane_param::changed_defaults;
///
/// changed_defaults! {
///     /// As the reference implementation has it.
///     pub fn reference() = "reference" {
///         window = 7_u32;
///         buffer.limit = 12_u32;
///         buffer["timed"].exact = true;
///     }
/// }
/// assert_eq!(reference().defaults[2].under, "timed");
/// ```
#[macro_export]
macro_rules! changed_defaults {
    (
        $(#[doc = $doc:expr])*
        $vis:vis fn $name:ident() = $word:literal {$(
            $key:ident $([$under:literal])? $(. $inner:ident)? = $value:expr;
        )*}
    ) => {
        $(#[doc = $doc])*
        $vis fn $name() -> $crate::ChangedDefaults {
            let mut changed = $crate::ChangedDefaults { word: $word, defaults: Vec::new() };
            $($crate::changed_defaults!(@set changed $key [$($under)?] $($inner)? = $value);)*
            changed
        }
    };
    (@set $changed:ident $key:ident [] = $value:expr) => {
        $changed.set("", "", stringify!($key), &$value)
    };
    (@set $changed:ident $table:ident [$($under:literal)?] $key:ident = $value:expr) => {
        $changed.set(stringify!($table), concat!($($under)?), stringify!($key), &$value)
    };
}
