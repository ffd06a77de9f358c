//! Classical backpressure: a queue for each destination, and on each link the destination of the
//! largest backlog differential (Tassiulas and Ephremides 1992).

use std::sync::Arc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, DropCause, NodeId, PacketId, Router, RouterQueue};
use backlane_param::params;
use backlane_param::ranges::{INTERVAL, MESSAGE_INTERVAL};
use backlane_units::{Duration, SimTime};

use super::queue::{InterfaceQueue, Mark, Waiting};
use super::shared::Shared;
use super::signals::{HELLO, HELLO_TTL, Signals};
use super::{Hello, QueueInfo};

const SLOT: u32 = 1;

params! {
    /// Classical backpressure: a queue for each destination, and no penalty for distance.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ClassicConfig {
        /// Limit of each queue; the theory has none. As many as BP-MR has on an interface, so that
        /// decisions are compared and not memory.
        queue_limit_pkts: u32 = 340, in 1..=1_000_000;
        /// How a node knows its neighbours' backlogs: exactly, as the theory has it, or from their
        /// last HELLO.
        queue_info: QueueInfo = QueueInfo::Oracle;
        /// Time between HELLO messages (the BP-MR paper's runs: 100 ms).
        hello_interval: Duration = Duration::from_millis(100), in MESSAGE_INTERVAL;
        /// A node whose packets have nowhere to go looks again after so long: some packets at the
        /// rates of a mesh.
        slot: Duration = Duration::from_millis(1), in INTERVAL;
        /// Packets handed to the device ahead of the link (the BP-MR paper's runs: 2).
        device_queue_pkts: u32 = 2, in 1..=1000;
    }
}

struct Neighbour {
    node: NodeId,
    rate_bps: f64,
    valid_until: Option<SimTime>,
    transit: bool,
    /// Backlogs as last reported, by column of the destination.
    backlogs_pkts: Vec<u32>,
}

/// Classical backpressure on one node.
pub struct Classic {
    node: NodeId,
    config: ClassicConfig,
    shared: Arc<Shared>,
    ties: Stream,
    signals: Signals,
    slot_timer: Option<TimerId>,
    /// By column of the destination.
    queues: Vec<InterfaceQueue>,
    backlog_bytes: u64,
    max_bytes: u64,
    neighbours: Vec<Neighbour>,
    tied: Vec<(usize, usize)>,
}

/// W = max(0, Uᵢ − Uⱼ): the backlog differential; the destination's own backlog is zero.
fn differential(own_pkts: u32, neighbour_pkts: u32) -> u32 {
    own_pkts.saturating_sub(neighbour_pkts)
}

impl Classic {
    /// The router of `node`. `ties` breaks ties, `jitter` spreads HELLOs.
    pub fn new(
        node: NodeId,
        config: ClassicConfig,
        shared: Arc<Shared>,
        ties: Stream,
        jitter: Stream,
    ) -> Self {
        let destinations = shared.destinations();
        Self {
            node,
            config,
            shared,
            ties,
            signals: Signals::new(config.hello_interval, jitter),
            slot_timer: None,
            queues: (0..destinations)
                .map(|_| InterfaceQueue::default())
                .collect(),
            backlog_bytes: 0,
            max_bytes: 0,
            neighbours: Vec::new(),
            tied: Vec::new(),
        }
    }

    /// The backlog of a neighbour for a destination that is not the neighbour itself.
    fn neighbour_backlog(&self, interface: usize, column: usize) -> u32 {
        let neighbour = &self.neighbours[interface];
        match self.config.queue_info {
            QueueInfo::Hello => neighbour.backlogs_pkts[column],
            QueueInfo::Oracle => self.shared.queue_pkts(neighbour.node, column),
        }
    }

