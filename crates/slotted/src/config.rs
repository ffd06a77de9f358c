//! The parameters of a slotted network.

use std::ops::RangeInclusive;

use backlane_param::{Id, choice, params, words};

/// The longest warm-up and the longest measurement, in slots.
const MAX_SLOTS: u64 = 500_000_000;
/// A number of packets.
const PACKETS: RangeInclusive<u32> = 1..=1_000_000;
/// The same, or none.
const UP_TO_PACKETS: RangeInclusive<u32> = 0..=1_000_000;
/// A rate in packets per slot.
const RATE: RangeInclusive<f64> = 0.0..=100.0;
/// The same, above zero.
const POSITIVE_RATE: RangeInclusive<f64> = 0.001..=100.0;

params! {
    /// The slotted model of backpressure, in place of a network: with it the file has no duration,
    /// topology, routing, TCP, or flows but those in it. Time counts in slots and amounts in
    /// packets.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Slots that are measured.
        slots: u64, in 1..=MAX_SLOTS;
        /// Slots before those; queues and windows live on.
        warm_up_slots: u64 = 0, in 0..=MAX_SLOTS;
        /// K of TCP-aware backpressure: a shorter queue counts as K before its own links. 0 is
        /// classical backpressure.
        ///
        /// K of equation (2).
        k_pkts: u32 = 0, in UP_TO_PACKETS;
        /// Whether a link serves the best of the flows that have packets, or as printed the best of
        /// all, which may have none and waste the slot.
        rule: Rule = Rule::WorkConserving;
        /// What decides between equals: who has waited longest, up to 63 slots, or chance.
        ties: Ties = Ties::RoundRobin;
        /// Whether the links that send are a set of largest weight, of at most 64 links, or are
        /// taken one by one, the heaviest first.
        scheduler: Scheduler = Scheduler::Exact;
        /// Packets that a node holds; what is too much is dropped from its largest queue. Without
        /// it nothing is dropped.
        buffer_pkts: Option<u32>, in PACKETS;
        /// The flow control of flows with [`Arrivals::Utility`].
        flow_control: FlowControl = FlowControl::default();
        /// Slots between two samples of windows and queues, from the first slot on.
        sample_slots: Option<u64>, in 1..=2 * MAX_SLOTS;
        /// A map of stability over the rates of two flows.
        region: Option<Region>;
        /// The links.
        link: Vec<Link>;
        /// The flows.
        flow: Vec<Flow>;
        /// Which links may not send in the same slot.
        interference: Interference;
    }
}

words! {
    /// Whether an empty queue may be chosen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Rule {
        /// Each link serves the best of the flows that have packets.
        WorkConserving = "work-conserving",
        /// Equations (2) to (4) as printed: a flow without packets may win and waste the slot.
        Literal = "literal",
    }
}

words! {
    /// The rule between equal weights.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Ties {
        /// The longest wait, up to 63 slots; then the first in the list.
        RoundRobin = "round-robin",
        /// A random draw.
        Random = "random",
    }
}

words! {
    /// The scheduling algorithm.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scheduler {
        /// A set of largest weight; at most 64 links.
        Exact = "exact",
        /// The heaviest link first, then the heaviest of those that do not conflict with it, and
        /// so on.
        Greedy = "greedy",
    }
}

params! {
    /// The flow control of equation (5).
    ///
    /// Each node chooses rates x of the flows that enter there to maximise Σ (M log x − U x), with
    /// Σ x at most the bound.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FlowControl {
        /// M of the flow control: how much utility weighs against backlog (TCP-aware paper: 50).
        m: f64 = 50.0, in 0.001..=1e9;
        /// The most packets per slot that the flow control lets in at a node.
        r_max_pkts: f64 = 1.0, in POSITIVE_RATE;
    }
}

params! {
    /// Besides the run, the model is run again with each pair of rates on a square grid, for
    /// `warm_up_slots` and `slots` each, with the same channels; `region.parquet` has a row for
    /// each pair.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Region as "region" {
        /// The names of two flows with a rate.
        flows: Vec<Id>;
        /// Points along each side, in the middle of as many equal parts.
        points: u32 = 100, in 2..=500;
        /// Where both sides end, in packets per slot; they begin at 0.
        most_rate: f64 = 1.0, in POSITIVE_RATE;
    }
}

