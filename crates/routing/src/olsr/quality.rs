//! The quality of links, as in olsrd's link quality extension.
//!
//! A node measures the share of a neighbour's packets that arrive, by their sequence numbers, and
//! reports it in its HELLOs. From its neighbours' HELLOs it learns the share of its own packets
//! that arrive. The two give the link's ETX ([`crate::etx`]).

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::message::{Hello, LinkType};
use super::neighbourhood::Neighbourhood;
use crate::etx::{LinkQualities, Quality};

/// The links of one node, by interface.
#[derive(Debug)]
pub(super) struct Qualities(LinkQualities);

impl Qualities {
    /// Ratios are taken over a window of this length.
    pub(super) fn new(window: Duration) -> Self {
        Self(LinkQualities::new(window))
    }

    /// A packet with this number arrived.
    pub(super) fn on_packet(&mut self, now: SimTime, interface: usize, sequence: u16) {
        self.0.on_probe(now, interface, sequence);
    }

    /// Processes a HELLO that `node` received from the neighbour on an interface.
    pub(super) fn on_hello(&mut self, node: NodeId, interface: usize, hello: &Hello<'_>) {
        let mut entries = hello.neighbours().zip(hello.qualities());
        // Entries for this node from another port are ignored.
        let own = entries
            .find(|((code, listed), _)| *listed == node && code.link != LinkType::Unspecified);
        let reached = own.map_or(0, |(_, quality)| quality.heard);
        self.0
            .on_report(interface, hello.interval.decode(), reached);
    }

    /// The best of the symmetric links to a neighbour.
    pub(super) fn best(&self, now: SimTime, near: &Neighbourhood, node: NodeId) -> Quality {
        let links = near.symmetric_links().filter(|(other, _)| *other == node);
        let qualities = links.map(|(_, interface)| self.of(now, interface));
        qualities
            .min_by_key(|quality| quality.cost().unwrap_or(u64::MAX))
            .unwrap_or_default()
    }

    /// The quality of an interface's link.
    pub(super) fn of(&self, now: SimTime, interface: usize) -> Quality {
        self.0.of(now, interface)
    }
}
