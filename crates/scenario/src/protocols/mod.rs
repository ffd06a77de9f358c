//! The parameters of queues, routing protocols and TCP as a scenario states them.

pub mod lte;
pub(crate) mod read;
pub mod slotted;
pub(crate) mod tcp;
pub mod wifi;

use backlane_units::{Bytes, Duration};

pub use tcp::{
    CongestionControl, Ecn, Parameter, PrParameters, Reordering, RrParameters, RtoRule, Tcp, Value,
};

/// The queue before a link direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// How much it holds.
    pub limit: QueueLimit,
    /// With drop-tail: what understands congestion marks is marked if more than this waits.
    pub mark_above: Option<QueueLimit>,
    /// What it drops and when.
    pub discipline: QueueDiscipline,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of packets of any size.
    Packets(u64),
}

/// What a queue drops and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDiscipline {
    /// What arrives at a full queue is dropped.
    DropTail,
    /// Controlled delay (RFC 8289).
    Codel(CodelLimits),
    /// Controlled delay per flow, with deficit round robin (RFC 8290).
    FqCodel {
        /// The control law's parameters.
        codel: CodelLimits,
        /// Bytes a flow may send per round.
        quantum: Bytes,
        /// Number of hash buckets.
        flows: u32,
    },
}

/// The parameters of the controlled-delay law (RFC 8289 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelLimits {
    /// Acceptable standing queue delay.
    pub target: Duration,
    /// Time in which the delay must fall below the target.
    pub interval: Duration,
    /// Whether packets that understand congestion marks are marked instead of dropped.
    pub ecn: bool,
}

/// The routing protocol of the backhaul.
#[derive(Clone, Debug, PartialEq)]
pub enum Routing {
    /// Precomputed shortest paths.
    ShortestPath {
        /// What is shortest.
        metric: Metric,
        /// Indices of the nodes that send over all their shortest paths in turn.
        spray: Vec<usize>,
    },
    /// Optimized link state routing (RFC 3626).
    Olsr {
        /// Time between HELLO messages.
        hello_interval: Duration,
        /// Time between topology control messages.
        tc_interval: Duration,
        /// Largest random reduction of an interval.
        jitter: Duration,
        /// How long a neighbour is believed after its last HELLO.
        neighbour_hold: Duration,
        /// How long topology is believed after its last announcement.
        topology_hold: Duration,
        /// Whether routes are short in expected transmissions, or else in links.
        etx: bool,
        /// Losses are counted over so long.
        quality_window: Duration,
    },
    /// Ad hoc on-demand distance vector routing (RFC 3561).
    Aodv(Aodv),
    /// Backpressure routing with one queue per node.
    SingleQueue(SingleQueue),
    /// Classical backpressure routing.
    Classic(Classic),
    /// Backpressure routing over multiple radios.
    BpMr(BpMr),
    /// TCP-aware backpressure routing.
    TcpAware(TcpAware),
    /// Forwarding over many paths in proportion to flow rates.
    L25r(L25r),
}

/// Parameters of AODV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aodv {
    /// Whose timers and limits.
    pub profile: AodvProfile,
    /// Whether nodes send HELLOs; `None` does where there are wires.
    pub hello: Option<bool>,
    /// Whether the node before a lost link looks for a way round it.
    pub local_repair: bool,
    /// Packets that wait for routes in one node.
    pub buffer_pkts: u32,
    /// Whether routes are short in expected transmissions, or else in links.
    pub etx: bool,
    /// Losses are counted over so long.
    pub quality_window: Duration,
}

/// Whose timers and limits AODV has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AodvProfile {
    /// Those of RFC 3561 §10.
    Rfc,
    /// Those of ns-2.35.
    Ns2,
}

/// Parameters of backpressure routing with one queue per node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleQueue {
    /// How distance counts.
    pub penalty: PenaltyRule,
    /// Whether distances are Euclidean, or else numbers of links.
    pub euclidean: bool,
    /// Limit of the node's queue, in packets.
    pub queue_limit_pkts: u32,
    /// How a node knows its neighbours' queues.
    pub queue_info: QueueInfo,
    /// Time between HELLO messages.
    pub hello_interval: Duration,
    /// The weight of the distance; `None` follows the queues.
    pub fixed_v: Option<f64>,
    /// Whether a weight that follows the queues counts on their growth.
    pub anticipate: bool,
    /// Packets handed to the device ahead of the link.
    pub device_queue_pkts: u32,
    /// Whether a packet that wandered far is routed greedily.
    pub ttl_rule: bool,
}

/// How distance counts in backpressure with one queue per node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenaltyRule {
    /// −1 towards a neighbour that is closer or as far, +1 away.
    Plain,
    /// With virtual backlogs in dead ends.
    Shadow,
    /// With the previous hop as memory.
    Sparse,
}

