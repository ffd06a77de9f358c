//! Stage 1 of BP-MR: the queue in which a packet waits.

use backlane_engine::Stream;
use backlane_net::{Context, NodeId, PacketId};

use super::bp_mr::BpMr;
use super::neighbourhood::Way;
use super::queue::Mark;
use super::ties::pick_least;

/// The result of [`least_loaded`].
struct Choice {
    interface: usize,
    /// Whether the neighbour is closer to the exit router than the node.
    closer: bool,
    /// Whether it was the only one.
    alone: bool,
}

impl BpMr {
    /// Stage 1: the queue in which a packet waits, and whether the packet is bound to it. `None`:
    /// no valid neighbour.
    pub(super) fn classify(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
    ) -> Option<(usize, Mark)> {
        let packet = context.packet(id);
        let (exit, from) = (packet.exit, packet.previous);
        let column = self.neighbours.column(context.now(), exit)?;
        if let Some(direct) = self.neighbours.ways(column).direct {
            return Some((direct, Mark::Free));
        }
        let choice = self.choose(column, from)?;
        if choice.alone {
            return Some(self.spill(choice.interface, choice.closer, column));
        }
        Some((choice.interface, Mark::Free))
    }

    /// The queue for a packet from this node that is not at a neighbour of its exit router.
    fn choose(&mut self, column: usize, from: NodeId) -> Option<Choice> {
        let (ties, equal_rates) = (&mut self.ties, self.neighbours.have_equal_rates());
        let ways = self.neighbours.ways(column);
        let all = ways.all();
        if ways.closer == 0 {
            return least_loaded(ties, equal_rates, all);
        }
        let closer = all.clone().filter(|way| way.closer);
        let forward = closer.filter(|way| way.neighbour.node != from);
        if let Some(choice) = least_loaded(ties, equal_rates, forward) {
            return Some(choice);
        }
        // The only closer neighbour is the previous hop: takes the nearest of all, with the
        // distance of the previous hop multiplied by ten.
        let hops = self.neighbours.hops(column);
        let distance = |way: &Way<'_>| match way.neighbour.node {
            node if node == from => hops[node.index()].saturating_mul(10),
            node => hops[node.index()],
        };
        let least = all.clone().map(|way| distance(&way)).min();
        let nearest = all.filter(|way| Some(distance(way)) == least);
        least_loaded(ties, equal_rates, nearest)
    }

    /// One good interface: used until its queue exceeds three quarters of its limit. From then
    /// until the queue is below half, packets spill to the nearest other neighbour with a shorter
    /// queue.
    fn spill(&mut self, interface: usize, closer: bool, column: usize) -> (usize, Mark) {
        let good = self.neighbours.get(interface);
        let spilling = &mut self.queues[interface].spilling;
        if good.queue_pkts < self.queue_limit_pkts / 2 {
            *spilling = false;
        }
        let calm = good.queue_pkts < self.queue_limit_pkts / 4 * 3 && !*spilling;
        if calm || !closer {
            return (interface, Mark::Free);
        }
        *spilling = true;
        let hops = self.neighbours.hops(column);
        let distance = |way: &Way<'_>| match way.neighbour.node {
            node if node == good.node => u16::MAX,
            node => hops[node.index()],
        };
        let all = self.neighbours.ways(column).all();
        let least = all.clone().map(|way| distance(&way)).min();
        let shortest = all
            .filter(|way| way.interface != interface && Some(distance(way)) == least)
            .min_by_key(|way| way.neighbour.queue_pkts);
        match shortest {
            Some(other) if other.neighbour.queue_pkts < good.queue_pkts => {
                (other.interface, Mark::Bound)
            }
            _ => (interface, Mark::Free),
        }
    }
}

/// Of several neighbours, one with the smallest ratio of queue to rate; the fastest while all are
/// empty.
#[inline]
fn least_loaded<'a>(
    ties: &mut Stream,
    equal_rates: bool,
    among: impl Iterator<Item = Way<'a>> + Clone,
) -> Option<Choice> {
    let mut rest = among.clone();
    let first = rest.next()?;
    if rest.next().is_none() {
        return Some(Choice {
            interface: first.interface,
            closer: first.closer,
            alone: true,
        });
    }
    let lightest = if equal_rates {
        pick_least(ties, among, |way| way.neighbour.queue_pkts)
    } else {
        let empty = among.clone().all(|way| way.neighbour.queue_pkts == 0);
        pick_least(ties, among, |way| match way.neighbour {
            // Of empty queues, the one at the higher rate is preferred.
            neighbour if empty => -neighbour.rate_bps,
            neighbour => f64::from(neighbour.queue_pkts) / neighbour.rate_bps,
        })
    };
    lightest.map(|way| Choice {
        interface: way.interface,
        closer: way.closer,
        alone: false,
    })
}
