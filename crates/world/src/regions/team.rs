//! The threads of a run, and what they run.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backlane_engine::Interrupt;
use backlane_net::{NodeId, Simulation};
use backlane_traffic::Flows;
use backlane_units::SimTime;

use super::divide::Division;
use super::gate::BreakOnExit;
use super::windows::{Span, Windows};
use crate::failures::Failures;
use crate::outside::{self, Outside};

/// The CPU time of the calling thread; zero where the target has no such clock.
fn thread_cpu() -> Duration {
    #[cfg(any(unix, windows))]
    return cpu_time::ThreadTime::now().as_duration();
    #[cfg(not(any(unix, windows)))]
    Duration::ZERO
}

/// A region that another thread runs.
pub(crate) struct Member {
    pub(crate) simulation: Simulation<Flows>,
    pub(crate) failures: Failures,
}

/// The regions beside the first one, which the calling thread runs.
pub(crate) struct Others {
    division: Division,
    members: Vec<Mutex<Member>>,
    helpers_cpu_ns: AtomicU64,
}

/// The simulations of all regions, while none of them runs.
pub(crate) struct Parts<'a> {
    own: &'a mut Simulation<Flows>,
    others: Vec<MutexGuard<'a, Member>>,
    of_node: Option<Arc<[u16]>>,
}

impl Parts<'_> {
    /// The simulation that runs a node.
    pub(crate) fn at(&mut self, node: NodeId) -> &mut Simulation<Flows> {
        let region = (self.of_node.as_ref()).map_or(0, |of_node| of_node[node.index()]);
        match region.checked_sub(1) {
            None => self.own,
            Some(other) => &mut self.others[usize::from(other)].simulation,
        }
    }

    /// The simulation of the first region.
    pub(crate) fn first(&mut self) -> &mut Simulation<Flows> {
        self.own
    }

    /// The simulations of all regions.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Simulation<Flows>> {
        let others = self.others.iter_mut().map(|other| &mut other.simulation);
        std::iter::once(&mut *self.own).chain(others)
    }

    /// Applies the next failures or repairs of the other regions, which are those of the first.
    pub(crate) fn fail_others(&mut self) {
        for other in &mut self.others {
            let member = &mut **other;
            member.failures.apply(&mut member.simulation);
        }
    }
}

/// What runs the simulation of a world.
pub(crate) enum Team<'a> {
    /// The calling thread alone.
    Alone,
    /// The calling thread, beside something that shares the clock.
    Beside(RefCell<&'a mut dyn Outside>),
    /// One thread for each region.
    Threads(Threads<'a>),
}

/// The threads of a run.
pub(crate) struct Threads<'a> {
    windows: &'a Windows,
    others: &'a Others,
    order: &'a Order,
}

/// What the threads are to run next. Written while all others wait.
#[derive(Default)]
struct Order {
    from_ps: AtomicU64,
    until_ps: AtomicU64,
    first: AtomicUsize,
}

impl Order {
    fn span(&self) -> Span {
        Span {
            from: SimTime::from_ps(self.from_ps.load(Ordering::Relaxed)),
            until: SimTime::from_ps(self.until_ps.load(Ordering::Relaxed)),
            first: self.first.load(Ordering::Relaxed),
        }
    }
}

