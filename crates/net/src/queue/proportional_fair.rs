//! A pipe shared proportionally fair: the downlink or uplink of an ideal cell.
//!
//! Each user has a FIFO of its own. The user served next is the one with the largest ratio of
//! attainable rate to average rate (Kelly, Maulloo and Tan 1998; Jalali, Padovani and Pankaj
//! 2000); here every user attains the full rate, so it is the one with the smallest average.
//! The average is exponential with a time constant of 100 ms, a hundred LTE subframes. All
//! averages decay alike, so the code weights later bytes more instead of decaying the averages.

use std::collections::VecDeque;

use backlane_units::SimTime;

use super::QueueDiscipline;
use crate::packet::{NodeId, PacketId, PacketStore};

/// Time constant of the average rate.
const TIME_CONSTANT_S: f64 = 0.1;
/// Weights are scaled back above this limit.
const WEIGHT_LIMIT: f64 = 1e100;

/// The user of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// Its source (uplink).
    Source,
    /// Its destination (downlink).
    Destination,
}

#[derive(Debug)]
struct UserQueue {
    user: NodeId,
    waiting: VecDeque<PacketId>,
    backlog_bytes: u64,
    /// Average rate, times the common weight.
    served: f64,
}

/// A proportional-fair shared queue.
#[derive(Debug)]
pub struct ProportionalFair {
    user: User,
    limit_bytes: u64,
    /// In the order of first use; a cell has few users.
    queues: Vec<UserQueue>,
    backlog_bytes: u64,
    backlog_pkts: usize,
    epoch: SimTime,
}

impl ProportionalFair {
    /// An empty queue, with room for `limit_bytes` for each user.
    pub fn new(user: User, limit_bytes: u64) -> Self {
        Self {
            user,
            limit_bytes,
            queues: Vec::new(),
            backlog_bytes: 0,
            backlog_pkts: 0,
            epoch: SimTime::ZERO,
        }
    }

    /// The weight of a byte served now.
    fn weight(&mut self, now: SimTime) -> f64 {
        let weight = libm::exp((now - self.epoch).as_secs_f64() / TIME_CONSTANT_S);
        if weight < WEIGHT_LIMIT {
            return weight;
        }
        for queue in &mut self.queues {
            queue.served /= weight;
        }
        self.epoch = now;
        1.0
    }
}

impl QueueDiscipline for ProportionalFair {
    fn enqueue(
        &mut self,
        _now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let packet = &packets[id];
        let user = match self.user {
            User::Source => packet.source,
            User::Destination => packet.destination,
        };
        let size = u64::from(packet.size_bytes);
        let index = self
            .queues
            .iter()
            .position(|queue| queue.user == user)
            .unwrap_or_else(|| {
                self.queues.push(UserQueue {
                    user,
                    waiting: VecDeque::new(),
                    backlog_bytes: 0,
                    served: 0.0,
                });
                self.queues.len() - 1
            });
        let queue = &mut self.queues[index];
        if queue.backlog_bytes + size > self.limit_bytes {
            dropped.push(id);
            return;
        }
        queue.backlog_bytes += size;
        queue.waiting.push_back(id);
        self.backlog_bytes += size;
        self.backlog_pkts += 1;
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        _dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        if self.backlog_pkts == 0 {
            return None;
        }
        let weight = self.weight(now);
        let queue = self
            .queues
            .iter_mut()
            .filter(|queue| !queue.waiting.is_empty())
            .min_by(|a, b| a.served.total_cmp(&b.served))?;
        let id = queue.waiting.pop_front()?;
        let size = u64::from(packets[id].size_bytes);
        queue.backlog_bytes -= size;
        queue.served += size as f64 * weight;
        self.backlog_bytes -= size;
        self.backlog_pkts -= 1;
        Some(id)
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
    use backlane_units::Duration;

    fn put(queue: &mut ProportionalFair, packets: &mut PacketStore, user: u32, size: u32) -> bool {
        let mut entry = packet(size);
        entry.destination = NodeId(user);
        let id = packets.insert(entry);
        let mut dropped = Vec::new();
        queue.enqueue(SimTime::ZERO, id, packets, &mut dropped);
        dropped.is_empty()
    }

    #[test]
    fn backlogged_users_get_equal_bytes_at_any_packet_size() {
        let mut packets = PacketStore::default();
        let mut queue = ProportionalFair::new(User::Destination, u64::MAX);
        for user in 0..3u32 {
            for _ in 0..3000 {
                put(&mut queue, &mut packets, user, 500 * (user + 1));
            }
        }
        let mut bytes = [0u64; 3];
        let mut now = SimTime::ZERO;
        for _ in 0..2000 {
            let id = queue.dequeue(now, &mut packets, &mut Vec::new()).unwrap();
            let size = packets[id].size_bytes;
            bytes[packets[id].destination.index()] += u64::from(size);
            now = now + Duration::from_micros(u64::from(size) / 10);
        }
        let spread = bytes.iter().max().unwrap() - bytes.iter().min().unwrap();
        assert!(spread <= 3000, "{bytes:?}");
    }

    #[test]
    fn a_user_that_was_idle_for_long_has_no_claim_on_the_past() {
        let mut packets = PacketStore::default();
        let mut queue = ProportionalFair::new(User::Destination, u64::MAX);
        for _ in 0..20_000 {
            put(&mut queue, &mut packets, 0, 1000);
        }
        let mut now = SimTime::ZERO;
        for _ in 0..10_000 {
            queue.dequeue(now, &mut packets, &mut Vec::new());
            now = now + Duration::from_micros(100);
        }
        for _ in 0..10_000 {
            put(&mut queue, &mut packets, 1, 1000);
        }
        let mut first = 0;
        for _ in 0..10_000 {
            let id = queue.dequeue(now, &mut packets, &mut Vec::new()).unwrap();
            first += u32::from(packets[id].destination == NodeId(0));
            now = now + Duration::from_micros(100);
        }
        // The new user catches up within a few time constants (0.1 s = 1000 packets), not for the
        // whole second before it started.
        assert!((4000..=5000).contains(&first), "{first}");
    }

    #[test]
    fn each_user_has_a_limit_of_its_own() {
        let mut packets = PacketStore::default();
        let mut queue = ProportionalFair::new(User::Destination, 2500);
        assert!(put(&mut queue, &mut packets, 0, 1000));
        assert!(put(&mut queue, &mut packets, 0, 1000));
        assert!(!put(&mut queue, &mut packets, 0, 1000));
        assert!(put(&mut queue, &mut packets, 1, 1000));
        // A packet that fills the queue to the last byte fits.
        assert!(put(&mut queue, &mut packets, 0, 500));
        assert!(!put(&mut queue, &mut packets, 0, 1));
    }
}
