//! A run: time moves from sample to sample and from failure to failure until all is done.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use backlane_engine::{Interrupt, Watch};
use backlane_net::Simulation;
use backlane_scenario::Scenario;
use backlane_traffic::Flows;
use backlane_units::{Duration, SimTime};

use crate::capture::Captures;
use crate::error::BuildError;
use crate::guard::{self, ModelPanic};
use crate::models::Models;
use crate::outcome::busiest::Busiest;
use crate::outcome::carried::Carried;
use crate::outcome::{Ended, Outcome};
use crate::outside::Outside;
use crate::regions::{Others, Team};
use crate::sink::{SERIES_ROWS, Sink};
use crate::world::World;

/// Routers and UEs that an event can process in the time of one step: a protocol that recomputes
/// its routes, a radio network that begins a TTI.
const NODES_PER_STEP: u64 = 1 << 10;

/// Simulated time between two looks whether all finite flows have ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

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
            if let Some(flow) = world.outside_flows().first() {
                let message = format!(
                    "flow {} has its ends outside the simulation: use World::run_beside",
                    flow.name
                );
                return Err(BuildError(message));
            }
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
        let (outcome, _) = self.run_into(watch, None)?;
        Ok(outcome)
    }

    /// As [`World::run`]. Series and captures go to `sink` while the run goes on, and the outcome
    /// has none; without a sink they are all kept until the end. With the outcome comes the CPU time
    /// of the threads beside the calling one.
    ///
    /// # Errors
    /// [`Interrupt`], if `watch` or `sink` returned it.
    pub fn run_into(
        self,
        watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
        sink: Option<&mut dyn Sink>,
    ) -> Result<(Outcome, std::time::Duration), Interrupt> {
        self.run_with(None, watch, sink)
    }

    /// As [`World::run_into`], on one thread, beside what has the ends of
    /// [`World::outside_flows`].
    ///
    /// # Errors
    /// [`Interrupt`], if `outside`, `watch` or `sink` returned it.
    pub fn run_beside(
        self,
        outside: &mut dyn Outside,
        watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
        sink: Option<&mut dyn Sink>,
    ) -> Result<Outcome, Interrupt> {
        let (outcome, _) = self.run_with(Some(outside), watch, sink)?;
        Ok(outcome)
    }

    fn run_with(
        mut self,
        outside: Option<&mut dyn Outside>,
        mut watch: impl FnMut(SimTime, u64) -> Result<(), Interrupt>,
        mut sink: Option<&mut dyn Sink>,
    ) -> Result<(Outcome, std::time::Duration), Interrupt> {
        let watch = &mut Watch::new(&mut watch);
        let now = |world: &Self| world.simulation.events.now();
        let others = self.others.take();
        let mut passage = Passage::of(&mut self);
        if outside
            .as_ref()
            .is_some_and(|outside| outside.outlasts_flows())
        {
            passage.ends.next_look = SimTime::MAX;
        }
        let end = SimTime::MAX;
        let alone = match outside {
            None => Team::Alone,
            Some(outside) => Team::Beside(RefCell::new(outside)),
        };
        let passed = guard::timed(&mut self, now, |world| match &others {
            None => world.pass_time(&mut passage, end, &alone, watch, &mut sink),
            Some(others) => {
                others.lead_by(|team| world.pass_time(&mut passage, end, team, watch, &mut sink))
            }
        });
        let has_ended = match &alone {
            Team::Beside(outside) => outside.borrow().has_ended(),
            _ => false,
        };
        let ended = match passed {
            Err(Interrupt) if has_ended && now(&self) >= self.warm_up => {
                Some((Ended::Stopped, now(&self)))
            }
            passed => passed?,
        };
        let ended = ended.unwrap_or((Ended::TimeLimit, self.end));
        let helpers_cpu = others.as_ref().map(Others::helpers_cpu).unwrap_or_default();
        for other in others.into_iter().flat_map(Others::into_simulations) {
            self.simulation.absorb(other);
        }
        let now = now(&self);
        watch.ask(now, self.simulation.fired())?;
        if let Some(sink) = sink {
            self.sampler.hand_over(sink, 1)?;
            if let Some(captures) = &self.captures {
                captures.hand_over(sink, 0)?;
            }
        }
        let outcome = guard::timed(&mut (), |()| now, |()| Outcome::of(self, ended, watch))?;
        Ok((outcome, helpers_cpu))
    }

    /// Runs on from `passage` to the end or to `pause`, what happens at that instant included;
    /// `None`: to the pause. A pause is no event, so that a run with pauses has the events of one
    /// without.
    pub(crate) fn pass_time(
        &mut self,
        passage: &mut Passage,
        pause: SimTime,
        team: &Team<'_>,
        watch: &mut Watch<'_>,
        sink: &mut Option<&mut dyn Sink>,
    ) -> Result<Option<(Ended, SimTime)>, Interrupt> {
        let ues = self.radio.as_ref().map_or(0, |radio| radio.ues.len());
        let steps_per_event = 1 + (self.routers + ues) as u64 / NODES_PER_STEP;
        let Passage { ends, now } = passage;
        while *now < pause {
            let next_change = self.failures.next_change();
            let in_warm_up = self.carried_in_warm_up.is_none() && self.warm_up > SimTime::ZERO;
            let traffic_begins = if in_warm_up { self.warm_up } else { self.end };
            let until = (self.sampler.next_sample())
                .min(next_change)
                .min(traffic_begins)
                .min(ends.next_look(*now))
                .min(self.busiest.as_ref().map_or(SimTime::MAX, Busiest::next))
                .min(self.end)
                .min(pause);
            let captures = &self.captures;
            team.run(&mut self.simulation, until, |simulation| {
                if watch.is_due(steps_per_event) {
                    checkpoint(simulation, captures.as_ref(), watch, sink)?;
                }
                Ok(())
            })?;
            *now = until;
            let mut parts = team.parts(&mut self.simulation);
            let mut steps = 1;
            if let Some(busiest) = &mut self.busiest
                && until == busiest.next()
            {
                let carried = Carried::all(&mut parts, self.wifi.as_ref(), until);
                busiest.note(parts.first().network.links(), carried);
                steps += self.links.len() as u64;
            }
            if until == ends.next_look {
                for part in parts.all() {
                    ends.note(part.application.take_ended());
                }
                if ends.are_all() {
                    return Ok(Some((Ended::FlowsFinished, until)));
                }
            }
            if until == self.end {
                return Ok(Some((Ended::TimeLimit, until)));
            }
            if in_warm_up && until == traffic_begins {
                let carried = Carried::all(&mut parts, self.wifi.as_ref(), until);
                steps += carried.len() as u64;
                self.busiest = Some(Busiest::since(until, carried.clone()));
                self.carried_in_warm_up = Some(carried);
            }
            if until == next_change {
                parts.fail_others();
                steps += self.failures.apply(parts.first());
            }
            if until == self.sampler.next_sample() {
                steps += self.sampler.entities();
                self.sampler.sample(&mut parts, until, self.warm_up);
                if let Some(sink) = sink {
                    self.sampler.hand_over(*sink, SERIES_ROWS)?;
                }
            }
            drop(parts);
            if watch.is_due(steps) {
                checkpoint(&self.simulation, self.captures.as_ref(), watch, sink)?;
            }
        }
        Ok(None)
    }
}

