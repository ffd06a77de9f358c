//! The router: hooks, timers, and what a daemon wants done.

use std::sync::Arc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, DropCause, Interface, NodeId, PacketId, Reading, Router};
use backlane_units::{Duration, SimTime};

use super::babeld::Babeld;
use super::bird::Bird;
use super::config::{self, Config};
use super::daemon::{Daemon, Links, Port, Target, Way};
use super::message;
use crate::readings::{LINK_FAILURES, ROUTES};

const POLL: u32 = 0;
const START: u32 = 1;
/// Timers of carriers follow, by interface.
const CARRIER: u32 = 2;

/// Babel on one node.
pub struct Babel {
    node: NodeId,
    config: Arc<Config>,
    /// For the start and for carriers.
    draws: Stream,
    /// For the daemon, which has it while it runs.
    daemon_draws: Option<Stream>,
    /// `None` while the node is down.
    daemon: Option<Box<dyn Daemon>>,
    ports: Vec<Port>,
    links: Links,
    /// The routes in use, by router.
    routes: Vec<Option<Way>>,
    /// The cost of receiving on each interface's port, in place of that of `config`.
    rxcosts: Vec<u16>,
    neighbours_lost: u64,
    poll: Option<TimerId>,
    start: Option<TimerId>,
    carriers: Vec<TimerId>,
}

impl Babel {
    /// The router of `node`.
    pub fn new(node: NodeId, config: Arc<Config>, draws: Stream, daemon_draws: Stream) -> Self {
        Self {
            node,
            config,
            draws,
            daemon_draws: Some(daemon_draws),
            daemon: None,
            ports: Vec::new(),
            links: Links::default(),
            routes: Vec::new(),
            rxcosts: Vec::new(),
            neighbours_lost: 0,
            poll: None,
            start: None,
            carriers: Vec::new(),
        }
    }

    /// Sets the cost of receiving on each interface, in place of `config.rxcost`. Several interfaces of
    /// one radio have the cost of their first. Called before the simulation starts.
    pub fn set_rxcosts(&mut self, rxcosts: Vec<u16>) {
        self.rxcosts = rxcosts;
    }

    /// Whether the forwarding table has an entry for a router that says that it is unreachable: the
    /// last route to it was lost a while ago (RFC 8966 §2.8).
    pub fn is_unreachable(&self, exit: NodeId) -> bool {
        self.routes.get(exit.index()) == Some(&Some(Way::Unreachable))
    }

    fn drawn(&mut self, span: Duration) -> Duration {
        Duration::from_ps(self.draws.uniform_below(span.as_ps().max(1)))
    }

    /// The daemon starts, with nothing but its configuration.
    fn begin(&mut self, context: &mut Context<'_>) {
        let Some(draws) = self.daemon_draws.take() else {
            return;
        };
        let (node, config) = (self.node, self.config.clone());
        let (ports, links) = (self.ports.clone(), self.links.clone());
        let mut daemon: Box<dyn Daemon> = match config.daemon {
            config::Daemon::Babeld => Box::new(Babeld::new(node, config, ports, links, draws)),
            config::Daemon::Bird => Box::new(Bird::new(node, config, ports, links, draws)),
        };
        let has_carrier = |port: &Port| {
            let mut interfaces = port.interfaces.iter();
            interfaces.any(|&interface| context.has_carrier(interface))
        };
        let carriers: Vec<bool> = self.ports.iter().map(has_carrier).collect();
        daemon.start(context.now(), &carriers);
        self.daemon = Some(daemon);
        self.follow(context);
    }

    /// Does what is due and what the daemon wants.
    fn follow(&mut self, context: &mut Context<'_>) {
        let Some(daemon) = &mut self.daemon else {
            return;
        };
        let next = daemon.poll(context.now());
        let wanted = daemon.take();
        self.neighbours_lost += wanted.lost;
        for (exit, way) in wanted.routes {
            match way.and_then(Way::interface) {
                Some(interface) => context.install_route(exit, interface),
                None => context.remove_route(exit),
            }
            self.set_route(exit, way);
        }
        for (target, bytes) in wanted.packets {
            match target {
                Target::Neighbour(interface) => context.send_over_ipv6(interface, bytes),
                Target::Port(port) => match self.ports[port].radio {
                    Some(radio) => context.broadcast_over_ipv6(radio, bytes),
                    None => context.send_over_ipv6(self.ports[port].interfaces[0], bytes),
                },
            }
        }
        if let Some(timer) = self.poll {
            context.set_timer(timer, next);
        }
    }

