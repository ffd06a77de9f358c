//! Routing protocols, each behind [`backlane_net::Router`], one instance per node.
//!
//! - [`shortest_path`]: precomputed shortest paths, known at once everywhere.
//! - [`olsr`]: RFC 3626, with real messages on the links and tables that fill over time.
//! - [`aodv`]: RFC 3561, routes found when they are needed.
//! - [`backpressure`]: BP-MR per packet, burst and flow; BP and BS; classical backpressure.
//! - [`etx`]: how often a packet must be sent over a link, estimated from what arrives of probes.
//! - [`graph`]: the graph that the precomputed parts are computed on.

pub mod aodv;
pub mod backpressure;
pub mod etx;
pub mod graph;
pub mod olsr;
pub mod shortest_path;
