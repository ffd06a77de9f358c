//! The states of one UE: connected, on its way to another cell, or without any.

use std::sync::Arc;

use backlane_units::{Duration, SimTime};

use super::RrcConfig;
use super::measurement::Levels;
use super::radio_link::RadioLink;

/// What a UE measures at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Measurement<'a> {
    /// Level of the reference signals of each cell, dBm.
    pub rsrp_dbm: &'a [f64],
    /// Signal to interference and noise of the cell that it belongs to, decibels.
    pub sinr_db: f64,
}

/// Why a UE goes to another cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It received a handover command.
    Handover,
    /// Its radio link failed.
    Failure,
}

/// What has changed for a UE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing flows any more in `from`. The UE belongs to `to` from now on (which may be the
    /// same), and packets that wait for it in `from` are to be forwarded there.
    Interrupted {
        /// The cell that it leaves.
        from: usize,
        /// The cell where it will be.
        to: usize,
        /// Why.
        cause: Cause,
    },
    /// Nothing flows any more, and there is no cell to go to. The UE still belongs to `from`.
    Lost {
        /// The cell that it was in.
        from: usize,
    },
    /// Data may flow in this cell, where the UE belongs.
    Connected {
        /// The cell.
        cell: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No cell is good enough; the next measurement may find one.
    Searching,
    /// Getting into the cell that it belongs to; data flows from `until` on.
    Entering { until: SimTime },
    /// Data flows.
    Connected,
    /// Data flows; the command to go to `target` reaches the UE at `until`.
    Preparing { target: usize, until: SimTime },
}

/// The connection of one UE.
#[derive(Clone, Debug)]
pub struct Connection {
    config: Arc<RrcConfig>,
    /// The cell that the UE belongs to.
    cell: usize,
    state: State,
    levels: Levels,
    link: RadioLink,
    /// Level of each cell as last measured.
    rsrp_dbm: Vec<f64>,
    /// The lowest level of a cell that is in reach.
    least_rsrp_dbm: f64,
}

impl Connection {
    /// A UE that belongs to `cell` and switches on at `now`, with the levels of all cells as it
    /// measures them there. Cells are in reach, and can be got into, from `least_rsrp_dbm` on:
    /// selecting a cell goes by level (TS 36.304 §5.2.3.2). `share`, 0 to 1, is how much of the
    /// period of system information the UE has to wait for. It is connected at once without an
    /// attach procedure, and never if the cell is out of reach and it does not move.
    pub fn new(
        config: impl Into<Arc<RrcConfig>>,
        cell: usize,
        now: SimTime,
        share: f64,
        rsrp_dbm: &[f64],
        least_rsrp_dbm: f64,
    ) -> Self {
        let config: Arc<RrcConfig> = config.into();
        let coefficient = config
            .handover
            .config()
            .map_or(0, |handover| handover.event.filter_coefficient);
        let mut levels = Levels::new(coefficient, config.radio_link.measurement_period);
        levels.on_measurement(rsrp_dbm);
        let in_reach = rsrp_dbm[cell] >= least_rsrp_dbm;
        let state = match config.attach.config() {
            _ if !in_reach => State::Searching,
            None => State::Connected,
            Some(attach) => {
                let wait = attach.system_information_period.as_secs_f64() * share.clamp(0.0, 1.0);
                let delay = attach.random_access + attach.setup;
                State::Entering {
                    until: now + delay + Duration::from_nanos((wait * 1e9) as u64),
                }
            }
        };
        Self {
            config,
            cell,
            state,
            levels,
            link: RadioLink::default(),
            rsrp_dbm: rsrp_dbm.to_vec(),
            least_rsrp_dbm,
        }
    }

    /// The cell that the UE belongs to: packets for it go there.
    pub fn cell(&self) -> usize {
        self.cell
    }

