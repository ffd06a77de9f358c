//! Packets that cross from the simulation of one region to that of another.
//!
//! Each simulation of a divided network has all nodes and links, and runs one region of it: its
//! routers, its hosts, and the links that leave its nodes. A link to another region exists twice. The
//! sending half has the queue and the transmitter, and keeps packets under way for their departure
//! times alone. The receiving half has the packets that were handed over, until they arrive.
//!
//! A packet that enters such a link arrives after the link's delay at the earliest. Regions may
//! therefore run apart for as long as the least delay between them; then they hand over the packets
//! that have entered the links between them. Within an instant, arrivals fire in the order of their
//! links, whenever they were handed over, and the timers of a region in the order in which they were
//! armed: a divided run has the events of an undivided one.

use backlane_units::SimTime;

use super::Simulation;
use crate::host::Divisible;
use crate::packet::{LinkId, NodeId, Packet};
use crate::under_way::{Mark, UnderWay};

/// A packet that has entered a link to another region.
#[derive(Debug)]
pub struct Crossing<C> {
    link: LinkId,
    arrival: SimTime,
    mark: Mark,
    packet: Packet,
    carried: C,
}

impl<C> Crossing<C> {
    /// When it arrives.
    pub fn arrival(&self) -> SimTime {
        self.arrival
    }
}

impl<A: Divisible> Simulation<A> {
    /// Hands over the packets that have entered links to other regions since the last call; `give`
    /// gets them with the region that they go to.
    pub fn hand_over(&mut self, mut give: impl FnMut(u16, Crossing<A::Carried>)) {
        let Some(region) = self.network.region.take() else {
            return;
        };
        for &link in &region.outgoing {
            let half = self.network.link_mut(link);
            let to = region.of(half.to);
            for number in (1..=half.take_fresh()).rev() {
                let entered = self.network.link(link).before_end(number);
                let crossing = Crossing {
                    link,
                    arrival: entered.arrival,
                    mark: entered.mark(),
                    packet: self.network.packets[entered.id].clone(),
                    carried: self.application.carried(entered.id),
                };
                give(to, crossing);
            }
        }
        self.network.region = Some(region);
    }

    /// Takes a packet that another region has handed over.
    pub fn take_over(&mut self, crossing: Crossing<A::Carried>) {
        let size_bytes = crossing.packet.size_bytes;
        let id = self.network.packets.insert(crossing.packet);
        self.application.carry(id, crossing.carried);
        let packet = UnderWay::new(crossing.arrival, id, size_bytes, crossing.mark);
        let half = self.network.link_mut(crossing.link);
        half.take_over(&mut self.events, crossing.link, packet);
    }

    /// Takes what the simulation of another region has run, when both stand at one instant and
    /// everything was handed over. From then on this simulation serves for results alone.
    pub fn absorb(&mut self, other: Self) {
        self.absorbed += other.fired();
        self.log.digest.merge(other.log.digest);
        let region = other.network.region.clone();
        let has = |node: NodeId| region.as_ref().is_none_or(|region| region.has(node));
        for (node, router) in other.routers.into_iter().enumerate() {
            if has(NodeId(node as u32)) {
                self.routers[node] = router;
            }
        }
        self.network.absorb(other.network);
        self.application.absorb(other.application, has);
    }
}

impl<A> Simulation<A> {
    /// A packet arrives in another region.
    #[cold]
    pub(super) fn leave(&mut self, link: LinkId) {
        self.foreign += 1;
        if let Some(left) = self.network.link_mut(link).arrive(&mut self.events, link) {
            self.network.packets.remove(left.id);
        }
    }
}
