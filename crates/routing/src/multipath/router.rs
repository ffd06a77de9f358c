//! The router.

use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::{Context, DropCause, NodeId, PacketId, Reading, Router};
use backlane_units::{Rate, SimTime};

use super::discovery::{Discovery, ON_FLOOD, ON_HELLO};
use super::neighbours::{Leaving, Neighbours};
use super::pins::Pins;
use super::{Config, Reach, RouteDiscovery};
use crate::readings::LINK_FAILURES;

/// L2.5R on one node.
pub struct L25r {
    node: NodeId,
    config: Config,
    reach: Arc<Reach>,
    ties: Stream,
    neighbours: Neighbours,
    pins: Pins,
    /// With discovery by messages.
    discovery: Option<Box<Discovery>>,
}

impl L25r {
    /// The router of `node`. `ties` breaks ties between neighbours; `jitter` is for messages.
    pub fn new(
        node: NodeId,
        config: Config,
        reach: Arc<Reach>,
        ties: Stream,
        jitter: Stream,
    ) -> Self {
        let neighbours = Neighbours::new(&config, &[], &[], &[]);
        let by_messages = config.discovery == RouteDiscovery::Messages;
        let discovery = by_messages.then(|| Box::new(Discovery::new(node, &config, jitter)));
        Self {
            node,
            config,
            reach,
            ties,
            neighbours,
            pins: Pins::default(),
            discovery,
        }
    }

    /// Forwards a packet, or drops it for `cause` if there is no candidate. `failed` is the
    /// interface that returned it.
    #[inline]
    fn send(
        &mut self,
        context: &mut Context<'_>,
        id: PacketId,
        failed: Option<usize>,
        cause: DropCause,
    ) {
        match self.next_interface(context, id, failed) {
            Some(interface) => {
                let size_bytes = context.packet(id).size_bytes;
                self.neighbours.count(context.now(), interface, size_bytes);
                context.transmit(interface, id);
            }
            None => context.drop(id, cause),
        }
    }

    #[inline]
    fn next_interface(
        &mut self,
        context: &Context<'_>,
        id: PacketId,
        failed: Option<usize>,
    ) -> Option<usize> {
        let now = context.now();
        let packet = context.packet(id);
        let links_to_exit = match &mut self.discovery {
            None => self.reach.distances.to(packet.exit)?,
            Some(discovery) => discovery.links_to(now, packet.exit, &self.reach)?,
        };
        // The first router writes the budget into the header; each router reduces it by one.
        let shortest = links_to_exit[context.entry_of(id).index()];
        if shortest == u16::MAX {
            return None;
        }
        let most = shortest.saturating_add(u16::from(self.config.extra_hops));
        let taken = u16::from(packet.hops.saturating_sub(1));
        let leaving = Leaving {
            exit: packet.exit,
            previous: packet.previous,
            failed,
            budget: most.saturating_sub(taken),
            links_to_exit,
        };
        let carrier = |interface| context.has_carrier(interface);
        let Some(hold) = self.config.hold(packet.reverse) else {
            return self
                .neighbours
                .choose(now, &leaving, carrier, &mut self.ties);
        };
        let key = packet.flow_key();
        let pinned = self.pins.get(now, key, hold);
        if let Some(interface) = pinned
            && self.neighbours.may_stay(now, interface, &leaving, carrier)
        {
            return pinned;
        }
        let choice = self
            .neighbours
            .choose(now, &leaving, carrier, &mut self.ties)?;
        // A single failure moves the packet to another path, but not its flow.
        if failed.is_none() {
            self.pins.set(now, key, choice);
        }
        Some(choice)
    }
}

impl Router for L25r {
    fn start(&mut self, context: &mut Context<'_>) {
        self.neighbours = Neighbours::new(
            &self.config,
            context.interfaces(),
            self.reach.flow_rates.of(self.node),
            &self.reach.no_transit,
        );
        if let Some(discovery) = &mut self.discovery {
            discovery.start(context);
            self.neighbours
                .link_by(|interface| discovery.is_link(interface));
        }
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        self.send(context, id, None, DropCause::NoRoute);
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, _: u8, message: &[u8]) {
        if let Some(discovery) = &mut self.discovery {
            discovery.on_message(context, interface, message, &self.reach);
            self.neighbours
                .link_by(|interface| discovery.is_link(interface));
        }
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        let Some(discovery) = &mut self.discovery else {
            return;
        };
        match token {
            ON_HELLO => discovery.hello(context, &self.reach),
            ON_FLOOD => discovery.flood(context, None),
            _ => {}
        }
        self.neighbours
            .link_by(|interface| discovery.is_link(interface));
    }

    fn on_tx_failed(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        self.send(context, id, Some(interface), DropCause::Radio);
    }

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        _attempts: u32,
        delivered: bool,
        _rate: Rate,
    ) {
        if delivered && let Some(discovery) = &mut self.discovery {
            discovery.on_sign(context.now(), interface);
        }
        self.neighbours
            .on_frame_done(context.now(), interface, delivered);
    }

    fn readings(&self, _now: SimTime) -> Vec<Reading> {
        vec![(LINK_FAILURES, self.neighbours.lost().into())]
    }
}
