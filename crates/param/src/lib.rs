//! Parameters of a model, declared once, beside the model.
//!
//! [`params!`] declares a struct, [`words!`] an enum of words, [`or_word!`] a word or else a value,
//! and [`choice!`] a table whose tag decides which keys it has. [`changed_defaults!`] declares what a
//! profile changes. One declaration gives:
//!
//! - the Rust type with its documentation and, where every key has a default, its `Default`;
//! - the description ([`Spec`], [`Section`]) that checks a scenario file, fills it in, and makes
//!   the JSON Schema and the reference page;
//! - the reader of checked values ([`Params::read`]) and their writer ([`Params::write`]).
//!
//! The name of a key is the name of its field and is written once, so a description and a reader
//! cannot differ.
//!
//! This crate reads no files and knows no TOML: `scenario` interprets the descriptions.

mod changed;
mod declare;
mod macros;
mod spec;
mod types;
mod value;

pub use changed::{ChangedDefault, ChangedDefaults};
pub use declare::{
    Given, Param, Params, Profile, Spec, Table, Unbounded, field_keys, paragraph, table, table_key,
    unbounded,
};
pub use spec::{Derived, Issue, Key, Kind, Presence, Rules, Section, Tag, Variant};
pub use types::{
    BufferLimit, Id, Int, Milliseconds, OneOrMany, OrAuto, OrInfinite, OrNone, OrOff, OrStandard,
    OrUnlimited, PythonClass, Queue, Settings,
};
pub use value::{Mismatch, Value, Values};

/// Ranges that many keys share.
pub mod ranges;
