//! BIRD 2.0's Babel: what its timers and handlers do.
//!
//! Timers of interfaces fire when the daemon wakes for something else: a packet, a change of a
//! carrier, or the sweep once a second. So they were recorded: of two neighbours' HELLOs all left at
//! the whole seconds of one of them, or within 3 ms after a packet arrived.
//!
//! - [`neighbours`]: HELLOs, IHUs and the costs of links.
//! - [`routes`]: the choice of routes, updates, requests.
//! - [`sweep`]: what expires.

mod neighbours;
mod routes;
mod sweep;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::config::Config;
use super::daemon::{Daemon, Links, Output, Packer, Port, Target, Way, centiseconds, interval};
use super::message::{INFINITY, Tlv, id_of};

const SECOND: Duration = Duration::from_secs(1);
/// Expired neighbours and routes are looked for at this interval.
const SWEEP: Duration = SECOND;
/// The wait before a triggered update, so that others join it.
const KICK: Duration = Duration::from_millis(100);
const IHU_FACTOR: u32 = 3;
/// Unreachable routes are kept for this number of update intervals (§2.8).
const HOLD_FACTOR: u64 = 4;
const SOURCE_LIFE: Duration = Duration::from_secs(300);
const REQUEST_EXPIRY: Duration = Duration::from_secs(2);
const REQUEST_RETRIES: u32 = 4;
const FORWARD_EXPIRY: Duration = Duration::from_secs(10);
const DUPLICATE_TIME: Duration = SECOND;
/// A neighbour without a HELLO is forgotten after this time.
const INITIAL_TIMEOUT: Duration = Duration::from_secs(60);
const HOPS: u8 = 255;

#[derive(Debug)]
struct Interface {
    port: Port,
    up: bool,
    hello_seqno: u16,
    next_hello: SimTime,
    next_regular: SimTime,
    next_triggered: SimTime,
    /// Entries updated from this time on are to be sent.
    want_triggered: Option<SimTime>,
    timer: SimTime,
    queue: Packer,
}

#[derive(Debug)]
struct Neighbour {
    /// The last 16 HELLOs, the newest in the lowest bit, and how many of them were due.
    map: u16,
    count: u32,
    next_seqno: u16,
    hello_expiry: SimTime,
    last_interval: Duration,
    initial_expiry: SimTime,
    ihu_expiry: SimTime,
    /// HELLOs until the next IHU.
    ihu_count: u32,
    txcost: u16,
    rxcost: u16,
    cost: u16,
}

#[derive(Clone, Copy, Debug)]
struct Source {
    seqno: u16,
    metric: u16,
    expires: SimTime,
}

#[derive(Clone, Copy, Debug)]
struct Route {
    id: u64,
    seqno: u16,
    /// The neighbour's metric, and with the cost of the link.
    advertised: u16,
    metric: u16,
    /// As judged when the last update arrived.
    feasible: bool,
    expires: SimTime,
    refresh: SimTime,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    id: u64,
    seqno: u16,
    hops: u8,
    count: u32,
    expires: SimTime,
    /// Whether it comes from another router, and until when others of its kind are left out.
    forwarded: bool,
    duplicates_until: SimTime,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Validity {
    /// There is a route.
    Valid,
    /// There was one: retractions are sent.
    Stale,
    #[default]
    Dummy,
}

#[derive(Debug, Default)]
struct Entry {
    validity: Validity,
    updated: SimTime,
    id: u64,
    seqno: u16,
    metric: u16,
    /// The route in use, by interface.
    selected: Option<usize>,
    /// The selected route as it was last announced: interface, origin, sequence number, metric.
    announced: Option<(usize, u64, u16, u16)>,
    routes: BTreeMap<usize, Route>,
    sources: BTreeMap<u64, Source>,
    requests: Vec<Request>,
}

/// The daemon of one router.
pub(super) struct Bird {
    node: NodeId,
    config: Arc<Config>,
    links: Links,
    draws: Stream,
    now: SimTime,
    out: Output,
    id: u64,
    update_seqno: u16,
    /// Whether the next update has a higher sequence number.
    increases: bool,
    /// Whether updates are scheduled on all interfaces. None is scheduled again before an interface
    /// has sent one.
    triggered: bool,
    ports: Vec<Interface>,
    neighbours: BTreeMap<usize, Neighbour>,
    entries: BTreeMap<NodeId, Entry>,
    sweep_at: SimTime,
    touched: BTreeSet<NodeId>,
    in_use: BTreeMap<NodeId, Way>,
}

impl Bird {
    pub(super) fn new(
        node: NodeId,
        config: Arc<Config>,
        ports: Vec<Port>,
        links: Links,
        draws: Stream,
    ) -> Self {
        let interface = |port| Interface {
            port,
            up: false,
            hello_seqno: 1,
            next_hello: SimTime::MAX,
            next_regular: SimTime::MAX,
            next_triggered: SimTime::MAX,
            want_triggered: None,
            timer: SimTime::MAX,
            queue: Packer::default(),
        };
        Self {
            node,
            config,
            links,
            draws,
            now: SimTime::ZERO,
            out: Output::default(),
            id: id_of(node),
            update_seqno: 1,
            increases: false,
            triggered: false,
            ports: ports.into_iter().map(interface).collect(),
            neighbours: BTreeMap::new(),
            entries: BTreeMap::new(),
            sweep_at: SimTime::MAX,
            touched: BTreeSet::new(),
            in_use: BTreeMap::new(),
        }
    }

