//! Drop-tail as a discipline that decides at dequeue time.
//!
//! Links have a fast path for plain drop-tail; this one is the FIFO inside CoDel.

use std::collections::VecDeque;

use backlane_units::SimTime;

use super::QueueDiscipline;
use crate::packet::{PacketId, PacketStore};

/// First in, first out, limited in bytes and in packets.
#[derive(Debug)]
pub struct DropTail {
    waiting: VecDeque<PacketId>,
    backlog_bytes: u64,
    limit_bytes: u64,
    limit_pkts: u32,
}

impl DropTail {
    /// Removes the oldest packet.
    pub(super) fn take(&mut self, packets: &PacketStore) -> Option<PacketId> {
        let id = self.waiting.pop_front()?;
        self.backlog_bytes -= u64::from(packets[id].size_bytes);
        Some(id)
    }

    /// An empty queue with the given limits, see [`super::QueueLimit::resolve`].
    pub fn new((limit_bytes, limit_pkts): (u64, u32)) -> Self {
        Self {
            waiting: VecDeque::new(),
            backlog_bytes: 0,
            limit_bytes,
            limit_pkts,
        }
    }
}

impl QueueDiscipline for DropTail {
    fn enqueue(
        &mut self,
        _now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let size = u64::from(packets[id].size_bytes);
        if self.backlog_bytes + size > self.limit_bytes
            || self.waiting.len() >= self.limit_pkts as usize
        {
            dropped.push(id);
            return;
        }
        self.backlog_bytes += size;
        self.waiting.push_back(id);
    }

    fn dequeue(
        &mut self,
        _now: SimTime,
        packets: &mut PacketStore,
        _dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        self.take(packets)
    }

    fn withdraw(
        &mut self,
        packets: &PacketStore,
        wanted: &dyn Fn(PacketId) -> bool,
        taken: &mut Vec<PacketId>,
    ) {
        let bytes = &mut self.backlog_bytes;
        self.waiting.retain(|&id| {
            let goes = wanted(id);
            if goes {
                *bytes -= u64::from(packets[id].size_bytes);
                taken.push(id);
            }
            !goes
        });
    }

    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn backlog_pkts(&self) -> usize {
        self.waiting.len()
    }
}
