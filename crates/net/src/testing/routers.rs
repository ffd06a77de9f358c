//! Routers with a fixed behaviour.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backlane_units::{Rate, SimTime};

use crate::counters::{DropCause, RouterQueue};
use crate::packet::{FlowId, NodeId, PacketId};
use crate::router::{Context, Reading, Router};

/// Forwards along a line of routers whose numbers rise from one end to the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineRouter;

impl Router for LineRouter {
    fn start(&mut self, _context: &mut Context<'_>) {}

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let (here, exit) = (context.node(), context.packet(id).exit);
        let is_towards = |peer: NodeId| (peer > here) == (exit > here);
        let mut interfaces = context.interfaces().iter();
        match interfaces.position(|interface| is_towards(interface.peer)) {
            Some(interface) => context.transmit(interface, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_message(&mut self, _: &mut Context<'_>, _: usize, _: u8, _: &[u8]) {}

    fn on_timer(&mut self, _: &mut Context<'_>, _: u32) {}
}

/// A router of a test, with a function that gets each of its messages first: interface, TTL and
/// bytes. The test shares the router.
pub struct Tap<R, F> {
    router: Arc<Mutex<R>>,
    on_message: F,
}

impl<R: Router, F: FnMut(&Context<'_>, usize, u8, &[u8])> Tap<R, F> {
    /// A tap on a shared router.
    pub fn new(router: Arc<Mutex<R>>, on_message: F) -> Self {
        Self { router, on_message }
    }

    fn router(&self) -> MutexGuard<'_, R> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Router, F: FnMut(&Context<'_>, usize, u8, &[u8]) + Send> Router for Tap<R, F> {
    fn start(&mut self, context: &mut Context<'_>) {
        self.router().start(context);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        self.router().on_packet(context, id);
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, ttl: u8, bytes: &[u8]) {
        (self.on_message)(context, interface, ttl, bytes);
        let mut router = self.router();
        router.on_message(context, interface, ttl, bytes);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        self.router().on_timer(context, token);
    }

    fn on_carrier(&mut self, context: &mut Context<'_>, interface: usize, present: bool) {
        self.router().on_carrier(context, interface, present);
    }

    fn on_power(&mut self, context: &mut Context<'_>, on: bool) {
        self.router().on_power(context, on);
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, interface: usize) {
        self.router().on_interface_ready(context, interface);
    }

    fn on_tx_failed(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        self.router().on_tx_failed(context, interface, id);
    }

    fn on_withdrawn(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        self.router().on_withdrawn(context, interface, id);
    }

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    ) {
        let mut router = self.router();
        router.on_tx_status(context, interface, attempts, delivered, rate);
    }

    fn readings(&self, now: SimTime) -> Vec<Reading> {
        self.router().readings(now)
    }

    fn flow_backlog_pkts(&self, flow: FlowId) -> u32 {
        self.router().flow_backlog_pkts(flow)
    }

    fn queue(&self, interface: usize) -> Option<RouterQueue> {
        self.router().queue(interface)
    }

    fn shared_queue(&self) -> Option<RouterQueue> {
        self.router().shared_queue()
    }

    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        self.router().next_hop(exit)
    }
}
