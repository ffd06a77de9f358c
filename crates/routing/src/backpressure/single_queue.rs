//! BP and BS: one FIFO per node, whose head goes to the neighbour with the best trade-off between
//! queues and proximity (Núñez-Martínez, Baranda and Mangues-Bafalluy).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::{Context, DropCause, NodeId, PacketId, Router, RouterQueue};
use backlane_param::ranges::MESSAGE_INTERVAL;
use backlane_param::{params, words};
use backlane_units::{Duration, SimTime};

use super::queue::{InterfaceQueue, Mark, Waiting};
use super::shared::Shared;
use super::signals::{HELLO_TTL, Signals};
use super::weights::raised;
use super::{Hello, Penalty, QueueInfo, V};

/// The virtual backlog that a dead end reports, and the weight of the route out of it, in packets.
const VIRTUAL_BACKLOG_PKTS: u16 = 200;

/// How proximity counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenaltyRule {
    /// −1 towards a neighbour that is closer or as far, +1 towards one that is farther.
    Plain,
    /// 0 towards one that is farther; a node without a closer neighbour reports a virtual backlog,
    /// which repels packets.
    Shadow,
    /// With the previous hop as memory, for sparse networks (BS).
    Sparse,
}

words! {
    /// How proximity counts under BP.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum BpPenalty {
        /// As [`PenaltyRule::Plain`].
        #[default]
        Plain = "plain",
        /// As [`PenaltyRule::Shadow`].
        Shadow = "shadow",
    }
}

words! {
    /// What is closer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Distance {
        /// The number of links to the destination.
        #[default]
        Hops = "hops",
        /// The straight-line distance to the destination.
        Euclidean = "euclidean",
    }
}

params! {
    /// The same for sparse networks: the previous hop is remembered, so that packets leave dead
    /// ends.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SingleQueueConfig {
        /// What is closer: fewer links, or less far as the crow flies (every node but servers then
        /// needs a position).
        distance: Distance = Distance::Hops;
        /// Limit of the node's queue (the published runs of BP: 200).
        queue_limit_pkts: u32 = 200, in 1..=1_000_000;
        /// How a node knows its neighbours' queues: from their last HELLO as published, or exactly
        /// as in the BP-MR paper's runs.
        queue_info: QueueInfo = QueueInfo::Hello;
        /// Time between HELLO messages (the BP-MR paper's runs: 100 ms).
        hello_interval: Duration = Duration::from_millis(100), in MESSAGE_INTERVAL;
        /// Weight of the distance to the destination.
        ///
        /// A variable one is what is free of the fullest queue among the node's and its
        /// neighbours'.
        v: V = V::Variable, in 0.0..=1e9;
        /// Whether a variable v takes every queue to grow once more as it did since the last HELLO.
        anticipate: bool = false;
        /// Packets handed to the device ahead of the link (the BP-MR paper's runs: 2).
        device_queue_pkts: u32 = 2, in 1..=1000;
        /// Whether a packet that wandered far is routed by distance.
        ///
        /// Beyond 24 hops.
        ttl_rule: bool = true;
    }
}

params! {
    /// Backpressure with one queue per node and a penalty for distance.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BpConfig {
        /// How distance counts: −1 towards a neighbour that is closer or as far and +1 away, or
        /// with virtual backlogs in dead ends.
        penalty: BpPenalty = BpPenalty::Plain;
        /// The rest.
        node: SingleQueueConfig = SingleQueueConfig::default();
    }
}

impl From<BpPenalty> for PenaltyRule {
    fn from(penalty: BpPenalty) -> Self {
        match penalty {
            BpPenalty::Plain => Self::Plain,
            BpPenalty::Shadow => Self::Shadow,
        }
    }
}

/// A queue length from the last HELLO and from the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reported {
    pkts: u32,
    before_pkts: u32,
}

impl Reported {
    fn update(&mut self, pkts: u32) {
        self.before_pkts = self.pkts;
        self.pkts = pkts;
    }

    /// The queue length if it grows by the same amount again.
    fn anticipated(self) -> f64 {
        2.0 * f64::from(self.pkts) - f64::from(self.before_pkts)
    }
}

struct Neighbour {
    node: NodeId,
    rate_bps: f64,
    valid_until: Option<SimTime>,
    transit: bool,
    queue: Reported,
    /// Virtual backlog by destination.
    virtual_pkts: BTreeMap<u32, u16>,
}

/// V for the largest of the known queues.
fn variable_v(queue_limit_pkts: u32, largest_pkts: f64) -> f64 {
    let q_max = f64::from(queue_limit_pkts);
    (q_max - largest_pkts).clamp(0.0, q_max)
}

