//! The two stages of BP-MR on one node.

use std::cell::Cell;
use std::rc::Rc;

use backlane_engine::Stream;
use backlane_net::{Context, DropCause, NodeId, PacketId, Router, RouterQueue};
use backlane_units::{Duration, SimTime};

use super::flow_table::{FlowTable, Lookup};
use super::queue::{InterfaceQueue, Mark, Waiting};
use super::shared::Shared;
use super::signals::{HELLO_TTL, Signals};
use super::{Candidate, Config, Granularity, Hello, Penalty, QueueInfo, weight};

#[derive(Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) node: NodeId,
    pub(super) rate_bps: f64,
    /// The neighbour is valid until this time, by its last HELLO.
    valid_until: Option<SimTime>,
    /// Whether it forwards other nodes' packets.
    transit: bool,
    /// Shortest queue among its interfaces that are up, as last reported.
    shortest_queue_pkts: u32,
}

/// BP-MR on one node.
pub struct BpMr {
    pub(super) node: NodeId,
    config: Config,
    pub(super) queue_limit_pkts: u32,
    pub(super) shared: Rc<Shared>,
    ties: Stream,
    signals: Signals,
    pub(super) queues: Vec<InterfaceQueue>,
    pub(super) neighbours: Vec<Neighbour>,
    flows: FlowTable,
    /// Buffers kept to save allocations: interfaces whose heads are to be served, and tied
    /// neighbours.
    to_serve: Vec<usize>,
    pub(super) tied: Vec<usize>,
}

/// The state of a flow's table entry when its next packet arrives.
enum Standing {
    /// The packet leaves by this interface.
    Stands(usize),
    /// A new decision is needed; ties go to this interface if there is one.
    Expired(Option<usize>),
}

/// The result of stage 2.
enum Weighed {
    /// The destination is the neighbour on this interface.
    Direct(usize),
    /// `each` was called for each valid neighbour with its weight.
    All,
}

enum Decision {
    Leave,
    MoveTo(usize),
    Wait,
}

impl BpMr {
    /// The router of `node`. `gateway` selects the queue limit; `ties` breaks ties, `jitter`
    /// spreads HELLOs.
    pub fn new(
        node: NodeId,
        config: Config,
        gateway: bool,
        shared: Rc<Shared>,
        ties: Stream,
        jitter: Stream,
    ) -> Self {
        let queue_limit_pkts = if gateway {
            config.gateway_queue_limit_pkts
        } else {
            config.queue_limit_pkts
        };
        Self {
            node,
            config,
            queue_limit_pkts,
            shared,
            ties,
            signals: Signals::new(config.hello_interval, jitter),
            queues: Vec::new(),
            neighbours: Vec::new(),
            flows: FlowTable::new(config.flow_idle, config.flow_max_age),
            to_serve: Vec::new(),
            tied: Vec::new(),
        }
    }

    /// Whether the neighbour is valid and not reached through the core network.
    #[inline]
    pub(super) fn valid(&self, now: SimTime, interface: usize, exit: NodeId) -> bool {
        let neighbour = &self.neighbours[interface];
        self.is_heard(now, interface) && (neighbour.transit || neighbour.node == exit)
    }

    #[inline]
    fn is_heard(&self, now: SimTime, interface: usize) -> bool {
        let until = self.neighbours[interface].valid_until;
        until.is_some_and(|until| now <= until)
    }

    pub(super) fn pick(&mut self, tied: &[usize]) -> usize {
        match tied {
            [only] => *only,
            _ => tied[self.ties.uniform_below(tied.len() as u64) as usize],
        }
    }

    /// The shortest of a neighbour's queues, in full packets.
    #[inline]
    fn neighbour_queue(&self, interface: usize) -> u32 {
        let neighbour = &self.neighbours[interface];
        match self.config.queue_info {
            QueueInfo::Hello => neighbour.shortest_queue_pkts,
            QueueInfo::Oracle => self.shared.board[neighbour.node.index()]
                .iter()
                .map(Cell::get)
                .min()
                .unwrap_or(0),
        }
    }

