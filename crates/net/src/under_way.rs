//! Packets on a wire: the first one beside the link's own record, where most links carry one at a
//! time, the others in a ring.

use std::collections::VecDeque;

use backlane_engine::prefetch;
use backlane_units::SimTime;

use crate::packet::PacketId;

/// A packet whose departure time is known, until its arrival.
#[derive(Clone, Copy)]
pub(crate) struct UnderWay {
    pub(crate) arrival: SimTime,
    pub(crate) id: PacketId,
    /// Its size in bytes, and in the highest bits whether the wire loses it or duplicates it.
    size: u32,
}

/// What an impaired wire does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It arrives once.
    None,
    /// The wire loses it.
    Lost,
    /// It arrives twice.
    Twice,
}

const LOST: u32 = 1 << 31;
const TWICE: u32 = 1 << 30;

impl UnderWay {
    #[inline]
    pub(crate) fn new(arrival: SimTime, id: PacketId, size_bytes: u32, mark: Mark) -> Self {
        debug_assert!(size_bytes < TWICE);
        let size = match mark {
            Mark::None => size_bytes,
            Mark::Lost => size_bytes | LOST,
            Mark::Twice => size_bytes | TWICE,
        };
        Self { arrival, id, size }
    }

    #[inline]
    pub(crate) fn size_bytes(self) -> u32 {
        self.size & !(LOST | TWICE)
    }

    #[inline]
    pub(crate) fn mark(self) -> Mark {
        match self.size & (LOST | TWICE) {
            0 => Mark::None,
            TWICE => Mark::Twice,
            _ => Mark::Lost,
        }
    }
}

/// Packets in the order of their arrivals.
pub(crate) struct Wire {
    /// Its id is [`PacketId::NONE`] if the wire is empty.
    first: UnderWay,
    /// Empty if the wire is.
    rest: VecDeque<UnderWay>,
}

impl Wire {
    pub(crate) const fn new() -> Self {
        Self {
            first: UnderWay {
                arrival: SimTime::MAX,
                id: PacketId::NONE,
                size: 0,
            },
            rest: VecDeque::new(),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self.first() {
            Some(_) => 1 + self.rest.len(),
            None => 0,
        }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<UnderWay> {
        (self.first.id != PacketId::NONE).then_some(self.first)
    }

    /// The packet that is `number` packets before the end; 1 is the last.
    #[inline]
    pub(crate) fn before_end(&self, number: usize) -> UnderWay {
        match self.rest.len().checked_sub(number) {
            Some(index) => self.rest[index],
            None => self.first,
        }
    }

    /// Prefetches the packet behind the first, if there is one.
    #[inline]
    pub(crate) fn prefetch_second(&self) {
        if let Some(second) = self.rest.front() {
            prefetch(second);
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, packet: UnderWay) {
        if self.first.id == PacketId::NONE {
            self.first = packet;
        } else {
            self.rest.push_back(packet);
        }
    }

    /// Adds a packet behind those that arrive no later.
    pub(crate) fn insert(&mut self, packet: UnderWay) {
        let Some(first) = self.first() else {
            self.first = packet;
            return;
        };
        if packet.arrival < first.arrival {
            self.rest.push_front(first);
            self.first = packet;
            return;
        }
        let behind = self.rest.iter().rev();
        let later = behind.take_while(|other| other.arrival > packet.arrival);
        self.rest.insert(self.rest.len() - later.count(), packet);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<UnderWay> {
        let first = self.first()?;
        match self.rest.pop_front() {
            Some(next) => self.first = next,
            None => self.first.id = PacketId::NONE,
        }
        Some(first)
    }

    /// Takes all packets.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = UnderWay> {
        std::iter::from_fn(|| self.pop())
    }
}
