//! Version IV: transmit quality by OGMs that arrive, and by own OGMs that neighbours repeat.

use std::collections::BTreeMap;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::SimTime;

use super::aggregation::Queue;
use super::config::Config;
use super::message::{Address, DIRECT_LINK, IvOgm, NOT_BEST_NEXT_HOP};
use super::metric::{TQ_MAX, after_hop, path_quality};
use super::ports::{Frame, Ports};
use super::table::{Link, Originator};
use super::window::{Recent, Sender, WINDOW, Window};
use super::{TTL, jittered};

/// OGMs of ports other than the first are for neighbours alone.
const SECONDARY_TTL: u8 = 2;
/// A repetition may have lost this more of its TTL than the first arrival.
const SIMILAR_TTL: u32 = 3;

/// What is known of a neighbour on the way to an originator, in one table.
#[derive(Clone, Debug, Default)]
struct Quality {
    arrived: Window,
    recent: Recent,
    mean: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Duplicate {
    No,
    /// From another neighbour.
    OfOriginator,
    /// From the same neighbour.
    OfNeighbour,
}

/// Version IV on one node.
#[derive(Debug)]
pub(super) struct Iv {
    node: NodeId,
    config: Config,
    tvlv: Vec<u8>,
    queue: Queue,
    /// By port: the number of the next own OGM.
    sequences: Vec<u32>,
    /// By port: whether it is a radio.
    radios: Vec<bool>,
    addresses: Vec<Address>,
    originators: BTreeMap<Address, Originator<Quality>>,
    /// By neighbour and port: which own OGMs it repeated.
    echoes: BTreeMap<Link, Window>,
}

impl Iv {
    pub(super) fn new(
        now: SimTime,
        node: NodeId,
        config: Config,
        ports: &Ports,
        draws: &mut Stream,
    ) -> Self {
        let mut new = Self {
            node,
            config,
            tvlv: vec![0; config.tvlv_bytes as usize],
            queue: Queue::default(),
            sequences: ports.all.iter().map(|_| draws.next_u64() as u32).collect(),
            radios: ports.all.iter().map(|port| port.radio.is_some()).collect(),
            addresses: ports.all.iter().map(|port| port.address).collect(),
            originators: BTreeMap::new(),
            echoes: BTreeMap::new(),
        };
        for port in 0..ports.len() {
            new.schedule(now, port, draws);
        }
        new
    }

    pub(super) fn next_due(&self) -> SimTime {
        self.queue.next_due()
    }

    pub(super) fn advance(&mut self, now: SimTime, draws: &mut Stream, frames: &mut Vec<Frame>) {
        while let Some(sent) = self.queue.take(now) {
            frames.push(sent.frame);
            if let Some(port) = sent.own {
                self.schedule(now, port, draws);
            }
        }
    }

    pub(super) fn purge(&mut self, now: SimTime) {
        let timeout = self.config.purge_timeout;
        self.originators
            .retain(|_, originator| originator.purge(now, timeout, |quality| quality.mean.into()));
        let originators = &self.originators;
        self.echoes
            .retain(|(address, _), _| originators.contains_key(address));
    }

    /// The next hop to a node, for packets of a table.
    pub(super) fn next(&self, exit: Address, table: usize) -> Option<Link> {
        self.originators.get(&exit)?.entries.get(table)?.next
    }

    /// The next own OGM of a port: that of the first port on all ports, that of another on itself.
    fn schedule(&mut self, now: SimTime, port: usize, draws: &mut Stream) {
        let sequence = self.sequences[port];
        self.sequences[port] = sequence.wrapping_add(1);
        for ((_, other), echoes) in &mut self.echoes {
            if *other == port {
                echoes.slide(1, false);
            }
        }
        let address = self.addresses[port];
        let (ttl, tvlv) = match port {
            0 => (TTL, &self.tvlv[..]),
            _ => (SECONDARY_TTL, &[][..]),
        };
        let ogm = IvOgm {
            ttl,
            flags: 0,
            sequence,
            originator: address,
            previous: address,
            tq: TQ_MAX,
            tvlv,
        };
        let due = now.saturating_add(jittered(draws, self.config.orig_interval));
        let outgoing = match port {
            0 => 0..self.addresses.len(),
            _ => port..port + 1,
        };
        for outgoing in outgoing {
            self.queue.add_own(due, port, outgoing, &ogm);
        }
    }

