//! The router: hooks, timers, and data packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, DropCause, Network, NodeId, PacketId, Reading, Router};
use backlane_units::{Rate, SimTime};

use super::PURGE_PERIOD;
use super::config::{Config, Version};
use super::iv::Iv;
use super::message::{Address, Elp, IvOgm, Ogm2, data_header};
use super::ports::{Frame, Ports};
use super::table::Link;
use super::v::V;
use crate::readings::ROUTES;

/// The address of each node: that of its first port. Translation tables would supply it.
#[derive(Clone, Debug, Default)]
pub struct Names(Arc<[Option<Address>]>);

impl Names {
    /// Those of a network.
    pub fn new(network: &Network) -> Self {
        let nodes = (0..network.node_count() as u32).map(NodeId);
        let names = nodes.map(|node| {
            let interface = network.mesh_interfaces(node).first()?;
            Some(Address::here(node, 0, interface))
        });
        Self(names.collect())
    }

    fn of(&self, node: NodeId) -> Option<Address> {
        *self.0.get(node.index())?
    }
}

#[derive(Debug)]
enum Algorithm {
    /// The node has no power.
    Off,
    Iv(Iv),
    V(V),
}

/// batman-adv on one node.
#[derive(Debug)]
pub struct Batman {
    node: NodeId,
    config: Config,
    names: Names,
    draws: Stream,
    ports: Ports,
    algorithm: Algorithm,
    timer: Option<TimerId>,
    purge_due: SimTime,
    /// The headers of data packets, by the routers where they enter and leave the mesh.
    headers: BTreeMap<(NodeId, NodeId), Arc<[u8]>>,
}

impl Batman {
    /// The router of `node`; it draws sequence numbers and jitter from its own stream.
    pub fn new(node: NodeId, config: Config, names: Names, draws: Stream) -> Self {
        Self {
            node,
            config,
            names,
            draws,
            ports: Ports::default(),
            algorithm: Algorithm::Off,
            timer: None,
            purge_due: SimTime::MAX,
            headers: BTreeMap::new(),
        }
    }

    /// The node has power: it knows of no other, and numbers its messages from a random number.
    fn begin(&mut self, context: &mut Context<'_>) {
        let (now, node, config) = (context.now(), self.node, self.config);
        let draws = &mut self.draws;
        self.algorithm = match config.version {
            Version::Iv => Algorithm::Iv(Iv::new(now, node, config, &self.ports, draws)),
            Version::V => Algorithm::V(V::new(now, node, config, &self.ports, draws)),
        };
        self.purge_due = now.saturating_add(PURGE_PERIOD);
        self.arm(context);
    }

    fn arm(&self, context: &mut Context<'_>) {
        let Some(timer) = self.timer else {
            return;
        };
        let due = match &self.algorithm {
            Algorithm::Off => return context.cancel_timer(timer),
            Algorithm::Iv(iv) => iv.next_due(),
            Algorithm::V(v) => v.next_due(),
        };
        context.set_timer(timer, due.min(self.purge_due));
    }

    fn send(&self, context: &mut Context<'_>, frames: Vec<Frame>) {
        for frame in frames {
            self.ports.send(context, frame);
        }
    }

    /// The next hop to a node, for packets that arrive on a port, or enter the mesh here.
    fn next(&self, exit: NodeId, port: Option<usize>) -> Option<Link> {
        let exit = self.names.of(exit)?;
        let table = port.map_or(0, |port| port + 1);
        match &self.algorithm {
            Algorithm::Off => None,
            Algorithm::Iv(iv) => iv.next(exit, table),
            Algorithm::V(v) => v.next(exit, table),
        }
    }

    fn interface(&self, (address, port): Link) -> Option<usize> {
        self.ports.interface(port, address)
    }

    /// The interface of the next hop to a node, for packets that come from a neighbour; with its own
    /// node, for packets that enter the mesh here.
    pub fn next_hop_from(&self, previous: NodeId, exit: NodeId) -> Option<usize> {
        let from = self.ports.towards(previous);
        let port = from.map(|interface| self.ports.end(interface).0);
        self.interface(self.next(exit, port)?)
    }
}

impl Router for Batman {
    fn start(&mut self, context: &mut Context<'_>) {
        self.ports = Ports::new(self.node, context.interfaces());
        self.timer = Some(context.timer(0));
        self.begin(context);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let packet = context.packet(id);
        let (exit, previous) = (packet.exit, packet.previous);
        let arrived = self.ports.towards(previous);
        let port = arrived.map(|interface| self.ports.end(interface).0);
        let next = self.next(exit, port);
        let interface = next.and_then(|link| self.interface(link));
        let (Some(link), Some(interface)) = (next, interface) else {
            return context.drop(id, DropCause::NoRoute);
        };
        if let Algorithm::V(v) = &mut self.algorithm {
            v.links.on_sent(context.now(), link);
        }
        let (names, entry) = (&self.names, context.entry_of(id));
        let header = self.headers.entry((entry, exit)).or_insert_with(|| {
            let [source, destination] =
                [entry, exit].map(|node| names.of(node).unwrap_or(Address { node, port: 0 }));
            Arc::from(data_header(source, destination))
        });
        let header = header.clone();
        context.transmit_with(interface, id, header);
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, _ttl: u8, bytes: &[u8]) {
        let now = context.now();
        let (port, source) = self.ports.end(interface);
        let link = (source, port);
        let mut frames = Vec::new();
        match &mut self.algorithm {
            Algorithm::Off => return,
            Algorithm::Iv(iv) => {
                let mut rest = bytes;
                while let Some((ogm, after)) = IvOgm::decode(rest) {
                    iv.on_ogm(now, link, &ogm, &mut self.draws);
                    rest = after;
                }
            }
            Algorithm::V(v) => {
                if let Some(elp) = Elp::decode(bytes) {
                    v.on_elp(now, link, &elp);
                }
                let mut rest = bytes;
                while let Some((ogm, after)) = Ogm2::decode(rest) {
                    v.on_ogm(now, link, &ogm, &mut frames);
                    rest = after;
                }
            }
        }
        self.send(context, frames);
        self.arm(context);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, _token: u32) {
        let (now, draws) = (context.now(), &mut self.draws);
        let mut frames = Vec::new();
        let is_old = self.purge_due <= now;
        match &mut self.algorithm {
            Algorithm::Off => return,
            Algorithm::Iv(iv) => {
                iv.advance(now, draws, &mut frames);
                if is_old {
                    iv.purge(now);
                }
            }
            Algorithm::V(v) => {
                v.advance(now, draws, &mut frames);
                if is_old {
                    v.purge(now);
                }
            }
        }
        if is_old {
            self.purge_due = now.saturating_add(PURGE_PERIOD);
        }
        self.send(context, frames);
        self.arm(context);
    }

    fn on_power(&mut self, context: &mut Context<'_>, on: bool) {
        if on {
            return self.begin(context);
        }
        self.algorithm = Algorithm::Off;
        self.arm(context);
    }

    fn on_tx_status(
        &mut self,
        _context: &mut Context<'_>,
        interface: usize,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    ) {
        let (port, address) = self.ports.end(interface);
        if let Algorithm::V(v) = &mut self.algorithm {
            v.links
                .on_status((address, port), attempts, delivered, rate);
        }
    }

    fn readings(&self, _now: SimTime) -> Vec<Reading> {
        let nodes = (0..self.names.0.len() as u32).map(NodeId);
        let reached = nodes.filter(|node| *node != self.node && self.next(*node, None).is_some());
        vec![(ROUTES, reached.count() as u128)]
    }

    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        self.interface(self.next(exit, None)?)
    }
}
