//! Routing protocols, each behind [`backlane_net::Router`], one instance per node.
//!
//! - [`shortest_path`]: precomputed shortest paths, known at once everywhere.
//! - [`olsr`]: RFC 3626, with real messages on the links and tables that fill over time.
//! - [`aodv`]: RFC 3561, routes found when they are needed.
//! - [`backpressure`]: BP-MR per packet, burst and flow; BP and BS; classical backpressure.
//! - [`multipath`]: L2.5R, traffic over many paths in proportion to given flow rates.
//! - [`etx`]: how often a packet must be sent over a link, estimated from what arrives of probes.
//! - [`readings`]: the names of what routers measure.
//! - [`graph`]: the graph that the precomputed parts are computed on.

pub mod aodv;
pub mod backpressure;
pub mod etx;
mod flow_map;
pub mod graph;
pub mod multipath;
pub mod olsr;
pub mod readings;
pub mod shortest_path;