    /// Processes an OGM from a neighbour on a port.
    pub(super) fn on_ogm(
        &mut self,
        now: SimTime,
        (source, port): Link,
        ogm: &IvOgm<'_>,
        draws: &mut Stream,
    ) {
        if ogm.originator.node == self.node {
            if ogm.flags & DIRECT_LINK != 0 && ogm.originator == self.addresses[port] {
                // The last OGM that was sent has age zero; the one that waits has the next number.
                let sent = self.sequences[port].wrapping_sub(2);
                let age = sent.wrapping_sub(ogm.sequence) as i32;
                self.originator(now, source);
                self.echoes.entry((source, port)).or_default().mark(age);
            }
            return;
        }
        if ogm.previous.node == self.node || ogm.flags & NOT_BEST_NEXT_HOP != 0 {
            return;
        }
        self.originator(now, ogm.originator);
        for table in 0..=self.addresses.len() {
            self.process(now, (source, port), ogm, table, draws);
        }
    }

    fn originator(&mut self, now: SimTime, address: Address) -> &mut Originator<Quality> {
        let ports = self.addresses.len();
        self.originators
            .entry(address)
            .or_insert_with(|| Originator::new(now, ports))
    }

    fn mean(&self, address: Address, link: Link, table: usize) -> u8 {
        let originator = self.originators.get(&address);
        let neighbour = originator.and_then(|originator| originator.neighbour(link));
        neighbour.map_or(0, |neighbour| neighbour.metrics[table].mean)
    }

    fn process(
        &mut self,
        now: SimTime,
        link: Link,
        ogm: &IvOgm<'_>,
        table: usize,
        draws: &mut Stream,
    ) {
        let (source, port) = link;
        let is_neighbour = source == ogm.originator;
        let Some(duplicate) = self.count(now, link, ogm, table) else {
            return;
        };
        if ogm.tq == 0 {
            return;
        }
        let router = self.next(ogm.originator, table);
        let from_best = router.is_some_and(|router| {
            router.0 == source && self.mean(ogm.originator, router, table) != 0
        });
        // The next hop repeats what it received from its next hop, which is this one's too.
        if let Some((router, _)) = router
            && router == ogm.previous
            && ogm.originator != ogm.previous
            && self
                .next(router, table)
                .is_some_and(|(via, _)| via == router)
        {
            return;
        }
        if !is_neighbour {
            self.originator(now, source);
            if self.next(source, table).is_none() {
                return;
            }
        }
        let tq = self.quality(now, link, ogm, table);
        let two_way = tq > 0;
        let entry = &self.originators[&ogm.originator].entries[table];
        let similar = entry.last <= u32::from(ogm.ttl) + SIMILAR_TTL;
        let repeated = entry.sequence == ogm.sequence && similar;
        if two_way && (duplicate == Duplicate::No || repeated) {
            self.update(now, link, ogm, tq, table, duplicate);
        }
        let Some(outgoing) = table.checked_sub(1) else {
            return;
        };
        if is_neighbour {
            // OGMs of single ports are repeated there alone.
            if ogm.ttl <= SECONDARY_TTL && port != outgoing {
                return;
            }
        } else if !two_way || duplicate == Duplicate::OfNeighbour {
            return;
        }
        self.forward(now, link, ogm, tq, outgoing, from_best, draws);
    }

