//! The FIFO of backpressure: BP-MR keeps one before each interface, BP and BS one on a node,
//! classical backpressure one for each destination.

use std::collections::VecDeque;

use backlane_net::{Packet, PacketId, RouterQueue};
use backlane_units::SimTime;

use super::FULL_PACKET_BYTES;

/// Whether a packet may leave by any interface.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The packet may leave by any interface.
    Free,
    /// The packet leaves by the interface whose queue holds it, regardless of the weight: its flow
    /// decided so, or it was moved or spilled there. A packet moves at most once per node.
    Bound,
}

/// A packet in a queue.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) id: PacketId,
    pub(super) mark: Mark,
}

/// A length in full packets, rounded down.
#[inline]
pub(super) fn full_pkts(bytes: u64) -> u32 {
    (bytes / FULL_PACKET_BYTES) as u32
}

/// A FIFO of packets; its limit is kept by the router.
#[derive(Default)]
pub(super) struct InterfaceQueue {
    waiting: VecDeque<Waiting>,
    /// Whether it has exceeded three quarters of the limit and not yet fallen below half.
    pub(super) spilling: bool,
    /// When congestion last moved a flow away.
    pub(super) relieved_at: Option<SimTime>,
    counters: RouterQueue,
}

impl InterfaceQueue {
    /// Its length in full packets, rounded down.
    #[inline]
    pub(super) fn length_pkts(&self) -> u32 {
        full_pkts(self.counters.backlog_bytes)
    }

    /// Packets in it, of any size.
    #[inline]
    pub(super) fn waiting_pkts(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Its current and cumulative contents.
    pub(super) fn counters(&self) -> RouterQueue {
        self.counters
    }

    /// The next packet to leave.
    #[inline]
    pub(super) fn front(&self) -> Option<Waiting> {
        self.waiting.front().copied()
    }

    #[inline]
    pub(super) fn push_back(&mut self, waiting: Waiting, packet: &Packet) {
        self.waiting.push_back(waiting);
        self.count_in(packet);
    }

    #[inline]
    pub(super) fn push_front(&mut self, waiting: Waiting, packet: &Packet) {
        self.waiting.push_front(waiting);
        self.count_in(packet);
    }

    /// Takes the front out; `packet` is the front's packet.
    #[inline]
    pub(super) fn pop_front(&mut self, now: SimTime, packet: &Packet) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        self.count_out(now, packet);
        Some(waiting)
    }

    /// The last packet.
    pub(super) fn back(&self) -> Option<Waiting> {
        self.waiting.back().copied()
    }

    /// Removes the last packet; `packet` is that packet.
    pub(super) fn drop_back(&mut self, now: SimTime, packet: &Packet) {
        if self.waiting.pop_back().is_some() {
            self.count_out(now, packet);
            self.count_drop();
        }
    }

    /// Counts a rejected packet.
    pub(super) fn count_drop(&mut self) {
        self.counters.drops += 1;
    }

    /// Counts a packet that enters the empty queue and leaves it at the same time.
    #[inline]
    pub(super) fn count_passage(&mut self, packet: &Packet) {
        let counters = &mut self.counters;
        counters.max_bytes = counters.max_bytes.max(u64::from(packet.size_bytes));
    }

    #[inline]
    fn count_in(&mut self, packet: &Packet) {
        let counters = &mut self.counters;
        counters.backlog_pkts += 1;
        counters.backlog_bytes += u64::from(packet.size_bytes);
        counters.max_bytes = counters.max_bytes.max(counters.backlog_bytes);
    }

    #[inline]
    fn count_out(&mut self, now: SimTime, packet: &Packet) {
        let counters = &mut self.counters;
        let size = packet.size_bytes;
        counters.backlog_pkts -= 1;
        counters.backlog_bytes -= u64::from(size);
        counters.area += u128::from(size) * u128::from((now - packet.queued_at).as_ps());
    }
}
