//! When a node sends its HELLOs, and how long a neighbour stays valid.

use backlane_engine::{Stream, TimerId};
use backlane_net::Context;
use backlane_units::{Duration, SimTime};

/// The token of the timer.
pub(super) const HELLO: u32 = 0;
/// HELLOs go one hop.
pub(super) const HELLO_TTL: u8 = 1;
/// A neighbour is valid until it has been silent for this many HELLO intervals.
const HELLO_LOSS: u64 = 3;

/// The clock of a node's HELLOs.
pub(super) struct Signals {
    interval: Duration,
    jitter: Stream,
    timer: Option<TimerId>,
    sequence: u16,
}

impl Signals {
    /// A HELLO each `interval` plus up to a quarter of it, drawn from `jitter`.
    pub(super) fn new(interval: Duration, jitter: Stream) -> Self {
        Self {
            interval,
            jitter,
            timer: None,
            sequence: 0,
        }
    }

    /// Arms the timer for the first HELLO.
    pub(super) fn start(&mut self, context: &mut Context<'_>) {
        let timer = context.timer(HELLO);
        let first = self.interval.as_secs_f64() / 4.0 * self.jitter.uniform();
        context.set_timer(timer, context.now() + Duration::from_secs_f64(first));
        self.timer = Some(timer);
    }

    /// The number of the HELLO to send now.
    pub(super) fn next_sequence(&mut self) -> u16 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// Arms the timer for the next HELLO.
    pub(super) fn rearm(&mut self, context: &mut Context<'_>) {
        let interval = self.interval.as_secs_f64();
        let wait = interval + interval / 4.0 * self.jitter.uniform();
        if let Some(timer) = self.timer {
            context.set_timer(timer, context.now() + Duration::from_secs_f64(wait));
        }
    }

    /// Until when a neighbour is valid whose HELLO arrives now.
    pub(super) fn valid_until(&self, now: SimTime) -> SimTime {
        now.saturating_add(self.interval.saturating_mul(HELLO_LOSS))
    }
}
