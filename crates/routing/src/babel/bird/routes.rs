//! The choice of routes, updates, and requests for sequence numbers.

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::super::daemon::{centiseconds, is_newer};
use super::super::message::{INFINITY, Tlv};
use super::{
    Bird, DUPLICATE_TIME, Entry, FORWARD_EXPIRY, HOPS, KICK, REQUEST_EXPIRY, Request, Route,
    SOURCE_LIFE, Source, Validity,
};

impl Bird {
    pub(super) fn retract(&mut self, prefix: NodeId, end: usize) {
        let Some(entry) = self.entries.get_mut(&prefix) else {
            return;
        };
        let Some(route) = entry.routes.get_mut(&end) else {
            return;
        };
        (route.metric, route.advertised) = (INFINITY, INFINITY);
        if entry.selected == Some(end) {
            self.select(prefix, Some(end));
        }
    }

    /// Selects the feasible route with the least metric; the present one wins a tie. `changed`: the
    /// route that has changed, if it is only one.
    pub(super) fn select(&mut self, prefix: NodeId, changed: Option<usize>) {
        let Some(entry) = self.entries.get_mut(&prefix) else {
            return;
        };
        let metric = |end: Option<usize>, entry: &Entry| {
            end.and_then(|end| entry.routes.get(&end))
                .map_or(INFINITY, |route| route.metric)
        };
        let mut best = entry.selected;
        if let Some(end) = changed.filter(|end| Some(*end) != best) {
            let is_better = entry
                .routes
                .get(&end)
                .is_some_and(|route| route.feasible && route.metric < metric(best, entry));
            if !is_better {
                return;
            }
            best = Some(end);
        } else {
            let stays = |end: &usize| {
                let route = entry.routes.get(end);
                route.is_some_and(|route| route.feasible && route.metric < INFINITY)
            };
            best = best.filter(stays);
            for (&end, route) in &entry.routes {
                if route.feasible && route.metric < metric(best, entry) {
                    best = Some(end);
                }
            }
        }
        let lost = match (best, entry.selected) {
            (None, None) => return,
            (None, Some(end)) => entry.routes.get(&end).map(|route| (route.id, route.seqno)),
            _ => None,
        };
        let asks = lost.filter(|(id, _)| entry.validity != Validity::Dummy && *id == entry.id);
        if let Some((id, seqno)) = asks {
            self.add_request(prefix, id, seqno.wrapping_add(1), HOPS, None);
        }
        if let Some(entry) = self.entries.get_mut(&prefix) {
            entry.selected = best;
        }
        self.announce(prefix);
    }

    /// The selected route passes through the routing table, and comes back as what is announced to
    /// neighbours.
    pub(super) fn announce(&mut self, prefix: NodeId) {
        let now = self.now;
        self.touched.insert(prefix);
        let Some(entry) = self.entries.get_mut(&prefix) else {
            return;
        };
        let selected = entry.selected.and_then(|end| {
            let route = entry.routes.get(&end)?;
            Some((end, route.id, route.seqno, route.metric))
        });
        if selected == entry.announced {
            return;
        }
        entry.announced = selected;
        if let Some((_, id, seqno, metric)) = selected {
            let triggers = entry.validity != Validity::Valid || entry.id != id;
            entry.validity = Validity::Valid;
            (entry.seqno, entry.metric, entry.id) = (seqno, metric, id);
            if triggers {
                self.trigger();
                self.mark(prefix, now);
            }
        } else if entry.validity == Validity::Valid && entry.id != self.id {
            entry.validity = Validity::Stale;
            entry.metric = INFINITY;
            self.trigger();
            self.mark(prefix, now);
        }
    }

    pub(super) fn mark(&mut self, prefix: NodeId, now: SimTime) {
        if let Some(entry) = self.entries.get_mut(&prefix) {
            entry.updated = now;
        }
    }

    /// A request for a sequence number, `forwarded` to a neighbour for another router, or to all for
    /// this one and again later.
    pub(super) fn add_request(
        &mut self,
        prefix: NodeId,
        id: u64,
        seqno: u16,
        hops: u8,
        forwarded: Option<usize>,
    ) {
        let now = self.now;
        let expiry = if forwarded.is_some() {
            FORWARD_EXPIRY
        } else {
            REQUEST_EXPIRY
        };
        let mut request = Request {
            id,
            seqno,
            hops,
            count: 0,
            expires: self.after(expiry),
            forwarded: forwarded.is_some(),
            duplicates_until: self.after(DUPLICATE_TIME),
        };
        let Some(entry) = self.entries.get_mut(&prefix) else {
            return;
        };
        if let Some(at) = entry.requests.iter().position(|other| other.id == id) {
            let other = entry.requests[at];
            let is_duplicate =
                !other.forwarded || (forwarded.is_some() && now < other.duplicates_until);
            if !is_newer(seqno, other.seqno) && is_duplicate {
                return;
            }
            request.forwarded &= other.forwarded;
            if !request.forwarded {
                request.expires = now.saturating_add(REQUEST_EXPIRY);
            }
            entry.requests.remove(at);
        }
        entry.requests.push(request);
        self.send_request(prefix, request, forwarded);
    }

    pub(super) fn send_request(&mut self, prefix: NodeId, request: Request, to: Option<usize>) {
        let tlv = Tlv::SeqnoRequest {
            prefix,
            seqno: request.seqno,
            hops: request.hops,
            id: request.id,
        };
        match to {
            Some(end) => self.send_to(end, tlv),
            None => {
                for interface in &mut self.ports {
                    interface.queue.push(tlv);
                }
            }
        }
    }

