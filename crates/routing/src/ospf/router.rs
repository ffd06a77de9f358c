//! The router: hooks, timers, and routes.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, Division, DropCause, NodeId, PacketId, Reading, Router};
use backlane_units::{Duration, SimTime};

use backlane_param::OrOff;

use super::alternates;
use super::bfd::{self, Session};
use super::config::{Config, Daemon, FastReroute, Shares, Start};
use super::costs::Costs;
use super::database::{Database, Initial, subnet};
use super::neighbour::{Neighbour, State};
use super::packet::Packet;
use super::spf;
use super::spreading::Spreading;
use crate::readings::{LINK_FAILURES, PROTECTED_ROUTES, ROUTES};

/// A router originates its LSA again after this time (appendix B: LSRefreshTime).
const REFRESH: Duration = Duration::from_secs(1800);

/// The time from the start of BIRD to its first tick, as recorded.
const FIRST_TICK: Duration = Duration::from_millis(100);

/// Timers of a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinkTimer {
    Hello,
    Dead,
    Retransmit,
    Acknowledge,
    Carrier,
    BfdSend,
    BfdExpiry,
}

const LINK_TIMERS: [LinkTimer; 7] = [
    LinkTimer::Hello,
    LinkTimer::Dead,
    LinkTimer::Retransmit,
    LinkTimer::Acknowledge,
    LinkTimer::Carrier,
    LinkTimer::BfdSend,
    LinkTimer::BfdExpiry,
];

/// Timers of the router; their tokens are above those of links.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeTimer {
    Start,
    /// FRR: routes are computed.
    Routes,
    /// BIRD: router-LSA and routes.
    Tick,
    Refresh,
    /// Computed routes come into use.
    Install,
}

const NODE_TIMERS: [NodeTimer; 5] = [
    NodeTimer::Start,
    NodeTimer::Routes,
    NodeTimer::Tick,
    NodeTimer::Refresh,
    NodeTimer::Install,
];

const NODE: u32 = 1 << 31;
const TIMERS_PER_LINK: u32 = 8;

/// One end of a link.
#[derive(Debug)]
pub(super) struct End {
    pub(super) peer: NodeId,
    pub(super) cost: u16,
    rate_bps: u64,
    /// The address of the link's network.
    pub(super) subnet: u32,
    /// When the exchange of databases began; FRR's retransmissions follow in whole intervals.
    pub(super) exchanged: SimTime,
    pub(super) retransmission: Option<SimTime>,
    /// Whether the daemon sees a carrier.
    pub(super) carrier: bool,
    pub(super) neighbour: Neighbour,
    pub(super) bfd: Option<Session>,
    /// LSAs to be sent at the end of the hook, by origin.
    pub(super) flooded: Vec<NodeId>,
    timers: Vec<TimerId>,
}

/// OSPF on one node.
#[derive(Debug)]
pub struct Ospf {
    pub(super) node: NodeId,
    pub(super) config: Arc<Config>,
    costs: Costs,
    initial: Initial,
    pub(super) draws: Stream,
    pub(super) now: SimTime,
    /// Whether the daemon runs.
    pub(super) runs: bool,
    pub(super) ends: Vec<End>,
    pub(super) database: Database,
    /// The sequence number of the last own LSA.
    pub(super) sequence: Option<i32>,
    pub(super) originated: Option<SimTime>,
    /// BIRD: the own LSA is out of date, and is replaced at the tick after this many others.
    pub(super) stale_ticks: Option<u8>,
    /// Whether routes are to be computed.
    routes_stale: bool,
    computed: Option<SimTime>,
    hold_factor: u64,
    tick_phase: SimTime,
    routes: BTreeMap<NodeId, Vec<u16>>,
    /// Computed, and not yet in use.
    coming: Option<BTreeMap<NodeId, Vec<u16>>>,
    /// Alternates of `routes` with one path; empty without fast reroute.
    alternates: BTreeMap<NodeId, u16>,
    spreading: Spreading,
    timers: Vec<TimerId>,
    /// Full adjacencies that ended.
    pub(super) adjacencies_lost: u64,
}

