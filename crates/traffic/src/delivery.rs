//! The measurements of a sink on arriving packets.

use backlane_engine::Digest;
use backlane_net::Packet;
use backlane_units::{Duration, SimTime};

/// Packets of one direction of a flow, as they arrive.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// Packets that arrived.
    pub packets: u64,
    /// Bytes that arrived, IP headers included.
    pub bytes: u64,
    /// Packets that arrived after one that was sent later: singletons of type P-reordered
    /// (RFC 4737 §3.3).
    pub reordered: u64,
    /// Number of packets that took another path than the packet before.
    pub path_changes: u64,
    /// Runs of packets on one path, in the order in which they were sent. Reordered packets do not
    /// count, so that two bursts that arrive interleaved are two.
    pub bursts: u64,
    /// The longest time between two arrivals.
    pub longest_silence: Duration,
    /// Sum of the routers passed.
    pub hops: u64,
    /// RFC 4737's NextExp: one more than the highest number that arrived.
    next_expected: u64,
    last_path: Option<u32>,
    burst_path: Option<u32>,
    last_at: Option<SimTime>,
    digest: Digest,
}

impl Delivery {
    /// Counts an arrival.
    #[inline]
    pub fn add(&mut self, now: SimTime, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size_bytes);
        self.hops += u64::from(packet.hops);
        if packet.sequence < self.next_expected {
            // A copy right behind its original is not out of order.
            let is_copy = packet.sequence + 1 == self.next_expected;
            self.reordered += u64::from(!is_copy);
        } else {
            self.next_expected = packet.sequence + 1;
            if self.burst_path != Some(packet.path) {
                self.bursts += 1;
                self.burst_path = Some(packet.path);
            }
        }
        if let Some(last) = self.last_at {
            self.longest_silence = self.longest_silence.max(now - last);
        }
        self.last_at = Some(now);
        if self.last_path.is_some_and(|last| last != packet.path) {
            self.path_changes += 1;
        }
        self.last_path = Some(packet.path);
        self.digest.add(now.as_ps());
        self.digest.add(packet.sequence);
    }

    /// The share of reordered packets; `None` without packets.
    pub fn reordered_ratio(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.reordered as f64 / self.packets as f64)
    }

    /// Packets in a burst, on average; `None` without packets.
    pub fn burst_mean_pkts(&self) -> Option<f64> {
        (self.bursts > 0).then(|| self.packets as f64 / self.bursts as f64)
    }

    /// Routers passed by a packet, on average; `None` without packets.
    pub fn hops_mean(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.hops as f64 / self.packets as f64)
    }

    /// A hash of all arrivals and their times.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_net::{FlowId, NodeId};

    fn arrivals(sequences: &[u64]) -> Delivery {
        let mut delivery = Delivery::default();
        for &sequence in sequences {
            let packet = Packet {
                path: (sequence / 5) as u32,
                sequence,
                ..Packet::new(FlowId(0), NodeId(0), NodeId(1), 100)
            };
            delivery.add(SimTime::ZERO, &packet);
        }
        delivery
    }

    /// RFC 4737 §7.1: with source numbers in order 1,2,3,7,8,4,5,6,9,10 (delayed 4, 5, 6), the
    /// three late ones are reordered.
    #[test]
    fn late_packets_are_reordered_and_early_ones_are_not() {
        let delivery = arrivals(&[1, 2, 3, 7, 8, 4, 5, 6, 9, 10]);
        assert_eq!(delivery.reordered, 3);
        assert_eq!(delivery.reordered_ratio(), Some(0.3));
    }

    #[test]
    fn a_loss_is_not_a_reordering() {
        assert_eq!(arrivals(&[0, 1, 4, 5]).reordered, 0);
    }

    /// Packets 0–4 take one path, packets 5–9 another.
    #[test]
    fn bursts_are_counted_in_the_order_sent_even_if_they_arrive_interleaved() {
        let delivery = arrivals(&[0, 1, 5, 2, 6, 3, 7, 4, 8, 9]);
        assert_eq!(delivery.bursts, 2);
        assert_eq!(delivery.path_changes, 7);
        assert_eq!(delivery.burst_mean_pkts(), Some(5.0));
        assert_eq!(arrivals(&[]).burst_mean_pkts(), None);
    }

    #[test]
    fn a_path_change_is_counted_at_the_first_packet_on_the_new_path() {
        assert_eq!(arrivals(&[0, 1, 5, 6, 2, 7]).path_changes, 3);
    }
}
