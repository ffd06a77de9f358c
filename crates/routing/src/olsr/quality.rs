//! The quality of links: as in olsrd's link quality extension, or by the directional airtime metric.
//!
//! A node measures the share of a neighbour's packets that arrive, by their sequence numbers, and
//! reports it in its HELLOs. From its neighbours' HELLOs it learns the share of its own packets
//! that arrive. The two give the link's ETX ([`crate::etx`]). The second and the link's rate give the
//! airtime of the direction to the neighbour ([`crate::airtime`]).

use backlane_net::{Interface, NodeId};
use backlane_units::SimTime;

use super::airtimes::Airtimes;
use super::config::Config;
use super::message::{Hello, LinkReport, LinkType};
use super::metric::Metric;
use super::neighbourhood::Neighbourhood;
use crate::etx::LinkQualities;

/// The links of one node, by interface.
#[derive(Debug)]
pub(super) enum Qualities {
    Etx(LinkQualities),
    Airtime(Airtimes),
}

impl Qualities {
    /// What a metric needs, if it needs anything.
    pub(super) fn of_config(config: &Config) -> Option<Self> {
        let window = config.quality_window;
        match config.metric {
            Metric::Hops => None,
            Metric::Etx => Some(Self::Etx(LinkQualities::new(window))),
            Metric::Airtime => Some(Self::Airtime(Airtimes::new(window))),
        }
    }

    /// The node starts with these interfaces.
    pub(super) fn start(&mut self, interfaces: &[Interface]) {
        if let Self::Airtime(airtimes) = self {
            airtimes.start(interfaces);
        }
    }

    /// A packet with this number arrived.
    pub(super) fn on_packet(&mut self, now: SimTime, interface: usize, sequence: u16) {
        match self {
            Self::Etx(links) => links.on_probe(now, interface, sequence),
            Self::Airtime(links) => links.on_packet(now, interface, sequence),
        }
    }

    /// Processes a HELLO that `node` received from the neighbour on an interface.
    pub(super) fn on_hello(&mut self, node: NodeId, interface: usize, hello: &Hello<'_>) {
        let mut entries = hello.neighbours().zip(hello.qualities());
        // Entries for this node from another port are ignored.
        let own = entries
            .find(|((code, listed), _)| *listed == node && code.link != LinkType::Unspecified);
        let report = own.map_or(LinkReport::None, |(_, report)| report);
        let interval = hello.interval.decode();
        match self {
            Self::Etx(links) => {
                let reached = match report {
                    LinkReport::Etx(quality) => quality.heard,
                    _ => 0,
                };
                links.on_report(interface, interval, reached);
            }
            Self::Airtime(links) => {
                let reached = match report {
                    LinkReport::Airtime(airtime) => airtime.share(),
                    _ => 0.0,
                };
                links.on_report(interface, interval, reached);
            }
        }
    }

    /// The best of the symmetric links to a neighbour.
    pub(super) fn best(&self, now: SimTime, near: &Neighbourhood, node: NodeId) -> LinkReport {
        let links = near.symmetric_links().filter(|(other, _)| *other == node);
        let reports = links.map(|(_, interface)| self.of(now, interface));
        reports
            .min_by_key(|report| report.cost().unwrap_or(u64::MAX))
            .unwrap_or_else(|| self.of(now, usize::MAX))
    }

    /// The quality of an interface's link.
    pub(super) fn of(&self, now: SimTime, interface: usize) -> LinkReport {
        match self {
            Self::Etx(links) => LinkReport::Etx(links.of(now, interface)),
            Self::Airtime(links) => LinkReport::Airtime(links.of(now, interface)),
        }
    }
}
