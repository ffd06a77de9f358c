//! Updates and requests, and what is sent again.

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::super::daemon::{Target, centiseconds, is_newer};
use super::super::message::{INFINITY, Tlv};
use super::{Babeld, HOPS, Kind, RESEND_DELAY, RESENDS, Resend, SECOND};

impl Babeld {
    /// Schedules the update of a prefix on a port, or on all.
    pub(super) fn send_update(&mut self, port: Option<usize>, urgent: bool, prefix: NodeId) {
        let Some(port) = port else {
            for port in 0..self.ports.len() {
                self.send_update(Some(port), urgent, prefix);
            }
            let route = self
                .installed(prefix)
                .map(|(_, route)| (route.id, route.metric()));
            if let Some((id, metric)) = route
                && metric < INFINITY
                && let Some(source) = self.sources.get(&(prefix, id))
            {
                let seqno = source.seqno;
                self.satisfy(prefix, seqno, id, None);
            }
            return;
        };
        if self.ports[port].up {
            self.ports[port].updates.insert(prefix);
            self.schedule_updates(port, urgent);
        }
    }

    pub(super) fn schedule_updates(&mut self, port: usize, urgent: bool) {
        let most = if urgent {
            Duration::from_millis(100)
        } else {
            Duration::from_secs(4)
        };
        let wait = self.roughly(self.config.hello_interval.min(most));
        let at = self.after_roughly(wait);
        let interface = &mut self.ports[port];
        interface.updates_at = interface.updates_at.min(at);
    }

    /// All routes on a port.
    pub(super) fn send_full_update(&mut self, port: usize) {
        if !self.ports[port].up {
            return;
        }
        let installed: Vec<NodeId> = self
            .routes
            .iter()
            .filter(|(_, all)| all.values().any(|route| route.installed))
            .map(|(prefix, _)| *prefix)
            .collect();
        let next = self.after_roughly(self.config.update_interval);
        let interface = &mut self.ports[port];
        interface.updates.insert(self.node);
        interface.updates.extend(installed);
        interface.update_at = next;
        interface.last_update = Some(self.now);
        self.schedule_updates(port, false);
    }

    pub(super) fn send_update_resend(&mut self, prefix: NodeId) {
        self.send_update(None, true, prefix);
        self.record(Kind::Update, prefix, 0, None, None, Some(RESEND_DELAY));
    }

    /// Writes the scheduled updates of a port.
    pub(super) fn flush_updates(&mut self, port: usize) {
        self.ports[port].updates_at = SimTime::MAX;
        let prefixes = std::mem::take(&mut self.ports[port].updates);
        if prefixes.is_empty() || !self.ports[port].up {
            return;
        }
        // Updates of one origin stand together.
        let mut sorted: Vec<(u64, NodeId)> = prefixes
            .into_iter()
            .map(|prefix| {
                let id = self
                    .installed(prefix)
                    .map_or(self.id, |(_, route)| route.id);
                (id, prefix)
            })
            .collect();
        sorted.sort_unstable();
        let interval_cs = centiseconds(self.config.update_interval);
        for (id, prefix) in sorted {
            let update = |seqno, metric| Tlv::Update {
                prefix,
                seqno,
                metric,
                interval_cs,
            };
            let route = self
                .installed(prefix)
                .map(|(end, route)| (end, route.seqno, route.metric()));
            let tlv = if prefix == self.node {
                update(self.seqno, 0)
            } else if let Some((end, seqno, metric)) = route {
                if metric < INFINITY {
                    self.satisfy(prefix, seqno, id, Some(port));
                }
                let interface = &self.ports[port];
                // Split horizon, on wires.
                if !interface.port.is_wireless && self.port_of(end) == port {
                    continue;
                }
                self.update_source(prefix, id, seqno, metric);
                update(seqno, metric)
            } else {
                update(self.seqno, INFINITY)
            };
            let node = self.node;
            self.ports[port].buffer.packer.push_update(node, id, tlv);
        }
        self.flush_within(Target::Port(port), Duration::from_millis(10));
    }

    pub(super) fn send_request(&mut self, port: usize, prefix: Option<NodeId>) {
        if self.ports[port].up {
            self.flush_updates(port);
            self.push(Target::Port(port), Tlv::RouteRequest(prefix));
        }
    }

    /// Asks a neighbour for a new sequence number.
    pub(super) fn send_seqno_request(
        &mut self,
        end: usize,
        prefix: NodeId,
        seqno: u16,
        id: u64,
        hops: u8,
    ) {
        self.flush_updates(self.port_of(end));
        let request = Tlv::SeqnoRequest {
            prefix,
            seqno,
            hops,
            id,
        };
        self.push(Target::Neighbour(end), request);
    }

    pub(super) fn send_seqno_request_to_all(
        &mut self,
        port: usize,
        prefix: NodeId,
        seqno: u16,
        id: u64,
    ) {
        if self.ports[port].up {
            self.flush_updates(port);
            let request = Tlv::SeqnoRequest {
                prefix,
                seqno,
                hops: HOPS,
                id,
            };
            self.push(Target::Port(port), request);
        }
    }

