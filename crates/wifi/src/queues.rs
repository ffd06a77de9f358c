//! What waits before a radio.

use backlane_net::{FlowId, PacketId, PacketStore, QueueDiscipline};
use backlane_units::SimTime;

/// One queue for all, or one for routing messages that is served before the other.
pub(crate) struct Queues {
    pub(crate) messages: Option<Box<dyn QueueDiscipline>>,
    pub(crate) packets: Box<dyn QueueDiscipline>,
}

impl Queues {
    pub(crate) fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let queue = match &mut self.messages {
            Some(messages) if packets[id].flow == FlowId::NONE => messages,
            _ => &mut self.packets,
        };
        queue.enqueue(now, id, packets, dropped);
    }

    pub(crate) fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        if let Some(messages) = &mut self.messages
            && let Some(id) = messages.dequeue(now, packets, dropped)
        {
            return Some(id);
        }
        self.packets.dequeue(now, packets, dropped)
    }

    pub(crate) fn backlog_pkts(&self) -> usize {
        let messages = self.messages.as_ref().map_or(0, |q| q.backlog_pkts());
        messages + self.packets.backlog_pkts()
    }
}
