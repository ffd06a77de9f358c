//! The router of TCP-aware backpressure.

use std::ops::Range;
use std::sync::Arc;

use backlane_engine::{Stream, TimerId};
use backlane_net::{
    Context, DropCause, FlowId, NodeId, Packet, PacketId, Reading, Router, RouterQueue,
};

use backlane_units::{Duration, Rate, SimTime};

use super::flows::{Flows, Waiting};
use super::neighbour::Neighbour;
use super::quality::Quality;
use super::report::message;
use super::{AckLinks, FlowLinks, NeighbourTies, Report, ReportsOn, TcpAwareConfig};
use crate::readings::{OVERFLOW_AT_SOURCE, OVERFLOW_IN_TRANSIT, TRAPPED_AREA, TRAPPED_PKTS};

const RETRY: u32 = 0;
const REPORT: u32 = 1;
const FORGET: u32 = 2;

/// The interval of the search for idle flows.
const FORGET_INTERVAL: Duration = Duration::from_secs(1);
/// Entries of a report on a data packet. A node with more flows reports them in turn.
const RIDING_ENTRIES: usize = 16;
/// On a link so fast that several packets leave within this time, only one of them carries a
/// report.
const RIDING_INTERVAL: Duration = Duration::from_millis(1);
/// Entries of a report in its own message: what an Ethernet frame holds.
const MOST_ENTRIES: usize = 350;
/// A packet that waits for longer than this at one node is trapped.
const TRAPPED: Duration = Duration::from_secs(10);

/// The part of a wait that counts in [`TRAPPED_AREA`].
fn trapped(waited: Duration) -> u128 {
    u128::from(waited.as_ps().saturating_sub(TRAPPED.as_ps()))
}

/// A transmitter: a wire, or a radio with all its neighbours.
struct Outlet {
    radio: Option<u8>,
    interfaces: Vec<usize>,
    /// Whether it was given a packet and has not called back since. It may be idle at this instant.
    /// All flows then compete for it when it calls, not only that of the first packet.
    busy: bool,
    /// When it last reported the queues, and which version of them.
    reported_at: SimTime,
    reported_version: u64,
    /// When it sends its own report, if no packet is sent before: while the queues are those of
    /// the last report, and once they have changed.
    due_unchanged: SimTime,
    due_changed: SimTime,
    /// The slot of the flow that the next report begins with.
    next: usize,
}

impl Outlet {
    /// Sets when it sends its own report. The interval is shorter by the share `jitter`, which
    /// keeps nodes from reporting in step.
    fn set_due(&mut self, config: &TcpAwareConfig, jitter: f64) {
        let after = |interval: Duration| {
            let wait = interval.as_secs_f64() * (1.0 - jitter);
            self.reported_at
                .saturating_add(Duration::from_secs_f64(wait))
        };
        (self.due_unchanged, self.due_changed) =
            (after(config.report_interval), after(config.report_idle));
    }
}

/// TCP-aware backpressure on one node.
pub struct TcpAware {
    config: TcpAwareConfig,
    links: Arc<FlowLinks>,
    jitter: Stream,
    flows: Flows,
    neighbours: Vec<Neighbour>,
    /// The number of the service in which each neighbour was last chosen.
    served: Vec<u64>,
    services: u64,
    outlets: Vec<Outlet>,
    /// The outlet of each interface.
    outlet_of: Vec<usize>,
    /// Counts the changes of the queues.
    version: u64,
    retry: Option<TimerId>,
    report: Option<TimerId>,
    forget: Option<TimerId>,
    forgetting: bool,
    /// Scratch of [`TcpAware::report`].
    buffer: Vec<u8>,
    /// Scratch of [`TcpAware::best`]: interfaces of equal weight, with their D.
    tied: Vec<(usize, i32)>,
    queue: RouterQueue,
    overflow_at_source: u64,
    overflow_in_transit: u64,
    /// Of the packets that have left, see [`TRAPPED_AREA`].
    trapped_area: u128,
}

impl TcpAware {
    /// A router. `links` gives the links that a flow may take; `jitter` keeps reports of several
    /// nodes out of step.
    pub fn new(config: TcpAwareConfig, links: Arc<FlowLinks>, jitter: Stream) -> Self {
        Self {
            config,
            links,
            jitter,
            flows: Flows::new(&config),
            neighbours: Vec::new(),
            served: Vec::new(),
            services: 0,
            outlets: Vec::new(),
            outlet_of: Vec::new(),
            version: 0,
            retry: None,
            report: None,
            forget: None,
            forgetting: false,
            buffer: Vec::new(),
            tied: Vec::new(),
            queue: RouterQueue::default(),
            overflow_at_source: 0,
            overflow_in_transit: 0,
            trapped_area: 0,
        }
    }

