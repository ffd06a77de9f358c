//! CoDel: controlled delay (RFC 8289).
//!
//! Left out: ECN marking (packets are dropped).

use backlane_units::{Duration, SimTime};

use super::{DropTail, QueueDiscipline};
use crate::packet::{PacketId, PacketStore};

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// TARGET: the sojourn time to hold (RFC 8289 §4.4: 5 ms).
    pub target: Duration,
    /// INTERVAL: a worst-case round-trip time (RFC 8289 §4.3: 100 ms).
    pub interval: Duration,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
        }
    }
}

/// The control law of CoDel over any FIFO; the state variables bear RFC 8289's names (§5.2).
#[derive(Clone, Debug)]
pub(super) struct Controller {
    config: CoDelConfig,
    first_above_time: Option<SimTime>,
    drop_next: SimTime,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

/// The largest packet seen is the backlog below which CoDel never drops (RFC 8289 §5.5).
const MTU_BYTES: u64 = 1500;

impl Controller {
    pub(super) fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            first_above_time: None,
            drop_next: SimTime::ZERO,
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }

    /// RFC 8289 §5.6, `control_law`.
    fn control_law(&self, t: SimTime, count: u32) -> SimTime {
        let interval_s = self.config.interval.as_secs_f64();
        t + Duration::from_secs_f64(interval_s / f64::from(count).sqrt())
    }

    /// RFC 8289 §5.6, `dodequeue`: takes the head of the queue, and whether it may be dropped.
    fn head(
        &mut self,
        now: SimTime,
        fifo: &mut dyn FnMut() -> Option<(PacketId, SimTime, u64)>,
    ) -> Option<(PacketId, bool)> {
        let Some((id, queued_at, backlog_bytes)) = fifo() else {
            self.first_above_time = None;
            return None;
        };
        if now.saturating_since(queued_at) < self.config.target || backlog_bytes <= MTU_BYTES {
            self.first_above_time = None;
            return Some((id, false));
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now + self.config.interval);
                Some((id, false))
            }
            Some(time) => Some((id, now >= time)),
        }
    }

    /// RFC 8289 §5.5, `dequeue`. `fifo` takes the head of the queue: its handle, when it was
    /// queued, and the bytes that wait behind it.
    pub(super) fn dequeue(
        &mut self,
        now: SimTime,
        dropped: &mut Vec<PacketId>,
        fifo: &mut dyn FnMut() -> Option<(PacketId, SimTime, u64)>,
    ) -> Option<PacketId> {
        let Some((mut id, mut ok_to_drop)) = self.head(now, fifo) else {
            self.dropping = false;
            return None;
        };
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                dropped.push(id);
                self.count += 1;
                let Some((next, ok)) = self.head(now, fifo) else {
                    self.dropping = false;
                    return None;
                };
                (id, ok_to_drop) = (next, ok);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            dropped.push(id);
            let next = self.head(now, fifo);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let recently =
                now.saturating_since(self.drop_next) < self.config.interval.saturating_mul(16);
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.drop_next = self.control_law(now, self.count);
            self.lastcount = self.count;
            return next.map(|(id, _)| id);
        }
        Some(id)
    }
}

/// CoDel over a FIFO.
#[derive(Debug)]
pub struct CoDel {
    controller: Controller,
    fifo: DropTail,
}

impl CoDel {
    /// CoDel over an empty FIFO.
    pub fn new(config: CoDelConfig, fifo: DropTail) -> Self {
        Self {
            controller: Controller::new(config),
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
        let fifo = &mut self.fifo;
        self.controller.dequeue(now, dropped, &mut || {
            let id = fifo.dequeue(now, packets, &mut Vec::new())?;
            Some((id, packets[id].queued_at, fifo.backlog_bytes()))
        })
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
    use crate::packet::tests_support::packet;

    fn ms(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    /// A queue that is filled once and then drained one packet a millisecond.
    fn drain(pkts: u32, gap: Duration) -> (Vec<u64>, usize) {
        let mut packets = PacketStore::default();
        let mut codel = CoDel::new(CoDelConfig::default(), DropTail::new((u64::MAX, u32::MAX)));
        let mut dropped = Vec::new();
        for sequence in 0..pkts {
            let mut packet = packet(1500);
            packet.sequence = u64::from(sequence);
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
            if next.is_none() {
                return (drop_times_ms, delivered);
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
}
