//! FQ-CoDel: flow queues served by deficit round robin, each under CoDel (RFC 8290).
//!
//! A flow queue is chosen by a fixed hash of the flow's key into `flows` buckets, as RFC 8290
//! §4.1.1 hashes the five-tuple; two flows can share a bucket, as they do there.

use std::collections::VecDeque;

use backlane_param::params;
use backlane_units::{Bytes, SimTime};

use super::QueueDiscipline;
use super::codel::{CoDelConfig, CoDelLaw, CoDelQueue};
use crate::packet::{PacketId, PacketStore};

params! {
    /// Controlled delay per flow (RFC 8290).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FqCoDelConfig {
        /// CoDel on each flow queue. It marks by default, as in Linux.
        codel: CoDelConfig = CoDelConfig { ecn: true, ..CoDelConfig::default() };
        /// Bytes a flow may send per round: one full packet, without the 14 bytes of Ethernet that
        /// RFC 8290 §5.2.3 adds.
        quantum: Bytes = Bytes::new(1500), in Bytes::new(1)..=Bytes::new(1_000_000);
        /// Hash buckets (RFC 8290 §5.2.2).
        flows: u32 = 1024, in 1..=65_536;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Idle,
    New,
    Old,
}

struct FlowQueue {
    waiting: VecDeque<PacketId>,
    backlog_bytes: u64,
    deficit_bytes: i64,
    list: List,
    codel: CoDelLaw,
}

/// The FIFO of a flow queue, and what CoDel took from it.
struct FlowFifo<'a> {
    waiting: &'a mut VecDeque<PacketId>,
    backlog_bytes: &'a mut u64,
    packets: &'a mut PacketStore,
    dropped: &'a mut Vec<PacketId>,
    taken_bytes: u64,
    taken_pkts: usize,
}

impl CoDelQueue for FlowFifo<'_> {
    type Packet = PacketId;

    fn take(&mut self) -> Option<(PacketId, SimTime, u64)> {
        let id = self.waiting.pop_front()?;
        let packet = &self.packets[id];
        *self.backlog_bytes -= u64::from(packet.size_bytes);
        self.taken_bytes += u64::from(packet.size_bytes);
        self.taken_pkts += 1;
        Some((id, packet.queued_at, *self.backlog_bytes))
    }

    fn mark(&mut self, id: PacketId) -> bool {
        self.packets[id].mark()
    }

    fn drop(&mut self, id: PacketId) {
        self.dropped.push(id);
    }
}

/// FQ-CoDel.
pub struct FqCoDel {
    config: FqCoDelConfig,
    limit_bytes: u64,
    limit_pkts: u32,
    /// Allocated when first used: most links see few flows.
    queues: Vec<Option<Box<FlowQueue>>>,
    new_flows: VecDeque<u32>,
    old_flows: VecDeque<u32>,
    backlog_bytes: u64,
    backlog_pkts: usize,
}

impl FqCoDel {
    /// An empty queue with the given limits over all flows.
    pub fn new(config: FqCoDelConfig, (limit_bytes, limit_pkts): (u64, u32)) -> Self {
        let queues = (0..config.flows.max(1)).map(|_| None).collect();
        Self {
            config,
            limit_bytes,
            limit_pkts,
            queues,
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            backlog_bytes: 0,
            backlog_pkts: 0,
        }
    }

    fn bucket(&self, key: u64) -> u32 {
        // Fibonacci hashing: the upper bits of a product with 2⁶⁴/φ.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((hash * self.queues.len() as u64) >> 32) as u32
    }

    /// RFC 8290 §4.1.3: over the limit, drop from the head of the longest queue.
    fn drop_from_the_fattest(&mut self, packets: &PacketStore, dropped: &mut Vec<PacketId>) {
        let fattest = self
            .queues
            .iter_mut()
            .flatten()
            .rev()
            .max_by_key(|queue| queue.backlog_bytes);
        if let Some(queue) = fattest
            && let Some(id) = queue.waiting.pop_front()
        {
            let size = u64::from(packets[id].size_bytes);
            queue.backlog_bytes -= size;
            self.backlog_bytes -= size;
            self.backlog_pkts -= 1;
            dropped.push(id);
        }
    }
}