    fn after(&self, time: Duration) -> SimTime {
        self.now.saturating_add(time)
    }

    fn drawn(&mut self, time: Duration) -> SimTime {
        let wait = self.draws.uniform_below(time.as_ps().max(1));
        self.after(Duration::from_ps(wait))
    }

    fn port_of(&self, end: usize) -> usize {
        self.links.ports[end]
    }

    /// The shortest time between two triggered updates.
    fn pause(&self) -> Duration {
        SECOND.min(Duration::from_ps(self.config.update_interval.as_ps() / 2))
    }

    /// Sends to one neighbour alone.
    fn send_to(&mut self, end: usize, tlv: Tlv) {
        let mut packer = Packer::default();
        packer.push(tlv);
        for bytes in packer.take(self.now) {
            self.out.packets.push((Target::Neighbour(end), bytes));
        }
    }

    fn raise(&mut self, port: usize) {
        let next_hello = self.drawn(self.config.hello_interval);
        let next_regular = self.drawn(self.config.update_interval);
        let (next_triggered, timer) = (self.after(self.pause()), self.after(KICK));
        let interface = &mut self.ports[port];
        (interface.next_hello, interface.next_regular) = (next_hello, next_regular);
        (interface.next_triggered, interface.timer) = (next_triggered, timer);
        (interface.want_triggered, interface.up) = (None, true);
        self.send_hello(port);
        let retraction = Tlv::RetractAll {
            seqno: self.update_seqno,
        };
        self.ports[port].queue.push(retraction);
        self.ports[port].queue.push(Tlv::RouteRequest(None));
        self.send_update(port, SimTime::ZERO);
    }

    fn lower(&mut self, port: usize) {
        let prefixes: Vec<NodeId> = self.entries.keys().copied().collect();
        for end in self.ports[port].port.interfaces.clone() {
            for prefix in &prefixes {
                self.retract(*prefix, end);
            }
        }
        let interface = &mut self.ports[port];
        (interface.timer, interface.up) = (SimTime::MAX, false);
        interface.queue.clear();
    }

    /// The daemon is awake: timers of interfaces that are due fire.
    fn run_ports(&mut self) {
        for port in 0..self.ports.len() {
            if self.ports[port].up && self.ports[port].timer <= self.now {
                self.run_port(port);
            }
        }
    }

    fn run_port(&mut self, port: usize) {
        let now = self.now;
        // Periods that have passed are skipped.
        let following = |at: SimTime, period: Duration| {
            let late = now.saturating_since(at).as_ps() / period.as_ps().max(1);
            at.saturating_add(period.saturating_mul(1 + late))
        };
        if now >= self.ports[port].next_hello {
            self.send_hello(port);
            let interface = &mut self.ports[port];
            interface.next_hello = following(interface.next_hello, self.config.hello_interval);
        }
        let wanted = self.ports[port].want_triggered;
        if now >= self.ports[port].next_regular {
            self.send_update(port, SimTime::ZERO);
            let interface = &mut self.ports[port];
            interface.next_regular = following(interface.next_regular, self.config.update_interval);
            interface.want_triggered = None;
            self.triggered = false;
        } else if let Some(since) = wanted
            && now >= self.ports[port].next_triggered
        {
            self.send_update(port, since);
            let next = self.after(self.pause());
            let interface = &mut self.ports[port];
            (interface.next_triggered, interface.want_triggered) = (next, None);
            self.triggered = false;
        }
        let interface = &mut self.ports[port];
        let mut timer = interface.next_hello.min(interface.next_regular);
        if interface.want_triggered.is_some() {
            timer = timer.min(interface.next_triggered);
        }
        interface.timer = timer;
    }

