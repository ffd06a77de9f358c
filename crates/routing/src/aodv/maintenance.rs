//! Route maintenance: lost neighbours, errors, local repair, HELLOs (RFC 3561 §6.9 to §6.12).

use std::collections::BTreeSet;
use std::sync::Arc;

use backlane_net::{Context, DropCause, NodeId, PacketId};
use backlane_units::{Duration, SimTime};

use super::discovery::millis;
use super::message::{Message, RouteError, RouteReply};
use super::table::Offer;
use super::{Aodv, LocalRepair, Metric, ON_HELLO, ON_SILENCE, Waiting, send};

/// The recipients and the content of a route error.
#[derive(Default)]
struct Notice {
    error: RouteError,
    recipients: BTreeSet<NodeId>,
}

impl Aodv {
    /// Notes a message from a neighbour.
    pub(super) fn note_message(&mut self, context: &Context<'_>, interface: usize) {
        self.neighbours.at(interface).heard = context.now();
    }

    /// A HELLO (RFC 3561 §6.9): the neighbour is present, with this sequence number. With ETX a
    /// HELLO installs no route: a path over other nodes may cost less, and only a request finds it.
    pub(super) fn on_hello(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        hello: &RouteReply,
    ) {
        let now = context.now();
        let sender = context.interfaces()[interface].peer;
        if hello.destination != sender {
            return;
        }
        if self.config.metric == Metric::Etx {
            self.neighbours.at(interface).sends_hellos = true;
            self.arm_silence(context);
            return;
        }
        let until = now.saturating_add(Duration::from_millis(u64::from(hello.lifetime_ms)));
        let offer = Offer {
            sequence: hello.destination_sequence,
            interface,
            hops: 1,
            cost: 1,
            until,
        };
        self.table.offer(now, sender, &offer);
        self.table.meet(now, sender, interface, 1, until);
        self.settle(context, sender);
        self.neighbours.at(interface).sends_hellos = true;
        self.arm_silence(context);
    }

    /// The longest silence of a neighbour that sends HELLOs.
    fn patience(&self) -> Option<Duration> {
        let hello = self.config.hello?;
        Some(hello.interval * u64::from(hello.allowed_loss))
    }

    fn arm_silence(&self, context: &mut Context<'_>) {
        let Some(patience) = self.patience() else {
            return;
        };
        let with_hellos = self.neighbours.0.iter().filter(|known| known.sends_hellos);
        let first = with_hellos.map(|known| known.heard).min();
        // A neighbour is lost when it was silent for longer than that.
        let late = patience.saturating_add(Duration::from_ps(1));
        self.arm(
            context,
            ON_SILENCE,
            first.map(|heard| heard.saturating_add(late)),
        );
    }

    /// Checks for neighbours that were silent for too long (RFC 3561 §6.10).
    pub(super) fn on_silence(&mut self, context: &mut Context<'_>) {
        let Some(patience) = self.patience() else {
            return;
        };
        for interface in 0..self.neighbours.0.len() {
            let known = self.neighbours.0[interface];
            if known.sends_hellos && known.heard.saturating_add(patience) < context.now() {
                self.on_link_lost(context, interface, None);
            }
        }
        self.arm_silence(context);
    }

    /// Sends a HELLO, unless this node has sent another broadcast (RFC 3561 §6.9). In the RFC only
    /// nodes on an active route send HELLOs. With one-way traffic the destination would then be
    /// silent and considered lost.
    pub(super) fn send_hello(&mut self, context: &mut Context<'_>) {
        let Some(hello) = self.with_hellos() else {
            return;
        };
        let patience = hello.interval * u64::from(hello.allowed_loss);
        let now = context.now();
        let quiet = self
            .last_broadcast
            .is_none_or(|last| now.saturating_since(last) >= hello.interval);
        // Probes are sent at a constant rate.
        if quiet || self.qualities.is_some() {
            let with_hellos = RouteReply {
                repair: false,
                ack_required: false,
                prefix: 0,
                hops: 0,
                destination: self.node,
                destination_sequence: self.sequence,
                originator: self.node,
                lifetime_ms: millis(patience),
                metric: None,
            };
            let mut bytes = Message::Reply(with_hellos).encode();
            if let Some(probe) = self.next_probe(context) {
                probe.encode(&mut bytes);
            }
            self.last_broadcast = Some(now);
            context.broadcast(1, &Arc::from(bytes));
        }
        self.arm(context, ON_HELLO, Some(now.saturating_add(hello.interval)));
    }

