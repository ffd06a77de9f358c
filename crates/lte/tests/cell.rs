//! One cell: rates, delays, rest.

mod common;

use backlane_lte::config::{RanConfig, SchedulerRule};
use backlane_lte::rlc::{RlcConfig, UmConfig};
use backlane_param::{Int, OrAuto};
use backlane_units::Duration;

use common::{Cells, at, lena, saturating, single};

const SITE: &[(f64, f64)] = &[(0.0, 0.0)];

fn um(config: RanConfig) -> RanConfig {
    RanConfig {
        rlc: RlcConfig::from(UmConfig::default()),
        ..config
    }
}

fn goodput_mbps(config: RanConfig, distance_m: f64, pkts_per_ms: u32) -> f64 {
    let load = saturating(0, pkts_per_ms, 2);
    let ues = [(at(distance_m, 0.0), None)];
    let mut cells = Cells::new(config, SITE, &ues, &[load], 1);
    cells.run(2.0).goodput_bps(0, 2.0) / 1e6
}

/// In each millisecond a block of 75 376 bits, less 1 byte of MAC and 2 of RLC, and 2 of PDCP and
/// about 1.5 of RLC for each packet of 1500; the first comes out after three milliseconds.
#[test]
fn the_peak_rate_is_that_of_the_largest_block() {
    let bytes_per_ms = (75_376.0 / 8.0 - 3.0) * 1500.0 / 1503.5;
    let expected = bytes_per_ms * 8e-3 * (2000.0 - 3.0) / 2000.0;
    let measured = goodput_mbps(um(RanConfig::default()), 50.0, 7);
    assert!(
        (measured / expected - 1.0).abs() < 2e-3,
        "{measured} {expected}"
    );
}

/// With three control symbols MCS 28 has a code rate above 0.931; MCS 27 has 63 776 bits.
#[test]
fn a_long_control_region_costs_the_highest_mcs() {
    let config = RanConfig {
        control_symbols: OrAuto::Value(Int(3)),
        ..RanConfig::default()
    };
    let expected = (63_776.0 / 8.0 - 3.0) * 1500.0 / 1503.5 * 8e-3 * (2000.0 - 3.0) / 2000.0;
    let measured = goodput_mbps(um(config), 50.0, 7);
    assert!(
        (measured / expected - 1.0).abs() < 2e-3,
        "{measured} {expected}"
    );
}

/// Down: to the next TTI, one to prepare, one on the air, one to decode. Up: to the chance to
/// request (10 ms apart), then 1 + 3 + 1 + 3 + 1 ms for request, grant and PUSCH, and one to decode.
#[test]
fn the_first_packet_after_rest_waits_for_its_grant() {
    let every = Duration::from_micros(103_000);
    let loads: Vec<_> = (0..40)
        .flat_map(|n| {
            let first = Duration::from_micros(100_300) + every.saturating_mul(n);
            [single(0, false, 1500, first), single(0, true, 52, first)]
        })
        .collect();
    let ues = [(at(300.0, 0.0), None)];
    let mut cells = Cells::new(um(RanConfig::default()), SITE, &ues, &loads, 1);
    cells.run(5.0);
    let ms = |load: usize| cells.sink(load).delays[0].as_secs_f64() * 1e3;
    let up: Vec<f64> = (0..40).map(|n| ms(2 * n + 1)).collect();
    assert!((0..40).all(|n| (ms(2 * n) - 3.7).abs() < 0.01));
    assert!(up.iter().all(|ms| (10.69..19.71).contains(ms)), "{up:?}");
    let mean = up.iter().sum::<f64>() / 40.0;
    assert!((mean - 15.2).abs() < 0.1, "{mean}");
}

/// LENA's free reports: 4 ms to the eNodeB, 2 to the grant, 4 to the PUSCH, 1 on the air.
#[test]
fn an_ideal_uplink_takes_the_same_time_always() {
    let config = um(lena());
    let every = Duration::from_micros(103_000);
    let first = |n| Duration::from_micros(100_300) + every.saturating_mul(n);
    let loads: Vec<_> = (0..20).map(|n| single(0, true, 52, first(n))).collect();
    let mut cells = Cells::new(config, SITE, &[(at(300.0, 0.0), None)], &loads, 1);
    cells.run(3.0);
    for n in 0..20 {
        let ms = cells.sink(n).delays[0].as_secs_f64() * 1e3;
        assert!((ms - 11.7).abs() < 0.01, "{ms}");
    }
}

/// Each packet takes a few TTIs; between packets a second apart nothing happens.
#[test]
fn a_cell_at_rest_fires_no_events() {
    let loads = [0, 1, 2].map(|s| single(0, false, 1500, Duration::from_secs(s)));
    let ues: Vec<_> = (0..100).map(|n| (at(f64::from(n), 50.0), None)).collect();
    let mut cells = Cells::new(um(RanConfig::default()), SITE, &ues, &loads, 1);
    cells.run(1000.0);
    assert_eq!(cells.sink(2).delays.len(), 1);
    let events = cells.simulation.events.fired();
    assert!(events < 40, "{events}");
}

/// ns-3 3.37's LENA with the same cell: MCS 14 until 1068 m by reports of single groups, which
/// proportional fair goes by, and until 1093 m by wideband reports, which round robin goes by; MCS
/// 16 until 854 and 882 m.
#[test]
fn a_lone_ue_gets_the_mcs_of_lena_by_either_scheduler() {
    let mcs = |kind, distance_m: f64| {
        let mut config = um(lena());
        config.scheduler.rule = kind;
        // The site is 30 m high and the UE 1.5 m.
        let ground_m = (distance_m * distance_m - 28.5 * 28.5).sqrt();
        let ues = [(at(ground_m, 0.0), None)];
        let mut cells = Cells::new(config, SITE, &ues, &[saturating(0, 4, 1)], 1);
        cells.run(0.5).ran().ue_readings(0).mcs
    };
    let by = |distance_m| {
        [SchedulerRule::ProportionalFair, SchedulerRule::RoundRobin].map(|k| mcs(k, distance_m))
    };
    assert_eq!(by(850.0), [16, 16]);
    assert_eq!(by(868.0), [14, 16]);
    assert_eq!(by(886.0), [14, 14]);
    assert_eq!(by(1064.0), [14, 14]);
    assert_eq!(by(1080.0), [12, 14]);
    assert_eq!(by(1098.0), [12, 12]);
}
