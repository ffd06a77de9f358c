//! What the coming events will touch is loaded into the cache before they happen.
//!
//! In a large network each packet-hop meets records that no cache holds any more, and most are
//! found through the one before: event → link → packet and next node → outgoing link. The
//! calendar knows the coming events, so that one step of this chain is loaded for each of several
//! of them, and the processor waits for none. Results do not depend on it.

use backlane_engine::prefetch;

use super::Simulation;
use crate::event::Event;
use crate::host::Application;
use crate::packet::{LinkId, NodeId};

/// Bytes of links and nodes from which on a network is large: second-level caches have 1 to 2 MiB.
const LARGE_BYTES: usize = 2 << 20;

/// Events between a step of the chain and the event itself. A load from main memory takes the time
/// of one to three events.
const TIMER: usize = 40;
const FIRST: usize = 30;
const SECOND: usize = 20;
const THIRD: usize = 10;

impl<A: Application> Simulation<A> {
    /// Whether the network is so large that looking ahead saves time.
    pub(super) fn is_large(&self) -> bool {
        self.network.record_bytes() > LARGE_BYTES
    }

    /// From now on loads what the coming events will touch. Large networks do so from the start;
    /// small ones are slower by it.
    pub fn look_ahead(&mut self) {
        self.looks_ahead = true;
        self.events.lengthen_days();
    }

    #[inline]
    pub(super) fn prefetch_coming(&mut self) {
        self.events.prefetch_coming(TIMER);
        match self.events.coming(FIRST) {
            Some(Event::Arrival(link)) => self.network.link(link).prefetch_for_arrival(),
            Some(Event::Application { id, .. }) => {
                self.application.prefetch(id, 0);
            }
            _ => {}
        }
        match self.events.coming(SECOND) {
            Some(Event::Arrival(link)) => {
                let link = self.network.link(link);
                link.prefetch_second();
                self.network.packets.prefetch(link.first_pkt());
                self.prefetch_node(link.to);
            }
            Some(Event::Application { id, .. }) => {
                if let Some((source, destination)) = self.application.prefetch(id, 1) {
                    self.prefetch_node(source);
                    self.network.prefetch_node(destination);
                }
            }
            _ => {}
        }
        match self.events.coming(THIRD) {
            Some(Event::Arrival(link)) => self.prefetch_hop(link),
            Some(Event::Application { id, .. }) => {
                if let Some((source, destination)) = self.application.prefetch(id, 2) {
                    let exit = self.network.exit_of(destination);
                    self.prefetch_way(source, exit);
                }
            }
            _ => {}
        }
    }

    /// What tells how a packet leaves a node.
    #[inline]
    fn prefetch_node(&self, node: NodeId) {
        if node == NodeId::NONE {
            return;
        }
        self.network.prefetch_routes(node);
        if let Some(router) = self.routers.get(node.index()) {
            prefetch(router);
        }
    }

    /// Where the first packet on a link goes from its far end.
    #[inline]
    fn prefetch_hop(&self, link: LinkId) {
        if let Some((node, exit)) = self.network.first_hop_of(link) {
            if node == exit {
                let id = self.network.link(link).first_pkt();
                self.application
                    .prefetch_delivery(self.network.packets[id].flow);
            } else {
                self.prefetch_way(node, exit);
            }
        }
    }

    #[inline]
    fn prefetch_way(&self, node: NodeId, exit: NodeId) {
        match self.network.next_link(node, exit) {
            Some(link) => self.network.link(link).prefetch_for_transmission(),
            None => {
                if let Some(Some(router)) = self.routers.get(node.index()) {
                    prefetch(&**router);
                }
            }
        }
    }
}
