//! The packets in a node that wait for a route.

use std::collections::VecDeque;

use backlane_net::{Context, DropCause, NodeId, PacketId, RouterQueue};
use backlane_units::SimTime;

/// First in, first out per destination (RFC 3561 §6.3), with one limit for all destinations.
#[derive(Debug)]
pub(super) struct Buffer {
    waiting: VecDeque<(NodeId, PacketId)>,
    limit_pkts: usize,
    counters: RouterQueue,
}

impl Buffer {
    pub fn new(limit_pkts: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            limit_pkts,
            counters: RouterQueue::default(),
        }
    }

    pub fn counters(&self) -> RouterQueue {
        self.counters
    }

    /// Keeps a packet. When the buffer is full, the oldest packet is dropped.
    pub fn push(&mut self, context: &mut Context<'_>, destination: NodeId, id: PacketId) {
        if self.waiting.len() >= self.limit_pkts {
            match self.waiting.pop_front() {
                Some((_, oldest)) => {
                    self.left(context, oldest);
                    self.counters.drops += 1;
                    context.drop(oldest, DropCause::Queue);
                }
                None => {
                    self.counters.drops += 1;
                    context.drop(id, DropCause::Queue);
                    return;
                }
            }
        }
        let now = context.now();
        let packet = context.packet_mut(id);
        packet.queued_at = now;
        self.counters.backlog_pkts += 1;
        self.counters.backlog_bytes += u64::from(packet.size_bytes);
        self.counters.max_bytes = self.counters.max_bytes.max(self.counters.backlog_bytes);
        self.waiting.push_back((destination, id));
    }

    /// Whether a packet waits for a route to a node.
    pub fn waits_for(&self, destination: NodeId) -> bool {
        self.waiting.iter().any(|(node, _)| *node == destination)
    }

    /// Takes all packets that wait for a route to a node, in order.
    pub fn take(&mut self, context: &Context<'_>, destination: NodeId) -> Vec<PacketId> {
        let mut taken = Vec::new();
        self.waiting.retain(|&(node, id)| {
            if node == destination {
                taken.push(id);
            }
            node != destination
        });
        for &id in &taken {
            self.left(context, id);
        }
        taken
    }

    /// Drops all packets that wait for a route to a node, since none was found.
    pub fn drop_all(&mut self, context: &mut Context<'_>, destination: NodeId) {
        for id in self.take(context, destination) {
            self.counters.drops += 1;
            context.drop(id, DropCause::NoRoute);
        }
    }

    fn left(&mut self, context: &Context<'_>, id: PacketId) {
        let packet = context.packet(id);
        let bytes = u64::from(packet.size_bytes);
        let waited: SimTime = context.now();
        let waited = waited.saturating_since(packet.queued_at).as_ps();
        self.counters.backlog_pkts -= 1;
        self.counters.backlog_bytes -= bytes;
        self.counters.area += u128::from(bytes) * u128::from(waited);
    }
}
