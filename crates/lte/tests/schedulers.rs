//! Who gets how much of a cell.

mod common;

use backlane_lte::config::{Bandwidth, RanConfig, SchedulerConfig, SchedulerRule};
use backlane_lte::rlc::{RlcConfig, UmConfig};
use backlane_param::OrNone;
use backlane_radio::FadingProfile;
use backlane_units::Duration;

use common::{Cells, at, saturating};

const SECONDS: u64 = 5;

fn config(rule: SchedulerRule) -> RanConfig {
    let standard = RanConfig::default();
    RanConfig {
        scheduler: SchedulerConfig {
            rule,
            ..standard.scheduler
        },
        rlc: RlcConfig::from(UmConfig::default()),
        ..standard
    }
}

/// Goodput in Mbit/s of UEs at these distances, all with full buffers.
fn share(config: RanConfig, distances_m: &[f64]) -> Vec<f64> {
    let ues: Vec<_> = distances_m.iter().map(|&d| (at(d, 0.0), None)).collect();
    let loads: Vec<_> = (0..ues.len())
        .map(|ue| saturating(ue, 7, SECONDS))
        .collect();
    let mut cells = Cells::new(config, &[(0.0, 0.0)], &ues, &loads, 1);
    cells.run(SECONDS as f64);
    (0..ues.len())
        .map(|load| cells.goodput_bps(load, SECONDS as f64) / 1e6)
        .collect()
}

const ALL: [SchedulerRule; 4] = [
    SchedulerRule::RoundRobin,
    SchedulerRule::ProportionalFair,
    SchedulerRule::MaxCqi,
    SchedulerRule::BlindEqualThroughput,
];

#[test]
fn equal_ues_get_equal_shares_but_of_the_highest_rate_first() {
    for kind in ALL {
        let shares = share(config(kind), &[200.0; 4]);
        let total: f64 = shares.iter().sum();
        assert!((70.0..75.4).contains(&total), "{kind:?}: {shares:?}");
        if kind != SchedulerRule::MaxCqi {
            let fair = |share: &f64| (share / total - 0.25).abs() < 0.005;
            assert!(shares.iter().all(fair), "{kind:?}: {shares:?}");
        }
    }
}

/// Alone, the near one would get 75 Mbit/s and the far one 26. Equal airtime gives each half of
/// what it would have alone. Proportional fair counts what arrives and so shares the airtime of
/// first transmissions; of the far one's blocks a tenth are sent twice, so it has 1.1 of 2.1. MCS 28
/// on half of the band has 3 % less than half of its bits (35 160 + 37 888 on 48 and 52 resource
/// blocks, 75 376 on 100).
#[test]
fn round_robin_and_proportional_fair_share_airtime() {
    for (kind, airtime) in [
        (SchedulerRule::RoundRobin, [0.5, 0.5]),
        (SchedulerRule::ProportionalFair, [1.0 / 2.1, 1.1 / 2.1]),
    ] {
        let alone = [200.0, 1000.0].map(|d| share(config(kind), &[d])[0]);
        let both = share(config(kind), &[200.0, 1000.0]);
        for at in 0..2 {
            let measured = both[at] / alone[at];
            assert!(
                (measured - airtime[at]).abs() < 0.02,
                "{kind:?}: {measured}"
            );
        }
    }
}

#[test]
fn max_cqi_starves_the_far_one() {
    let shares = share(config(SchedulerRule::MaxCqi), &[200.0, 1000.0]);
    assert!(shares[0] > 74.0 && shares[1] == 0.0, "{shares:?}");
}

/// With rates 75 and 26 Mbit/s, equal throughputs are 1 / (1/75 + 1/26) = 19.4 Mbit/s.
#[test]
fn blind_equal_throughput_makes_throughputs_equal() {
    let kind = SchedulerRule::BlindEqualThroughput;
    let near = share(config(kind), &[200.0])[0];
    let far = share(config(kind), &[1000.0])[0];
    let both = share(config(kind), &[200.0, 1000.0]);
    let expected = 1.0 / (1.0 / near + 1.0 / far);
    for share in both {
        assert!((share / expected - 1.0).abs() < 0.06, "{share} {expected}");
    }
}

/// Slow fading over a channel wider than its coherence: who is best in a group gets it.
#[test]
fn reports_of_groups_let_proportional_fair_gain_from_fading() {
    let of = |kind, sub_band| {
        let mut config = config(kind);
        config.fading = OrNone::Value(FadingProfile::Etu);
        config.cqi.sub_band = sub_band;
        share(config, &[1000.0; 8]).iter().sum::<f64>()
    };
    let blind = of(SchedulerRule::RoundRobin, false);
    let fair = of(SchedulerRule::ProportionalFair, true);
    assert!(fair > 1.2 * blind, "{fair} {blind}");
}

/// Eight CCEs for each UE at the edge: a control region of three symbols on 25 resource blocks
/// has 20 of them, so that two UEs are served in a TTI and not four.
#[test]
fn no_more_ues_are_served_than_the_control_region_holds() {
    let mut config = config(SchedulerRule::RoundRobin);
    config.carrier[0].bandwidth = Bandwidth::Mhz5;
    let load = |ue| common::Load {
        bytes: 20,
        pkts: 1,
        ..saturating(ue, 1, 1)
    };
    let served = |config: RanConfig| {
        let ues: Vec<_> = (0..8).map(|_| (at(3500.0, 0.0), None)).collect();
        let loads: Vec<_> = (0..8).map(load).collect();
        let mut cells = Cells::new(config, &[(0.0, 0.0)], &ues, &loads, 1);
        cells.run(1.0);
        let ran = cells.ran();
        assert!(ran.ue_readings(0).cqi < 5, "{}", ran.ue_readings(0).cqi);
        let blocks = |ue| {
            let down = &ran.ue_readings(ue).downlink;
            down.transport_blocks + down.retransmitted_blocks()
        };
        (0..8).map(blocks).sum::<u64>() as f64 / ran.cell_readings(0, 0).downlink_ttis as f64
    };
    let limited = served(config.clone());
    assert!(limited <= 2.0, "{limited}");
    config.cce_limit = false;
    let unlimited = served(config);
    assert!(unlimited > 4.0, "{unlimited}");
}

/// Sixty UEs, most of them far out, have more to send than the cell carries, and so want more grants
/// in a TTI than the control region holds. Half of it is left to the downlink, which carries nearly
/// what it does without them.
#[test]
fn a_crowded_uplink_leaves_the_downlink_room_for_its_assignments() {
    let downlink = |busy: bool| {
        let place = |n| (at(400.0 + 25.0 * f64::from(n), 0.0), None);
        let ues: Vec<_> = (0..60).map(place).collect();
        let down = |ue| common::Load {
            every: Duration::from_millis(5),
            ..saturating(ue, 1, 2)
        };
        let up = |ue| common::Load {
            up: true,
            bytes: 400,
            every: Duration::from_millis(3),
            ..saturating(ue, 1, 2)
        };
        let mut loads: Vec<_> = (0..60).map(down).collect();
        if busy {
            loads.extend((0..60).map(up));
        }
        let config = config(SchedulerRule::RoundRobin);
        let mut cells = Cells::new(config, &[(0.0, 0.0)], &ues, &loads, 1);
        cells.run(2.0);
        (0..60)
            .map(|load| cells.goodput_bps(load, 2.0))
            .sum::<f64>()
            / 1e6
    };
    let (alone, beside) = (downlink(false), downlink(true));
    assert!(beside > 0.85 * alone, "{beside} of {alone}");
}
