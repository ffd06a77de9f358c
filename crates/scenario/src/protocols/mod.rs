//! The parameters of queues, routing protocols and TCP as a scenario states them.

pub mod lte;
pub(crate) mod tcp;

use std::sync::Arc;

use backlane_param::Values;
use backlane_units::Bytes;

pub use tcp::Tcp;

/// The queue before a link direction.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueConfig {
    /// How much it holds.
    pub limit: QueueLimit,
    /// What it drops and when.
    pub discipline: QueueDiscipline,
    /// Whether routing messages have a queue of their own, served first.
    pub routing_first: bool,
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
#[derive(Clone, Debug, PartialEq)]
pub enum QueueDiscipline {
    /// What arrives at a full queue is dropped.
    DropTail {
        /// What understands congestion marks is marked if more than this waits.
        mark_above: Option<QueueLimit>,
    },
    /// A discipline that the running program declares.
    Declared(Arc<Discipline>),
}

/// A queue discipline with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Discipline {
    /// What `discipline` says.
    pub name: String,
    /// The checked values of the section.
    pub values: Values,
}

/// The routing protocol of the backhaul.
#[derive(Clone, Debug, PartialEq)]
pub struct Routing {
    /// What `protocol` says.
    pub protocol: String,
    /// The checked values of the section.
    pub values: Values,
}
