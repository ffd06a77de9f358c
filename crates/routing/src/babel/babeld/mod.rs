//! babeld 1.12: what its main loop does, step by step.
//!
//! - [`neighbours`]: HELLOs, IHUs and the costs of links.
//! - [`routes`]: feasibility and the choice of routes.
//! - [`updates`]: updates and requests, and what is sent again.

mod neighbours;
mod routes;
mod updates;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::config::Config;
use super::daemon::{Daemon, Links, Output, Packer, Port, Target, Way, interval, micros};
use super::message::{INFINITY, Tlv};

/// A route of this age of a source no longer restricts others.
const SOURCE_LIFE: Duration = Duration::from_secs(200);
/// Requests are forgotten after this time.
const REQUEST_LIFE: Duration = Duration::from_secs(65);
/// The wait before something is sent again; it doubles each time.
const RESEND_DELAY: Duration = Duration::from_secs(2);
/// The number of times that something is sent again.
const RESENDS: u32 = 3;
/// A request for all routes is ignored for this number of HELLO intervals after a full update.
const REQUEST_PAUSE: u64 = 10;
const HOPS: u8 = 127;
const SECOND: Duration = Duration::from_secs(1);

/// The wait between two interfaces at the start.
const START_STEP: Duration = Duration::from_millis(10);
const EXPIRY: Duration = Duration::from_secs(30);
const SOURCE_EXPIRY: Duration = Duration::from_secs(300);
const FIRST_CHECK: Duration = Duration::from_secs(5);
/// Time after which a measured round-trip time no longer counts.
const RTT_LIFE: Duration = Duration::from_secs(180);
/// The weight of a new round-trip time, of 256.
const RTT_DECAY: u64 = 42;

#[derive(Debug)]
struct Interface {
    port: Port,
    up: bool,
    hello_seqno: u16,
    hello_at: SimTime,
    update_at: SimTime,
    last_update: Option<SimTime>,
    /// Prefixes of updates to be sent, and when.
    updates: BTreeSet<NodeId>,
    updates_at: SimTime,
    buffer: Buffer,
}

#[derive(Debug)]
struct Buffer {
    packer: Packer,
    due: SimTime,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            packer: Packer::default(),
            due: SimTime::MAX,
        }
    }
}

#[derive(Debug)]
struct Neighbour {
    buffer: Buffer,
    /// The last 16 HELLOs, the newest in the highest bit.
    reach: u16,
    hello_seqno: Option<u16>,
    /// When the last HELLO came or counts as missed.
    hello_time: SimTime,
    hello_interval: Duration,
    txcost: u16,
    ihu_time: SimTime,
    ihu_interval: Duration,
    /// The timestamp of the last HELLO, and when it came.
    heard_us: Option<(u32, u32)>,
    /// The smoothed round-trip time, and when it was measured.
    rtt: Option<(u64, SimTime)>,
}

/// The best that was announced of a prefix (the feasibility distance, §3.2.5).
#[derive(Clone, Copy, Debug)]
struct Source {
    seqno: u16,
    metric: u16,
    time: SimTime,
}

#[derive(Clone, Debug)]
struct Route {
    id: u64,
    refmetric: u16,
    cost: u16,
    seqno: u16,
    time: SimTime,
    hold: Duration,
    smoothed: i64,
    /// The second up to which `smoothed` is computed.
    smoothed_s: u64,
    installed: bool,
}

impl Route {
    fn metric(&self) -> u16 {
        self.refmetric.saturating_add(self.cost)
    }

    fn is_expired(&self, now: SimTime) -> bool {
        now.saturating_since(self.time) > self.hold
    }

    fn is_old(&self, now: SimTime) -> bool {
        now.saturating_since(self.time) > Duration::from_ps(self.hold.as_ps() / 8 * 7)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Request,
    Update,
}

#[derive(Clone, Copy, Debug)]
struct Resend {
    kind: Kind,
    prefix: NodeId,
    seqno: u16,
    id: Option<u64>,
    port: Option<usize>,
    time: SimTime,
    delay: Option<Duration>,
    left: u32,
}

impl Resend {
    fn is_expired(&self, now: SimTime) -> bool {
        match self.kind {
            Kind::Request => now.saturating_since(self.time) >= REQUEST_LIFE,
            Kind::Update => self.left == 0,
        }
    }

