//! What a UE measures of its cells, and the report that a neighbour has become better.

use backlane_param::params;
use backlane_units::{Decibels, Duration, SimTime};

use crate::time::RRC_TIME;

params! {
    /// Event A3, "neighbour becomes offset better than serving", of TS 36.331.
    ///
    /// The defaults are those of ns-3's LENA: a margin of 3 dB, as hysteresis, and 256 ms; *k* = 4
    /// is the standard's default.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct A3Config {
        /// How much better the neighbour must be.
        offset: Decibels = Decibels::from_mdb(0),
            in Decibels::from_mdb(-15_000)..=Decibels::from_mdb(15_000);
        /// Added to the offset for entering the event, taken off it for leaving.
        hysteresis: Decibels = Decibels::from_mdb(3_000),
            in Decibels::from_mdb(0)..=Decibels::from_mdb(15_000);
        /// How long the neighbour must have been better.
        time_to_trigger: Duration = Duration::from_millis(256), in RRC_TIME;
        /// k of the filter: a measurement weighs 2^(−k/4).
        filter_coefficient: u8 = 4, in 0..=19;
    }
}

/// The filtered levels of all cells at one UE, and which of them are about to be reported.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Weight of a new measurement.
    weight: f64,
    /// Filtered level of each cell, dBm; empty before the first measurement.
    rsrp_dbm: Vec<f64>,
    /// Since when each cell has been better; empty before [`Levels::watch`].
    better_since: Vec<Option<SimTime>>,
}

impl Levels {
    /// No levels yet. The filter's time constant is that of measurements 200 ms apart,
    /// regardless of their `period` (TS 36.331).
    pub fn new(filter_coefficient: u8, period: Duration) -> Self {
        let weight = libm::exp2(-f64::from(filter_coefficient) / 4.0);
        let share = period.as_secs_f64() / 0.2;
        Self {
            weight: 1.0 - libm::pow(1.0 - weight, share),
            rsrp_dbm: Vec::new(),
            better_since: Vec::new(),
        }
    }

    /// Takes in a measurement of all cells.
    pub fn on_measurement(&mut self, rsrp_dbm: &[f64]) {
        if self.rsrp_dbm.is_empty() {
            self.rsrp_dbm = rsrp_dbm.to_vec();
            return;
        }
        for (filtered, new) in self.rsrp_dbm.iter_mut().zip(rsrp_dbm) {
            *filtered += self.weight * (new - *filtered);
        }
    }

    /// Looks which cells have entered or left event A3.
    pub fn watch(&mut self, event: &A3Config, now: SimTime, serving: usize) {
        let Some(&own) = self.rsrp_dbm.get(serving) else {
            return;
        };
        self.better_since.resize(self.rsrp_dbm.len(), None);
        for (cell, since) in self.better_since.iter_mut().enumerate() {
            let lead = self.rsrp_dbm[cell] - own - event.offset.as_db_f64();
            if cell == serving || lead < -event.hysteresis.as_db_f64() {
                *since = None;
            } else if lead > event.hysteresis.as_db_f64() {
                since.get_or_insert(now);
            }
        }
    }

    /// Forgets who has been better for how long.
    pub fn restart(&mut self) {
        self.better_since.fill(None);
    }

    /// When the first report is due; [`SimTime::MAX`]: none.
    pub fn next_report(&self, event: &A3Config) -> SimTime {
        self.better_since
            .iter()
            .flatten()
            .map(|since| since.saturating_add(event.time_to_trigger))
            .min()
            .unwrap_or(SimTime::MAX)
    }

    /// The strongest of the cells that are due to be reported.
    pub fn report(&self, event: &A3Config, now: SimTime) -> Option<usize> {
        let due = |since: &Option<SimTime>| {
            since.is_some_and(|since| since.saturating_add(event.time_to_trigger) <= now)
        };
        let cells = self.better_since.iter().enumerate();
        cells
            .filter(|(_, since)| due(since))
            .map(|(cell, _)| cell)
            .reduce(|best, cell| {
                if self.rsrp_dbm[cell] > self.rsrp_dbm[best] {
                    cell
                } else {
                    best
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A3: A3Config = A3Config {
        offset: Decibels::from_mdb(1_000),
        hysteresis: Decibels::from_mdb(2_000),
        time_to_trigger: Duration::from_millis(256),
        filter_coefficient: 0,
    };

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    fn levels() -> Levels {
        Levels::new(0, Duration::from_millis(200))
    }

    #[test]
    fn a_neighbour_is_reported_after_it_was_better_for_long_enough() {
        let mut levels = levels();
        levels.on_measurement(&[-90.0, -87.5]);
        levels.watch(&A3, at(0), 0);
        assert_eq!(levels.next_report(&A3), SimTime::MAX, "2.5 dB are no 3 dB");
        levels.on_measurement(&[-90.0, -86.9]);
        levels.watch(&A3, at(200), 0);
        assert_eq!(levels.next_report(&A3), at(456));
        assert_eq!(levels.report(&A3, at(455)), None);
        // Within the hysteresis it stays entered; A3 is left below 1 − 2 dB.
        levels.on_measurement(&[-90.0, -90.9]);
        levels.watch(&A3, at(400), 0);
        assert_eq!(levels.report(&A3, at(456)), Some(1));
        levels.on_measurement(&[-90.0, -91.1]);
        levels.watch(&A3, at(600), 0);
        assert_eq!(levels.next_report(&A3), SimTime::MAX);
    }

    #[test]
    fn the_strongest_of_the_better_cells_is_reported() {
        let mut levels = levels();
        levels.on_measurement(&[-100.0, -90.0, -80.0, -85.0]);
        levels.watch(&A3, at(0), 0);
        assert_eq!(levels.report(&A3, at(256)), Some(2));
    }

    /// Weight 1/2 for k = 4 at 200 ms; at 100 ms two steps make the same.
    #[test]
    fn the_filter_forgets_equally_fast_at_any_period() {
        let mut slow = Levels::new(4, Duration::from_millis(200));
        let mut fast = Levels::new(4, Duration::from_millis(100));
        for levels in [&mut slow, &mut fast] {
            levels.on_measurement(&[-100.0]);
        }
        slow.on_measurement(&[-80.0]);
        assert!((slow.rsrp_dbm[0] - -90.0).abs() < 1e-9);
        fast.on_measurement(&[-80.0]);
        fast.on_measurement(&[-80.0]);
        assert!((fast.rsrp_dbm[0] - -90.0).abs() < 1e-9);
    }
}
