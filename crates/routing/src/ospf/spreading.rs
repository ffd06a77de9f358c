//! How the packets for an exit are spread over several equal paths: by a hash, as routers do, or as
//! switches can do: in flowlets (LetFlow), by the queues (DRILL), or in turn.

use backlane_engine::Stream;
use backlane_net::{ByExit, Division, NodeId, Packet};
use backlane_param::OrAuto;
use backlane_units::SimTime;

use super::config::{Config, Spread};
use super::paths::{Paths, hash};

/// The flow that uses an entry of the table of flowlets, or used it last.
#[derive(Clone, Copy, Debug)]
struct Flowlet {
    /// The period of ageing in which its last packet came.
    period: u64,
    interface: u16,
}

/// Equal paths, and what is remembered of them.
#[derive(Clone, Debug)]
struct Group {
    paths: Paths,
    /// The least loaded interfaces so far (DRILL).
    remembered: Vec<u16>,
    /// How far each path is behind its share (smooth weighted round robin).
    credits: Vec<i128>,
}

/// The equal paths of a packet, and its number among flows.
#[derive(Clone, Copy, Debug)]
pub struct Several {
    group: u16,
    number: u32,
}

/// The choice among equal paths of one router.
#[derive(Debug)]
pub struct Spreading {
    /// The key of the hash.
    key: u64,
    draws: Stream,
    /// Exits with several paths, by their group.
    divided: ByExit<u16>,
    /// Exits with the same paths share a group.
    groups: Vec<Group>,
    /// By a packet's number, modulo their number.
    flowlets: Vec<Option<Flowlet>>,
    /// Interfaces in order, for draws without repetition.
    order: Vec<u16>,
}

impl Spreading {
    /// No exit has several paths. `drawn` is the key of the hash if `config` has none.
    pub fn new(config: &Config, drawn: u64, draws: Stream) -> Self {
        let flowlets = match config.spread {
            Spread::LetFlow => config.flowlets as usize,
            _ => 0,
        };
        Self {
            key: match config.hash_key {
                OrAuto::Auto => drawn,
                OrAuto::Value(key) => u64::from(key),
            },
            draws,
            divided: ByExit::default(),
            groups: Vec::new(),
            flowlets: vec![None; flowlets],
            order: Vec::new(),
        }
    }

    /// No exit has several paths any more. Flowlets are kept: one whose link is no longer among the
    /// paths ends.
    pub fn clear(&mut self) {
        self.divided = ByExit::default();
        self.groups.clear();
    }

    /// An exit has no longer several paths.
    pub fn remove(&mut self, exit: NodeId) {
        self.divided.remove(exit);
    }

    /// The packets for `exit` are spread over these interfaces.
    pub fn divide(&mut self, exit: NodeId, interfaces: &[u16], weight: impl Fn(u16) -> u64) {
        let paths = Paths::new(interfaces, weight);
        let known = self.groups.iter().position(|group| group.paths == paths);
        let at = known.unwrap_or_else(|| {
            self.groups.push(Group {
                remembered: Vec::new(),
                credits: vec![0; interfaces.len()],
                paths,
            });
            self.groups.len() - 1
        });
        self.divided.insert(exit, at as u16);
    }

    /// The paths of a packet and its number among flows, if its exit has several paths.
    #[inline]
    pub fn paths_of(&self, config: &Config, packet: &Packet) -> Option<Several> {
        let group = self.divided.get(packet.exit)?;
        let number = match config.spread {
            Spread::Hash | Spread::LetFlow => hash(self.key, packet, config.hash),
            Spread::Drill | Spread::RoundRobin => 0,
        };
        Some(Several { group, number })
    }

    /// The paths of a packet and the one of its flow, if a hash chooses it.
    pub fn division(&self, config: &Config, packet: &Packet) -> Option<Division> {
        let Several { group, number } = self.paths_of(config, packet)?;
        let paths = &self.groups[usize::from(group)].paths;
        let chosen = (config.spread == Spread::Hash).then(|| paths.choose(number))??;
        Some(Division {
            interfaces: paths.interfaces().collect(),
            chosen,
        })
    }

    /// The interface of a packet. `backlog` gives the number of packets in the queue of an interface.
    #[inline]
    pub fn choose(
        &mut self,
        config: &Config,
        several: Several,
        now: SimTime,
        backlog: impl FnMut(usize) -> usize,
    ) -> Option<usize> {
        let Several { group, number } = several;
        let group = usize::from(group);
        let interface = match config.spread {
            Spread::Hash => self.groups[group].paths.choose(number),
            Spread::LetFlow => self.by_flowlet(config, number, now, group),
            Spread::Drill => self.by_queue(config, group, backlog),
            Spread::RoundRobin => self.in_turn(group),
        };
        interface.map(usize::from)
    }

