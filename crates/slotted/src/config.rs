//! What a slotted network is.

/// A slotted network with its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Number of nodes; links and flows refer to them by index.
    pub nodes: usize,
    /// The links, each in one direction.
    pub links: Vec<Link>,
    /// Which links may not send in the same slot.
    pub interference: Interference,
    /// The flows.
    pub flows: Vec<Flow>,
    /// K of equation (2), in packets: a shorter queue counts as K before its own links. Zero is
    /// classical backpressure.
    pub k_pkts: u32,
    /// Whether an empty queue may be chosen.
    pub rule: Rule,
    /// What decides between equals.
    pub ties: Ties,
    /// Who looks for the schedule.
    pub scheduler: Scheduler,
    /// Packets that a node holds; what is too much is dropped from its largest queue. `None`
    /// is without limit.
    pub buffer_pkts: Option<u32>,
    /// The flow control of flows with [`Source::Utility`].
    pub flow_control: FlowControl,
    /// Slots before anything is measured; queues and windows live on.
    pub warm_up_slots: u64,
    /// Slots that are measured.
    pub slots: u64,
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
    /// Probability that the channel is ON in a slot, independently of all else.
    pub on: f64,
}

/// Which links may not send in the same slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interference {
    /// Every set of links may send.
    None,
    /// A node sends to or receives from one other at a time (node-exclusive).
    Primary,
    /// One link in the whole network at a time. A downlink from one base station is this.
    CollisionDomain,
    /// Pairs of indices of links.
    Conflicts(Vec<(usize, usize)>),
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The node where its packets arrive.
    pub source: usize,
    /// The node where they leave.
    pub destination: usize,
    /// What brings them.
    pub arrivals: Source,
    /// Packets in the queue of the source at the beginning; they count as injected.
    pub backlog_pkts: u32,
}

/// What brings the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// So many packets in a slot on average: the whole part in each, the rest by chance.
    Bernoulli(f64),
    /// So many packets in a slot, as evenly as whole packets can.
    Constant(f64),
    /// As many as a window allows.
    Window(Window),
    /// What equation (5) says for the utility log x.
    Utility,
}

/// A window, as TCP has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// At the beginning, in packets.
    pub initial_pkts: u32,
    /// How it changes.
    pub growth: Growth,
    /// Its largest value, in packets.
    pub most_pkts: u32,
    /// Slots from a delivery or a drop to the slot before which the source knows of it; zero: it
    /// knows before the next slot.
    pub ack_delay_slots: u32,
}

/// How a window changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Not at all.
    Fixed,
    /// 1/W with each acknowledgment; half of it is left after a drop, once for each window.
    Additive,
}

/// The flow control of equation (5): each node chooses rates x of the flows that enter there to
/// maximise Σ (M log x − U x), with Σ x at most the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowControl {
    /// M: how much utility weighs against backlog.
    pub m: f64,
    /// The largest sum of rates that enter at a node, in packets per slot.
    pub r_max_pkts: f64,
}

/// Whether an empty queue may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each link serves the best of the flows that have packets.
    WorkConserving,
    /// Equations (2) to (4) as printed: a flow without packets may win and waste the slot.
    Literal,
}

/// What decides between equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Who has waited longest, up to 63 slots; then the first in the list.
    RoundRobin,
    /// Chance.
    Random,
}

/// Who looks for the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// A set of largest weight; at most 64 links.
    Exact,
    /// The heaviest link first, then the heaviest of those that do not conflict with it, and so
    /// on.
    Greedy,
}
