//! The parameters of queues, routing protocols and TCP as a scenario states them.

pub(crate) mod read;

use std::sync::Arc;

use backlane_units::{Bytes, Duration};

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
    },
    /// Backpressure routing over multiple radios.
    BpMr(BpMr),
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

/// The parameters of the TCP endpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// The congestion control.
    pub congestion_control: CongestionControl,
    /// Payload of a full segment, in bytes.
    pub mss_bytes: u32,
    /// Initial congestion window, in segments.
    pub initial_window_pkts: u32,
    /// Initial slow-start threshold, in segments; `None` is infinite.
    pub initial_ssthresh_pkts: Option<u32>,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Duration,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Duration,
    /// Upper bound of the retransmission timeout.
    pub max_rto: Duration,
    /// How the retransmission timeout follows the samples.
    pub rto_rule: RtoRule,
    /// How often a SYN is sent again.
    pub syn_retries: u32,
    /// Timeouts in a row before a connection fails.
    pub retries: u32,
    /// Segments acknowledged together; 1 acknowledges each at once.
    pub delayed_ack_segments: u32,
    /// Shortest wait of an acknowledgement for a further segment.
    pub delayed_ack_min: Duration,
    /// Longest wait; equal to the shortest for a fixed one.
    pub delayed_ack_max: Duration,
    /// Whether the first segments are acknowledged at once.
    pub quick_ack: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Whether duplicate acknowledgements of a hole are merged.
    pub sack_compression: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Duplicate acknowledgements that start a recovery.
    pub duplicate_threshold: u32,
    /// Receive buffer, in bytes.
    pub receive_buffer_bytes: u64,
    /// Most bytes sent and not yet acknowledged; `u64::MAX` is unlimited.
    pub send_buffer_bytes: u64,
    /// Whether an idle connection shrinks its window.
    pub slow_start_after_idle: bool,
    /// How CUBIC leaves slow start.
    pub hystart: HyStart,
}

/// A congestion control by its Linux name, or one's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// Grieco and Mascolo 2004.
    Westwood,
    /// Liu, Başar and Srikant 2006.
    Illinois,
    /// RFC 3649.
    HighSpeed,
    /// Caini and Firrincieli 2004.
    Hybla,
    /// Kelly 2003.
    Scalable,
    /// Brakmo and Peterson 1995.
    Vegas,
    /// Fu and Liew 2003.
    Veno,
    /// Leith and Shorten 2004.
    Htcp,
    /// Baiocchi, Castellani and Vacirca 2007.
    Yeah,
    /// Cardwell et al. 2016.
    Bbr,
    /// Hayes and Armitage 2011.
    Cdg,
    /// One that the simulator does not have; see [`crate::model::CustomControl::name`].
    Custom(Arc<str>),
}

impl CongestionControl {
    /// Every congestion control that the simulator has.
    pub const ALL: &[Self] = &[
        Self::Reno,
        Self::Cubic,
        Self::Westwood,
        Self::Illinois,
        Self::HighSpeed,
        Self::Hybla,
        Self::Scalable,
        Self::Vegas,
        Self::Veno,
        Self::Htcp,
        Self::Yeah,
        Self::Bbr,
        Self::Cdg,
    ];

    /// The names used in files.
    pub const NAMES: &[&str] = &[
        "reno",
        "cubic",
        "westwood",
        "illinois",
        "highspeed",
        "hybla",
        "scalable",
        "vegas",
        "veno",
        "htcp",
        "yeah",
        "bbr",
        "cdg",
    ];

    /// The name used in files; for one's own, [`crate::model::CustomControl::name`].
    pub fn name(&self) -> &str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Westwood => "westwood",
            Self::Illinois => "illinois",
            Self::HighSpeed => "highspeed",
            Self::Hybla => "hybla",
            Self::Scalable => "scalable",
            Self::Vegas => "vegas",
            Self::Veno => "veno",
            Self::Htcp => "htcp",
            Self::Yeah => "yeah",
            Self::Bbr => "bbr",
            Self::Cdg => "cdg",
            Self::Custom(name) => name,
        }
    }
}

/// How the retransmission timeout follows the RTT samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// The minimum bounds the variance term.
    Linux,
    /// The minimum bounds the whole timeout (RFC 6298 §2.4).
    Rfc6298,
}

/// How CUBIC leaves slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HyStart {
    /// As Linux does since 5.6.
    Linux,
    /// As Linux did before 5.6.
    LinuxLegacy,
    /// Only by loss.
    Off,
}
