//! Limits and kinds of queues.

use backlane_units::{Duration, Rate};

use super::codel::{CoDel, CoDelConfig};
use super::discipline::QueueDiscipline;
use super::drop_tail::DropTail;
use super::fq_codel::{FqCoDel, FqCoDelConfig};
use super::marking::MarkingTail;

/// The capacity of a queue; the packet in transmission does not count.
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
    /// First in, first out; a packet that does not fit is dropped on arrival.
    DropTail(QueueLimit),
    /// The same, but a packet whose transport understands congestion marks is marked on arrival
    /// if the backlog exceeds a threshold (Alizadeh et al., "Data center TCP (DCTCP)", 2010, §3.1).
    Marking {
        /// The capacity.
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
    /// The capacity.
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
