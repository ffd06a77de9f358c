//! Results as columns.
//!
//! A [`Table`] is a list of named columns of equal length. Files are written elsewhere: whoever
//! runs the simulation takes the columns over.

mod table;

pub use table::{Column, Table, Value};
