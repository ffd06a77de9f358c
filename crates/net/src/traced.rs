//! The queue and the transmitter of a link with a capacity trace.

use std::sync::Arc;

use backlane_units::{Duration, SimTime};

use crate::capacity::{Capacity, Cursor, Early};
use crate::counters::QueueCounters;
use crate::packet::{PacketId, PacketStore};
use crate::queue::QueueDiscipline;

/// A queue before a transmitter that follows a trace. It has no events while it is empty.
pub(crate) struct Traced {
    capacity: Arc<Capacity>,
    /// When the trace begins; before that, its first value holds.
    origin: SimTime,
    discipline: Box<dyn QueueDiscipline>,
    /// The packet in transmission, and its bytes not carried yet.
    in_service: Option<(PacketId, u64)>,
    /// Bytes left of the opportunities of this instant.
    budget_bytes: u64,
    /// The next opportunities, while the transmitter is busy.
    cursor: Cursor,
    state: State,
    /// The router waits until fewer packets than this wait, or for zero until none is held.
    awaited_pkts: Option<usize>,
    /// There was room when the router began to wait.
    calls_now: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The queue is empty.
    Idle,
    /// The time of the next opportunity, or of the end of the present transmission.
    Busy(SimTime),
    /// The trace has no more capacity.
    Ended,
}

impl Traced {
    pub(crate) fn new(
        capacity: Arc<Capacity>,
        origin: SimTime,
        discipline: Box<dyn QueueDiscipline>,
    ) -> Self {
        Self {
            capacity,
            origin,
            discipline,
            in_service: None,
            budget_bytes: 0,
            cursor: Cursor::default(),
            state: State::Idle,
            awaited_pkts: None,
            calls_now: false,
        }
    }

    pub(crate) fn discipline(&self) -> &dyn QueueDiscipline {
        self.discipline.as_ref()
    }

    /// The trace, and when it begins.
    pub(crate) fn capacity(&self) -> (&Capacity, SimTime) {
        (&self.capacity, self.origin)
    }

    /// Packets that wait or are in transmission.
    pub(crate) fn held_pkts(&self) -> usize {
        self.discipline.backlog_pkts() + usize::from(self.in_service.is_some())
    }

    /// The router waits until fewer than `pkts` packets wait, or for zero `pkts` until none is held.
    /// True if that is so already: it is then called in the next event, even if packets join the queue before.
    pub(crate) fn await_room(&mut self, pkts: usize) -> bool {
        self.awaited_pkts = Some(pkts);
        self.calls_now = self.has_room();
        self.calls_now
    }

    /// Whether the router is called in the next event.
    pub(crate) fn calls_now(&self) -> bool {
        self.calls_now
    }

    /// Whether the router is to be called; it then waits no longer.
    pub(crate) fn take_room(&mut self) -> bool {
        let calls = self.calls_now || self.has_room();
        if calls {
            (self.awaited_pkts, self.calls_now) = (None, false);
        }
        calls
    }

    fn has_room(&self) -> bool {
        match self.awaited_pkts {
            None => false,
            Some(0) => self.held_pkts() == 0,
            Some(pkts) => self.discipline.backlog_pkts() < pkts,
        }
    }

    /// When [`Traced::carried`] is to be called.
    pub(crate) fn due(&self) -> Option<SimTime> {
        match self.state {
            State::Busy(at) => Some(at),
            State::Idle | State::Ended => None,
        }
    }

