//! HELLOs, IHUs and the costs of links.

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::super::daemon::centiseconds;
use super::super::link;
use super::super::message::{INFINITY, Tlv};
use super::{Bird, IHU_FACTOR, INITIAL_TIMEOUT, Neighbour};

impl Bird {
    pub(super) fn ihu(&self, end: usize) -> Tlv {
        Tlv::Ihu {
            to: self.links.peers[end],
            rxcost: self
                .neighbours
                .get(&end)
                .map_or(INFINITY, |neighbour| neighbour.rxcost),
            interval_cs: centiseconds(self.config.hello_interval.saturating_mul(IHU_FACTOR.into())),
            echo: None,
        }
    }

    pub(super) fn send_hello(&mut self, port: usize) {
        let interval_cs = centiseconds(self.config.hello_interval);
        let interface = &mut self.ports[port];
        interface.queue.push(Tlv::Hello {
            seqno: interface.hello_seqno,
            interval_cs,
            sent_us: None,
        });
        interface.hello_seqno = interface.hello_seqno.wrapping_add(1);
        for end in self.ports[port].port.interfaces.clone() {
            let Some(neighbour) = self.neighbours.get_mut(&end) else {
                continue;
            };
            if neighbour.count == 0 {
                continue;
            }
            neighbour.ihu_count = neighbour.ihu_count.saturating_sub(1);
            if neighbour.ihu_count == 0 {
                neighbour.ihu_count = IHU_FACTOR;
                let ihu = self.ihu(end);
                self.ports[port].queue.push(ihu);
            }
        }
    }

    pub(super) fn meet(&mut self, end: usize) {
        let initial_expiry = self.after(INITIAL_TIMEOUT);
        self.neighbours.entry(end).or_insert(Neighbour {
            map: 0,
            count: 0,
            next_seqno: 0,
            hello_expiry: SimTime::MAX,
            last_interval: Duration::ZERO,
            initial_expiry,
            ihu_expiry: SimTime::MAX,
            ihu_count: 0,
            txcost: INFINITY,
            rxcost: INFINITY,
            cost: INFINITY,
        });
    }

    pub(super) fn on_hello(&mut self, end: usize, seqno: u16, announced: Duration) {
        self.meet(end);
        let hello_expiry = self.after(Duration::from_ps(announced.as_ps() / 2 * 3));
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return;
        };
        let is_first = neighbour.count == 0;
        let ahead = seqno.wrapping_sub(neighbour.next_seqno);
        if ahead == 0 || neighbour.count == 0 {
            // As expected.
        } else if ahead <= 16 {
            neighbour.map = neighbour.map.unbounded_shl(ahead.into());
            neighbour.count = (neighbour.count + u32::from(ahead)).min(16);
        } else if ahead >= 0xfff0 {
            let back = u32::from(0xffff - ahead);
            neighbour.map = neighbour.map.unbounded_shr(back);
            neighbour.count = neighbour.count.saturating_sub(back);
        } else {
            (neighbour.map, neighbour.count) = (0, 0);
        }
        neighbour.map = neighbour.map << 1 | 1;
        neighbour.count = (neighbour.count + 1).min(16);
        neighbour.next_seqno = seqno.wrapping_add(1);
        (neighbour.hello_expiry, neighbour.last_interval) = (hello_expiry, announced);
        neighbour.initial_expiry = SimTime::MAX;
        self.update_cost(end);
        if is_first {
            let ihu = self.ihu(end);
            self.send_to(end, ihu);
            if let Some(neighbour) = self.neighbours.get_mut(&end) {
                neighbour.ihu_count = IHU_FACTOR;
            }
        }
    }

    pub(super) fn on_ihu(&mut self, end: usize, rxcost: u16, announced: Duration) {
        self.meet(end);
        let ihu_expiry = self.after(Duration::from_ps(announced.as_ps() / 2 * 7));
        if let Some(neighbour) = self.neighbours.get_mut(&end) {
            (neighbour.txcost, neighbour.ihu_expiry) = (rxcost, ihu_expiry);
        }
        self.update_cost(end);
    }

    pub(super) fn update_cost(&mut self, end: usize) {
        let interface = &self.ports[self.links.ports[end]];
        let (up, nominal, is_wireless) = (
            interface.up,
            interface.port.rxcost,
            interface.port.is_wireless,
        );
        let limit = self.config.limit;
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return;
        };
        let heard = if up { neighbour.map.count_ones() } else { 0 };
        let (rxcost, cost) = link::bird(
            heard,
            neighbour.count,
            nominal,
            neighbour.txcost,
            is_wireless,
            limit,
        );
        if rxcost != neighbour.rxcost {
            (neighbour.rxcost, neighbour.ihu_count) = (rxcost, 0);
        }
        if cost == neighbour.cost {
            return;
        }
        neighbour.cost = cost;
        let prefixes: Vec<NodeId> = self.entries.keys().copied().collect();
        for prefix in prefixes {
            let entry = self.entries.get_mut(&prefix);
            if let Some(route) = entry.and_then(|entry| entry.routes.get_mut(&end)) {
                route.metric = route.advertised.saturating_add(cost);
                self.select(prefix, Some(end));
            }
        }
    }

    pub(super) fn forget(&mut self, end: usize) {
        let prefixes: Vec<NodeId> = self.entries.keys().copied().collect();
        for prefix in prefixes {
            self.retract(prefix, end);
            if let Some(entry) = self.entries.get_mut(&prefix) {
                entry.routes.remove(&end);
                if entry.selected == Some(end) {
                    entry.selected = None;
                }
            }
        }
        self.neighbours.remove(&end);
        self.out.lost += 1;
    }
}
