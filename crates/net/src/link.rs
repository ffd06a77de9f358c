//! One direction of a link: a wire, a link with a capacity trace, or a link over a medium.

use backlane_engine::{EventQueue, Stream, TimerId, prefetch};
use backlane_units::{Duration, Rate, SimTime};

use crate::capacity::Capacity;
use crate::counters::{LinkCounters, QueueCounters};
use crate::event::Event;
use crate::impairments::{ImpairmentConfig, Impairments};
use crate::packet::{LinkId, MediumId, NodeId, PacketId, PacketStore};
use crate::queue::QueueDiscipline;
use crate::queue::marking::Marking;
use crate::traced::Traced;
use crate::under_way::{Mark, UnderWay, Wire};

enum Queue {
    /// Drop-tail, first in, first out. The departure time is known on arrival, so waiting packets
    /// are the tail of `under_way` and need no event of their own.
    Fifo(Box<FifoLimits>),
    /// A discipline that chooses a packet when the transmitter becomes idle.
    Scheduled {
        discipline: Box<dyn QueueDiscipline>,
        idle: bool,
    },
    /// A transmitter that follows a capacity trace.
    Traced(Box<Traced>),
    /// A medium has the queue and the transmitter.
    Medium(Box<RadioLink>),
}

/// What a drop-tail queue refuses and marks; packets that meet an idle transmitter never ask.
struct FifoLimits {
    bytes: u64,
    pkts: u32,
    marking: Option<Marking>,
}

/// The state of a link direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkState {
    /// Packets pass.
    #[default]
    Up,
    /// No packet passes, and both ends still see a carrier.
    Silent,
    /// No packet passes, and there is no carrier.
    Down,
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
///
/// The first cache line has what an arrival needs, the second what a transmission needs that finds
/// the transmitter idle, the third the rest.
#[repr(C, align(64))]
pub struct Link {
    wire: Wire,
    /// The receiving node; [`NodeId::NONE`] if each packet's destination is the receiver (the
    /// downlink of a cell).
    pub to: NodeId,
    /// Packets of a FIFO that wait: the last ones on the wire.
    waiting: u32,
    /// Packets of a link to another region that have not been handed over: the last ones on the wire.
    fresh: u32,
    /// Whether the link leads to another region.
    leads_out: bool,

    /// When the transmitter has sent all packets whose departure is decided.
    free_at: SimTime,
    delay: Duration,
    queue: Queue,
    bytes: u64,
    packets: u64,
    /// Picoseconds per byte if that is a whole number that fits, else zero.
    ps_per_byte: u32,
    state: LinkState,
    impaired: bool,
    /// Whether the time on the wire varies: packets of a FIFO that wait are in the impairments.
    retimed: bool,

    /// The sending node.
    pub from: NodeId,
    transmit: TimerId,
    rate: Rate,
    /// Bytes that wait in a FIFO.
    backlog_bytes: u64,
    /// Boxed: few wires are impaired.
    impairments: Option<Box<Impairments>>,
    queued: QueueCounters,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Link>() == 192);
    assert!(std::mem::offset_of!(Link, free_at) == 64);
    assert!(std::mem::offset_of!(Link, from) == 128);
};

