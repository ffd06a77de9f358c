//! Routing protocols, each behind [`backlane_net::Router`], one instance per node.
//!
//! - [`shortest_path`]: precomputed shortest paths, known to every node from the start.
//! - [`explicit_paths`]: weighted paths between two routers, instead of the shortest.
//! - [`olsr`]: RFC 3626, with real messages on the links and tables that fill over time.
//! - [`ospf`]: RFC 2328 as FRR and BIRD run it, with equal-cost paths and BFD.
//! - [`babel`]: RFC 8966 as babeld and BIRD run it, on wires and over radios.
//! - [`batman`]: batman-adv IV and V, distance vectors of transmit quality and of throughput.
//! - [`aodv`]: RFC 3561, routes found when they are needed.
//! - [`backpressure`]: BP-MR per packet, burst and flow; BP and BS; classical backpressure.
//! - [`multipath`]: L2.5R, traffic over many paths in proportion to given flow rates.
//! - [`airtime`]: metrics of the time that a transmission takes, of rates and losses.
//! - [`etx`]: the expected number of transmissions over a link, estimated by probes.
//! - [`readings`]: the names of what routers measure.
//! - [`graph`]: the graph of routers, for precomputed distances and paths.

pub mod airtime;
pub mod aodv;
pub mod babel;
pub mod backpressure;
pub mod batman;
pub mod etx;
pub mod explicit_paths;
mod flow_map;
pub mod graph;
pub mod multipath;
pub mod olsr;
pub mod ospf;
pub mod readings;
pub mod shortest_path;
