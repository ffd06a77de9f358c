//! How far deliveries are behind the wall clock.

use backlane_engine::histogram::Histogram;
use backlane_units::Duration;

/// A delivery, or an event of the simulation, later than this is late.
pub const LATE: Duration = Duration::from_millis(10);
/// A model that was late is in time again when an event is at most this late: one whose input is held
/// back stays near [`LATE`].
pub const IN_TIME: Duration = Duration::from_millis(1);
/// A model that is late for longer than this does not keep up.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// The lateness of deliveries, and the time for which the model was late without a pause.
///
/// The two are separate: the histogram has the deliveries to hosts, and [`Lateness::note_event`] sees
/// every event of the simulation, since a model that is too slow may deliver nothing at all.
#[derive(Debug, Default)]
pub struct Lateness {
    deliveries: Histogram,
    late_deliveries: u64,
    /// When the present period began in which the model was late.
    late_since: Option<Duration>,
    /// The end of the last late event, and whether the present period was counted.
    behind: bool,
    periods: u64,
    behind_for: Duration,
    counted_until: Duration,
    worst: Duration,
}

impl Lateness {
    /// Nothing has happened yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A packet was delivered `late` after its simulated time.
    pub fn note_delivery(&mut self, late: Duration) {
        self.deliveries.add(late);
        self.late_deliveries += u64::from(late > LATE);
    }

    /// An event was handled at the wall clock's `now`, `late` after its simulated time. True if the
    /// model has now been late for longer than [`PATIENCE`]: once for each such period, which begins
    /// with an event later than [`LATE`] and ends with one no later than [`IN_TIME`].
    pub fn note_event(&mut self, now: Duration, late: Duration) -> bool {
        self.worst = self.worst.max(late);
        if late <= IN_TIME {
            self.late_since = None;
            self.behind = false;
            return false;
        }
        if late > LATE && self.late_since.is_none() {
            self.late_since = Some(now);
        }
        let Some(since) = self.late_since else {
            return false;
        };
        let begins = !self.behind && now.saturating_sub(since) > PATIENCE;
        if begins {
            self.behind = true;
            self.periods += 1;
            self.counted_until = since;
        }
        if self.behind {
            self.behind_for = self
                .behind_for
                .saturating_add(now.saturating_sub(self.counted_until));
            self.counted_until = now;
        }
        begins
    }

    /// The lateness of deliveries.
    pub fn deliveries(&self) -> &Histogram {
        &self.deliveries
    }

    /// Deliveries that were late by more than [`LATE`].
    pub fn late_deliveries(&self) -> u64 {
        self.late_deliveries
    }

    /// The largest lateness of an event.
    pub fn worst(&self) -> Duration {
        self.worst
    }

    /// Periods in which the model did not keep up, and their length together.
    pub fn behind(&self) -> (u64, Duration) {
        (self.periods, self.behind_for)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_stall_shorter_than_a_second_is_no_warning() {
        let mut lateness = Lateness::new();
        for at in 0..=1000 {
            assert!(!lateness.note_event(ms(at), ms(100)), "{at}");
        }
        lateness.note_event(ms(1001), ms(1));
        assert_eq!(lateness.behind(), (0, Duration::ZERO));
        assert_eq!(lateness.worst(), ms(100));
    }

    #[test]
    fn a_model_that_is_late_for_more_than_a_second_warns_once() {
        let mut lateness = Lateness::new();
        let warned: Vec<u64> = (0..3000)
            .filter(|&at| lateness.note_event(ms(at), ms(11)))
            .collect();
        assert_eq!(warned, [1001]);
        assert_eq!(lateness.behind(), (1, ms(2999)));
    }

    #[test]
    fn one_event_in_time_ends_a_period() {
        let mut lateness = Lateness::new();
        let mut warnings = 0;
        for at in 0..4000 {
            let late = if at == 2000 { ms(1) } else { ms(11) };
            warnings += u32::from(lateness.note_event(ms(at), late));
        }
        assert_eq!(warnings, 2);
        assert_eq!(lateness.behind(), (2, ms(1999 + 1998)));
    }

    /// The input of a model that cannot keep up is held back, so that it swings around the threshold.
    #[test]
    fn a_model_that_swings_around_the_threshold_does_not_keep_up() {
        let mut lateness = Lateness::new();
        let late = |at: u64| if at.is_multiple_of(2) { ms(11) } else { ms(9) };
        let warned: Vec<u64> = (0..3000)
            .filter(|&at| lateness.note_event(ms(at), late(at)))
            .collect();
        assert_eq!(warned, [1001]);
    }

    #[test]
    fn events_that_are_never_late_are_no_period() {
        let mut lateness = Lateness::new();
        assert!(!(0..3000).any(|at| lateness.note_event(ms(at), ms(10))));
    }

    #[test]
    fn only_deliveries_are_in_the_histogram() {
        let mut lateness = Lateness::new();
        lateness.note_event(ms(1), ms(50));
        lateness.note_delivery(ms(2));
        lateness.note_delivery(ms(20));
        assert_eq!(lateness.deliveries().count(), 2);
        assert_eq!(lateness.late_deliveries(), 1);
        assert_eq!(lateness.deliveries().mean_s(), Some(0.011));
    }
}