impl Ospf {
    /// The router of `node`. `initial` is what all routers know with start "converged".
    pub fn new(
        node: NodeId,
        config: Arc<Config>,
        costs: Costs,
        initial: Initial,
        mut draws: Stream,
        spread: Stream,
    ) -> Self {
        let key = draws.next_u64();
        let spreading = Spreading::new(&config, key, spread);
        Self {
            node,
            config,
            costs,
            initial,
            draws,
            now: SimTime::ZERO,
            runs: false,
            ends: Vec::new(),
            database: Database::default(),
            sequence: None,
            originated: None,
            stale_ticks: None,
            routes_stale: false,
            computed: None,
            hold_factor: 1,
            tick_phase: SimTime::ZERO,
            routes: BTreeMap::new(),
            coming: None,
            alternates: BTreeMap::new(),
            spreading,
            timers: Vec::new(),
            adjacencies_lost: 0,
        }
    }

    /// The first interfaces of all equal paths to a router, in order.
    pub fn paths_to(&self, exit: NodeId) -> &[u16] {
        self.routes.get(&exit).map_or(&[], Vec::as_slice)
    }

    pub(super) fn draw(&mut self, span: Duration) -> Duration {
        Duration::from_ps(self.draws.uniform_below(span.as_ps().max(1)))
    }

    pub(super) fn arm(&self, context: &mut Context<'_>, end: usize, timer: LinkTimer, at: SimTime) {
        set(context, self.ends[end].timers[timer as usize], at);
    }

    fn arm_node(&self, context: &mut Context<'_>, timer: NodeTimer, at: SimTime) {
        set(context, self.timers[timer as usize], at);
    }

    pub(super) fn arm_refresh(&self, context: &mut Context<'_>) {
        self.arm_node(
            context,
            NodeTimer::Refresh,
            self.now.saturating_add(REFRESH),
        );
    }

    pub(super) fn send(&self, context: &mut Context<'_>, end: usize, packet: &Packet) -> Arc<[u8]> {
        let (hello, dead) = (self.config.hello_interval, self.config.dead_interval);
        let bytes = packet.encode(self.node, hello, dead);
        context.send_over_ip(end, bytes.clone());
        bytes
    }

    /// All routers are adjacent to their neighbours and have the same database.
    fn begin_converged(&mut self, context: &mut Context<'_>) {
        self.runs = true;
        self.database = Database::converged(self.initial.clone());
        self.sequence = self
            .database
            .header(self.now, self.node)
            .map(|own| own.sequence);
        self.tick_phase = self.now.saturating_add(self.draw(self.config.tick));
        let dead = self.now.saturating_add(self.config.dead_interval);
        for end in 0..self.ends.len() {
            self.ends[end].carrier = true;
            self.ends[end].neighbour.reset(State::Full);
            let hello = self
                .now
                .saturating_add(self.draw(self.config.hello_interval));
            self.arm(context, end, LinkTimer::Hello, hello);
            self.arm(context, end, LinkTimer::Dead, dead);
            if let OrOff::Value(interval) = self.config.bfd {
                let multiplier = self.config.bfd_multiplier;
                let session = Session::up(self.node, interval, multiplier, self.now);
                self.arm(context, end, LinkTimer::BfdExpiry, session.expires());
                self.ends[end].bfd = Some(session);
                let first = self.now.saturating_add(self.draw(interval));
                self.arm(context, end, LinkTimer::BfdSend, first);
            }
        }
        let refresh = self.now.saturating_add(self.draw(REFRESH));
        self.arm_node(context, NodeTimer::Refresh, refresh);
        self.compute_routes(context);
    }

    /// The daemon starts, and knows of no neighbour.
    fn begin_cold(&mut self, context: &mut Context<'_>) {
        self.runs = true;
        self.tick_phase = self.now.saturating_add(FIRST_TICK);
        self.renew(context);
        for end in 0..self.ends.len() {
            if context.has_carrier(end) {
                self.raise(context, end);
            }
        }
    }