    /// The slot of a flow.
    #[inline]
    fn slot(&mut self, key: u64, now: SimTime) -> usize {
        match self.flows.slot(key) {
            Some(slot) => slot,
            None => self.add_flow(key, now),
        }
    }

    /// Adds a flow for all neighbours and returns its slot.
    #[cold]
    fn add_flow(&mut self, key: u64, now: SimTime) -> usize {
        let slot = self.flows.add(key, now);
        for neighbour in &mut self.neighbours {
            neighbour.open(slot);
        }
        slot
    }

    /// The interface of largest weight among those whose transmitter is idle, and the flow that has
    /// it. With `only`, only this flow competes.
    fn best(
        &mut self,
        context: &mut Context<'_>,
        among: Range<usize>,
        only: Option<usize>,
        acks_only: bool,
    ) -> Option<(usize, usize)> {
        let now = context.now();
        let mut most_weight = 0.0;
        self.tied.clear();
        for interface in among {
            let neighbour = &mut self.neighbours[interface];
            if now > neighbour.valid_until || self.outlets[self.outlet_of[interface]].busy {
                continue;
            }
            let reported = neighbour.reported_pkts();
            let differential = match only {
                Some(slot) => Some(self.flows.differential(slot, reported))
                    .filter(|&differential| differential > 0),
                None => self.flows.most(reported, acks_only),
            };
            let Some(differential) = differential else {
                continue;
            };
            let weight = f64::from(differential) * neighbour.quality.effective_bps(now);
            if weight > most_weight {
                most_weight = weight;
                self.tied.clear();
            }
            if weight == most_weight && weight > 0.0 {
                self.tied.push((interface, differential));
            }
        }
        let flow_of = |&(interface, differential): &(usize, i32)| {
            let reported = self.neighbours[interface].reported_pkts();
            only.or_else(|| self.flows.with(differential, reported, acks_only))
        };
        let least_recent = |&&(interface, _): &&(usize, i32)| self.served[interface];
        if let [first] = self.tied.as_slice() {
            return Some((first.0, flow_of(first)?));
        }
        match self.config.neighbour_ties {
            NeighbourTies::InTurn => {
                let tied = self.tied.iter().min_by_key(least_recent)?;
                Some((tied.0, flow_of(tied)?))
            }
            NeighbourTies::Nearest => {
                let flows = self.tied.iter().filter_map(flow_of);
                let slot = flows.min_by_key(|&slot| self.flows.served(slot))?;
                let has_it = |&&(interface, differential): &&(usize, i32)| {
                    let reported = self.neighbours[interface].reported_pkts();
                    self.flows.differential(slot, reported) == differential
                };
                let hops = |interface: usize| self.neighbours[interface].hops(slot);
                let its = self.tied.iter().filter(has_it);
                its.min_by_key(|tied| (hops(tied.0), least_recent(tied)))
                    .map(|tied| (tied.0, slot))
            }
        }
    }

    /// Sends on the idle ones among these interfaces, one packet each, until no D is positive.
    fn serve(&mut self, context: &mut Context<'_>, among: Range<usize>, only: Option<usize>) {
        while self.flows.may_be_chosen(only) {
            let acks = if self.config.ack_priority && only.is_none() {
                self.best(context, among.clone(), None, true)
            } else {
                None
            };
            let best = acks.or_else(|| self.best(context, among.clone(), only, false));
            let Some((interface, slot)) = best else {
                break;
            };
            self.services += 1;
            self.served[interface] = self.services;
            self.flows.serve(slot);
            let Some(waiting) = self.flows.pop_front(slot) else {
                break;
            };
            self.count_out(context, waiting);
            let outlet = self.outlet_of[interface];
            let now = context.now();
            let carries = match self.config.reports_on {
                ReportsOn::Data => !self.flows.get(slot).reverse,
                ReportsOn::All => true,
            };
            let since = self.outlets[outlet].reported_at;
            if carries && now >= since.saturating_add(RIDING_INTERVAL) {
                let message = self.report(now, outlet, RIDING_ENTRIES);
                context.transmit_with(interface, waiting.id, message);
            } else {
                context.transmit(interface, waiting.id);
            }
            context.notify_when_below(interface, 0);
            self.outlets[outlet].busy = true;
        }
        if self.flows.held_pkts() > 0
            && let Some(timer) = self.retry
        {
            context.set_timer(timer, context.now().saturating_add(self.config.retry));
        }
        self.arm_report(context);
    }