    /// Stage 2: calls `each` for the valid neighbours of a packet with their weights. `None`: the
    /// destination is not known.
    #[inline]
    fn weigh(
        &self,
        context: &Context<'_>,
        id: PacketId,
        mut each: impl FnMut(usize, f64),
    ) -> Option<Weighed> {
        let packet = context.packet(id);
        let (exit, from) = (packet.exit, packet.previous);
        let now = context.now();
        let ttl = self.config.ttl_rule.then_some(packet.ttl);
        let hops = self.shared.distances.to(exit)?;
        let own = hops[self.node.index()];
        let mut closer_neighbours = 0;
        let mut from_is_closer = false;
        for (index, neighbour) in self.neighbours.iter().enumerate() {
            if self.valid(now, index, exit) {
                if neighbour.node == exit {
                    return Some(Weighed::Direct(index));
                }
                if hops[neighbour.node.index()] < own {
                    closer_neighbours += 1;
                    from_is_closer |= neighbour.node == from;
                }
            }
        }
        for (index, neighbour) in self.neighbours.iter().enumerate() {
            if !self.valid(now, index, exit) {
                continue;
            }
            let closer = hops[neighbour.node.index()] < own;
            let came_from = neighbour.node == from;
            let candidate = Candidate {
                own_queue_pkts: self.queues[index].length_pkts(),
                neighbour_queue_pkts: self.neighbour_queue(index),
                penalty: Penalty::of(closer, came_from, closer_neighbours, from_is_closer),
                came_from,
                rate_bps: neighbour.rate_bps,
            };
            each(
                index,
                weight(&candidate, self.config.v, self.queue_limit_pkts, ttl),
            );
        }
        Some(Weighed::All)
    }

    /// The interface with the greatest positive weight for a packet that waits in the queue of
    /// `interface`.
    fn best(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
        interface: usize,
        preferred: Option<usize>,
    ) -> Option<usize> {
        let mut tied = std::mem::take(&mut self.tied);
        tied.clear();
        let mut most = 0.0;
        let weighed = self.weigh(context, id, |index, weight| {
            if weight > most {
                most = weight;
                tied.clear();
            }
            if weight == most && weight > 0.0 {
                tied.push(index);
            }
        });
        let choice = match (weighed, preferred) {
            (Some(Weighed::Direct(direct)), _) => Some(direct),
            (None, _) => None,
            _ if tied.is_empty() => None,
            (_, Some(preferred)) if tied.contains(&preferred) => Some(preferred),
            _ if tied.contains(&interface) => Some(interface),
            _ => {
                let shortest = tied.iter().map(|&i| self.queues[i].length_pkts()).min();
                tied.retain(|&i| Some(self.queues[i].length_pkts()) == shortest);
                Some(self.pick(&tied))
            }
        };
        self.tied = tied;
        choice
    }

    /// Whether congestion ends the burst of a flow that leaves by `interface`. Flows move away one
    /// at a time, so that the effect of one is measured before the next moves.
    fn is_pressed(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
        interface: usize,
        age: Duration,
    ) -> bool {
        if self.config.granularity != Granularity::Burst {
            return false;
        }
        let Some((reaction, least_age)) = self.config.burst.reaction() else {
            return false;
        };
        let full = reaction.is_full(self.queues[interface].length_pkts(), self.queue_limit_pkts);
        let (mut chosen, mut other) = (0.0, 0.0_f64);
        let weighed = self.weigh(context, id, |index, weight| {
            if index == interface {
                chosen = weight;
            } else {
                other = other.max(weight);
            }
        });
        let outdone = matches!(weighed, Some(Weighed::All)) && reaction.stands_out(other, chosen);
        let hold = reaction.hold;
        let now = context.now();
        let key = context.packet(id).flow_key();
        let outdone_for = self.flows.note_outdone(now, key, outdone);
        let pressed = age >= least_age && (full || outdone && outdone_for >= hold);
        let relieved = &mut self.queues[interface].relieved_at;
        if !pressed || relieved.is_some_and(|at| now - at < hold) {
            return false;
        }
        *relieved = Some(now);
        true
    }

