//! Fixtures and checks shared by tests and benchmarks.
//!
//! [`dumbbell`] is the one network on which TCP has textbook answers; [`run_twice`] finds the
//! first event or draw in which two runs differ; [`scenes`] holds scenario texts.

pub mod dumbbell;
pub mod run_twice;
pub mod scenes;

pub use dumbbell::Dumbbell;
pub use run_twice::first_difference;