    /// The node fails: what its memory and its tables held is gone.
    fn halt(&mut self, context: &mut Context<'_>) {
        self.runs = false;
        for timer in &self.timers {
            context.cancel_timer(*timer);
        }
        for end in &mut self.ends {
            for timer in &end.timers {
                context.cancel_timer(*timer);
            }
            end.carrier = false;
            end.neighbour = Neighbour::default();
            end.bfd = None;
            end.flooded.clear();
            end.retransmission = None;
        }
        for exit in self.routes.keys() {
            context.remove_route(*exit);
        }
        self.database = Database::default();
        (self.sequence, self.originated, self.computed) = (None, None, None);
        (self.stale_ticks, self.routes_stale) = (None, false);
        self.routes.clear();
        self.coming = None;
        self.alternates.clear();
        self.spreading.clear();
    }

    /// The own LSA is out of date: FRR replaces it at once, BIRD at a tick.
    pub(super) fn renew(&mut self, context: &mut Context<'_>) {
        self.renew_after(context, 0);
    }

    /// An adjacency is full. BIRD was recorded to advertise it at the second tick.
    pub(super) fn advertise(&mut self, context: &mut Context<'_>) {
        self.renew_after(context, 1);
    }

    fn renew_after(&mut self, context: &mut Context<'_>, ticks: u8) {
        match self.config.daemon {
            Daemon::Frr => self.originate(context),
            Daemon::Bird => {
                let ticks = self.stale_ticks.map_or(ticks, |other| other.min(ticks));
                self.stale_ticks = Some(ticks);
                self.arm_tick(context);
            }
        }
    }

    fn arm_tick(&self, context: &mut Context<'_>) {
        let tick = self.config.tick.as_ps();
        let since = self.now.saturating_since(self.tick_phase).as_ps();
        // Before the first tick, and at a tick, the wait is for the next one.
        let wait = if self.tick_phase > self.now {
            self.tick_phase.saturating_since(self.now).as_ps()
        } else {
            tick - since % tick
        };
        let at = self.now.saturating_add(Duration::from_ps(wait));
        self.arm_node(context, NodeTimer::Tick, at);
    }

    /// Routes are out of date.
    pub(super) fn schedule_routes(&mut self, context: &mut Context<'_>) {
        if self.routes_stale {
            return;
        }
        self.routes_stale = true;
        if self.config.daemon == Daemon::Bird {
            return self.arm_tick(context);
        }
        let hold = self.config.spf_hold.saturating_mul(self.hold_factor);
        let hold = hold.min(self.config.spf_max_hold);
        let at = match self.computed {
            Some(computed) if self.now < computed.saturating_add(hold) => {
                if hold < self.config.spf_max_hold {
                    self.hold_factor += 1;
                }
                computed.saturating_add(hold)
            }
            _ => {
                self.hold_factor = 1;
                self.now
            }
        };
        self.arm_node(context, NodeTimer::Routes, at);
    }

    fn compute_routes(&mut self, context: &mut Context<'_>) {
        self.routes_stale = false;
        let is_first = self.computed.replace(self.now).is_none();
        let mut routes = spf::routes(self.node, |node| self.database.usable(self.now, node));
        for paths in routes.values_mut() {
            paths.truncate(self.config.paths as usize);
        }
        self.coming = Some(routes);
        if self.config.install_delay > Duration::ZERO && !is_first {
            let at = self.now.saturating_add(self.config.install_delay);
            self.arm_node(context, NodeTimer::Install, at);
        } else {
            self.install(context);
        }
    }