params! {
    /// A link in one direction. What it names are nodes.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Link as "link" {
        /// The node that sends.
        from: Id;
        /// The node that receives.
        to: Id;
        /// Packets in a slot in which the channel is ON.
        rate_pkts: u32 = 1, in 1..=100;
        /// Probability that the channel is ON in a slot, independently of all else.
        on: f64 = 1.0, in 0.0..=1.0;
    }
}

choice! {
    /// The interference model.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Interference {
        /// Which links may not send in the same slot.
        interference;

        /// All links may.
        None = "none";
        /// A node sends to or receives from one other at a time.
        Primary = "primary";
        /// One link sends in the whole network; a downlink from one node is this.
        CollisionDomain = "collision-domain";
        /// As listed.
        Conflicts = "conflicts" {
            /// Pairs of links, each link as "A-B" from A to B.
            conflicts: Vec<Vec<String>>;
        }
    }
}

params! {
    /// A flow. It takes any link that lies on a way from its source to its destination.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Flow as "flow" {
        /// What tables call it; without it "FROM-TO".
        name: Option<Id>;
        /// The node where packets arrive.
        from: Id;
        /// The node where they leave.
        to: Id;
        /// Packets in the queue of the source at the beginning; they are part of a window.
        ///
        /// They count as injected.
        backlog_pkts: u32 = 0, in UP_TO_PACKETS;
        /// The arrival process.
        arrivals: Arrivals;
    }
}

choice! {
    /// The arrival process of a flow.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Arrivals {
        /// What brings packets.
        arrivals: Bernoulli;

        /// The whole part of the rate in each slot, one more by chance.
        Bernoulli = "bernoulli" {
            /// Packets per slot on average.
            rate: f64, in RATE;
        }
        /// The rate, as evenly as whole packets can.
        Constant = "constant" {
            /// Packets per slot on average.
            rate: f64, in RATE;
        }
        /// As many as a window allows, like TCP.
        Window = "window" (window: Window = Window::default());
        /// What the flow control of Seferoglu and Modiano (2014), equation (5), lets in for the
        /// utility log x.
        Utility = "utility";
    }
}

params! {
    /// A congestion window, as TCP has one.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Window {
        /// The window at the beginning.
        window_pkts: u32 = 1, in PACKETS;
        /// Whether it grows by 1/W with each acknowledgment and is halved after a drop, once for
        /// each window, or stays.
        growth: Growth = Growth::Additive;
        /// It grows no further.
        most_window_pkts: u32 = 1_000_000, in PACKETS;
        /// Slots until the source knows of a delivery; with 0 it knows before the next slot. Of a
        /// drop it knows a slot later.
        ack_delay_slots: u32 = 0, in 0..=10_000;
    }
}

words! {
    /// How a window changes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Growth {
        /// 1/W with each acknowledgment; half of it is left after a drop, once for each window.
        Additive = "additive",
        /// It is constant.
        Fixed = "fixed",
    }
}

impl Config {
    /// Slots of the run, those of a region's points included.
    pub fn total_slots(&self) -> u64 {
        let region = self.region.as_ref();
        let points = region.map_or(0, |region| u64::from(region.points).pow(2));
        (self.warm_up_slots + self.slots).saturating_mul(1 + points)
    }

    /// The flows of the region, by index; `None` without a region.
    pub fn region_flows(&self) -> Option<Vec<usize>> {
        let names = self.region.as_ref()?.flows.iter();
        let index = |name: &Id| self.flow.iter().position(|flow| flow.label() == name.0);
        names.map(index).collect()
    }
}

impl Flow {
    /// Its name in tables.
    pub fn label(&self) -> String {
        let default = || format!("{}-{}", self.from.0, self.to.0);
        self.name
            .as_ref()
            .map_or_else(default, |name| name.0.clone())
    }
}