    /// LetFlow (Vanini et al., NSDI 2017): a flowlet takes a random path, and its packets follow. As
    /// there, an entry has one bit of age: a process visits it once in a gap, sets the bit, and
    /// frees an entry whose bit is still set. A flowlet so ends after one to two gaps of silence.
    fn by_flowlet(
        &mut self,
        config: &Config,
        number: u32,
        now: SimTime,
        group: usize,
    ) -> Option<u16> {
        let paths = &self.groups[group].paths;
        let period = now.as_ps() / config.flowlet_gap.as_ps();
        let size = self.flowlets.len();
        let entry = &mut self.flowlets[number as usize % size];
        if let Some(flowlet) = entry
            && flowlet.period + 1 >= period
            && paths.has(flowlet.interface)
        {
            flowlet.period = period;
            return Some(flowlet.interface);
        }
        let interface = paths.choose((self.draws.next_u64() >> 32) as u32)?;
        *entry = Some(Flowlet { period, interface });
        Some(interface)
    }

    /// DRILL(d, m) (Ghorbani et al., SIGCOMM 2017): the shortest queue of d random ones and of the m
    /// that were shortest before. Of equal ones the first drawn.
    fn by_queue(
        &mut self,
        config: &Config,
        group: usize,
        mut backlog: impl FnMut(usize) -> usize,
    ) -> Option<u16> {
        let group = &mut self.groups[group];
        self.order.clear();
        self.order.extend(group.paths.interfaces());
        let samples = (config.drill_samples as usize).min(self.order.len());
        for at in 0..samples {
            let left = (self.order.len() - at) as u64;
            let other = at + self.draws.uniform_below(left) as usize;
            self.order.swap(at, other);
        }
        self.order.truncate(samples);
        for remembered in &group.remembered {
            if !self.order.contains(remembered) {
                self.order.push(*remembered);
            }
        }
        let mut seen: Vec<(usize, u16)> = (self.order.iter())
            .map(|&interface| (backlog(usize::from(interface)), interface))
            .collect();
        seen.sort_by_key(|(pkts, _)| *pkts);
        group.remembered.clear();
        let memory = config.drill_memory as usize;
        let shortest = seen.iter().take(memory).map(|(_, interface)| *interface);
        group.remembered.extend(shortest);
        seen.first().map(|(_, interface)| *interface)
    }

    /// Smooth weighted round robin, as in nginx: each packet adds its weight to each path, and the
    /// path with the most gives up the sum of all weights. Shares are exact to one packet.
    fn in_turn(&mut self, group: usize) -> Option<u16> {
        let group = &mut self.groups[group];
        let mut sum = 0;
        let mut best: Option<usize> = None;
        for (at, weight) in group.paths.weights().enumerate() {
            sum += i128::from(weight);
            group.credits[at] += i128::from(weight);
            if best.is_none_or(|best| group.credits[at] > group.credits[best]) {
                best = Some(at);
            }
        }
        let best = best?;
        group.credits[best] -= sum;
        group.paths.interfaces().nth(best)
    }
}

#[cfg(test)]
mod tests {
    use backlane_engine::Streams;
    use backlane_net::FlowId;
    use backlane_units::Duration;
    use proptest::prelude::*;

    use super::*;

    const EXIT: NodeId = NodeId(9);

    /// Four paths by the interfaces 0 to 3, of these weights.
    struct Router {
        config: Config,
        spreading: Spreading,
    }

    impl Router {
        fn new(spread: Spread, weights: [u64; 4], more: impl FnOnce(&mut Config)) -> Self {
            let mut config = Config {
                spread,
                hash: crate::ospf::config::Hash::Ports,
                ..Config::default()
            };
            more(&mut config);
            let draws = Streams::new(5).stream("n0", "spread");
            let mut spreading = Spreading::new(&config, 77, draws);
            spreading.divide(EXIT, &[0, 1, 2, 3], |at| weights[usize::from(at)]);
            Self { config, spreading }
        }

        fn choose(&mut self, flow: u32, at: Duration, queues: &[usize]) -> usize {
            let mut packet = Packet::new(FlowId(flow), NodeId(1), NodeId(2), 1500);
            packet.exit = EXIT;
            let several = self.spreading.paths_of(&self.config, &packet).unwrap();
            let now = SimTime::ZERO + at;
            self.spreading
                .choose(&self.config, several, now, |interface| queues[interface])
                .unwrap()
        }
    }

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// χ² of the counts against equal shares.
    fn chi_square(counts: &[u64]) -> f64 {
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let squares = counts.iter().map(|&count| (count as f64 - mean).powi(2));
        squares.sum::<f64>() / mean
    }