    /// Asks for a new sequence number: the neighbour with the best route, feasible or not, and all
    /// neighbours on its port later; without any route all neighbours, once (babeld since 1.9,
    /// `send_request_resend` in `message.c`).
    pub(super) fn send_request_resend(&mut self, prefix: NodeId, id: u64) {
        let seqno = self.wanted_seqno(prefix, id);
        let Some(end) = self.best(prefix, false, None) else {
            for port in 0..self.ports.len() {
                self.send_seqno_request_to_all(port, prefix, seqno, id);
            }
            return;
        };
        self.send_seqno_request(end, prefix, seqno, id, HOPS);
        let port = self.port_of(end);
        self.record(
            Kind::Request,
            prefix,
            seqno,
            Some(id),
            Some(port),
            Some(RESEND_DELAY),
        );
    }

    pub(super) fn on_seqno_request(
        &mut self,
        end: usize,
        prefix: NodeId,
        seqno: u16,
        id: u64,
        hops: u8,
    ) {
        let port = self.port_of(end);
        if prefix == self.node {
            if hops > 0 && id == self.id && is_newer(seqno, self.seqno) {
                if (seqno.wrapping_sub(self.seqno) as i16) > 100 {
                    return;
                }
                self.seqno = self.seqno.wrapping_add(1);
            }
            return self.send_update(Some(port), true, prefix);
        }
        let route = self.installed(prefix);
        let route = route.map(|(end, route)| (end, route.id, route.seqno, route.metric()));
        let mut successor = None;
        if let Some((via, own_id, own_seqno, metric)) = route {
            if id != own_id || !is_newer(seqno, own_seqno) {
                return self.send_update(Some(port), true, prefix);
            }
            if (seqno.wrapping_sub(own_seqno) as i16) > 100 {
                return;
            }
            successor = (metric < INFINITY).then_some(via);
        }
        if hops <= 1 || self.is_redundant(port, prefix, seqno, id) {
            return;
        }
        if successor.is_none_or(|via| via == end) {
            let other = self.best(prefix, false, Some(end));
            let other = other.filter(|other| self.metric_of(prefix, *other) < INFINITY);
            successor = other.or(successor);
        }
        if let Some(via) = successor.filter(|via| *via != end) {
            self.send_seqno_request(via, prefix, seqno, id, hops - 1);
            self.record(Kind::Request, prefix, seqno, Some(id), Some(port), None);
        }
    }

    pub(super) fn record(
        &mut self,
        kind: Kind,
        prefix: NodeId,
        seqno: u16,
        id: Option<u64>,
        port: Option<usize>,
        delay: Option<Duration>,
    ) {
        let now = self.now;
        let known = self.resends.iter_mut();
        let mut known = known.filter(|resend| resend.kind == kind && resend.prefix == prefix);
        if let Some(resend) = known.next() {
            resend.delay = match (resend.delay, delay) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            (resend.time, resend.left) = (now, RESENDS);
            if id.is_some() && resend.id == id && is_newer(resend.seqno, seqno) {
                return;
            }
            (resend.id, resend.seqno) = (id, seqno);
            if resend.port != port {
                resend.port = None;
            }
            return;
        }
        self.resends.push(Resend {
            kind,
            prefix,
            seqno,
            id,
            port,
            time: now,
            delay,
            left: RESENDS,
        });
    }

    pub(super) fn request(&self, prefix: NodeId) -> Option<&Resend> {
        let mut all = self.resends.iter();
        let request = all.find(|resend| resend.kind == Kind::Request && resend.prefix == prefix)?;
        (!request.is_expired(self.now)).then_some(request)
    }

    pub(super) fn has_unsatisfied(&self, prefix: NodeId, seqno: u16, id: u64) -> bool {
        let request = self.request(prefix);
        request.is_some_and(|request| request.id != Some(id) || !is_newer(request.seqno, seqno))
    }

    pub(super) fn is_redundant(&self, port: usize, prefix: NodeId, seqno: u16, id: u64) -> bool {
        let Some(request) = self.request(prefix) else {
            return false;
        };
        if request.id == Some(id) && is_newer(request.seqno, seqno) {
            return false;
        }
        if request.port.is_some_and(|other| other != port) {
            return false;
        }
        let recent =
            self.now.saturating_since(request.time) < self.config.hello_interval.min(SECOND);
        request.left > 0 || recent
    }

    /// An update answers a request.
    pub(super) fn satisfy(&mut self, prefix: NodeId, seqno: u16, id: u64, port: Option<usize>) {
        self.resends.retain(|request| {
            request.kind != Kind::Request
                || request.prefix != prefix
                || (port.is_some() && request.port != port)
                || (request.id == Some(id) && is_newer(request.seqno, seqno))
        });
    }

    pub(super) fn resend(&mut self) {
        let now = self.now;
        for at in 0..self.resends.len() {
            let Resend {
                kind,
                prefix,
                seqno,
                id,
                port,
                ..
            } = self.resends[at];
            if self.resends[at].due(now) > now {
                continue;
            }
            match kind {
                // `send_update` may drop requests: it must not before the loop ends.
                Kind::Update => {
                    for port in port.map_or(0..self.ports.len(), |port| port..port + 1) {
                        self.send_update(Some(port), true, prefix);
                    }
                }
                Kind::Request => {
                    for port in port.map_or(0..self.ports.len(), |port| port..port + 1) {
                        // As `send_seqno_request_to_all`, without flushing updates, which would too.
                        if self.ports[port].up {
                            let request = Tlv::SeqnoRequest {
                                prefix,
                                seqno,
                                hops: HOPS,
                                id: id.unwrap_or_default(),
                            };
                            self.push(Target::Port(port), request);
                        }
                    }
                }
            }
            let resend = &mut self.resends[at];
            resend.delay = resend.delay.map(|delay| delay.saturating_mul(2));
            resend.left -= 1;
        }
    }
}
