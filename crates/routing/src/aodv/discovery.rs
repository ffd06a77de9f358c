//! Route discovery: requests and replies (RFC 3561 §6.3 to §6.7).

use backlane_net::{Context, NodeId, PacketId};
use backlane_units::{Duration, SimTime};

use super::message::{Message, RouteReply, RouteRequest};
use super::search::Search;
use super::table::Offer;
use super::{Aodv, Metric, ON_WAIT_OVER, send};

impl Aodv {
    /// The packet's first router searches for a route. Packets wait during the search.
    #[cold]
    pub(super) fn on_packet_without_route(&mut self, context: &mut Context<'_>, id: PacketId) {
        let packet = context.packet(id);
        let (exit, is_source) = (packet.exit, packet.hops <= 1);
        if is_source || self.discoveries.contains_key(&exit) {
            self.buffer.push(context, exit, id);
            self.search(context, exit);
        } else {
            self.refuse(context, id);
        }
    }

    /// Starts a search for a route, unless one is in progress.
    pub(super) fn search(&mut self, context: &mut Context<'_>, destination: NodeId) {
        if self.discoveries.contains_key(&destination) {
            return;
        }
        let now = context.now();
        let config = &self.config;
        // The first ring for a former route starts at its last hop count (RFC 3561 §6.4, and ns-2).
        let mut ttl = config.ttl_start;
        if let Some(known) = self.table.get(now, destination) {
            ttl = known.hops.saturating_add(config.ttl_increment);
            // The entry must not expire during the search (RFC 3561 §6.4).
            known.until = known
                .until
                .max(now.saturating_add(config.net_traversal_time() * 2));
        }
        // With ETX a nearer answer may cost more, so there is no expanding ring.
        if ttl > config.ttl_threshold || config.metric == Metric::Etx {
            ttl = config.net_diameter;
        }
        self.begin(context, destination, ttl, None);
    }

    /// Starts a search with a first request of TTL `ttl`.
    pub(super) fn begin(
        &mut self,
        context: &mut Context<'_>,
        destination: NodeId,
        ttl: u8,
        repairs: Option<u8>,
    ) {
        self.counters.route_discoveries += 1;
        let ttl = ttl.min(self.config.net_diameter);
        let search = Search {
            ttl,
            flood: u32::from(ttl >= self.config.net_diameter),
            sent: false,
            due: context.now(),
            repairs,
        };
        self.discoveries.insert(destination, search);
        if let Some((ttl, request)) = self.request(context.now(), destination) {
            self.broadcast(context, ttl, &request);
        }
        self.arm_searches(context);
    }

    fn arm_searches(&self, context: &mut Context<'_>) {
        let due = self.discoveries.values().map(|search| search.due).min();
        self.arm(context, ON_WAIT_OVER, due);
    }

    /// The request of a search and its TTL; `None` if the rate limit delays it.
    fn request(&mut self, now: SimTime, destination: NodeId) -> Option<(u8, Message)> {
        let search = self.discoveries.get_mut(&destination)?;
        let earliest = self.request_limit.earliest(now);
        search.sent = earliest <= now;
        if !search.sent {
            search.due = earliest;
            return None;
        }
        let ttl = search.ttl;
        search.due = now.saturating_add(self.config.wait(ttl, search.flood));
        self.request_limit.note(now);
        // Both grow with each request (RFC 3561 §6.1, §6.3).
        self.sequence = self.sequence.wrapping_add(1);
        self.request_id = self.request_id.wrapping_add(1);
        let known = self.table.get(now, destination);
        let request = RouteRequest {
            join: false,
            repair: false,
            // Most traffic needs a route in both directions.
            gratuitous: true,
            // The current cost of the rest of a known route is found only by the search.
            destination_only: self.config.metric == Metric::Etx,
            hops: 0,
            id: self.request_id,
            destination,
            destination_sequence: known.and_then(|route| route.sequence),
            originator: self.node,
            originator_sequence: self.sequence,
            metric: self.reported(0),
        };
        let remembered = now.saturating_add(self.config.path_discovery_time);
        self.seen
            .insert((self.node, self.request_id), (0, remembered));
        Some((ttl, Message::Request(request)))
    }

    /// The wait for an answer has ended, or a delayed request may be sent. Without jitter,
    /// neighbours that started a search at the same instant would collide repeatedly.
    pub(super) fn on_wait_over(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let due: Vec<NodeId> = self
            .discoveries
            .iter()
            .filter(|(_, search)| search.due <= now)
            .map(|(destination, _)| *destination)
            .collect();
        for destination in due {
            let Some(search) = self.discoveries.get_mut(&destination) else {
                continue;
            };
            if search.sent {
                let over = search.repairs.is_some() || search.flood > self.config.rreq_retries;
                if over || !self.buffer.waits_for(destination) {
                    self.give_up(context, destination);
                    continue;
                }
                search.ttl = self.config.next_ttl(search.ttl);
                search.flood += u32::from(search.ttl >= self.config.net_diameter);
            }
            if let Some((ttl, request)) = self.request(now, destination) {
                self.broadcast_soon(context, ttl, request);
            }
        }
        self.arm_searches(context);
    }