    fn publish(&self, interface: usize) {
        if self.config.queue_info == QueueInfo::Oracle {
            let length = self.queues[interface].length_pkts();
            self.shared.board[self.node.index()][interface].set(length);
        }
    }

    fn push_back(&mut self, context: &mut Context<'_>, interface: usize, waiting: Waiting) {
        context.packet_mut(waiting.id).queued_at = context.now();
        let queue = &mut self.queues[interface];
        if queue.length_pkts() >= self.queue_limit_pkts {
            queue.count_drop();
            context.drop(waiting.id, DropCause::Queue);
            return;
        }
        queue.push_back(waiting, context.packet(waiting.id));
        self.publish(interface);
    }

    /// Moves the head of one queue to the front of another, which drops its tail if full.
    fn move_head(&mut self, context: &mut Context<'_>, head: Waiting, from: usize, to: usize) {
        let now = context.now();
        self.queues[from].pop_front(now, context.packet(head.id));
        self.publish(from);
        let queue = &mut self.queues[to];
        if queue.length_pkts() >= self.queue_limit_pkts
            && let Some(tail) = queue.back()
        {
            queue.drop_back(now, context.packet(tail.id));
            context.drop(tail.id, DropCause::Queue);
        }
        context.packet_mut(head.id).queued_at = now;
        let bound = Waiting {
            mark: Mark::Bound,
            ..head
        };
        queue.push_front(bound, context.packet(head.id));
        self.publish(to);
    }

    fn decide(&mut self, context: &Context<'_>, interface: usize, head: Waiting) -> Decision {
        let exit = context.packet(head.id).exit;
        if head.mark == Mark::Bound && self.valid(context.now(), interface, exit) {
            return Decision::Leave;
        }
        let best = match self.config.granularity {
            Granularity::Packet => self.best(context, head.id, interface, None),
            Granularity::Flow | Granularity::Burst => match self.standing(context, head.id) {
                Standing::Stands(interface) => Some(interface),
                Standing::Expired(preferred) => {
                    self.decide_flow(context, head.id, interface, preferred)
                }
            },
        };
        match best {
            Some(best) if best == interface => Decision::Leave,
            Some(best) => Decision::MoveTo(best),
            None => Decision::Wait,
        }
    }

    /// The queue for an arriving packet: stage 1 and, per flow and burst, the stored or new
    /// decision of its flow. `None`: no valid neighbour.
    fn place(&mut self, context: &Context<'_>, id: PacketId) -> Option<(usize, Mark)> {
        if self.config.granularity == Granularity::Packet {
            return self.classify(context, id);
        }
        let preferred = match self.standing(context, id) {
            Standing::Stands(interface) => return Some((interface, Mark::Bound)),
            Standing::Expired(preferred) => preferred,
        };
        let (interface, _) = self.classify(context, id)?;
        let decided = self.decide_flow(context, id, interface, preferred);
        Some(match decided {
            Some(decided) => (decided, Mark::Bound),
            None => (interface, Mark::Free),
        })
    }

    /// Whether the decision of a packet's flow is still valid. The first packet of a burst is
    /// decided like the first of a flow: earlier decisions give no advantage.
    fn standing(&mut self, context: &Context<'_>, id: PacketId) -> Standing {
        let packet = context.packet(id);
        let exit = packet.exit;
        let now = context.now();
        match self.flows.lookup(now, packet.flow_key(), packet.ttl) {
            Lookup::Valid {
                interface,
                age,
                gap,
            } if self.valid(now, interface, exit) => {
                let over = self.config.granularity == Granularity::Burst
                    && (self.config.burst.is_over(age, gap)
                        || self.is_pressed(context, id, interface, age));
                if over {
                    Standing::Expired(None)
                } else {
                    Standing::Stands(interface)
                }
            }
            Lookup::Valid { .. } | Lookup::Unknown => Standing::Expired(None),
            Lookup::Expired(interface) => Standing::Expired(Some(interface)),
        }
    }

