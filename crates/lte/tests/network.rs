//! Several cells: interference, independence, size.

mod common;

use backlane_lte::config::{Interference, RanConfig};
use backlane_lte::rlc::{RlcConfig, UmConfig};
use backlane_param::OrNone;
use backlane_radio::FadingProfile;
use backlane_units::Duration;

use common::{Cells, Load, at, saturating, single};

const TWO: &[(f64, f64)] = &[(0.0, 0.0), (500.0, 0.0)];

fn config(interference: Interference) -> RanConfig {
    RanConfig {
        interference,
        rlc: RlcConfig::from(UmConfig::default()),
        ..RanConfig::default()
    }
}

/// The UE at 150 m from its cell, 350 m from the other.
fn with_neighbour(interference: Interference, neighbour_pkts_per_ms: u32) -> f64 {
    let ues = [(at(150.0, 0.0), Some(0)), (at(510.0, 0.0), Some(1))];
    let loads = [saturating(0, 7, 2), saturating(1, neighbour_pkts_per_ms, 2)];
    let mut cells = Cells::new(config(interference), TWO, &ues, &loads, 1);
    cells.run(2.0).goodput_bps(0, 2.0) / 1e6
}

/// 150 and 350 m at exponent 2.6: SIR = 26 log₁₀ (351.2/152.7) = 9.4 dB, less 1 dB, where without
/// interference there are 27 dB.
#[test]
fn a_neighbour_disturbs_as_much_as_it_sends() {
    let alone = with_neighbour(Interference::Off, 7);
    let silent = with_neighbour(Interference::LoadCoupled, 0);
    let half = with_neighbour(Interference::LoadCoupled, 3);
    let busy = with_neighbour(Interference::LoadCoupled, 7);
    let full = with_neighbour(Interference::Full, 0);
    assert_eq!(alone, silent);
    assert!(alone > 74.0, "{alone}");
    assert!(alone > half && half > busy, "{alone} {half} {busy}");
    // The other cell sends in every TTI on all groups.
    assert!((busy / full - 1.0).abs() < 0.01, "{busy} {full}");
    assert!((24.0..34.0).contains(&full), "{full}");
}

fn traffic() -> Vec<Load> {
    vec![
        saturating(0, 3, 1),
        saturating(1, 2, 1),
        Load {
            up: true,
            bytes: 900,
            ..saturating(1, 1, 1)
        },
    ]
}

fn arrivals(config: RanConfig, cells: &[(f64, f64)], more_ues: usize) -> (Vec<Vec<Duration>>, u64) {
    let mut ues = vec![(at(150.0, 30.0), Some(0)), (at(600.0, 20.0), Some(0))];
    ues.extend((0..more_ues).map(|n| (at(100.0 + n as f64, 50.0), Some(0))));
    let mut cells = Cells::new(config, cells, &ues, &traffic(), 7);
    cells.run(1.5);
    let delays = (0..3).map(|load| cells.sink(load).delays.clone()).collect();
    (delays, cells.simulation.digest())
}

#[test]
fn two_runs_of_one_seed_are_alike() {
    let config = RanConfig {
        fading: OrNone::Value(FadingProfile::Eva),
        ..RanConfig::default()
    };
    let (first, second) = (arrivals(config.clone(), TWO, 2), arrivals(config, TWO, 2));
    assert_eq!(first, second);
    assert!(first.0.iter().all(|delays| delays.len() > 100));
}

#[test]
fn ues_and_cells_without_traffic_change_nothing_for_others() {
    let config = RanConfig {
        fading: OrNone::Value(FadingProfile::Epa),
        ..RanConfig::default()
    };
    let (few, _) = arrivals(config.clone(), &TWO[..1], 0);
    let (many, _) = arrivals(config, TWO, 20);
    assert_eq!(few, many);
}

/// A thousand UEs are attached and fifty of them receive: all do, in turn.
#[test]
fn of_a_thousand_ues_fifty_are_active() {
    let ues: Vec<_> = (0..1000)
        .map(|n| (at(50.0 + f64::from(n) * 0.2, 40.0), None))
        .collect();
    let loads: Vec<_> = (0..50).map(|n| saturating(n * 20, 1, 1)).collect();
    let mut cells = Cells::new(
        config(Interference::LoadCoupled),
        &[(0.0, 0.0)],
        &ues,
        &loads,
        1,
    );
    cells.run(1.0);
    let shares: Vec<f64> = (0..50).map(|load| cells.goodput_bps(load, 1.0)).collect();
    let total: f64 = shares.iter().sum();
    assert!(total > 68e6, "{total}");
    assert!(
        shares
            .iter()
            .all(|share| (share / total - 0.02).abs() < 0.006),
        "{shares:?}"
    );
    let idle = cells.ran().ue_readings(1);
    assert_eq!((idle.reports, idle.downlink.transport_blocks), (0, 0));
}

/// A UE at 100 km receives nothing; the other one is served, and the run ends.
#[test]
fn a_ue_out_of_reach_gets_nothing_and_hangs_nothing() {
    let loads = [single(0, false, 1500, Duration::ZERO), saturating(1, 1, 1)];
    let ues = [(at(100_000.0, 0.0), Some(0)), (at(100.0, 0.0), None)];
    let mut cells = Cells::new(config(Interference::Off), &[(0.0, 0.0)], &ues, &loads, 1);
    cells.run(1.0);
    assert!(cells.sink(0).delays.is_empty());
    assert!(cells.sink(1).delays.len() > 980);
}
