//! Route discovery and maintenance by messages: link sensing, flooded link states, distances.
//!
//! Every node broadcasts a HELLO with the neighbours that it hears. A link is used when each end
//! hears the other; it is lost when its end was silent for `hello_loss` intervals, or, over a wire,
//! when the carrier is lost. A node floods the list of its links when it changes and every
//! `refresh`. Every node computes the distances from the link states that it has.

use std::collections::BTreeMap;

use backlane_engine::{Stream, TimerId};
use backlane_net::{Context, NodeId};
use backlane_units::{Duration, SimTime};

use super::message::{LinkState, Message};
use super::{Config, Reach};
use crate::graph::{Distances, links_to};

/// Timers of a router.
pub(super) const ON_HELLO: u32 = 0;
pub(super) const ON_FLOOD: u32 = 1;

/// Broadcasts wait up to this long, so that neighbours that have a reason to send at one instant do
/// not collide (RFC 5148).
const JITTER: Duration = Duration::from_millis(20);
/// A link state lapses after this many refreshes.
const LAPSE: u64 = 3;
/// Payload of a datagram within an MTU of 1500 bytes.
const MOST_BYTES: usize = 1472;

/// A neighbour, by interface.
#[derive(Clone, Copy, Debug)]
struct Heard {
    /// The last sign of it; `None`: there was none.
    at: Option<SimTime>,
    /// Whether it said that it hears this node.
    hears_me: bool,
}

/// A link state as received.
#[derive(Debug)]
struct Known {
    state: LinkState,
    at: SimTime,
}

/// The discovery of one node.
pub(super) struct Discovery {
    node: NodeId,
    interval: Duration,
    patience: Duration,
    refresh: Duration,
    jitter: Stream,
    heard: Vec<Heard>,
    sequence: u16,
    /// When the own link state was sent.
    sent_at: Option<SimTime>,
    own: Vec<NodeId>,
    /// Of all other nodes, by number.
    known: BTreeMap<u32, Known>,
    /// Link states to send, by originator, at the next flood.
    pending: BTreeMap<u32, LinkState>,
    hello_timer: Option<TimerId>,
    flood_timer: Option<TimerId>,
    floods: bool,
    /// The next HELLO has been brought forward.
    hastened: bool,
    distances: Distances,
    is_stale: bool,
}

impl Discovery {
    pub(super) fn new(node: NodeId, config: &Config, jitter: Stream) -> Self {
        let interval = config.hello_interval;
        Self {
            node,
            interval,
            patience: interval * u64::from(config.hello_loss),
            refresh: config.refresh,
            jitter,
            heard: Vec::new(),
            sequence: 0,
            sent_at: None,
            own: Vec::new(),
            known: BTreeMap::new(),
            pending: BTreeMap::new(),
            hello_timer: None,
            flood_timer: None,
            floods: false,
            hastened: false,
            distances: Distances::by(0, [], |_| Vec::new()),
            is_stale: true,
        }
    }

    pub(super) fn start(&mut self, context: &mut Context<'_>) {
        let silent = Heard {
            at: None,
            hears_me: false,
        };
        self.heard = vec![silent; context.interfaces().len()];
        let hello = context.timer(ON_HELLO);
        let flood = context.timer(ON_FLOOD);
        (self.hello_timer, self.flood_timer) = (Some(hello), Some(flood));
        let first = self.draw(JITTER);
        context.set_timer(hello, context.now().saturating_add(first));
    }

    fn draw(&mut self, most: Duration) -> Duration {
        Duration::from_ps(self.jitter.uniform_below(most.as_ps() + 1))
    }

    /// Whether the link of an interface is used: both ends have heard each other lately.
    pub(super) fn is_link(&self, interface: usize) -> bool {
        self.heard[interface].hears_me
    }

    /// The number of links from each node to `exit`, as far as this node knows.
    pub(super) fn links_to(&mut self, now: SimTime, exit: NodeId, reach: &Reach) -> Option<&[u16]> {
        if std::mem::take(&mut self.is_stale) {
            self.compute(now, reach);
        }
        self.distances.to(exit)
    }

