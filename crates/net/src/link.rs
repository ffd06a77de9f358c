//! One direction of a link: a wire, a link with a capacity trace, or a link over a medium.

use std::collections::VecDeque;

use backlane_engine::{EventQueue, Order, Stream, TimerId};
use backlane_units::{Duration, Rate, SimTime};

use crate::capacity::Capacity;
use crate::counters::LinkCounters;
use crate::event::Event;
use crate::packet::{LinkId, MediumId, NodeId, PacketId, PacketStore};
use crate::queue::QueueDiscipline;
use crate::queue::marking::Marking;
use crate::traced::Traced;

/// A packet whose departure time is known, until its arrival.
#[derive(Clone, Copy)]
struct UnderWay {
    arrival: SimTime,
    /// When its transmission starts.
    start: SimTime,
    id: PacketId,
    size_bytes: u32,
    /// The wire loses it.
    lost: bool,
}

enum Queue {
    /// Drop-tail, first in, first out. The departure time is known on arrival, so waiting packets
    /// are the tail of `under_way` and need no event of their own.
    Fifo {
        limit_bytes: u64,
        limit_pkts: u32,
        backlog_bytes: u64,
        waiting: usize,
        /// Boxed: few queues mark.
        marking: Option<Box<Marking>>,
    },
    /// A discipline that chooses a packet when the transmitter becomes idle.
    Scheduled {
        discipline: Box<dyn QueueDiscipline>,
        idle: bool,
    },
    /// A transmitter that follows a capacity trace.
    Traced(Box<Traced>),
    /// A medium has the queue and the transmitter.
    Medium(RadioLink),
}

/// The ends of a link over a medium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RadioLink {
    pub(crate) medium: MediumId,
    /// The radio of the sending router.
    pub(crate) radio: u8,
    /// The sending router, and its interface.
    pub(crate) near: (NodeId, u16),
    /// The receiving router, and its interface.
    pub(crate) far: (NodeId, u16),
}

/// One direction of a link: a queue, a transmitter, and packets under way.
pub struct Link {
    /// The sending node.
    pub from: NodeId,
    /// The receiving node; [`NodeId::NONE`] if each packet's destination is the receiver (the
    /// downlink of a cell).
    pub to: NodeId,
    rate: Rate,
    /// Picoseconds per byte if that is a whole number, else zero.
    ps_per_byte: u64,
    delay: Duration,
    queue: Queue,
    under_way: VecDeque<UnderWay>,
    /// When the transmitter has sent all packets whose departure is decided.
    free_at: SimTime,
    /// Boxed: few wires lose packets, and a link should fill few cache lines.
    loss: Option<Box<(f64, Stream)>>,
    up: bool,
    id: LinkId,
    /// The scheduled arrival of the first packet under way.
    arrival: Order,
    transmit: TimerId,
    counters: LinkCounters,
}

/// A packet at the far end of a wire.
pub(crate) struct Arrival {
    pub(crate) id: PacketId,
    /// The wire lost it.
    pub(crate) lost: bool,
    /// The packet that will arrive after it.
    pub(crate) next: Option<PacketId>,
}

/// The result of [`Link::enqueue`].
pub(crate) enum Enqueued {
    Accepted,
    Refused,
    /// The caller gives the packet to the link's medium.
    ForMedium,
}

