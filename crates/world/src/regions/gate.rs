//! Where the threads of a run meet.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::yield_now;

use backlane_engine::Interrupt;

/// Looks at the gate before a thread yields its core, and before it sleeps: most windows are
/// shorter than a switch of threads.
const SPINS: u32 = 2_000;
const YIELDS: u32 = 50;

/// A barrier that can be broken: when a thread ends early, the others stop waiting.
pub(super) struct Gate {
    parties: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}

impl Gate {
    pub(super) fn new(parties: usize) -> Self {
        Self {
            parties,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            opened: Condvar::new(),
        }
    }

    /// Waits until all threads have come.
    ///
    /// # Errors
    /// [`Interrupt`] if the gate is broken.
    pub(super) fn meet(&self) -> Result<(), Interrupt> {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.store(0, Ordering::Release);
            let _locked = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            self.opened.notify_all();
            return self.intact();
        }
        let is_shut =
            || self.round.load(Ordering::Acquire) == round && !self.broken.load(Ordering::Acquire);
        for _ in 0..SPINS {
            if !is_shut() {
                return self.intact();
            }
            spin_loop();
        }
        for _ in 0..YIELDS {
            if !is_shut() {
                return self.intact();
            }
            yield_now();
        }
        let mut locked = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while is_shut() {
            locked = (self.opened.wait(locked)).unwrap_or_else(PoisonError::into_inner);
        }
        self.intact()
    }

    /// # Errors
    /// [`Interrupt`] if the gate is broken.
    pub(super) fn intact(&self) -> Result<(), Interrupt> {
        if self.broken.load(Ordering::Acquire) {
            return Err(Interrupt);
        }
        Ok(())
    }

    /// Ends all waiting, now and later.
    pub(super) fn break_open(&self) {
        let _locked = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.broken.store(true, Ordering::Release);
        self.opened.notify_all();
    }
}

/// Breaks the gate when its thread ends before its work is done, be it by a panic.
pub(super) struct BreakOnExit<'a>(pub(super) &'a Gate);

impl Drop for BreakOnExit<'_> {
    fn drop(&mut self) {
        self.0.break_open();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_before_all_have_come() {
        let gate = &Gate::new(3);
        let passed = &AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(move || {
                    for round in 0..1_000 {
                        let before = passed.load(Ordering::SeqCst);
                        assert!(before >= 3 * round, "{before} in round {round}");
                        gate.meet().unwrap();
                        passed.fetch_add(1, Ordering::SeqCst);
                        gate.meet().unwrap();
                    }
                });
            }
        });
        assert_eq!(passed.load(Ordering::SeqCst), 3_000);
    }

    #[test]
    fn a_thread_that_panics_leaves_nobody_waiting() {
        let gate = &Gate::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(move || gate.meet());
            let fails = scope.spawn(move || {
                let _broken = BreakOnExit(gate);
                panic!("on purpose");
            });
            assert!(fails.join().is_err());
            assert_eq!(waits.join().unwrap(), Err(Interrupt));
        });
        assert_eq!(gate.meet(), Err(Interrupt));
    }
}