    /// Decides for a packet's flow and stores it.
    fn decide_flow(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
        queue: usize,
        preferred: Option<usize>,
    ) -> Option<usize> {
        let best = self.best(context, id, queue, preferred);
        let packet = context.packet(id);
        let (key, ttl, now) = (packet.flow_key(), packet.ttl, context.now());
        match best {
            Some(interface) => self.flows.store(now, key, ttl, interface),
            None => self.flows.remove(key),
        }
        best
    }

    /// Sends from the head of a queue, and of the queues to which its packets are moved, until the
    /// device is full, the queue is empty or its head has no next hop.
    fn serve(&mut self, context: &mut Context<'_>, interface: usize) {
        let room = self.config.device_queue_pkts as usize;
        let mut to_serve = std::mem::take(&mut self.to_serve);
        to_serve.push(interface);
        while let Some(&interface) = to_serve.last() {
            let Some(head) = self.queues[interface].front() else {
                to_serve.pop();
                continue;
            };
            if context.device_backlog_pkts(interface) >= room {
                context.notify_when_below(interface, room);
                to_serve.pop();
                continue;
            }
            match self.decide(context, interface, head) {
                Decision::Leave => {
                    let packet = context.packet(head.id);
                    self.queues[interface].pop_front(context.now(), packet);
                    self.publish(interface);
                    if let Some(next) = self.queues[interface].front() {
                        context.touch(next.id);
                    }
                    context.transmit(interface, head.id);
                }
                Decision::MoveTo(other) => {
                    self.move_head(context, head, interface, other);
                    if !to_serve.contains(&other) {
                        to_serve.push(other);
                    }
                }
                Decision::Wait => {
                    to_serve.pop();
                }
            }
        }
        self.to_serve = to_serve;
    }

    fn serve_all(&mut self, context: &mut Context<'_>) {
        for interface in 0..self.queues.len() {
            if self.queues[interface].front().is_some() {
                self.serve(context, interface);
            }
        }
    }
}

impl Router for BpMr {
    fn start(&mut self, context: &mut Context<'_>) {
        self.neighbours = context
            .interfaces()
            .iter()
            .map(|interface| Neighbour {
                node: interface.peer,
                rate_bps: interface.rate.as_bps() as f64,
                valid_until: None,
                transit: !self.shared.no_transit[interface.peer.index()],
                shortest_queue_pkts: 0,
            })
            .collect();
        self.queues = self
            .neighbours
            .iter()
            .map(|_| InterfaceQueue::default())
            .collect();
        self.signals.start(context);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let Some((interface, mark)) = self.place(context, id) else {
            context.drop(id, DropCause::NoRoute);
            return;
        };
        self.push_back(context, interface, Waiting { id, mark });
        self.serve(context, interface);
    }

    fn on_message(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        _ttl: u8,
        message: &[u8],
    ) {
        let Some(hello) = Hello::decode(message) else {
            return;
        };
        let now = context.now();
        let valid_until = self.signals.valid_until(now);
        let neighbour = &mut self.neighbours[interface];
        let returned = neighbour.valid_until.is_none_or(|until| now > until);
        neighbour.valid_until = Some(valid_until);
        neighbour.shortest_queue_pkts = hello
            .queues_pkts
            .iter()
            .flatten()
            .map(|&pkts| u32::from(pkts))
            .min()
            .unwrap_or(0);
        if returned {
            self.flows.clear();
        }
        self.serve_all(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, _token: u32) {
        let now = context.now();
        let hello = Hello {
            originator: self.node.0,
            sequence: self.signals.next_sequence(),
            queues_pkts: self
                .queues
                .iter()
                .enumerate()
                .map(|(interface, queue)| {
                    let length = queue.length_pkts().min(u32::from(u16::MAX) - 1) as u16;
                    self.is_heard(now, interface).then_some(length)
                })
                .collect(),
            by_destination: Vec::new(),
        }
        .encode();
        context.broadcast(HELLO_TTL, &hello);
        self.signals.rearm(context);
        if self.config.granularity != Granularity::Packet {
            self.flows.purge(context.now());
        }
        self.serve_all(context);
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, interface: usize) {
        self.serve(context, interface);
    }

    fn queue(&self, interface: usize) -> Option<RouterQueue> {
        self.queues.get(interface).map(InterfaceQueue::counters)
    }
}
