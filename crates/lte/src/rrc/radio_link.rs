//! Whether a radio link is still one: TS 36.331, TS 36.213 §4.2.1.

use std::ops::RangeInclusive;

use backlane_param::params;
use backlane_units::{Decibels, Duration, SimTime};

use crate::time::RRC_TIME;

/// Thresholds of SINR.
const SINR: RangeInclusive<Decibels> = Decibels::from_mdb(-30_000)..=Decibels::from_mdb(30_000);

params! {
    /// When the radio link of a UE that moves has failed.
    ///
    /// Thresholds, counts and T310 are those of ns-3's LENA. The re-establishment is an assumption:
    /// a search among known cells, half a period of system information, random access, two RRC
    /// procedures.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RadioLinkConfig as "radio_link" {
        /// Between two measurements of a UE that moves; 200 ms average fading out.
        ///
        /// 200 ms is the measurement period of TS 36.133.
        measurement_period: Duration = Duration::from_millis(200),
            in Duration::from_millis(10)..=Duration::from_secs(60);
        /// Q_out: a SINR below it is out of sync. A cell whose SNR is below it is out of reach.
        ///
        /// The control channel would be lost in 10 % of the subframes.
        out_of_sync: Decibels = Decibels::from_mdb(-5_000), in SINR;
        /// Q_in: a SINR above it is in sync.
        ///
        /// The control channel would be lost in 2 % of the subframes.
        in_sync: Decibels = Decibels::from_mdb(-3_900), in SINR;
        /// Indications out of sync, 10 ms apart, that start T310.
        n310: u32 = 6, in 1..=20;
        /// How long a link may be out of sync.
        t310: Duration = Duration::from_secs(1), in RRC_TIME;
        /// Indications in sync that stop T310.
        n311: u32 = 2, in 1..=10;
        /// From a failure to data in the cell that the UE finds.
        reestablishment: Duration = Duration::from_millis(200), in RRC_TIME;
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
        if sinr_db < config.out_of_sync.as_db_f64() {
            if self.deadline == SimTime::MAX {
                let starts = now.saturating_add(indications(config.n310));
                self.deadline = starts.saturating_add(config.t310);
            }
        } else if sinr_db > config.in_sync.as_db_f64()
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
