//! A TCP endpoint without I/O, that behaves like Linux 6.1.
//!
//! Time comes in as an argument, segments come in and go out as plain data; no clock, no
//! socket, no randomness. The map:
//!
//! - [`Connection`] is the endpoint; [`Segment`] is what it exchanges; [`Config`] is all that
//!   can be set, [`Readings`] and [`Statistics`] all that can be read.
//! - `handshake` opens it; `sender` decides what is sent; `receiver` reassembles the stream and
//!   `delayed_ack` decides when to acknowledge; `ecn_echo` echoes congestion marks.
//! - `autotuning` sizes the receive window.
//! - `loss` decides which segments are lost: one file per policy, and the state machine of
//!   recovery. What the policies share is in `recovery` (the congestion state, the window, timers,
//!   undo) and `scoreboard` (one record per segment in flight).
//! - `window` shrinks the window during a reduction, validates its use and paces segments; `rtt`
//!   computes the retransmission timeout, `min_rtt` the smallest RTT.
//! - [`congestion`] holds the window laws, one file each.
//!
//! Left out: AccECN, urgent data, resets, path MTU discovery.
//!
//! ```
//! use backlane_tcp::{Config, Connection};
//! use backlane_units::SimTime;
//!
//! let config = Config::default();
//! let now = SimTime::ZERO;
//! let mut client = Connection::connect(&config, now);
//! let mut server = Connection::listen(&config);
//! client.write(100_000);
//! loop {
//!     let mut quiet = true;
//!     while let Some(segment) = client.poll_transmit(now) {
//!         server.on_segment(now, &segment);
//!         quiet = false;
//!     }
//!     while let Some(segment) = server.poll_transmit(now) {
//!         client.on_segment(now, &segment);
//!         quiet = false;
//!     }
//!     if quiet {
//!         break;
//!     }
//! }
//! assert_eq!(server.received_bytes(), 100_000);
//! ```

pub mod congestion;

mod autotuning;
mod choices;
mod config;
mod connection;
mod delayed_ack;
mod ecn_echo;
mod handshake;
mod loss;
mod min_rtt;
mod readings;
mod receive_memory;
mod receiver;
mod recovery;
mod rtt;
mod sack_list;
mod scoreboard;
mod segment;
mod sender;
mod stack;
mod ts_recent;
mod window;

pub use backlane_param::{OrInfinite, OrOff, OrUnlimited};
pub use choices::{
    BurstLimit, ControlRtt, Growth, NextRecovery, OldAcks, RateReduction, RttSamples,
    SackedRetransmissions, ThresholdFrom, TimeoutMarks, WithoutNewData,
};
pub use config::{Config, Ecn, PrConfig, Reordering, RrConfig, RtoLaw, Seed};
pub use congestion::CongestionControlConfig;
pub use connection::Connection;
pub use readings::{Readings, SlowStartEnd, SlowStartExit, Statistics};
pub use recovery::CongestionState;
pub use segment::{EcnField, Flags, SackBlock, SackBlocks, Segment};
pub use stack::Stack;
