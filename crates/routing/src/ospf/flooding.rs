//! Flooding (RFC 2328 §13) and the router's own LSA (§12.4).

use std::cmp::Ordering;

use backlane_net::{Context, NodeId};
use backlane_units::Duration;

use super::database::{Described, entries};
use super::lsa::{HEADER_BYTES, Header, INITIAL_SEQUENCE, Lsa, MAX_AGE_S};
use super::neighbour::State;
use super::packet::{Packet, UPDATE_BYTES};
use super::router::{LinkTimer, Ospf};

/// The time for which an acknowledgment waits for others (§13.5; recorded of FRR).
const ACKNOWLEDGMENT_DELAY: Duration = Duration::from_secs(1);

impl Ospf {
    /// Whether the shortest time between two own LSAs is over.
    pub(super) fn may_originate(&self) -> bool {
        let least = self.config.min_origination();
        self.originated
            .is_none_or(|at| at.saturating_add(least) < self.now)
    }

    /// A new instance of the own LSA, with the links to fully adjacent neighbours.
    pub(super) fn originate(&mut self, context: &mut Context<'_>) {
        let sequence = self
            .sequence
            .map_or(INITIAL_SEQUENCE, |last| last.saturating_add(1));
        let ends = self.ends.iter().enumerate();
        let up = ends.filter(|(_, end)| end.carrier);
        let up = up.map(|(interface, end)| Described {
            interface: interface as u16,
            peer: end.peer,
            subnet: end.subnet,
            cost: end.cost,
            is_full: end.neighbour.state == State::Full,
        });
        let lsa = Lsa::new(self.node, sequence, entries(self.node, up));
        self.sequence = Some(sequence);
        self.originated = Some(self.now);
        self.stale_ticks = None;
        self.arm_refresh(context);
        let header = lsa.header(0);
        if self.database.install(self.now, lsa, 0) {
            self.schedule_routes(context);
        }
        self.pass_on(header, None);
    }

    /// Notes an LSA for all neighbours but the one that it came from (§13.3).
    fn pass_on(&mut self, header: Header, from: Option<usize>) {
        for (index, end) in self.ends.iter_mut().enumerate() {
            let neighbour = &mut end.neighbour;
            if neighbour.state < State::Exchange {
                continue;
            }
            if let Some(wanted) = neighbour.requests.get(&header.origin) {
                match header.compare(wanted) {
                    Ordering::Less => continue,
                    Ordering::Equal => {
                        neighbour.requests.remove(&header.origin);
                        continue;
                    }
                    Ordering::Greater => {
                        neighbour.requests.remove(&header.origin);
                    }
                }
            }
            if from == Some(index) {
                neighbour.unacknowledged.remove(&header.origin);
            } else {
                neighbour.unacknowledged.insert(header.origin, header);
                end.flooded.push(header.origin);
            }
        }
    }

    /// Sends what the hook has noted; an adjacency may be full now.
    pub(super) fn flood(&mut self, context: &mut Context<'_>) {
        for end in 0..self.ends.len() {
            if self.ends[end].flooded.is_empty() {
                continue;
            }
            let origins = std::mem::take(&mut self.ends[end].flooded);
            self.send_update(context, end, &origins);
            self.arm_retransmission(context, end);
        }
    }

    /// Sends LSAs of the database, in as few packets as possible.
    pub(super) fn send_update(&self, context: &mut Context<'_>, end: usize, origins: &[NodeId]) {
        let mut lsas = Vec::new();
        let mut bytes = 0;
        for origin in origins {
            let Some((lsa, age_s)) = self.database.get(self.now, *origin) else {
                continue;
            };
            let length = usize::from(lsa.header(0).length);
            if bytes + length > UPDATE_BYTES && !lsas.is_empty() {
                self.send(context, end, &Packet::Update(std::mem::take(&mut lsas)));
                bytes = 0;
            }
            bytes += length;
            lsas.push((lsa.clone(), age_s));
        }
        if !lsas.is_empty() {
            self.send(context, end, &Packet::Update(lsas));
        }
    }

    pub(super) fn on_update(
        &mut self,
        context: &mut Context<'_>,
        end: usize,
        lsas: Vec<(Lsa, u16)>,
    ) {
        let mut at_once = Vec::new();
        for (lsa, age_s) in lsas {
            let header = lsa.header(age_s);
            let own = self.database.header(self.now, header.origin);
            let order = own.map_or(Ordering::Greater, |own| header.compare(&own));
            match order {
                Ordering::Greater => self.on_newer(context, end, lsa, age_s, &mut at_once),
                _ if self.ends[end]
                    .neighbour
                    .requests
                    .contains_key(&header.origin) =>
                {
                    // The neighbour described a newer instance than it has sent (§13, step 6); here
                    // the request is repeated.
                }
                Ordering::Equal => {
                    // Also the neighbour's way of acknowledging (step 7).
                    let unacknowledged = &mut self.ends[end].neighbour.unacknowledged;
                    if unacknowledged.remove(&header.origin).is_none() {
                        at_once.push(header);
                    }
                }
                Ordering::Less => {
                    if !self.database.is_recent(self.now, header.origin) {
                        self.send_update(context, end, &[header.origin]);
                    }
                }
            }
        }
        if !at_once.is_empty() {
            self.send_acknowledgment(context, end, &at_once);
        }
        self.request(context, end);
    }

    /// An LSA that is newer than that of the database (§13, step 5).
    fn on_newer(
        &mut self,
        context: &mut Context<'_>,
        end: usize,
        lsa: Lsa,
        age_s: u16,
        at_once: &mut Vec<Header>,
    ) {
        let header = lsa.header(age_s);
        if age_s >= MAX_AGE_S && self.database.get(self.now, header.origin).is_none() {
            at_once.push(header);
            return;
        }
        if self.database.is_recent(self.now, header.origin) {
            return;
        }
        if self.database.install(self.now, lsa, age_s) {
            self.schedule_routes(context);
        }
        self.pass_on(header, Some(end));
        let due = &mut self.ends[end].neighbour.acknowledgments;
        if due.is_empty() {
            let at = self.now.saturating_add(ACKNOWLEDGMENT_DELAY);
            due.push(header);
            self.arm(context, end, LinkTimer::Acknowledge, at);
        } else {
            due.push(header);
        }
        if header.origin == self.node {
            // From before this router started (§13.4).
            self.sequence = Some(header.sequence);
            self.originate(context);
        }
    }

    /// Sends the acknowledgments that are due.
    pub(super) fn acknowledge(&mut self, context: &mut Context<'_>, end: usize) {
        let due = std::mem::take(&mut self.ends[end].neighbour.acknowledgments);
        self.send_acknowledgment(context, end, &due);
    }

    fn send_acknowledgment(&self, context: &mut Context<'_>, end: usize, headers: &[Header]) {
        for headers in headers.chunks(UPDATE_BYTES / HEADER_BYTES) {
            self.send(context, end, &Packet::Acknowledgment(headers.to_vec()));
        }
    }

    pub(super) fn on_acknowledgment(&mut self, end: usize, headers: &[Header]) {
        let unacknowledged = &mut self.ends[end].neighbour.unacknowledged;
        for header in headers {
            let sent = unacknowledged.get(&header.origin);
            if sent.is_some_and(|sent| sent.compare(header).is_eq()) {
                unacknowledged.remove(&header.origin);
            }
        }
    }
}