    /// Notes that an OGM arrived. `None` if the originator seems to have restarted too often.
    fn count(
        &mut self,
        now: SimTime,
        link: Link,
        ogm: &IvOgm<'_>,
        table: usize,
    ) -> Option<Duplicate> {
        let originator = self.originators.get_mut(&ogm.originator)?;
        let entry = &mut originator.entries[table];
        let step = ogm.sequence.wrapping_sub(entry.sequence) as i32;
        if !originator.neighbours.is_empty()
            && entry.protection.judge(now, step, WINDOW) == Sender::Refused
        {
            return None;
        }
        let age = step.wrapping_neg();
        let (mut duplicate, mut newest) = (Duplicate::No, false);
        for neighbour in &mut originator.neighbours {
            let window = &mut neighbour.metrics[table].arrived;
            let is_sender = neighbour.link == link;
            if window.holds(age) {
                if is_sender {
                    duplicate = Duplicate::OfNeighbour;
                } else if duplicate == Duplicate::No {
                    duplicate = Duplicate::OfOriginator;
                }
            }
            newest |= window.slide(step, is_sender);
        }
        if newest {
            entry.sequence = ogm.sequence;
        }
        Some(duplicate)
    }

    /// The quality of the path by the neighbour that sent an OGM.
    fn quality(&mut self, now: SimTime, link: Link, ogm: &IvOgm<'_>, table: usize) -> u8 {
        let (source, port) = link;
        let neighbour = self.originator(now, source);
        let place = neighbour.place(now, link);
        let received = neighbour.neighbours[place].metrics[table].arrived.count();
        if source == ogm.originator {
            neighbour.neighbours[place].seen = now;
        }
        self.originator(now, ogm.originator).seen = now;
        let echoed = self.echoes.get(&link).map_or(0, |window| window.count());
        let same_radio = (table == port + 1 && self.radios[port]).then(|| self.config.penalty());
        path_quality(ogm.tq, echoed, received, same_radio)
    }

    /// Takes the quality into the mean, and chooses the next hop.
    fn update(
        &mut self,
        now: SimTime,
        link: Link,
        ogm: &IvOgm<'_>,
        tq: u8,
        table: usize,
        duplicate: Duplicate,
    ) {
        let originator = self.originator(now, ogm.originator);
        let place = originator.place(now, link);
        for (other, neighbour) in originator.neighbours.iter_mut().enumerate() {
            let quality = &mut neighbour.metrics[table];
            if other == place {
                neighbour.seen = now;
                quality.recent.push(tq);
            } else if duplicate == Duplicate::No {
                quality.recent.push(0);
            } else {
                continue;
            }
            quality.mean = quality.recent.mean();
        }
        let mean = originator.neighbours[place].metrics[table].mean;
        let entry = &mut originator.entries[table];
        if duplicate == Duplicate::No {
            entry.last = ogm.ttl.into();
        }
        if let Some(router) = entry.next.filter(|router| *router != link) {
            let other = self.mean(ogm.originator, router, table);
            let echoes = |link| self.echoes.get(&link).map_or(0, |window| window.count());
            if other > mean || other == mean && echoes(router) >= echoes(link) {
                return;
            }
        }
        self.originator(now, ogm.originator).entries[table].next = Some(link);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "what decides whether an OGM goes on"
    )]
    fn forward(
        &mut self,
        now: SimTime,
        (source, port): Link,
        ogm: &IvOgm<'_>,
        tq: u8,
        outgoing: usize,
        from_best: bool,
        draws: &mut Stream,
    ) {
        let is_neighbour = source == ogm.originator;
        if ogm.ttl <= 1 || !from_best && !is_neighbour {
            return;
        }
        let mut flags = ogm.flags & !DIRECT_LINK;
        flags |= if from_best { 0 } else { NOT_BEST_NEXT_HOP };
        flags |= if is_neighbour { DIRECT_LINK } else { 0 };
        let onward = IvOgm {
            ttl: ogm.ttl - 1,
            flags,
            previous: source,
            tq: after_hop(tq, self.config.penalty()),
            ..*ogm
        };
        let ends = [port, outgoing];
        let aggregation = self.config.aggregation;
        self.queue.add(now, aggregation, draws, ends, &onward);
    }
}
