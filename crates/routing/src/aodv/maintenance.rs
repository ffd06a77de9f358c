//! How a route ends: lost neighbours, errors, local repair, HELLOs (RFC 3561 §6.9 to §6.12).

use std::collections::BTreeSet;
use std::sync::Arc;

use backlane_net::{Context, DropCause, NodeId, PacketId};
use backlane_units::{Duration, SimTime};

use super::discovery::millis;
use super::message::{Message, RouteError, RouteReply};
use super::table::Offer;
use super::{Aodv, LocalRepair, Metric, ON_HELLO, ON_SILENCE, send};

/// Who shall be told of what.
#[derive(Default)]
struct News {
    error: RouteError,
    recipients: BTreeSet<NodeId>,
}

impl Aodv {
    /// A message came from a neighbour.
    pub(super) fn hear(&mut self, context: &Context<'_>, interface: usize) {
        self.neighbours.at(interface).heard = context.now();
    }

    /// A HELLO (RFC 3561 §6.9): the neighbour is there, and this is its number. With ETX that
    /// makes no route: the way to a neighbour over others may be cheaper, and only a request
    /// finds it.
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
            self.neighbours.at(interface).greets = true;
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
        self.neighbours.at(interface).greets = true;
        self.arm_silence(context);
    }

    /// How long a neighbour that greets may be silent.
    fn patience(&self) -> Option<Duration> {
        let hello = self.config.hello?;
        Some(hello.interval * u64::from(hello.allowed_loss))
    }

    fn arm_silence(&self, context: &mut Context<'_>) {
        let Some(patience) = self.patience() else {
            return;
        };
        let greeting = self.neighbours.0.iter().filter(|known| known.greets);
        let first = greeting.map(|known| known.heard).min();
        // Lost is who was silent for longer than that.
        let late = patience.saturating_add(Duration::from_ps(1));
        self.arm(
            context,
            ON_SILENCE,
            first.map(|heard| heard.saturating_add(late)),
        );
    }

    /// Some neighbour may have been silent for too long (RFC 3561 §6.10).
    pub(super) fn on_silence(&mut self, context: &mut Context<'_>) {
        let Some(patience) = self.patience() else {
            return;
        };
        for interface in 0..self.neighbours.0.len() {
            let known = self.neighbours.0[interface];
            if known.greets && known.heard.saturating_add(patience) < context.now() {
                self.on_link_lost(context, interface, None);
            }
        }
        self.arm_silence(context);
    }

    /// Time for a HELLO, if this node has not been heard otherwise (RFC 3561 §6.9). The RFC would
    /// have only nodes greet that are on an active route; but where traffic goes one way, the
    /// destination would fall silent, and be taken for lost.
    pub(super) fn send_hello(&mut self, context: &mut Context<'_>) {
        let Some(hello) = self.greeting() else {
            return;
        };
        let patience = hello.interval * u64::from(hello.allowed_loss);
        let now = context.now();
        let quiet = self
            .last_broadcast
            .is_none_or(|last| now.saturating_since(last) >= hello.interval);
        // Probes come at a steady pace.
        if quiet || self.qualities.is_some() {
            let greeting = RouteReply {
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
            let mut bytes = Message::Reply(greeting).encode();
            if let Some(probe) = self.next_probe(context) {
                probe.encode(&mut bytes);
            }
            self.last_broadcast = Some(now);
            context.broadcast(1, &Arc::from(bytes));
        }
        self.arm(context, ON_HELLO, Some(now.saturating_add(hello.interval)));
    }

    /// Frames have failed, and the packets did not come back.
    pub(super) fn on_suspicion(&mut self, context: &mut Context<'_>) {
        for interface in std::mem::take(&mut self.suspects) {
            self.on_link_lost(context, interface, None);
        }
    }

    /// The link layer could not bring a packet to a neighbour.
    pub(super) fn on_lost_packet(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        id: PacketId,
    ) {
        let now = context.now();
        let packet = context.packet(id);
        if let Some(message) = &packet.message {
            // Whoever asked over a link that works one way only would ask again and again
            // (RFC 3561 §6.8).
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
            // The way has changed while the packet was in the device.
            Some(route) if route.interface != interface => {
                if !self.config.keeps_undelivered || !self.forward(context, id) {
                    context.drop(id, DropCause::Radio);
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
                    // The packet has crossed one link less than routers.
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
    }

    /// The neighbour on an interface is lost: all routes through it end, but for one that is
    /// about to be repaired, and those who send by them are told (RFC 3561 §6.11).
    fn on_link_lost(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        repaired: Option<NodeId>,
    ) {
        let now = context.now();
        self.neighbours.at(interface).greets = false;
        let lost = self.table.through(now, interface);
        if lost.is_empty() {
            return;
        }
        self.counters.link_failures += 1;
        let mut news = News::default();
        for destination in lost {
            if Some(destination) != repaired {
                self.end_route(now, destination, None, &mut news);
            }
        }
        self.tell(context, news);
    }

    /// Ends a route; those who send by it shall be told.
    fn end_route(&mut self, now: SimTime, destination: NodeId, told: Option<u32>, news: &mut News) {
        let sequence = self.table.end(now, destination, told);
        self.report(now, destination, sequence, news);
    }

    /// Those who send by a route that has ended shall be told. They send no more after that.
    fn report(&mut self, now: SimTime, destination: NodeId, sequence: u32, news: &mut News) {
        let Some(route) = self.table.get(now, destination) else {
            return;
        };
        let precursors = std::mem::take(&mut route.precursors);
        if !precursors.is_empty() {
            news.error.unreachable.push((destination, sequence));
            news.recipients.extend(precursors);
        }
    }

    /// Sends an error: to its only recipient, or to all neighbours if there are several
    /// (RFC 3561 §6.11). What is over the rate limit is not sent.
    fn tell(&mut self, context: &mut Context<'_>, news: News) {
        let now = context.now();
        if news.recipients.is_empty() || self.error_limit.earliest(now) > now {
            return;
        }
        self.error_limit.note(now);
        let message = Message::Error(news.error);
        let mut recipients = news.recipients.iter();
        let only = match (recipients.next(), recipients.next()) {
            (Some(only), None) => Self::interface_to(context, *only),
            _ => None,
        };
        match only {
            Some(interface) => send(context, interface, &message),
            None => self.broadcast_soon(context, 1, message),
        }
    }

    /// A packet on its way comes to a node that has no route: dropped, and whoever sent it here
    /// is told.
    #[cold]
    pub(super) fn refuse(&mut self, context: &mut Context<'_>, id: PacketId) {
        let now = context.now();
        let packet = context.packet(id);
        let (exit, previous) = (packet.exit, packet.previous);
        context.drop(id, DropCause::NoRoute);
        if Self::interface_to(context, previous).is_none() {
            return;
        }
        let mut news = News::default();
        let sequence = match self.table.get(now, exit) {
            Some(known) => {
                news.recipients
                    .extend(std::mem::take(&mut known.precursors));
                known.sequence.unwrap_or(0)
            }
            None => 0,
        };
        news.recipients.insert(previous);
        news.error.unreachable.push((exit, sequence));
        self.tell(context, news);
    }

    /// An error: routes through its sender end, and it goes on to those who send by them
    /// (RFC 3561 §6.11).
    pub(super) fn on_error(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        error: &RouteError,
    ) {
        let now = context.now();
        let sender = context.interfaces()[interface].peer;
        let mut news = News::default();
        news.error.no_delete = error.no_delete;
        for &(destination, told) in &error.unreachable {
            let Some(route) = self.table.active(now, destination) else {
                continue;
            };
            if context.interfaces()[route.interface].peer != sender {
                continue;
            }
            if error.no_delete {
                if !route.precursors.is_empty() {
                    let sequence = route.sequence.unwrap_or(told);
                    news.recipients.extend(route.precursors.iter().copied());
                    news.error.unreachable.push((destination, sequence));
                }
            } else {
                self.end_route(now, destination, Some(told), &mut news);
            }
        }
        self.tell(context, news);
    }

    /// A local repair has found a way. If it is longer, those who send by it may want to look for
    /// a better one (RFC 3561 §6.12).
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
        let mut news = News::default();
        news.error.no_delete = true;
        let sequence = route.sequence.unwrap_or(0);
        news.error.unreachable.push((destination, sequence));
        news.recipients.extend(route.precursors.iter().copied());
        self.tell(context, news);
    }

    /// A local repair has found nothing (RFC 3561 §6.12).
    pub(super) fn on_repair_failed(&mut self, context: &mut Context<'_>, destination: NodeId) {
        let now = context.now();
        let mut news = News::default();
        let known = self.table.get(now, destination);
        let sequence = known.and_then(|route| route.sequence).unwrap_or(0);
        self.report(now, destination, sequence, &mut news);
        self.tell(context, news);
    }
}
