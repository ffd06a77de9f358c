//! The callback that observes the progress of a run and may interrupt it.
//!
//! Simulations read no clock and do not know how long they have been running. They count steps
//! instead, and call back after every [`WATCH_STEPS`] of them. A step takes in the order of a
//! microsecond: an event, a row of a table, a pair of radios. Longer work counts as several steps.

use std::fmt;

use backlane_units::SimTime;

/// The caller requests the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt;

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the run was interrupted")
    }
}

impl std::error::Error for Interrupt {}

/// Steps between two calls.
pub const WATCH_STEPS: u64 = 1 << 9;

/// The callback; its arguments are the simulated time and the number of events so far.
pub type Ask<'a> = dyn FnMut(SimTime, u64) -> Result<(), Interrupt> + 'a;

/// Counts steps, and regularly calls back whether to continue.
pub struct Watch<'a> {
    ask: &'a mut Ask<'a>,
    left: u64,
    now: SimTime,
    events: u64,
}

impl<'a> Watch<'a> {
    /// Nothing has happened yet.
    pub fn new(ask: &'a mut Ask<'a>) -> Self {
        Self {
            ask,
            left: WATCH_STEPS,
            now: SimTime::ZERO,
            events: 0,
        }
    }

    /// Counts `steps`; whether it is time for [`Watch::ask`].
    #[inline]
    pub fn is_due(&mut self, steps: u64) -> bool {
        self.left = self.left.saturating_sub(steps);
        self.left == 0
    }

    /// Reports the progress of the run, and asks whether to continue.
    ///
    /// # Errors
    /// [`Interrupt`] if the answer is no.
    pub fn ask(&mut self, now: SimTime, events: u64) -> Result<(), Interrupt> {
        self.left = WATCH_STEPS;
        (self.now, self.events) = (now, events);
        (self.ask)(now, events)
    }

    /// Counts `steps` without simulated time, and calls back if enough have been counted.
    ///
    /// # Errors
    /// [`Interrupt`] if the answer is no.
    #[inline]
    pub fn tick(&mut self, steps: u64) -> Result<(), Interrupt> {
        if self.is_due(steps) {
            self.ask(self.now, self.events)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_after_a_number_of_steps_with_the_last_reported_time() {
        let mut told = Vec::new();
        let mut ask = |now, events| {
            told.push((now, events));
            if told.len() < 4 {
                Ok(())
            } else {
                Err(Interrupt)
            }
        };
        let mut watch = Watch::new(&mut ask);
        for _ in 1..WATCH_STEPS {
            assert!(!watch.is_due(1));
        }
        assert!(watch.is_due(1));
        let later = SimTime::from_ps(5);
        assert_eq!(watch.ask(later, 7), Ok(()));
        assert_eq!(watch.tick(WATCH_STEPS - 1), Ok(()));
        assert_eq!(watch.tick(1), Ok(()));
        // More than is left is as good as all of it.
        assert_eq!(watch.tick(u64::MAX), Ok(()));
        assert_eq!(watch.tick(2 * WATCH_STEPS), Err(Interrupt));
        assert_eq!(told, [(later, 7); 4]);
    }
}