    /// Sets the links that the flow in `slot` may take.
    fn set_links(&mut self, here: NodeId, slot: usize, packet: &Packet) {
        let (source, exit) = (packet.source, packet.exit);
        let hops = |node: NodeId| self.links.hops(node, exit);
        let only = if packet.reverse && self.config.ack_links == AckLinks::ShortestPath {
            let nodes = self.neighbours.iter().map(|neighbour| neighbour.node);
            nodes.min_by_key(|&node| (hops(node), node.0))
        } else {
            None
        };
        for neighbour in &mut self.neighbours {
            let node = neighbour.node;
            let open = match only {
                Some(only) => node == only,
                None => self.links.may_take((source, exit), here, node),
            };
            neighbour.set_exit(slot, exit, open, hops(node));
        }
    }

    /// A packet has left its queue.
    fn count_out(&mut self, context: &Context<'_>, packet: Waiting) {
        let waited = context.now() - packet.since;
        let size_bytes = context.packet(packet.id).size_bytes;
        self.queue.backlog_pkts -= 1;
        self.queue.backlog_bytes -= u64::from(size_bytes);
        self.queue.area += u128::from(size_bytes) * u128::from(waited.as_ps());
        self.trapped_area += trapped(waited);
        self.version += 1;
    }

    /// The report that an outlet sends now.
    fn report(&mut self, now: SimTime, outlet: usize, most: usize) -> Arc<[u8]> {
        let outlet = &mut self.outlets[outlet];
        outlet.reported_at = now;
        outlet.reported_version = self.version;
        outlet.set_due(&self.config, self.jitter.uniform() / 4.0);
        let part = self.flows.backlogs(outlet.next, most);
        outlet.next = part.next;
        message(part.complete, part.entries, &mut self.buffer)
    }

    /// When an outlet sends its own report, if no packet is sent before.
    #[inline]
    fn due(&self, outlet: &Outlet) -> SimTime {
        if outlet.reported_version == self.version {
            outlet.due_unchanged
        } else {
            outlet.due_changed
        }
    }

    fn arm_report(&self, context: &mut Context<'_>) {
        let due = self.outlets.iter().map(|outlet| self.due(outlet)).min();
        if let (Some(due), Some(timer)) = (due, self.report) {
            context.set_timer(timer, due.max(context.now()));
        }
    }

    /// Sends reports on outlets that were silent for their report interval: one per neighbour on
    /// wires, one broadcast on radios.
    fn report_alone(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        for index in 0..self.outlets.len() {
            if now < self.due(&self.outlets[index]) {
                continue;
            }
            let message = self.report(now, index, MOST_ENTRIES);
            match self.outlets[index].radio {
                Some(radio) => context.broadcast_over(radio, 1, message),
                None => context.send_message(self.outlets[index].interfaces[0], message),
            }
            context.notify_when_below(self.outlets[index].interfaces[0], 0);
            self.outlets[index].busy = true;
        }
        self.arm_report(context);
    }

    fn arm_forget(&mut self, context: &mut Context<'_>) {
        if let Some(timer) = self.forget {
            context.set_timer(timer, context.now().saturating_add(FORGET_INTERVAL));
            self.forgetting = true;
        }
    }
}