    /// Frames have failed, and their packets were not returned.
    pub(super) fn on_suspicion(&mut self, context: &mut Context<'_>) {
        for interface in std::mem::take(&mut self.suspects) {
            self.on_link_lost(context, interface, None);
            self.withdraw(context, interface);
        }
    }

    /// The link layer could not deliver a packet to a neighbour.
    pub(super) fn on_lost_packet(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        id: PacketId,
    ) {
        let now = context.now();
        let packet = context.packet(id);
        if let Some(message) = &packet.message {
            // A node that sends requests over a one-way link would repeat them without end (RFC
            // 3561 §6.8).
            if matches!(Message::decode(message), Some(Message::Reply(_))) {
                let peer = context.interfaces()[interface].peer;
                let until = now.saturating_add(self.config.blacklist_timeout);
                self.blacklist.insert(peer, until);
            }
            context.drop(id, DropCause::Radio);
            return;
        }
        let (exit, travelled) = (packet.exit, packet.hops);
        let is_source = travelled <= 1;
        let broken = match self.table.active(now, exit) {
            // The route has changed while the packet was in the device.
            Some(route) if route.interface != interface => {
                if !self.config.keeps_undelivered || !self.forward(context, id) {
                    context.drop(id, DropCause::Radio);
                }
                // In ns-2 any failed packet ends all routes by its next hop.
                if self.config.waiting == Waiting::Drop {
                    self.on_link_lost(context, interface, None);
                    self.withdraw(context, interface);
                }
                return;
            }
            Some(route) => Some(route.hops),
            None => None,
        };
        let repairable = broken.filter(|hops| {
            !is_source
                && match self.config.local_repair {
                    LocalRepair::Never => false,
                    LocalRepair::Within(limit) => *hops <= limit,
                    // The packet has crossed one link fewer than routers.
                    LocalRepair::PastTheMiddle => travelled - 1 > *hops,
                }
        });
        self.on_link_lost(context, interface, repairable.map(|_| exit));
        if let Some(hops) = repairable {
            self.buffer.push(context, exit, id);
            // RFC 3561 §6.12, MIN_REPAIR_TTL being the last known distance.
            let ttl = hops
                .max(travelled / 2)
                .saturating_add(self.config.local_add_ttl);
            self.table.end(now, exit, None);
            self.begin(context, exit, ttl, Some(hops));
        } else if is_source && self.config.keeps_undelivered {
            self.buffer.push(context, exit, id);
            self.search(context, exit);
        } else if !is_source && self.discoveries.contains_key(&exit) {
            self.buffer.push(context, exit, id);
        } else {
            context.drop(id, DropCause::Radio);
        }
        // ns-2 leaves them during a local repair.
        if repairable.is_none() || self.config.waiting == Waiting::Reroute {
            self.withdraw(context, interface);
        }
    }

    /// A packet that waited in the device for a lost neighbour comes back.
    pub(super) fn on_returned(&mut self, context: &mut Context<'_>, id: PacketId) {
        let packet = context.packet(id);
        let (exit, is_source) = (packet.exit, packet.hops <= 1);
        if packet.message.is_some() || self.config.waiting != Waiting::Reroute {
            context.drop(id, DropCause::Radio);
            return;
        }
        if self.forward(context, id) {
            return;
        }
        if is_source || self.discoveries.contains_key(&exit) {
            self.buffer.push(context, exit, id);
            self.search(context, exit);
        } else {
            context.drop(id, DropCause::Radio);
        }
    }

    /// Takes back what waits for a neighbour that is lost or has lost its route.
    fn withdraw(&self, context: &mut Context<'_>, interface: usize) {
        if matches!(self.config.waiting, Waiting::Drop | Waiting::Reroute) {
            context.withdraw(interface);
        }
    }

    /// The neighbour on an interface is lost. Ends all routes through it, except one that is about
    /// to be repaired, and notifies their precursors (RFC 3561 §6.11).
    fn on_link_lost(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        repaired: Option<NodeId>,
    ) {
        let now = context.now();
        self.neighbours.at(interface).sends_hellos = false;
        let lost = self.table.through(now, interface);
        if lost.is_empty() {
            return;
        }
        self.counters.link_failures += 1;
        let mut notice = Notice::default();
        for destination in lost {
            if Some(destination) != repaired {
                self.end_route(now, destination, None, &mut notice);
            }
        }
        self.send_error(context, notice);
    }

