//! Queue disciplines.
//!
//! Plain drop-tail has a fast path in [`crate::link`]: the time at which a packet leaves a FIFO
//! is known when it enters, so it needs no event of its own. Every other discipline decides at
//! dequeue time and implements [`QueueDiscipline`].

mod codel;
mod config;
mod discipline;
mod drop_tail;
mod fq_codel;
pub(crate) mod marking;
mod proportional_fair;
mod routing_first;

pub use codel::{CoDel, CoDelConfig, CoDelLaw, CoDelQueue};
pub use config::{QueueConfig, QueueFactory, QueueLimit, QueuePlace, QueueSite};
pub use discipline::QueueDiscipline;
pub use drop_tail::DropTail;
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub use proportional_fair::{ProportionalFair, User};
pub use routing_first::RoutingFirst;
