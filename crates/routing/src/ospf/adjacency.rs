//! Adjacencies: carrier, HELLOs and BFD, and the exchange of databases (RFC 2328 §9.5, §10).

use backlane_net::{Context, NodeId};
use backlane_param::OrOff;
use backlane_units::SimTime;

use super::bfd::Session;
use super::config::Daemon;
use super::lsa::Header;
use super::neighbour::{Described, State};
use super::packet::{Description, Packet};
use super::router::{LinkTimer, Ospf};

/// LSAs asked for in one request.
const REQUESTS_PER_PACKET: usize = 100;

impl Ospf {
    /// The daemon notices whether there is a carrier.
    pub(super) fn report_carrier(&mut self, context: &mut Context<'_>, end: usize) {
        let carrier = context.has_carrier(end);
        if carrier == self.ends[end].carrier {
            return;
        }
        if carrier {
            self.raise(context, end);
            return;
        }
        self.ends[end].carrier = false;
        self.lose(context, end);
        self.renew(context);
        self.arm(context, end, LinkTimer::Hello, SimTime::MAX);
    }

    /// A link comes up: HELLOs leave from now on.
    pub(super) fn raise(&mut self, context: &mut Context<'_>, end: usize) {
        self.ends[end].carrier = true;
        self.renew(context);
        self.send_hello(context, end);
    }

    pub(super) fn send_hello(&mut self, context: &mut Context<'_>, end: usize) {
        let known = self.ends[end].neighbour.state >= State::Init;
        let neighbours = known.then_some(self.ends[end].peer);
        let hello = Packet::Hello(neighbours.into_iter().collect());
        self.send(context, end, &hello);
        let next = self.now.saturating_add(self.config.hello_interval);
        self.arm(context, end, LinkTimer::Hello, next);
    }

    /// The neighbour is lost.
    pub(super) fn lose(&mut self, context: &mut Context<'_>, end: usize) {
        self.leave(context, end, State::Down);
        self.arm(context, end, LinkTimer::Dead, SimTime::MAX);
    }

    /// The conversation with a neighbour ends in `state`.
    fn leave(&mut self, context: &mut Context<'_>, end: usize, state: State) {
        let was_full = self.ends[end].neighbour.state == State::Full;
        self.ends[end].neighbour.reset(state);
        self.ends[end].flooded.clear();
        self.ends[end].bfd = None;
        self.ends[end].retransmission = None;
        for timer in [
            LinkTimer::Retransmit,
            LinkTimer::Acknowledge,
            LinkTimer::BfdSend,
            LinkTimer::BfdExpiry,
        ] {
            self.arm(context, end, timer, SimTime::MAX);
        }
        if was_full {
            self.adjacencies_lost += 1;
            self.reroute(context, end);
            self.renew(context);
        }
    }

    pub(super) fn on_ospf(&mut self, context: &mut Context<'_>, end: usize, packet: Packet) {
        let state = self.ends[end].neighbour.state;
        match packet {
            Packet::Hello(neighbours) => {
                let is_mutual = neighbours.contains(&self.node);
                self.on_hello(context, end, is_mutual);
            }
            Packet::Description(description) => self.on_description(context, end, description),
            Packet::Request(origins) if state >= State::Exchange => {
                let known = |origin: &_| self.database.get(self.now, *origin).is_some();
                if origins.iter().all(known) {
                    self.send_update(context, end, &origins);
                } else {
                    self.begin_exchange(context, end);
                }
            }
            Packet::Update(lsas) if state >= State::Exchange => {
                self.on_update(context, end, lsas);
            }
            Packet::Acknowledgment(headers) if state >= State::Exchange => {
                self.on_acknowledgment(end, &headers);
            }
            _ => {}
        }
    }

    fn on_hello(&mut self, context: &mut Context<'_>, end: usize, is_mutual: bool) {
        let dead = self.now.saturating_add(self.config.dead_interval);
        self.arm(context, end, LinkTimer::Dead, dead);
        let state = self.ends[end].neighbour.state;
        if state == State::Down {
            self.ends[end].neighbour.reset(State::Init);
        }
        match is_mutual {
            true if state <= State::Init => self.meet(context, end),
            false if state > State::Init => self.leave(context, end, State::Init),
            _ => {}
        }
    }

    /// Both ends see each other: on a point-to-point link they become adjacent (§10.4).
    fn meet(&mut self, context: &mut Context<'_>, end: usize) {
        if let OrOff::Value(interval) = self.config.bfd {
            self.ends[end].bfd = Some(Session::new(
                self.node,
                interval,
                self.config.bfd_multiplier,
            ));
            self.send_bfd(context, end);
        }
        self.begin_exchange(context, end);
    }

    /// The exchange of databases begins, or begins again.
    fn begin_exchange(&mut self, context: &mut Context<'_>, end: usize) {
        let was_full = self.ends[end].neighbour.state == State::Full;
        let sequence = (self.draws.next_u64() >> 33) as u32;
        let description = self.ends[end].neighbour.begin_exchange(sequence);
        self.describe(context, end, description);
        if was_full {
            self.adjacencies_lost += 1;
            self.renew(context);
        }
    }

    fn describe(&mut self, context: &mut Context<'_>, end: usize, description: Description) {
        let bytes = self.send(context, end, &Packet::Description(description));
        self.ends[end].neighbour.described = Some(bytes);
        self.arm_retransmission(context, end);
    }

