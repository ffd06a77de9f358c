//! Stage 1 of BP-MR: the queue in which a packet waits.

use backlane_net::{Context, NodeId, PacketId};
use backlane_units::SimTime;

use super::bp_mr::BpMr;
use super::queue::Mark;

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
        let now = context.now();
        let shared = self.shared.clone();
        let hops = shared.distances.to(exit)?;
        let own = hops[self.node.index()];
        let mut tied = std::mem::take(&mut self.tied);
        tied.clear();
        let mut closer_neighbours = 0;
        let mut direct = None;
        let mut any = false;
        for (interface, neighbour) in self.neighbours.iter().enumerate() {
            if !self.valid(now, interface, exit) {
                continue;
            }
            any = true;
            if neighbour.node == exit {
                direct = Some(interface);
                break;
            }
            if hops[neighbour.node.index()] < own {
                closer_neighbours += 1;
                if neighbour.node != from {
                    tied.push(interface);
                }
            }
        }
        if direct.is_some() || !any {
            self.tied = tied;
            return direct.map(|interface| (interface, Mark::Free));
        }
        if closer_neighbours == 0 {
            tied.extend((0..self.neighbours.len()).filter(|&i| self.valid(now, i, exit)));
        } else if tied.is_empty() {
            // The only closer neighbour is the previous hop: takes the nearest of all, with the
            // distance of the previous hop multiplied by ten.
            self.nearest(now, exit, hops, &mut tied, |node, hops| {
                if node == from {
                    hops.saturating_mul(10)
                } else {
                    hops
                }
            });
        }
        let choice = if tied.len() > 1 {
            self.keep_least_loaded(&mut tied);
            (self.pick(&tied), Mark::Free)
        } else {
            let interface = tied[0];
            let closer = hops[self.neighbours[interface].node.index()] < own;
            self.spill(now, interface, closer, exit, hops, &mut tied)
        };
        self.tied = tied;
        Some(choice)
    }

    /// The valid neighbours at the smallest `distance`.
    fn nearest(
        &self,
        now: SimTime,
        exit: NodeId,
        hops: &[u16],
        nearest: &mut Vec<usize>,
        distance: impl Fn(NodeId, u16) -> u16,
    ) {
        nearest.clear();
        let mut least = u16::MAX;
        for (interface, neighbour) in self.neighbours.iter().enumerate() {
            if !self.valid(now, interface, exit) {
                continue;
            }
            let hops = distance(neighbour.node, hops[neighbour.node.index()]);
            if hops < least {
                nearest.clear();
                least = hops;
            }
            if hops == least {
                nearest.push(interface);
            }
        }
    }

    /// Of several interfaces, those with the smallest ratio of queue to rate; the fastest while all
    /// are empty.
    fn keep_least_loaded(&self, tied: &mut Vec<usize>) {
        let load = |&interface: &usize| {
            let rate = self.neighbours[interface].rate_bps;
            let length = f64::from(self.queues[interface].length_pkts());
            // Of empty queues, the one at the higher rate is preferred.
            (length / rate, -rate)
        };
        let empty = tied.iter().all(|&i| self.queues[i].length_pkts() == 0);
        let key = |interface: &usize| {
            let (load, rate) = load(interface);
            if empty { rate } else { load }
        };
        let least = tied.iter().map(key).fold(f64::INFINITY, f64::min);
        tied.retain(|interface| key(interface) == least);
    }

    /// One good interface: used until its queue exceeds three quarters of its limit. From then
    /// until the queue is below half, packets spill to the nearest other neighbour with a shorter
    /// queue.
    fn spill(
        &mut self,
        now: SimTime,
        interface: usize,
        closer: bool,
        exit: NodeId,
        hops: &[u16],
        scratch: &mut Vec<usize>,
    ) -> (usize, Mark) {
        let length = self.queues[interface].length_pkts();
        if length < self.queue_limit_pkts / 2 {
            self.queues[interface].spilling = false;
        }
        let calm = length < self.queue_limit_pkts / 4 * 3 && !self.queues[interface].spilling;
        if calm || !closer {
            return (interface, Mark::Free);
        }
        self.queues[interface].spilling = true;
        let good = self.neighbours[interface].node;
        self.nearest(now, exit, hops, scratch, |node, hops| {
            if node == good { u16::MAX } else { hops }
        });
        let shortest = scratch
            .iter()
            .copied()
            .filter(|&other| other != interface)
            .min_by_key(|&other| self.queues[other].length_pkts());
        match shortest {
            Some(other) if self.queues[other].length_pkts() < length => (other, Mark::Bound),
            _ => (interface, Mark::Free),
        }
    }
}
