//! The counters, the choice, and exclusion after failures.

use backlane_engine::Stream;
use backlane_net::{Interface, NodeId};
use backlane_units::{Duration, SimTime};

use super::Config;

/// The number of ageing steps per time constant.
const AGING_STEPS: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In use.
    Up,
    /// Excluded until then; `probed` if a probe packet is in flight.
    Excluded { until: SimTime, probed: bool },
    /// The exclusion has ended: the next packet that chooses the neighbour is a probe.
    Returning,
}

#[derive(Debug)]
struct Neighbour {
    node: NodeId,
    state: State,
    /// Bytes sent to it, each counted as the greatest flow rate of the node over its own.
    cost: f64,
    /// The greatest flow rate of the node over its own; infinite where the link is not used.
    per_byte: f64,
    /// Frames given up since the last acknowledged one.
    failures: u8,
    /// Whether it is at the end of a wire, which has a carrier and no acknowledgments.
    wired: bool,
    /// Whether it forwards other nodes' packets.
    transit: bool,
    /// Whether discovery has found the link to it.
    linked: bool,
}

/// A packet to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving<'a> {
    pub(super) exit: NodeId,
    /// The previous hop.
    pub(super) previous: NodeId,
    /// The interface that returned it undelivered, if any.
    pub(super) failed: Option<usize>,
    /// The links that it may still take, including this one.
    pub(super) budget: u16,
    /// The number of links to the exit, by node.
    pub(super) links_to_exit: &'a [u16],
}

/// The neighbours of a node, by interface.
#[derive(Debug)]
pub(super) struct Neighbours {
    all: Vec<Neighbour>,
    deliver_directly: bool,
    failure_threshold: u8,
    blacklist: Duration,
    aging: Option<Duration>,
    aged_at: SimTime,
    lost: u64,
}

impl Neighbours {
    /// The neighbours on `interfaces`, with their `flow_rates`.
    pub(super) fn new(
        config: &Config,
        interfaces: &[Interface],
        flow_rates: &[f64],
        no_transit: &[bool],
    ) -> Self {
        let greatest = flow_rates.iter().copied().fold(0.0, f64::max);
        let all = interfaces
            .iter()
            .zip(flow_rates)
            .map(|(interface, &rate)| Neighbour {
                node: interface.peer,
                state: State::Up,
                cost: 0.0,
                per_byte: if rate > 0.0 {
                    greatest / rate
                } else {
                    f64::INFINITY
                },
                failures: 0,
                wired: interface.radio.is_none(),
                transit: !no_transit[interface.peer.index()],
                linked: true,
            })
            .collect();
        Self {
            all,
            deliver_directly: config.deliver_directly,
            failure_threshold: config.failure_threshold,
            blacklist: config.blacklist,
            aging: config.aging.value(),
            aged_at: SimTime::ZERO,
            lost: 0,
        }
    }

    /// Which links discovery has found, by interface. Without this call they all exist.
    pub(super) fn link_by(&mut self, is_link: impl Fn(usize) -> bool) {
        for interface in 0..self.all.len() {
            let is_linked = is_link(interface);
            if is_linked && !self.all[interface].linked {
                self.catch_up(interface);
            }
            self.all[interface].linked = is_linked;
        }
    }

    /// How often a neighbour in use was excluded.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// The candidate that is furthest behind its flow rate; of several, a random one. `carrier`
    /// returns whether the wire of an interface is up.
    #[inline]
    pub(super) fn choose(
        &mut self,
        now: SimTime,
        packet: &Leaving<'_>,
        carrier: impl Fn(usize) -> bool,
        ties: &mut Stream,
    ) -> Option<usize> {
        self.age(now);
        let mut best: Option<usize> = None;
        let mut least = (u8::MAX, f64::INFINITY);
        let mut tied = 0;
        for interface in 0..self.all.len() {
            if !self.is_candidate(now, interface, packet, &carrier) {
                continue;
            }
            let neighbour = &self.all[interface];
            let class = if self.deliver_directly && neighbour.node == packet.exit {
                0
            } else if neighbour.node != packet.previous {
                1
            } else {
                2
            };
            let key = (class, neighbour.cost);
            if key < least {
                (best, least, tied) = (Some(interface), key, 1);
            } else if key == least {
                tied += 1;
                if ties.uniform_below(tied) == 0 {
                    best = Some(interface);
                }
            }
        }
        best
    }

    /// Whether a packet of a pinned flow may stay with an interface: it is a candidate and does not
    /// lead back.
    #[inline]
    pub(super) fn may_stay(
        &mut self,
        now: SimTime,
        interface: usize,
        packet: &Leaving<'_>,
        carrier: impl Fn(usize) -> bool,
    ) -> bool {
        self.all[interface].node != packet.previous
            && self.is_candidate(now, interface, packet, &carrier)
    }

