//! The physical layer as pure functions: what a standard's times and rates are.

pub mod standard;

pub use standard::{Preamble, Standard};
