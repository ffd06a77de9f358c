//! OLSR: optimized link state routing (RFC 3626).

use backlane_units::Duration;

/// Timers of OLSR. The defaults are those of RFC 3626 §18.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// `HELLO_INTERVAL`, 2 s.
    pub hello_interval: Duration,
    /// `TC_INTERVAL`, 5 s.
    pub tc_interval: Duration,
    /// `MAXJITTER`, `HELLO_INTERVAL` / 4: each emission comes earlier by up to this much.
    pub jitter: Duration,
    /// `NEIGHB_HOLD_TIME`, three HELLO intervals.
    pub neighbour_hold: Duration,
    /// `TOP_HOLD_TIME`, three TC intervals.
    pub topology_hold: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hello_interval: Duration::from_secs(2),
            tc_interval: Duration::from_secs(5),
            jitter: Duration::from_millis(500),
            neighbour_hold: Duration::from_secs(6),
            topology_hold: Duration::from_secs(15),
        }
    }
}