impl Link {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        from: NodeId,
        to: NodeId,
        rate: Rate,
        delay: Duration,
        fifo_limit: Option<(u64, u32)>,
        discipline: Option<Box<dyn QueueDiscipline>>,
        id: LinkId,
        transmit: TimerId,
    ) -> Self {
        let queue = match discipline {
            Some(discipline) => Queue::Scheduled {
                discipline,
                idle: true,
            },
            None => {
                let (limit_bytes, limit_pkts) = fifo_limit.unwrap_or((u64::MAX, u32::MAX));
                Queue::Fifo {
                    limit_bytes,
                    limit_pkts,
                    backlog_bytes: 0,
                    waiting: 0,
                    marking: None,
                }
            }
        };
        let eight_tera = 8 * Duration::from_secs(1).as_ps();
        let ps_per_byte = if eight_tera.is_multiple_of(rate.as_bps()) {
            eight_tera / rate.as_bps()
        } else {
            0
        };
        Self {
            from,
            to,
            rate,
            ps_per_byte,
            delay,
            queue,
            under_way: VecDeque::new(),
            free_at: SimTime::ZERO,
            loss: None,
            up: true,
            id,
            arrival: Order::default(),
            transmit,
            counters: LinkCounters::default(),
        }
    }

    /// The rate; with a capacity trace, its mean.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The capacity trace, if there is one, and when it begins.
    pub fn capacity(&self) -> Option<(&Capacity, SimTime)> {
        match &self.queue {
            Queue::Traced(traced) => Some(traced.capacity()),
            Queue::Fifo { .. } | Queue::Scheduled { .. } | Queue::Medium(_) => None,
        }
    }

    /// Whether the link is over a medium, and no wire.
    pub fn is_over_medium(&self) -> bool {
        matches!(self.queue, Queue::Medium(_))
    }

    pub(crate) fn radio_link(&self) -> Option<RadioLink> {
        match &self.queue {
            Queue::Medium(link) => Some(*link),
            _ => None,
        }
    }

    pub(crate) fn set_radio_link(&mut self, link: RadioLink) {
        self.queue = Queue::Medium(link);
    }

    #[inline]
    pub(crate) fn count_reception(&mut self, bytes: u32) {
        self.counters.bytes += u64::from(bytes);
        self.counters.packets += 1;
    }

    pub(crate) fn count_drop(&mut self) {
        self.counters.drops += 1;
    }

    /// The propagation delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Whether the link is up.
    #[inline]
    pub fn up(&self) -> bool {
        self.up
    }

    /// The counters so far.
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// Packets that wait; the one in transmission does not count.
    #[inline]
    pub fn backlog_pkts(&mut self, now: SimTime) -> usize {
        self.advance(now);
        match &self.queue {
            Queue::Fifo { waiting, .. } => *waiting,
            Queue::Scheduled { discipline, .. } => discipline.backlog_pkts(),
            Queue::Traced(traced) => traced.discipline().backlog_pkts(),
            Queue::Medium(_) => 0,
        }
    }

    /// Bytes that wait; the packet in transmission does not count.
    #[inline]
    pub fn backlog_bytes(&mut self, now: SimTime) -> u64 {
        self.advance(now);
        match &self.queue {
            Queue::Fifo { backlog_bytes, .. } => *backlog_bytes,
            Queue::Scheduled { discipline, .. } => discipline.backlog_bytes(),
            Queue::Traced(traced) => traced.discipline().backlog_bytes(),
            Queue::Medium(_) => 0,
        }
    }

    /// Packets that the queue has marked.
    pub fn marks(&self) -> u64 {
        match &self.queue {
            Queue::Fifo { marking, .. } => marking.as_ref().map_or(0, |marking| marking.marks()),
            Queue::Scheduled { discipline, .. } => discipline.marks(),
            Queue::Traced(traced) => traced.discipline().marks(),
            Queue::Medium(_) => 0,
        }
    }

    /// Packets in the queue, in transmission and on the wire.
    pub fn held_pkts(&self) -> usize {
        let queued = match &self.queue {
            Queue::Fifo { .. } | Queue::Medium(_) => 0,
            Queue::Scheduled { discipline, .. } => discipline.backlog_pkts(),
            Queue::Traced(traced) => traced.held_pkts(),
        };
        queued + self.under_way.len()
    }

    /// Marks packets that arrive at a FIFO with more than this backlog, in bytes or packets.
    pub(crate) fn set_marking(&mut self, threshold: (u64, u32)) {
        if let Queue::Fifo { marking, .. } = &mut self.queue {
            *marking = Some(Box::new(Marking::new(threshold)));
        }
    }

    /// Replaces queue and transmitter by one that follows a capacity trace.
    pub(crate) fn set_traced(&mut self, traced: Traced) {
        self.queue = Queue::Traced(Box::new(traced));
    }

    pub(crate) fn set_loss(&mut self, probability: f64, stream: Stream) {
        self.loss = Some(Box::new((probability, stream)));
    }

    #[inline]
    fn transmission_time(&self, size_bytes: u32) -> Duration {
        if self.ps_per_byte != 0 {
            Duration::from_ps(self.ps_per_byte * u64::from(size_bytes))
        } else {
            self.rate.transmission_time(u64::from(size_bytes))
        }
    }

    /// Updates the backlog: packets whose transmission has started by now do not wait.
    #[inline]
    fn advance(&mut self, now: SimTime) {
        if let Queue::Fifo {
            backlog_bytes,
            waiting,
            ..
        } = &mut self.queue
        {
            while *waiting > 0 {
                let next = &self.under_way[self.under_way.len() - *waiting];
                if next.start > now {
                    break;
                }
                *backlog_bytes -= u64::from(next.size_bytes);
                *waiting -= 1;
            }
        }
    }

    /// Adds a packet. The caller drops a refused packet, and the packets in `dropped`, which the
    /// discipline dropped instead.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        events: &mut EventQueue<Event>,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Enqueued {
        let now = events.now();
        if !self.up {
            if self.is_over_medium() {
                return Enqueued::ForMedium;
            }
            self.counters.drops += 1;
            return Enqueued::Refused;
        }
        packets[id].queued_at = now;
        let size_bytes = packets[id].size_bytes;
        self.advance(now);
        match &mut self.queue {
            Queue::Fifo {
                limit_bytes,
                limit_pkts,
                backlog_bytes,
                waiting,
                marking,
            } => {
                if self.free_at > now {
                    if *backlog_bytes + u64::from(size_bytes) > *limit_bytes
                        || *waiting >= *limit_pkts as usize
                    {
                        self.counters.drops += 1;
                        return Enqueued::Refused;
                    }
                    if let Some(marking) = marking {
                        marking.on_arrival(*backlog_bytes, *waiting, &mut packets[id]);
                    }
                    *backlog_bytes += u64::from(size_bytes);
                    *waiting += 1;
                    self.counters.queue_max_bytes =
                        self.counters.queue_max_bytes.max(*backlog_bytes);
                    self.counters.queue_area +=
                        u128::from(size_bytes) * u128::from((self.free_at - now).as_ps());
                }
                let start = self.free_at.max(now);
                self.send(events, start, id, size_bytes);
            }
            Queue::Scheduled { discipline, idle } => {
                discipline.enqueue(now, id, packets, dropped);
                self.counters.drops += dropped.len() as u64;
                if *idle {
                    self.serve(events, packets, dropped);
                } else {
                    let backlog_bytes = discipline.backlog_bytes();
                    self.counters.queue_max_bytes =
                        self.counters.queue_max_bytes.max(backlog_bytes);
                }
            }
            Queue::Traced(traced) => {
                // Opportunities of this instant precede the packet.
                if traced.due().is_some_and(|due| due <= now) {
                    self.carry(events, packets, dropped);
                }
                if let Queue::Traced(traced) = &mut self.queue {
                    traced.enqueue(now, id, packets, dropped, &mut self.counters);
                    if let Some(due) = traced.due() {
                        events.set(self.transmit, due);
                    }
                }
            }
            Queue::Medium(_) => return Enqueued::ForMedium,
        }
        Enqueued::Accepted
    }

    /// The transmitter of a scheduled link is idle: sends the next packet.
    pub(crate) fn serve(
        &mut self,
        events: &mut EventQueue<Event>,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let now = events.now();
        let (discipline, idle) = match &mut self.queue {
            Queue::Scheduled { discipline, idle } => (discipline, idle),
            Queue::Traced(_) => return self.carry(events, packets, dropped),
            Queue::Fifo { .. } | Queue::Medium(_) => return,
        };
        let before = dropped.len();
        let next = discipline.dequeue(now, packets, dropped);
        self.counters.drops += (dropped.len() - before) as u64;
        *idle = next.is_none();
        if let Some(id) = next {
            let packet = &packets[id];
            let size_bytes = packet.size_bytes;
            self.counters.queue_area +=
                u128::from(size_bytes) * u128::from((now - packet.queued_at).as_ps());
            self.send(events, now, id, size_bytes);
            events.set(self.transmit, self.free_at);
        }
    }

    /// Sends the packets that the trace has carried by now.
    fn carry(
        &mut self,
        events: &mut EventQueue<Event>,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let now = events.now();
        while let Queue::Traced(traced) = &mut self.queue
            && let Some(id) = traced.carried(now, packets, dropped, &mut self.counters)
        {
            self.put_under_way(events, now, now, id, packets[id].size_bytes);
        }
        if let Queue::Traced(traced) = &self.queue {
            match traced.due() {
                Some(due) => events.set(self.transmit, due),
                None => events.cancel(self.transmit),
            }
        }
    }

    #[inline]
    fn send(&mut self, events: &mut EventQueue<Event>, start: SimTime, id: PacketId, size: u32) {
        self.free_at = start + self.transmission_time(size);
        self.put_under_way(events, start, self.free_at, id, size);
    }

    /// Adds a packet under way whose transmission starts and ends at these times.
    #[inline]
    fn put_under_way(
        &mut self,
        events: &mut EventQueue<Event>,
        start: SimTime,
        end: SimTime,
        id: PacketId,
        size: u32,
    ) {
        let arrival = end + self.delay;
        let lost = match &mut self.loss {
            Some(loss) => loss.1.bernoulli(loss.0),
            None => false,
        };
        self.counters.bytes += u64::from(size);
        self.counters.packets += 1;
        self.counters.drops += u64::from(lost);
        if self.under_way.is_empty() {
            self.arrival = events.schedule(arrival, self.id.0);
        }
        self.under_way.push_back(UnderWay {
            arrival,
            start,
            id,
            size_bytes: size,
            lost,
        });
    }

    /// The first packet under way arrives: removes the packet that arrives now.
    #[inline]
    pub(crate) fn arrive(&mut self, events: &mut EventQueue<Event>) -> Option<Arrival> {
        self.advance(events.now());
        let arrived = self.under_way.pop_front()?;
        debug_assert_eq!(arrived.arrival, events.now());
        let next = self.under_way.front();
        if let Some(next) = next {
            self.arrival = events.schedule(next.arrival, self.id.0);
        }
        Some(Arrival {
            id: arrived.id,
            lost: arrived.lost,
            next: next.map(|next| next.id),
        })
    }

    /// When fewer than `pkts` packets wait, or for zero `pkts` when the transmitter is idle, if no
    /// packet is added.
    #[inline]
    pub(crate) fn ready_at(&mut self, now: SimTime, pkts: usize) -> SimTime {
        self.advance(now);
        match &self.queue {
            Queue::Fifo { .. } if pkts == 0 => self.free_at.max(now),
            Queue::Fifo { waiting, .. } if *waiting >= pkts => {
                self.under_way[self.under_way.len() - pkts].start
            }
            _ => now,
        }
    }

    /// Whether the queue is empty and the transmitter is idle.
    pub(crate) fn is_idle(&mut self, now: SimTime) -> bool {
        let waiting = self.backlog_pkts(now);
        match &self.queue {
            Queue::Scheduled { idle, .. } => *idle,
            Queue::Traced(traced) => traced.held_pkts() == 0,
            Queue::Fifo { .. } | Queue::Medium(_) => waiting == 0 && self.free_at <= now,
        }
    }

    pub(crate) fn transmit_timer(&self) -> TimerId {
        self.transmit
    }

    pub(crate) fn is_scheduled(&self) -> bool {
        !matches!(self.queue, Queue::Fifo { .. })
    }

    /// Takes the link down or up. Packets in the queue and on the wire are lost when it goes down,
    /// and added to `dropped`.
    pub(crate) fn set_up(
        &mut self,
        events: &mut EventQueue<Event>,
        up: bool,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        self.up = up;
        if up {
            return;
        }
        let now = events.now();
        if let Some(first) = self.under_way.front() {
            events.unschedule(first.arrival, self.arrival);
        }
        events.cancel(self.transmit);
        self.free_at = now;
        dropped.extend(self.under_way.drain(..).map(|entry| entry.id));
        match &mut self.queue {
            Queue::Fifo {
                backlog_bytes,
                waiting,
                ..
            } => {
                *backlog_bytes = 0;
                *waiting = 0;
            }
            Queue::Scheduled { discipline, idle } => {
                let mut refused = Vec::new();
                while let Some(id) = discipline.dequeue(now, packets, &mut refused) {
                    dropped.push(id);
                }
                dropped.append(&mut refused);
                *idle = true;
            }
            Queue::Traced(traced) => traced.clear(now, packets, dropped),
            Queue::Medium(_) => {}
        }
        self.counters.drops += dropped.len() as u64;
    }
}
