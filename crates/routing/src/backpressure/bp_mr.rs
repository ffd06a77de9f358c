//! The two stages of BP-MR on one node.

use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::{Context, DropCause, NodeId, Packet, PacketId, Router, RouterQueue};
use backlane_units::Duration;

use super::flow_table::{FlowTable, Lookup};
use super::neighbourhood::{Neighbourhood, Way, Ways};
use super::queue::{InterfaceQueue, Mark, Waiting, full_pkts};
use super::shared::Shared;
use super::signals::{HELLO_TTL, Signals};
use super::ties::{draw, least};
use super::{Candidate, Config, Granularity, Hello, Penalty, QueueInfo, weight};

/// BP-MR on one node.
pub struct BpMr {
    node: NodeId,
    config: Config,
    pub(super) queue_limit_pkts: u32,
    shared: Arc<Shared>,
    pub(super) ties: Stream,
    signals: Signals,
    pub(super) queues: Vec<InterfaceQueue>,
    pub(super) neighbours: Neighbourhood,
    flows: FlowTable,
    /// A buffer kept to save allocations: the interfaces whose heads are to be served.
    to_serve: Vec<usize>,
}

/// The state of a flow's table entry when its next packet arrives.
enum Standing {
    /// The packet leaves by this interface.
    Stands(usize),
    /// A new decision is needed; ties go to this interface if there is one.
    Expired(Option<usize>),
}

