//! BP-MR: backpressure routing for multiple radios.

use backlane_units::Duration;

/// What a routing decision holds for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// One packet.
    Packet,
    /// One flow and direction, until its entry runs out.
    #[default]
    Flow,
}

/// How a node knows the queues of its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueInfo {
    /// From their last HELLO, as the protocol is published.
    #[default]
    Hello,
    /// Exactly and at once: a bound on what signalling could reach, and how the authors'
    /// simulations ran.
    Oracle,
}

/// The weight of proximity against queues.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum V {
    /// What is free of the queue that leads to the neighbour.
    #[default]
    Variable,
    /// Always this, in packets.
    Fixed(f64),
}

/// Configuration of BP-MR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// What a decision holds for.
    pub granularity: Granularity,
    /// `Q_MAX`: the limit of each interface's queue, in packets.
    pub queue_limit_pkts: u32,
    /// The same at the gateway to the core network.
    pub gateway_queue_limit_pkts: u32,
    /// How a node knows the queues of its neighbours.
    pub queue_info: QueueInfo,
    /// Time between HELLOs.
    pub hello_interval: Duration,
    /// The weight of proximity against queues.
    pub v: V,
    /// Packets handed to the device ahead of the transmitter.
    pub device_queue_pkts: u32,
    /// A flow's entry is forgotten when it has not been used for this long.
    pub flow_idle: Duration,
    /// A flow's entry is decided anew at this age.
    pub flow_max_age: Duration,
    /// Packets that have wandered for more than 24 hops are routed greedily.
    pub ttl_rule: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            granularity: Granularity::Flow,
            queue_limit_pkts: 340,
            gateway_queue_limit_pkts: 510,
            queue_info: QueueInfo::Hello,
            hello_interval: Duration::from_millis(100),
            v: V::Variable,
            device_queue_pkts: 2,
            flow_idle: Duration::from_secs(10),
            flow_max_age: Duration::from_secs(100),
            ttl_rule: true,
        }
    }
}
