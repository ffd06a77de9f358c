//! A medium for tests of routing: each node has one radio and sends its frames one after the
//! other, without regard to others; each link delivers a frame with a probability of its own.

use std::collections::VecDeque;

use backlane_engine::{EventQueue, Stream, TimerId};
use backlane_net::{
    DropCause, Event, LinkId, Medium, MediumContext, MediumId, Network, NodeId, PacketId,
    QueueConfig, QueueDiscipline, QueueLimit,
};
use backlane_units::{Duration, Rate};

const ATTEMPTS: u32 = 7;
pub const RATE: Rate = Rate::from_bps(10_000_000);
/// Preamble, interframe spaces, acknowledgment.
const OVERHEAD: Duration = Duration::from_micros(300);

struct Radio {
    node: NodeId,
    up: bool,
    /// Link, far end, probability of delivery.
    links: Vec<(LinkId, NodeId, f64)>,
    queue: Box<dyn QueueDiscipline>,
    /// The links of the queued packets, `None` for a broadcast.
    targets: VecDeque<Option<LinkId>>,
    /// The packet being sent, and attempts so far.
    on_air: Option<(PacketId, Option<LinkId>, u32)>,
    timer: Option<TimerId>,
}

/// The medium.
pub struct Ether {
    radios: Vec<Radio>,
    down: Vec<LinkId>,
    stream: Stream,
}

impl Ether {
    /// Joins routers that are there, as the first medium. Links: two nodes and the
    /// probability of delivery there and back.
    pub fn join(
        network: &mut Network,
        events: &mut EventQueue<Event>,
        links: &[(u32, u32, [f64; 2])],
        stream: Stream,
    ) -> Box<dyn Medium> {
        let limit = QueueConfig::DropTail(QueueLimit::Packets(50));
        let medium = MediumId(0);
        let mut radios: Vec<Radio> = (0..network.node_count() as u32)
            .map(|node| Radio {
                node: NodeId(node),
                up: true,
                links: Vec::new(),
                queue: limit.build(RATE, Duration::ZERO),
                targets: VecDeque::new(),
                on_air: None,
                timer: None,
            })
            .collect();
        for &(a, b, [there, back]) in links {
            let (a, b) = (NodeId(a), NodeId(b));
            let ids = network.connect_over(events, medium, (a, 0), (b, 0), RATE);
            radios[a.index()].links.push((ids.0, b, there));
            radios[b.index()].links.push((ids.1, a, back));
        }
        let ether = Self {
            radios,
            down: Vec::new(),
            stream,
        };
        Box::new(ether)
    }

    fn take_in(
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
        radio
            .queue
            .enqueue(now, id, context.packets_mut(), &mut dropped);
        match dropped.pop() {
            Some(refused) => context.drop(refused, DropCause::Queue),
            None => radio.targets.push_back(target),
        }
        radio.serve(context);
    }
}

impl Radio {
    fn serve(&mut self, context: &mut MediumContext<'_>) {
        let now = context.now();
        let packets = context.packets_mut();
        if self.on_air.is_none()
            && let Some(id) = self.queue.dequeue(now, packets, &mut Vec::new())
        {
            let target = self.targets.pop_front().unwrap();
            self.on_air = Some((id, target, 0));
            self.attempt(context);
        }
        let waiting = self.queue.backlog_pkts() as u32;
        context.set_backlog(self.node, 0, waiting, self.on_air.is_some());
    }

    fn attempt(&mut self, context: &mut MediumContext<'_>) {
        if let Some((id, _, attempts)) = &mut self.on_air {
            *attempts += 1;
            let size = u64::from(context.packet(*id).size_bytes);
            let end = context.now() + OVERHEAD + RATE.transmission_time(size);
            context.set_timer(self.timer.unwrap(), end);
        }
    }
}

impl Medium for Ether {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        for (token, radio) in self.radios.iter_mut().enumerate() {
            radio.timer = Some(context.timer(token as u32));
        }
    }

    fn on_packet(&mut self, _: &mut MediumContext<'_>, _: NodeId, _: PacketId) {
        unreachable!("no host is attached");
    }

    fn on_frame(&mut self, context: &mut MediumContext<'_>, link: LinkId, id: PacketId) {
        let mut radios = self.radios.iter();
        let begins = |radio: &Radio| radio.links.iter().any(|(own, ..)| *own == link);
        let node = radios.position(begins).unwrap();
        self.take_in(context, node, id, Some(link));
    }

    fn on_broadcast(&mut self, context: &mut MediumContext<'_>, node: NodeId, _: u8, id: PacketId) {
        self.take_in(context, node.index(), id, None);
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        let node = token as usize;
        let (id, target, attempts) = self.radios[node].on_air.unwrap();
        let mut arrived = false;
        for index in 0..self.radios[node].links.len() {
            let (link, far, probability) = self.radios[node].links[index];
            let decoded = self.stream.bernoulli(probability)
                && self.radios[far.index()].up
                && !self.down.contains(&link);
            if target == Some(link) {
                arrived = decoded;
            } else if target.is_none() && decoded {
                context.overhear(link, id);
            }
        }
        match target {
            None => context.broadcast_sent(id),
            Some(_) if !arrived && attempts < ATTEMPTS => {
                self.radios[node].attempt(context);
                return;
            }
            Some(link) => {
                context.tx_status(link, attempts, arrived, RATE);
                if arrived {
                    context.receive(link, id);
                } else {
                    context.tx_failed(link, id);
                }
            }
        }
        self.radios[node].on_air = None;
        self.radios[node].serve(context);
    }

    fn held_pkts(&self) -> usize {
        let held = |radio: &Radio| radio.targets.len() + usize::from(radio.on_air.is_some());
        self.radios.iter().map(held).sum()
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
        context.cancel_timer(radio.timer.unwrap());
        let mut lost: Vec<PacketId> = radio.on_air.take().map(|(id, ..)| id).into_iter().collect();
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
}
