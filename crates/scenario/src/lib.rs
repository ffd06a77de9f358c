//! The scenario file: typed, checked and resolved.

pub mod model;
mod protocols;

pub use model::Scenario;
