//! A medium without contention.

use std::collections::VecDeque;

use backlane_engine::{EventQueue, Stream, TimerId};
use backlane_units::{Duration, Rate};

use crate::counters::DropCause;
use crate::event::Event;
use crate::medium::{Medium, MediumContext};
use crate::network::Network;
use crate::packet::{LinkId, MediumId, NodeId, PacketId};
use crate::queue::{QueueConfig, QueueDiscipline, QueuePlace};

/// Parameters of a [`Hub`].
#[derive(Clone, Debug)]
pub struct HubConfig {
    /// The nominal rate of the links.
    pub rate: Rate,
    /// The duration of an attempt, from the size of the packet in bytes.
    pub frame: fn(u32) -> Duration,
    /// Attempts at a packet for one neighbour.
    pub attempts: u32,
    /// The queue of each node.
    pub queue: QueueConfig,
}

/// Each node has one radio and sends its packets one after the other, without regard to other
/// nodes. A link delivers each attempt with a probability of its own. The other neighbours of a
/// sender overhear the last attempt.
pub struct Hub {
    config: HubConfig,
    /// By node.
    radios: Vec<Radio>,
    down: Vec<LinkId>,
    draws: Stream,
}

struct Radio {
    node: NodeId,
    up: bool,
    /// Link, far end, probability of delivery.
    links: Vec<(LinkId, NodeId, f64)>,
    queue: Box<dyn QueueDiscipline>,
    /// The links of the queued packets; `None` for a broadcast.
    targets: VecDeque<Option<LinkId>>,
    /// The packet in service, its link, and its attempts so far.
    in_service: Option<(PacketId, Option<LinkId>, u32)>,
    timer: Option<TimerId>,
}

impl Hub {
    /// Joins the routers of a network over the medium of this number. Links: two nodes, and the
    /// probabilities of delivery in both directions.
    pub fn connect(
        network: &mut Network,
        events: &mut EventQueue<Event>,
        medium: MediumId,
        links: &[(u32, u32, [f64; 2])],
        config: HubConfig,
        draws: Stream,
    ) -> Self {
        let mut radios: Vec<Radio> = (0..network.node_count() as u32)
            .map(|node| Radio {
                node: NodeId(node),
                up: true,
                links: Vec::new(),
                queue: config.queue.build(
                    config.rate,
                    Duration::ZERO,
                    QueuePlace::Radio(NodeId(0), 0),
                ),
                targets: VecDeque::new(),
                in_service: None,
                timer: None,
            })
            .collect();
        for &(a, b, [there, back]) in links {
            let (a, b) = (NodeId(a), NodeId(b));
            let ids = network.connect_over(events, medium, (a, 0), (b, 0), config.rate);
            radios[a.index()].links.push((ids.0, b, there));
            radios[b.index()].links.push((ids.1, a, back));
        }
        Self {
            config,
            radios,
            down: Vec::new(),
            draws,
        }
    }

    fn enqueue(
        &mut self,
        context: &mut MediumContext<'_>,
        node: usize,
        id: PacketId,
        target: Option<LinkId>,
    ) {
        let radio = &mut self.radios[node];
        if !radio.up {
            context.drop(id, DropCause::LinkDown);
            return;
        }
        let (now, mut dropped) = (context.now(), Vec::new());
        let packets = context.packets_mut();
        radio.queue.enqueue(now, id, packets, &mut dropped);
        match dropped.pop() {
            Some(refused) => context.drop(refused, DropCause::Queue),
            None => radio.targets.push_back(target),
        }
        self.serve(context, node);
    }

    fn serve(&mut self, context: &mut MediumContext<'_>, node: usize) {
        let radio = &mut self.radios[node];
        let now = context.now();
        let packets = context.packets_mut();
        if radio.in_service.is_none()
            && let Some(id) = radio.queue.dequeue(now, packets, &mut Vec::new())
            && let Some(target) = radio.targets.pop_front()
        {
            radio.in_service = Some((id, target, 0));
            self.attempt(context, node);
        }
        let radio = &self.radios[node];
        let waiting = radio.queue.backlog_pkts() as u32;
        context.set_backlog(radio.node, 0, waiting, radio.in_service.is_some());
    }