/// Parameters of classical backpressure routing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classic {
    /// Limit of each destination's queue, in packets.
    pub queue_limit_pkts: u32,
    /// How a node knows its neighbours' backlogs.
    pub queue_info: QueueInfo,
    /// Time between HELLO messages.
    pub hello_interval: Duration,
    /// Time after which waiting packets are looked at again.
    pub slot: Duration,
    /// Packets handed to the device ahead of the link.
    pub device_queue_pkts: u32,
}

/// What a shortest path minimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The number of links.
    Hops,
    /// The sum of the propagation delays.
    Delay,
    /// The sum of the inverse rates.
    InverseRate,
}

/// Parameters of backpressure routing over multiple radios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BpMr {
    /// What a decision holds for.
    pub granularity: Granularity,
    /// Limit of the routing queue of an interface, in packets.
    pub queue_limit_pkts: u32,
    /// The same at the gateway.
    pub gateway_queue_limit_pkts: u32,
    /// How a node knows its neighbours' queues.
    pub queue_info: QueueInfo,
    /// Time between HELLO messages.
    pub hello_interval: Duration,
    /// The weight of the distance; `None` follows the queues.
    pub fixed_v: Option<f64>,
    /// Packets handed to the device ahead of the link.
    pub device_queue_pkts: u32,
    /// A flow entry is forgotten when unused for this long.
    pub flow_idle: Duration,
    /// A flow entry is decided anew at this age.
    pub flow_max_age: Duration,
    /// Whether a packet that wandered far is routed greedily.
    pub ttl_rule: bool,
}

/// Parameters of TCP-aware backpressure routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpAware {
    /// Packets that a node holds in all its queues.
    pub buffer_pkts: u32,
    /// Up to this many packets flows weigh alike; `None` shares the buffer among them.
    pub k_pkts: Option<u32>,
    /// A flow crosses a node until it has had no packet there for this long.
    pub flow_idle: Duration,
    /// Time over which a radio link's failures and rates are looked at.
    pub quality_window: Duration,
    /// A silent node tells of changed queues after so long.
    pub report_idle: Duration,
    /// A silent node tells of unchanged queues after so long.
    pub report_interval: Duration,
    /// A neighbour that was not heard for this long is sent nothing.
    pub neighbour_hold: Duration,
    /// Time after which waiting packets are looked at again.
    pub retry: Duration,
    /// Whether acknowledgment streams go first.
    pub ack_priority: bool,
    /// Whether flows without a packet take part in the choice.
    pub empty_flows_compete: bool,
    /// Whether flows keep to the links on their simple paths.
    pub simple_paths: bool,
    /// Whether a link's failures are counted in attempts, or else in packets.
    pub count_attempts: bool,
}

/// Parameters of L2.5R.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L25r {
    /// What stays with the neighbour that the first packet of a flow chose.
    pub allocation: Allocation,
    /// What is not pinned chooses only after a longer gap; `None` chooses with every packet.
    pub burst_gap: Option<Duration>,
    /// What is pinned chooses anew when its choice is so old; `None` keeps it.
    pub repin_period: Option<Duration>,
    /// Links that a packet may take beyond those of the shortest way.
    pub extra_hops: u8,
    /// Whether a packet always goes to its exit where that is a neighbour.
    pub deliver_directly: bool,
    /// Frames given up in a row after which a neighbour is left out.
    pub failure_threshold: u8,
    /// For how long it is left out.
    pub blacklist: Duration,
    /// Time constant with which the bytes sent are forgotten; `None` keeps them.
    pub aging: Option<Duration>,
    /// A pinned flow chooses anew when it was silent for longer than this.
    pub flow_idle: Duration,
}

/// Which packets of a flow stay with one neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// None.
    Packet,
    /// Data and acknowledgments.
    DataAck,
    /// Data.
    Data,
    /// Acknowledgments.
    Ack,
}

/// What a next-hop decision holds for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Granularity {
    /// One packet.
    Packet,
    /// One flow and direction.
    Flow,
    /// One burst of a flow and direction.
    Burst(Burst),
}

/// What ends a burst of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// The age of the decision.
    Periodic {
        /// A burst ends at this age.
        period: Duration,
    },
    /// Congestion on the way that was chosen.
    Reactive(Reaction),
    /// Either of the two.
    Hybrid {
        /// A burst ends at this age.
        period: Duration,
        /// Congestion ends no younger burst.
        min_age: Duration,
        /// What congestion is.
        reaction: Reaction,
    },
    /// A gap in the flow.
    Flowlet {
        /// A longer gap ends a burst.
        gap: Duration,
    },
}

/// What counts as congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// The queue holds more than this share of its limit.
    pub queue_share: f64,
    /// Another neighbour's weight is larger by more than this share …
    pub advantage: f64,
    /// … for so long.
    pub hold: Duration,
}

/// How a node knows its neighbours' queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueInfo {
    /// From their last HELLO.
    Hello,
    /// Exactly and at once, as a bound on what any signalling could reach.
    Oracle,
}
