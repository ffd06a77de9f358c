//! Version V: OGMs with the smallest rate on the path.

use std::collections::BTreeMap;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::config::Config;
use super::links::Links;
use super::message::{Address, Elp, OGM2_BYTES, Ogm2};
use super::metric::throughput_after_hop;
use super::ports::{Frame, Ports};
use super::table::{Link, Originator};
use super::window::Sender;
use super::{AGGREGATE_BYTES, TTL, jittered};

/// OGMs older than this are from an originator that has restarted (`BATADV_OGM_MAX_AGE`).
const MAX_AGE: i32 = 64;
/// A neighbour with an OGM this much newer than those of the next hop takes its place
/// (`BATADV_OGM_MAX_ORIGDIFF`).
const MUCH_NEWER: i32 = 5;

/// What is known of a neighbour on the way to an originator, in one table.
#[derive(Clone, Debug, Default)]
struct Path {
    throughput: u32,
    sequence: u32,
}

/// OGMs that wait for the next frame of a port.
#[derive(Debug)]
struct Batch {
    bytes: Vec<u8>,
    due: SimTime,
    /// A radio, on which a node cannot send and receive at the same time.
    half_duplex: bool,
}

/// Version V on one node.
#[derive(Debug)]
pub(super) struct V {
    node: NodeId,
    config: Config,
    tvlv: Vec<u8>,
    own: Option<Address>,
    sequence: u32,
    due: SimTime,
    pub(super) links: Links,
    batches: Vec<Batch>,
    originators: BTreeMap<Address, Originator<Path>>,
}

/// Nine to eleven tenths of the aggregation time.
fn batch_time(draws: &mut Stream, aggregation: Duration) -> Duration {
    (aggregation / 10)
        .saturating_mul(9)
        .saturating_add(super::draw(draws, aggregation / 5))
}

impl V {
    pub(super) fn new(
        now: SimTime,
        node: NodeId,
        config: Config,
        ports: &Ports,
        draws: &mut Stream,
    ) -> Self {
        let links = Links::new(now, config, ports, draws);
        let batch = |port: &super::ports::Port| Batch {
            bytes: Vec::new(),
            due: now.saturating_add(batch_time(draws, config.aggregation)),
            half_duplex: port.radio.is_some(),
        };
        let batches = ports.all.iter().map(batch).collect();
        Self {
            node,
            config,
            tvlv: vec![0; config.tvlv_bytes as usize],
            own: ports.all.first().map(|port| port.address),
            sequence: draws.next_u64() as u32,
            due: now.saturating_add(jittered(draws, config.orig_interval)),
            links,
            batches,
            originators: BTreeMap::new(),
        }
    }

    pub(super) fn next_due(&self) -> SimTime {
        let batches = self.batches.iter().map(|batch| batch.due);
        let due = batches.min().unwrap_or(SimTime::MAX);
        due.min(self.due).min(self.links.next_due())
    }

    pub(super) fn advance(&mut self, now: SimTime, draws: &mut Stream, frames: &mut Vec<Frame>) {
        self.links.advance(now, draws, frames);
        if self.due <= now {
            self.originate(frames);
            self.due = now.saturating_add(jittered(draws, self.config.orig_interval));
        }
        for port in 0..self.batches.len() {
            if self.batches[port].due <= now {
                self.flush(port, frames);
                let next = batch_time(draws, self.config.aggregation);
                self.batches[port].due = now.saturating_add(next);
            }
        }
    }

    pub(super) fn purge(&mut self, now: SimTime) {
        let timeout = self.config.purge_timeout;
        self.links.purge(now);
        self.originators
            .retain(|_, originator| originator.purge(now, timeout, |path| path.throughput));
    }

    /// The next hop to a node, for packets of a table.
    pub(super) fn next(&self, exit: Address, table: usize) -> Option<Link> {
        self.originators.get(&exit)?.entries.get(table)?.next
    }

    fn originate(&mut self, frames: &mut Vec<Frame>) {
        let Some(originator) = self.own else {
            return;
        };
        let mut bytes = Vec::with_capacity(OGM2_BYTES + self.tvlv.len());
        let ogm = Ogm2 {
            ttl: TTL,
            sequence: self.sequence,
            originator,
            throughput: u32::MAX,
            tvlv: &self.tvlv,
        };
        ogm.encode(&mut bytes);
        self.sequence = self.sequence.wrapping_add(1);
        for port in 0..self.batches.len() {
            if self.links.is_of_use(port, None) {
                self.add(port, &bytes, frames);
            }
        }
    }

