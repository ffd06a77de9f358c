//! A simulation on the wall clock, between real programs.
//!
//! Hosts of a scenario have TUN devices, each in a network namespace of its own. What a program
//! sends there enters the simulation at that instant, and what the simulation delivers to a host is
//! written to its device when the wall clock reaches the simulated time of the delivery.
//!
//! - [`pacer`]: the loop between two events of the simulation, over the two traits that it needs: a
//!   [`Door`] to the simulation and the [`Wall`] with its clock and devices.
//! - [`beside`]: the loop as the outside of a world.
//! - [`lateness`]: how far deliveries are behind the wall clock, and when the model does not keep up.
//! - `tun` (Linux): the devices.
//!
//! What it leaves out: offloads (every packet is at most one MTU), and a guarantee of timing. A
//! process that the operating system or a hypervisor stops for 100 ms delivers 100 ms late; this is
//! measured, and no correction is applied.

pub mod beside;
pub mod lateness;
pub mod pacer;
#[cfg(target_os = "linux")]
pub mod tun;

pub use beside::Beside;
pub use lateness::Lateness;
pub use pacer::{Counts, Door, Pacer, Stop, Wall};
