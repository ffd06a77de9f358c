//! A cell whose radios all hear each other runs as if each radio were notified of each frame.

mod common;

use backlane_net::NodeId;
use backlane_param::OrOff;
use backlane_radio::{FrameFading, Position};
use backlane_units::{Decibels, Duration};
use backlane_wifi::phy::Standard;
use backlane_wifi::{Reception, WifiConfig};
use common::{Setting, Source, World, link, mbps, rts_above};
use proptest::prelude::*;

/// 802.11a or b by error rates, thresholds or ns-2's rule.
fn config(
    standard: u8,
    reception: u8,
    rts: u32,
    window: u16,
    sensing_us: Option<u64>,
) -> WifiConfig {
    let mut config = match standard {
        0 => WifiConfig::new(Standard::A, mbps(6.0)),
        1 => WifiConfig::new(Standard::A, mbps(54.0)),
        _ => WifiConfig::new(Standard::B, mbps(11.0)),
    };
    let sensitivity = config.carrier_sense;
    let capture = Decibels::from_mdb(10_000);
    match reception {
        0 => {
            let capture = OrOff::Value(capture);
            config.reception = Reception::Threshold {
                sensitivity,
                capture,
            };
        }
        1 => {
            config.reception = Reception::Pairwise {
                sensitivity,
                capture,
            }
        }
        2 => config.recapture = OrOff::Value(capture),
        _ => {}
    }
    config.rts_threshold = rts_above(rts);
    config.cw_min = backlane_param::OrStandard::Value(window);
    if let Some(us) = sensing_us {
        config.sensing_delay = backlane_param::OrStandard::Value(Duration::from_micros(us));
    }
    config
}

/// All that a run shows: events, arrivals, notifications, the counters of radios and links.
fn outcome(world: &World, stations: usize) -> String {
    let wifi = world.wifi();
    let radios: Vec<_> = (0..stations)
        .map(|station| world.readings(station))
        .collect();
    let links = world.simulation.network.links().len() as u32;
    let links: Vec<_> = (0..links)
        .map(|link| wifi.link_counters(backlane_net::LinkId(link)))
        .collect();
    format!(
        "{:x} {:?} {:?} {radios:?} {links:?}",
        world.simulation.digest(),
        world.simulation.application.arrivals,
        world.told(),
    )
}

/// A cell of six stations within 5 m, and one that is so far from them.
fn cell(config: WifiConfig, apart_m: f64) -> Setting {
    Setting::line(config, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, apart_m])
}

#[test]
fn radios_are_a_domain_if_they_all_sense_each_other_and_no_other() {
    let domains = |setting: &Setting| setting.build().wifi().domains();
    let config = WifiConfig::new(Standard::A, mbps(24.0));
    assert_eq!(domains(&cell(config.clone(), 6.0)), 1);
    assert_eq!(domains(&cell(config.clone(), 2000.0)), 1, "the six alone");
    assert_eq!(
        domains(&cell(config.clone(), 60.0)),
        0,
        "heard and not sensed"
    );
    let mut lossy = cell(config.clone(), 6.0);
    lossy.links[0].loss = Some(0.1);
    assert_eq!(domains(&lossy), 0);
    let fading = WifiConfig {
        fading: FrameFading::Rayleigh,
        ..config
    };
    assert_eq!(domains(&cell(fading, 6.0)), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_domain_has_the_outcome_of_radios_that_are_notified_of_each_frame(
        way in (
            0u8..3, 0u8..4,
            prop::sample::select(vec![0u32, 500, u32::MAX]),
            prop::sample::select(vec![0u16, 3, 15, 31]),
            prop::sample::select(vec![None, Some(0), Some(25)]),
        ),
        places in prop::collection::vec((0.0f64..8.0, 0.0f64..8.0), 4..11),
        apart_m in prop::sample::select(vec![0.0, 30.0, 2000.0]),
        rides in any::<bool>(),
        failures in prop::collection::vec((0usize..9, 0u64..60_000, any::<bool>()), 0..3),
        seed in 0u64..1000,
    ) {
        let config = config(way.0, way.1, way.2, way.3, way.4);
        let mut setting = Setting::line(config, &vec![0.0; places.len()]);
        setting.positions = places.iter().map(|&(x_m, y_m)| Position::new(x_m, y_m, 0.0)).collect();
        let last = places.len() - 1;
        // Out of range, within interference, or in the cell as well.
        setting.positions[last] = Position::new(apart_m, 0.0, 0.0);
        setting.links = (1..=last).map(|station| link(0, station)).collect();
        setting.links.push(link(1, 2));
        setting.rides = rides.then(|| vec![1; 20].into());
        // Some stations always have packets, and some have a few.
        setting.sources = (1..last).map(|station| Source::endless(station, 0)).collect();
        setting.sources.push(Source::at(0, last, &[3, 700, 20_000, 20_001, 50_000]));
        setting.sources.push(Source::at(1, 2, &[1, 2, 40_000, 41_000]));
        setting.broadcasts = (0..60).map(|n| (n % places.len(), 900 * n as u64, 100)).collect();
        setting.persistent = seed % 2 == 0;
        setting.seed = seed;
        let mut failures = failures;
        failures.sort_by_key(|failure| failure.1);
        let mut outcomes = [false, true].map(|without_domains| {
            setting.without_domains = without_domains;
            let mut world = setting.build();
            assert!(!without_domains || world.wifi().domains() == 0);
            let mut seen = Vec::new();
            for &(node, at_us, up) in &failures {
                world.run_until(at_us);
                seen.push(outcome(&world, places.len()));
                world.simulation.set_node_up(NodeId((node % places.len()) as u32), up);
            }
            world.run_until(80_000);
            seen.push(outcome(&world, places.len()));
            seen
        });
        let [with, without] = &mut outcomes;
        prop_assert_eq!(with, without);
    }
}