    /// Computed routes come into use.
    fn install(&mut self, context: &mut Context<'_>) {
        let Some(routes) = self.coming.take() else {
            return;
        };
        for exit in self.routes.keys().filter(|exit| !routes.contains_key(exit)) {
            context.remove_route(*exit);
        }
        self.spreading.clear();
        for (exit, paths) in &routes {
            let is_new = self.routes.get(exit) != Some(paths);
            match paths[..] {
                [one] if is_new => context.install_route(*exit, usize::from(one)),
                [] | [_] => {}
                _ => {
                    if is_new {
                        context.remove_route(*exit);
                    }
                    self.divide(*exit, paths);
                }
            }
        }
        self.routes = routes;
        if self.config.fast_reroute == FastReroute::LoopFreeAlternates {
            self.alternates = alternates::of(self.node, &self.routes, |node| {
                self.database.usable(self.now, node)
            });
        }
    }

    /// Exits to which the loss of a first link leaves a path at once.
    fn protected(&self) -> usize {
        if self.config.fast_reroute == FastReroute::Off {
            return 0;
        }
        let divided = self.routes.values().filter(|paths| paths.len() > 1);
        divided.count() + self.alternates.len()
    }

    fn is_full(&self, end: usize) -> bool {
        self.ends[end].neighbour.state == State::Full
    }

    /// A neighbour is lost: what would be sent to it takes the equal paths that are left or, where
    /// there are none, the alternate, until new routes come into use.
    pub(super) fn reroute(&mut self, context: &mut Context<'_>, end: usize) {
        if self.config.fast_reroute == FastReroute::Off {
            return;
        }
        let lost = end as u16;
        let mut routes = std::mem::take(&mut self.routes);
        for (exit, paths) in &mut routes {
            if !paths.contains(&lost) {
                continue;
            }
            // An alternate protects the computed path, and not the alternate itself, which may be
            // lost too.
            let alternate = self.alternates.remove(exit);
            let alternate = alternate.filter(|&other| self.is_full(other.into()));
            match (paths.len(), alternate) {
                (1, None) => continue,
                (1, Some(alternate)) => *paths = vec![alternate],
                _ => paths.retain(|&path| path != lost),
            }
            match paths[..] {
                [one] => {
                    self.spreading.remove(*exit);
                    context.install_route(*exit, usize::from(one));
                }
                _ => self.divide(*exit, paths),
            }
        }
        self.routes = routes;
    }

    /// Divides the packets for an exit among several paths.
    fn divide(&mut self, exit: NodeId, interfaces: &[u16]) {
        let (ends, shares) = (&self.ends, self.config.shares);
        self.spreading
            .divide(exit, interfaces, |interface| match shares {
                Shares::Equal => 1,
                Shares::Rate => ends[usize::from(interface)].rate_bps,
            });
    }

    fn on_node_timer(&mut self, context: &mut Context<'_>, token: u32) {
        match NODE_TIMERS.get((token - NODE) as usize) {
            Some(NodeTimer::Start) => self.begin_cold(context),
            Some(NodeTimer::Routes) => self.compute_routes(context),
            Some(NodeTimer::Tick) => {
                match self.stale_ticks {
                    Some(0) if self.may_originate() => self.originate(context),
                    Some(ticks) => self.stale_ticks = Some(ticks.saturating_sub(1)),
                    None => {}
                }
                if self.routes_stale {
                    self.compute_routes(context);
                }
                if self.stale_ticks.is_some() {
                    self.arm_tick(context);
                }
            }
            Some(NodeTimer::Refresh) => self.originate(context),
            Some(NodeTimer::Install) => self.install(context),
            None => {}
        }
    }

    fn on_link_timer(&mut self, context: &mut Context<'_>, token: u32) {
        let end = (token / TIMERS_PER_LINK) as usize;
        match LINK_TIMERS.get((token % TIMERS_PER_LINK) as usize) {
            Some(LinkTimer::Hello) => self.send_hello(context, end),
            Some(LinkTimer::Dead) => self.lose(context, end),
            Some(LinkTimer::Retransmit) => self.retransmit(context, end),
            Some(LinkTimer::Acknowledge) => self.acknowledge(context, end),
            Some(LinkTimer::Carrier) => self.report_carrier(context, end),
            Some(LinkTimer::BfdSend) => self.send_bfd(context, end),
            Some(LinkTimer::BfdExpiry) => self.on_bfd_expiry(context, end),
            None => {}
        }
    }
}