    /// Whether data may flow.
    pub fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected | State::Preparing { .. })
    }

    /// Level of the cell that the UE belongs to as last measured, dBm.
    pub fn rsrp_dbm(&self) -> f64 {
        self.rsrp_dbm[self.cell]
    }

    /// Whether no cell is in reach.
    pub fn is_out_of_reach(&self) -> bool {
        self.state == State::Searching
    }

    /// When [`Connection::on_deadline`] is to be called; [`SimTime::MAX`]: not until something
    /// else happens.
    pub fn next_deadline(&self) -> SimTime {
        match self.state {
            State::Searching => SimTime::MAX,
            State::Entering { until } => until,
            State::Connected => match self.config.handover.config() {
                Some(handover) => self.levels.next_report(&handover.event),
                None => SimTime::MAX,
            }
            .min(self.link.deadline()),
            State::Preparing { until, .. } => until.min(self.link.deadline()),
        }
    }

    /// Runs the timers that have expired by `now`. There may be more of them: call again until
    /// nothing comes.
    pub fn on_deadline(&mut self, now: SimTime) -> Option<Change> {
        if self.next_deadline() > now {
            return None;
        }
        if let State::Entering { .. } = self.state {
            return Some(self.enter(now));
        }
        if self.link.deadline() <= now {
            return Some(self.fail(now));
        }
        let handover = self.config.handover.config()?;
        match self.state {
            State::Preparing { target, .. } => {
                let from = self.cell;
                self.cell = target;
                self.state = State::Entering {
                    until: now + handover.interruption,
                };
                Some(Change::Interrupted {
                    from,
                    to: target,
                    cause: Cause::Handover,
                })
            }
            _ => {
                let target = self.levels.report(&handover.event, now)?;
                self.levels.restart();
                self.state = State::Preparing {
                    target,
                    until: now + handover.preparation,
                };
                self.on_deadline(now)
            }
        }
    }

    /// Takes in a measurement.
    pub fn on_measurement(&mut self, now: SimTime, measured: &Measurement<'_>) -> Option<Change> {
        self.levels.on_measurement(measured.rsrp_dbm);
        self.rsrp_dbm.clear();
        self.rsrp_dbm.extend_from_slice(measured.rsrp_dbm);
        if self.is_connected() {
            let config = &self.config.radio_link;
            self.link.on_measurement(config, now, measured.sinr_db);
        }
        match (self.state, self.config.handover.config()) {
            (State::Connected, Some(handover)) => {
                self.levels.watch(&handover.event, now, self.cell);
                None
            }
            (State::Searching, _) => {
                let to = self.suitable()?;
                Some(self.go(now, to))
            }
            _ => None,
        }
    }

    /// RLC has given up: the radio link has failed. Nothing if it is down already.
    pub fn on_rlc_failure(&mut self, now: SimTime) -> Option<Change> {
        self.is_connected().then(|| self.fail(now))
    }

    fn fail(&mut self, now: SimTime) -> Change {
        self.link = RadioLink::default();
        self.levels.restart();
        match self.suitable() {
            Some(to) => self.go(now, to),
            None => {
                self.state = State::Searching;
                Change::Lost { from: self.cell }
            }
        }
    }

    /// The UE has arrived, unless the cell went out of reach meanwhile.
    fn enter(&mut self, now: SimTime) -> Change {
        if self.rsrp_dbm[self.cell] < self.least_rsrp_dbm {
            return self.fail(now);
        }
        self.link = RadioLink::default();
        self.levels.restart();
        self.state = State::Connected;
        Change::Connected { cell: self.cell }
    }

    fn go(&mut self, now: SimTime, to: usize) -> Change {
        let from = self.cell;
        self.cell = to;
        self.state = State::Entering {
            until: now + self.config.radio_link.reestablishment,
        };
        Change::Interrupted {
            from,
            to,
            cause: Cause::Failure,
        }
    }

    /// The strongest cell, if it is in reach.
    fn suitable(&self) -> Option<usize> {
        let levels = self.rsrp_dbm.iter().enumerate();
        let (best, level) = levels.max_by(|a, b| a.1.total_cmp(b.1))?;
        (*level >= self.least_rsrp_dbm).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rrc::{Attach, AttachConfig, Handover, HandoverConfig};

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    fn config() -> RrcConfig {
        let mut handover = HandoverConfig::default();
        handover.event.filter_coefficient = 0;
        RrcConfig {
            handover: Handover::A3(handover),
            ..RrcConfig::default()
        }
    }

    const LEAST_RSRP_DBM: f64 = -125.0;

    fn connection(config: RrcConfig, levels: [f64; 2]) -> Connection {
        Connection::new(config, 0, at(0), 0.5, &levels, LEAST_RSRP_DBM)
    }

    /// Two cells on one channel: the other one is what disturbs.
    fn measure(connection: &mut Connection, now: SimTime, levels: [f64; 2]) -> Option<Change> {
        let cell = connection.cell();
        let measured = Measurement {
            rsrp_dbm: &levels,
            sinr_db: levels[cell] - levels[1 - cell],
        };
        connection.on_measurement(now, &measured)
    }

    /// Measures each 200 ms what `levels` says, runs all deadlines, and gives what changed when.
    fn run(
        connection: &mut Connection,
        until_ms: u64,
        levels: impl Fn(u64) -> [f64; 2],
    ) -> Vec<(u64, Change)> {
        let mut changes = Vec::new();
        for ms in 1..=until_ms {
            while let Some(change) = connection.on_deadline(at(ms)) {
                changes.push((ms, change));
            }
            if ms.is_multiple_of(200) {
                let change = measure(connection, at(ms), levels(ms));
                changes.extend(change.map(|change| (ms, change)));
            }
        }
        changes
    }

    #[test]
    fn a_ue_that_crosses_over_is_handed_over_once() {
        let mut connection = connection(config(), [-80.0, -100.0]);
        assert!(connection.is_connected());
        // 10 dB a second: 3 dB better after 1.15 s, seen at 1.2 s, reported after 256 ms.
        let levels = |ms| [-80.0 - ms as f64 / 200.0, -100.0 + ms as f64 / 200.0 * 2.0];
        let changes = run(&mut connection, 3000, levels);
        let leaves = Change::Interrupted {
            from: 0,
            to: 1,
            cause: Cause::Handover,
        };
        // 0.015 dB a millisecond: 23 dB after 1533 ms.
        assert_eq!(
            changes,
            [
                (1600 + 256 + 30, leaves),
                (1600 + 256 + 30 + 45, Change::Connected { cell: 1 })
            ]
        );
        assert_eq!(connection.cell(), 1);
    }

    #[test]
    fn a_ue_between_two_cells_stays_within_the_hysteresis() {
        let sway = |margin: f64| {
            move |ms: u64| {
                let side = if (ms / 1000).is_multiple_of(2) {
                    1.0
                } else {
                    -1.0
                };
                [-90.0 + side * margin / 2.0, -90.0 - side * margin / 2.0]
            }
        };
        let mut calm = connection(config(), [-90.0, -90.0]);
        assert_eq!(run(&mut calm, 20_000, sway(2.9)), []);
        let mut restless = connection(config(), [-90.0, -90.0]);
        let changes = run(&mut restless, 20_000, sway(3.1));
        assert!(changes.len() > 20, "{changes:?}");
    }

    #[test]
    fn a_short_lead_is_not_reported() {
        let mut connection = connection(config(), [-90.0, -90.0]);
        // 10 dB better at one measurement in five, for less than 256 ms.
        let levels = |ms: u64| {
            [
                -90.0,
                if ms.is_multiple_of(1000) {
                    -80.0
                } else {
                    -94.0
                },
            ]
        };
        assert_eq!(run(&mut connection, 10_000, levels), []);
    }

    #[test]
    fn without_handover_the_radio_link_fails_first() {
        let mut connection = connection(
            RrcConfig {
                handover: Handover::Off,
                ..config()
            },
            [-80.0, -90.0],
        );
        let changes = run(&mut connection, 3000, |_| [-95.0, -85.0]);
        let failed = Change::Interrupted {
            from: 0,
            to: 1,
            cause: Cause::Failure,
        };
        assert_eq!(
            changes,
            [
                (200 + 60 + 1000, failed),
                (200 + 60 + 1000 + 200, Change::Connected { cell: 1 })
            ]
        );
    }

    #[test]
    fn a_ue_that_walks_out_of_reach_comes_back_when_it_is_near_again() {
        let mut connection = connection(config(), [-80.0, -200.0]);
        // Noise at −120 dBm.
        let mut changes = Vec::new();
        for ms in 1..8000 {
            let away = (1000..6000).contains(&ms);
            let level = if away { -130.0 } else { -80.0 };
            while let Some(change) = connection.on_deadline(at(ms)) {
                changes.push((ms, change));
            }
            if ms.is_multiple_of(200) {
                let measured = Measurement {
                    rsrp_dbm: &[level, -200.0],
                    sinr_db: level + 120.0,
                };
                let change = connection.on_measurement(at(ms), &measured);
                changes.extend(change.map(|change| (ms, change)));
            }
            assert_eq!(connection.is_out_of_reach(), (2060..6000).contains(&ms));
        }
        let back = Change::Interrupted {
            from: 0,
            to: 0,
            cause: Cause::Failure,
        };
        assert_eq!(
            changes,
            [
                (1000 + 60 + 1000, Change::Lost { from: 0 }),
                (6000, back),
                (6200, Change::Connected { cell: 0 })
            ]
        );
    }

    #[test]
    fn attaching_takes_a_share_of_system_information_and_the_procedures() {
        let config = RrcConfig {
            attach: Attach::Standard(AttachConfig::default()),
            ..config()
        };
        let mut connection = connection(config, [-80.0, -100.0]);
        assert!(!connection.is_connected());
        assert_eq!(connection.next_deadline(), at(40 + 25 + 20));
        let connected = Change::Connected { cell: 0 };
        assert_eq!(connection.on_deadline(at(85)), Some(connected));
        assert!(connection.is_connected());
    }

    #[test]
    fn a_ue_that_starts_out_of_reach_is_not_connected() {
        let mut connection = connection(config(), [-126.0, -127.0]);
        assert!(!connection.is_connected());
        assert!(connection.is_out_of_reach());
        assert_eq!(connection.next_deadline(), SimTime::MAX);
        assert_eq!(connection.on_rlc_failure(at(5)), None);
    }

    #[test]
    fn a_failure_of_rlc_ends_a_handover_in_preparation() {
        let mut connection = connection(config(), [-80.0, -100.0]);
        run(&mut connection, 470, |_| [-95.0, -90.0]);
        assert!(matches!(connection.state, State::Preparing { .. }));
        let failed = Change::Interrupted {
            from: 0,
            to: 1,
            cause: Cause::Failure,
        };
        assert_eq!(connection.on_rlc_failure(at(470)), Some(failed));
        assert_eq!(connection.next_deadline(), at(670));
    }

    #[test]
    fn a_target_that_vanishes_during_the_interruption_is_not_entered() {
        let mut config = config();
        if let Handover::A3(handover) = &mut config.handover {
            handover.interruption = Duration::from_millis(300);
        }
        let mut connection = connection(config, [-80.0, -100.0]);
        // Better at 200 ms, the command at 486 ms, out of reach at 600 ms, arrival at 786 ms.
        let changes = run(&mut connection, 1000, |ms| {
            if ms < 600 {
                [-95.0, -90.0]
            } else {
                [-80.0, -126.0]
            }
        });
        let goes = |from, to, cause| Change::Interrupted { from, to, cause };
        assert_eq!(
            changes,
            [
                (486, goes(0, 1, Cause::Handover)),
                (786, goes(1, 0, Cause::Failure)),
                (986, Change::Connected { cell: 0 })
            ]
        );
    }
}
