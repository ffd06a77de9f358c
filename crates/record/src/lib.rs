//! Results as columns, and captures as files of bytes.
//!
//! A model declares the columns of a table with [`table!`]: name, type, unit and one sentence. The
//! declaration makes the struct of a row; [`Rows`] collects rows into a [`Table`]. A
//! [`pcapng::Pcapng`] is the capture of one node. The caller of a run writes both to files.

mod declare;
pub mod pcapng;
mod schema;
mod table;

pub use schema::{ColumnSpec, Kind, TableSpec, reference};
pub use table::{Cell, Column, Field, Row, Rows, Table};
