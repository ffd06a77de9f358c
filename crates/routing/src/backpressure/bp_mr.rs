//! The two stages of BP-MR on one node.

use std::cell::Cell;
use std::rc::Rc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, DropCause, NodeId, PacketId, Router, RouterQueue};
use backlane_units::{Duration, SimTime};

use super::flow_table::{FlowTable, Lookup};
use super::queue::{InterfaceQueue, Mark, Waiting};
use super::{Candidate, Config, Granularity, Hello, Penalty, QueueInfo, weight};
use crate::graph::Distances;

const HELLO: u32 = 0;
/// A neighbour is valid until it has been silent for this many HELLO intervals.
const HELLO_LOSS: u64 = 3;

/// What the routers of one network share: what is known before the run, and the board on which
/// queue lengths are read where the configuration says `oracle`.
pub struct Shared {
    distances: Distances,
    /// Nodes through which nobody else's packets go (the gateway of the core network).
    no_transit: Vec<bool>,
    /// By node and interface, in full packets; `u32::MAX`: down or unknown.
    board: Vec<Vec<Cell<u32>>>,
}

impl Shared {
    /// For a network of `node_count` nodes in which packets leave at the destinations that
    /// `distances` knows, and do not pass through the nodes in `no_transit`.
    pub fn new(node_count: usize, distances: Distances, no_transit: &[NodeId]) -> Self {
        let mut shared = Self {
            distances,
            no_transit: vec![false; node_count],
            board: vec![Vec::new(); node_count],
        };
        for node in no_transit {
            shared.no_transit[node.index()] = true;
        }
        shared
    }

    /// Makes room for the queues of a node.
    pub fn add_node(&mut self, node: NodeId, interfaces: usize) {
        self.board[node.index()] = vec![Cell::new(0); interfaces];
    }
}

#[derive(Clone, Copy)]
struct Neighbour {
    node: NodeId,
    rate_bps: f64,
    /// Interface up and, until this, HELLO heard of late.
    valid_until: Option<SimTime>,
    /// Other nodes' packets may pass through it.
    transit: bool,
    /// Shortest queue among its interfaces that are up, as last told.
    shortest_queue_pkts: u32,
}

/// BP-MR on one node.
pub struct BpMr {
    node: NodeId,
    config: Config,
    queue_limit_pkts: u32,
    shared: Rc<Shared>,
    ties: Stream,
    jitter: Stream,
    queues: Vec<InterfaceQueue>,
    neighbours: Vec<Neighbour>,
    flows: FlowTable,
    hello_timer: Option<TimerId>,
    hello_sequence: u16,
    /// Interfaces whose heads are to be served, and the neighbours in a tie: kept to save
    /// allocations.
    to_serve: Vec<usize>,
    tied: Vec<usize>,
}

enum Decision {
    Leave,
    MoveTo(usize),
    Wait,
}

