//! Version V: neighbours by their ELPs, and the throughput of the links to them.

use std::collections::BTreeMap;

use backlane_engine::Stream;
use backlane_units::{Duration, Rate, SimTime};

use super::config::{Config, Estimate};
use super::jittered;
use super::message::{Address, ELP_BYTES, Elp};
use super::metric::{DEFAULT_THROUGHPUT, Mean, Transmissions, throughput_of};
use super::ports::{Frame, Ports};
use super::table::Link;

/// Probes to a neighbour after each ELP (`BATADV_ELP_PROBES_PER_NODE`).
const PROBES: usize = 2;
/// The size of a probe in bytes (`BATADV_ELP_MIN_PROBE_SIZE`).
const PROBE_BYTES: usize = 200;
/// A neighbour that was sent a packet within this time is not probed
/// (`BATADV_ELP_PROBE_MAX_TX_DIFF`).
const BUSY: Duration = Duration::from_millis(100);
/// ELPs older than this are from a neighbour that has restarted (`BATADV_ELP_MAX_AGE`).
const MAX_AGE: i32 = 64;

#[derive(Debug)]
struct Neighbour {
    originator: Address,
    seen: SimTime,
    sequence: u32,
    throughput: Mean,
    transmissions: Transmissions,
    sent: Option<SimTime>,
}

#[derive(Debug)]
struct Port {
    radio: bool,
    rate: Rate,
    sequence: u32,
    due: SimTime,
}

/// The links of one node.
#[derive(Debug)]
pub(super) struct Links {
    config: Config,
    originator: Option<Address>,
    ports: Vec<Port>,
    neighbours: BTreeMap<Link, Neighbour>,
    /// The number of neighbours by port.
    counts: Vec<usize>,
}

impl Links {
    pub(super) fn new(now: SimTime, config: Config, ports: &Ports, draws: &mut Stream) -> Self {
        let port = |port: &super::ports::Port| Port {
            radio: port.radio.is_some(),
            rate: port.rate,
            sequence: draws.next_u64() as u32,
            due: now.saturating_add(jittered(draws, config.elp_interval)),
        };
        Self {
            config,
            originator: ports.all.first().map(|port| port.address),
            ports: ports.all.iter().map(port).collect(),
            neighbours: BTreeMap::new(),
            counts: vec![0; ports.len()],
        }
    }

    pub(super) fn next_due(&self) -> SimTime {
        let due = self.ports.iter().map(|port| port.due);
        due.min().unwrap_or(SimTime::MAX)
    }

    pub(super) fn advance(&mut self, now: SimTime, draws: &mut Stream, frames: &mut Vec<Frame>) {
        for port in 0..self.ports.len() {
            if self.ports[port].due <= now {
                self.announce(now, port, frames);
                let next = jittered(draws, self.config.elp_interval);
                self.ports[port].due = now.saturating_add(next);
            }
        }
    }

    /// Sends an ELP and probes, and updates the throughput of the port's links.
    fn announce(&mut self, now: SimTime, number: usize, frames: &mut Vec<Frame>) {
        let Some(originator) = self.originator else {
            return;
        };
        let port = &mut self.ports[number];
        let elp = Elp {
            originator,
            sequence: port.sequence,
            interval_ms: (self.config.elp_interval.as_ps() / 1_000_000_000) as u32,
        };
        port.sequence = port.sequence.wrapping_add(1);
        let mut send = |to, bytes| {
            frames.push(Frame {
                port: number,
                to,
                bytes,
            });
        };
        send(None, elp.encode(ELP_BYTES));
        let neighbours = self.neighbours.iter_mut();
        for ((address, _), neighbour) in neighbours.filter(|((_, port), _)| *port == number) {
            if port.radio {
                let idle = neighbour
                    .sent
                    .is_none_or(|sent| now > sent.saturating_add(BUSY));
                for _ in 0..if idle { PROBES } else { 0 } {
                    send(Some(*address), elp.encode(PROBE_BYTES));
                }
            }
            let throughput = match (port.radio, self.config.estimate) {
                (false, _) => Some(throughput_of(port.rate)),
                (true, Estimate::Delivered) => neighbour.transmissions.expected(),
                (true, Estimate::ThirdOfRate) => neighbour.transmissions.third_of_rate(),
            };
            neighbour
                .throughput
                .add(throughput.unwrap_or(DEFAULT_THROUGHPUT));
        }
    }

    /// Processes an ELP. Returns whether it is new.
    pub(super) fn on_elp(&mut self, now: SimTime, link: Link, elp: &Elp) -> bool {
        if let Some(neighbour) = self.neighbours.get_mut(&link) {
            let step = elp.sequence.wrapping_sub(neighbour.sequence) as i32;
            if step < 1 && step > -MAX_AGE {
                return false;
            }
            (neighbour.seen, neighbour.sequence) = (now, elp.sequence);
            neighbour.originator = elp.originator;
            return true;
        }
        self.counts[link.1] += 1;
        let neighbour = Neighbour {
            originator: elp.originator,
            seen: now,
            sequence: elp.sequence,
            throughput: Mean::default(),
            transmissions: Transmissions::default(),
            sent: None,
        };
        self.neighbours.insert(link, neighbour);
        true
    }

    /// The throughput to a neighbour, in 100 kbit/s; `None` if no ELP came from it.
    pub(super) fn throughput(&self, link: Link) -> Option<u32> {
        Some(self.neighbours.get(&link)?.throughput.value())
    }

    /// The node of a neighbour.
    pub(super) fn originator(&self, link: Link) -> Option<Address> {
        Some(self.neighbours.get(&link)?.originator)
    }

    /// Whether an OGM of `originator`, received from a neighbour of this address (an own one:
    /// neither), would be of use on a port: not without neighbours, nor if the only one has it.
    pub(super) fn is_of_use(&self, port: usize, ogm: Option<(Address, Address)>) -> bool {
        match self.counts[port] {
            0 => false,
            1 => {
                let mut neighbours = self.neighbours.iter();
                let only = neighbours.find(|((_, other), _)| *other == port);
                let only = only.map(|(_, neighbour)| neighbour.originator);
                ogm.is_none_or(|(originator, from)| only != Some(originator) && only != Some(from))
            }
            _ => true,
        }
    }

    /// A data packet is sent to a neighbour.
    pub(super) fn on_sent(&mut self, now: SimTime, link: Link) {
        if let Some(neighbour) = self.neighbours.get_mut(&link) {
            neighbour.sent = Some(now);
        }
    }

    /// A frame to a neighbour on a radio was sent this number of times.
    pub(super) fn on_status(&mut self, link: Link, attempts: u32, delivered: bool, rate: Rate) {
        if let Some(neighbour) = self.neighbours.get_mut(&link) {
            neighbour.transmissions.on_status(attempts, delivered, rate);
        }
    }

    pub(super) fn purge(&mut self, now: SimTime) {
        let timeout = self.config.purge_timeout;
        self.neighbours
            .retain(|_, neighbour| now <= neighbour.seen.saturating_add(timeout));
        self.counts.fill(0);
        for (_, port) in self.neighbours.keys() {
            self.counts[*port] += 1;
        }
    }
}
