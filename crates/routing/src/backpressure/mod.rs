//! BP-MR: backpressure routing for multiple radios (Baranda, Núñez-Martínez and
//! Mangues-Bafalluy 2015), as it was used over a mesh of point-to-point links by Patriciello,
//! Núñez-Martínez, Baranda, Casoni and Mangues-Bafalluy (2017, doi 10.1016/j.adhoc.2017.03.001).
//!
//! A node keeps one FIFO for each interface and hands its device only a few packets ahead.
//! Every packet is *classified* into one of these queues on arrival and, when it comes to the
//! head, *sent* to the neighbour with the best trade-off between queues and proximity:
//!
//! ```text
//! w(j) = (Qᵢ − Qⱼ − V·p(j)) · Rᵢⱼ
//! ```
//!
//! - `hello`: the message that carries queue lengths to the neighbours.
//! - `weights`: the penalty p, the variable V and the weight.
//! - `flow_table`: per flow, the first packet decides for those that follow.
//! - `burst`: when a flow's decision expires, so that it holds for one burst only.
//! - `queue`: the FIFO of an interface.
//! - `neighbourhood`: the neighbours that a packet may take.
//! - `classify`: the first stage.
//! - `ties`: ties, broken at random.
//! - `bp_mr`: the second stage and the router.
//! - `signals`: when HELLOs are sent, and how long a neighbour stays valid.
//! - `shared`: what the routers of one network share.
//!
//! The earlier protocols: `single_queue` is BP and BS, with one FIFO per node; `classic` is
//! classical backpressure, with a queue for each destination; [`tcp_aware`] has a queue for each
//! flow and does not starve flows with small windows.
//!
//! Lengths of BP-MR's queues are in full packets of 1440 bytes, rounded down. The distance to a
//! destination is the number of links, computed before the run.
//!
//! Differences from the published simulations: a packet spills to a neighbour that is not closer
//! only if that queue is strictly shorter; per flow, the first packet decides on arrival and not at
//! the head of its queue, so that no later packet of its flow can overtake it.

mod bp_mr;
mod burst;
mod classic;
mod classify;
mod config;
mod flow_table;
mod hello;
mod neighbourhood;
mod queue;
mod shared;
mod signals;
mod single_queue;
pub mod tcp_aware;
mod ties;
mod weights;

pub use bp_mr::BpMr;
pub use classic::{Classic, ClassicConfig};
pub use config::{Burst, Config, Granularity, QueueInfo, Reaction, V};
pub use hello::Hello;
pub use shared::Shared;
pub use single_queue::{
    BpConfig, BpPenalty, Distance, PenaltyRule, SingleQueue, SingleQueueConfig,
};
pub use weights::{Candidate, Penalty, weight};

/// The packet size in which queue lengths are counted, in bytes.
pub const FULL_PACKET_BYTES: u64 = 1440;