    /// Ends a route and notes its precursors for an error.
    fn end_route(
        &mut self,
        now: SimTime,
        destination: NodeId,
        reported: Option<u32>,
        notice: &mut Notice,
    ) {
        let sequence = self.table.end(now, destination, reported);
        self.report(now, destination, sequence, notice);
    }

    /// Notes the precursors of an ended route for an error, and removes them: they stop sending.
    fn report(&mut self, now: SimTime, destination: NodeId, sequence: u32, notice: &mut Notice) {
        let Some(route) = self.table.get(now, destination) else {
            return;
        };
        let precursors = std::mem::take(&mut route.precursors);
        if !precursors.is_empty() {
            notice.error.unreachable.push((destination, sequence));
            notice.recipients.extend(precursors);
        }
    }

    /// Sends an error to its only recipient, or to all neighbours if there are several (RFC 3561
    /// §6.11). Errors above the rate limit are not sent.
    fn send_error(&mut self, context: &mut Context<'_>, notice: Notice) {
        let now = context.now();
        if notice.recipients.is_empty() || self.error_limit.earliest(now) > now {
            return;
        }
        self.error_limit.note(now);
        let message = Message::Error(notice.error);
        let mut recipients = notice.recipients.iter();
        let only = match (recipients.next(), recipients.next()) {
            (Some(only), None) => Self::interface_to(context, *only),
            _ => None,
        };
        match only {
            Some(interface) => send(context, interface, &message),
            None => self.broadcast_soon(context, 1, message),
        }
    }

    /// Drops a packet in transit for which this node has no route, and sends an error to the
    /// previous hop.
    #[cold]
    pub(super) fn refuse(&mut self, context: &mut Context<'_>, id: PacketId) {
        let now = context.now();
        let packet = context.packet(id);
        let (exit, previous) = (packet.exit, packet.previous);
        context.drop(id, DropCause::NoRoute);
        if Self::interface_to(context, previous).is_none() {
            return;
        }
        let mut notice = Notice::default();
        let sequence = match self.table.get(now, exit) {
            Some(known) => {
                notice
                    .recipients
                    .extend(std::mem::take(&mut known.precursors));
                known.sequence.unwrap_or(0)
            }
            None => 0,
        };
        notice.recipients.insert(previous);
        notice.error.unreachable.push((exit, sequence));
        self.send_error(context, notice);
    }

    /// A received error: ends the routes through its sender and notifies their precursors (RFC 3561
    /// §6.11).
    pub(super) fn on_error(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        error: &RouteError,
    ) {
        let now = context.now();
        let sender = context.interfaces()[interface].peer;
        let mut notice = Notice::default();
        notice.error.no_delete = error.no_delete;
        let mut ended = false;
        for &(destination, reported) in &error.unreachable {
            let Some(route) = self.table.active(now, destination) else {
                continue;
            };
            if context.interfaces()[route.interface].peer != sender {
                continue;
            }
            if error.no_delete {
                if !route.precursors.is_empty() {
                    let sequence = route.sequence.unwrap_or(reported);
                    notice.recipients.extend(route.precursors.iter().copied());
                    notice.error.unreachable.push((destination, sequence));
                }
            } else {
                self.end_route(now, destination, Some(reported), &mut notice);
                ended = true;
            }
        }
        if ended {
            self.withdraw(context, interface);
        }
        self.send_error(context, notice);
    }

    /// A local repair has found a route. If it is longer, its precursors are notified, since they
    /// may search for a better one (RFC 3561 §6.12).
    pub(super) fn on_repaired(
        &mut self,
        context: &mut Context<'_>,
        destination: NodeId,
        before: u8,
        hops: u8,
    ) {
        self.counters.route_repairs += 1;
        let Some(route) = self.table.active(context.now(), destination) else {
            return;
        };
        if hops <= before || route.precursors.is_empty() {
            return;
        }
        let mut notice = Notice::default();
        notice.error.no_delete = true;
        let sequence = route.sequence.unwrap_or(0);
        notice.error.unreachable.push((destination, sequence));
        notice.recipients.extend(route.precursors.iter().copied());
        self.send_error(context, notice);
    }

    /// A local repair has failed (RFC 3561 §6.12).
    pub(super) fn on_repair_failed(&mut self, context: &mut Context<'_>, destination: NodeId) {
        let now = context.now();
        let mut notice = Notice::default();
        let known = self.table.get(now, destination);
        let sequence = known.and_then(|route| route.sequence).unwrap_or(0);
        self.report(now, destination, sequence, &mut notice);
        self.send_error(context, notice);
    }
}