    fn due(&self, now: SimTime) -> SimTime {
        match self.delay {
            Some(delay) if self.left > 0 && !self.is_expired(now) => {
                self.time.saturating_add(delay)
            }
            _ => SimTime::MAX,
        }
    }
}

/// The daemon of one router.
pub(super) struct Babeld {
    node: NodeId,
    config: Arc<Config>,
    links: Links,
    draws: Stream,
    now: SimTime,
    out: Output,
    /// The own router ID and sequence number. Both are drawn at each start: the recorded daemons had
    /// no interface to take an ID from and no state to read.
    id: u64,
    seqno: u16,
    ports: Vec<Interface>,
    neighbours: BTreeMap<usize, Neighbour>,
    sources: BTreeMap<(NodeId, u64), Source>,
    /// By prefix and interface.
    routes: BTreeMap<NodeId, BTreeMap<usize, Route>>,
    resends: Vec<Resend>,
    /// What is left of the start: port, second round, when.
    starting: Vec<(SimTime, usize, bool)>,
    /// Packets that arrived during the start, in which the daemon sleeps between interfaces.
    unread: Vec<(usize, Vec<Tlv>)>,
    check_at: SimTime,
    expire_at: SimTime,
    expire_sources_at: SimTime,
    /// Prefixes whose route may have changed, and the routes in use.
    touched: BTreeSet<NodeId>,
    in_use: BTreeMap<NodeId, Way>,
}

impl Babeld {
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
            hello_seqno: 0,
            hello_at: SimTime::MAX,
            update_at: SimTime::MAX,
            last_update: None,
            updates: BTreeSet::new(),
            updates_at: SimTime::MAX,
            buffer: Buffer::default(),
        };
        Self {
            node,
            config,
            links,
            draws,
            now: SimTime::ZERO,
            out: Output::default(),
            id: 0,
            seqno: 0,
            ports: ports.into_iter().map(interface).collect(),
            neighbours: BTreeMap::new(),
            sources: BTreeMap::new(),
            routes: BTreeMap::new(),
            resends: Vec::new(),
            starting: Vec::new(),
            unread: Vec::new(),
            check_at: SimTime::MAX,
            expire_at: SimTime::MAX,
            expire_sources_at: SimTime::MAX,
            touched: BTreeSet::new(),
            in_use: BTreeMap::new(),
        }
    }

    /// From ¾ to 5⁄4 of a time.
    fn roughly(&mut self, time: Duration) -> Duration {
        let ps = time.as_ps();
        Duration::from_ps(ps / 4 * 3 + self.draws.uniform_below((ps / 2).max(1)))
    }

    fn after_roughly(&mut self, time: Duration) -> SimTime {
        let wait = self.roughly(time);
        self.now.saturating_add(wait)
    }

    fn port_of(&self, end: usize) -> usize {
        self.links.ports[end]
    }

    // Buffers.

    fn buffer(&mut self, target: Target) -> &mut Buffer {
        match target {
            Target::Port(port) => &mut self.ports[port].buffer,
            Target::Neighbour(end) => match self.neighbours.get_mut(&end) {
                Some(neighbour) => &mut neighbour.buffer,
                // One that was just lost.
                None => &mut self.ports[self.links.ports[end]].buffer,
            },
        }
    }

    /// Packets wait for others: a quarter of the HELLO interval, up to a second, roughly.
    fn schedule_flush(&mut self, target: Target) {
        let wait = Duration::from_ps(self.config.hello_interval.as_ps() / 4).min(SECOND);
        self.flush_within(target, wait);
    }

    fn flush_within(&mut self, target: Target, wait: Duration) {
        let wait = self.roughly(wait);
        let at = self.after_roughly(wait);
        let buffer = self.buffer(target);
        buffer.due = buffer.due.min(at);
    }

    fn push(&mut self, target: Target, tlv: Tlv) {
        self.buffer(target).packer.push(tlv);
        self.schedule_flush(target);
    }

    fn flush(&mut self, target: Target) {
        let now = self.now;
        let buffer = self.buffer(target);
        buffer.due = SimTime::MAX;
        let packets = buffer.packer.take(now);
        let packets = packets.into_iter().map(|bytes| (target, bytes));
        self.out.packets.extend(packets);
    }

    // Ports.

    /// A port comes up. At the start of the daemon it has no routes yet, not even its own.
    fn raise(&mut self, port: usize, has_routes: bool) {
        let hello_at = self.after_roughly(self.config.hello_interval);
        let update_at = self.after_roughly(self.config.update_interval);
        let interface = &mut self.ports[port];
        interface.up = true;
        (interface.hello_at, interface.update_at) = (hello_at, update_at);
        for end in self.ports[port].port.interfaces.clone() {
            self.update_metrics(end);
        }
        self.send_hello(port);
        if has_routes {
            self.send_full_update(port);
        }
        self.send_request(port, None);
    }

    fn lower(&mut self, port: usize) {
        let interface = &mut self.ports[port];
        interface.up = false;
        interface.buffer = Buffer::default();
        interface.updates.clear();
        (interface.hello_at, interface.update_at) = (SimTime::MAX, SimTime::MAX);
        interface.updates_at = SimTime::MAX;
        for end in self.ports[port].port.interfaces.clone() {
            self.flush_routes(end);
        }
    }

    /// Routes that changed come into use. The entry of an unreachable router stays until its route is
    /// flushed.
    fn reflect(&mut self) {
        for prefix in std::mem::take(&mut self.touched) {
            let new = self
                .installed(prefix)
                .map(|(end, route)| match route.metric() {
                    INFINITY => Way::Unreachable,
                    _ => Way::Via(end),
                });
            self.out.follow(&mut self.in_use, prefix, new);
        }
    }
}

