//! Drop-tail that marks arriving packets above a threshold.
//!
//! Wires apply [`Marking`] in their fast path; [`MarkingTail`] is the same queue as a discipline
//! that decides at dequeue time, for other transmitters.

use backlane_units::SimTime;

use super::{DropTail, QueueDiscipline};
use crate::packet::{Packet, PacketId, PacketStore};

/// The threshold of a FIFO above which it marks arriving packets.
pub(crate) struct Marking {
    above_bytes: u64,
    above_pkts: u32,
    marks: u64,
}

impl Marking {
    pub(crate) fn new((above_bytes, above_pkts): (u64, u32)) -> Self {
        Self {
            above_bytes,
            above_pkts,
            marks: 0,
        }
    }

    pub(crate) fn marks(&self) -> u64 {
        self.marks
    }

    /// A packet arrives at a queue with this backlog, which does not include it.
    #[inline]
    pub(crate) fn on_arrival(&mut self, backlog_bytes: u64, waiting: usize, packet: &mut Packet) {
        if backlog_bytes > self.above_bytes || waiting > self.above_pkts as usize {
            self.marks += u64::from(packet.mark());
        }
    }
}

pub(super) struct MarkingTail {
    tail: DropTail,
    marking: Marking,
}

impl MarkingTail {
    /// Limit and threshold are in bytes and in packets.
    pub(super) fn new(limit: (u64, u32), threshold: (u64, u32)) -> Self {
        Self {
            tail: DropTail::new(limit),
            marking: Marking::new(threshold),
        }
    }
}

impl QueueDiscipline for MarkingTail {
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let (bytes, waiting) = (self.tail.backlog_bytes(), self.tail.backlog_pkts());
        self.tail.enqueue(now, id, packets, dropped);
        if self.tail.backlog_pkts() > waiting {
            self.marking.on_arrival(bytes, waiting, &mut packets[id]);
        }
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        self.tail.dequeue(now, packets, dropped)
    }

    fn withdraw(
        &mut self,
        packets: &PacketStore,
        wanted: &dyn Fn(PacketId) -> bool,
        taken: &mut Vec<PacketId>,
    ) {
        self.tail.withdraw(packets, wanted, taken);
    }

    fn marks(&self) -> u64 {
        self.marking.marks()
    }

    fn backlog_bytes(&self) -> u64 {
        self.tail.backlog_bytes()
    }

    fn backlog_pkts(&self) -> usize {
        self.tail.backlog_pkts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::packet::tests_support::packet;

    #[test]
    fn packets_above_the_threshold_are_marked_and_those_that_do_not_fit_are_dropped() {
        let mut packets = PacketStore::default();
        let mut queue = MarkingTail::new((u64::MAX, 4), (u64::MAX, 1));
        let mut dropped = Vec::new();
        let ids = [(); 5].map(|()| {
            let id = packets.insert(packet(1000));
            packets[id].ecn = Ecn::Capable;
            queue.enqueue(SimTime::ZERO, id, &mut packets, &mut dropped);
            id
        });
        let marked = ids.map(|id| packets[id].ecn == Ecn::Marked);
        // Two waiting packets exceed the threshold; the fifth packet does not fit.
        assert_eq!(marked, [false, false, true, true, false]);
        assert_eq!((queue.marks(), dropped), (2, vec![ids[4]]));
    }
}
