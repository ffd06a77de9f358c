//! UEs that move between cells: nothing is lost that the modes of RLC do not lose.

mod common;

use backlane_lte::config::{Interference, RanConfig};
use backlane_lte::rlc::{AmConfig, Direction, RlcConfig, UmConfig};
use backlane_lte::rrc::{Attach, AttachConfig, Handover};
use backlane_param::BufferLimit;
use backlane_radio::mobility::Waypoints;
use backlane_radio::{Mobility, Position};
use backlane_units::{Decibels, Duration, SimTime};

use common::{Cells, Load, at, single};

/// Two cells 1 km apart on a line.
const SITES: &[(f64, f64)] = &[(0.0, 0.0), (1000.0, 0.0)];

/// From 200 m beside the first cell to 200 m beside the second at 30 m/s: 20 s.
fn crossing() -> Mobility {
    let place = |x_m| Position::new(x_m, 0.0, 1.5);
    let end = SimTime::ZERO + Duration::from_secs(20);
    let places = [(SimTime::ZERO, place(200.0)), (end, place(800.0))];
    Mobility::Waypoints(Waypoints::new(&places).expect("two places in order"))
}

/// 8 Mbit/s down and 0.8 Mbit/s up for 19 s.
fn loads() -> [Load; 2] {
    let down = Load {
        ue: 0,
        up: false,
        bytes: 1000,
        first: Duration::from_millis(100),
        every: Duration::from_millis(1),
        pkts: 1,
        bursts: 19_000,
    };
    let up = Load {
        up: true,
        every: Duration::from_millis(10),
        bursts: 1_900,
        ..down
    };
    [down, up]
}

fn config(rlc: RlcConfig) -> RanConfig {
    RanConfig {
        interference: Interference::LoadCoupled,
        rlc: RlcConfig {
            buffer: BufferLimit::Packets(1000),
            ..rlc
        },
        ..RanConfig::default()
    }
}

fn cross(config: RanConfig) -> Cells {
    let mut cells = Cells::new(config, SITES, &[(crossing(), None)], &loads(), 1);
    cells.run(22.0);
    cells
}

fn arrived(cells: &Cells, load: usize) -> usize {
    cells.sink(load).sequences.len()
}

/// The longest time between two arrivals over a load, given when its packets were sent.
fn longest_gap_ms(cells: &Cells, load: usize, every_ms: f64) -> f64 {
    let sink = cells.sink(load);
    let at = |(sequence, delay): (&u64, &Duration)| {
        *sequence as f64 * every_ms + delay.as_secs_f64() * 1e3
    };
    let times: Vec<f64> = sink.sequences.iter().zip(&sink.delays).map(at).collect();
    times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(0.0, f64::max)
}

fn assert_all_in_order(cells: &Cells) {
    for (load, pkts) in [(0, 19_000), (1, 1_900)] {
        let expected: Vec<u64> = (0..pkts).collect();
        assert!(cells.sink(load).sequences == expected, "load {load}");
    }
}

#[test]
fn in_acknowledged_mode_a_handover_loses_nothing_and_keeps_the_order() {
    let cells = cross(config(RlcConfig::from(AmConfig::default())));
    let readings = cells.ran().ue_readings(0);
    assert_eq!((readings.handovers, readings.radio_link_failures), (1, 0));
    assert_eq!(cells.ran().serving_cell(0), 1);
    assert_all_in_order(&cells);
    // 45 ms of interruption, a report and a grant until data flows again.
    let gap_ms = longest_gap_ms(&cells, 0, 1.0);
    assert!((45.0..65.0).contains(&gap_ms), "{gap_ms}");
}