    fn set_route(&mut self, exit: NodeId, way: Option<Way>) {
        if self.routes.len() <= exit.index() {
            self.routes.resize(exit.index() + 1, None);
        }
        self.routes[exit.index()] = way;
    }

    fn report_carrier(&mut self, context: &mut Context<'_>, interface: usize) {
        if let Some(daemon) = &mut self.daemon {
            let present = context.has_carrier(interface);
            daemon.carrier(context.now(), self.links.ports[interface], present);
            self.follow(context);
        }
    }
}

/// The ports of a router's interfaces, in the order of the first of each.
fn ports_of(interfaces: &[Interface], config: &Config, rxcosts: &[u16]) -> (Vec<Port>, Links) {
    let mut ports: Vec<Port> = Vec::new();
    let mut links = Links::default();
    for (index, interface) in interfaces.iter().enumerate() {
        let radio = interface.radio;
        let known = ports
            .iter()
            .position(|port| radio.is_some() && port.radio == radio);
        let port = known.unwrap_or_else(|| {
            let is_wireless = config.is_wireless(radio.is_some());
            ports.push(Port {
                radio,
                interfaces: Vec::new(),
                is_wireless,
                rxcost: rxcosts
                    .get(index)
                    .map_or_else(|| config.rxcost(is_wireless), |cost| *cost),
            });
            ports.len() - 1
        });
        ports[port].interfaces.push(index);
        links.ports.push(port);
        links.peers.push(interface.peer);
    }
    (ports, links)
}

impl Router for Babel {
    fn start(&mut self, context: &mut Context<'_>) {
        (self.ports, self.links) = ports_of(context.interfaces(), &self.config, &self.rxcosts);
        self.poll = Some(context.timer(POLL));
        let start = context.timer(START);
        self.start = Some(start);
        self.carriers = (0..context.interfaces().len())
            .map(|interface| context.timer(CARRIER + interface as u32))
            .collect();
        let wait = self.drawn(self.config.start_spread);
        context.set_timer(start, context.now().saturating_add(wait));
    }

    /// Packets without a route in the forwarding table.
    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        context.drop(id, DropCause::NoRoute);
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, _ttl: u8, bytes: &[u8]) {
        if let Some(daemon) = &mut self.daemon {
            daemon.receive(context.now(), interface, &message::decode(bytes));
            self.follow(context);
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        match token {
            POLL => self.follow(context),
            START => self.begin(context),
            _ => self.report_carrier(context, (token - CARRIER) as usize),
        }
    }

    fn on_carrier(&mut self, context: &mut Context<'_>, interface: usize, _present: bool) {
        if self.config.carrier_delay == Duration::ZERO {
            return self.report_carrier(context, interface);
        }
        let wait = self.drawn(self.config.carrier_delay);
        context.set_timer(self.carriers[interface], context.now().saturating_add(wait));
    }

    fn on_power(&mut self, context: &mut Context<'_>, on: bool) {
        let timers = self.poll.iter().chain(&self.start).chain(&self.carriers);
        for timer in timers {
            context.cancel_timer(*timer);
        }
        if on {
            return self.begin(context);
        }
        if let Some(daemon) = self.daemon.take() {
            self.daemon_draws = Some(daemon.stop());
        }
        for (exit, route) in self.routes.iter_mut().enumerate() {
            if route.take().is_some() {
                context.remove_route(NodeId(exit as u32));
            }
        }
    }

    fn readings(&self, _now: SimTime) -> Vec<Reading> {
        let routes = self.routes.iter().flatten();
        let routes = routes.filter_map(|way| way.interface()).count();
        vec![
            (LINK_FAILURES, self.neighbours_lost.into()),
            (ROUTES, routes as u128),
        ]
    }

    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        let route = self.routes.get(exit.index()).copied().flatten();
        route.and_then(Way::interface)
    }
}
