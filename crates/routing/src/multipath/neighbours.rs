//! The counters, the choice, and who is left out for a while.

use backlane_engine::Stream;
use backlane_net::{Interface, NodeId};
use backlane_units::{Duration, SimTime};

use super::Config;

/// Counters are aged in steps of so many to a time constant.
const AGING_STEPS: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In use.
    Up,
    /// Left out until then; `probed` if a packet is on its way that was sent to try it.
    Out { until: SimTime, probed: bool },
    /// It was left out for long enough: the next packet that chooses it tries it.
    Returning,
}

#[derive(Debug)]
struct Neighbour {
    node: NodeId,
    state: State,
    /// Bytes sent to it, each counted as the greatest flow rate of the node over its own.
    cost: f64,
    /// The greatest flow rate of the node over its own; infinite where the link is not used.
    per_byte: f64,
    /// Frames that were given up since the last one that was acknowledged.
    failures: u8,
    /// It is at the end of a wire, which has a carrier and no acknowledgments.
    wired: bool,
    /// It passes on other nodes' packets.
    transit: bool,
}

/// A packet that wants to leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving<'a> {
    pub(super) exit: NodeId,
    /// The node that it came from.
    pub(super) previous: NodeId,
    /// The interface that it comes back from undelivered, if it does.
    pub(super) failed: Option<usize>,
    /// The links that it may still take, this one included.
    pub(super) budget: u16,
    /// From every node, the links to the exit.
    pub(super) links_to_exit: &'a [u16],
}

/// The neighbours of a node, by interface.
#[derive(Debug)]
pub(super) struct Neighbours {
    all: Vec<Neighbour>,
    deliver_directly: bool,
    failure_threshold: u8,
    blacklist: Duration,
    aging: Option<Duration>,
    aged_at: SimTime,
    lost: u64,
}

impl Neighbours {
    /// At the ends of `interfaces`, whose flow rates are `flow_rates`.
    pub(super) fn new(
        config: &Config,
        interfaces: &[Interface],
        flow_rates: &[f64],
        no_transit: &[bool],
    ) -> Self {
        let greatest = flow_rates.iter().copied().fold(0.0, f64::max);
        let all = interfaces
            .iter()
            .zip(flow_rates)
            .map(|(interface, &rate)| Neighbour {
                node: interface.peer,
                state: State::Up,
                cost: 0.0,
                per_byte: if rate > 0.0 {
                    greatest / rate
                } else {
                    f64::INFINITY
                },
                failures: 0,
                wired: interface.radio.is_none(),
                transit: !no_transit[interface.peer.index()],
            })
            .collect();
        Self {
            all,
            deliver_directly: config.deliver_directly,
            failure_threshold: config.failure_threshold,
            blacklist: config.blacklist,
            aging: config.aging,
            aged_at: SimTime::ZERO,
            lost: 0,
        }
    }

    /// How often a neighbour in use was left out.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// The candidate that is furthest behind its flow rate; of several, one by lot. `carrier`
    /// tells whether the wire of an interface is whole.
    #[inline]
    pub(super) fn choose(
        &mut self,
        now: SimTime,
        packet: &Leaving<'_>,
        carrier: impl Fn(usize) -> bool,
        ties: &mut Stream,
    ) -> Option<usize> {
        self.age(now);
        let mut best: Option<usize> = None;
        let mut least = (u8::MAX, f64::INFINITY);
        let mut tied = 0;
        for interface in 0..self.all.len() {
            if !self.is_candidate(now, interface, packet, &carrier) {
                continue;
            }
            let neighbour = &self.all[interface];
            let class = if self.deliver_directly && neighbour.node == packet.exit {
                0
            } else if neighbour.node != packet.previous {
                1
            } else {
                2
            };
            let key = (class, neighbour.cost);
            if key < least {
                (best, least, tied) = (Some(interface), key, 1);
            } else if key == least {
                tied += 1;
                if ties.below(tied) == 0 {
                    best = Some(interface);
                }
            }
        }
        best
    }

    /// Whether a packet of a pinned flow may stay with an interface: it leads on and not back.
    #[inline]
    pub(super) fn may_stay(
        &mut self,
        now: SimTime,
        interface: usize,
        packet: &Leaving<'_>,
        carrier: impl Fn(usize) -> bool,
    ) -> bool {
        self.all[interface].node != packet.previous
            && self.is_candidate(now, interface, packet, &carrier)
    }

