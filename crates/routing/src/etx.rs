//! ETX, the expected number of transmissions of a packet over a link, and its estimation (De Couto,
//! Aguayo, Bicket and Morris, "A high-throughput path metric for multi-hop wireless routing",
//! MobiCom 2003).
//!
//! Each node broadcasts probes, which are neither acknowledged nor repeated. A neighbour computes
//! the share that it received of those sent recently. A transmission succeeds if the frame arrives
//! and its acknowledgment comes back, so that the expected number of attempts is one over the
//! product of the delivery ratios both ways; the cost of a path is the sum over its links.
//!
//! Losses are counted by the probes' sequence numbers. The paper divides by the number of probes
//! due in the window, which takes a fixed period; the messages that serve as probes here have
//! jitter. The loss of a silent neighbour is estimated by time, since no sequence number arrives.

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

/// Expected transmissions of a frame over a link that delivers the share `forward` of frames one
/// way and `reverse` the other way: 1/(d_f · d_r). `None` where nothing gets through.
pub fn etx(forward: f64, reverse: f64) -> Option<f64> {
    let both = forward * reverse;
    (both > 0.0).then(|| 1.0 / both)
}

backlane_param::words! {
    /// The metric of routes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Metric {
        /// The number of links.
        #[default]
        Hops = "hops",
        /// The sum of the links' ETX. Every node must use it.
        Etx = "etx",
    }
}

/// The quality of a link in both directions, as messages carry it: 255 where everything arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// The share of the neighbour's probes that arrive at the reporting node (olsrd's LQ).
    pub heard: u8,
    /// The share of the reporting node's probes that arrive at the neighbour (olsrd's NLQ).
    pub reached: u8,
}

/// The cost of a link over which every transmission succeeds.
const WHOLE: u64 = u8::MAX as u64 * u8::MAX as u64;
/// Costs are integers in units of one transmission over this number.
const PARTS: u64 = 1024;

impl Quality {
    /// Every probe arrives, both ways.
    pub const PERFECT: Self = Self {
        heard: u8::MAX,
        reached: u8::MAX,
    };

    /// The bytes in OLSR's messages; two are reserved.
    pub(crate) const BYTES: usize = 4;

    pub(crate) fn encode(self) -> [u8; Self::BYTES] {
        [self.heard, self.reached, 0, 0]
    }

    /// The link's ETX, in parts of 1024; `None` where nothing gets through one way.
    pub fn cost(self) -> Option<u64> {
        let both = u64::from(self.heard) * u64::from(self.reached);
        (PARTS * WHOLE).checked_div(both)
    }
}

/// The state of the link to one neighbour.
#[derive(Debug)]
struct Measured {
    ratio: DeliveryRatio,
    /// The longest time between two of its probes.
    interval: Duration,
    reached: u8,
}

/// The links of one node, by interface.
#[derive(Debug)]
pub(crate) struct LinkQualities {
    window: Duration,
    links: Vec<Option<Measured>>,
}

