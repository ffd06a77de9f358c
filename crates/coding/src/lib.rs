//! Random linear network coding between the edge of a network and a receiver.
//!
//! - [`gf256`] is the arithmetic, over slices with vector instructions (`simd`).
//! - [`generation`] mixes originals and takes them apart again.

pub mod generation;
pub mod gf256;
mod simd;
