//! Windows of time in which regions run apart.
//!
//! There are more regions than threads. In each window a thread runs its own regions, and then those
//! of others that no thread has begun: the load of a window is uneven even where that of a run is even.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use backlane_engine::Interrupt;
use backlane_net::{Crossing, Divisible, Simulation};
use backlane_traffic::Flows;
use backlane_units::{Duration, SimTime};

use super::gate::Gate;

/// Events between two looks whether the run is to end.
const EVENTS_PER_LOOK: u32 = 1 << 9;

type Crossings = Vec<Crossing<<Flows as Divisible>::Carried>>;

/// What a region tells the others at the end of a window.
struct Post {
    /// The time of its next event, or of the first arrival among its crossings, in picoseconds.
    next_ps: AtomicU64,
    /// Packets for the other regions, by region. Locked by one thread at a time.
    crossings: Vec<Mutex<Crossings>>,
}

/// What the threads of a run share.
pub(super) struct Windows {
    look_ahead: Duration,
    /// By the parity of a window, and by region: a region posts at the end of a window, and the
    /// others read that in the next one.
    posts: [Vec<Post>; 2],
    /// By region: the number of windows that a thread has begun to run.
    begun: Vec<AtomicUsize>,
    pub(super) gate: Gate,
}

/// A span of time to run.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// All regions have run until then, events of that instant included.
    pub(super) from: SimTime,
    /// They are to run until then, events of that instant included.
    pub(super) until: SimTime,
    /// The number of its first window.
    pub(super) first: usize,
}

/// A window of a region, to be run.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) region: usize,
    number: usize,
    end: SimTime,
}

impl Windows {
    /// For this many regions and threads, with the least delay between regions.
    pub(super) fn new(regions: usize, threads: usize, look_ahead: Duration) -> Self {
        let post = |_| Post {
            next_ps: AtomicU64::new(0),
            crossings: (0..regions).map(|_| Mutex::default()).collect(),
        };
        Self {
            look_ahead,
            posts: [0, 1].map(|_| (0..regions).map(post).collect()),
            begun: (0..regions).map(|_| AtomicUsize::new(0)).collect(),
            gate: Gate::new(threads),
        }
    }

    /// Passes through a span of time side by side with the other threads, each of which calls this:
    /// `run` gets the windows of `regions`, in this order, that no other thread has begun. Returns the
    /// number of the next window.
    ///
    /// # Errors
    /// [`Interrupt`] from `run`, or because another thread was interrupted.
    pub(super) fn pass(
        &self,
        regions: &[usize],
        span: Span,
        mut run: impl FnMut(Window) -> Result<(), Interrupt>,
    ) -> Result<usize, Interrupt> {
        let mut number = span.first;
        let mut end = self.end_after(span.from, span.until);
        let mut is_over = false;
        loop {
            for &region in regions {
                let is_free = self.begun[region]
                    .compare_exchange(number, number + 1, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok();
                if is_free {
                    run(Window {
                        region,
                        number,
                        end,
                    })?;
                }
            }
            self.gate.meet()?;
            number += 1;
            if is_over {
                return Ok(number);
            }
            // One more window without events, in which the last packets are handed over.
            is_over = end == span.until;
            let posts = self.posts[(number - 1) % 2].iter();
            let next_ps = posts.map(|post| post.next_ps.load(Ordering::Acquire));
            // The same on all threads. Time without events is skipped.
            let next = SimTime::from_ps(next_ps.min().unwrap_or(u64::MAX));
            end = self.end_after(next.max(end), span.until);
        }
    }

    /// The end of the window that begins at `start`: before the first instant at which a packet may
    /// arrive that enters another region in it.
    fn end_after(&self, start: SimTime, until: SimTime) -> SimTime {
        let window = self.look_ahead - Duration::from_ps(1);
        start.saturating_add(window).min(until)
    }

    /// Runs a window of a region: takes what the others handed over in the one before, runs, and
    /// hands over what has left. `look` is called at intervals.
    ///
    /// # Errors
    /// [`Interrupt`] from `look`, or because another thread was interrupted.
    pub(super) fn run(
        &self,
        window: Window,
        simulation: &mut Simulation<Flows>,
        mut look: impl FnMut(&Simulation<Flows>) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Window {
            region,
            number,
            end,
        } = window;
        for post in &self.posts[(number + 1) % 2] {
            let mut crossings = lock(&post.crossings[region]);
            for crossing in crossings.drain(..) {
                simulation.take_over(crossing);
            }
        }
        let mut events = 0_u32;
        while simulation.step(end) {
            events += 1;
            if events == EVENTS_PER_LOOK {
                events = 0;
                self.gate.intact()?;
                look(simulation)?;
            }
        }
        let post = &self.posts[number % 2][region];
        let mut next = simulation.events.next_entry().unwrap_or(SimTime::MAX);
        let mut open: Option<(u16, MutexGuard<'_, Crossings>)> = None;
        simulation.hand_over(|to, crossing| {
            next = next.min(crossing.arrival());
            match &mut open {
                Some((last, crossings)) if *last == to => crossings.push(crossing),
                _ => {
                    // One at a time: the one that is open is closed first.
                    open = None;
                    let mut crossings = lock(&post.crossings[usize::from(to)]);
                    crossings.push(crossing);
                    open = Some((to, crossings));
                }
            }
        });
        post.next_ps.store(next.as_ps(), Ordering::Release);
        Ok(())
    }
}

fn lock(crossings: &Mutex<Crossings>) -> MutexGuard<'_, Crossings> {
    crossings.lock().unwrap_or_else(PoisonError::into_inner)
}
