//! The state of a link direction while a run goes on.

use backlane_net::{LinkId, Simulation};
use backlane_traffic::Flows;
use backlane_units::SimTime;

/// The state of a link direction during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkState {
    /// Bytes sent since the start of the run.
    pub sent_bytes: u64,
    /// Bytes that wait for it, those in a queue of its router included.
    pub queue_bytes: u64,
    /// Packets dropped from its queues since the start of the run.
    pub drops: u64,
    /// Its rate, in bits per second; 0 while it is down.
    pub rate_bps: u64,
}

impl LinkState {
    /// The state at `now`, the simulated time; `None` if there is no such link.
    pub(crate) fn of(
        simulation: &mut Simulation<Flows>,
        index: usize,
        now: SimTime,
    ) -> Option<Self> {
        simulation.network.links().get(index)?;
        let id = LinkId(index as u32);
        let own = simulation.router_queue(id).unwrap_or_default();
        let link = simulation.network.link_mut(id);
        // The query updates precomputed departures of the link to `now`.
        let queue_bytes = link.backlog_bytes(now) + own.backlog_bytes;
        let counters = link.counters();
        Some(Self {
            sent_bytes: counters.bytes,
            queue_bytes,
            drops: counters.drops + own.drops,
            rate_bps: if link.up() { link.rate().as_bps() } else { 0 },
        })
    }
}
