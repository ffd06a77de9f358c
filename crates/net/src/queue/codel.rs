//! CoDel: controlled delay (RFC 8289).
//!
//! With `ecn`, a packet whose transport understands congestion marks is marked and sent instead of
//! dropped, as in Linux; the law then continues as after a drop.

use backlane_param::params;
use backlane_param::ranges::INTERVAL;
use backlane_units::{Duration, SimTime};

use super::{DropTail, QueueDiscipline};
use crate::packet::{PacketId, PacketStore};

params! {
    /// Controlled delay (RFC 8289).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CoDelConfig {
        /// Acceptable standing queue delay (RFC 8289 §4.4).
        target: Duration = Duration::from_millis(5), in INTERVAL;
        /// Time in which the delay must fall below the target (RFC 8289 §4.3).
        interval: Duration = Duration::from_millis(100), in INTERVAL;
        /// Whether a packet that understands congestion marks (RFC 3168) is marked instead of
        /// dropped.
        ///
        /// Off by default, as in Linux.
        ecn: bool = false;
    }
}

/// A FIFO under the law of CoDel.
pub trait CoDelQueue {
    /// A packet of the queue.
    type Packet: Copy;

    /// Removes the oldest packet: the packet, when it was queued, and the bytes behind it.
    fn take(&mut self) -> Option<(Self::Packet, SimTime, u64)>;

    /// Marks a packet just taken if its transport understands marks; true if it is marked now.
    fn mark(&mut self, packet: Self::Packet) -> bool;

    /// A packet just taken is dropped.
    fn drop(&mut self, packet: Self::Packet);
}

/// The control law of CoDel over any FIFO; the state variables have RFC 8289's names (§5.2).
#[derive(Clone, Debug)]
pub struct CoDelLaw {
    config: CoDelConfig,
    first_above_time: Option<SimTime>,
    drop_next: SimTime,
    count: u32,
    lastcount: u32,
    dropping: bool,
    marks: u64,
}

/// The largest packet seen is the backlog below which CoDel never drops (RFC 8289 §5.5).
const MTU_BYTES: u64 = 1500;

impl CoDelLaw {
    /// The law over an empty queue.
    pub fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            first_above_time: None,
            drop_next: SimTime::ZERO,
            count: 0,
            lastcount: 0,
            dropping: false,
            marks: 0,
        }
    }

    /// Packets marked so far in place of a drop.
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// RFC 8289 §5.6, `control_law`.
    fn control_law(&self, t: SimTime, count: u32) -> SimTime {
        let interval_s = self.config.interval.as_secs_f64();
        t + Duration::from_secs_f64(interval_s / f64::from(count).sqrt())
    }

    /// RFC 8289 §5.6, `dodequeue`: the head of the queue, and whether it may be dropped.
    fn head<Q: CoDelQueue>(&mut self, now: SimTime, queue: &mut Q) -> Option<(Q::Packet, bool)> {
        let Some((packet, queued_at, backlog_bytes)) = queue.take() else {
            self.first_above_time = None;
            return None;
        };
        if now.saturating_since(queued_at) < self.config.target || backlog_bytes <= MTU_BYTES {
            self.first_above_time = None;
            return Some((packet, false));
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now + self.config.interval);
                Some((packet, false))
            }
            Some(time) => Some((packet, now >= time)),
        }
    }

    /// Marks a packet instead of dropping it, if marks are enabled and it can be marked.
    fn mark<Q: CoDelQueue>(&mut self, packet: Q::Packet, queue: &mut Q) -> bool {
        let marked = self.config.ecn && queue.mark(packet);
        self.marks += u64::from(marked);
        marked
    }

    /// RFC 8289 §5.5, `dequeue`: the packet to send next. `None` only if the queue is empty.
    pub fn dequeue<Q: CoDelQueue>(&mut self, now: SimTime, queue: &mut Q) -> Option<Q::Packet> {
        let Some((mut packet, mut ok_to_drop)) = self.head(now, queue) else {
            self.dropping = false;
            return None;
        };
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if self.mark(packet, queue) {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                    return Some(packet);
                }
                queue.drop(packet);
                let Some((next, ok)) = self.head(now, queue) else {
                    self.dropping = false;
                    return None;
                };
                (packet, ok_to_drop) = (next, ok);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let next = if self.mark(packet, queue) {
                Some(packet)
            } else {
                queue.drop(packet);
                self.head(now, queue).map(|(next, _)| next)
            };
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let recently =
                now.saturating_since(self.drop_next) < self.config.interval.saturating_mul(16);
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.drop_next = self.control_law(now, self.count);
            self.lastcount = self.count;
            return next;
        }
        Some(packet)
    }
}

