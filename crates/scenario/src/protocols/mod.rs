//! The parameters of queues, routing protocols and TCP as a scenario states them.

pub mod lte;
pub mod slotted;
pub(crate) mod tcp;
pub mod wifi;

use backlane_param::Values;
use backlane_units::{Bytes, Duration};

pub use tcp::{
    CongestionControl, Ecn, Parameter, PrParameters, Reordering, RrParameters, RtoRule, Tcp, Value,
};

/// The queue before a link direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// How much it holds.
    pub limit: QueueLimit,
    /// With drop-tail: what understands congestion marks is marked if more than this waits.
    pub mark_above: Option<QueueLimit>,
    /// What it drops and when.
    pub discipline: QueueDiscipline,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of packets of any size.
    Packets(u64),
}

/// What a queue drops and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDiscipline {
    /// What arrives at a full queue is dropped.
    DropTail,
    /// Controlled delay (RFC 8289).
    Codel(CodelLimits),
    /// Controlled delay per flow, with deficit round robin (RFC 8290).
    FqCodel {
        /// The control law's parameters.
        codel: CodelLimits,
        /// Bytes a flow may send per round.
        quantum: Bytes,
        /// Number of hash buckets.
        flows: u32,
    },
}

/// The parameters of the controlled-delay law (RFC 8289 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelLimits {
    /// Acceptable standing queue delay.
    pub target: Duration,
    /// Time in which the delay must fall below the target.
    pub interval: Duration,
    /// Whether packets that understand congestion marks are marked instead of dropped.
    pub ecn: bool,
}

/// The routing protocol of the backhaul.
#[derive(Clone, Debug, PartialEq)]
pub struct Routing {
    /// What `protocol` says.
    pub protocol: String,
    /// The checked values of the section.
    pub values: Values,
}
