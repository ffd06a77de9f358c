//! Routing messages before all other packets.
//!
//! Routing daemons ask for it: BIRD and FRR set the priority 7 and the class CS6 on their sockets, babeld
//! the class. Linux's pfifo_fast has three bands, each first in, first out and with room for the whole
//! limit, and serves a band only while those before it are empty (`prio2band`: 6 and 7 are in the first
//! band, ordinary packets in the second).

use backlane_units::SimTime;

use super::discipline::QueueDiscipline;
use super::drop_tail::DropTail;
use crate::packet::{FlowId, PacketId, PacketStore};

/// A queue for routing messages, and another one that is served while the first is empty.
pub struct RoutingFirst {
    messages: DropTail,
    packets: Box<dyn QueueDiscipline>,
}

impl RoutingFirst {
    /// Messages wait up to these limits, see [`super::QueueLimit::resolve`]; other packets wait in
    /// `packets`.
    pub fn new(limits: (u64, u32), packets: Box<dyn QueueDiscipline>) -> Self {
        Self {
            messages: DropTail::new(limits),
            packets,
        }
    }
}

impl QueueDiscipline for RoutingFirst {
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        if packets[id].flow == FlowId::NONE {
            self.messages.enqueue(now, id, packets, dropped);
        } else {
            self.packets.enqueue(now, id, packets, dropped);
        }
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        let message = self.messages.dequeue(now, packets, dropped);
        message.or_else(|| self.packets.dequeue(now, packets, dropped))
    }

    fn withdraw(
        &mut self,
        packets: &PacketStore,
        wanted: &dyn Fn(PacketId) -> bool,
        taken: &mut Vec<PacketId>,
    ) {
        self.messages.withdraw(packets, wanted, taken);
        self.packets.withdraw(packets, wanted, taken);
    }

    fn marks(&self) -> u64 {
        self.packets.marks()
    }

    fn backlog_bytes(&self) -> u64 {
        self.messages.backlog_bytes() + self.packets.backlog_bytes()
    }

    fn backlog_pkts(&self) -> usize {
        self.messages.backlog_pkts() + self.packets.backlog_pkts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{NodeId, Packet};

    fn add(packets: &mut PacketStore, flow: FlowId, size: u32) -> PacketId {
        packets.insert(Packet::new(flow, NodeId(0), NodeId(1), size))
    }

    /// Linux's pfifo_fast with its default prio2band: 7 before 0, and each band has the whole limit.
    #[test]
    fn messages_leave_first_and_have_room_of_their_own() {
        let mut packets = PacketStore::default();
        let mut queue = RoutingFirst::new((u64::MAX, 3), Box::new(DropTail::new((u64::MAX, 3))));
        let mut dropped = Vec::new();
        let now = SimTime::ZERO;
        let kinds = [FlowId(0), FlowId(0), FlowId::NONE, FlowId(0), FlowId(0)];
        let mut ids: Vec<_> = kinds.map(|flow| add(&mut packets, flow, 1000)).into();
        for _ in 0..3 {
            ids.push(add(&mut packets, FlowId::NONE, 100));
        }
        for &id in &ids {
            queue.enqueue(now, id, &mut packets, &mut dropped);
        }
        // The fourth of each kind finds three that wait.
        assert_eq!(dropped, [ids[4], ids[7]]);
        assert_eq!((queue.backlog_pkts(), queue.backlog_bytes()), (6, 4200));
        let mut left = Vec::new();
        while let Some(id) = queue.dequeue(now, &mut packets, &mut dropped) {
            left.push(id);
        }
        assert_eq!(left, [ids[2], ids[5], ids[6], ids[0], ids[1], ids[3]]);
        assert_eq!((dropped.len(), queue.backlog_bytes()), (2, 0));
    }

    #[test]
    fn packets_are_withdrawn_from_both_queues() {
        let mut packets = PacketStore::default();
        let mut queue = RoutingFirst::new((u64::MAX, 9), Box::new(DropTail::new((u64::MAX, 9))));
        let (mut dropped, mut taken) = (Vec::new(), Vec::new());
        let kinds = [FlowId(0), FlowId::NONE, FlowId(1), FlowId::NONE];
        let ids = kinds.map(|flow| add(&mut packets, flow, 1000));
        for id in ids {
            queue.enqueue(SimTime::ZERO, id, &mut packets, &mut dropped);
        }
        queue.withdraw(&packets, &|id| id == ids[0] || id == ids[3], &mut taken);
        assert_eq!(taken, [ids[3], ids[0]]);
        assert_eq!(queue.backlog_pkts(), 2);
    }
}