impl Daemon for Babeld {
    fn start(&mut self, now: SimTime, carriers: &[bool]) {
        self.now = now;
        self.id = self.draws.next_u64();
        self.seqno = self.draws.next_u64() as u16;
        self.check_at = self.after_roughly(FIRST_CHECK);
        self.expire_at = self.after_roughly(EXPIRY);
        self.expire_sources_at = self.after_roughly(SOURCE_EXPIRY);
        for (port, carrier) in carriers.iter().enumerate() {
            self.ports[port].hello_seqno = self.draws.next_u64() as u16;
            if *carrier || !self.config.link_detect {
                self.raise(port, false);
            }
        }
        let mut at = now;
        for is_second in [false, true] {
            for port in 0..self.ports.len() {
                at = at.saturating_add(self.roughly(START_STEP));
                self.starting.push((at, port, is_second));
            }
        }
        self.starting.reverse();
    }

    fn receive(&mut self, now: SimTime, end: usize, tlvs: &[Tlv]) {
        self.now = now;
        let port = self.port_of(end);
        if !self.ports[port].up {
            return;
        }
        if !self.starting.is_empty() {
            return self.unread.push((end, tlvs.to_vec()));
        }
        self.meet(end);
        let (mut id, mut has_next_hop) = (None, false);
        let (mut heard, mut echoed) = (false, None);
        for tlv in tlvs {
            match *tlv {
                Tlv::Hello {
                    seqno,
                    interval_cs,
                    sent_us,
                } => {
                    let announced = interval(interval_cs);
                    if self.on_hello(end, seqno, announced) {
                        self.update_metrics(end);
                    }
                    if announced > Duration::ZERO {
                        let at = self.after_roughly(Duration::from_ps(announced.as_ps() / 2 * 3));
                        self.check_at = self.check_at.min(at);
                    }
                    if let (Some(sent_us), Some(neighbour)) =
                        (sent_us, self.neighbours.get_mut(&end))
                    {
                        neighbour.heard_us = Some((sent_us, micros(now)));
                        heard = true;
                    }
                }
                Tlv::Ihu {
                    to,
                    rxcost,
                    interval_cs,
                    echo,
                } if to == self.node => {
                    let Some(neighbour) = self.neighbours.get_mut(&end) else {
                        continue;
                    };
                    let changed = neighbour.txcost != rxcost;
                    neighbour.txcost = rxcost;
                    neighbour.ihu_time = now;
                    neighbour.ihu_interval = interval(interval_cs);
                    echoed = echo;
                    if changed {
                        self.update_metrics(end);
                    }
                    if interval_cs > 0 {
                        let wait = interval(interval_cs).saturating_mul(9);
                        let at = self.after_roughly(Duration::from_ps(wait.as_ps() / 2));
                        self.check_at = self.check_at.min(at);
                    }
                }
                Tlv::RouterId(origin) => id = Some(origin),
                Tlv::NextHop(_) => has_next_hop = true,
                Tlv::Update {
                    prefix,
                    seqno,
                    metric,
                    interval_cs,
                } => {
                    if let Some(id) = id.filter(|_| has_next_hop) {
                        let announced = interval(interval_cs);
                        self.on_update(end, id, prefix, seqno, metric, announced);
                    }
                }
                Tlv::RetractAll { .. } => self.retract_neighbour(end),
                Tlv::RouteRequest(None) => {
                    self.send_ihu(end);
                    let pause = self.config.hello_interval.saturating_mul(REQUEST_PAUSE);
                    let last = self.ports[port].last_update;
                    if last.is_none_or(|last| now.saturating_since(last) > pause) {
                        self.send_full_update(port);
                    }
                }
                Tlv::RouteRequest(Some(prefix)) => self.send_update(Some(port), false, prefix),
                Tlv::SeqnoRequest {
                    prefix,
                    seqno,
                    hops,
                    id,
                } => self.on_seqno_request(end, prefix, seqno, id, hops),
                Tlv::Ihu { .. } => {}
            }
        }
        if heard && let Some((sent_us, received_us)) = echoed {
            self.on_rtt(end, sent_us, received_us);
        }
    }

