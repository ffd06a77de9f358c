//! The quality of links, as olsrd's link quality extension tells it, and what a link costs.
//!
//! A node measures which share of a neighbour's packets arrives, by the numbers of the packets,
//! and says so in its HELLOs; so it learns from theirs which share of its own arrives. With both
//! it knows the link's ETX ([`crate::etx`]).

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::message::{Hello, LinkType};
use super::neighbourhood::Neighbourhood;
use crate::etx::DeliveryRatio;

/// The quality of a link in both directions, as messages carry it: 255 where everything arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// What arrives of the neighbour's packets at the node that tells (olsrd's LQ).
    pub heard: u8,
    /// What arrives at the neighbour of the packets of the node that tells (olsrd's NLQ).
    pub reached: u8,
}

/// The cost of a link over which every transmission succeeds.
const WHOLE: u64 = u8::MAX as u64 * u8::MAX as u64;
/// Costs are counted in this part of a transmission.
const PARTS: u64 = 1024;

impl Quality {
    /// Every packet arrives, both ways.
    pub const PERFECT: Self = Self {
        heard: u8::MAX,
        reached: u8::MAX,
    };

    /// The bytes in messages; two are left free.
    pub(super) const BYTES: usize = 4;

    pub(super) fn encode(self) -> [u8; Self::BYTES] {
        [self.heard, self.reached, 0, 0]
    }

    /// The link's ETX, in parts of 1024; `None` where nothing gets through one way.
    pub fn cost(self) -> Option<u64> {
        let both = u64::from(self.heard) * u64::from(self.reached);
        (PARTS * WHOLE).checked_div(both)
    }
}

/// What is known of one neighbour's link.
#[derive(Debug)]
struct Measured {
    ratio: DeliveryRatio,
    /// The longest time between two of its packets.
    interval: Duration,
    reached: u8,
}

/// The links of one node, by interface.
#[derive(Debug)]
pub(super) struct Qualities {
    window: Duration,
    links: Vec<Option<Measured>>,
}

impl Qualities {
    /// Ratios are taken over a window of this length.
    pub(super) fn new(window: Duration) -> Self {
        Self {
            window,
            links: Vec::new(),
        }
    }

    fn link(&mut self, interface: usize) -> &mut Measured {
        if self.links.len() <= interface {
            self.links.resize_with(interface + 1, || None);
        }
        self.links[interface].get_or_insert_with(|| Measured {
            ratio: DeliveryRatio::new(self.window),
            interval: self.window,
            reached: 0,
        })
    }

    /// A packet with this number arrived.
    pub(super) fn on_packet(&mut self, now: SimTime, interface: usize, sequence: u16) {
        self.link(interface).ratio.on_probe(now, sequence);
    }

    /// A HELLO of the neighbour on an interface arrived; `node` is who reads it.
    pub(super) fn on_hello(&mut self, node: NodeId, interface: usize, hello: &Hello<'_>) {
        let mut entries = hello.neighbours().zip(hello.qualities());
        // What is said of this node on another port does not count.
        let own = entries
            .find(|((code, listed), _)| *listed == node && code.link != LinkType::Unspecified);
        let link = self.link(interface);
        link.interval = hello.interval.decode();
        link.reached = own.map_or(0, |(_, quality)| quality.heard);
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
        let Some(Some(link)) = self.links.get(interface) else {
            return Quality::default();
        };
        let heard = link.ratio.ratio(now, link.interval) * f64::from(u8::MAX);
        Quality {
            heard: heard as u8,
            reached: link.reached,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_the_etx_in_parts_of_1024() {
        assert_eq!(Quality::PERFECT.cost(), Some(1024));
        let half = Quality {
            heard: 127,
            reached: 255,
        };
        // 1024 · 255 / 127 = 2056.06.
        assert_eq!(half.cost(), Some(2056));
        assert_eq!(Quality::default().cost(), None);
    }
}