    /// A packet leaves by an interface.
    #[inline]
    pub(super) fn count(&mut self, now: SimTime, interface: usize, size_bytes: u32) {
        self.age(now);
        let until = now.saturating_add(self.blacklist);
        let neighbour = &mut self.all[interface];
        neighbour.cost += f64::from(size_bytes) * neighbour.per_byte;
        if neighbour.state == State::Returning {
            neighbour.failures = 0;
            // What becomes of a packet on a wire, nobody tells.
            neighbour.state = if neighbour.wired {
                State::Up
            } else {
                State::Out {
                    until,
                    probed: true,
                }
            };
        }
    }

    /// The link layer is done with a frame.
    pub(super) fn on_frame_done(&mut self, now: SimTime, interface: usize, delivered: bool) {
        let neighbour = &mut self.all[interface];
        match (neighbour.state, delivered) {
            (State::Up, true) => neighbour.failures = 0,
            (State::Up, false) => {
                neighbour.failures = neighbour.failures.saturating_add(1);
                if neighbour.failures >= self.failure_threshold {
                    self.lost += 1;
                    self.leave_out(now, interface);
                }
            }
            (State::Out { probed: true, .. }, true) => neighbour.state = State::Up,
            (State::Out { probed: true, .. }, false) => self.leave_out(now, interface),
            // It waited in the radio when the neighbour was left out.
            (State::Out { probed: false, .. } | State::Returning, _) => {}
        }
    }

    #[inline]
    fn is_candidate(
        &mut self,
        now: SimTime,
        interface: usize,
        packet: &Leaving<'_>,
        carrier: &impl Fn(usize) -> bool,
    ) -> bool {
        let neighbour = &self.all[interface];
        let to_exit = packet.links_to_exit[neighbour.node.index()];
        if to_exit >= packet.budget
            || neighbour.per_byte == f64::INFINITY
            || packet.failed == Some(interface)
            || !(neighbour.transit || neighbour.node == packet.exit)
        {
            return false;
        }
        if neighbour.state == State::Up && !neighbour.wired {
            return true;
        }
        self.is_in_use(now, interface, carrier)
    }

    /// Looks at the carrier and the clock.
    fn is_in_use(
        &mut self,
        now: SimTime,
        interface: usize,
        carrier: &impl Fn(usize) -> bool,
    ) -> bool {
        let Neighbour { state, wired, .. } = self.all[interface];
        if let State::Out { until, .. } = state
            && now < until
        {
            return false;
        }
        if wired && !carrier(interface) {
            self.lost += u64::from(state == State::Up);
            self.leave_out(now, interface);
            return false;
        }
        if matches!(state, State::Out { .. }) {
            self.catch_up(interface);
            self.all[interface].state = State::Returning;
        }
        true
    }

    fn leave_out(&mut self, now: SimTime, interface: usize) {
        self.all[interface].state = State::Out {
            until: now.saturating_add(self.blacklist),
            probed: false,
        };
    }

    /// A neighbour that comes back begins level with the one that is furthest behind, or else it
    /// would get everything until it had made up for the time that it was away.
    fn catch_up(&mut self, interface: usize) {
        let in_use = self.all.iter().filter(|neighbour| {
            neighbour.state == State::Up && neighbour.per_byte != f64::INFINITY
        });
        let least = in_use.map(|neighbour| neighbour.cost).reduce(f64::min);
        let cost = &mut self.all[interface].cost;
        *cost = least.map_or(*cost, |least| cost.max(least));
    }

    /// Lets the counters decay.
    #[inline]
    fn age(&mut self, now: SimTime) {
        if let Some(constant) = self.aging {
            let step_ps = (constant.as_ps() / AGING_STEPS).max(1);
            let since_ps = (now - self.aged_at).as_ps();
            if since_ps >= step_ps {
                let steps = since_ps / step_ps;
                self.aged_at = self.aged_at + Duration::from_ps(steps * step_ps);
                let factor = libm::exp(-(steps as f64) / AGING_STEPS as f64);
                for neighbour in &mut self.all {
                    neighbour.cost *= factor;
                }
            }
        }
    }
}
