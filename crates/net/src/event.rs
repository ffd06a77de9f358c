//! Everything that can be scheduled, and what the run digest takes of it.

use backlane_engine::Numbered;

use crate::packet::{LinkId, MediumId, NodeId};

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next packet of a link direction arrives; numbered by the link.
    Arrival(LinkId),
    /// A transmitter becomes idle, or a router asked to be notified of room in the queue.
    Transmit(LinkId),
    /// A router's timer.
    Router {
        /// The router's node.
        node: NodeId,
        /// The token that the router gave the timer.
        token: u32,
    },
    /// A timer of the application.
    Application {
        /// An endpoint, in the application's own numbering.
        id: u32,
        /// The token that the application gave the timer.
        token: u32,
    },
    /// A timer of a medium.
    Medium {
        /// The medium.
        medium: MediumId,
        /// The token that the medium gave the timer.
        token: u32,
    },
}

impl Numbered for Event {
    #[inline]
    fn numbered(number: u32) -> Self {
        Self::Arrival(LinkId(number))
    }
}

impl Event {
    /// The word that the digest gets for this event.
    #[inline]
    pub(crate) fn word(self) -> u64 {
        let (kind, a, b) = match self {
            Self::Arrival(link) => (0u64, link.0, 0),
            Self::Transmit(link) => (1, link.0, 0),
            Self::Router { node, token } => (2, node.0, token),
            Self::Application { id, token } => (3, id, token),
            // Media count down from the largest node number, so that they share a kind with
            // the routers.
            Self::Medium { medium, token } => (2, !medium.0, token),
        };
        kind << 62 | u64::from(b) << 32 | u64::from(a)
    }
}