    fn attempt(&mut self, context: &mut MediumContext<'_>, node: usize) {
        let radio = &mut self.radios[node];
        if let (Some((id, _, attempts)), Some(timer)) = (&mut radio.in_service, radio.timer) {
            *attempts += 1;
            let frame = (self.config.frame)(context.packet(*id).size_bytes);
            context.set_timer(timer, context.now() + frame);
        }
    }
}

impl Medium for Hub {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        for (token, radio) in self.radios.iter_mut().enumerate() {
            radio.timer = Some(context.timer(token as u32));
        }
    }

    /// No host is attached.
    fn on_packet(&mut self, context: &mut MediumContext<'_>, _: NodeId, id: PacketId) {
        context.drop(id, DropCause::Radio);
    }

    fn on_frame(&mut self, context: &mut MediumContext<'_>, link: LinkId, id: PacketId) {
        let mut radios = self.radios.iter();
        let begins = |radio: &Radio| radio.links.iter().any(|(own, ..)| *own == link);
        match radios.position(begins) {
            Some(node) => self.enqueue(context, node, id, Some(link)),
            None => context.drop(id, DropCause::Radio),
        }
    }

    fn on_broadcast(&mut self, context: &mut MediumContext<'_>, node: NodeId, _: u8, id: PacketId) {
        self.enqueue(context, node.index(), id, None);
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        let node = token as usize;
        let Some((id, target, attempts)) = self.radios[node].in_service else {
            return;
        };
        let mut decoded = Vec::new();
        for &(link, far, probability) in &self.radios[node].links {
            let is_lucky = self.draws.bernoulli(probability);
            if is_lucky && self.radios[far.index()].up && !self.down.contains(&link) {
                decoded.push(link);
            }
        }
        let delivered = target.is_some_and(|link| decoded.contains(&link));
        if target.is_some() && !delivered && attempts < self.config.attempts {
            self.attempt(context, node);
            return;
        }
        if let Some(link) = target {
            context.tx_status(link, attempts, delivered, self.config.rate);
            if delivered {
                context.receive(link, id);
            } else {
                context.tx_failed(link, id);
            }
        }
        for link in decoded.into_iter().filter(|&link| target != Some(link)) {
            context.overhear(link, id);
        }
        if target.is_none() {
            context.broadcast_sent(id);
        }
        self.radios[node].in_service = None;
        self.serve(context, node);
    }

    fn withdraw(&mut self, context: &mut MediumContext<'_>, link: LinkId) {
        let mut radios = self.radios.iter_mut();
        let Some(radio) = radios.find(|radio| radio.links.iter().any(|(own, ..)| *own == link))
        else {
            return;
        };
        let now = context.now();
        for _ in 0..radio.targets.len() {
            let packets = context.packets_mut();
            let (Some(id), Some(target)) = (
                radio.queue.dequeue(now, packets, &mut Vec::new()),
                radio.targets.pop_front(),
            ) else {
                return;
            };
            if target == Some(link) {
                context.withdrawn(link, id);
            } else {
                radio.queue.enqueue(now, id, packets, &mut Vec::new());
                radio.targets.push_back(target);
            }
        }
        let waiting = radio.queue.backlog_pkts() as u32;
        context.set_backlog(radio.node, 0, waiting, radio.in_service.is_some());
    }

    fn set_link_up(&mut self, _: &mut MediumContext<'_>, link: LinkId, up: bool) {
        self.down.retain(|down| *down != link);
        if !up {
            self.down.push(link);
        }
    }

    fn set_node_up(&mut self, context: &mut MediumContext<'_>, node: NodeId, up: bool) {
        let radio = &mut self.radios[node.index()];
        radio.up = up;
        if let Some(timer) = radio.timer {
            context.cancel_timer(timer);
        }
        let mut lost: Vec<PacketId> = radio
            .in_service
            .take()
            .map(|(id, ..)| id)
            .into_iter()
            .collect();
        let (now, mut refused) = (context.now(), Vec::new());
        while let Some(id) = radio
            .queue
            .dequeue(now, context.packets_mut(), &mut refused)
        {
            lost.push(id);
        }
        radio.targets.clear();
        for id in lost {
            context.drop(id, DropCause::LinkDown);
        }
        context.set_backlog(node, 0, 0, false);
    }

    fn held_pkts(&self) -> usize {
        let held = |radio: &Radio| radio.targets.len() + usize::from(radio.in_service.is_some());
        self.radios.iter().map(held).sum()
    }
}
