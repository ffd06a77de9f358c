//! The directional airtime metric of a node's links (RFC 7779).
//!
//! The metric of a direction consists of the share of packets that arrive, which its receiver
//! counts, and of the rate at which its sender transmits. RFC 7779 has both at the receiver. Here a
//! router has the rate of the frames that it sends and not that of those that it receives; so the receiver
//! reports the share in its HELLOs, and the sender computes the metric of the direction.
//!
//! The rate of a wire is its own. A radio has one for each neighbour, that of the last frame to it,
//! as batman-adv's version V gets it. A frame is needed to know it: after a HELLO a
//! neighbour is sent a probe if no frame to it was completed since the HELLO before.

use backlane_net::Interface;
use backlane_units::{Duration, Rate, SimTime};

use super::report::Airtime;
use crate::airtime::{LinkMetric, LossMemory, MINIMUM_RATE, directional};

/// The size of a probe in bytes, without IP and UDP header: batman-adv's (`BATADV_ELP_MIN_PROBE_SIZE`).
pub(super) const PROBE_BYTES: usize = 200;

/// The state of the link on one interface.
#[derive(Debug)]
struct Link {
    radio: bool,
    rate: Rate,
    memory: LossMemory,
    hello_interval: Duration,
    /// The share of this node's packets that arrive at the neighbour.
    reached: f64,
    /// Whether a HELLO came from the neighbour.
    is_known: bool,
    /// Whether the rate was measured since the last HELLO.
    is_fresh: bool,
}

/// The links of one node, by interface.
#[derive(Debug)]
pub(super) struct Airtimes {
    window: Duration,
    links: Vec<Link>,
}

impl Airtimes {
    /// Losses are remembered over this time.
    pub(super) fn new(window: Duration) -> Self {
        Self {
            window,
            links: Vec::new(),
        }
    }

    pub(super) fn start(&mut self, interfaces: &[Interface]) {
        let link = |interface: &Interface| Link {
            radio: interface.radio.is_some(),
            rate: match interface.radio {
                Some(_) => MINIMUM_RATE,
                None => interface.rate,
            },
            memory: LossMemory::new(self.window),
            hello_interval: self.window,
            reached: 0.0,
            is_known: false,
            is_fresh: false,
        };
        self.links = interfaces.iter().map(link).collect();
    }

    pub(super) fn on_packet(&mut self, now: SimTime, interface: usize, sequence: u16) {
        if let Some(link) = self.links.get_mut(interface) {
            link.memory.on_packet(now, sequence);
        }
    }

    /// Stores the HELLO interval that the neighbour reports, and the share of this node's packets that
    /// it receives.
    pub(super) fn on_report(&mut self, interface: usize, hello_interval: Duration, reached: f64) {
        if let Some(link) = self.links.get_mut(interface) {
            link.hello_interval = hello_interval;
            link.reached = reached;
            link.is_known = true;
        }
    }

    /// A frame to the neighbour on an interface was completed, the last time at this rate.
    pub(super) fn on_status(&mut self, interface: usize, rate: Rate) {
        if let Some(link) = self.links.get_mut(interface) {
            link.rate = rate;
            link.is_fresh = true;
        }
    }

    /// Whether the neighbour on an interface must be sent a probe: its rate was not measured since
    /// the last call.
    pub(super) fn take_stale(&mut self, interface: usize) -> bool {
        let link = self.links.get_mut(interface);
        link.is_some_and(|link| {
            let fresh = std::mem::take(&mut link.is_fresh);
            link.radio && link.is_known && !fresh
        })
    }

    /// The quality of an interface's link.
    pub(super) fn of(&self, now: SimTime, interface: usize) -> Airtime {
        let Some(link) = self.links.get(interface) else {
            return Airtime::UNKNOWN;
        };
        Airtime {
            heard: Airtime::of_share(link.memory.share(now, link.hello_interval)),
            outgoing: LinkMetric::at_least(directional(link.reached, link.rate)),
        }
    }
}
