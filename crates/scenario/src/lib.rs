//! The scenario file: typed, unit-checked and resolved.
//!
//! A file passes these modules:
//!
//! 1. `parse` reads TOML into a `tree` of values that remember their place; `sweep` applies
//!    overrides and the values of a campaign's cell to it.
//! 2. `normal` checks it against the one table of keys in `spec` and fills in defaults, collecting
//!    every problem as a [`Diagnostic`] in `problems`. `catalogue` knows the keys that models
//!    declare; `builder` puts them into the table.
//! 3. `topology` builds the nodes and links, from a generator, a CSV file or the file itself;
//!    `networks` keeps the last one.
//! 4. `resolve` joins the flows, UEs and records to them, and gives the normal form and a
//!    [`Scenario`] of plain values; `custom` adds the text of Python classes, `traces` that of
//!    recorded traces, `assignment` the channels and flow rates of links over 802.11; `print` writes
//!    the normal form as TOML, `graph` its nodes and links.
//!
//! A file with a section `[slotted]` describes no network; `slotted` resolves it.
//!
//! [`Catalogue::check`] reports what is wrong, [`Catalogue::plan`] resolves every cell of a campaign;
//! `twins` finds the cells that are the same scenario. [`Catalogue::from_resolved`] in `single` reads
//! one back for a run.
//! Nothing but `files` reads files, and no input makes any of this panic.
//!
//! Files are untrusted: `shown` makes quoted texts printable and short, and long operations call a
//! [`Watch`] between their steps; `aside` runs uninterruptible library calls on a thread.

mod access;
mod aside;
mod assignment;
mod builder;
mod catalogue;
mod choices;
mod codes;
mod compare;
mod csv;
mod custom;
mod diagnostic;
mod explicit_paths;
mod failures;
mod files;
mod flows;
mod graph;
mod hash;
mod keys;
mod linux;
mod lte;
pub mod model;
mod names;
mod networks;
mod normal;
mod parse;
mod phrases;
mod plain;
mod plan;
mod print;
mod problems;
mod profile;
mod protocols;
mod read;
mod reference;
mod resolve;
mod schema;
mod shown;
mod single;
mod slotted;
mod spec;
mod sweep;
mod templates;
mod topology;
mod traces;
mod tree;
mod twins;
mod values;
mod wifi;

pub use catalogue::{Catalogue, CatalogueError, Declared};
pub use choices::choices;
pub use codes::{codes, errors_page, explain};
pub use compare::{Compare, choices as contender_keys};
pub use diagnostic::{Diagnostic, Remark, Report, Severity};
pub use files::{TableError, TableReader};
pub use model::{Described, Scenario};
pub use plan::{Cell, Options, Plan, Run, Stopped};
pub use problems::{Interrupt, Watch};
pub use reference::reference_page;
pub use schema::schema;
pub use single::{check_sites, read_file};
pub use templates::{Template, template, template_names};

/// The version of the models. It changes whenever the same scenario and seed give other results,
/// and is part of every run's name.
pub const MODEL_VERSION: &str = "10";