    /// An OGM waits for the next frame of a port.
    fn add(&mut self, port: usize, ogm: &[u8], frames: &mut Vec<Frame>) {
        if self.batches[port].bytes.len() + ogm.len() > AGGREGATE_BYTES {
            self.flush(port, frames);
        }
        self.batches[port].bytes.extend(ogm);
    }

    fn flush(&mut self, port: usize, frames: &mut Vec<Frame>) {
        let bytes = std::mem::take(&mut self.batches[port].bytes);
        if !bytes.is_empty() {
            frames.push(Frame {
                port,
                to: None,
                bytes,
            });
        }
    }

    /// Processes an ELP.
    pub(super) fn on_elp(&mut self, now: SimTime, link: Link, elp: &Elp) {
        if elp.originator.node == self.node || !self.links.on_elp(now, link, elp) {
            return;
        }
        let originator = self.originator(now, elp.originator);
        let place = originator.place(now, link);
        originator.neighbours[place].seen = now;
    }

    /// Processes an OGM.
    pub(super) fn on_ogm(
        &mut self,
        now: SimTime,
        link: Link,
        ogm: &Ogm2<'_>,
        frames: &mut Vec<Frame>,
    ) {
        if ogm.originator.node == self.node || ogm.throughput == 0 {
            return;
        }
        // Only from a neighbour whose ELPs arrive.
        let (Some(throughput), Some(from)) =
            (self.links.throughput(link), self.links.originator(link))
        else {
            return;
        };
        let ogm = Ogm2 {
            throughput: ogm.throughput.min(throughput),
            ..*ogm
        };
        self.originator(now, ogm.originator).place(now, link);
        self.process(now, link, &ogm, 0);
        for port in 0..self.batches.len() {
            if self.links.is_of_use(port, Some((ogm.originator, from)))
                && self.process(now, link, &ogm, port + 1)
            {
                self.forward(link, &ogm, port, frames);
            }
        }
    }

    fn originator(&mut self, now: SimTime, address: Address) -> &mut Originator<Path> {
        let ports = self.batches.len();
        self.originators
            .entry(address)
            .or_insert_with(|| Originator::new(now, ports))
    }

    /// Updates a table; whether the OGM is valid.
    fn process(&mut self, now: SimTime, link: Link, ogm: &Ogm2<'_>, table: usize) -> bool {
        let same_half_duplex = table == link.1 + 1 && self.batches[link.1].half_duplex;
        let throughput = match table {
            0 => ogm.throughput,
            _ => throughput_after_hop(ogm.throughput, self.config.penalty(), same_half_duplex),
        };
        let originator = self.originator(now, ogm.originator);
        let entry = &mut originator.entries[table];
        let step = ogm.sequence.wrapping_sub(entry.sequence) as i32;
        match entry.protection.judge(now, step, MAX_AGE) {
            Sender::Continues if step >= 0 => {}
            Sender::Restarted => {}
            Sender::Continues | Sender::Refused => return false,
        }
        entry.sequence = ogm.sequence;
        originator.seen = now;
        let place = originator.place(now, link);
        originator.neighbours[place].seen = now;
        originator.neighbours[place].metrics[table] = Path {
            throughput,
            sequence: ogm.sequence,
        };
        let router = originator.entries[table].next;
        let path = router.and_then(|router| originator.neighbour(router));
        if let Some(Path {
            throughput: old,
            sequence,
        }) = path.map(|path| &path.metrics[table])
            && router != Some(link)
        {
            let newer = ogm.sequence.wrapping_sub(*sequence) as i32;
            if newer < MUCH_NEWER && *old >= throughput {
                return true;
            }
        }
        originator.entries[table].next = Some(link);
        true
    }

    /// Sends an OGM on, if it came from the next hop and was not sent before.
    fn forward(&mut self, link: Link, ogm: &Ogm2<'_>, port: usize, frames: &mut Vec<Frame>) {
        let Some(originator) = self.originators.get_mut(&ogm.originator) else {
            return;
        };
        let entry = &mut originator.entries[port + 1];
        if entry.next != Some(link) || entry.last == ogm.sequence {
            return;
        }
        entry.last = ogm.sequence;
        let Some(neighbour) = originator.neighbour(link).filter(|_| ogm.ttl > 1) else {
            return;
        };
        let onward = Ogm2 {
            ttl: ogm.ttl - 1,
            throughput: neighbour.metrics[port + 1].throughput,
            ..*ogm
        };
        let mut bytes = Vec::with_capacity(OGM2_BYTES + ogm.tvlv.len());
        onward.encode(&mut bytes);
        self.add(port, &bytes, frames);
    }
}