    #[test]
    fn flowlets_draw_their_paths_with_equal_probability() {
        let mut router = Router::new(Spread::LetFlow, [1; 4], |_| {});
        let mut counts = [0; 4];
        for packet in 0..40_000 {
            counts[router.choose(1, us(1500 * packet), &[])] += 1;
        }
        // Three degrees of freedom: above 16.3 once in a thousand times.
        assert!(chi_square(&counts) < 16.3, "{counts:?}");
    }

    proptest! {
        /// Packets of a flow closer than a gap take one path, and after two gaps a flowlet begins.
        #[test]
        fn a_flowlet_lasts_through_pauses_below_the_gap_and_ends_after_two(
            pauses in prop::collection::vec(0u64..2_000, 1..60),
        ) {
            let mut router = Router::new(Spread::LetFlow, [1; 4], |config| {
                config.flowlets = 4096;
            });
            let (mut at, mut before) = (0, router.choose(1, us(0), &[]));
            for pause in pauses {
                at += pause;
                let draws = router.spreading.draws.clone();
                let interface = router.choose(1, us(at), &[]);
                let has_drawn = format!("{draws:?}") != format!("{:?}", router.spreading.draws);
                if pause <= 500 {
                    prop_assert!(interface == before && !has_drawn);
                }
                if pause >= 1_000 {
                    prop_assert!(has_drawn);
                }
                before = interface;
            }
        }
    }

    #[test]
    fn a_flowlet_ends_when_its_link_is_no_longer_among_the_paths() {
        let mut router = Router::new(Spread::LetFlow, [1; 4], |_| {});
        let first = router.choose(1, us(0), &[]) as u16;
        let left: Vec<u16> = (0..4).filter(|&interface| interface != first).collect();
        router.spreading.clear();
        router.spreading.divide(EXIT, &left, |_| 1);
        let then = router.choose(1, us(1), &[]) as u16;
        assert_ne!(then, first);
        assert_eq!(router.choose(1, us(2), &[]) as u16, then);
    }

    /// By hand, with weights 3, 1, 1 and 1: the first path has every second packet.
    #[test]
    fn turns_have_the_shares_of_the_weights_in_each_round() {
        let mut router = Router::new(Spread::RoundRobin, [3, 1, 1, 1], |_| {});
        let turns: Vec<usize> = (0..12).map(|_| router.choose(1, us(0), &[])).collect();
        assert_eq!(turns, [0, 1, 0, 2, 3, 0, 0, 1, 0, 2, 3, 0]);
    }

    #[test]
    fn drill_with_all_queues_takes_the_shortest_and_without_memory_a_random_one() {
        let all = |config: &mut Config| config.drill_samples = 4;
        let mut router = Router::new(Spread::Drill, [1; 4], all);
        for shortest in [2, 0, 3] {
            let mut queues = [5; 4];
            queues[shortest] = 4;
            assert_eq!(router.choose(1, us(0), &queues), shortest);
        }
        let random = |config: &mut Config| (config.drill_samples, config.drill_memory) = (1, 0);
        let mut router = Router::new(Spread::Drill, [1; 4], random);
        let mut counts = [0; 4];
        for _ in 0..40_000 {
            counts[router.choose(1, us(0), &[5, 4, 3, 2])] += 1;
        }
        assert!(chi_square(&counts) < 16.3, "{counts:?}");
    }

    /// What was shortest is looked at again without being drawn: with one sample and one in memory,
    /// a queue that stays empty has every packet once it was drawn.
    #[test]
    fn drill_remembers_the_shortest_queue() {
        let one = |config: &mut Config| config.drill_samples = 1;
        let mut router = Router::new(Spread::Drill, [1; 4], one);
        let chosen = (0..200).map(|_| router.choose(1, us(0), &[7, 7, 0, 7]));
        let chosen: Vec<usize> = chosen.collect();
        let found = chosen.iter().position(|&interface| interface == 2).unwrap();
        assert!(found < 50 && chosen[found..].iter().all(|&interface| interface == 2));
    }

    /// Packets that arrive at the rate at which four queues are served: with two random choices the
    /// longest queue is far below that of random choices (Mitzenmacher 2001), as the paper has it.
    #[test]
    fn two_samples_keep_queues_far_shorter_than_one() {
        let longest = |samples, memory| {
            let mut router = Router::new(Spread::Drill, [1; 4], |config| {
                (config.drill_samples, config.drill_memory) = (samples, memory);
            });
            let mut queues = [0usize; 4];
            let mut longest = 0;
            for turn in 0..40_000 {
                let to = router.choose(1, us(0), &queues);
                queues[to] += 1;
                longest = longest.max(queues[to]);
                queues[turn % 4] = queues[turn % 4].saturating_sub(1);
            }
            longest
        };
        let [random, two, drill] = [longest(1, 0), longest(2, 0), longest(2, 1)];
        assert!(
            10 * two < random && drill <= two,
            "{random}, {two}, {drill}"
        );
    }
}