impl QueueDiscipline for FqCoDel {
    fn enqueue(
        &mut self,
        _now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let bucket = self.bucket(packets[id].flow_key());
        let size = u64::from(packets[id].size_bytes);
        let config = self.config;
        let queue = self.queues[bucket as usize].get_or_insert_with(|| {
            Box::new(FlowQueue {
                waiting: VecDeque::new(),
                backlog_bytes: 0,
                deficit_bytes: 0,
                list: List::Idle,
                codel: CoDelLaw::new(config.codel),
            })
        });
        queue.waiting.push_back(id);
        queue.backlog_bytes += size;
        if queue.list == List::Idle {
            queue.list = List::New;
            queue.deficit_bytes = config.quantum.get() as i64;
            self.new_flows.push_back(bucket);
        }
        self.backlog_bytes += size;
        self.backlog_pkts += 1;
        while self.backlog_bytes > self.limit_bytes || self.backlog_pkts > self.limit_pkts as usize
        {
            self.drop_from_the_fattest(packets, dropped);
        }
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        // RFC 8290 §4.2.
        loop {
            let (bucket, from_new) = match self.new_flows.front() {
                Some(&bucket) => (bucket, true),
                None => (*self.old_flows.front()?, false),
            };
            let queue = self.queues[bucket as usize].as_mut()?;
            let list = if from_new {
                &mut self.new_flows
            } else {
                &mut self.old_flows
            };
            if queue.deficit_bytes <= 0 {
                queue.deficit_bytes += self.config.quantum.get() as i64;
                list.pop_front();
                queue.list = List::Old;
                self.old_flows.push_back(bucket);
                continue;
            }
            let before = dropped.len();
            let mut fifo = FlowFifo {
                waiting: &mut queue.waiting,
                backlog_bytes: &mut queue.backlog_bytes,
                packets,
                dropped,
                taken_bytes: 0,
                taken_pkts: 0,
            };
            let next = queue.codel.dequeue(now, &mut fifo);
            let (taken_bytes, taken_pkts) = (fifo.taken_bytes, fifo.taken_pkts);
            debug_assert_eq!(
                taken_pkts,
                dropped.len() - before + usize::from(next.is_some())
            );
            self.backlog_bytes -= taken_bytes;
            self.backlog_pkts -= taken_pkts;
            match next {
                Some(id) => {
                    queue.deficit_bytes -= i64::from(packets[id].size_bytes);
                    return Some(id);
                }
                None => {
                    list.pop_front();
                    if from_new && !self.old_flows.is_empty() {
                        queue.list = List::Old;
                        self.old_flows.push_back(bucket);
                    } else {
                        queue.list = List::Idle;
                    }
                }
            }
        }
    }

