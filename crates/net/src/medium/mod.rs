//! Shared media, such as a radio access network or an 802.11 channel.
//!
//! A medium stands between hosts and the routers that they are attached to, in place of the
//! wires of [`Network::attach`](crate::Network::attach), or between routers, in place of the
//! wires of [`Network::connect`](crate::Network::connect). It holds the packets that it was
//! given until it delivers or drops them, and decides who sends when.
//!
//! - [`Medium`]: the trait that a medium implements.
//! - [`MediumContext`]: the packets, timers and hosts that its hooks may use.
//! - `mailbox`: the deferred requests of routers to media and the indications of media, with the
//!   one table of the routers' radios.
//!
//! Between routers a medium serves links: pairs of an interface here and one at a neighbour
//! ([`Network::connect_over`](crate::Network::connect_over)). It queues the frames, reports the
//! backlog of each transmitter, and indicates received and overheard packets, transmission
//! status and failures.

mod context;
mod hooks;
pub(crate) mod mailbox;

pub use context::MediumContext;
pub use hooks::Medium;
