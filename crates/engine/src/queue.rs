//! The event queue.
//!
//! Every source of events owns a *timer*: a slot that holds the event and its deadline. The calendar
//! holds at most one live entry per timer. Moving a deadline later does not touch the calendar: the
//! entry stays in place, and is reinserted when it comes first too early. Cancelling does not touch
//! it either. A retransmission timer that moves with every acknowledgment is therefore cheap.
//!
//! An event that never moves needs no timer: it has a *number*, and its entry is all that there is
//! of it ([`EventQueue::schedule`]).
//!
//! Events fire in the order of their times. Of one instant, numbered events come first, in the order
//! of their numbers, and timers after them, in the order in which their entries were inserted. The
//! order does not depend on the days of the calendar, nor on when a numbered event was scheduled: the
//! numbered events of a network may come from a queue of another thread.

use backlane_units::SimTime;

use crate::calendar::{Calendar, Entry};
use crate::prefetch::prefetch;

/// A timer of one [`EventQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(u32);

/// An event that may do without a timer. At most one of a number is scheduled at an instant.
pub trait Numbered: Copy {
    /// The event with this number.
    fn numbered(number: u32) -> Self;
}

/// The highest bit of an entry's order word is clear for an event that has a number, which is the rest
/// of the word, and set for a timer.
const TIMER: u64 = 1 << 63;
/// The lowest bits of a timer's order word name its slot, or the number of a numbered event: 16.7
/// million of each. What is left between counts 5.5·10¹¹ entries of timers.
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const MAX_SEQUENCE: u64 = 1 << (63 - SLOT_BITS);
/// No entry of the calendar belongs to the slot.
const NO_ENTRY: u64 = u64::MAX;

#[inline]
fn entry(time: SimTime, order: u64) -> Entry {
    u128::from(time.as_ps()) << 64 | u128::from(order)
}

struct Slot<E> {
    event: E,
    /// When it fires; [`SimTime::MAX`] while it is not armed.
    deadline: SimTime,
    /// The live entry: its time and order word, or [`NO_ENTRY`].
    entry_time: SimTime,
    entry_order: u64,
    /// The slot is released after it fired.
    once: bool,
}

/// Events in time order, with the clock that they drive.
pub struct EventQueue<E> {
    now: SimTime,
    /// The limit of the last [`EventQueue::pop`].
    until: SimTime,
    sequence: u64,
    fired: u64,
    calendar: Calendar,
    slots: Vec<Slot<E>>,
    free: Vec<u32>,
}

impl<E: Numbered> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Numbered> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self {
            now: SimTime::ZERO,
            until: SimTime::ZERO,
            sequence: 0,
            fired: 0,
            calendar: Calendar::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    /// The time of the event that fired last, or to which the clock was moved since.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Events fired since the start.
    pub fn fired(&self) -> u64 {
        self.fired
    }

    /// From the next review of the calendar on, a thousand coming events lie side by side.
    pub fn lengthen_days(&mut self) {
        self.calendar.lengthen_days();
    }

    /// The event that fires after `others` others, unless new ones come between; `None` where the
    /// calendar has not sorted them yet. A moved or cancelled timer may be among them.
    #[inline]
    pub fn coming(&self, others: usize) -> Option<E> {
        let order = self.calendar.coming(others)? as u64;
        let id = (order & SLOT_MASK) as u32;
        Some(if order & TIMER == 0 {
            E::numbered(id)
        } else {
            self.slots[id as usize].event
        })
    }

    /// Prefetches the timer of the event after `others` others, and a part of the calendar.
    #[inline]
    pub fn prefetch_coming(&mut self, others: usize) {
        self.calendar.prefetch_page();
        if let Some(entry) = self.calendar.coming(others) {
            let order = entry as u64;
            if order & TIMER != 0 {
                prefetch(&self.slots[(order & SLOT_MASK) as usize]);
            }
        }
    }

    /// A timer that yields `event` each time it fires. It is not armed.
    pub fn timer(&mut self, event: E) -> TimerId {
        self.slot(event, false)
    }