    fn give_up(&mut self, context: &mut Context<'_>, destination: NodeId) {
        let search = self.discoveries.remove(&destination);
        self.buffer.drop_all(context, destination);
        if search.is_some_and(|search| search.repairs.is_some()) {
            self.on_repair_failed(context, destination);
        }
    }

    /// Sends the packets that waited for a route, if there is one now.
    pub(super) fn settle(&mut self, context: &mut Context<'_>, destination: NodeId) {
        if !self.discoveries.contains_key(&destination) {
            return;
        }
        let Some(route) = self.table.active(context.now(), destination) else {
            return;
        };
        let hops = route.hops;
        if let Some(Search {
            repairs: Some(before),
            ..
        }) = self.discoveries.remove(&destination)
        {
            self.on_repaired(context, destination, before, hops);
        }
        for id in self.buffer.take(context, destination) {
            if !self.forward(context, id) {
                self.refuse(context, id);
            }
        }
        self.arm_searches(context);
    }

    /// Installs the route to the neighbour that sent a request or a reply (RFC 3561 §6.5, §6.7).
    fn meet(&mut self, context: &mut Context<'_>, interface: usize, cost: u32) -> NodeId {
        let now = context.now();
        let sender = context.interfaces()[interface].peer;
        let until = now.saturating_add(self.config.active_route_timeout);
        self.table.meet(now, sender, interface, cost, until);
        self.settle(context, sender);
        sender
    }

    /// A request (RFC 3561 §6.5).
    pub(super) fn on_request(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        ttl: u8,
        mut request: RouteRequest,
    ) {
        let now = context.now();
        let sender = context.interfaces()[interface].peer;
        self.blacklist.retain(|_, until| *until > now);
        if self.blacklist.contains_key(&sender) {
            return;
        }
        let Some(link) = self.link_cost(now, interface) else {
            return;
        };
        self.meet(context, interface, link);
        let name = (request.originator, request.id);
        request.hops = request.hops.saturating_add(1);
        let (cost, reported) = self.path_cost(request.hops, request.metric, link);
        request.metric = reported;
        if request.originator == self.node || !self.is_new(now, name, cost) {
            return;
        }

        let hops = u64::from(request.hops);
        let there_and_back = self.config.net_traversal_time() * 2;
        let travelled = self.config.node_traversal_time * 2 * hops;
        let until = now.saturating_add(there_and_back.saturating_sub(travelled));
        let offer = Offer {
            sequence: request.originator_sequence,
            interface,
            hops: request.hops,
            cost,
            until,
        };
        if let Some(known) = self.table.active(now, request.originator) {
            known.until = known.until.max(until);
            let offer = Offer {
                until: known.until,
                ..offer
            };
            self.table.offer(now, request.originator, &offer);
        } else {
            self.table.offer(now, request.originator, &offer);
        }
        self.settle(context, request.originator);

        if request.destination == self.node {
            self.answer(context, &request);
        } else if !self.answer_for(context, sender, &request) {
            self.pass_on(context, ttl, request);
        }
    }

    /// Whether a request was not seen within `PATH_DISCOVERY_TIME`; with ETX, not by a path that
    /// costs as little.
    fn is_new(&mut self, now: SimTime, name: (NodeId, u32), cost: u32) -> bool {
        let remembered = now.saturating_add(self.config.path_discovery_time);
        let etx = self.config.metric == Metric::Etx;
        if let Some((least, until)) = self.seen.get_mut(&name)
            && *until > now
        {
            let cheaper = etx && cost < *least;
            if cheaper {
                *least = cost;
            }
            return cheaper;
        }
        self.seen.retain(|_, (_, until)| *until > now);
        self.seen.insert(name, (cost, remembered));
        true
    }

    /// The destination itself answers (RFC 3561 §6.6.1). Its sequence number is at least that of
    /// the request (§6.1).
    fn answer(&mut self, context: &mut Context<'_>, request: &RouteRequest) {
        if let Some(asked) = request.destination_sequence
            && super::table::newer(asked, self.sequence)
        {
            self.sequence = asked;
        }
        let reply = RouteReply {
            repair: false,
            ack_required: false,
            prefix: 0,
            hops: 0,
            destination: self.node,
            destination_sequence: self.sequence,
            originator: request.originator,
            lifetime_ms: millis(self.config.my_route_timeout),
            metric: self.reported(0),
        };
        let Some(back) = self.table.active(context.now(), request.originator) else {
            return;
        };
        let interface = back.interface;
        send(context, interface, &Message::Reply(reply));
    }

