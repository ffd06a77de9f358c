//! Packets, nodes, links and queues, and the event loop that moves one through the others.
//!
//! From the ground up; a module imports only those above it in this list:
//!
//! - [`packet`]: a packet is a record in a slab; its size is a number, its payload is not kept.
//! - [`counters`]: counters of links, media and queues, drop causes, the balance of packets.
//! - [`forwarding`]: the forwarding table of a node.
//! - `event`, `event_log`: what can be scheduled, and the digest and trace of a run.
//! - [`capture`]: the packets and frames that pass at chosen nodes, for capture files.
//! - [`capacity`]: the capacity of a link over time, from a recorded trace.
//! - [`queue`]: queue disciplines: drop-tail, CoDel, FQ-CoDel, and the proportional-fair pipe.
//! - [`link`], `traced`, `under_way`: one direction of a link: a queue, a transmitter, and packets under way.
//! - [`impairments`]: losses in bursts, jitter, reordering and duplicates of a wire.
//! - `medium::mailbox`: the requests and indications between routers and media, on their way.
//! - [`network`]: nodes, their interfaces, attached hosts, and the packets on them.
//! - [`medium`]: the trait that a shared medium implements, and its context.
//! - [`router`]: the trait that a routing protocol implements, and its context.
//! - [`host`]: the trait that sources and sinks implement, and its context.
//! - [`simulation`]: the event loop over all of these.
//! - [`testing`]: routers, media and applications for tests.
//!
//! The path of a packet: an application sends it from a host; each router on its path chooses
//! an interface; the interface's link queues, sends and carries it; at its exit router it leaves
//! for its host by a wire or by a medium.

pub mod capacity;
pub mod capture;
pub mod counters;
mod event;
mod event_log;
pub mod forwarding;
pub mod host;
pub mod impairments;
pub mod link;
pub mod medium;
pub mod network;
pub mod packet;
pub mod queue;
pub mod router;
pub mod simulation;
pub mod testing;
mod traced;
mod under_way;

pub use capacity::{AtEnd, Capacity, Opportunities, OpportunityTrace, RateStep, RateTrace};
pub use capture::{AirFrame, Capture, CapturePoint, Port, TransportHeader};
pub use counters::{
    AccessCounters, Balance, DropCause, LinkCounters, MessageCounters, RouterQueue,
};
pub use event::Event;
pub use forwarding::ByExit;
pub use host::{Application, Divisible, HostContext};
pub use impairments::{GilbertElliott, ImpairmentConfig, Jitter, JitterLaw};
pub use link::{Link, LinkState};
pub use medium::{Medium, MediumContext};
pub use network::{Interface, LinkConfig, Network, Region, TracedConfig};
pub use packet::{Ecn, FlowId, LinkId, MediumId, NodeId, Packet, PacketId, PacketStore};
pub use queue::{QueueConfig, QueueDiscipline, QueueFactory, QueueLimit, QueuePlace, QueueSite};
pub use router::{Context, Division, Reading, Router};
pub use simulation::Simulation;
pub use simulation::crossing::Crossing;