    /// Adds a packet. Capacity until now was used before this call.
    pub(crate) fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
        counters: &mut QueueCounters,
    ) {
        let before = dropped.len();
        self.discipline.enqueue(now, id, packets, dropped);
        counters.drops += (dropped.len() - before) as u64;
        if self.state == State::Idle {
            self.begin(now, packets, dropped, counters);
        }
        let backlog_bytes = self.discipline.backlog_bytes();
        counters.max_bytes = counters.max_bytes.max(backlog_bytes);
    }

    /// The transmitter was idle, and the queue may have a packet.
    fn begin(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
        counters: &mut QueueCounters,
    ) {
        match &*self.capacity {
            Capacity::Opportunities(trace) => {
                // The packet leaves the queue at the next opportunity. One at this instant precedes
                // the packet.
                if self.discipline.backlog_pkts() > 0 {
                    self.cursor = Cursor::after(trace, now.saturating_since(self.origin));
                    self.await_opportunity();
                }
            }
            Capacity::Rates(_) => self.serve(now, packets, dropped, counters),
        }
    }

    /// Returns the next packet that has been carried by now, and starts the one after it.
    pub(crate) fn carried(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
        counters: &mut QueueCounters,
    ) -> Option<PacketId> {
        let capacity = self.capacity.clone();
        let Capacity::Opportunities(trace) = &*capacity else {
            if self.due()? > now {
                return None;
            }
            let carried = self.in_service.take().map(|(id, _)| id);
            self.serve(now, packets, dropped, counters);
            return carried;
        };
        loop {
            if self.budget_bytes == 0 {
                if self.due()? > now {
                    return None;
                }
                self.budget_bytes = match self.cursor.opportunities(trace) {
                    Some((_, bytes)) => bytes,
                    None => 0,
                };
                self.cursor = self.cursor.next(trace);
                self.await_opportunity();
            }
            if self.in_service.is_none() {
                self.in_service = self.take(now, packets, dropped, counters);
            }
            let Some((id, left)) = &mut self.in_service else {
                self.budget_bytes = 0;
                self.state = State::Idle;
                return None;
            };
            let used = self.budget_bytes.min(*left);
            self.budget_bytes -= used;
            *left -= used;
            if *left == 0 {
                let id = *id;
                self.in_service = None;
                if self.discipline.backlog_pkts() == 0 {
                    self.budget_bytes = 0;
                    self.state = State::Idle;
                }
                return Some(id);
            }
        }
    }

    /// Drops all packets.
    pub(crate) fn clear(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        dropped.extend(self.in_service.take().map(|(id, _)| id));
        let mut refused = Vec::new();
        while let Some(id) = self.discipline.dequeue(now, packets, &mut refused) {
            dropped.push(id);
        }
        dropped.append(&mut refused);
        self.budget_bytes = 0;
        self.state = State::Idle;
        (self.awaited_pkts, self.calls_now) = (None, false);
    }

    /// Starts the next packet on a trace of rates.
    fn serve(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
        counters: &mut QueueCounters,
    ) {
        self.in_service = self.take(now, packets, dropped, counters);
        let Capacity::Rates(trace) = &*self.capacity else {
            return;
        };
        self.state = match self.in_service {
            None => State::Idle,
            Some((_, bytes)) if now < self.origin => {
                // The first rate holds until the trace begins; the rest is carried by the trace.
                match trace.first_rate_carries(bytes, self.origin - now) {
                    Early::All(span) => State::Busy(now + span),
                    Early::Rest(rest_bytes) => {
                        let finish = trace.finish(Duration::ZERO, rest_bytes);
                        finish.map_or(State::Ended, |at| self.at(at))
                    }
                }
            }
            Some((_, bytes)) => {
                let finish = trace.finish(now.saturating_since(self.origin), bytes);
                finish.map_or(State::Ended, |at| self.at(at))
            }
        };
    }

    fn take(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
        counters: &mut QueueCounters,
    ) -> Option<(PacketId, u64)> {
        let before = dropped.len();
        let id = self.discipline.dequeue(now, packets, dropped);
        counters.drops += (dropped.len() - before) as u64;
        let packet = &packets[id?];
        counters.area +=
            u128::from(packet.size_bytes) * u128::from((now - packet.queued_at).as_ps());
        Some((id?, u64::from(packet.size_bytes)))
    }

    fn await_opportunity(&mut self) {
        let Capacity::Opportunities(trace) = &*self.capacity else {
            return;
        };
        let next = self.cursor.opportunities(trace);
        self.state = next.map_or(State::Ended, |(at, _)| self.at(at));
    }

    fn at(&self, since_origin: Duration) -> State {
        State::Busy(self.origin.saturating_add(since_origin))
    }
}
