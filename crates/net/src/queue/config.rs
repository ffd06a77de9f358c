//! Limits and kinds of queues.

use std::fmt;
use std::sync::Arc;

use backlane_units::{Duration, Rate};

use super::codel::{CoDel, CoDelConfig};
use super::discipline::QueueDiscipline;
use super::drop_tail::DropTail;
use super::fq_codel::{FqCoDel, FqCoDelConfig};
use super::marking::MarkingTail;
use super::routing_first::RoutingFirst;
use crate::packet::{LinkId, NodeId};

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

/// What a queue stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePlace {
    /// A link direction.
    Link(LinkId),
    /// A radio of a node, numbered from zero.
    Radio(NodeId, u8),
}

impl fmt::Display for QueuePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => write!(f, "link {}", link.0),
            Self::Radio(node, radio) => write!(f, "radio {radio} of node {}", node.0),
        }
    }
}

/// Where a queue stands and how much it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSite {
    /// What it stands before.
    pub place: QueuePlace,
    /// The most bytes of packets, IP headers included.
    pub limit_bytes: u64,
    /// The most packets.
    pub limit_pkts: u32,
    /// Rate of the transmitter behind it.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Duration,
}

impl QueueSite {
    /// The limits, as (bytes, packets).
    pub fn limits(&self) -> (u64, u32) {
        (self.limit_bytes, self.limit_pkts)
    }
}

/// Makes the queues of a discipline.
pub trait QueueFactory: fmt::Debug + Send + Sync {
    /// An empty queue.
    fn build(&self, site: QueueSite) -> Box<dyn QueueDiscipline>;
}

impl QueueFactory for CoDelConfig {
    fn build(&self, site: QueueSite) -> Box<dyn QueueDiscipline> {
        Box::new(CoDel::new(*self, DropTail::new(site.limits())))
    }
}

impl QueueFactory for FqCoDelConfig {
    fn build(&self, site: QueueSite) -> Box<dyn QueueDiscipline> {
        Box::new(FqCoDel::new(*self, site.limits()))
    }
}

/// Makes queues in which routing messages go first, and other packets wait in queues of this
/// configuration.
#[derive(Debug)]
struct RoutingFirstConfig(QueueConfig);

impl QueueFactory for RoutingFirstConfig {
    fn build(&self, site: QueueSite) -> Box<dyn QueueDiscipline> {
        let packets = self.0.build(site.rate, site.delay, site.place);
        Box::new(RoutingFirst::new(site.limits(), packets))
    }
}

/// The queue of a link direction.
#[derive(Clone, Debug)]
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
    /// A discipline that decides when a packet is dequeued.
    Discipline(QueueLimit, Arc<dyn QueueFactory>),
}

impl QueueConfig {
    /// A queue of a discipline.
    pub fn new(limit: QueueLimit, discipline: impl QueueFactory + 'static) -> Self {
        Self::Discipline(limit, Arc::new(discipline))
    }

    /// The same with a queue of its own for routing messages, with the same capacity, which is served
    /// before the other.
    #[must_use]
    pub fn with_routing_first(self) -> Self {
        Self::new(self.limit(), RoutingFirstConfig(self))
    }

    /// The capacity.
    pub fn limit(&self) -> QueueLimit {
        match *self {
            Self::DropTail(limit) | Self::Marking { limit, .. } | Self::Discipline(limit, _) => {
                limit
            }
        }
    }

    /// The queue as one that decides at dequeue time, for a transmitter of this rate before a
    /// link of this delay.
    pub fn build(
        &self,
        rate: Rate,
        delay: Duration,
        place: QueuePlace,
    ) -> Box<dyn QueueDiscipline> {
        let limit = self.limit().resolve(rate, delay);
        match (self.discipline(rate, delay, place), self) {
            (Some(discipline), _) => discipline,
            (None, Self::Marking { mark_above, .. }) => {
                let threshold = mark_above.resolve(rate, delay);
                Box::new(MarkingTail::new(limit, threshold))
            }
            (None, _) => Box::new(DropTail::new(limit)),
        }
    }

    /// The same, unless the queue is drop-tail.
    pub(crate) fn discipline(
        &self,
        rate: Rate,
        delay: Duration,
        place: QueuePlace,
    ) -> Option<Box<dyn QueueDiscipline>> {
        let Self::Discipline(limit, factory) = self else {
            return None;
        };
        let (limit_bytes, limit_pkts) = limit.resolve(rate, delay);
        Some(factory.build(QueueSite {
            place,
            limit_bytes,
            limit_pkts,
            rate,
            delay,
        }))
    }
}
