//! The parameters of BP-MR.

use backlane_param::ranges::{DELAY, MESSAGE_INTERVAL, SPAN};
use backlane_param::{choice, or_word, params, words};
use backlane_units::Duration;

words! {
    /// The scope of a routing decision.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Granularity {
        /// One packet.
        Packet = "packet",
        /// One flow and direction, until its entry expires.
        #[default]
        Flow = "flow",
        /// One burst of a flow and direction.
        Burst = "burst",
    }
}

words! {
    /// How a node knows the queues of its neighbours.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum QueueInfo {
        /// From their last HELLO, as the protocol is published.
        #[default]
        Hello = "hello",
        /// Exactly and at once: a bound on what signalling could reach, and how the authors'
        /// simulations ran.
        Oracle = "oracle",
    }
}

or_word! {
    /// The weight of proximity against queues.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub enum V {
        /// What is free of the queue that leads to the neighbour.
        #[default]
        Variable = "variable",
        /// Always this, in packets.
        Fixed(f64),
    }
}

params! {
    /// What counts as congestion.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Reaction {
        /// A burst ends when the chosen interface's queue holds more than this share of its
        /// limit: where BP-MR begins to spill.
        queue_share: f64 = 0.75, in 0.0..=1.0;
        /// It also ends when another neighbour's weight is larger by more than this share: more
        /// than the queues of a steady flow sway.
        advantage: f64 = 0.25, in 0.0..=1e9;
        /// For so long the other weight must be larger, so old a burst must be, and so long
        /// apart two flows leave one interface: a HELLO, without which nothing new is known.
        hold: Duration = Duration::from_millis(100), in SPAN;
    }
}

choice! {
    /// What ends a burst of a flow under BP-MR; its next packet is decided like the first of a
    /// flow.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Burst as "burst" {
        /// What ends a burst.
        kind = Flowlet;

        /// The age of the decision.
        Periodic = "periodic" {
            /// Age of a decision at which a burst ends; near 0 s is per packet, more than a flow
            /// lasts is per flow.
            period: Duration = Duration::from_secs(1), in SPAN;
        }
        /// Congestion on the way that was chosen.
        Reactive = "reactive" {
            /// What congestion is.
            reaction: Reaction = Reaction::default();
        }
        /// The age of the decision, or congestion.
        Hybrid = "hybrid" {
            /// Age of a decision at which a burst ends; near 0 s is per packet, more than a flow
            /// lasts is per flow.
            period: Duration = Duration::from_secs(5), in SPAN;
            /// Congestion ends no younger burst: some round trips in which TCP answers the last
            /// change.
            min_age: Duration = Duration::from_millis(500), in DELAY;
            /// What congestion is.
            reaction: Reaction = Reaction::default();
        }
        /// A gap in the flow.
        Flowlet = "flowlet" {
            /// A longer gap before a packet ends a burst. A detour of two 4 ms links is 8 ms
            /// longer and waits up to 8 ms at a full queue: no packet can be overtaken.
            gap: Duration = Duration::from_millis(20), in DELAY;
        }
    }
}

params! {
    /// Backpressure routing over multiple radios.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// What a next-hop decision holds for.
        granularity: Granularity = Granularity::Flow;
        /// With granularity "burst": what ends a burst. A word alone takes the defaults.
        burst: Burst = Burst::default();
        /// Limit of the routing queue of an interface (the BP-MR paper's runs: 340).
        queue_limit_pkts: u32 = 340, in 1..=1_000_000;
        /// The same at the gateway (the BP-MR paper's runs: 1.5 times).
        gateway_queue_limit_pkts: u32 = 510, in 1..=1_000_000;
        /// How a node knows its neighbours' queues: from their last HELLO as published, or
        /// exactly as in the BP-MR paper's runs.
        queue_info: QueueInfo = QueueInfo::Hello;
        /// Time between HELLO messages (the BP-MR paper's runs: 100 ms).
        hello_interval: Duration = Duration::from_millis(100), in MESSAGE_INTERVAL;
        /// Weight of the distance to the destination.
        v: V = V::Variable, in 0.0..=1e9;
        /// Packets handed to the device ahead of the link (the BP-MR paper's runs: 2).
        device_queue_pkts: u32 = 2, in 1..=1000;
        /// A flow entry unused for so long is forgotten.
        flow_idle: Duration = Duration::from_secs(10), in SPAN;
        /// A flow entry of this age expires, and the next packet decides again.
        flow_max_age: Duration = Duration::from_secs(100), in SPAN;
        /// Whether a packet that wandered far is routed by distance.
        ///
        /// Beyond 24 hops.
        ttl_rule: bool = true;
    }
}
