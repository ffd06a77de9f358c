//! One run on several threads.
//!
//! The nodes are divided into regions of similar load, one for each thread (`divide`). Each thread
//! has a simulation of the whole network and runs its own region of it (`backlane_net::simulation::crossing`).
//! Time passes in windows no longer than the least delay between regions (`windows`); at the end of
//! a window all threads meet (`gate`) and hand over the packets that crossed. What looks at the
//! whole network happens on one thread between windows: samples, failures, the end of the run.
//!
//! A run has the same results with any number of threads.

mod divide;
mod gate;
mod load;
mod plan;
mod team;
mod windows;

pub(crate) use divide::Division;
pub(crate) use plan::{Whole, divided, whole};
pub(crate) use team::{Member, Others, Parts, Team};
