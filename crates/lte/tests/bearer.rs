//! A radio bearer in a cell: its buffer in time, and what the modes make of HARQ's losses.

mod common;

use backlane_lte::config::{HarqConfig, RanConfig};
use backlane_lte::pdcp::PdcpConfig;
use backlane_lte::rlc::{Aqm, Counters, Direction, RlcConfig, UmConfig};
use backlane_param::{BufferLimit, OrInfinite, OrNone};
use backlane_radio::FadingProfile;
use backlane_units::Duration;

use common::{Cells, Load, at, saturating};

const SITE: &[(f64, f64)] = &[(0.0, 0.0)];

fn um() -> RlcConfig {
    RlcConfig::from(UmConfig::default())
}

fn run(config: RanConfig, distance_m: f64, load: Load, s: f64) -> Cells {
    let ues = [(at(distance_m, 0.0), None)];
    let mut cells = Cells::new(config, SITE, &ues, &[load], 1);
    cells.run(s);
    cells
}

fn down(cells: &Cells) -> Counters {
    cells.ran().rlc_counters(0, Direction::Down)
}

/// The delays of packets that arrived in the later half, in milliseconds.
fn later_delays_ms(cells: &Cells) -> Vec<f64> {
    let delays = &cells.sink(0).delays;
    let later = &delays[delays.len() / 2..];
    later
        .iter()
        .map(|delay| delay.as_secs_f64() * 1e3)
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// 750 packets of 12 000 bits at the rate that the channel has, and the air: 3 ms, more where
/// HARQ repeats blocks and holds up what follows.
#[test]
fn a_full_buffer_of_750_packets_takes_as_long_as_the_rate_needs_for_them() {
    for (distance_m, slack_ms) in [(100.0, 3.0..4.0), (700.0, 3.0..8.0), (1200.0, 3.0..8.0)] {
        let config = RanConfig {
            rlc: um(),
            ..RanConfig::default()
        };
        let cells = run(config, distance_m, saturating(0, 8, 8), 8.0);
        let later = &cells.sink(0).delays;
        let first = later.len() / 2;
        let second_half_s = 8.0 - arrival_s(&cells, first);
        let rate_bps = (later.len() - first) as f64 * 12e3 / second_half_s;
        let slack = mean(&later_delays_ms(&cells)) - 750.0 * 12e3 / rate_bps * 1e3;
        assert!(
            slack_ms.contains(&slack),
            "{distance_m} m: {rate_bps} {slack}"
        );
    }
}

/// When a packet of the saturating load of 8 packets a millisecond arrived.
fn arrival_s(cells: &Cells, n: usize) -> f64 {
    let sink = cells.sink(0);
    (sink.sequences[n] / 8) as f64 * 1e-3 + sink.delays[n].as_secs_f64()
}

#[test]
fn acknowledged_mode_brings_in_order_what_harq_lost_and_unacknowledged_mode_does_not() {
    let config = RanConfig {
        harq: HarqConfig {
            max_transmissions: 1,
            ..RanConfig::default().harq
        },
        fading: OrNone::Value(FadingProfile::Eva),
        ..RanConfig::default()
    };
    let load = saturating(0, 1, 4);
    let am = run(config.clone(), 500.0, load, 6.0);
    let sequences = &am.sink(0).sequences;
    assert!(sequences.iter().copied().eq(0..4000));
    assert_eq!(down(&am).losses, 0);
    assert!(down(&am).retransmitted_pdus > 400);
    let um = run(
        RanConfig {
            rlc: um(),
            ..config
        },
        500.0,
        load,
        6.0,
    );
    let sequences = &um.sink(0).sequences;
    assert!(sequences.is_sorted());
    let lost = down(&um).losses;
    assert_eq!(sequences.len() as u64 + lost, 4000);
    // Blocks are lost at the target of 10 %, or above where fading outruns the reports.
    assert!((300..700).contains(&lost), "{lost}");
}

/// A load that the cell does not quite carry, about 103 %.
fn overload() -> Load {
    Load {
        every: Duration::from_micros(1350),
        bursts: 14_000,
        ..saturating(0, 1, 1)
    }
}

fn overloaded(rlc: RlcConfig, discard_timer: OrInfinite<Duration>) -> Cells {
    let config = RanConfig {
        rlc,
        pdcp: PdcpConfig {
            discard_timer,
            ..PdcpConfig::default()
        },
        ..RanConfig::default()
    };
    run(config, 2000.0, overload(), 18.9)
}

#[test]
fn codel_keeps_the_buffer_of_an_overloaded_bearer_short() {
    let codel = Aqm::CoDel {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
    };
    let [drop_tail, codel] = [Aqm::Off, codel].map(|aqm| {
        let rlc = RlcConfig { aqm, ..um() };
        mean(&later_delays_ms(&overloaded(rlc, OrInfinite::Infinite)))
    });
    // 3 % of 740 packets a second have piled up for 9.5 to 18.9 s.
    assert!((400.0..600.0).contains(&drop_tail), "{drop_tail}");
    // The target of 5 ms, some HARQ, and what builds up between two drops.
    assert!((8.0..25.0).contains(&codel), "{codel}");
}

#[test]
fn packets_wait_no_longer_than_their_discard_timer() {
    let cells = overloaded(um(), OrInfinite::Value(Duration::from_millis(100)));
    let mean_ms = mean(&later_delays_ms(&cells));
    assert!((100.0..107.0).contains(&mean_ms), "{mean_ms}");
    assert!(down(&cells).drops > 100);
}

/// What arrives is dropped while the head has waited for too long, so that the buffer swings
/// below its limit.
#[test]
fn a_buffer_of_time_bounds_the_delay() {
    let rlc = RlcConfig {
        buffer: BufferLimit::Time(Duration::from_millis(100)),
        ..um()
    };
    let delays_ms = later_delays_ms(&overloaded(rlc, OrInfinite::Infinite));
    let most_ms = delays_ms.iter().copied().fold(0.0, f64::max);
    assert!((100.0..140.0).contains(&most_ms), "{most_ms}");
    let mean_ms = mean(&delays_ms);
    assert!((50.0..100.0).contains(&mean_ms), "{mean_ms}");
}