/// BP or BS on one node.
pub struct SingleQueue {
    node: NodeId,
    penalty: PenaltyRule,
    config: SingleQueueConfig,
    shared: Arc<Shared>,
    ties: Stream,
    signals: Signals,
    queue: InterfaceQueue,
    /// The node's own queue at its last two HELLOs.
    reported: Reported,
    neighbours: Vec<Neighbour>,
    /// Destinations to which no neighbour is closer.
    dead_ends: BTreeSet<NodeId>,
    tied: Vec<usize>,
}

impl SingleQueue {
    /// The router of `node`. `ties` breaks ties, `jitter` spreads HELLOs.
    pub fn new(
        node: NodeId,
        penalty: PenaltyRule,
        config: SingleQueueConfig,
        shared: Arc<Shared>,
        ties: Stream,
        jitter: Stream,
    ) -> Self {
        Self {
            node,
            penalty,
            config,
            shared,
            ties,
            signals: Signals::new(config.hello_interval, jitter),
            queue: InterfaceQueue::default(),
            reported: Reported::default(),
            neighbours: Vec::new(),
            dead_ends: BTreeSet::new(),
            tied: Vec::new(),
        }
    }

    fn valid(&self, now: SimTime, interface: usize, exit: NodeId) -> bool {
        let neighbour = &self.neighbours[interface];
        neighbour.valid_until.is_some_and(|until| now <= until)
            && (neighbour.transit || neighbour.node == exit)
    }

    fn neighbour_queue(&self, interface: usize) -> u32 {
        let neighbour = &self.neighbours[interface];
        match self.config.queue_info {
            QueueInfo::Hello => neighbour.queue.pkts,
            QueueInfo::Oracle => self.shared.queue_pkts(neighbour.node, 0),
        }
    }

    fn v(&self, valid: &[usize]) -> f64 {
        let limit = self.config.queue_limit_pkts;
        let own = self.queue.waiting_pkts();
        match self.config.v {
            V::Fixed(v) => v,
            V::Variable if !self.config.anticipate => {
                let queues = valid
                    .iter()
                    .map(|&interface| self.neighbour_queue(interface));
                variable_v(limit, f64::from(queues.fold(own, u32::max)))
            }
            V::Variable => {
                let own = 2.0 * f64::from(own) - f64::from(self.reported.pkts);
                let queues = valid
                    .iter()
                    .map(|&i| self.neighbours[i].queue.anticipated());
                variable_v(limit, queues.fold(own, f64::max))
            }
        }
    }

    /// The interface with the greatest positive weight for the packet at the head. `None`: it
    /// waits.
    fn best(&mut self, context: &Context<'_>, id: PacketId) -> Option<usize> {
        let packet = context.packet(id);
        let (exit, from, ttl) = (packet.exit, packet.previous, packet.ttl);
        let now = context.now();
        let shared = self.shared.clone();
        let far = shared.distances.to(exit)?;
        let own = far[self.node.index()];
        let valid: Vec<usize> = (0..self.neighbours.len())
            .filter(|&interface| self.valid(now, interface, exit))
            .collect();
        if let Some(&direct) = valid.iter().find(|&&i| self.neighbours[i].node == exit) {
            return Some(direct);
        }
        let distance = |interface: usize| far[self.neighbours[interface].node.index()];
        // A neighbour at the same distance counts as closer, except in the rule for sparse
        // networks.
        let strict = self.penalty == PenaltyRule::Sparse;
        let is_closer =
            |interface: usize| distance(interface) < own || !strict && distance(interface) == own;
        let closer: Vec<usize> = valid.iter().copied().filter(|&i| is_closer(i)).collect();
        let from_is_closer = closer.iter().any(|&i| self.neighbours[i].node == from);
        let mut v = self.v(&valid);
        if self.config.ttl_rule {
            v = raised(v, f64::from(self.config.queue_limit_pkts), ttl);
        }
        let queue = f64::from(self.queue.waiting_pkts());
        let penalty = |interface: usize| {
            let neighbour = &self.neighbours[interface];
            let is_closer = closer.contains(&interface);
            match self.penalty {
                PenaltyRule::Plain if is_closer => -1.0,
                PenaltyRule::Plain => 1.0,
                PenaltyRule::Shadow if is_closer => {
                    let reported = neighbour.virtual_pkts.get(&exit.0).copied();
                    f64::from(reported.unwrap_or(0)) - 1.0
                }
                PenaltyRule::Shadow if closer.is_empty() => -f64::from(VIRTUAL_BACKLOG_PKTS),
                PenaltyRule::Shadow => 0.0,
                PenaltyRule::Sparse => {
                    let came_from = neighbour.node == from;
                    Penalty::of(is_closer, came_from, closer.len(), from_is_closer).value()
                }
            }
        };
        let mut tied = std::mem::take(&mut self.tied);
        tied.clear();
        let mut most = 0.0;
        for &interface in &valid {
            let backlog = queue - f64::from(self.neighbour_queue(interface));
            let weight = (backlog - v * penalty(interface)) * self.neighbours[interface].rate_bps;
            if weight > most {
                most = weight;
                tied.clear();
            }
            if weight == most && weight > 0.0 {
                tied.push(interface);
            }
        }
        if self.penalty == PenaltyRule::Shadow {
            if closer.is_empty() && !valid.is_empty() {
                self.dead_ends.insert(exit);
            } else {
                self.dead_ends.remove(&exit);
            }
        }
        let choice = match tied.len() {
            0 => None,
            1 => Some(tied[0]),
            several => Some(tied[self.ties.uniform_below(several as u64) as usize]),
        };
        self.tied = tied;
        choice
    }

