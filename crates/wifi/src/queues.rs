//! The queues of a radio.

use backlane_net::{FlowId, PacketId, PacketStore, QueueDiscipline};
use backlane_units::SimTime;

/// One queue for all, or one for routing messages that is served before the other.
pub(crate) struct Queues {
    messages: Option<Box<dyn QueueDiscipline>>,
    packets: Box<dyn QueueDiscipline>,
    waiting: usize,
}

impl Queues {
    pub(crate) fn new(
        messages: Option<Box<dyn QueueDiscipline>>,
        packets: Box<dyn QueueDiscipline>,
    ) -> Self {
        Self {
            messages,
            packets,
            waiting: 0,
        }
    }

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
        self.count();
    }

    pub(crate) fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        let messages = self.messages.as_mut();
        let next = messages
            .and_then(|messages| messages.dequeue(now, packets, dropped))
            .or_else(|| self.packets.dequeue(now, packets, dropped));
        self.count();
        next
    }

    /// Takes the packets of which `wanted` is true out of both queues.
    pub(crate) fn withdraw(
        &mut self,
        packets: &PacketStore,
        wanted: &dyn Fn(PacketId) -> bool,
        taken: &mut Vec<PacketId>,
    ) {
        if let Some(messages) = &mut self.messages {
            messages.withdraw(packets, wanted, taken);
        }
        self.packets.withdraw(packets, wanted, taken);
        self.count();
    }

    /// Kept, since it is read more often than it changes.
    fn count(&mut self) {
        let messages = self.messages.as_ref().map_or(0, |q| q.backlog_pkts());
        self.waiting = messages + self.packets.backlog_pkts();
    }

    #[inline]
    pub(crate) fn backlog_pkts(&self) -> usize {
        self.waiting
    }
}