    /// Counts a packet that leaves by an interface.
    #[inline]
    pub(super) fn count(&mut self, now: SimTime, interface: usize, size_bytes: u32) {
        self.age(now);
        let until = now.saturating_add(self.blacklist);
        let neighbour = &mut self.all[interface];
        neighbour.cost += f64::from(size_bytes) * neighbour.per_byte;
        if neighbour.state == State::Returning {
            neighbour.failures = 0;
            // Wires give no delivery feedback.
            neighbour.state = if neighbour.wired {
                State::Up
            } else {
                State::Excluded {
                    until,
                    probed: true,
                }
            };
        }
    }

    /// Processes the link layer's report on a frame.
    pub(super) fn on_frame_done(&mut self, now: SimTime, interface: usize, delivered: bool) {
        let neighbour = &mut self.all[interface];
        match (neighbour.state, delivered) {
            (State::Up, true) => neighbour.failures = 0,
            (State::Up, false) => {
                neighbour.failures = neighbour.failures.saturating_add(1);
                if neighbour.failures >= self.failure_threshold {
                    self.lost += 1;
                    self.exclude(now, interface);
                }
            }
            (State::Excluded { probed: true, .. }, true) => neighbour.state = State::Up,
            (State::Excluded { probed: true, .. }, false) => self.exclude(now, interface),
            // The frame was already in the device queue when the neighbour was excluded.
            (State::Excluded { probed: false, .. } | State::Returning, _) => {}
        }
    }

    #[inline]
    fn is_candidate(
        &mut self,
        now: SimTime,
        interface: usize,
        packet: &Leaving<'_>,
        carrier: &impl Fn(usize) -> bool,
    ) -> bool {
        let neighbour = &self.all[interface];
        let to_exit = packet.links_to_exit[neighbour.node.index()];
        if to_exit >= packet.budget
            || neighbour.per_byte == f64::INFINITY
            || !neighbour.linked
            || packet.failed == Some(interface)
            || !(neighbour.transit || neighbour.node == packet.exit)
        {
            return false;
        }
        if neighbour.state == State::Up && !neighbour.wired {
            return true;
        }
        self.is_in_use(now, interface, carrier)
    }

    /// Updates the state by carrier and time.
    fn is_in_use(
        &mut self,
        now: SimTime,
        interface: usize,
        carrier: &impl Fn(usize) -> bool,
    ) -> bool {
        let Neighbour { state, wired, .. } = self.all[interface];
        if let State::Excluded { until, .. } = state
            && now < until
        {
            return false;
        }
        if wired && !carrier(interface) {
            self.lost += u64::from(state == State::Up);
            self.exclude(now, interface);
            return false;
        }
        if matches!(state, State::Excluded { .. }) {
            self.catch_up(interface);
            self.all[interface].state = State::Returning;
        }
        true
    }

    fn exclude(&mut self, now: SimTime, interface: usize) {
        self.all[interface].state = State::Excluded {
            until: now.saturating_add(self.blacklist),
            probed: false,
        };
    }

    /// The counter of a neighbour that returns starts at the smallest of the others. Otherwise the
    /// neighbour would receive all packets until its counter had caught up.
    fn catch_up(&mut self, interface: usize) {
        let in_use = self.all.iter().filter(|neighbour| {
            neighbour.state == State::Up && neighbour.linked && neighbour.per_byte != f64::INFINITY
        });
        let least = in_use.map(|neighbour| neighbour.cost).reduce(f64::min);
        let cost = &mut self.all[interface].cost;
        *cost = least.map_or(*cost, |least| cost.max(least));
    }

