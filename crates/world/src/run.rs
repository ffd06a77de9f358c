//! A run: time moves from sample to sample and from failure to failure until all is done.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use backlane_engine::{Interrupt, Watch};
use backlane_scenario::Scenario;
use backlane_units::SimTime;

use crate::error::BuildError;
use crate::guard::{self, ModelPanic};
use crate::models::Models;
use crate::outcome::carried::Carried;
use crate::outcome::{Ended, Outcome};
use crate::sink::{SERIES_ROWS, Sink};
use crate::world::World;

/// Routers and UEs that an event can process in the time of one step: a protocol that recomputes
/// its routes, a radio network that begins a TTI.
const NODES_PER_STEP: u64 = 1 << 10;

/// Why a run has no outcome.
#[derive(Debug)]
pub enum RunError {
    /// The world could not be built.
    Build(BuildError),
    /// A model that the program provides panicked.
    Model(ModelPanic),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Model(panic) => panic.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl Models {
    /// Builds and runs a scenario for one seed. A panic of a model that was added to those of
    /// Backlane is an error, so that a program can go on with its other runs.
    ///
    /// # Errors
    ///
    /// The world could not be built, or a model that was added panicked.
    pub fn run(&self, scenario: &Scenario, seed: u64) -> Result<Outcome, RunError> {
        let run = || {
            let world = World::with_models(self, scenario, seed, None)?;
            world
                .run(|_, _| Ok(()))
                .map_err(|interrupt| BuildError(interrupt.to_string()))
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(outcome) => outcome.map_err(RunError::Build),
            Err(panic) => match panic.downcast::<ModelPanic>() {
                Ok(panic) => Err(RunError::Model(*panic)),
                Err(other) => resume_unwind(other),
            },
        }
    }
}

impl World {
    /// Runs to the end. `watch` is called at intervals with the simulated time and the number of
    /// events so far, and may end the run.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` returned it.
    pub fn run(
        self,
        watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
    ) -> Result<Outcome, Interrupt> {
        self.run_into(watch, None)
    }

    /// As [`World::run`]. Series and captures go to `sink` while the run goes on, and the outcome
    /// has none; without a sink they are all kept until the end.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` or `sink` returned it.
    pub fn run_into(
        mut self,
        mut watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
        mut sink: Option<&mut dyn Sink>,
    ) -> Result<Outcome, Interrupt> {
        let watch = &mut Watch::new(&mut watch);
        let now = |world: &Self| world.simulation.events.now();
        let ended = guard::timed(&mut self, now, |world| world.pass_time(watch, &mut sink))?;
        let now = now(&self);
        watch.ask(now, self.simulation.events.fired())?;
        if let Some(sink) = sink {
            self.sampler.hand_over(sink, 1)?;
            if let Some(captures) = &self.captures {
                captures.hand_over(sink, 0)?;
            }
        }
        guard::timed(&mut (), |()| now, |()| Outcome::of(self, ended, watch))
    }

    fn pass_time(
        &mut self,
        watch: &mut Watch<'_>,
        sink: &mut Option<&mut dyn Sink>,
    ) -> Result<Ended, Interrupt> {
        let ues = self.radio.as_ref().map_or(0, |radio| radio.ues.len());
        let steps_per_event = 1 + (self.routers + ues) as u64 / NODES_PER_STEP;
        loop {
            let next_change = self.failures.next_change();
            let in_warm_up = self.carried_in_warm_up.is_none() && self.warm_up > SimTime::ZERO;
            let traffic_begins = if in_warm_up { self.warm_up } else { self.end };
            let until = (self.sampler.next_sample())
                .min(next_change)
                .min(traffic_begins)
                .min(self.end);
            while self.simulation.step(until) {
                if watch.is_due(steps_per_event) {
                    self.checkpoint(watch, sink)?;
                }
                if self.simulation.application.done() {
                    return Ok(Ended::FlowsFinished);
                }
            }
            if until == self.end {
                return Ok(Ended::TimeLimit);
            }
            let mut steps = 1;
            if in_warm_up && until == traffic_begins {
                let carried = Carried::all(&mut self.simulation, self.wifi.as_ref(), until);
                steps += carried.len() as u64;
                self.carried_in_warm_up = Some(carried);
            }
            if until == next_change {
                steps += self.failures.apply(&mut self.simulation);
            }
            if until == self.sampler.next_sample() {
                steps += self.sampler.entities();
                self.sampler
                    .sample(&mut self.simulation, until, self.warm_up);
                if let Some(sink) = sink {
                    self.sampler.hand_over(*sink, SERIES_ROWS)?;
                }
            }
            if watch.is_due(steps) {
                self.checkpoint(watch, sink)?;
            }
        }
    }

    /// Calls the watch, and passes the bytes of captures to the sink.
    #[cold]
    fn checkpoint(
        &mut self,
        watch: &mut Watch<'_>,
        sink: &mut Option<&mut dyn Sink>,
    ) -> Result<(), Interrupt> {
        let events = &self.simulation.events;
        watch.ask(events.now(), events.fired())?;
        if let (Some(sink), Some(captures)) = (sink, &self.captures) {
            captures.hand_over(*sink, captures.piece_bytes())?;
        }
        Ok(())
    }
}