    fn marks(&self) -> u64 {
        let queues = self.queues.iter().flatten();
        queues.map(|queue| queue.codel.marks()).sum()
    }

    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn backlog_pkts(&self) -> usize {
        self.backlog_pkts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests_support::packet;
    use crate::packet::{Ecn, FlowId};
    use backlane_units::Duration;

    fn put(queue: &mut FqCoDel, packets: &mut PacketStore, flow: u32, size: u32) -> Vec<PacketId> {
        let mut entry = packet(size);
        entry.flow = FlowId(flow);
        let id = packets.insert(entry);
        let mut dropped = Vec::new();
        queue.enqueue(SimTime::ZERO, id, packets, &mut dropped);
        dropped
    }

    #[test]
    fn flows_share_by_bytes_not_by_packets() {
        let mut packets = PacketStore::default();
        let mut queue = FqCoDel::new(FqCoDelConfig::default(), (u64::MAX, u32::MAX));
        for _ in 0..100 {
            put(&mut queue, &mut packets, 1, 1500);
            for _ in 0..3 {
                put(&mut queue, &mut packets, 2, 500);
            }
        }
        let mut bytes = [0u64; 3];
        for _ in 0..200 {
            let id = queue
                .dequeue(SimTime::ZERO, &mut packets, &mut Vec::new())
                .unwrap();
            bytes[packets[id].flow.index()] += u64::from(packets[id].size_bytes);
        }
        assert!(bytes[1].abs_diff(bytes[2]) <= 1500, "{bytes:?}");
    }

    #[test]
    fn packets_that_can_be_marked_are_marked_if_enabled() {
        for (ecn, marks) in [(true, true), (false, false)] {
            let mut packets = PacketStore::default();
            let mut config = FqCoDelConfig::default();
            assert!(config.codel.ecn, "as in Linux");
            config.codel.ecn = ecn;
            let mut queue = FqCoDel::new(config, (u64::MAX, u32::MAX));
            for _ in 0..500 {
                put(&mut queue, &mut packets, 1, 1500);
            }
            for packet in 0..500 {
                packets[PacketId(packet)].ecn = Ecn::Capable;
            }
            let mut dropped = Vec::new();
            let mut now = SimTime::ZERO;
            while queue.dequeue(now, &mut packets, &mut dropped).is_some() {
                now = now + Duration::from_millis(1);
            }
            assert_eq!((queue.marks() > 0, dropped.is_empty()), (marks, marks));
        }
    }

    #[test]
    fn a_new_flow_is_served_before_a_standing_one() {
        let mut packets = PacketStore::default();
        let mut queue = FqCoDel::new(FqCoDelConfig::default(), (u64::MAX, u32::MAX));
        for _ in 0..10 {
            put(&mut queue, &mut packets, 1, 1500);
        }
        for _ in 0..3 {
            queue.dequeue(SimTime::ZERO, &mut packets, &mut Vec::new());
        }
        put(&mut queue, &mut packets, 2, 100);
        let id = queue
            .dequeue(SimTime::ZERO, &mut packets, &mut Vec::new())
            .unwrap();
        assert_eq!(packets[id].flow, FlowId(2));
    }

    #[test]
    fn over_the_limit_the_fattest_flow_pays() {
        let mut packets = PacketStore::default();
        let mut queue = FqCoDel::new(FqCoDelConfig::default(), (u64::MAX, 10));
        for _ in 0..8 {
            put(&mut queue, &mut packets, 1, 1500);
        }
        put(&mut queue, &mut packets, 2, 1500);
        put(&mut queue, &mut packets, 2, 1500);
        let dropped = put(&mut queue, &mut packets, 2, 1500);
        assert_eq!(dropped.len(), 1);
        assert_eq!(packets[dropped[0]].flow, FlowId(1));
    }

    /// RFC 8290 §4.1.3: the queue with the largest byte count, not the one with most packets.
    #[test]
    fn the_fattest_flow_is_the_one_with_most_bytes() {
        let mut packets = PacketStore::default();
        let mut queue = FqCoDel::new(FqCoDelConfig::default(), (u64::MAX, 10));
        for _ in 0..8 {
            put(&mut queue, &mut packets, 1, 100);
        }
        put(&mut queue, &mut packets, 2, 1500);
        put(&mut queue, &mut packets, 2, 1500);
        let dropped = put(&mut queue, &mut packets, 1, 100);
        assert_eq!(dropped.len(), 1);
        assert_eq!(packets[dropped[0]].flow, FlowId(2));
    }

    /// RFC 8290 §4.2: a new queue that is found empty goes to the end of the old ones; else a flow
    /// of single packets would starve the others.
    #[test]
    fn a_new_flow_that_has_run_empty_waits_for_its_turn() {
        let mut packets = PacketStore::default();
        let mut queue = FqCoDel::new(FqCoDelConfig::default(), (u64::MAX, u32::MAX));
        let next = |packets: &mut PacketStore, queue: &mut FqCoDel| {
            let id = queue.dequeue(SimTime::ZERO, packets, &mut Vec::new());
            packets[id.unwrap()].flow.0
        };
        for _ in 0..20 {
            put(&mut queue, &mut packets, 1, 500);
        }
        // A quantum of 1500 bytes is three packets; the fourth begins the next one.
        for _ in 0..4 {
            assert_eq!(next(&mut packets, &mut queue), 1);
        }
        put(&mut queue, &mut packets, 2, 100);
        assert_eq!(next(&mut packets, &mut queue), 2);
        // Flow 2 is empty and moves behind flow 1, which has not used up its quantum.
        assert_eq!(next(&mut packets, &mut queue), 1);
        put(&mut queue, &mut packets, 2, 100);
        assert_eq!(next(&mut packets, &mut queue), 1);
    }
}
