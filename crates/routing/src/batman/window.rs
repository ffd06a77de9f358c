//! Sequence numbers: windows, means, and protection after a restart.

use backlane_units::{Duration, SimTime};

/// The sequence numbers that a window holds (`BATADV_TQ_LOCAL_WINDOW_SIZE`).
pub const WINDOW: i32 = 64;
/// A jump by this is a restart of the originator (`BATADV_EXPECTED_SEQNO_RANGE`).
const EXPECTED_RANGE: i32 = 65_536;
/// After a restart, no other is accepted for this time (`BATADV_RESET_PROTECTION_MS`).
const PROTECTION: Duration = Duration::from_secs(30);

/// Which of the last 64 sequence numbers arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window(u64);

impl Window {
    /// A number `step` after the newest one so far; it is set if it arrived here. Returns whether
    /// it is the newest now.
    pub fn slide(&mut self, step: i32, arrived: bool) -> bool {
        if step <= 0 && step > -WINDOW {
            self.0 |= u64::from(arrived) << -step;
            return false;
        }
        self.0 = match step {
            1..WINDOW => self.0 << step,
            _ => 0,
        } | u64::from(arrived);
        true
    }

    /// Whether the number `age` before the newest arrived.
    pub fn holds(self, age: i32) -> bool {
        (0..WINDOW).contains(&age) && self.0 >> age & 1 == 1
    }

    /// The number `age` before the newest arrived.
    pub fn mark(&mut self, age: i32) {
        if (0..WINDOW).contains(&age) {
            self.0 |= 1 << age;
        }
    }

    /// How many arrived.
    pub fn count(self) -> u8 {
        self.0.count_ones() as u8
    }
}

/// The last five transmit qualities (`BATADV_TQ_GLOBAL_WINDOW_SIZE`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    values: [u8; 5],
    next: u8,
}

impl Recent {
    /// Replaces the oldest.
    pub fn push(&mut self, value: u8) {
        self.values[usize::from(self.next)] = value;
        self.next = (self.next + 1) % 5;
    }

    /// The mean of those that are not zero.
    pub fn mean(&self) -> u8 {
        let heard = self.values.iter().filter(|value| **value != 0);
        let (sum, count) = heard.fold((0, 0), |(sum, count), value| {
            (sum + u16::from(*value), count + 1)
        });
        sum.checked_div(count).unwrap_or(0) as u8
    }
}

/// What a sequence number says of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// It continues its numbers.
    Continues,
    /// It has restarted.
    Restarted,
    /// It seems to have restarted again, too soon: the packet is ignored.
    Refused,
}

/// Protection against numbers that jump.
#[derive(Clone, Copy, Debug, Default)]
pub struct Protection(Option<SimTime>);

impl Protection {
    /// Judges a number `step` after the newest one; one that is older by `max_age` is a restart.
    pub fn judge(&mut self, now: SimTime, step: i32, max_age: i32) -> Sender {
        if step > -max_age && step < EXPECTED_RANGE {
            return Sender::Continues;
        }
        if self
            .0
            .is_some_and(|reset| now <= reset.saturating_add(PROTECTION))
        {
            return Sender::Refused;
        }
        self.0 = Some(now);
        Sender::Restarted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_counts_the_last_64_numbers() {
        let mut window = Window::default();
        for _ in 0..100 {
            assert!(window.slide(1, true));
        }
        assert_eq!(window.count(), 64);
        assert!(window.slide(16, false));
        assert_eq!(window.count(), 48);
        assert!(!window.slide(-3, true));
        assert!(window.holds(3) && !window.holds(2) && !window.holds(64));
        assert_eq!(window.count(), 49);
        assert!(window.slide(64, true));
        assert_eq!(window.count(), 1);
        assert!(window.slide(-64, false));
        assert_eq!(window.count(), 0);
    }

    #[test]
    fn five_zeros_and_not_four_make_the_mean_zero() {
        let mut recent = Recent::default();
        for value in [200, 210, 225, 240, 255] {
            recent.push(value);
        }
        assert_eq!(recent.mean(), 226);
        for _ in 0..4 {
            recent.push(0);
        }
        assert_eq!(recent.mean(), 255);
        recent.push(0);
        assert_eq!(recent.mean(), 0);
    }

    #[test]
    fn a_second_restart_within_30_s_is_refused() {
        let at = |s| SimTime::ZERO + Duration::from_secs(s);
        let mut protection = Protection::default();
        assert_eq!(protection.judge(at(0), 65_535, WINDOW), Sender::Continues);
        assert_eq!(protection.judge(at(0), -63, WINDOW), Sender::Continues);
        assert_eq!(protection.judge(at(1), -64, WINDOW), Sender::Restarted);
        assert_eq!(protection.judge(at(31), 65_536, WINDOW), Sender::Refused);
        assert_eq!(protection.judge(at(31), 1, WINDOW), Sender::Continues);
        assert_eq!(protection.judge(at(32), 65_536, WINDOW), Sender::Restarted);
    }
}
