//! Whether a radio link is still one: TS 36.331, TS 36.213 §4.2.1.

use backlane_units::{Duration, SimTime};

/// Thresholds and timers of radio link monitoring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioLinkConfig {
    /// Q_out: below this SINR the control channel would be lost in 10 % of the subframes.
    pub out_of_sync_db: f64,
    /// Q_in: above this one in 2 %.
    pub in_sync_db: f64,
    /// Indications "out of sync" that start T310.
    pub n310: u32,
    /// How long a link may be out of sync.
    pub t310: Duration,
    /// Indications "in sync" that stop T310.
    pub n311: u32,
    /// From the failure to data in the cell that the UE finds: search, system information, random
    /// access, re-establishment.
    pub reestablishment: Duration,
}

impl Default for RadioLinkConfig {
    /// Thresholds, counts and T310 of ns-3's LENA. 200 ms to be back is an assumption: a search
    /// among known cells, half a period of system information, random access, two RRC procedures.
    fn default() -> Self {
        Self {
            out_of_sync_db: -5.0,
            in_sync_db: -3.9,
            n310: 6,
            t310: Duration::from_secs(1),
            n311: 2,
            reestablishment: Duration::from_millis(200),
        }
    }
}

/// The physical layer indicates once each radio frame, TS 36.213 §4.2.1.
const INDICATION: Duration = Duration::from_millis(10);

/// Radio link monitoring of one UE. A measurement stands for all indications until the next one.
#[derive(Clone, Copy, Debug)]
pub struct RadioLink {
    /// When T310 expires; [`SimTime::MAX`]: the link is fine.
    deadline: SimTime,
}

impl Default for RadioLink {
    fn default() -> Self {
        Self {
            deadline: SimTime::MAX,
        }
    }
}

impl RadioLink {
    /// The serving cell was measured with this SINR.
    pub fn on_measurement(&mut self, config: &RadioLinkConfig, now: SimTime, sinr_db: f64) {
        let indications = |count: u32| INDICATION * u64::from(count);
        if sinr_db < config.out_of_sync_db {
            if self.deadline == SimTime::MAX {
                let starts = now.saturating_add(indications(config.n310));
                self.deadline = starts.saturating_add(config.t310);
            }
        } else if sinr_db > config.in_sync_db
            && now.saturating_add(indications(config.n311)) <= self.deadline
        {
            self.deadline = SimTime::MAX;
        }
    }

    /// When the link will have failed; [`SimTime::MAX`]: it is fine.
    pub fn deadline(&self) -> SimTime {
        self.deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_link_fails_a_second_after_six_indications() {
        let config = RadioLinkConfig::default();
        let mut link = RadioLink::default();
        link.on_measurement(&config, at(0), -4.9);
        assert_eq!(link.deadline(), SimTime::MAX);
        link.on_measurement(&config, at(200), -5.1);
        link.on_measurement(&config, at(400), -20.0);
        assert_eq!(link.deadline(), at(200 + 60 + 1000));
    }

    #[test]
    fn a_link_between_the_thresholds_neither_fails_nor_recovers() {
        let config = RadioLinkConfig::default();
        let mut link = RadioLink::default();
        link.on_measurement(&config, at(0), -6.0);
        link.on_measurement(&config, at(200), -4.0);
        assert_eq!(link.deadline(), at(1060));
        link.on_measurement(&config, at(400), -3.8);
        assert_eq!(link.deadline(), SimTime::MAX);
    }

    #[test]
    fn a_recovery_that_comes_too_late_does_not_count() {
        let config = RadioLinkConfig::default();
        let mut link = RadioLink::default();
        link.on_measurement(&config, at(0), -6.0);
        link.on_measurement(&config, at(1050), 10.0);
        assert_eq!(link.deadline(), at(1060));
    }
}
