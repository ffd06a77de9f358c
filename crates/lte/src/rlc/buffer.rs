//! The transmission buffer: SDUs that wait for their first byte to be sent.

use std::collections::VecDeque;

use backlane_net::PacketId;
use backlane_net::queue::{CoDelConfig, CoDelLaw, CoDelQueue};
use backlane_param::BufferLimit;
use backlane_units::{Duration, SimTime};

use super::config::{Aqm, RlcConfig};
use super::{Delivered, Outcome};

/// A packet with its PDCP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sdu {
    pub(super) packet: PacketId,
    pub(super) bytes: u32,
    pub(super) pushed_at: SimTime,
}

impl Sdu {
    pub(super) fn delivered(&self) -> Delivered {
        Delivered {
            packet: self.packet,
            pushed_at: self.pushed_at,
        }
    }
}

#[derive(Debug)]
pub(super) struct Buffer {
    waiting: VecDeque<Sdu>,
    bytes: u64,
    limit: BufferLimit,
    codel: Option<CoDelLaw>,
    discard_timer: Option<Duration>,
}

/// The FIFO as CoDel sees it.
struct Fifo<'a> {
    waiting: &'a mut VecDeque<Sdu>,
    bytes: &'a mut u64,
    outcome: &'a mut Outcome,
}

impl CoDelQueue for Fifo<'_> {
    type Packet = Sdu;

    fn take(&mut self) -> Option<(Sdu, SimTime, u64)> {
        let sdu = self.waiting.pop_front()?;
        *self.bytes -= u64::from(sdu.bytes);
        Some((sdu, sdu.pushed_at, *self.bytes))
    }

    fn mark(&mut self, _: Sdu) -> bool {
        false
    }

    fn drop(&mut self, sdu: Sdu) {
        self.outcome.dropped.push(sdu.packet);
    }
}

impl Buffer {
    pub(super) fn new(config: &RlcConfig, discard_timer: Option<Duration>) -> Self {
        let codel = match config.aqm {
            Aqm::Off => None,
            Aqm::CoDel { target, interval } => Some(CoDelLaw::new(CoDelConfig {
                target,
                interval,
                ecn: false,
            })),
        };
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            limit: config.buffer,
            codel,
            discard_timer,
        }
    }

    pub(super) fn push(&mut self, sdu: Sdu, outcome: &mut Outcome) {
        let now = sdu.pushed_at;
        self.discard(now, outcome);
        let full = match self.limit {
            BufferLimit::Packets(packets) => self.waiting.len() >= packets as usize,
            BufferLimit::Bytes(bytes) => self.bytes + u64::from(sdu.bytes) > bytes.get(),
            BufferLimit::Time(time) => self.head_delay(now) > time,
        };
        if full {
            outcome.dropped.push(sdu.packet);
            return;
        }
        self.bytes += u64::from(sdu.bytes);
        self.waiting.push_back(sdu);
    }

    /// Puts SDUs that were begun and not delivered back where they came from; the last comes
    /// first.
    pub(super) fn put_back(&mut self, sdu: Sdu) {
        self.bytes += u64::from(sdu.bytes);
        self.waiting.push_front(sdu);
    }

    /// The SDU to begin now.
    pub(super) fn pop(&mut self, now: SimTime, outcome: &mut Outcome) -> Option<Sdu> {
        self.discard(now, outcome);
        let mut fifo = Fifo {
            waiting: &mut self.waiting,
            bytes: &mut self.bytes,
            outcome,
        };
        match &mut self.codel {
            Some(law) => law.dequeue(now, &mut fifo),
            None => fifo.take().map(|(sdu, ..)| sdu),
        }
    }

    /// TS 36.322 §5.3: what PDCP's discard timer has run out for. All wait equally long, so it is
    /// the head that is due.
    #[inline]
    pub(super) fn discard(&mut self, now: SimTime, outcome: &mut Outcome) {
        if self.discard_timer.is_some() {
            self.discard_due(now, outcome);
        }
    }

    fn discard_due(&mut self, now: SimTime, outcome: &mut Outcome) {
        while self.discard_deadline() <= now
            && let Some(sdu) = self.waiting.pop_front()
        {
            self.bytes -= u64::from(sdu.bytes);
            outcome.dropped.push(sdu.packet);
        }
    }

    /// When the next SDU is to be discarded.
    pub(super) fn discard_deadline(&self) -> SimTime {
        match (self.discard_timer, self.waiting.front()) {
            (Some(timer), Some(head)) => head.pushed_at.saturating_add(timer),
            _ => SimTime::MAX,
        }
    }

    pub(super) fn head_delay(&self, now: SimTime) -> Duration {
        self.waiting
            .front()
            .map_or(Duration::ZERO, |head| now.saturating_since(head.pushed_at))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn pkts(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Sdu> + '_ {
        self.bytes = 0;
        self.waiting.drain(..)
    }
}