    fn compute(&mut self, now: SimTime, reach: &Reach) {
        let nodes = reach.no_transit.len();
        let lapse = self.refresh * LAPSE;
        self.known
            .retain(|_, known| now.saturating_since(known.at) <= lapse);
        let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); nodes];
        let states = self.known.values().map(|known| &known.state);
        for state in states {
            for neighbour in &state.neighbours {
                into[neighbour.index()].push(state.originator);
            }
        }
        for neighbour in &self.own {
            into[neighbour.index()].push(self.node);
        }
        let exits = reach.distances.exits().iter().copied();
        self.distances = Distances::by(nodes, exits, |exit| {
            links_to(exit, &into, &reach.no_transit)
        });
    }

    /// A sign of the neighbour on an interface: a frame of it, or an acknowledgment.
    pub(super) fn on_sign(&mut self, now: SimTime, interface: usize) {
        let heard = &mut self.heard[interface];
        if heard.at.is_some() {
            heard.at = Some(now);
        }
    }

    /// Processes a message of the neighbour on an interface.
    pub(super) fn on_message(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        bytes: &[u8],
        reach: &Reach,
    ) {
        let Some(message) = Message::decode(bytes, reach.no_transit.len()) else {
            return;
        };
        let now = context.now();
        let is_new = self.heard[interface].at.replace(now).is_none();
        if let Some(heard) = &message.heard {
            self.heard[interface].hears_me = heard.contains(&self.node);
        }
        if is_new {
            self.hasten_hello(context);
        }
        self.update_own(context, reach);
        for state in message.states {
            self.learn(context, state);
        }
    }

    fn learn(&mut self, context: &mut Context<'_>, state: LinkState) {
        let originator = state.originator;
        if originator == self.node {
            // After a fall of its own count a node goes on from what the others remember.
            if state.is_newer_than(self.sequence) {
                self.sequence = state.sequence;
                self.send_own(context);
            }
            return;
        }
        let known = self.known.get(&originator.0);
        if known.is_some_and(|known| !state.is_newer_than(known.state.sequence)) {
            return;
        }
        self.is_stale |= known.is_none_or(|known| known.state.neighbours != state.neighbours);
        self.pending.insert(originator.0, state.clone());
        let at = context.now();
        self.known.insert(originator.0, Known { state, at });
        self.arm_flood(context);
    }

    /// Compares the own links with those that were sent last.
    fn update_own(&mut self, context: &mut Context<'_>, reach: &Reach) {
        let rates = reach.flow_rates.of(self.node);
        let interfaces = context.interfaces().iter().zip(rates).enumerate();
        let mut own: Vec<NodeId> = interfaces
            .filter(|&(interface, (_, &rate))| rate > 0.0 && self.is_link(interface))
            .map(|(_, (interface, _))| interface.peer)
            .collect();
        own.sort_unstable();
        own.dedup();
        if own != self.own {
            self.own = own;
            self.is_stale = true;
            self.send_own(context);
        }
    }

    fn send_own(&mut self, context: &mut Context<'_>) {
        self.sequence = self.sequence.wrapping_add(1);
        self.sent_at = Some(context.now());
        let state = LinkState {
            originator: self.node,
            sequence: self.sequence,
            neighbours: self.own.clone(),
        };
        self.pending.insert(self.node.0, state);
        self.arm_flood(context);
    }

    fn arm_flood(&mut self, context: &mut Context<'_>) {
        if let Some(timer) = self.flood_timer
            && !std::mem::replace(&mut self.floods, true)
        {
            let wait = self.draw(JITTER);
            context.set_timer(timer, context.now().saturating_add(wait));
        }
    }

    /// A new neighbour gets a HELLO soon.
    fn hasten_hello(&mut self, context: &mut Context<'_>) {
        if let Some(timer) = self.hello_timer
            && !std::mem::replace(&mut self.hastened, true)
        {
            let wait = self.draw(JITTER);
            context.set_timer(timer, context.now().saturating_add(wait));
        }
    }

    /// Sends what waits, in as many datagrams as it takes.
    pub(super) fn flood(&mut self, context: &mut Context<'_>, heard: Option<Vec<NodeId>>) {
        self.floods = false;
        let mut message = Message {
            heard,
            states: Vec::new(),
        };
        let mut bytes = 2 + 4 * message.heard.as_ref().map_or(0, Vec::len);
        for (_, state) in std::mem::take(&mut self.pending) {
            if bytes + state.encoded_len() > MOST_BYTES && bytes > 2 {
                context.broadcast(1, &std::mem::take(&mut message).encode());
                bytes = 2;
            }
            bytes += state.encoded_len();
            message.states.push(state);
        }
        if message != Message::default() {
            context.broadcast(1, &message.encode());
        }
    }

    /// Looks for lost neighbours and sends a HELLO.
    pub(super) fn hello(&mut self, context: &mut Context<'_>, reach: &Reach) {
        let now = context.now();
        self.hastened = false;
        for interface in 0..self.heard.len() {
            let is_silent = |at: SimTime| now.saturating_since(at) > self.patience;
            let is_lost =
                self.heard[interface].at.is_some_and(is_silent) || !context.has_carrier(interface);
            if is_lost {
                self.heard[interface] = Heard {
                    at: None,
                    hears_me: false,
                };
            }
        }
        self.update_own(context, reach);
        if self
            .sent_at
            .is_none_or(|at| now.saturating_since(at) >= self.refresh)
        {
            self.send_own(context);
            // Link states lapse without a message.
            self.is_stale = true;
        }
        let interfaces = context.interfaces().iter().enumerate();
        let mut heard: Vec<NodeId> = interfaces
            .filter(|&(interface, _)| self.heard[interface].at.is_some())
            .map(|(_, interface)| interface.peer)
            .collect();
        heard.sort_unstable();
        heard.dedup();
        self.flood(context, Some(heard));
        if let Some(timer) = self.hello_timer {
            let early = self.draw(self.interval / 4);
            context.set_timer(timer, now.saturating_add(self.interval - early));
        }
    }
}