    /// A node with a route that is new enough answers for the destination (RFC 3561 §6.6.2), and
    /// sends the destination a route to the originator (§6.6.3). A route through the node that sent
    /// the request does not count: it can only be older than the route which that node has lost.
    fn answer_for(
        &mut self,
        context: &mut Context<'_>,
        sender: NodeId,
        request: &RouteRequest,
    ) -> bool {
        let now = context.now();
        let etx = self.config.metric == Metric::Etx;
        let Some(back) = self.table.active(now, request.originator) else {
            return false;
        };
        let (back_interface, back_hops, back_until) = (back.interface, back.hops, back.until);
        let back_cost = back.cost;
        let back_sequence = back.sequence;
        let Some(route) = self.table.active(now, request.destination) else {
            return false;
        };
        let next = context.interfaces()[route.interface].peer;
        let is_fresh = match (route.sequence, request.destination_sequence) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(known), Some(asked)) => !super::table::newer(asked, known),
        };
        let Some(known) = route.sequence.filter(|_| is_fresh) else {
            return false;
        };
        if request.destination_only || next == sender {
            return false;
        }
        let reply = RouteReply {
            repair: false,
            ack_required: false,
            prefix: 0,
            hops: route.hops,
            destination: request.destination,
            destination_sequence: known,
            originator: request.originator,
            lifetime_ms: millis(route.until.saturating_since(now)),
            metric: etx.then_some(route.cost),
        };
        let interface = route.interface;
        route.add_precursor(sender);
        if let Some(back) = self.table.active(now, request.originator) {
            back.add_precursor(next);
        }
        send(context, back_interface, &Message::Reply(reply));
        if request.gratuitous {
            let reply = RouteReply {
                hops: back_hops,
                destination: request.originator,
                destination_sequence: back_sequence.unwrap_or(request.originator_sequence),
                originator: request.destination,
                lifetime_ms: millis(back_until.saturating_since(now)),
                metric: etx.then_some(back_cost),
                ..reply
            };
            send(context, interface, &Message::Reply(reply));
        }
        true
    }

    /// Forwards a request with its hop count increased and with the greatest known sequence number
    /// of the destination (RFC 3561 §6.5).
    fn pass_on(&mut self, context: &mut Context<'_>, ttl: u8, mut request: RouteRequest) {
        if ttl <= 1 {
            return;
        }
        let known = self
            .table
            .get(context.now(), request.destination)
            .and_then(|route| route.sequence);
        request.destination_sequence = match (known, request.destination_sequence) {
            (Some(known), Some(asked)) if super::table::newer(known, asked) => Some(known),
            (known, asked) => asked.or(known),
        };
        self.broadcast_soon(context, ttl - 1, Message::Request(request));
    }

    /// A reply (RFC 3561 §6.7).
    pub(super) fn on_reply(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        mut reply: RouteReply,
    ) {
        let now = context.now();
        let Some(link) = self.link_cost(now, interface) else {
            return;
        };
        let sender = self.meet(context, interface, link);
        if reply.ack_required {
            reply.ack_required = false;
            send(context, interface, &Message::ReplyAck);
        }
        if reply.destination == self.node {
            return;
        }
        reply.hops = reply.hops.saturating_add(1);
        let (cost, reported) = self.path_cost(reply.hops, reply.metric, link);
        reply.metric = reported;
        let lifetime = Duration::from_millis(u64::from(reply.lifetime_ms));
        let offer = Offer {
            sequence: reply.destination_sequence,
            interface,
            hops: reply.hops,
            cost,
            until: now.saturating_add(lifetime),
        };
        let accepted = self.table.offer(now, reply.destination, &offer);
        self.settle(context, reply.destination);
        if !accepted || reply.originator == self.node {
            return;
        }
        let until = now.saturating_add(self.config.active_route_timeout);
        let Some(back) = self.table.active(now, reply.originator) else {
            return;
        };
        back.until = back.until.max(until);
        let back = back.interface;
        let previous = context.interfaces()[back].peer;
        for node in [reply.destination, sender] {
            if let Some(route) = self.table.active(now, node) {
                route.add_precursor(previous);
            }
        }
        send(context, back, &Message::Reply(reply));
    }
}

/// A duration in milliseconds, as in messages.
pub(super) fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_ps() / Duration::from_millis(1).as_ps()).unwrap_or(u32::MAX)
}
