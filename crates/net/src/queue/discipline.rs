//! The trait of a queue that decides at dequeue time.

use backlane_units::SimTime;

use crate::packet::{PacketId, PacketStore};

/// A queue that decides at dequeue time.
pub trait QueueDiscipline: Send {
    /// Adds a packet, whose `queued_at` is already `now`. A dropped packet, this one or another,
    /// goes to `dropped`; it is still in `packets`, and the caller frees it.
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    );

    /// Removes the packet to send next. `None` only if the queue is empty.
    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId>;

    /// Removes the packets of which `wanted` is true, in their order, and adds them to `taken`. A
    /// discipline that cannot keeps them.
    fn withdraw(
        &mut self,
        _packets: &PacketStore,
        _wanted: &dyn Fn(PacketId) -> bool,
        _taken: &mut Vec<PacketId>,
    ) {
    }

    /// Packets marked so far.
    fn marks(&self) -> u64 {
        0
    }

    /// Bytes that wait.
    fn backlog_bytes(&self) -> u64;

    /// Packets that wait.
    fn backlog_pkts(&self) -> usize;
}