    /// Fires `event` once, at `at`. An instant in the past counts as now.
    pub fn once(&mut self, at: SimTime, event: E) {
        let id = self.slot(event, true);
        self.set(id, at);
    }

    /// Arms a timer, or moves its deadline. An instant in the past counts as now.
    #[inline]
    pub fn set(&mut self, id: TimerId, at: SimTime) {
        let at = at.max(self.now);
        let slot = &mut self.slots[id.0 as usize];
        slot.deadline = at;
        if slot.entry_order == NO_ENTRY || slot.entry_time > at {
            let order = TIMER | self.sequence << SLOT_BITS | u64::from(id.0);
            slot.entry_time = at;
            slot.entry_order = order;
            self.sequence += 1;
            assert!(
                self.sequence < MAX_SEQUENCE,
                "a run arms its timers at most 2^39 times"
            );
            self.calendar.insert(entry(at, order));
        }
    }

    /// Schedules the event with this number, which fires at `at`. An instant in the past counts as
    /// now.
    #[inline]
    pub fn schedule(&mut self, at: SimTime, number: u32) {
        debug_assert!(u64::from(number) <= SLOT_MASK);
        self.calendar
            .insert(entry(at.max(self.now), u64::from(number)));
    }

    /// Takes back what [`EventQueue::schedule`] scheduled for `at`, and has not fired.
    pub fn unschedule(&mut self, at: SimTime, number: u32) {
        self.calendar.remove(entry(at, u64::from(number)));
    }

    /// The time of the next entry: that of the next event, or earlier if a timer was moved or
    /// cancelled.
    pub fn next_entry(&mut self) -> Option<SimTime> {
        let first = self.calendar.first()?;
        Some(SimTime::from_ps((first >> 64) as u64))
    }

    /// Disarms a timer.
    #[inline]
    pub fn cancel(&mut self, id: TimerId) {
        self.slots[id.0 as usize].deadline = SimTime::MAX;
    }

    /// When a timer fires, if it is armed.
    pub fn deadline(&self, id: TimerId) -> Option<SimTime> {
        let deadline = self.slots[id.0 as usize].deadline;
        (deadline != SimTime::MAX).then_some(deadline)
    }

    /// Takes the next event and moves the clock to it; `None` when nothing is armed or the next
    /// event is later than `until` (the clock then does not move).
    #[inline]
    pub fn pop(&mut self, until: SimTime) -> Option<E> {
        self.until = until;
        loop {
            let first = self.calendar.first()?;
            let (time, order) = (SimTime::from_ps((first >> 64) as u64), first as u64);
            if time > until {
                return None;
            }
            self.calendar.remove_first();
            let id = (order & SLOT_MASK) as u32;
            if order & TIMER == 0 {
                self.fire(time);
                return Some(E::numbered(id));
            }
            let slot = &mut self.slots[id as usize];
            if slot.entry_order != order {
                // A later `set` to an earlier time replaced this entry.
                continue;
            }
            slot.entry_order = NO_ENTRY;
            if slot.deadline > time {
                let deadline = slot.deadline;
                if deadline != SimTime::MAX {
                    self.set(TimerId(id), deadline);
                }
                continue;
            }
            slot.deadline = SimTime::MAX;
            let event = slot.event;
            if slot.once {
                self.free.push(id);
            }
            self.fire(time);
            return Some(event);
        }
    }

    #[inline]
    fn fire(&mut self, at: SimTime) {
        assert!(at >= self.now, "time went back");
        self.now = at;
        self.fired += 1;
    }

    /// Advances the clock to `at` and counts an event, as if a timer with this deadline had fired
    /// next in [`EventQueue::pop`]. Returns false and changes nothing if another event may be due
    /// first, or `at` is beyond the limit of `pop`.
    #[inline]
    pub fn try_advance(&mut self, at: SimTime) -> bool {
        let first = self.calendar.first().unwrap_or(Entry::MAX);
        if at >= SimTime::from_ps((first >> 64) as u64) || at > self.until {
            return false;
        }
        self.fire(at);
        true
    }

