//! TCP-aware backpressure (Seferoglu and Modiano, "TCP-Aware Backpressure Routing and Scheduling",
//! Information Theory and Applications Workshop 2014): backpressure that does not starve a flow
//! with a small window.
//!
//! A node keeps a queue for each flow, and one for the acknowledgments that come back, in one
//! buffer of B packets. Whenever the transmitter becomes idle it sends one packet to the neighbour
//! j with the largest
//!
//! ```text
//! max over the flows s of (max{K, Uᵢˢ} − Uⱼˢ)  ·  R̃ᵢⱼ  ·  (1 − p̃ᵢⱼ)
//! ```
//!
//! from the flow s that gives this maximum, if it is above zero. With K = 0 that is classical
//! backpressure per flow: a flow of one packet then always loses against a flow of three, and its
//! TCP, which sends no more while its packet waits, never increases its window. With K = B divided
//! by the number of flows that cross the node, all flows weigh alike up to a fair share of the
//! buffer.
//!
//! While all queues are shorter than K, all neighbours weigh alike too. The paper says that tied
//! flows have an equal chance, and nothing of tied neighbours: [`NeighbourTies`] and [`Links`] are
//! readings.
//!
//! - `report`: what a node reports to its neighbours, on data packets or in messages.
//! - `backlogs`: the entries of these reports.
//! - `flows`: the queues of a node and the state of each flow.
//! - `quality`: the failure ratio and the rate of a link.
//! - `links`: which links a flow may take.
//! - `neighbour`: the state of a neighbour.
//! - `router`: which packet is sent when.

use backlane_param::ranges::{INTERVAL, MESSAGE_INTERVAL, SPAN};
use backlane_param::{or_word, params, words};
use backlane_units::Duration;

mod backlogs;
mod flows;
mod links;
mod neighbour;
mod quality;
mod report;
mod router;

pub use links::FlowLinks;
pub use report::{Entry, Report};
pub use router::TcpAware;

or_word! {
    /// K: up to this backlog all flows of a node weigh alike.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Threshold {
        /// The buffer divided by the number of flows that cross the node, rounded down.
        #[default]
        Share = "auto",
        /// Always this, in packets; 0 is classical backpressure.
        Fixed(u32),
    }
}

words! {
    /// The links that a flow may take.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Links {
        /// All.
        All = "all",
        /// Those on paths that pass no node twice.
        #[default]
        SimplePaths = "simple-paths",
        /// Those to a neighbour with fewer hops to the destination.
        Downhill = "downhill",
    }
}

words! {
    /// The links that an acknowledgment stream may take.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AckLinks {
        /// As any flow.
        #[default]
        AsFlows = "as-flows",
        /// Those of one shortest path: to the first of the neighbours with the fewest hops to the
        /// destination.
        ShortestPath = "shortest-path",
    }
}

words! {
    /// Which of several neighbours of equal weight gets the packet.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NeighbourTies {
        /// The one with the fewest hops to the flow's destination; of several, the least recently
        /// chosen.
        #[default]
        Nearest = "nearest",
        /// The least recently chosen.
        InTurn = "in-turn",
    }
}

words! {
    /// The flows by which K divides the buffer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Sharing {
        /// Flows from a source to its destination, without the acknowledgments that come back.
        #[default]
        Flows = "flows",
        /// Each direction counts as a flow.
        Directions = "directions",
    }
}

words! {
    /// The packets that carry reports.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ReportsOn {
        /// Those from a source to its destination.
        #[default]
        Data = "data",
        /// Acknowledgments too.
        All = "all",
    }
}

words! {
    /// What p̃ is the share of.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Counted {
        /// Packets that the MAC gave up, among those that it was given.
        #[default]
        Packets = "packets",
        /// Attempts that were not acknowledged, among all: shows a bad link whose packets arrive in
        /// the end, and collisions too.
        Attempts = "attempts",
    }
}

params! {
    /// Backpressure with a queue for each flow, which starves no flow that its window keeps short.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TcpAwareConfig {
        /// B: packets that a node holds in all its queues together (the published runs: 100). When
        /// one more comes, the last packet of the longest queue is dropped.
        buffer_pkts: u32 = 100, in 1..=1_000_000;
        /// K: up to this many packets the flows of a node weigh alike. "auto" is the buffer divided
        /// by the number of flows that cross the node, as published; 0 is classical backpressure.
        k: Threshold = Threshold::Share, in 0..=1_000_000;
        /// The flows that "auto" counts: those between sources and destinations, as published, or
        /// each direction with its acknowledgments.
        k_counts: Sharing = Sharing::Flows;
        /// A flow crosses a node until it has had no packet there for this long; the paper has no
        /// number.
        flow_idle: Duration = Duration::from_secs(10), in SPAN;
        /// Links that a flow may take: those on its paths that pass no node twice, those that
        /// lower the hop count to its destination, or all. The paper's rule has a set of links for
        /// each flow and does not say which; over all, packets wander while queues are short.
        links: Links = Links::SimplePaths;
        /// Links that an acknowledgment stream may take: as any flow, or those of one shortest path.
        /// The paper does not say how acknowledgments are routed.
        ack_links: AckLinks = AckLinks::AsFlows;
        /// Which of several neighbours of equal weight gets the packet: the nearest to the
        /// destination in hops, or each in turn. The paper's equal chance is that of flows; in turn,
        /// packets wander while queues are short.
        neighbour_ties: NeighbourTies = NeighbourTies::Nearest;
        /// What a radio link's failures are counted in: packets that the MAC gave up, as published,
        /// or single attempts, which show a bad link whose packets arrive in the end (and
        /// collisions).
        quality: Counted = Counted::Packets;
        /// Time over which failures and rates of a radio link are looked at: many frames, and
        /// shorter than TCP's patience; the paper has no number.
        quality_window: Duration = Duration::from_secs(1), in INTERVAL;
        /// Packets that carry the queues of their sender: those of data, as published, or
        /// acknowledgments too.
        reports_on: ReportsOn = ReportsOn::Data;
        /// A node that sent no such packet for this long broadcasts its queues if they have changed:
        /// about ten frames of 1000 B at 2 Mbit/s; the paper has no number.
        report_idle: Duration = Duration::from_millis(50), in MESSAGE_INTERVAL;
        /// The same if they have not changed, since a report may be lost.
        report_interval: Duration = Duration::from_millis(500), in MESSAGE_INTERVAL;
        /// A neighbour of which nothing was heard for this long is sent nothing: six reports.
        neighbour_hold: Duration = Duration::from_secs(3), in SPAN;
        /// A node whose packets have nowhere to go looks again after so long: two frames of 1000 B
        /// at 2 Mbit/s.
        retry: Duration = Duration::from_millis(10), in MESSAGE_INTERVAL;
        /// Whether packets of acknowledgment streams go before all others.
        ack_priority: bool = false;
        /// Whether flows without a packet take part in the choice, as the rule is written; when one
        /// is chosen, nothing is sent until the node looks again.
        empty_flows_compete: bool = false;
    }
}