impl BpMr {
    /// The router of `node`. `gateway` chooses which queue limit holds; `ties` breaks ties,
    /// `jitter` spreads HELLOs.
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
            jitter,
            queues: Vec::new(),
            neighbours: Vec::new(),
            flows: FlowTable::new(config.flow_idle, config.flow_max_age),
            hello_timer: None,
            hello_sequence: 0,
            to_serve: Vec::new(),
            tied: Vec::new(),
        }
    }

    /// Interface up, HELLO heard of late, and not a way through the core network.
    #[inline]
    fn valid(&self, now: SimTime, interface: usize, exit: NodeId) -> bool {
        let neighbour = &self.neighbours[interface];
        neighbour.valid_until.is_some_and(|until| now <= until)
            && (neighbour.transit || neighbour.node == exit)
    }

    fn pick(&mut self, tied: &[usize]) -> usize {
        match tied {
            [only] => *only,
            _ => tied[self.ties.below(tied.len() as u64) as usize],
        }
    }

    /// Stage 1: the queue that a packet waits in, and whether it is bound to it. `None`: no
    /// valid neighbour.
    fn classify(&mut self, context: &Context<'_>, id: PacketId) -> Option<(usize, Mark)> {
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
            // The only closer neighbour is where it came from: the nearest of all, with that
            // one counted ten times as far.
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

    /// The valid neighbours at the least distance, as `distance` counts it.
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

    /// Of several interfaces, those with the least queue for their rate; the fastest while all
    /// are empty.
    fn keep_least_loaded(&self, tied: &mut Vec<usize>) {
        let load = |&interface: &usize| {
            let rate = self.neighbours[interface].rate_bps;
            let length = f64::from(self.queues[interface].length_pkts());
            // An empty queue at a higher rate is the lighter load.
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

    /// One good interface: used until it passes three quarters of its limit; from then until it
    /// is below half, packets spill to the nearest other neighbour with a shorter queue.
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

    /// Stage 2: the interface with the greatest positive weight for a packet that waits in the
    /// queue of `interface`.
    fn best(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
        interface: usize,
        preferred: Option<usize>,
    ) -> Option<usize> {
        let packet = context.packet(id);
        let (exit, from, ttl) = (packet.exit, packet.previous, packet.ttl);
        let now = context.now();
        let ttl = self.config.ttl_rule.then_some(ttl);
        let shared = self.shared.clone();
        let hops = shared.distances.to(exit)?;
        let own = hops[self.node.index()];
        let mut closer_neighbours = 0;
        let mut from_is_closer = false;
        for (index, neighbour) in self.neighbours.iter().enumerate() {
            if self.valid(now, index, exit) {
                if neighbour.node == exit {
                    return Some(index);
                }
                if hops[neighbour.node.index()] < own {
                    closer_neighbours += 1;
                    from_is_closer |= neighbour.node == from;
                }
            }
        }
        let mut tied = std::mem::take(&mut self.tied);
        tied.clear();
        let mut most = 0.0;
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
            let weight = weight(&candidate, self.config.v, self.queue_limit_pkts, ttl);
            if weight > most {
                most = weight;
                tied.clear();
            }
            if weight == most && weight > 0.0 {
                tied.push(index);
            }
        }
        let choice = match preferred {
            _ if tied.is_empty() => None,
            Some(preferred) if tied.contains(&preferred) => Some(preferred),
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

    /// Moves the head of one queue to the front of another, which gives up its tail if full.
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
            Granularity::Flow => self.flow_interface(context, head.id, interface),
        };
        match best {
            Some(best) if best == interface => Decision::Leave,
            Some(best) => Decision::MoveTo(best),
            None => Decision::Wait,
        }
    }

    /// The queue for a packet that arrives: stage 1 and, per flow, what its flow has decided or
    /// decides now. `None`: no valid neighbour.
    fn place(&mut self, context: &Context<'_>, id: PacketId) -> Option<(usize, Mark)> {
        if self.config.granularity == Granularity::Packet {
            return self.classify(context, id);
        }
        let packet = context.packet(id);
        let now = context.now();
        if let Lookup::Valid(interface) = self.flows.lookup(now, packet.flow_key(), packet.ttl)
            && self.valid(now, interface, packet.exit)
        {
            return Some((interface, Mark::Bound));
        }
        let (interface, _) = self.classify(context, id)?;
        Some(match self.flow_interface(context, id, interface) {
            Some(decided) => (decided, Mark::Bound),
            None => (interface, Mark::Free),
        })
    }

    /// The interface that a packet's flow leaves by: from the table, or decided now and stored.
    fn flow_interface(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
        queue: usize,
    ) -> Option<usize> {
        let packet = context.packet(id);
        let (key, ttl, exit) = (packet.flow_key(), packet.ttl, packet.exit);
        let now = context.now();
        let preferred = match self.flows.lookup(now, key, ttl) {
            Lookup::Valid(interface) if self.valid(now, interface, exit) => {
                return Some(interface);
            }
            Lookup::Valid(_) | Lookup::Unknown => None,
            Lookup::Expired(interface) => Some(interface),
        };
        let best = self.best(context, id, queue, preferred);
        match best {
            Some(interface) => self.flows.store(now, key, ttl, interface),
            None => self.flows.remove(key),
        }
        best
    }

    /// Sends from the head of a queue, and of those that its packets are moved to, until the
    /// device is full, the queue empty or its head has nowhere to go.
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
                context.call_when_ready(interface, room);
                to_serve.pop();
                continue;
            }
            match self.decide(context, interface, head) {
                Decision::Leave => {
                    let packet = context.packet(head.id);
                    self.queues[interface].pop_front(context.now(), packet);
                    self.publish(interface);
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
        let timer = context.timer(HELLO);
        let first = self.config.hello_interval.as_secs_f64() / 4.0 * self.jitter.uniform();
        context.set_timer(timer, context.now() + Duration::from_secs_f64(first));
        self.hello_timer = Some(timer);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let Some((interface, mark)) = self.place(context, id) else {
            context.drop(id, DropCause::NoRoute);
            return;
        };
        self.push_back(context, interface, Waiting { id, mark });
        self.serve(context, interface);
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, message: &[u8]) {
        let Some(hello) = Hello::decode(message) else {
            return;
        };
        let now = context.now();
        let silence = self.config.hello_interval.saturating_mul(HELLO_LOSS);
        let neighbour = &mut self.neighbours[interface];
        let returned = neighbour.valid_until.is_none_or(|until| now > until);
        neighbour.valid_until = Some(now.saturating_add(silence));
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
        self.hello_sequence = self.hello_sequence.wrapping_add(1);
        let hello = Hello {
            originator: self.node.0,
            sequence: self.hello_sequence,
            queues_pkts: self
                .queues
                .iter()
                .enumerate()
                .map(|(interface, queue)| {
                    let length = queue.length_pkts().min(u32::from(u16::MAX) - 1) as u16;
                    context.interfaces()[interface].up.then_some(length)
                })
                .collect(),
        }
        .encode();
        for interface in 0..self.queues.len() {
            if context.interfaces()[interface].up {
                context.send_message(interface, hello.clone());
            }
        }
        let interval = self.config.hello_interval.as_secs_f64();
        let wait = interval + interval / 4.0 * self.jitter.uniform();
        if let Some(timer) = self.hello_timer {
            context.set_timer(timer, context.now() + Duration::from_secs_f64(wait));
        }
        if self.config.granularity == Granularity::Flow {
            self.flows.purge(context.now());
        }
        self.serve_all(context);
    }

    fn on_link_change(&mut self, context: &mut Context<'_>, interface: usize) {
        if !context.interfaces()[interface].up {
            self.neighbours[interface].valid_until = None;
            self.serve_all(context);
        }
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, interface: usize) {
        self.serve(context, interface);
    }

    fn queue(&self, interface: usize) -> Option<RouterQueue> {
        self.queues.get(interface).map(InterfaceQueue::counters)
    }
}
