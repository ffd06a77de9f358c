//! In any network packets are conserved.

mod common;

use backlane_net::NodeId;
use backlane_param::OrOff;
use backlane_radio::{FrameFading, Position};
use backlane_units::Decibels;
use backlane_wifi::phy::Standard;
use backlane_wifi::{Reception, WifiConfig, WifiLinkConfig};
use common::{Setting, Source, link, mbps, rts_above};
use proptest::prelude::*;

fn config(standard: u8, reception: u8, fading: u8, rts: u32) -> WifiConfig {
    let mut config = match standard {
        0 => WifiConfig::new(Standard::A, mbps(24.0)),
        1 => WifiConfig::new(Standard::B, mbps(11.0)),
        2 => WifiConfig::new(Standard::G, mbps(12.0)),
        _ => WifiConfig::ns2(mbps(2.0)),
    };
    let sensitivity = config.carrier_sense;
    let capture = Decibels::from_mdb(10_000);
    match reception {
        0 => {
            config.reception = Reception::Threshold {
                sensitivity,
                capture: OrOff::Value(capture),
            };
        }
        1 => {
            config.reception = Reception::Pairwise {
                sensitivity,
                capture,
            };
        }
        2 => config.recapture = OrOff::Value(capture),
        _ => {}
    }
    config.fading = match fading {
        0 => FrameFading::Rayleigh,
        1 => FrameFading::Nakagami { m: 0.5 },
        _ => FrameFading::None,
    };
    config.rts_threshold = rts_above(rts);
    config
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// `run_until` checks the balance of packets.
    #[test]
    fn every_packet_is_delivered_dropped_or_somewhere(
        way in (0u8..4, 0u8..4, 0u8..3, prop::sample::select(vec![0u32, 500, u32::MAX])),
        places in prop::collection::vec((0.0f64..400.0, 0.0f64..400.0), 3..9),
        loss in prop::option::of(0.0f64..1.0),
        control_loss in any::<bool>(),
        rides in any::<bool>(),
        failures in prop::collection::vec((0usize..9, 0u64..300_000, any::<bool>()), 0..6),
        seed in 0u64..1000,
    ) {
        let mut setting = Setting::line(config(way.0, way.1, way.2, way.3), &vec![0.0; places.len()]);
        setting.positions = places.iter().map(|&(x_m, y_m)| Position::new(x_m, y_m, 0.0)).collect();
        let last = places.len() - 1;
        // A ring, whether its ends hear each other or not.
        setting.links = (0..last).map(|a| WifiLinkConfig { loss, ..link(a, a + 1) }).collect();
        setting.links.push(WifiLinkConfig { loss, ..link(last, 0) });
        setting.config.control_loss = control_loss;
        setting.rides = rides.then(|| vec![1; 20].into());
        setting.sources = vec![Source::endless(0, last / 2), Source::endless(last, 0), Source::endless(1, last)];
        setting.broadcasts = (0..200).map(|n| (n % places.len(), 1500 * n as u64, 100)).collect();
        setting.persistent = seed % 2 == 0;
        setting.seed = seed;
        let mut world = setting.build();
        let mut failures = failures;
        failures.sort_by_key(|failure| failure.1);
        for (node, at_us, up) in failures {
            world.run_until(at_us);
            world.simulation.set_node_up(NodeId((node % places.len()) as u32), up);
        }
        world.run_until(400_000);
    }
}
