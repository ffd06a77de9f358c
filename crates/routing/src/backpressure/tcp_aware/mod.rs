//! TCP-aware backpressure (Seferoglu and Modiano, "TCP-Aware Backpressure Routing and
//! Scheduling", Information Theory and Applications Workshop 2014): backpressure that does not
//! starve a flow whose window keeps its queue short.
//!
//! A node keeps a queue for each flow, and one for the acknowledgements that come back, in one
//! buffer of B packets. Whenever the transmitter falls idle it sends one packet: of all
//! neighbours j, to the one with the most
//!
//! ```text
//! max over the flows s of (max{K, Uᵢˢ} − Uⱼˢ)  ·  R̃ᵢⱼ  ·  (1 − p̃ᵢⱼ)
//! ```
//!
//! and of the flow s that gives this maximum, if it is above zero. With K = 0 that is classical
//! backpressure per flow: a flow of one packet then always loses against a flow of three, and
//! TCP, which sends no more while its packet waits, never grows. With K = B divided by the number
//! of flows that cross the node, all flows weigh alike up to a fair share of the buffer.
//!
//! - `report`: what a node tells its neighbours, riding on data or alone.
//! - `flows`: the queues of a node and what is known of each flow.
//! - `quality`: how often frames on a link fail, and at which rate they go.
//! - `links`: which links a flow may take.
//! - `neighbour`: what is known of a neighbour.
//! - `router`: who sends what when.

use backlane_units::Duration;

mod flows;
mod links;
mod neighbour;
mod quality;
mod report;
mod router;

pub use links::FlowLinks;
pub use report::{Entry, Report};
pub use router::TcpAware;

/// K: up to this backlog all flows of a node weigh alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threshold {
    /// The buffer divided by the number of flows that cross the node, rounded down.
    #[default]
    Share,
    /// Always this, in packets; 0 is classical backpressure.
    Fixed(u32),
}

/// What p̃ is the share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Packets that the MAC gave up, among those that it was given.
    Packets,
    /// Attempts that were not acknowledged, among all: shows a bad link whose packets arrive in the
    /// end, and collisions too.
    #[default]
    Attempts,
}

/// Configuration of TCP-aware backpressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpAwareConfig {
    /// B: the limit of a node's queues together, in packets.
    pub buffer_pkts: u32,
    /// K.
    pub threshold: Threshold,
    /// A flow of which no packet waits crosses a node until none has come for this long.
    pub flow_idle: Duration,
    /// What failures of a link are counted in.
    pub counted: Counted,
    /// The time over which failures and rates of a link are looked at.
    pub window: Duration,
    /// A node that told nothing for this long sends a message, if its queues have changed.
    pub report_idle: Duration,
    /// The same, if they have not changed.
    pub report_interval: Duration,
    /// A neighbour of which nothing was heard for this long is sent nothing.
    pub neighbour_hold: Duration,
    /// A node whose packets have nowhere to go looks again after so long.
    pub retry: Duration,
    /// Packets of acknowledgement streams go before all others.
    pub ack_priority: bool,
    /// Flows without a packet take part in the choice, as the rule is written; if one is chosen,
    /// nothing is sent until the node looks again.
    pub empty_flows_compete: bool,
}

impl Default for TcpAwareConfig {
    fn default() -> Self {
        Self {
            buffer_pkts: 100,
            threshold: Threshold::Share,
            flow_idle: Duration::from_secs(10),
            counted: Counted::Attempts,
            window: Duration::from_secs(1),
            report_idle: Duration::from_millis(50),
            report_interval: Duration::from_millis(500),
            neighbour_hold: Duration::from_secs(3),
            retry: Duration::from_millis(10),
            ack_priority: false,
            empty_flows_compete: false,
        }
    }
}
