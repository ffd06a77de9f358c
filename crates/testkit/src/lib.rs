//! Fixtures and checks shared by tests and benchmarks.
//!
//! [`dumbbell`] is the one network on which TCP has textbook answers.

pub mod dumbbell;

pub use dumbbell::Dumbbell;
