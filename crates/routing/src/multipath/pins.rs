//! The choices of pinned flows.

use backlane_units::{Duration, SimTime};

use crate::flow_map::FlowMap;

/// How long a choice holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    /// Until a longer gap between two packets.
    pub(super) gap: Duration,
    /// Until it reaches this age.
    pub(super) age: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Pin {
    interface: u32,
    chosen_at: SimTime,
    used_at: SimTime,
}

/// Choices by flow and direction.
#[derive(Default)]
pub(super) struct Pins(FlowMap<Pin>);

impl Pins {
    /// The interface that a flow chose, if the choice still holds. Records the use.
    #[inline]
    pub(super) fn get(&mut self, now: SimTime, key: u64, hold: Hold) -> Option<usize> {
        let pin = self.0.get_mut(&key)?;
        let gap = now - pin.used_at;
        pin.used_at = now;
        let old = hold.age.is_some_and(|age| now - pin.chosen_at >= age);
        (gap <= hold.gap && !old).then_some(pin.interface as usize)
    }

    /// Stores a flow's choice.
    pub(super) fn set(&mut self, now: SimTime, key: u64, interface: usize) {
        let pin = Pin {
            interface: interface as u32,
            chosen_at: now,
            used_at: now,
        };
        self.0.insert(key, pin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    fn hold(gap_ms: u64, age_ms: Option<u64>) -> Hold {
        Hold {
            gap: Duration::from_millis(gap_ms),
            age: age_ms.map(Duration::from_millis),
        }
    }

    #[test]
    fn a_choice_holds_while_packets_follow_within_the_gap() {
        let mut pins = Pins::default();
        let hold = hold(10, None);
        pins.set(at(0), 6, 2);
        for ms in [10, 20, 30] {
            assert_eq!(pins.get(at(ms), 6, hold), Some(2));
            assert_eq!(pins.get(at(ms), 7, hold), None, "the other direction");
        }
        assert_eq!(pins.get(at(41), 6, hold), None);
    }

    #[test]
    fn a_choice_in_use_ends_with_its_period() {
        let mut pins = Pins::default();
        let hold = hold(1000, Some(100));
        pins.set(at(50), 6, 2);
        assert_eq!(pins.get(at(149), 6, hold), Some(2));
        assert_eq!(pins.get(at(150), 6, hold), None);
        pins.set(at(150), 6, 1);
        assert_eq!(pins.get(at(249), 6, hold), Some(1));
    }
}
