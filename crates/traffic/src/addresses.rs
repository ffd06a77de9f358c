//! Addresses and ports by which packets of flows are known outside the simulation.

use backlane_net::NodeId;

/// The destination port, that of iperf; the source port identifies the flow.
pub const SERVER_PORT: u16 = 5001;
/// The first dynamic port (RFC 6335 §6).
const CLIENT_PORTS: u16 = 49_152;

/// The source port of a flow.
pub fn client_port(flow: u32) -> u16 {
    CLIENT_PORTS + (flow % u32::from(u16::MAX - CLIENT_PORTS)) as u16
}

/// The IPv4 address of a node: node n has 10.0.0.0 + n, as in the messages of routing protocols.
pub fn address(node: NodeId) -> u32 {
    (10 << 24) | (node.0 & 0x00ff_ffff)
}