/// The result of stage 2 for one interface.
enum Weighed {
    /// The destination is the neighbour on this interface.
    Direct(usize),
    /// The weight of the interface, and the largest of the other weights; zero where there is none
    /// or none is positive.
    Weights { own: f64, others: f64 },
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
        shared: Arc<Shared>,
        ties: Stream,
        jitter: Stream,
    ) -> Self {
        let queue_limit_pkts = if gateway {
            config.gateway_queue_limit_pkts
        } else {
            config.queue_limit_pkts
        };
        let neighbours = Neighbourhood::new(node, shared.clone());
        Self {
            node,
            config,
            queue_limit_pkts,
            shared,
            ties,
            signals: Signals::new(config.hello_interval, jitter),
            queues: Vec::new(),
            neighbours,
            flows: FlowTable::new(config.flow_idle, config.flow_max_age),
            to_serve: Vec::new(),
        }
    }

    /// Stage 2: the neighbours for a packet with their weights.
    #[inline]
    fn weights<'a>(
        &'a self,
        ways: Ways<'a>,
        packet: &Packet,
    ) -> impl Iterator<Item = (Way<'a>, f64)> + Clone {
        let from = packet.previous;
        let mut closer = ways.all().filter(|way| way.closer);
        let from_is_closer = ways.closer == 1 && closer.any(|way| way.neighbour.node == from);
        let penalties = Penalty::table(ways.closer, from_is_closer);
        let ttl = self.config.ttl_rule.then_some(packet.ttl);
        ways.all().map(move |way| {
            let came_from = way.neighbour.node == from;
            let candidate = Candidate {
                own_queue_pkts: way.neighbour.queue_pkts,
                neighbour_queue_pkts: way.neighbour.shortest_queue_pkts,
                penalty: penalties[usize::from(way.closer)][usize::from(came_from)],
                came_from,
                rate_bps: way.neighbour.rate_bps,
            };
            let limit_pkts = self.queue_limit_pkts;
            (way, weight(&candidate, self.config.v, limit_pkts, ttl))
        })
    }

    /// Stage 2 for a packet and one interface. `None`: the destination is not known.
    fn weigh(&mut self, context: &Context<'_>, id: PacketId, interface: usize) -> Option<Weighed> {
        let packet = context.packet(id);
        let column = self.neighbours.column(context.now(), packet.exit)?;
        if let Some(direct) = self.neighbours.ways(column).direct {
            return Some(Weighed::Direct(direct));
        }
        if self.config.queue_info == QueueInfo::Oracle {
            self.neighbours.look_at_queues();
        }
        let (mut own, mut others) = (0.0, 0.0);
        for (way, weight) in self.weights(self.neighbours.ways(column), packet) {
            if way.interface == interface {
                own = weight;
            } else if weight > others {
                others = weight;
            }
        }
        Some(Weighed::Weights { own, others })
    }

    /// The interface with the greatest positive weight for a packet that waits in the queue of
    /// `interface`; of several, `preferred`, `interface` or that of the shortest queue.
    fn best(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
        interface: usize,
        preferred: Option<usize>,
    ) -> Option<usize> {
        for interface in preferred.into_iter().chain([interface]) {
            match self.weigh(context, id, interface)? {
                Weighed::Direct(direct) => return Some(direct),
                Weighed::Weights { own, others } if own > 0.0 && own >= others => {
                    return Some(interface);
                }
                Weighed::Weights { own, others } if own <= 0.0 && others <= 0.0 => return None,
                Weighed::Weights { .. } => {}
            }
        }
        self.best_of_others(context, id)
    }

    /// Of the interfaces with the greatest weight, one with the shortest queue.
    #[inline(never)]
    fn best_of_others(&mut self, context: &Context<'_>, id: PacketId) -> Option<usize> {
        let packet = context.packet(id);
        let column = self.neighbours.column(context.now(), packet.exit)?;
        let key = |(way, weight): (Way<'_>, f64)| (-weight, way.neighbour.queue_pkts);
        let weights = self.weights(self.neighbours.ways(column), packet);
        let (smallest, count) = least(weights.map(key))?;
        let place = draw(&mut self.ties, count);
        let weights = self.weights(self.neighbours.ways(column), packet);
        let mut tied = weights.filter(|&weighed| key(weighed) == smallest);
        tied.nth(place).map(|(way, _)| way.interface)
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
        let burst = self.config.burst;
        let Some((reaction, least_age)) = burst.reaction() else {
            return false;
        };
        let queue_pkts = self.neighbours.get(interface).queue_pkts;
        let full = reaction.is_full(queue_pkts, self.queue_limit_pkts);
        let outdone = match self.weigh(context, id, interface) {
            Some(Weighed::Weights { own, others }) => reaction.stands_out(others, own),
            Some(Weighed::Direct(_)) | None => false,
        };
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

    /// Stores the length of a queue that has changed where decisions read it.
    #[inline]
    fn publish(&mut self, interface: usize) {
        let length = self.queues[interface].length_pkts();
        self.neighbours.set_queue(interface, length);
        if self.config.queue_info == QueueInfo::Oracle {
            self.shared.set_queue_pkts(self.node, interface, length);
        }
    }

    /// Whether a packet that finds the queue of `interface` empty leaves at once.
    #[inline]
    fn passes(&mut self, context: &mut Context<'_>, interface: usize, waiting: Waiting) -> bool {
        let room = self.config.device_queue_pkts as usize;
        if self.queues[interface].front().is_some()
            || context.device_backlog_pkts(interface) >= room
        {
            return false;
        }
        waiting.mark == Mark::Bound
            || self.config.granularity == Granularity::Packet
                && self.is_best(context, waiting.id, interface)
    }

    /// Whether a packet that is alone in the queue of `interface` may leave there.
    #[inline]
    fn is_best(&mut self, context: &Context<'_>, id: PacketId, interface: usize) -> bool {
        let length_pkts = full_pkts(u64::from(context.packet(id).size_bytes));
        self.neighbours.set_queue(interface, length_pkts);
        let weighed = self.weigh(context, id, interface);
        self.neighbours.set_queue(interface, 0);
        match weighed {
            Some(Weighed::Direct(direct)) => direct == interface,
            Some(Weighed::Weights { own, others }) => own > 0.0 && own >= others,
            None => false,
        }
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
        if head.mark == Mark::Bound && self.neighbours.takes(context.now(), interface, exit) {
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
            } if self.neighbours.takes(now, interface, exit) => {
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
        self.neighbours.start(context.interfaces());
        self.queues
            .resize_with(context.interfaces().len(), InterfaceQueue::default);
        self.signals.start(context);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let Some((interface, mark)) = self.place(context, id) else {
            context.drop(id, DropCause::NoRoute);
            return;
        };
        context.packet_mut(id).queued_at = context.now();
        let waiting = Waiting { id, mark };
        let passes = self.passes(context, interface, waiting);
        let queue = &mut self.queues[interface];
        if passes {
            queue.count_passage(context.packet(id));
            context.transmit(interface, id);
            return;
        }
        if queue.length_pkts() >= self.queue_limit_pkts {
            queue.count_drop();
            context.drop(id, DropCause::Queue);
        } else {
            queue.push_back(waiting, context.packet(id));
            self.publish(interface);
        }
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
        let shortest = hello.queues_pkts.iter().flatten().min();
        let shortest_pkts = shortest.map_or(0, |&pkts| u32::from(pkts));
        if self
            .neighbours
            .on_hello(now, interface, shortest_pkts, valid_until)
        {
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
                    self.neighbours.is_valid(now, interface).then_some(length)
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