/// CoDel over a FIFO.
#[derive(Debug)]
pub struct CoDel {
    law: CoDelLaw,
    fifo: DropTail,
}

/// The FIFO and the packets behind its handles.
struct Backlog<'a> {
    fifo: &'a mut DropTail,
    packets: &'a mut PacketStore,
    dropped: &'a mut Vec<PacketId>,
}

impl CoDelQueue for Backlog<'_> {
    type Packet = PacketId;

    fn take(&mut self) -> Option<(PacketId, SimTime, u64)> {
        let id = self.fifo.take(self.packets)?;
        Some((id, self.packets[id].queued_at, self.fifo.backlog_bytes()))
    }

    fn mark(&mut self, id: PacketId) -> bool {
        self.packets[id].mark()
    }

    fn drop(&mut self, id: PacketId) {
        self.dropped.push(id);
    }
}

impl CoDel {
    /// CoDel over an empty FIFO.
    pub fn new(config: CoDelConfig, fifo: DropTail) -> Self {
        Self {
            law: CoDelLaw::new(config),
            fifo,
        }
    }
}

impl QueueDiscipline for CoDel {
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        self.fifo.enqueue(now, id, packets, dropped);
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        let mut backlog = Backlog {
            fifo: &mut self.fifo,
            packets,
            dropped,
        };
        self.law.dequeue(now, &mut backlog)
    }

    fn marks(&self) -> u64 {
        self.law.marks()
    }

    fn backlog_bytes(&self) -> u64 {
        self.fifo.backlog_bytes()
    }

    fn backlog_pkts(&self) -> usize {
        self.fifo.backlog_pkts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::packet::tests_support::packet;

    fn ms(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    /// A queue that is filled once and then drained one packet a millisecond: when it dropped,
    /// and how many packets came out.
    fn drain(pkts: u32, gap: Duration) -> (Vec<u64>, usize) {
        let (drop_times_ms, _, delivered) = signals(pkts, gap, false, |_| Ecn::NotCapable);
        (drop_times_ms, delivered)
    }

    /// The same with the congestion field of each packet: when it dropped, when a packet came
    /// out that it had marked, and how many came out.
    fn signals(
        pkts: u32,
        gap: Duration,
        ecn: bool,
        field: impl Fn(u32) -> Ecn,
    ) -> (Vec<u64>, Vec<u64>, usize) {
        let mut packets = PacketStore::default();
        let config = CoDelConfig {
            ecn,
            ..CoDelConfig::default()
        };
        let mut codel = CoDel::new(config, DropTail::new((u64::MAX, u32::MAX)));
        let mut mark_times_ms = Vec::new();
        let mut dropped = Vec::new();
        for sequence in 0..pkts {
            let mut packet = packet(1500);
            packet.sequence = u64::from(sequence);
            packet.ecn = field(sequence);
            let id = packets.insert(packet);
            codel.enqueue(SimTime::ZERO, id, &mut packets, &mut dropped);
        }
        let mut now = SimTime::ZERO;
        let mut drop_times_ms = Vec::new();
        let mut delivered = 0;
        loop {
            let before = dropped.len();
            let next = codel.dequeue(now, &mut packets, &mut dropped);
            for _ in before..dropped.len() {
                drop_times_ms.push(now.as_micros() / 1000);
            }
            let Some(id) = next else {
                assert_eq!(codel.marks(), mark_times_ms.len() as u64);
                return (drop_times_ms, mark_times_ms, delivered);
            };
            if packets[id].ecn == Ecn::Marked {
                mark_times_ms.push(now.as_micros() / 1000);
            }
            delivered += 1;
            now = now + gap;
        }
    }

    #[test]
    fn drops_follow_interval_over_the_square_root_of_the_count() {
        let (times, delivered) = drain(1000, Duration::from_millis(1));
        assert_eq!(delivered + times.len(), 1000);
        // The sojourn time passes the target at 5 ms; the first drop comes one interval later,
        // then after 100 ms/√1, /√2, /√3 … more, each at the next whole millisecond.
        let mut expected = vec![105];
        let mut at = 105.0;
        for count in 1..6 {
            at += 100.0 / f64::from(count).sqrt();
            expected.push(at.ceil() as u64);
        }
        assert_eq!(times[..6], expected[..]);
    }

    #[test]
    fn packets_that_can_be_marked_are_marked_by_the_law_of_drops_and_none_is_lost() {
        let gap = Duration::from_millis(1);
        let (drops, marks, delivered) = signals(1000, gap, true, |_| Ecn::Capable);
        assert_eq!((drops.len(), delivered), (0, 1000));
        let (drops_without, _) = drain(1000, gap);
        assert_eq!(marks[..6], drops_without[..6]);
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped_among_those_that_can() {
        let gap = Duration::from_millis(1);
        let odd = |sequence| match sequence % 2 {
            0 => Ecn::NotCapable,
            _ => Ecn::Capable,
        };
        let (drops, marks, delivered) = signals(1000, gap, true, odd);
        assert!(!drops.is_empty() && !marks.is_empty());
        assert_eq!(drops.len() + delivered, 1000);
    }

    #[test]
    fn with_ecn_off_packets_that_could_be_marked_are_dropped() {
        let gap = Duration::from_millis(1);
        let (drops, marks, _) = signals(1000, gap, false, |_| Ecn::Capable);
        assert_eq!((drops, marks), (drain(1000, gap).0, vec![]));
    }

    #[test]
    fn a_short_burst_is_let_through() {
        let (times, delivered) = drain(90, Duration::from_millis(1));
        assert_eq!((times.len(), delivered), (0, 90));
    }

    #[test]
    fn one_full_packet_behind_is_not_a_standing_queue() {
        let mut packets = PacketStore::default();
        let mut codel = CoDel::new(CoDelConfig::default(), DropTail::new((u64::MAX, u32::MAX)));
        let mut dropped = Vec::new();
        for step in 0..100 {
            let id = packets.insert(packet(1500));
            packets[id].queued_at = ms(step * 10);
            codel.enqueue(ms(step * 10), id, &mut packets, &mut dropped);
            if step > 0 {
                codel.dequeue(ms(step * 10), &mut packets, &mut dropped);
            }
        }
        assert!(dropped.is_empty());
    }

    /// A queue in which every packet has waited for 10 ms, twice the target, or for nothing.
    struct Standing {
        queued_at: SimTime,
        dropped: usize,
    }

    impl CoDelQueue for Standing {
        type Packet = u32;

        fn take(&mut self) -> Option<(u32, SimTime, u64)> {
            Some((0, self.queued_at, 100 * MTU_BYTES))
        }

        fn mark(&mut self, _packet: u32) -> bool {
            false
        }

        fn drop(&mut self, _packet: u32) {
            self.dropped += 1;
        }
    }

    /// RFC 8289 §5.5: five drops, at 100, 200, 271, 329 and 379 ms, leave the next at 423 ms.
    /// A dropping state within 16 intervals (1.6 s) of that resumes with 5 − 1 = 4: the second drop
    /// is 100/√4 = 50 ms after the first. A later one starts from the beginning, with 100 ms.
    #[test]
    fn a_queue_that_comes_back_within_16_intervals_goes_on_where_it_was() {
        for (back_ms, gap_ms) in [(1500, 50), (1900, 50), (1950, 100), (3000, 100)] {
            let mut law = CoDelLaw::new(CoDelConfig::default());
            let mut queue = Standing {
                queued_at: SimTime::ZERO,
                dropped: 0,
            };
            let mut drop_times_ms = Vec::new();
            for now_ms in 0..back_ms + 250 {
                let stands = now_ms < 380 || now_ms >= back_ms;
                queue.queued_at = ms(10 + now_ms - if stands { 10 } else { 0 });
                let before = queue.dropped;
                law.dequeue(ms(10 + now_ms), &mut queue);
                drop_times_ms.extend((before..queue.dropped).map(|_| now_ms));
            }
            assert_eq!(drop_times_ms[..5], [100, 200, 271, 329, 379]);
            let first = back_ms + 100;
            assert_eq!(drop_times_ms[5..7], [first, first + gap_ms]);
        }
    }
}
