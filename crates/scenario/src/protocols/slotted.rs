//! The slotted model of backpressure as a scenario states it.

/// A slotted model. Time counts in slots, amounts in packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Slotted {
    /// The scenario's name, for reports.
    pub name: String,
    /// The seed written in the file; a campaign gives its own.
    pub seed: u64,
    /// Slots that are measured.
    pub slots: u64,
    /// Slots before those.
    pub warm_up_slots: u64,
    /// K of TCP-aware backpressure; 0 is classical backpressure.
    pub k_pkts: u32,
    /// Whether only flows with packets compete.
    pub work_conserving: bool,
    /// Whether chance decides between equals, or else who has waited longest.
    pub random_ties: bool,
    /// Whether the scheduler is greedy, or else exact.
    pub greedy: bool,
    /// Packets that a node holds; `None` is without limit.
    pub buffer_pkts: Option<u32>,
    /// M of the flow control.
    pub m: f64,
    /// The most packets per slot that it lets in at a node.
    pub r_max_pkts: f64,
    /// Slots between two samples; `None` is never.
    pub sample_slots: Option<u64>,
    /// Over what a map of stability is drawn, if there is one.
    pub region: Option<Region>,
    /// The names of the nodes; links and flows refer to them by index.
    pub nodes: Vec<String>,
    /// The links, in the order of the file.
    pub links: Vec<Link>,
    /// Which links may not send in the same slot.
    pub interference: Interference,
    /// The flows, in the order of the file.
    pub flows: Vec<Flow>,
}

impl Slotted {
    /// Slots of the whole run, those of a map included.
    pub fn total_slots(&self) -> u64 {
        let points = self
            .region
            .map_or(0, |region| u64::from(region.points).pow(2));
        (self.warm_up_slots + self.slots).saturating_mul(1 + points)
    }
}

/// A map of stability over the rates of two flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Indices of two flows with a rate.
    pub flows: [usize; 2],
    /// Points along each side.
    pub points: u32,
    /// Where both sides end, in packets per slot.
    pub most_rate: f64,
}

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
    /// Packets in a slot in which the channel is ON.
    pub rate_pkts: u32,
    /// Probability that the channel is ON.
    pub on: f64,
}

/// Which links may not send in the same slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interference {
    /// All may.
    None,
    /// A node sends to or receives from one other at a time.
    Primary,
    /// One link sends in the whole network.
    CollisionDomain,
    /// Pairs of indices in [`Slotted::links`].
    Conflicts(Vec<(usize, usize)>),
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// What tables call it; unique.
    pub name: String,
    /// The node where packets arrive.
    pub source: usize,
    /// The node where they leave.
    pub destination: usize,
    /// What brings them.
    pub arrivals: Arrivals,
    /// Packets that are there at the beginning.
    pub backlog_pkts: u32,
}

/// What brings the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// So many per slot on average, by chance.
    Bernoulli(f64),
    /// So many per slot, evenly.
    Constant(f64),
    /// As many as a window allows.
    Window {
        /// At the beginning.
        initial_pkts: u32,
        /// How it changes.
        growth: Growth,
        /// Its largest value.
        most_pkts: u32,
        /// Slots until the source knows of a delivery.
        ack_delay_slots: u32,
    },
    /// What the flow control lets in.
    Utility,
}

impl Arrivals {
    /// The word used in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bernoulli(_) => "bernoulli",
            Self::Constant(_) => "constant",
            Self::Window { .. } => "window",
            Self::Utility => "utility",
        }
    }
}

/// How a window changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// 1/W with each acknowledgment, halved after a drop.
    Additive,
    /// Not at all.
    Fixed,
}