/// A packet at the far end of a wire.
pub(crate) struct Arrival {
    pub(crate) id: PacketId,
    /// The wire lost or duplicated it.
    pub(crate) mark: Mark,
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
        transmit: TimerId,
    ) -> Self {
        let queue = match discipline {
            Some(discipline) => Queue::Scheduled {
                discipline,
                idle: true,
            },
            None => {
                let (bytes, pkts) = fifo_limit.unwrap_or((u64::MAX, u32::MAX));
                Queue::Fifo(Box::new(FifoLimits {
                    bytes,
                    pkts,
                    marking: None,
                }))
            }
        };
        let eight_tera = 8 * Duration::from_secs(1).as_ps();
        let ps_per_byte = if eight_tera.is_multiple_of(rate.as_bps()) {
            u32::try_from(eight_tera / rate.as_bps()).unwrap_or(0)
        } else {
            0
        };
        Self {
            wire: Wire::new(),
            to,
            waiting: 0,
            fresh: 0,
            leads_out: false,
            free_at: SimTime::ZERO,
            delay,
            queue,
            bytes: 0,
            packets: 0,
            ps_per_byte,
            state: LinkState::Up,
            impaired: false,
            retimed: false,
            from,
            transmit,
            rate,
            backlog_bytes: 0,
            impairments: None,
            queued: QueueCounters::default(),
        }
    }

    /// Prefetches what an arrival needs.
    #[inline]
    pub(crate) fn prefetch_for_arrival(&self) {
        prefetch(&self.wire);
    }

    /// Prefetches what lies behind the record of an arrival.
    #[inline]
    pub(crate) fn prefetch_second(&self) {
        self.wire.prefetch_second();
    }

    /// Prefetches what a transmission needs.
    #[inline]
    pub(crate) fn prefetch_for_transmission(&self) {
        prefetch(&self.wire);
        prefetch(&self.free_at);
    }

    /// The first packet on the wire, or [`PacketId::NONE`].
    #[inline]
    pub(crate) fn first_pkt(&self) -> PacketId {
        self.wire.first().map_or(PacketId::NONE, |first| first.id)
    }

    /// The rate. With a capacity trace, that of a wire is the nominal one, and that of an access
    /// link the mean of the trace.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The capacity trace, if there is one, and when it begins.
    pub fn capacity(&self) -> Option<(&Capacity, SimTime)> {
        match &self.queue {
            Queue::Traced(traced) => Some(traced.capacity()),
            Queue::Fifo(_) | Queue::Scheduled { .. } | Queue::Medium(_) => None,
        }
    }

    /// Whether the link is over a medium, and no wire.
    pub fn is_over_medium(&self) -> bool {
        matches!(self.queue, Queue::Medium(_))
    }

    pub(crate) fn radio_link(&self) -> Option<RadioLink> {
        match &self.queue {
            Queue::Medium(link) => Some(**link),
            _ => None,
        }
    }

    pub(crate) fn set_radio_link(&mut self, link: RadioLink) {
        self.queue = Queue::Medium(Box::new(link));
    }

    #[inline]
    pub(crate) fn count_reception(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.packets += 1;
    }

    pub(crate) fn count_drop(&mut self) {
        self.queued.drops += 1;
    }

    /// The propagation delay.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Whether the link is up.
    #[inline]
    pub fn up(&self) -> bool {
        self.state == LinkState::Up
    }

    /// Whether its ends see a carrier.
    #[inline]
    pub fn has_carrier(&self) -> bool {
        self.state != LinkState::Down
    }

    /// The counters so far.
    pub fn counters(&self) -> LinkCounters {
        LinkCounters {
            bytes: self.bytes,
            packets: self.packets,
            drops: self.queued.drops,
            queue_max_bytes: self.queued.max_bytes,
            queue_area: self.queued.area,
        }
    }

    /// Packets that wait; the one in transmission does not count.
    #[inline]
    pub fn backlog_pkts(&mut self, now: SimTime) -> usize {
        self.advance(now);
        match &self.queue {
            Queue::Fifo(_) => self.waiting as usize,
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
            Queue::Fifo(_) => self.backlog_bytes,
            Queue::Scheduled { discipline, .. } => discipline.backlog_bytes(),
            Queue::Traced(traced) => traced.discipline().backlog_bytes(),
            Queue::Medium(_) => 0,
        }
    }

    /// Packets that the queue has marked.
    pub fn marks(&self) -> u64 {
        match &self.queue {
            Queue::Fifo(fifo) => fifo.marking.as_ref().map_or(0, Marking::marks),
            Queue::Scheduled { discipline, .. } => discipline.marks(),
            Queue::Traced(traced) => traced.discipline().marks(),
            Queue::Medium(_) => 0,
        }
    }

    /// Packets in the queue, in transmission and on the wire.
    pub fn held_pkts(&self) -> usize {
        let queued = match &self.queue {
            Queue::Fifo(_) | Queue::Medium(_) => 0,
            Queue::Scheduled { discipline, .. } => discipline.backlog_pkts(),
            Queue::Traced(traced) => traced.held_pkts(),
        };
        queued + self.wire.len()
    }

    /// When the first of the packets on the wire arrives, if there are any.
    pub(crate) fn first_arrival(&self) -> Option<SimTime> {
        Some(self.wire.first()?.arrival)
    }

    /// Packets on the wire, and those of a FIFO that wait.
    pub(crate) fn under_way_pkts(&self) -> usize {
        self.wire.len()
    }

    /// Marks packets that arrive at a FIFO with more than this backlog, in bytes or packets.
    pub(crate) fn set_marking(&mut self, threshold: (u64, u32)) {
        if let Queue::Fifo(fifo) = &mut self.queue {
            fifo.marking = Some(Marking::new(threshold));
        }
    }

    /// Replaces queue and transmitter by one that follows a capacity trace.
    pub(crate) fn set_traced(&mut self, traced: Traced) {
        self.queue = Queue::Traced(Box::new(traced));
    }

    pub(crate) fn set_loss(&mut self, probability: f64, stream: Stream) {
        self.impaired = true;
        let impairments = self.impairments.get_or_insert_default();
        impairments.set_loss(probability, stream);
    }

    pub(crate) fn set_impairments(
        &mut self,
        config: &ImpairmentConfig,
        stream: impl FnMut(&'static str) -> Stream,
    ) {
        self.impaired = true;
        let impairments = self.impairments.get_or_insert_default();
        impairments.set(config, stream);
        self.retimed = impairments.retimes();
    }

    /// Whether each packet arrives once, and after the delay.
    pub fn keeps_time(&self) -> bool {
        let repeats = |impairments: &Impairments| impairments.duplicates();
        !self.retimed && !self.impairments.as_deref().is_some_and(repeats)
    }

    #[inline]
    fn transmission_time(&self, size_bytes: u32) -> Duration {
        if self.ps_per_byte != 0 {
            Duration::from_ps(u64::from(self.ps_per_byte) * u64::from(size_bytes))
        } else {
            self.rate.transmission_time(u64::from(size_bytes))
        }
    }

    /// When the transmission of a packet of a FIFO starts, or has started.
    #[inline]
    fn start_of(&self, packet: UnderWay) -> SimTime {
        let under_way = self.transmission_time(packet.size_bytes()) + self.delay;
        SimTime::from_ps(packet.arrival.as_ps() - under_way.as_ps())
    }

    /// Updates the backlog: packets whose transmission has started by now do not wait.
    #[inline]
    fn advance(&mut self, now: SimTime) {
        if self.retimed {
            return self.advance_retimed(now);
        }
        while self.waiting > 0 {
            let next = self.wire.before_end(self.waiting as usize);
            if self.start_of(next) > now {
                break;
            }
            self.backlog_bytes -= u64::from(next.size_bytes());
            self.waiting -= 1;
        }
    }

    #[cold]
    fn advance_retimed(&mut self, now: SimTime) {
        let Some(impairments) = &mut self.impairments else {
            return;
        };
        while let Some(&(start, size_bytes)) = impairments.starts.front()
            && start <= now
        {
            impairments.starts.pop_front();
            self.backlog_bytes -= u64::from(size_bytes);
            self.waiting -= 1;
        }
    }

    /// Adds a packet. The caller drops a refused packet, and the packets in `dropped`, which the
    /// discipline dropped instead.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Enqueued {
        let now = events.now();
        if !self.up() {
            if self.is_over_medium() {
                return Enqueued::ForMedium;
            }
            self.queued.drops += 1;
            return Enqueued::Refused;
        }
        packets[id].queued_at = now;
        let size_bytes = packets[id].size_bytes;
        self.advance(now);
        match &mut self.queue {
            Queue::Fifo(limits) => {
                if self.free_at > now {
                    let waiting = self.waiting;
                    if self.backlog_bytes + u64::from(size_bytes) > limits.bytes
                        || waiting >= limits.pkts
                    {
                        self.queued.drops += 1;
                        return Enqueued::Refused;
                    }
                    if let Some(marking) = &mut limits.marking {
                        marking.on_arrival(self.backlog_bytes, waiting as usize, &mut packets[id]);
                    }
                    self.backlog_bytes += u64::from(size_bytes);
                    self.waiting += 1;
                    if self.retimed
                        && let Some(impairments) = &mut self.impairments
                    {
                        impairments.starts.push_back((self.free_at, size_bytes));
                    }
                    self.queued.max_bytes = self.queued.max_bytes.max(self.backlog_bytes);
                    let wait_ps = (self.free_at - now).as_ps();
                    self.queued.area += u128::from(size_bytes) * u128::from(wait_ps);
                }
                let start = self.free_at.max(now);
                self.send(events, link, start, id, size_bytes);
            }
            Queue::Scheduled { discipline, idle } => {
                discipline.enqueue(now, id, packets, dropped);
                self.queued.drops += dropped.len() as u64;
                if *idle {
                    self.serve(events, link, packets, dropped);
                } else {
                    let backlog_bytes = discipline.backlog_bytes();
                    self.queued.max_bytes = self.queued.max_bytes.max(backlog_bytes);
                }
            }
            Queue::Traced(traced) => {
                // Opportunities of this instant precede the packet.
                if traced.due().is_some_and(|due| due <= now) {
                    self.carry(events, link, packets, dropped);
                }
                if let Queue::Traced(traced) = &mut self.queue {
                    traced.enqueue(now, id, packets, dropped, &mut self.queued);
                    if traced.calls_now() {
                        events.set(self.transmit, now);
                    } else if let Some(due) = traced.due() {
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
        link: LinkId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let now = events.now();
        let (discipline, idle) = match &mut self.queue {
            Queue::Scheduled { discipline, idle } => (discipline, idle),
            Queue::Traced(_) => return self.carry(events, link, packets, dropped),
            Queue::Fifo(_) | Queue::Medium(_) => return,
        };
        let before = dropped.len();
        let next = discipline.dequeue(now, packets, dropped);
        self.queued.drops += (dropped.len() - before) as u64;
        *idle = next.is_none();
        if let Some(id) = next {
            let packet = &packets[id];
            let size_bytes = packet.size_bytes;
            self.queued.area +=
                u128::from(size_bytes) * u128::from((now - packet.queued_at).as_ps());
            self.send(events, link, now, id, size_bytes);
            events.set(self.transmit, self.free_at);
        }
    }

    /// Sends the packets that the trace has carried by now.
    fn carry(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        let now = events.now();
        while let Queue::Traced(traced) = &mut self.queue
            && let Some(id) = traced.carried(now, packets, dropped, &mut self.queued)
        {
            self.put_under_way(events, link, now, id, packets[id].size_bytes);
        }
        if let Queue::Traced(traced) = &self.queue {
            match traced.due() {
                Some(due) => events.set(self.transmit, due),
                None => events.cancel(self.transmit),
            }
        }
    }

    #[inline]
    fn send(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        start: SimTime,
        id: PacketId,
        size: u32,
    ) {
        self.free_at = start + self.transmission_time(size);
        self.put_under_way(events, link, self.free_at, id, size);
    }

    /// Adds a packet under way whose transmission ends at this time. `link` is this link.
    #[inline]
    fn put_under_way(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        end: SimTime,
        id: PacketId,
        size: u32,
    ) {
        self.bytes += u64::from(size);
        self.packets += 1;
        if self.leads_out {
            self.fresh += 1;
        }
        if self.impaired {
            return self.put_on_impaired(events, link, end, id, size);
        }
        let arrival = end + self.delay;
        self.push(events, link, UnderWay::new(arrival, id, size, Mark::None));
    }

    #[cold]
    fn put_on_impaired(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        end: SimTime,
        id: PacketId,
        size: u32,
    ) {
        let Some(impairments) = &mut self.impairments else {
            return;
        };
        let (arrival, mark) = impairments.fate(end, self.delay);
        self.queued.drops += u64::from(mark == Mark::Lost);
        let packet = UnderWay::new(arrival, id, size, mark);
        let first = self.wire.first();
        if let Some(first) = first
            && arrival < first.arrival
        {
            events.unschedule(first.arrival, link.0);
            events.schedule(arrival, link.0);
        } else if first.is_none() {
            events.schedule(arrival, link.0);
        }
        self.wire.insert(packet);
    }

    #[inline]
    fn push(&mut self, events: &mut EventQueue<Event>, link: LinkId, packet: UnderWay) {
        if self.wire.first().is_none() {
            events.schedule(packet.arrival, link.0);
        }
        self.wire.push(packet);
    }

    /// From now on this is the sending half of a link to another region.
    pub(crate) fn lead_out(&mut self) {
        self.leads_out = true;
    }

    #[inline]
    pub(crate) fn leads_out(&self) -> bool {
        self.leads_out
    }

    /// The number of packets that have entered the wire since the last call: the last ones on it.
    pub(crate) fn take_fresh(&mut self) -> usize {
        std::mem::take(&mut self.fresh) as usize
    }

    /// The packet on the wire that is `number` packets before the end; 1 is the last.
    pub(crate) fn before_end(&self, number: usize) -> UnderWay {
        self.wire.before_end(number)
    }

    /// The receiving half takes a packet from the sending half.
    pub(crate) fn take_over(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        packet: UnderWay,
    ) {
        self.push(events, link, packet);
    }

    /// The first packet under way arrives: removes the packet that arrives now.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
    ) -> Option<Arrival> {
        self.advance(events.now());
        let arrived = self.wire.pop()?;
        debug_assert_eq!(arrived.arrival, events.now());
        let next = self.wire.first();
        if let Some(next) = next {
            events.schedule(next.arrival, link.0);
        }
        Some(Arrival {
            id: arrived.id,
            mark: arrived.mark(),
            next: next.map(|next| next.id),
        })
    }

    /// When fewer than `pkts` packets wait, or for zero `pkts` when the transmitter is idle, if no
    /// packet is added.
    #[inline]
    pub(crate) fn ready_at(&mut self, now: SimTime, pkts: usize) -> SimTime {
        self.advance(now);
        match &self.queue {
            Queue::Fifo(_) if pkts == 0 => self.free_at.max(now),
            Queue::Fifo(_) if self.waiting as usize >= pkts => match &self.impairments {
                Some(impairments) if self.retimed => {
                    impairments.starts[self.waiting as usize - pkts].0
                }
                _ => self.start_of(self.wire.before_end(pkts)),
            },
            _ => now,
        }
    }

    /// Whether the queue is empty and the transmitter is idle.
    pub(crate) fn is_idle(&mut self, now: SimTime) -> bool {
        let waiting = self.backlog_pkts(now);
        match &self.queue {
            Queue::Scheduled { idle, .. } => *idle,
            Queue::Traced(traced) => traced.held_pkts() == 0,
            Queue::Fifo(_) | Queue::Medium(_) => waiting == 0 && self.free_at <= now,
        }
    }

    /// Calls the router when fewer than `pkts` packets wait, or for zero `pkts` when the transmitter
    /// is idle: by [`Event::Transmit`].
    pub(crate) fn await_room(&mut self, events: &mut EventQueue<Event>, pkts: usize) {
        let now = events.now();
        let at = match &mut self.queue {
            Queue::Traced(traced) => {
                if !traced.await_room(pkts) {
                    // The next departure is scheduled.
                    return;
                }
                now
            }
            _ => self.ready_at(now, pkts),
        };
        events.set(self.transmit, at);
    }

    /// Whether a traced link has the room that the router waits for.
    pub(crate) fn take_room(&mut self) -> bool {
        match &mut self.queue {
            Queue::Traced(traced) => traced.take_room(),
            _ => false,
        }
    }

    pub(crate) fn is_scheduled(&self) -> bool {
        !matches!(self.queue, Queue::Fifo(_))
    }

    /// Takes the link down or up. Packets in the queue and on the wire are lost when it goes down,
    /// and added to `dropped`.
    pub(crate) fn set_state(
        &mut self,
        events: &mut EventQueue<Event>,
        link: LinkId,
        state: LinkState,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        self.state = state;
        if self.up() {
            return;
        }
        let now = events.now();
        if let Some(first) = self.wire.first() {
            events.unschedule(first.arrival, link.0);
        }
        events.cancel(self.transmit);
        (self.free_at, self.fresh) = (now, 0);
        dropped.extend(self.wire.drain().map(|packet| packet.id));
        match &mut self.queue {
            Queue::Fifo(_) => {
                (self.backlog_bytes, self.waiting) = (0, 0);
                if let Some(impairments) = &mut self.impairments {
                    impairments.starts.clear();
                }
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
        self.queued.drops += dropped.len() as u64;
    }
}
