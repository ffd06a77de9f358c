//! A finished run, and the threads that ran it.

use std::time::Duration;

use backlane_world::Outcome;

/// A finished run, and how it was run.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) threads: usize,
    /// Why it was one thread.
    pub(crate) undivided: Option<&'static str>,
    /// CPU time of the threads beside the calling one.
    pub(crate) helpers_cpu: Duration,
    /// What kernels have printed, by host.
    pub(crate) consoles: Vec<(String, String)>,
}
