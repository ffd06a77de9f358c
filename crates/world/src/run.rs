//! The run loop: time moves from sample to sample and from failure to failure until all is done.

use std::fmt;

use backlane_units::SimTime;

use crate::build::World;
use crate::outcome::carried::Carried;
use crate::outcome::{Ended, Outcome};

/// The caller wants the run to end now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt;

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the run was interrupted")
    }
}

impl std::error::Error for Interrupt {}

/// Steps between two calls of the caller's watch.
const WATCH_STEPS: u32 = 1 << 15;

impl World {
    /// Runs to the end. `watch` is called now and then with the simulated time and the number
    /// of events so far, and may end the run.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` returned it.
    pub fn run(
        mut self,
        mut watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    ) -> Result<Outcome, Interrupt> {
        let mut interrupted = false;
        let mut countdown = WATCH_STEPS;
        let ended = loop {
            let next_change = self.failures.next_change();
            let in_warm_up = self.carried_in_warm_up.is_none() && self.warm_up > SimTime::ZERO;
            let traffic_begins = if in_warm_up { self.warm_up } else { self.end };
            let until = (self.sampler.next_sample())
                .min(next_change)
                .min(traffic_begins)
                .min(self.end);
            let mut stopped = false;
            while !stopped && self.simulation.step(until) {
                countdown -= 1;
                if countdown == 0 {
                    countdown = WATCH_STEPS;
                    let events = &self.simulation.events;
                    interrupted = watch(events.now(), events.fired()).is_err();
                }
                stopped = interrupted || self.simulation.application.done();
            }
            if interrupted {
                return Err(Interrupt);
            }
            if stopped {
                break Ended::FlowsFinished;
            }
            if until == self.end {
                break Ended::TimeLimit;
            }
            if in_warm_up && until == traffic_begins {
                self.carried_in_warm_up = Some(Carried::all(
                    &mut self.simulation,
                    self.wifi.as_ref(),
                    until,
                ));
            }
            if until == next_change {
                self.failures.apply(&mut self.simulation);
            }
            if until == self.sampler.next_sample() {
                self.sampler
                    .sample(&mut self.simulation, until, self.warm_up);
            }
        };
        Ok(Outcome::of(self, ended))
    }
}