    /// Arms the retransmission of what is sent now, unless it is armed. FRR's timer runs on from the
    /// beginning of the exchange.
    pub(super) fn arm_retransmission(&mut self, context: &mut Context<'_>, end: usize) {
        let interval = self.config.retransmit_interval;
        let state = &mut self.ends[end];
        if state.retransmission.is_some() {
            return;
        }
        let at = match self.config.daemon {
            Daemon::Frr if state.neighbour.state >= State::Exchange => {
                let since = self.now.saturating_since(state.exchanged).as_ps();
                let intervals = since / interval.as_ps() + 1;
                state
                    .exchanged
                    .saturating_add(interval.saturating_mul(intervals))
            }
            _ => self.now.saturating_add(interval),
        };
        state.retransmission = Some(at);
        self.arm(context, end, LinkTimer::Retransmit, at);
    }

    fn on_description(&mut self, context: &mut Context<'_>, end: usize, received: Description) {
        // A description also says that the neighbour sees this router (§10.6).
        if self.ends[end].neighbour.state == State::Init {
            self.meet(context, end);
        }
        let ids = [self.node, self.ends[end].peer];
        let (database, now) = (&self.database, self.now);
        let neighbour = &mut self.ends[end].neighbour;
        let before = neighbour.state;
        let described = neighbour.on_description(ids, received, || database.headers(now));
        if before == State::ExStart && neighbour.state == State::Exchange {
            (self.ends[end].exchanged, self.ends[end].retransmission) = (now, None);
        }
        match described {
            Described::Ignored => {}
            Described::Repeat => {
                if let Some(bytes) = self.ends[end].neighbour.described.clone() {
                    context.send_over_ip(end, bytes);
                }
            }
            Described::Mismatch => self.begin_exchange(context, end),
            Described::Accepted {
                headers,
                reply,
                done,
            } => {
                let wanted: Vec<Header> = headers
                    .into_iter()
                    .filter(|header| self.lacks(header))
                    .collect();
                let requests = &mut self.ends[end].neighbour.requests;
                requests.extend(wanted.into_iter().map(|header| (header.origin, header)));
                if let Some(reply) = reply {
                    self.describe(context, end, reply);
                }
                if done {
                    self.ends[end].neighbour.state = State::Loading;
                }
                self.request(context, end);
            }
        }
    }

    /// Whether the database lacks this instance of an LSA.
    fn lacks(&self, header: &Header) -> bool {
        let own = self.database.header(self.now, header.origin);
        own.is_none_or(|own| header.compare(&own).is_gt())
    }

    /// Asks for what is wanted, unless an earlier request is unanswered; with nothing left, the
    /// adjacency is full.
    pub(super) fn request(&mut self, context: &mut Context<'_>, end: usize) {
        let neighbour = &mut self.ends[end].neighbour;
        if !(State::Exchange..=State::Loading).contains(&neighbour.state) {
            return;
        }
        let requests = &neighbour.requests;
        neighbour
            .asked
            .retain(|origin| requests.contains_key(origin));
        if requests.is_empty() {
            if neighbour.state == State::Loading {
                neighbour.state = State::Full;
                self.advertise(context);
            }
            return;
        }
        if neighbour.asked.is_empty() {
            let wanted = requests.keys().copied().take(REQUESTS_PER_PACKET);
            neighbour.asked = wanted.collect();
            self.send_request(context, end);
        }
    }

    fn send_request(&mut self, context: &mut Context<'_>, end: usize) {
        let asked = &self.ends[end].neighbour.asked;
        let request = Packet::Request(asked.iter().copied().collect());
        self.send(context, end, &request);
        self.arm_retransmission(context, end);
    }

    /// What was not answered is sent again.
    pub(super) fn retransmit(&mut self, context: &mut Context<'_>, end: usize) {
        self.ends[end].retransmission = None;
        let neighbour = &self.ends[end].neighbour;
        if !neighbour.awaits_answer() {
            return;
        }
        if neighbour.repeats_description()
            && let Some(bytes) = neighbour.described.clone()
        {
            context.send_over_ip(end, bytes);
        }
        let unacknowledged = neighbour.unacknowledged.keys().copied();
        let unacknowledged: Vec<_> = unacknowledged
            .filter(|&origin| self.is_overdue(origin))
            .collect();
        if !neighbour.asked.is_empty() {
            self.send_request(context, end);
        }
        self.send_update(context, end, &unacknowledged);
        self.arm_retransmission(context, end);
    }

    /// Whether an LSA that was not acknowledged is sent again. FRR leaves out those that it has had
    /// for less than an interval.
    fn is_overdue(&self, origin: NodeId) -> bool {
        let installed = self.database.installed(origin);
        let due = installed.saturating_add(self.config.retransmit_interval);
        self.config.daemon == Daemon::Bird || due <= self.now
    }

    pub(super) fn send_bfd(&mut self, context: &mut Context<'_>, end: usize) {
        let Some(session) = &self.ends[end].bfd else {
            return;
        };
        context.send_message(end, session.packet(self.ends[end].peer));
        let next = self.now.saturating_add(session.wait(&mut self.draws));
        self.arm(context, end, LinkTimer::BfdSend, next);
    }

    pub(super) fn on_bfd(&mut self, context: &mut Context<'_>, end: usize, bytes: &[u8]) {
        let Some(session) = &mut self.ends[end].bfd else {
            return;
        };
        let failed = session.on_packet(self.now, bytes);
        let expires = session.expires();
        if failed {
            self.lose(context, end);
        } else {
            self.arm(context, end, LinkTimer::BfdExpiry, expires);
        }
    }

    /// No control packet of BFD has come in time.
    pub(super) fn on_bfd_expiry(&mut self, context: &mut Context<'_>, end: usize) {
        if self.ends[end].bfd.as_mut().is_some_and(Session::on_expiry) {
            self.lose(context, end);
        }
    }
}
