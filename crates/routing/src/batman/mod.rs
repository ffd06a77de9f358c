//! batman-adv, the routing of layer 2 in Linux, in its versions IV and V.
//!
//! - `config`: the parameters.
//! - [`message`]: the bytes of OGMs, ELPs and data headers, and addresses.
//! - [`window`]: windows of sequence numbers, means, protection after a restart.
//! - [`metric`]: transmit quality and throughput.
//! - `ports`: the wires and radios of a node, each a "hard interface" with an address.
//! - `table`: what both versions know of an originator.
//! - `iv`, `aggregation`: version IV: OGMs, echoes, and the queue in which OGMs join.
//! - `v`, `links`: version V: OGMs; ELPs and the throughput of links.
//! - `router`: hooks and timers.
//!
//! Every node is an originator. It broadcasts an OGM each second; whoever receives it from the best
//! next hop towards the originator sends it on with a worse metric. A node thus knows for each
//! originator a next hop and no more. In version IV the metric is the share of OGMs that arrive, by
//! their sequence numbers; in version V the smallest rate on the path.
//!
//! A next hop is chosen for each port apart, since the metric of a path depends on whether it
//! continues on the radio on which a packet came. A packet follows the table of the port on which it
//! came; one that enters the mesh here follows the default table.
//!
//! What is left out: bridge loop avoidance, distributed ARP table, translation tables (a packet names
//! its exit router), multicast, gateways, network coding, fragments (a packet of 1500 bytes and its
//! header need an MTU of 1524 bytes), and alternating bonding. TVLVs have their length and no
//! content. Timers are exact, those of Linux are in jiffies. Constants are those of batman-adv
//! 2026.1, `main.h`.

mod aggregation;
mod config;
mod iv;
mod links;
pub mod message;
pub mod metric;
mod ports;
mod router;
mod table;
mod v;
pub mod window;

use backlane_engine::Stream;
use backlane_units::Duration;

pub use config::{Config, Estimate, Version};
pub use router::{Batman, Names};

/// Hops that an OGM or a data packet travels at most (`BATADV_TTL`).
pub const TTL: u8 = 50;
/// Intervals are longer or shorter by up to this (`BATADV_JITTER`).
const JITTER: Duration = Duration::from_millis(20);
/// OGMs that share a frame have at most this size (`BATADV_MAX_AGGREGATION_BYTES`).
const AGGREGATE_BYTES: usize = 512;
/// The time between two searches for old entries (`BATADV_ORIG_WORK_PERIOD`).
const PURGE_PERIOD: Duration = Duration::from_secs(1);

/// Uniform below `span`.
fn draw(draws: &mut Stream, span: Duration) -> Duration {
    Duration::from_ps(draws.uniform_below(span.as_ps().max(1)))
}

/// An interval with its jitter.
fn jittered(draws: &mut Stream, interval: Duration) -> Duration {
    let shortest = interval.as_ps().saturating_sub(JITTER.as_ps());
    let span = interval.as_ps().saturating_add(JITTER.as_ps()) - shortest;
    Duration::from_ps(shortest + draws.uniform_below(span.max(1)))
}