    fn carrier(&mut self, now: SimTime, port: usize, present: bool) {
        self.now = now;
        if self.config.link_detect && self.ports[port].up != present {
            if present {
                self.raise(port, true);
            } else {
                self.lower(port);
            }
        }
    }

    fn poll(&mut self, now: SimTime) -> SimTime {
        self.now = now;
        while let Some(&(at, port, is_second)) = self.starting.last()
            && at <= now
        {
            self.starting.pop();
            if !self.ports[port].up {
                continue;
            }
            self.send_hello(port);
            let retraction = Tlv::RetractAll { seqno: self.seqno };
            self.push(Target::Port(port), retraction);
            if is_second {
                self.send_update(Some(port), false, self.node);
                self.send_request(port, None);
            }
            self.flush_updates(port);
            self.flush(Target::Port(port));
        }
        if self.starting.is_empty() {
            for (end, tlvs) in std::mem::take(&mut self.unread) {
                self.receive(now, end, &tlvs);
            }
        }
        if self.check_at <= now {
            let wait = self.check_neighbours();
            self.check_at = self.after_roughly(wait);
        }
        if self.expire_at <= now {
            self.expire_routes();
            self.expire_at = self.after_roughly(EXPIRY);
        }
        if self.expire_sources_at <= now {
            self.sources
                .retain(|_, source| now.saturating_since(source.time) <= SOURCE_LIFE);
            self.expire_sources_at = self.after_roughly(SOURCE_EXPIRY);
        }
        for port in 0..self.ports.len() {
            if self.ports[port].hello_at <= now {
                self.send_hello(port);
            }
            if self.ports[port].update_at <= now {
                self.send_full_update(port);
            }
            if self.ports[port].updates_at <= now {
                self.flush_updates(port);
            }
        }
        self.resend();
        for port in 0..self.ports.len() {
            if self.ports[port].buffer.due <= now {
                self.flush_updates(port);
                self.flush(Target::Port(port));
            }
        }
        let due = self.neighbours.iter();
        let due: Vec<usize> = due
            .filter(|(_, neighbour)| neighbour.buffer.due <= now)
            .map(|(&end, _)| end)
            .collect();
        for end in due {
            self.flush(Target::Neighbour(end));
        }
        self.next()
    }

    fn stop(self: Box<Self>) -> Stream {
        self.draws
    }

    fn take(&mut self) -> Output {
        self.reflect();
        std::mem::take(&mut self.out)
    }
}

impl Babeld {
    /// When the next thing is due.
    fn next(&self) -> SimTime {
        let mut next = self
            .check_at
            .min(self.expire_at)
            .min(self.expire_sources_at);
        if let Some((at, ..)) = self.starting.last() {
            next = next.min(*at);
        }
        for port in &self.ports {
            for at in [
                port.hello_at,
                port.update_at,
                port.updates_at,
                port.buffer.due,
            ] {
                next = next.min(at);
            }
        }
        for neighbour in self.neighbours.values() {
            next = next.min(neighbour.buffer.due);
        }
        for resend in &self.resends {
            next = next.min(resend.due(self.now));
        }
        next
    }
}
