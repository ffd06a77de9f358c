//! One core for a run and its kernels.
//!
//! Of the processes of a run one runs at a time, and hands over to another thousands of times a second.
//! On one core that takes about two thirds of the time that it takes between two.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Runs that were given a core so far, so that those of a campaign get different ones.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// The calling thread is on one core, as are the processes that it starts, until this is dropped.
#[derive(Debug)]
pub(crate) struct OneCore {
    before: CpuSet,
}

impl OneCore {
    /// Moves the calling thread to one of its cores; `None` if the system does not allow it.
    pub(crate) fn take() -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let cores: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|&core| before.is_set(core))
            .collect();
        let turn = RUNS.fetch_add(1, Ordering::Relaxed);
        let mut own = CpuSet::new();
        own.set(*cores.get(turn % cores.len().max(1))?);
        sched_setaffinity(None, &own).ok()?;
        Some(Self { before })
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        // It was allowed before.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_on_one_core_and_then_on_all_of_its_cores_again() {
        let before = sched_getaffinity(None).unwrap();
        let one = OneCore::take().unwrap();
        assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
        drop(one);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }
}