impl LinkQualities {
    /// Ratios are taken over a window of this length.
    pub(crate) fn new(window: Duration) -> Self {
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

    /// A probe with this number arrived.
    pub(crate) fn on_probe(&mut self, now: SimTime, interface: usize, sequence: u16) {
        self.link(interface).ratio.on_probe(now, sequence);
    }

    /// Stores the maximum probe interval that the neighbour on an interface reports, and its
    /// delivery ratio for this node's probes.
    pub(crate) fn on_report(&mut self, interface: usize, interval: Duration, reached: u8) {
        let link = self.link(interface);
        link.interval = interval;
        link.reached = reached;
    }

    /// The quality of an interface's link.
    pub(crate) fn of(&self, now: SimTime, interface: usize) -> Quality {
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

/// A jump in the sequence numbers as large as this is a restart of the sender, not a loss.
const LARGEST_GAP: u16 = 256;

/// The share of a neighbour's recent probes that arrived.
#[derive(Clone, Debug)]
pub struct DeliveryRatio {
    window: Duration,
    /// Probes that arrived in the window, each with the number lost before it.
    heard: VecDeque<(SimTime, u16)>,
    received: u32,
    lost: u32,
    last_sequence: u16,
}

impl DeliveryRatio {
    /// The state of a neighbour without probes yet, over a window of this length.
    pub fn new(window: Duration) -> Self {
        Self {
            window,
            heard: VecDeque::new(),
            received: 0,
            lost: 0,
            last_sequence: 0,
        }
    }

    /// A probe arrived. The neighbour numbers its probes one by one.
    pub fn on_probe(&mut self, now: SimTime, sequence: u16) {
        let step = sequence.wrapping_sub(self.last_sequence);
        if step == 0 && !self.heard.is_empty() {
            return;
        }
        let started_anew = self.heard.is_empty() || step > LARGEST_GAP;
        let lost = if started_anew { 0 } else { step - 1 };
        self.last_sequence = sequence;
        self.heard.push_back((now, lost));
        self.received += 1;
        self.lost += u32::from(lost);
        self.forget(now);
    }

    /// The share of probes that arrived in the window up to `now`, between 0 and 1. `interval` is
    /// the longest time between two probes: after a longer silence, probes are counted as lost.
    pub fn ratio(&self, now: SimTime, interval: Duration) -> f64 {
        let Some(&(last, _)) = self.heard.back() else {
            return 0.0;
        };
        let (mut received, mut lost) = (self.received, self.lost);
        let mut heard = self.heard.iter();
        while let Some(&(_, before)) = heard.next().filter(|(at, _)| self.is_old(*at, now)) {
            received -= 1;
            lost -= u32::from(before);
        }
        let silent = now.saturating_since(last).as_ps();
        let overdue = silent / interval.as_ps().max(1);
        let due = u64::from(received) + u64::from(lost) + overdue;
        f64::from(received) / due.max(1) as f64
    }

    fn is_old(&self, at: SimTime, now: SimTime) -> bool {
        now.saturating_since(at) >= self.window
    }

    fn forget(&mut self, now: SimTime) {
        while let Some(&(at, lost)) = self.heard.front()
            && self.is_old(at, now)
        {
            self.heard.pop_front();
            self.received -= 1;
            self.lost -= u32::from(lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(s: u64) -> SimTime {
        SimTime::ZERO + SECOND * s
    }

    /// A neighbour that numbers its probes from `first`; the listed ones arrive, one each second.
    fn heard(first: u16, arrived: &[u16]) -> DeliveryRatio {
        let mut ratio = DeliveryRatio::new(SECOND * 10);
        for &n in arrived {
            ratio.on_probe(at(u64::from(n)), first.wrapping_add(n));
        }
        ratio
    }

    fn assert_ratio(ratio: &DeliveryRatio, s: u64, expected: f64) {
        let found = ratio.ratio(at(s), SECOND);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn etx_is_one_over_the_product_of_both_ratios() {
        assert_eq!(etx(1.0, 1.0), Some(1.0));
        assert_eq!(etx(0.5, 0.8), Some(2.5));
        assert_eq!(etx(0.0, 1.0), None);
    }

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

    #[test]
    fn a_neighbour_that_was_never_heard_delivers_nothing() {
        assert_ratio(&DeliveryRatio::new(SECOND), 5, 0.0);
    }

    #[test]
    fn losses_are_gaps_in_the_numbers() {
        // Of 0 to 7, three are missing; numbers wrap around.
        for first in [0, 1000, u16::MAX - 2] {
            assert_ratio(&heard(first, &[0, 1, 3, 4, 7]), 7, 5.0 / 8.0);
        }
    }

    #[test]
    fn probes_older_than_the_window_do_not_count() {
        let ratio = heard(0, &[0, 5, 6, 7, 8, 9, 10, 11]);
        // At 11 s the first is out; the gap before 5 goes with the probe that showed it.
        assert_ratio(&ratio, 11, 7.0 / 11.0);
        assert_ratio(&ratio, 14, 7.0 / 14.0);
        assert_ratio(&ratio, 15, 6.0 / 10.0);
    }

    #[test]
    fn silence_counts_as_loss_until_no_probe_is_left_in_the_window() {
        let ratio = heard(0, &[0, 1, 2, 3]);
        assert_ratio(&ratio, 3, 1.0);
        assert_ratio(&ratio, 7, 4.0 / 8.0);
        assert_ratio(&ratio, 13, 0.0);
    }

    #[test]
    fn a_repetition_counts_once_and_a_restart_counts_no_losses() {
        let mut ratio = heard(0, &[0, 1]);
        ratio.on_probe(at(1), 1);
        assert_ratio(&ratio, 1, 1.0);
        ratio.on_probe(at(2), 40_000);
        assert_ratio(&ratio, 2, 1.0);
    }
}