/// 60 Mbit/s are more than the edge of a cell carries: 1000 packets wait when the UE leaves.
#[test]
fn a_full_buffer_is_forwarded_through_the_mesh() {
    let load = Load {
        bytes: 1500,
        pkts: 5,
        ..loads()[0]
    };
    let ues = [(crossing(), None)];
    let mut cells = Cells::new(config(RlcConfig::default()), SITES, &ues, &[load], 1);
    let mut ms = 12_000;
    while cells.ran().serving_cell(0) == 0 {
        ms += 5;
        cells.run(f64::from(ms) / 1e3);
    }
    // The buffer is sent back within half of the 45 ms that the UE is away.
    cells.run(f64::from(ms + 22) / 1e3);
    let carried = cells.simulation.network.links()[0].counters().packets;
    // At most 27 ms of new packets were among them.
    assert!((1000..1200).contains(&carried), "{carried}");
    let (waiting, _) = cells.ran().queue(0, Direction::Down);
    assert_eq!(waiting, 0);
    cells.run(30.0);
    let sequences = &cells.sink(0).sequences;
    assert!(sequences.is_sorted_by(|a, b| a < b));
}

/// With the server beside the second cell what it sends after the handover is there before what
/// comes back from the first.
#[test]
fn what_was_forwarded_goes_before_what_came_directly() {
    let ues = [(crossing(), None)];
    let config = config(RlcConfig::from(AmConfig::default()));
    let mut cells = Cells::with_servers(config, SITES, &ues, &loads(), 1, |_| 1);
    cells.run(22.0);
    assert_eq!(cells.ran().ue_readings(0).handovers, 1);
    assert_all_in_order(&cells);
}

/// What was begun and not delivered when the UE left is lost: at 8 Mbit/s one packet a
/// millisecond, and no more than 8 ms of them are on the air.
#[test]
fn in_unacknowledged_mode_a_handover_loses_what_was_on_the_air() {
    let cells = cross(config(RlcConfig::from(UmConfig::default())));
    assert_eq!(cells.ran().ue_readings(0).handovers, 1);
    let lost = 19_000 - arrived(&cells, 0);
    assert!((1..=8).contains(&lost), "{lost}");
    assert!(cells.sink(0).sequences.is_sorted());
    assert!(1_900 - arrived(&cells, 1) <= 2);
}

#[test]
fn after_a_handover_packets_leave_the_mesh_at_the_new_cell() {
    let mut cells = Cells::new(
        config(RlcConfig::default()),
        SITES,
        &[(crossing(), None)],
        &loads(),
        1,
    );
    let carried = |cells: &Cells| cells.simulation.network.links()[0].counters().packets;
    cells.run(10.0);
    assert_eq!((cells.ran().serving_cell(0), carried(&cells)), (0, 0));
    cells.run(15.0);
    assert_eq!(cells.ran().serving_cell(0), 1);
    let before = carried(&cells);
    cells.run(18.0);
    // The server is at the first cell: 1000 packets a second cross to the second.
    assert_eq!(carried(&cells) - before, 3000);
}

/// 120 m to and fro around the middle: the signals differ by up to 2.8 dB.
#[test]
fn hysteresis_keeps_a_ue_between_two_cells_where_it_is() {
    let walk = || {
        let places = (0..20).map(|step| {
            let x_m = if step % 2 == 0 { 440.0 } else { 560.0 };
            let time = SimTime::ZERO + Duration::from_secs(2 * step);
            (time, Position::new(x_m, 0.0, 1.5))
        });
        let places: Vec<_> = places.collect();
        Mobility::Waypoints(Waypoints::new(&places).expect("in order"))
    };
    let handovers = |hysteresis_mdb| {
        let mut config = config(RlcConfig::default());
        if let Handover::A3(handover) = &mut config.rrc.handover {
            handover.event.hysteresis = Decibels::from_mdb(hysteresis_mdb);
        }
        let mut cells = Cells::new(config, SITES, &[(walk(), Some(0))], &[], 1);
        cells.run(38.0);
        cells.ran().ue_readings(0).handovers
    };
    assert_eq!(handovers(3_000), 0);
    assert!(handovers(500) > 10);
}