impl Team<'_> {
    /// Runs all regions until `until`, events of that instant included; `simulation` is the first.
    /// `watch` is called after each event of the first region, or at intervals.
    ///
    /// # Errors
    /// [`Interrupt`] from `watch`.
    pub(crate) fn run(
        &self,
        simulation: &mut Simulation<Flows>,
        until: SimTime,
        mut watch: impl FnMut(&Simulation<Flows>) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        match self {
            Self::Alone => {
                while simulation.step(until) {
                    watch(simulation)?;
                }
                Ok(())
            }
            Self::Beside(other) => outside::run(other, simulation, until, watch),
            Self::Threads(team) => {
                let (windows, order) = (team.windows, team.order);
                order.until_ps.store(until.as_ps(), Ordering::Relaxed);
                windows.gate.meet()?;
                let regions = team.others.regions_of(0);
                let next = windows.pass(&regions, order.span(), |window| match window.region {
                    0 => windows.run(window, simulation, &mut watch),
                    _ => {
                        let member = &team.others.members[window.region - 1];
                        windows.run(window, &mut lock(member).simulation, &mut watch)
                    }
                })?;
                order.first.store(next, Ordering::Relaxed);
                order.from_ps.store(until.as_ps(), Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// All simulations; `own` is the first.
    pub(crate) fn parts<'a>(&'a self, own: &'a mut Simulation<Flows>) -> Parts<'a> {
        match self {
            Self::Alone | Self::Beside(_) => Parts {
                own,
                others: Vec::new(),
                of_node: None,
            },
            Self::Threads(Threads { others, .. }) => Parts {
                own,
                others: others.members.iter().map(lock).collect(),
                of_node: Some(others.division.of_node.clone()),
            },
        }
    }
}

impl Others {
    pub(crate) fn new(division: Division, members: Vec<Member>) -> Self {
        Self {
            division,
            members: members.into_iter().map(Mutex::new).collect(),
            helpers_cpu_ns: AtomicU64::new(0),
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.division.threads
    }

    /// CPU time of the threads beside the first.
    pub(crate) fn helpers_cpu(&self) -> Duration {
        Duration::from_nanos(self.helpers_cpu_ns.load(Ordering::Relaxed))
    }

    /// The regions of a thread, its own first. The first region is the first thread's alone.
    fn regions_of(&self, thread: usize) -> Vec<usize> {
        let Division {
            regions, threads, ..
        } = self.division;
        let begin = |thread: usize| thread * regions / threads;
        let own = begin(thread)..begin(thread + 1);
        let others = (0..regions).rev().filter(|region| !own.contains(region));
        let all = own.clone().chain(others);
        all.filter(|&region| region > 0 || thread == 0).collect()
    }

    /// Calls `lead` while the other threads wait for its orders.
    pub(crate) fn lead_by<T>(&self, lead: impl FnOnce(&Team<'_>) -> T) -> T {
        let Division {
            regions, threads, ..
        } = self.division;
        let windows = &Windows::new(regions, threads, self.division.look_ahead);
        let order = &Order::default();
        std::thread::scope(|scope| {
            let helpers = (1..threads).map(|thread| {
                scope.spawn(move || {
                    let _break = BreakOnExit(&windows.gate);
                    // The gate breaks when the run ends.
                    let _: Result<(), Interrupt> = self.help(thread, windows, order);
                    let cpu_ns = thread_cpu().as_nanos() as u64;
                    self.helpers_cpu_ns.fetch_add(cpu_ns, Ordering::Relaxed);
                })
            });
            let helpers: Vec<_> = helpers.collect();
            let result = {
                let _break = BreakOnExit(&windows.gate);
                lead(&Team::Threads(Threads {
                    windows,
                    others: self,
                    order,
                }))
            };
            for helper in helpers {
                if let Err(panic) = helper.join() {
                    resume_unwind(panic);
                }
            }
            result
        })
    }

    /// Runs regions on a thread beside the first, a span at a time.
    fn help(&self, thread: usize, windows: &Windows, order: &Order) -> Result<(), Interrupt> {
        let regions = self.regions_of(thread);
        loop {
            windows.gate.meet()?;
            windows.pass(&regions, order.span(), |window| {
                let member = &self.members[window.region - 1];
                windows.run(window, &mut lock(member).simulation, |_| Ok(()))
            })?;
        }
    }

    /// The simulations, after the run.
    pub(crate) fn into_simulations(self) -> impl Iterator<Item = Simulation<Flows>> {
        self.members.into_iter().map(|member| {
            let member = member.into_inner();
            member.unwrap_or_else(PoisonError::into_inner).simulation
        })
    }
}

fn lock(member: &Mutex<Member>) -> MutexGuard<'_, Member> {
    member.lock().unwrap_or_else(PoisonError::into_inner)
}