    /// The pair of largest weight, over the interfaces in `among` with room and all destinations.
    fn best(
        &mut self,
        context: &mut Context<'_>,
        among: std::ops::Range<usize>,
    ) -> Option<(usize, usize)> {
        let now = context.now();
        let mut tied = std::mem::take(&mut self.tied);
        tied.clear();
        let mut most = 0.0;
        for interface in among {
            let room = self.config.device_queue_pkts as usize;
            let neighbour = &self.neighbours[interface];
            if neighbour.valid_until.is_none_or(|until| now > until)
                || context.device_backlog_pkts(interface) >= room
            {
                continue;
            }
            for (column, &exit) in self.shared.distances.exits().iter().enumerate() {
                let own = self.queues[column].waiting_pkts();
                let at_exit = neighbour.node == exit;
                if own == 0 || !(neighbour.transit || at_exit) {
                    continue;
                }
                let theirs = if at_exit {
                    0
                } else {
                    self.neighbour_backlog(interface, column)
                };
                let weight = f64::from(differential(own, theirs)) * neighbour.rate_bps;
                if weight > most {
                    most = weight;
                    tied.clear();
                }
                if weight == most && weight > 0.0 {
                    tied.push((interface, column));
                }
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

    fn publish(&self, column: usize) {
        if self.config.queue_info == QueueInfo::Oracle {
            let backlog = self.queues[column].waiting_pkts();
            self.shared.set_queue_pkts(self.node, column, backlog);
        }
    }

    /// Sends on these interfaces until they are full or no differential is positive.
    fn serve(&mut self, context: &mut Context<'_>, among: std::ops::Range<usize>) {
        while let Some((interface, column)) = self.best(context, among.clone()) {
            let Some(head) = self.queues[column].front() else {
                return;
            };
            let packet = context.packet(head.id);
            self.backlog_bytes -= u64::from(packet.size_bytes);
            self.queues[column].pop_front(context.now(), packet);
            self.publish(column);
            context.transmit(interface, head.id);
            let room = self.config.device_queue_pkts as usize;
            if context.device_backlog_pkts(interface) >= room {
                context.notify_when_below(interface, room);
            }
        }
        if self.backlog_bytes > 0
            && let Some(timer) = self.slot_timer
        {
            context.set_timer(timer, context.now().saturating_add(self.config.slot));
        }
    }

    fn serve_all(&mut self, context: &mut Context<'_>) {
        self.serve(context, 0..self.neighbours.len());
    }
}

impl Router for Classic {
    fn start(&mut self, context: &mut Context<'_>) {
        let destinations = self.shared.destinations();
        self.neighbours = context
            .interfaces()
            .iter()
            .map(|interface| Neighbour {
                node: interface.peer,
                rate_bps: interface.rate.as_bps() as f64,
                valid_until: None,
                transit: !self.shared.no_transit[interface.peer.index()],
                backlogs_pkts: vec![0; destinations],
            })
            .collect();
        self.signals.start(context);
        self.slot_timer = Some(context.timer(SLOT));
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let Some(column) = self.shared.distances.column(context.packet(id).exit) else {
            context.drop(id, DropCause::NoRoute);
            return;
        };
        let queue = &mut self.queues[column];
        if queue.waiting_pkts() >= self.config.queue_limit_pkts {
            queue.count_drop();
            context.drop(id, DropCause::Queue);
            return;
        }
        context.packet_mut(id).queued_at = context.now();
        let packet = context.packet(id);
        let mark = Mark::Free;
        queue.push_back(Waiting { id, mark }, packet);
        self.backlog_bytes += u64::from(packet.size_bytes);
        self.max_bytes = self.max_bytes.max(self.backlog_bytes);
        self.publish(column);
        self.serve_all(context);
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
        neighbour.backlogs_pkts.fill(0);
        for (exit, pkts) in hello.by_destination {
            if let Some(column) = self.shared.distances.column(NodeId(exit)) {
                neighbour.backlogs_pkts[column] = u32::from(pkts);
            }
        }
        self.serve_all(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        if token == HELLO {
            let exits = self.shared.distances.exits();
            let hello = Hello {
                originator: self.node.0,
                sequence: self.signals.next_sequence(),
                queues_pkts: Vec::new(),
                by_destination: exits
                    .iter()
                    .zip(&self.queues)
                    .filter(|(_, queue)| queue.front().is_some())
                    .map(|(exit, queue)| {
                        let pkts = queue.waiting_pkts().min(u32::from(u16::MAX));
                        (exit.0, pkts as u16)
                    })
                    .collect(),
            }
            .encode();
            context.broadcast(HELLO_TTL, &hello);
            self.signals.rearm(context);
        }
        self.serve_all(context);
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, interface: usize) {
        self.serve(context, interface..interface + 1);
    }

    fn shared_queue(&self) -> Option<RouterQueue> {
        let mut all = RouterQueue {
            max_bytes: self.max_bytes,
            ..RouterQueue::default()
        };
        for queue in self.queues.iter().map(InterfaceQueue::counters) {
            all.backlog_bytes += queue.backlog_bytes;
            all.backlog_pkts += queue.backlog_pkts;
            all.area += queue.area;
            all.drops += queue.drops;
        }
        Some(all)
    }
}