#[test]
fn without_handover_the_link_fails_and_is_made_anew_in_the_other_cell() {
    let mut config = config(RlcConfig::default());
    config.rrc.handover = Handover::Off;
    // The other cell is idle, and would not disturb.
    config.interference = Interference::Full;
    config.rlc.buffer = BufferLimit::Packets(10_000);
    let cells = cross(config);
    let readings = cells.ran().ue_readings(0);
    assert_eq!(readings.handovers, 0);
    assert!(readings.radio_link_failures >= 1);
    assert_eq!(cells.ran().serving_cell(0), 1);
    assert_all_in_order(&cells);
    let gap_ms = longest_gap_ms(&cells, 0, 1.0);
    assert!((200.0..400.0).contains(&gap_ms), "{gap_ms}");
}

#[test]
fn a_ue_out_of_reach_gets_nothing_and_the_network_says_so() {
    let ues = [(at(-40_000.0, 0.0), None), (at(100.0, 0.0), None)];
    let far = single(0, false, 500, Duration::from_millis(5));
    let near = single(1, false, 500, Duration::from_millis(5));
    let up = single(0, true, 500, Duration::from_millis(5));
    let loads = [far, near, up];
    let mut cells = Cells::new(config(RlcConfig::default()), SITES, &ues, &loads, 1);
    let out: Vec<_> = cells.ran().out_of_reach().collect();
    assert_eq!(out.len(), 1);
    assert_eq!(out[0].0, 0);
    // 30 dBm, 20 dB for 100 blocks, 36 + 26 log(40 000) dB of loss, −112.4 dBm of noise, 1 dB lost.
    let expected = 30.0 - 20.0 - 36.0 - 26.0 * 40_000f64.log10() + 112.45 - 1.0;
    assert!((out[0].1 - expected).abs() < 0.1, "{out:?} {expected}");
    cells.run(10.0);
    assert_eq!([0, 1, 2].map(|load| arrived(&cells, load)), [0, 1, 0]);
}

#[test]
fn attaching_delays_the_first_packet() {
    let delay_ms = |period: Duration, seed| {
        let mut config = config(RlcConfig::default());
        config.rrc.attach = Attach::Standard(AttachConfig {
            system_information_period: period,
            ..AttachConfig::default()
        });
        let load = single(0, false, 500, Duration::ZERO);
        let mut cells = Cells::new(config, SITES, &[(at(100.0, 0.0), None)], &[load], seed);
        cells.run(1.0);
        cells.sink(0).delays[0].as_ps() / 1_000_000_000
    };
    // 25 ms of random access and 20 ms of set-up. The channel is reported in each fifth TTI, so in
    // the 45th, and known after 6 ms; decision, transmission and decoding take 1 ms each.
    assert_eq!(delay_ms(Duration::ZERO, 1), 45 + 6 + 3);
    // And up to 80 ms until system information comes.
    let period = AttachConfig::default().system_information_period;
    let delays_ms: Vec<u64> = (1..=10).map(|seed| delay_ms(period, seed)).collect();
    let (least, most) = (45 + 9, 45 + 80 + 9);
    let possible = |delay: &u64| (least..=most).contains(delay) && (delay - 9).is_multiple_of(5);
    assert!(delays_ms.iter().all(possible), "{delays_ms:?}");
    // Ten that are uniform over 80 ms lie within 40 ms of each other once in 93 times.
    let spread_ms = delays_ms.iter().max().unwrap() - delays_ms.iter().min().unwrap();
    assert!(spread_ms > 40, "{delays_ms:?}");
}

#[test]
fn a_handover_is_the_same_each_time() {
    let run = || {
        let mut cells = Cells::new(
            config(RlcConfig::default()),
            SITES,
            &[(crossing(), None), (at(500.0, 50.0), None)],
            &loads(),
            7,
        );
        cells.run(15.0);
        cells.simulation.digest()
    };
    assert_eq!(run(), run());
}
