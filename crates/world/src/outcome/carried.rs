//! The counters of a link direction so far, to subtract the warm-up.

use backlane_net::{Link, LinkId, Simulation};
use backlane_traffic::Flows;
use backlane_units::SimTime;

use crate::regions::Parts;
use crate::stations::Radios;

/// The counters of a link direction and of the router's queue before it, up to a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    /// Time integral of both queues, in byte-picoseconds.
    pub(crate) queue_area: u128,
    /// The largest backlog since the start of the run, in bytes.
    pub(crate) queue_max_bytes: u64,
    /// Time that its frames took of a shared medium, with their RTS, CTS and ACK.
    pub(crate) airtime_ps: u128,
}

impl Carried {
    /// Of every link direction, at `now`.
    pub(crate) fn all(parts: &mut Parts<'_>, radios: Option<&Radios>, now: SimTime) -> Vec<Self> {
        let links = parts.first().network.links().len();
        let mut all = vec![Self::default(); links];
        for part in parts.all() {
            for (number, carried) in all.iter_mut().enumerate() {
                let link = LinkId(number as u32);
                if part.network.sends_over(link) {
                    *carried = Self::of(part, radios, link, now);
                }
            }
        }
        all
    }

    fn of(
        simulation: &mut Simulation<Flows>,
        radios: Option<&Radios>,
        id: LinkId,
        now: SimTime,
    ) -> Self {
        // A router's own queues are before the link: their packets wait for the link.
        let own = simulation.router_queue(id).unwrap_or_default();
        let medium = radios.and_then(|radios| radios.medium(simulation));
        let over_air = medium.and_then(|medium| medium.link_counters(id));
        let link = simulation.network.link_mut(id);
        // The query updates precomputed departures of the link to `now`.
        link.backlog_pkts(now);
        let counters = link.counters();
        Self {
            bytes: counters.bytes,
            packets: counters.packets,
            drops: counters.drops + own.drops,
            marks: link.marks(),
            queue_area: counters.queue_area + own.area,
            queue_max_bytes: counters.queue_max_bytes.max(own.max_bytes),
            airtime_ps: over_air.map_or(0, |readings| readings.airtime_ps),
        }
    }

    /// The difference to `before`; the largest backlog stays that of the whole run.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes - before.bytes,
            packets: self.packets - before.packets,
            drops: self.drops - before.drops,
            marks: self.marks - before.marks,
            queue_area: self.queue_area - before.queue_area,
            queue_max_bytes: self.queue_max_bytes,
            airtime_ps: self.airtime_ps - before.airtime_ps,
        }
    }
}

/// The share of a link direction's capacity that it carried from one instant to another: of the
/// bits that it could send, or of the air time of its channel.
pub(crate) fn share(link: &Link, carried: Carried, from: SimTime, to: SimTime) -> f64 {
    let span_s = to.saturating_since(from).as_secs_f64();
    if span_s <= 0.0 {
        return 0.0;
    }
    let share = match offered_bytes(link, from, to) {
        Some(offered_bytes) => carried.bytes as f64 / offered_bytes.max(1) as f64,
        None if link.is_over_medium() => carried.airtime_ps as f64 / 1e12 / span_s,
        None => carried.bytes as f64 * 8.0 / link.rate().as_bps() as f64 / span_s,
    };
    share.min(1.0)
}

/// The bytes that a link with a capacity over time could send from one instant to another.
pub(super) fn offered_bytes(link: &Link, from: SimTime, to: SimTime) -> Option<u64> {
    let (capacity, origin) = link.capacity()?;
    let offered_until = |at: SimTime| capacity.offered_bytes(at.saturating_since(origin));
    Some(offered_until(to) - offered_until(from))
}
