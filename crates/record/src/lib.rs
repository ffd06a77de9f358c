//! Results as columns, and captures as files of bytes.
//!
//! A [`Table`] is a list of named columns of equal length, a [`pcapng::Pcapng`] what passed at one
//! node. Files are written elsewhere: whoever runs the simulation takes both over.

pub mod pcapng;
mod table;

pub use table::{Column, Table, Value};
