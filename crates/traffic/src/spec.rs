//! What a flow is asked to do.

use backlane_net::NodeId;
use backlane_units::SimTime;

use crate::udp::UdpConfig;

/// A flow before it runs.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Where the data comes from.
    pub source: NodeId,
    /// Where it goes.
    pub destination: NodeId,
    /// Bytes of application data; `None` is endless.
    pub size_bytes: Option<u64>,
    /// When it starts.
    pub start: SimTime,
    /// When the source falls silent; `None` is never.
    pub stop: Option<SimTime>,
    /// What carries it.
    pub transport: TransportSpec,
}

/// What carries a flow.
#[derive(Clone, Debug)]
pub enum TransportSpec {
    /// TCP; the source of the data opens the connection, as ns-3's `BulkSendApplication` does.
    Tcp(backlane_tcp::Config),
    /// UDP.
    Udp(UdpConfig),
}