/// How far a run is.
pub(crate) struct Passage {
    ends: Ends,
    now: SimTime,
}

impl Passage {
    /// The beginning of a run.
    pub(crate) fn of(world: &mut World) -> Self {
        let now = SimTime::ZERO;
        if world.warm_up == SimTime::ZERO {
            let nothing = vec![Carried::default(); world.links.len()];
            world.busiest = Some(Busiest::since(now, nothing));
        }
        Self {
            ends: Ends::of(&world.simulation.application),
            now,
        }
    }

    /// The simulated time.
    pub(crate) fn now(&self) -> SimTime {
        self.now
    }
}

/// The finite flows that have not ended. A run ends some time after the last of them, at a multiple
/// of [`LOOK_EVERY`], so that the end does not depend on which thread sees it.
struct Ends {
    has_ended: Vec<bool>,
    left: usize,
    next_look: SimTime,
}

impl Ends {
    fn of(flows: &Flows) -> Self {
        let left = flows.unfinished();
        Self {
            has_ended: vec![false; flows.flows().len()],
            left,
            next_look: if left > 0 {
                SimTime::ZERO + LOOK_EVERY
            } else {
                SimTime::MAX
            },
        }
    }

    /// The first look after `now`.
    fn next_look(&mut self, now: SimTime) -> SimTime {
        if self.next_look <= now {
            self.next_look = self.next_look.saturating_add(LOOK_EVERY);
        }
        self.next_look
    }

    fn note(&mut self, flows: Vec<u32>) {
        for flow in flows {
            let has_ended = &mut self.has_ended[flow as usize];
            self.left -= usize::from(!*has_ended);
            *has_ended = true;
        }
    }

    fn are_all(&self) -> bool {
        self.left == 0
    }
}

/// Calls the watch, and passes the bytes of captures to the sink.
#[cold]
fn checkpoint(
    simulation: &Simulation<Flows>,
    captures: Option<&Captures>,
    watch: &mut Watch<'_>,
    sink: &mut Option<&mut dyn Sink>,
) -> Result<(), Interrupt> {
    watch.ask(simulation.events.now(), simulation.fired())?;
    if let (Some(sink), Some(captures)) = (sink, captures) {
        captures.hand_over(*sink, captures.piece_bytes())?;
    }
    Ok(())
}
