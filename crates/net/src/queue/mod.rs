//! Queue disciplines.
//!
//! Plain drop-tail has a fast path in [`crate::link`]: the time at which a packet leaves a FIFO
//! is known when it enters, so it needs no event of its own. Every other discipline decides at
//! dequeue time and implements [`QueueDiscipline`].

use backlane_units::{Duration, Rate, SimTime};

use crate::packet::{PacketId, PacketStore};

mod codel;
mod drop_tail;
mod fq_codel;
mod marking;
mod proportional_fair;

pub use codel::{CoDel, CoDelConfig, CoDelLaw, CoDelQueue};
pub use drop_tail::DropTail;
pub use fq_codel::{FqCoDel, FqCoDelConfig};
use marking::MarkingTail;
pub use proportional_fair::{ProportionalFair, User};

/// How much may wait in a queue; the packet in transmission does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// This many bytes of packets, IP headers included.
    Bytes(u64),
    /// This many packets.
    Packets(u32),
    /// This multiple of rate × 2 · delay of the link itself.
    BandwidthDelayProduct(f64),
}

impl QueueLimit {
    /// The limit on a link of this rate and delay, as (bytes, packets).
    pub fn resolve(self, rate: Rate, delay: Duration) -> (u64, u32) {
        match self {
            Self::Bytes(bytes) => (bytes, u32::MAX),
            Self::Packets(packets) => (u64::MAX, packets),
            Self::BandwidthDelayProduct(factor) => {
                let product = rate.bytes_in(delay.saturating_mul(2)).get();
                ((product as f64 * factor) as u64, u32::MAX)
            }
        }
    }
}

/// The queue of a link direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out; what does not fit is dropped on arrival.
    DropTail(QueueLimit),
    /// The same, but what understands congestion marks is marked on arrival if more than a
    /// threshold already waits (Alizadeh et al., "Data center TCP (DCTCP)", 2010, §3.1).
    Marking {
        /// What it holds.
        limit: QueueLimit,
        /// The threshold K.
        mark_above: QueueLimit,
    },
    /// CoDel (RFC 8289) over one FIFO.
    CoDel(QueueLimit, CoDelConfig),
    /// FQ-CoDel (RFC 8290).
    FqCoDel(QueueLimit, FqCoDelConfig),
}

impl QueueConfig {
    /// What it holds.
    pub fn limit(&self) -> QueueLimit {
        match *self {
            Self::DropTail(limit)
            | Self::Marking { limit, .. }
            | Self::CoDel(limit, _)
            | Self::FqCoDel(limit, _) => limit,
        }
    }

    /// The queue as one that decides at dequeue time, for a transmitter of this rate before a
    /// link of this delay.
    pub fn build(&self, rate: Rate, delay: Duration) -> Box<dyn QueueDiscipline> {
        let limit = self.limit().resolve(rate, delay);
        match (self.discipline(limit), self) {
            (Some(discipline), _) => discipline,
            (None, Self::Marking { mark_above, .. }) => {
                let threshold = mark_above.resolve(rate, delay);
                Box::new(MarkingTail::new(limit, threshold))
            }
            (None, _) => Box::new(DropTail::new(limit)),
        }
    }

    /// The queue with this limit in bytes and packets, unless it is plain drop-tail.
    pub(crate) fn discipline(&self, limit: (u64, u32)) -> Option<Box<dyn QueueDiscipline>> {
        match *self {
            Self::DropTail(_) | Self::Marking { .. } => None,
            Self::CoDel(_, codel) => Some(Box::new(CoDel::new(codel, DropTail::new(limit)))),
            Self::FqCoDel(_, fq) => Some(Box::new(FqCoDel::new(fq, limit))),
        }
    }
}

/// A queue that decides at dequeue time.
pub trait QueueDiscipline {
    /// Takes in a packet, whose `queued_at` is already `now`. What is dropped, the packet itself
    /// or another, goes to `dropped`; it is still in `packets` and is freed by the caller.
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    );

    /// Gives the packet to send next. `None` only when nothing waits.
    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId>;

    /// Packets marked so far in place of a drop.
    fn marks(&self) -> u64 {
        0
    }

    /// Bytes that wait.
    fn backlog_bytes(&self) -> u64;

    /// Packets that wait.
    fn backlog_pkts(&self) -> usize;
}
