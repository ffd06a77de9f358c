//! Packets, nodes, links and queues, and the loop that moves one through the others.
//!
//! - [`packet`]: a packet is a record in a slab; its size is a number, its payload is not kept.
//! - [`link`]: one direction of a wire: a queue, a transmitter and what is under way.
//! - [`capacity`]: what a link carries over time, where a recorded trace says so.
//! - [`queue`]: queue disciplines: drop-tail, CoDel, FQ-CoDel, and the proportional-fair pipe.
//! - [`network`]: nodes, their interfaces, where hosts are attached, and the packet balance.
//! - [`router`]: the trait that a routing protocol implements.
//! - [`medium`]: the trait that a shared medium implements, such as a radio access network.
//! - `over_medium`: interfaces between routers that share a medium, and what emerges from it.
//! - [`capture`]: what passes at chosen nodes, for whoever writes it down.
//! - [`application`]: the trait that sources and sinks implement.
//! - [`simulation`]: the event loop over all of these.
//!
//! The way of a packet: an application sends it from a host; each router that it meets decides
//! an interface; the interface's link queues, sends and carries it; at its exit router it
//! leaves for the host that it is meant for, by a wire or by a medium.

pub mod application;
pub mod capacity;
pub mod capture;
pub mod link;
pub mod medium;
pub mod network;
mod over_medium;
pub mod packet;
pub mod queue;
pub mod router;
pub mod simulation;
mod traced;

pub use application::Application;
pub use capacity::{AtEnd, Capacity, Opportunities, OpportunityTrace, RateStep, RateTrace};
pub use capture::{AirFrame, Capture, CapturePoint, FrameKind, Port, TransportHeader};
pub use link::{Link, LinkCounters};
pub use medium::{Medium, MediumContext, MediumCounters};
pub use network::{DropCause, Interface, LinkConfig, Network, TracedConfig};
pub use over_medium::MessageCounters;
pub use packet::{Ecn, FlowId, LinkId, MediumId, NodeId, Packet, PacketId, PacketStore};
pub use queue::{QueueConfig, QueueDiscipline, QueueLimit};
pub use router::{Context, Router, RouterQueue, RouterReadings};
pub use simulation::{Event, Simulation};