    /// Ages the counters.
    #[inline]
    fn age(&mut self, now: SimTime) {
        if let Some(constant) = self.aging {
            let step_ps = (constant.as_ps() / AGING_STEPS).max(1);
            let since_ps = (now - self.aged_at).as_ps();
            if since_ps >= step_ps {
                let steps = since_ps / step_ps;
                self.aged_at = self.aged_at + Duration::from_ps(steps * step_ps);
                let factor = libm::exp(-(steps as f64) / AGING_STEPS as f64);
                for neighbour in &mut self.all {
                    neighbour.cost *= factor;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use backlane_engine::Streams;
    use backlane_net::LinkId;
    use backlane_param::OrOff;
    use backlane_units::Rate;

    use super::*;

    const EXIT: NodeId = NodeId(9);

    /// Neighbours 1, 2, … at two links from the exit, over radios or wires.
    struct Node {
        neighbours: Neighbours,
        links_to_exit: Vec<u16>,
        ties: Stream,
        radio: Option<u8>,
    }

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    impl Node {
        fn new(config: Config, flow_rates: &[f64], radio: Option<u8>) -> Self {
            let interfaces: Vec<Interface> = (1..=flow_rates.len() as u32)
                .map(|peer| Interface {
                    peer: NodeId(peer),
                    peer_interface: 0,
                    outgoing: LinkId(2 * peer),
                    incoming: LinkId(2 * peer + 1),
                    rate: Rate::from_bps(1_000_000),
                    radio,
                    peer_radio: radio,
                })
                .collect();
            let mut links_to_exit = vec![2; 10];
            links_to_exit[EXIT.index()] = 0;
            Self {
                neighbours: Neighbours::new(&config, &interfaces, flow_rates, &[false; 10]),
                links_to_exit,
                ties: Streams::new(5).stream("node", "ties"),
                radio,
            }
        }

        fn radios(flow_rates: &[f64]) -> Self {
            Self::new(Config::default(), flow_rates, Some(0))
        }

        fn choose(
            &mut self,
            now: SimTime,
            budget: u16,
            previous: u32,
            cut: &[usize],
        ) -> Option<usize> {
            let packet = Leaving {
                exit: EXIT,
                previous: NodeId(previous),
                failed: None,
                budget,
                links_to_exit: &self.links_to_exit,
            };
            let carrier = |interface| !cut.contains(&interface);
            self.neighbours
                .choose(now, &packet, carrier, &mut self.ties)
        }

        /// Sends a packet without previous hop and within any budget.
        fn send(&mut self, now: SimTime, size_bytes: u32) -> Option<usize> {
            let interface = self.choose(now, 3, 0, &[])?;
            self.neighbours.count(now, interface, size_bytes);
            Some(interface)
        }

        /// Bytes to each neighbour, of `packets` packets at one per millisecond.
        fn share(&mut self, packets: u64, size_bytes: impl Fn(u64) -> u32) -> Vec<u64> {
            let mut bytes = vec![0; self.neighbours.all.len()];
            for packet in 0..packets {
                let size = size_bytes(packet);
                bytes[self.send(at(packet), size).unwrap()] += u64::from(size);
            }
            bytes
        }

        fn fail(&mut self, now: SimTime, interface: usize) {
            assert!(self.radio.is_some());
            self.neighbours.on_frame_done(now, interface, false);
        }

        fn acknowledge(&mut self, now: SimTime, interface: usize) {
            self.neighbours.on_frame_done(now, interface, true);
        }
    }

    #[test]
    fn bytes_are_in_proportion_to_flow_rates_within_a_percent_after_ten_thousand_packets() {
        type Size = fn(u64) -> u32;
        let sizes: [(&str, Size); 3] = [
            ("full", |_| 1500),
            (
                "data and ACKs",
                |packet| if packet % 3 == 0 { 52 } else { 1500 },
            ),
            ("all", |packet| 40 + (packet * packet * 7919 % 1461) as u32),
        ];
        let rates: [&[f64]; 4] = [
            &[1.0, 2.0],
            &[15e6, 10e6, 5e6],
            &[20e6, 1e6, 7e6, 3.3e6],
            &[1.0, 1.0, 0.0, 0.05],
        ];
        for aging in [OrOff::Off, Config::default().aging] {
            for (name, size) in sizes {
                for flow_rates in rates {
                    let config = Config {
                        aging,
                        ..Config::default()
                    };
                    let bytes = Node::new(config, flow_rates, Some(0)).share(10_000, size);
                    let all: u64 = bytes.iter().sum();
                    let total: f64 = flow_rates.iter().sum();
                    for (&bytes, rate) in bytes.iter().zip(flow_rates) {
                        let expected = all as f64 * rate / total;
                        assert!(
                            (bytes as f64 - expected).abs() <= 0.01 * expected,
                            "{name}, {flow_rates:?}, {aging:?}: {bytes} for {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn neighbours_with_equal_flow_rates_take_turns_in_random_order() {
        let mut node = Node::radios(&[3.0, 3.0, 3.0]);
        let mut orders = std::collections::BTreeSet::new();
        for round in 0..1000 {
            let mut turn: Vec<usize> = (0..3)
                .map(|_| node.send(at(round), 1000).unwrap())
                .collect();
            orders.insert(turn.clone());
            turn.sort_unstable();
            assert_eq!(turn, [0, 1, 2]);
        }
        assert_eq!(orders.len(), 6, "each order comes up");
    }

    #[test]
    fn a_neighbour_beyond_the_budget_is_no_candidate() {
        let mut node = Node::radios(&[1.0, 1.0]);
        node.links_to_exit[1] = 3;
        for ms in 0..100 {
            assert_eq!(node.choose(at(ms), 3, 0, &[]), Some(1));
            assert_eq!(node.choose(at(ms), 2, 0, &[]), None);
        }
        let mut chosen = [0, 1].map(|ms| {
            let choice = node.choose(at(200 + ms), 4, 0, &[]).unwrap();
            node.neighbours.count(at(200 + ms), choice, 1000);
            choice
        });
        chosen.sort_unstable();
        assert_eq!(chosen, [0, 1]);
    }

    #[test]
    fn a_packet_returns_to_the_previous_hop_only_without_other_candidates() {
        let mut node = Node::radios(&[1.0, 1.0]);
        for ms in 0..100 {
            assert_eq!(node.choose(at(ms), 3, 1, &[]), Some(1));
            node.neighbours.count(at(ms), 1, 1000);
        }
        node.links_to_exit[2] = 3;
        assert_eq!(node.choose(at(100), 3, 1, &[]), Some(0));
    }

    #[test]
    fn an_adjacent_exit_is_always_taken_or_only_in_its_turn() {
        for deliver_directly in [true, false] {
            let config = Config {
                deliver_directly,
                ..Config::default()
            };
            let mut node = Node::new(config, &[1.0; 9], Some(0));
            let direct = (0..90).filter(|&ms| node.send(at(ms), 1000) == Some(8));
            assert_eq!(direct.count(), if deliver_directly { 90 } else { 10 });
        }
    }

    #[test]
    fn three_consecutive_failures_exclude_a_neighbour_for_five_seconds() {
        let mut node = Node::radios(&[1.0, 1.0]);
        for _ in 0..10 {
            node.fail(at(0), 0);
            node.fail(at(0), 0);
            node.acknowledge(at(0), 0);
        }
        assert_eq!(node.neighbours.lost(), 0);
        for _ in 0..3 {
            node.fail(at(10), 0);
        }
        assert_eq!(node.neighbours.lost(), 1);
        for ms in 10..5010 {
            assert_eq!(node.send(at(ms), 1000), Some(1));
        }
        let tried: Vec<usize> = (5010..5020)
            .map(|ms| node.send(at(ms), 1000).unwrap())
            .collect();
        assert_eq!(tried.iter().filter(|&&to| to == 0).count(), 1, "{tried:?}");
    }

    /// A node whose first neighbour was excluded at 0 s and is probed at 5 s.
    fn probing() -> Node {
        let mut node = Node::radios(&[1.0, 1.0]);
        for _ in 0..3 {
            node.fail(at(0), 0);
        }
        for ms in 0..5000 {
            node.send(at(ms), 1000);
        }
        while node.send(at(5000), 1000) != Some(0) {}
        node
    }

    #[test]
    fn a_failed_probe_excludes_the_neighbour_again() {
        let mut node = probing();
        node.fail(at(5010), 0);
        for ms in 5010..10_010 {
            assert_eq!(node.send(at(ms), 1000), Some(1));
        }
        assert_eq!(node.neighbours.lost(), 1, "it was not in use in between");
        let again = (10_010..10_020).any(|ms| node.send(at(ms), 1000) == Some(0));
        assert!(again);
    }

    #[test]
    fn a_neighbour_that_answers_a_probe_gets_its_share_and_no_more() {
        let mut node = probing();
        node.acknowledge(at(5010), 0);
        let bytes = (0..100).filter(|ms| node.send(at(5010 + ms), 1000) == Some(0));
        assert!((49..=51).contains(&bytes.count()));
    }

    #[test]
    fn a_probe_without_a_report_is_repeated() {
        let mut node = probing();
        assert!((5001..10_000).all(|ms| node.send(at(ms), 1000) == Some(1)));
        assert!((10_000..10_010).any(|ms| node.send(at(ms), 1000) == Some(0)));
    }

    #[test]
    fn a_wire_without_carrier_is_excluded_at_once_and_used_again_after_the_time() {
        let mut node = Node::new(Config::default(), &[1.0, 1.0], None);
        let chosen = |node: &mut Node, ms, cut: &[usize]| {
            let choice = node.choose(at(ms), 3, 0, cut).unwrap();
            node.neighbours.count(at(ms), choice, 1000);
            choice
        };
        assert!((0..100).all(|ms| chosen(&mut node, ms, &[0]) == 1));
        assert_eq!(node.neighbours.lost(), 1);
        assert!((100..5000).all(|ms| chosen(&mut node, ms, &[]) == 1));
        let back = (5000..5100).filter(|&ms| chosen(&mut node, ms, &[]) == 0);
        assert_eq!(back.count(), 50);
        assert_eq!(node.choose(at(5100), 3, 0, &[0, 1]), None);
    }
}
