//! Network coding between the edge of a network and a receiver, so that TCP sees neither the
//! losses nor the reordering of the network between them (Seferoglu and Modiano, "TCP-aware
//! backpressure routing and scheduling", §IV-A). Sans-I/O: time comes in as an argument, packets
//! go in and out as plain data.
//!
//! - [`gf256`] is the arithmetic, over slices with vector instructions (`simd`).
//! - [`generation`] encodes and decodes a generation of original packets.
//! - [`Edge`] is attached to the source's TCP, [`Receiver`] to the destination's; `message` has
//!   their messages, `config` their parameters.
//!
//! Left out: recoding at intermediate nodes, proactive redundancy, congestion marks.

mod config;
mod edge;
pub mod generation;
pub mod gf256;
mod message;
mod receiver;
mod simd;

pub use config::{Coefficients, Config};
pub use edge::{Acknowledgment, Coded, Edge, EdgeReadings, Original, Sender};
pub use message::{ANSWER_BYTES, Answer, AnswerKind, HEADER_BYTES, Header, LENGTH_BYTES};
pub use receiver::{Receiver, ReceiverReadings};