    fn reflect(&mut self) {
        for prefix in std::mem::take(&mut self.touched) {
            let entry = self.entries.get(&prefix);
            let new = entry.and_then(|entry| match entry.selected {
                Some(end) => Some(Way::Via(end)),
                None => (entry.validity == Validity::Stale).then_some(Way::Unreachable),
            });
            self.out.follow(&mut self.in_use, prefix, new);
        }
    }
}

impl Daemon for Bird {
    fn start(&mut self, now: SimTime, carriers: &[bool]) {
        self.now = now;
        let own = self.entries.entry(self.node).or_default();
        (own.validity, own.id, own.seqno, own.metric) = (Validity::Valid, self.id, 1, 0);
        // The own route comes before the interfaces are up: it counts as triggered, although none
        // sends (`babel_rt_notify`, `babel_trigger_update` and `babel_trigger_iface_update` in
        // `proto/babel/babel.c`). So other changes trigger nothing until an interface has sent a
        // regular update or one that was asked for.
        self.triggered = true;
        self.sweep_at = self.after(SWEEP);
        for (port, carrier) in carriers.iter().enumerate() {
            if *carrier || !self.config.link_detect {
                self.raise(port);
            }
        }
    }

    fn receive(&mut self, now: SimTime, end: usize, tlvs: &[Tlv]) {
        self.now = now;
        if !self.ports[self.port_of(end)].up {
            return;
        }
        let (mut id, mut has_next_hop) = (None, false);
        for tlv in tlvs {
            match *tlv {
                Tlv::Hello {
                    seqno, interval_cs, ..
                } => self.on_hello(end, seqno, interval(interval_cs)),
                Tlv::Ihu {
                    to,
                    rxcost,
                    interval_cs,
                    ..
                } if to == self.node => self.on_ihu(end, rxcost, interval(interval_cs)),
                Tlv::Ihu { .. } => {}
                Tlv::RouterId(origin) => id = Some(origin),
                Tlv::NextHop(_) => has_next_hop = true,
                Tlv::Update {
                    prefix,
                    metric: INFINITY,
                    ..
                } => self.retract(prefix, end),
                Tlv::Update {
                    prefix,
                    seqno,
                    metric,
                    interval_cs,
                } => {
                    if let Some(id) = id.filter(|_| has_next_hop) {
                        self.on_update(end, id, prefix, seqno, metric, interval(interval_cs));
                    }
                }
                Tlv::RetractAll { .. } => {
                    let prefixes: Vec<NodeId> = self.entries.keys().copied().collect();
                    for prefix in prefixes {
                        self.retract(prefix, end);
                    }
                }
                Tlv::RouteRequest(None) => {
                    let port = self.port_of(end);
                    self.ports[port].want_triggered = Some(SimTime::ZERO);
                }
                Tlv::RouteRequest(Some(prefix)) => {
                    let port = self.port_of(end);
                    if self.entries.contains_key(&prefix) {
                        self.trigger_port(port);
                        self.mark(prefix, now);
                    } else {
                        let update = Tlv::Update {
                            prefix,
                            seqno: self.update_seqno,
                            metric: INFINITY,
                            interval_cs: centiseconds(self.config.update_interval),
                        };
                        let (node, id) = (self.node, self.id);
                        self.ports[port].queue.push_update(node, id, update);
                    }
                }
                Tlv::SeqnoRequest {
                    prefix,
                    seqno,
                    hops,
                    id,
                } => self.on_seqno_request(end, prefix, seqno, id, hops),
            }
        }
        self.run_ports();
    }

    fn carrier(&mut self, now: SimTime, port: usize, present: bool) {
        self.now = now;
        self.run_ports();
        if self.config.link_detect && self.ports[port].up != present {
            if present {
                self.raise(port);
            } else {
                self.lower(port);
            }
        }
    }

    fn poll(&mut self, now: SimTime) -> SimTime {
        self.now = now;
        if self.sweep_at <= now {
            self.sweep();
            self.sweep_at = self.after(SWEEP);
            self.run_ports();
        }
        self.sweep_at
    }

    fn stop(self: Box<Self>) -> Stream {
        self.draws
    }

    fn take(&mut self) -> Output {
        self.reflect();
        for (port, interface) in self.ports.iter_mut().enumerate() {
            let packets = interface.queue.take(self.now);
            if interface.up {
                let packets = packets.into_iter().map(|bytes| (Target::Port(port), bytes));
                self.out.packets.extend(packets);
            }
        }
        std::mem::take(&mut self.out)
    }
}