    /// Moves the clock to `at` between two events, for a change from outside at that time. Everything
    /// due until then must have fired; an earlier time than now has no effect.
    pub fn advance(&mut self, at: SimTime) {
        self.now = self.now.max(at);
    }

    fn slot(&mut self, event: E, once: bool) -> TimerId {
        let slot = Slot {
            event,
            deadline: SimTime::MAX,
            entry_time: SimTime::MAX,
            entry_order: NO_ENTRY,
            once,
        };
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = slot;
            return TimerId(id);
        }
        let id = self.slots.len() as u64;
        assert!(id < SLOT_MASK, "a run has at most 2^24 timers");
        self.slots.push(slot);
        TimerId(id as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Numbered for u32 {
        fn numbered(number: u32) -> Self {
            number
        }
    }

    fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    fn drain(queue: &mut EventQueue<u32>) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| {
            queue
                .pop(SimTime::MAX)
                .map(|e| (queue.now().as_micros(), e))
        })
        .collect()
    }

    #[test]
    fn events_at_one_instant_leave_in_the_order_they_were_armed() {
        let mut queue = EventQueue::new();
        for event in 0..100 {
            queue.once(at(5), event);
        }
        let order: Vec<u32> = drain(&mut queue).into_iter().map(|(_, e)| e).collect();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_timer_moved_later_fires_once_at_the_later_time() {
        let mut queue = EventQueue::new();
        let timer = queue.timer(7);
        queue.set(timer, at(10));
        queue.set(timer, at(20));
        queue.once(at(15), 1);
        assert_eq!(drain(&mut queue), [(15, 1), (20, 7)]);
    }

    #[test]
    fn a_timer_moved_earlier_fires_once_at_the_earlier_time() {
        let mut queue = EventQueue::new();
        let timer = queue.timer(7);
        queue.set(timer, at(20));
        queue.set(timer, at(10));
        assert_eq!(drain(&mut queue), [(10, 7)]);
    }

    #[test]
    fn a_cancelled_timer_does_not_fire_and_can_be_armed_again() {
        let mut queue = EventQueue::new();
        let timer = queue.timer(7);
        queue.set(timer, at(10));
        queue.cancel(timer);
        assert_eq!(queue.deadline(timer), None);
        queue.once(at(12), 1);
        assert_eq!(drain(&mut queue), [(12, 1)]);
        queue.set(timer, at(30));
        assert_eq!(drain(&mut queue), [(30, 7)]);
    }

    #[test]
    fn a_deadline_in_the_past_fires_now() {
        let mut queue = EventQueue::new();
        queue.once(at(10), 1);
        queue.pop(SimTime::MAX);
        queue.once(at(3), 2);
        assert_eq!(drain(&mut queue), [(10, 2)]);
    }

    #[test]
    fn the_clock_advances_only_if_no_other_event_is_due_and_within_the_limit() {
        let mut queue = EventQueue::new();
        queue.once(at(10), 1);
        queue.once(at(20), 2);
        assert_eq!(queue.pop(at(18)), Some(1));
        assert!(queue.try_advance(at(15)));
        assert!(!queue.try_advance(at(19)), "later than allowed");
        assert_eq!((queue.now(), queue.fired()), (at(15), 2));
        assert_eq!(queue.pop(at(30)), Some(2));
        queue.once(at(25), 3);
        assert!(
            !queue.try_advance(at(25)),
            "another event is first at this instant"
        );
        assert!(queue.try_advance(at(24)));
        assert_eq!(drain(&mut queue), [(25, 3)]);
    }

    #[test]
    fn nothing_leaves_after_the_limit_and_the_clock_stands_still() {
        let mut queue = EventQueue::new();
        queue.once(at(10), 1);
        assert_eq!(queue.pop(at(9)), None);
        assert_eq!(queue.now(), SimTime::ZERO);
        assert_eq!(queue.pop(at(10)), Some(1));
    }

    proptest! {
        /// Times from picoseconds to months, far more entries than a review of the calendar needs,
        /// and bursts at one instant.
        #[test]
        fn events_of_any_period_fire_in_the_order_of_time_number_and_arming(
            periods in prop::collection::vec((0u32..62, 1u64..1000), 1..40),
            look_ahead in any::<bool>(),
        ) {
            let mut queue = EventQueue::new();
            if look_ahead {
                queue.lengthen_days();
            }
            let period = |(magnitude, fine): (u32, u64)| ((1u64 << magnitude) / 1000).max(1) * fine;
            let mut expected = std::collections::BTreeSet::new();
            let mut armed = 0u64;
            let mut arm = |queue: &mut EventQueue<u32>, expected: &mut std::collections::BTreeSet<_>, index: u32| {
                let at = queue.now().as_ps().saturating_add(period(periods[index as usize])).min(1 << 62);
                // A number is scheduled once at an instant.
                if armed.is_multiple_of(2) || expected.contains(&(at, u64::from(index), index)) {
                    queue.once(SimTime::from_ps(at), index);
                    expected.insert((at, TIMER + armed, index));
                } else {
                    queue.schedule(SimTime::from_ps(at), index);
                    expected.insert((at, u64::from(index), index));
                }
                armed += 1;
            };
            for index in 0..periods.len() as u32 {
                arm(&mut queue, &mut expected, index);
            }
            for _ in 0..30_000 {
                let event = queue.pop(SimTime::MAX);
                let first = expected.pop_first();
                prop_assert_eq!(event.map(|event| (queue.now().as_ps(), event)), first.map(|(at, _, index)| (at, index)));
                let Some(index) = event else { break };
                if queue.now().as_ps() < 1 << 61 {
                    arm(&mut queue, &mut expected, index);
                    let &(at, ..) = expected.last().unwrap();
                    queue.schedule(SimTime::from_ps(at), 40 + index);
                    queue.unschedule(SimTime::from_ps(at), 40 + index);
                }
            }
        }

        /// Against a model: a plain list of (deadline, arming order) per timer.
        #[test]
        fn any_mix_of_moves_and_cancels_fires_what_a_plain_list_would(
            actions in prop::collection::vec((0usize..8, 0u64..50, 0u8..5), 1..200)
        ) {
            let mut queue = EventQueue::new();
            let timers: Vec<TimerId> = (0..8).map(|i| queue.timer(i)).collect();
            let mut model: Vec<Option<u64>> = vec![None; 8];
            for (index, time, action) in actions {
                match action {
                    0 => {
                        queue.cancel(timers[index]);
                        model[index] = None;
                    }
                    4 => {
                        let fired = queue.fired();
                        let time = time.max(queue.now().as_micros());
                        let next = model.iter().flatten().min();
                        let went_on = queue.try_advance(at(time));
                        // The entry of a moved or cancelled deadline may still be in the calendar.
                        prop_assert!(!went_on || next.is_none_or(|&next| time < next));
                        prop_assert!(!went_on || queue.now() == at(time));
                        prop_assert_eq!(queue.fired(), fired + u64::from(went_on));
                    }
                    1 => {
                        let next = model.iter().flatten().min().copied();
                        let fired = queue.pop(SimTime::MAX);
                        prop_assert_eq!(fired.map(|_| queue.now().as_micros()), next);
                        if let Some(event) = fired {
                            prop_assert_eq!(model[event as usize], next);
                            model[event as usize] = None;
                        }
                    }
                    _ => {
                        let time = time.max(queue.now().as_micros());
                        queue.set(timers[index], at(time));
                        model[index] = Some(time);
                    }
                }
            }
            let mut rest: Vec<u64> = model.into_iter().flatten().collect();
            rest.sort_unstable();
            let times: Vec<u64> = drain(&mut queue).into_iter().map(|(t, _)| t).collect();
            prop_assert_eq!(times, rest);
        }
    }
}
