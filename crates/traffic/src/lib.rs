//! Sources and sinks at the edge of the network.
//!
//! [`Flows`] holds every flow of a run and is the simulation's [`backlane_net::Application`]. A
//! flow is a transfer over TCP ([`tcp_flow`]), optionally with network coding below it ([`coded`]),
//! a flow over UDP ([`udp`]) whose packets are timed by a [`Source`] or by flow control
//! ([`Utility`]), or one between hosts whose transport runs outside the simulation ([`external`]). [`delivery`] measures the packets that arrive at the sink, and [`reordering`]
//! their order.

mod addresses;
mod capture;
pub mod coded;
pub mod delivery;
pub mod external;
mod flows;
pub mod reordering;
mod source;
mod spec;
pub mod tcp_flow;
pub mod udp;
mod utility;

pub use addresses::{SERVER_PORT, address, client_port};
pub use coded::{CodingConfig, CodingReadings};
pub use delivery::Delivery;
pub use external::{ExternalFlow, Reported};
pub use flows::{Flow, Flows, OUTSIDE, Transport};
pub use reordering::{Reordering, ReorderingReadings};
pub use source::{Emission, Source, SourceFactory};
pub use spec::{FlowSpec, Start, TransportSpec, UdpConfig};
pub use utility::Utility;
