//! Frames that no receiver locks on, by error rates.

mod common;

use backlane_param::OrStandard;
use backlane_units::Duration;
use backlane_wifi::WifiConfig;
use backlane_wifi::phy::Standard;
use common::{Setting, Source, mbps};

/// Packets over one second from five stations to a sixth, all in one place.
fn delivered(sensing_delay: Duration, eifs: bool) -> u64 {
    let config = WifiConfig {
        eifs,
        sensing_delay: OrStandard::Value(sensing_delay),
        ..WifiConfig::new(Standard::A, mbps(54.0))
    };
    let mut setting = Setting::line(config, &[0.0; 6]);
    setting.sources = (1..6).map(|from| Source::endless(from, 0)).collect();
    setting.persistent = true;
    let mut world = setting.build();
    world.run_until(1_000_000);
    world.simulation.application.delivered.iter().sum()
}

/// Frames of the same power that begin together hide each other's preambles: there is energy and
/// no error. If they begin more than 4 µs apart, the first has been found by then, and is in error.
#[test]
fn a_collision_in_which_no_preamble_is_found_is_followed_by_difs_alone() {
    let at_once = Duration::ZERO;
    assert_eq!(delivered(at_once, true), delivered(at_once, false));
    let late = Duration::from_micros(9);
    assert!(delivered(late, true) < delivered(late, false));
}