fn set(context: &mut Context<'_>, timer: TimerId, at: SimTime) {
    if at == SimTime::MAX {
        context.cancel_timer(timer);
    } else {
        context.set_timer(timer, at);
    }
}

impl Router for Ospf {
    fn start(&mut self, context: &mut Context<'_>) {
        self.now = context.now();
        let timer = |timer: NodeTimer| context.timer(NODE + timer as u32);
        self.timers = NODE_TIMERS.map(timer).to_vec();
        for end in 0..context.interfaces().len() {
            let timer =
                |timer: LinkTimer| context.timer(end as u32 * TIMERS_PER_LINK + timer as u32);
            let timers = LINK_TIMERS.map(timer).to_vec();
            let interface = context.interfaces()[end];
            self.ends.push(End {
                peer: interface.peer,
                cost: self.costs.of(&interface, &self.config),
                rate_bps: interface.rate.as_bps(),
                subnet: subnet(&interface),
                exchanged: self.now,
                retransmission: None,
                carrier: false,
                neighbour: Neighbour::default(),
                bfd: None,
                flooded: Vec::new(),
                timers,
            });
        }
        match self.config.start {
            Start::Converged => self.begin_converged(context),
            Start::Cold => {
                let at = self.now.saturating_add(self.draw(self.config.start_spread));
                self.arm_node(context, NodeTimer::Start, at);
            }
        }
    }

    /// Packets without a single route in the forwarding table.
    #[inline]
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let several = self.spreading.paths_of(&self.config, context.packet(id));
        let interface = several.and_then(|several| {
            let now = context.now();
            let backlog = |interface| context.device_backlog_pkts(interface);
            self.spreading.choose(&self.config, several, now, backlog)
        });
        match interface {
            Some(interface) => context.transmit(interface, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_message(&mut self, context: &mut Context<'_>, end: usize, _ttl: u8, bytes: &[u8]) {
        self.now = context.now();
        if !self.runs || !self.ends[end].carrier {
            return;
        }
        if bfd::is_control(bytes) {
            self.on_bfd(context, end, bytes);
        } else if let Some((router, packet)) = Packet::decode(bytes)
            && router == self.ends[end].peer
        {
            self.on_ospf(context, end, packet);
        }
        self.flood(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        self.now = context.now();
        if token >= NODE {
            self.on_node_timer(context, token);
        } else {
            self.on_link_timer(context, token);
        }
        self.flood(context);
    }

    fn on_carrier(&mut self, context: &mut Context<'_>, end: usize, _present: bool) {
        self.now = context.now();
        if !self.runs {
            return;
        }
        if self.config.carrier_delay == Duration::ZERO {
            self.report_carrier(context, end);
        } else {
            let at = self
                .now
                .saturating_add(self.draw(self.config.carrier_delay));
            self.arm(context, end, LinkTimer::Carrier, at);
        }
        self.flood(context);
    }

    fn on_power(&mut self, context: &mut Context<'_>, on: bool) {
        self.now = context.now();
        if on {
            self.begin_cold(context);
        } else {
            self.halt(context);
        }
        self.flood(context);
    }

    fn readings(&self, _now: SimTime) -> Vec<Reading> {
        vec![
            (LINK_FAILURES, self.adjacencies_lost.into()),
            (ROUTES, self.routes.len() as u128),
            (PROTECTED_ROUTES, self.protected() as u128),
        ]
    }

    fn division(&self, packet: &backlane_net::Packet) -> Option<Division> {
        self.spreading.division(&self.config, packet)
    }

    /// The first of several equal paths.
    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        let paths = self.routes.get(&exit)?;
        paths.first().map(|interface| usize::from(*interface))
    }
}