impl Router for TcpAware {
    fn start(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let valid_until = now.saturating_add(self.config.neighbour_hold);
        for (index, interface) in context.interfaces().iter().enumerate() {
            let rate_bps = interface.rate.as_bps() as f64;
            self.neighbours.push(Neighbour::new(
                interface.peer,
                valid_until,
                Quality::new(self.config.quality, self.config.quality_window, rate_bps),
            ));
            let same = |outlet: &Outlet| outlet.radio.is_some() && outlet.radio == interface.radio;
            let outlet = self.outlets.iter().position(same).unwrap_or_else(|| {
                let mut outlet = Outlet {
                    radio: interface.radio,
                    interfaces: Vec::new(),
                    busy: false,
                    reported_at: now,
                    reported_version: 0,
                    due_unchanged: now,
                    due_changed: now,
                    next: 0,
                };
                outlet.set_due(&self.config, self.jitter.uniform());
                self.outlets.push(outlet);
                self.outlets.len() - 1
            });
            self.outlets[outlet].interfaces.push(index);
            self.outlet_of.push(outlet);
        }
        self.served = vec![0; self.neighbours.len()];
        self.retry = Some(context.timer(RETRY));
        self.report = Some(context.timer(REPORT));
        self.forget = Some(context.timer(FORGET));
        self.arm_report(context);
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let now = context.now();
        let packet = context.packet(id);
        let (key, size_bytes) = (packet.flow_key(), packet.size_bytes);
        let slot = self.slot(key, now);
        if self.flows.get(slot).exit != context.packet(id).exit {
            self.set_links(context.node(), slot, context.packet(id));
        }
        self.flows.push(slot, id, context.packet(id), now);
        self.queue.backlog_pkts += 1;
        self.queue.backlog_bytes += u64::from(size_bytes);
        self.queue.max_bytes = self.queue.max_bytes.max(self.queue.backlog_bytes);
        self.version += 1;
        if self.flows.held_pkts() > self.config.buffer_pkts {
            let longest = self.flows.longest(slot);
            if let Some(last) = self.flows.pop_back(longest) {
                self.count_out(context, last);
                self.queue.drops += 1;
                if self.flows.get(longest).at_source {
                    self.overflow_at_source += 1;
                } else {
                    self.overflow_in_transit += 1;
                }
                context.drop(last.id, DropCause::Queue);
            }
        }
        if !self.forgetting {
            self.arm_forget(context);
        }
        // Earlier packets have no positive D, or their transmitter is busy.
        self.serve(context, 0..self.neighbours.len(), Some(slot));
    }

    fn on_message(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        _ttl: u8,
        message: &[u8],
    ) {
        let Some((complete, entries)) = Report::read(message) else {
            return;
        };
        let now = context.now();
        self.neighbours[interface].valid_until = now.saturating_add(self.config.neighbour_hold);
        if complete {
            self.neighbours[interface].clear_backlogs();
        }
        for entry in entries {
            let slot = self.slot(u64::from(entry.key), now);
            if entry.pkts > 0 {
                self.flows.on_report(slot, now);
            }
            self.neighbours[interface].on_report(slot, entry.pkts);
        }
        if !self.forgetting {
            self.arm_forget(context);
        }
        self.serve(context, interface..interface + 1, None);
    }

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    ) {
        let quality = &mut self.neighbours[interface].quality;
        quality.add(context.now(), attempts, delivered, rate.as_bps() as f64);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        match token {
            REPORT => self.report_alone(context),
            FORGET => {
                self.flows.forget(context.now(), self.config.flow_idle);
                self.forgetting = false;
                if self.flows.any() {
                    self.arm_forget(context);
                }
                self.serve(context, 0..self.neighbours.len(), None);
            }
            _ => self.serve(context, 0..self.neighbours.len(), None),
        }
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, interface: usize) {
        let outlet = &mut self.outlets[self.outlet_of[interface]];
        outlet.busy = !context.device_is_idle(interface);
        if outlet.busy {
            context.notify_when_below(interface, 0);
            return;
        }
        if outlet.radio.is_none() {
            self.serve(context, interface..interface + 1, None);
        } else {
            self.serve(context, 0..self.neighbours.len(), None);
        }
    }

    fn shared_queue(&self) -> Option<RouterQueue> {
        Some(self.queue)
    }

    fn readings(&self, now: SimTime) -> Vec<Reading> {
        let waits = self.flows.waiting().map(|packet| now - packet.since);
        let trapped_pkts = waits.clone().filter(|&waited| waited > TRAPPED).count();
        let area = self.trapped_area + waits.map(trapped).sum::<u128>();
        vec![
            (OVERFLOW_AT_SOURCE, self.overflow_at_source.into()),
            (OVERFLOW_IN_TRANSIT, self.overflow_in_transit.into()),
            (TRAPPED_PKTS, trapped_pkts as u128),
            (TRAPPED_AREA, area),
        ]
    }

    fn flow_backlog_pkts(&self, flow: FlowId) -> u32 {
        self.flows.entered_here_pkts(flow)
    }
}