    fn publish(&self) {
        if self.config.queue_info == QueueInfo::Oracle {
            let length = self.queue.waiting_pkts();
            self.shared.set_queue_pkts(self.node, 0, length);
        }
    }

    /// Sends from the head until it has no next hop or its device is full. Packets behind it wait
    /// with it.
    fn serve(&mut self, context: &mut Context<'_>) {
        let room = self.config.device_queue_pkts as usize;
        while let Some(head) = self.queue.front() {
            let Some(interface) = self.best(context, head.id) else {
                return;
            };
            if context.device_backlog_pkts(interface) >= room {
                context.notify_when_below(interface, room);
                return;
            }
            self.queue.pop_front(context.now(), context.packet(head.id));
            self.publish();
            context.transmit(interface, head.id);
        }
    }
}

impl Router for SingleQueue {
    fn start(&mut self, context: &mut Context<'_>) {
        self.neighbours = context
            .interfaces()
            .iter()
            .map(|interface| Neighbour {
                node: interface.peer,
                rate_bps: interface.rate.as_bps() as f64,
                valid_until: None,
                transit: !self.shared.no_transit[interface.peer.index()],
                queue: Reported::default(),
                virtual_pkts: BTreeMap::new(),
            })
            .collect();
        self.signals.start(context);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        if self
            .shared
            .distances
            .column(context.packet(id).exit)
            .is_none()
        {
            context.drop(id, DropCause::NoRoute);
            return;
        }
        if self.queue.waiting_pkts() >= self.config.queue_limit_pkts {
            self.queue.count_drop();
            context.drop(id, DropCause::Queue);
            return;
        }
        context.packet_mut(id).queued_at = context.now();
        let mark = Mark::Free;
        self.queue
            .push_back(Waiting { id, mark }, context.packet(id));
        self.publish();
        self.serve(context);
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
        let valid_until = self.signals.valid_until(context.now());
        let neighbour = &mut self.neighbours[interface];
        neighbour.valid_until = Some(valid_until);
        let pkts = hello.queues_pkts.first().copied().flatten().unwrap_or(0);
        neighbour.queue.update(u32::from(pkts));
        neighbour.virtual_pkts = hello.by_destination.into_iter().collect();
        self.serve(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, _token: u32) {
        let own = self.queue.waiting_pkts();
        self.reported.update(own);
        let hello = Hello {
            originator: self.node.0,
            sequence: self.signals.next_sequence(),
            queues_pkts: vec![Some(own.min(u32::from(u16::MAX) - 1) as u16)],
            by_destination: self
                .dead_ends
                .iter()
                .map(|exit| (exit.0, VIRTUAL_BACKLOG_PKTS))
                .collect(),
        }
        .encode();
        context.broadcast(HELLO_TTL, &hello);
        self.signals.rearm(context);
        self.serve(context);
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, _interface: usize) {
        self.serve(context);
    }

    fn shared_queue(&self) -> Option<RouterQueue> {
        Some(self.queue.counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v_is_the_free_space_of_the_fullest_queue_and_never_negative() {
        assert_eq!(variable_v(200, 0.0), 200.0);
        assert_eq!(variable_v(200, 150.0), 50.0);
        assert_eq!(variable_v(200, 260.0), 0.0);
        assert_eq!(variable_v(200, -30.0), 200.0);
    }

    #[test]
    fn a_queue_is_taken_to_grow_as_it_did_between_two_hellos() {
        let mut reported = Reported::default();
        reported.update(40);
        reported.update(100);
        assert_eq!(reported.anticipated(), 160.0);
        reported.update(100);
        assert_eq!(reported.anticipated(), 100.0);
    }
}
