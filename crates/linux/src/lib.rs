//! Linux kernels as hosts of a simulated network.
//!
//! A host of a flow with `stack = "linux"` is a User Mode Linux kernel, a process of this machine,
//! whose time is that of the simulation: it runs only when the simulation lets it, and as far as it
//! lets it. Its network device is this program. So real TCP meets simulated links, cells and routers,
//! and two runs of one seed are equal to the bit.
//!
//! - [`calendar`]: the protocol by which a kernel asks for time (`time-travel=ext`).
//! - [`device`]: the protocol of its network device (vhost-user), over the rings of [`ring`] in its
//!   [`memory`].
//! - [`guest`]: a kernel with its process, its console and both of these.
//! - [`job`]: what the program in the kernel is asked to do; its text is in `guest/agent.c`.
//! - [`kernels`]: all kernels of a run, as the [`Outside`](backlane_world::Outside) of a world.
//!
//! Nothing here needs privileges, and no code is unsafe: the memory of a kernel is a file, read and
//! written as such. The kernel is built apart, by `backlane linux build`.
#![cfg(target_os = "linux")]

pub mod calendar;
mod cpu;
pub mod device;
mod failure;
pub mod guest;
pub mod job;
pub mod kernels;
pub mod memory;
mod program;
pub mod ring;
mod workplace;

pub use failure::Failure;
pub use kernels::{Build, Kernels};