    pub(super) fn on_seqno_request(
        &mut self,
        end: usize,
        prefix: NodeId,
        seqno: u16,
        id: u64,
        hops: u8,
    ) {
        let (now, port) = (self.now, self.port_of(end));
        let Some(entry) = self.entries.get(&prefix) else {
            return;
        };
        if entry.validity == Validity::Dummy || entry.metric == INFINITY {
            return;
        }
        if entry.id != id || !is_newer(seqno, entry.seqno) {
            self.trigger_port(port);
            return self.mark(prefix, now);
        }
        if id == self.id {
            self.increases = true;
            return self.trigger();
        }
        if hops <= 1 || !self.neighbours.contains_key(&end) {
            return;
        }
        let others = entry.routes.iter().filter(|(other, _)| **other != end);
        // A feasible route before the best of all.
        let target = others.min_by_key(|(_, route)| (!route.feasible, route.metric));
        if let Some((&target, _)) = target {
            self.add_request(prefix, id, seqno, hops - 1, Some(target));
        }
    }

    pub(super) fn trigger_port(&mut self, port: usize) {
        let kicked = self.after(KICK);
        let interface = &mut self.ports[port];
        if interface.up && interface.want_triggered.is_none() {
            interface.want_triggered = Some(self.now);
            interface.timer = interface.timer.min(kicked);
        }
    }

    pub(super) fn trigger(&mut self) {
        if !self.triggered {
            for port in 0..self.ports.len() {
                self.trigger_port(port);
            }
            self.triggered = true;
        }
    }

    /// Updates of all entries that were updated from `since` on.
    pub(super) fn send_update(&mut self, port: usize, since: SimTime) {
        if std::mem::take(&mut self.increases) {
            self.update_seqno = self.update_seqno.wrapping_add(1);
        }
        let (now, own_id, own_seqno, node) = (self.now, self.id, self.update_seqno, self.node);
        let expires = self.after(SOURCE_LIFE);
        let interval_cs = centiseconds(self.config.update_interval);
        for (&prefix, entry) in &mut self.entries {
            if entry.validity == Validity::Dummy {
                continue;
            }
            if entry.id == own_id && entry.seqno < own_seqno {
                (entry.seqno, entry.updated) = (own_seqno, now);
            }
            if entry.updated < since {
                continue;
            }
            let update = Tlv::Update {
                prefix,
                seqno: entry.seqno,
                metric: entry.metric,
                interval_cs,
            };
            self.ports[port].queue.push_update(node, entry.id, update);
            if entry.id != own_id {
                let source = entry.sources.entry(entry.id).or_insert(Source {
                    seqno: entry.seqno,
                    metric: INFINITY,
                    expires,
                });
                source.expires = expires;
                if is_newer(entry.seqno, source.seqno)
                    || (entry.seqno == source.seqno && entry.metric < source.metric)
                {
                    (source.seqno, source.metric) = (entry.seqno, entry.metric);
                }
            }
        }
    }

    pub(super) fn on_update(
        &mut self,
        end: usize,
        id: u64,
        prefix: NodeId,
        seqno: u16,
        advertised: u16,
        announced: Duration,
    ) {
        let Some(neighbour) = self.neighbours.get(&end) else {
            return;
        };
        let cost = neighbour.cost;
        if id == self.id {
            return;
        }
        let half = announced.as_ps() / 2;
        let (expires, refresh) = (
            self.after(Duration::from_ps(half).saturating_mul(7)),
            self.after(Duration::from_ps(half).saturating_mul(5)),
        );
        let metric = advertised.saturating_add(cost);
        let entry = self.entries.entry(prefix).or_default();
        let source = entry.sources.get(&id).copied();
        let feasible = source.is_none_or(|source| {
            is_newer(seqno, source.seqno) || (seqno == source.seqno && advertised < source.metric)
        });
        let selected = entry.selected;
        let best = selected
            .and_then(|end| entry.routes.get(&end))
            .map(|route| route.metric);
        let is_selected = selected == Some(end);
        let old_id = entry.routes.get(&end).map(|route| route.id);
        if let Some(source) = source.filter(|_| !feasible)
            && metric < INFINITY
            && (is_selected || best.is_none_or(|best| metric < best))
        {
            let request = Request {
                id,
                seqno: source.seqno.wrapping_add(1),
                hops: HOPS,
                count: 0,
                expires: SimTime::MAX,
                forwarded: false,
                duplicates_until: SimTime::ZERO,
            };
            self.send_request(prefix, request, Some(end));
        }
        // An update that is not feasible is ignored for the selected route.
        if is_selected && !feasible && old_id == Some(id) {
            return;
        }
        let Some(entry) = self.entries.get_mut(&prefix) else {
            return;
        };
        let new = Route {
            id,
            seqno,
            advertised,
            metric,
            feasible,
            expires,
            refresh,
        };
        let old = entry.routes.insert(end, new);
        let is_same = old.is_some_and(|old| {
            (old.feasible, old.seqno, old.metric, old.advertised, old.id)
                == (feasible, seqno, metric, advertised, id)
        });
        if is_same {
            return;
        }
        let satisfied = entry
            .requests
            .iter()
            .position(|request| request.id == id && !is_newer(request.seqno, seqno));
        if let Some(at) = satisfied {
            entry.requests.remove(at);
            self.trigger();
            self.mark(prefix, self.now);
        }
        self.select(prefix, Some(end));
    }
}
