//! What a full buffer gets: block sizes, layers, carriers, and the blocks that are lost.

mod common;

use backlane_lte::config::{AdaptationConfig, Bandwidth, CarrierConfig, HarqConfig, RanConfig};
use backlane_lte::phy::coding::Grid;
use backlane_lte::phy::error_model::{ErrorModel, ErrorModelConfig, SoftBits};
use backlane_lte::phy::link_adaptation::LinkAdaptation;
use backlane_lte::phy::mutual_information::MutualInformation;
use backlane_lte::phy::tables::{CqiTable, McsTable};
use backlane_lte::rlc::{RlcConfig, UmConfig};
use backlane_param::{Int, OrAuto, OrNone};
use backlane_radio::{FadingProfile, Line, Mobility, Position};
use backlane_units::{Duration, SimTime};

use common::{Cells, at, saturating, single};

const SITE: &[(f64, f64)] = &[(0.0, 0.0)];
const SECONDS: f64 = 2.0;

fn um(config: RanConfig) -> RanConfig {
    RanConfig {
        rlc: RlcConfig::from(UmConfig::default()),
        ..config
    }
}

fn full_buffer(config: RanConfig, distance_m: f64, pkts_per_ms: u32) -> Cells {
    let load = saturating(0, pkts_per_ms, 2);
    let ues = [(at(distance_m, 0.0), None)];
    let mut cells = Cells::new(um(config), SITE, &ues, &[load], 1);
    cells.run(SECONDS);
    cells
}

/// Packets' bits in a second of these blocks in each millisecond: 1 byte of MAC and 2 of RLC for a
/// block, 2 of PDCP and about 1.5 of RLC for a packet, and the first comes out after 3 ms.
fn goodput_mbps(blocks_bits: &[f64]) -> f64 {
    let bytes: f64 = blocks_bits.iter().map(|bits| bits / 8.0 - 3.0).sum();
    bytes * 1500.0 / 1503.5 * 8e-3 * (1.0 - 0.003 / SECONDS)
}

fn reaches(config: RanConfig, pkts_per_ms: u32, blocks_bits: &[f64]) {
    let measured = full_buffer(config, 50.0, pkts_per_ms).goodput_bps(0, SECONDS) / 1e6;
    let expected = goodput_mbps(blocks_bits);
    assert!(
        (measured / expected - 1.0).abs() < 3e-3,
        "{measured} {expected}"
    );
}

/// Two codewords of one layer each: twice 75 376 bits.
#[test]
fn two_layers_carry_two_blocks() {
    let config = RanConfig {
        layers: Int(2),
        ..RanConfig::default()
    };
    reaches(config, 14, &[75_376.0; 2]);
}

/// Two codewords of two layers each: twice 149 776 bits.
#[test]
fn four_layers_carry_two_blocks_of_two() {
    let config = RanConfig {
        layers: Int(4),
        antenna_ports: OrAuto::Value(Int(4)),
        ..RanConfig::default()
    };
    reaches(config, 27, &[149_776.0; 2]);
}

#[test]
fn modulation_with_256_points_carries_97_896_bits() {
    let config = RanConfig {
        qam256: true,
        ..RanConfig::default()
    };
    reaches(config, 9, &[97_896.0]);
}

/// Category 9: 20 + 20 + 10 MHz with two layers have 374.9 Mbit/s of transport blocks.
#[test]
fn three_carriers_add_up() {
    let one = CarrierConfig::band_7();
    let wide = |bandwidth| CarrierConfig { bandwidth, ..one };
    let config = RanConfig {
        carrier: vec![
            wide(Bandwidth::Mhz20),
            wide(Bandwidth::Mhz20),
            wide(Bandwidth::Mhz10),
        ],
        layers: Int(2),
        ..RanConfig::default()
    };
    let blocks = [75_376.0, 75_376.0, 75_376.0, 75_376.0, 36_696.0, 36_696.0];
    assert_eq!(blocks.iter().sum::<f64>(), 374_896.0);
    reaches(config, 33, &blocks);
}

/// kun2600: 36 + 26 log₁₀ d; 30 dBm on 100 resource blocks over −112.4 dBm of noise, less 1 dB.
fn sinr(distance_m: f64) -> f32 {
    let d = (distance_m * distance_m + 28.5f64 * 28.5).sqrt();
    let noise_dbm = -174.0 + 10.0 * 180e3f64.log10() + 9.0;
    let snr_db = 30.0 - 20.0 - (36.0 + 26.0 * d.log10()) - noise_dbm - 1.0;
    10f64.powf(snr_db / 10.0) as f32
}

/// Without an outer loop the MCS is fixed, and with it the share of blocks that is lost. One
/// retransmission heals them nearly always, so of 1 + p blocks one is new: goodput is that of the
/// block size by 1 + p.
#[test]
fn goodput_is_the_block_size_by_the_transmissions_that_it_takes() {
    let mut config = RanConfig {
        adaptation: AdaptationConfig {
            outer_loop: false,
            ..RanConfig::default().adaptation
        },
        ..RanConfig::default()
    };
    let model = ErrorModel::new(ErrorModelConfig {
        table: McsTable::Qam64,
        grid: Grid::Downlink { ports: 2 },
        n_rb: 100,
        layers: 1,
        code_rate: config.code_rate,
        code_rate_limit: config.code_rate_limit.value(),
        combining: config.harq.combining,
        target_error: 0.1,
    });
    let adaptation = LinkAdaptation::new(
        config.adaptation.rule,
        CqiTable::Qam64,
        100,
        2,
        1,
        config.adaptation.target_bler,
    );
    let curves = MutualInformation::curves();
    let mut judged = 0;
    for step in 0..1500u16 {
        let (cfi, step) = ((step / 500 + 1) as u8, step % 500);
        config.control_symbols = OrAuto::Value(Int(cfi.into()));
        let distance_m = 250.0 * 1.004f64.powi(i32::from(step));
        let sinr = sinr(distance_m);
        let reported = adaptation.sinr(adaptation.cqi(&[sinr]));
        let mcs = model.highest_mcs(reported, 100, cfi);
        let format = model.format(mcs, 100, cfi);
        let information = curves.information(format.modulation, sinr);
        let p = model.block_error(format, format.coded_bits, information, &SoftBits::default());
        if !(0.005..0.3).contains(&p) {
            continue;
        }
        judged += 1;
        let cells = full_buffer(config.clone(), distance_m, 7);
        let readings = &cells.ran().ue_readings(0).downlink;
        let n = readings.transport_blocks as f64;
        assert_eq!(
            readings.by_mcs[usize::from(mcs)].ttis,
            readings.transport_blocks
        );
        let lost = readings.first_losses as f64 / n;
        let tolerance = 4.0 * (p * (1.0 - p) / n).sqrt();
        assert!((lost - p).abs() < tolerance, "{distance_m} m: {lost} {p}");
        let expected = goodput_mbps(&[f64::from(format.bits)]) / (1.0 + lost);
        let measured = cells.goodput_bps(0, SECONDS) / 1e6;
        assert!(
            (measured / expected - 1.0).abs() < 0.01,
            "{distance_m} m, CFI {cfi}, MCS {mcs}, p = {p}: {measured} {expected}"
        );
    }
    assert!(judged >= 3, "{judged}");
}

/// A block that is lost comes again eight milliseconds later, so packets that are alone take 3.7
/// or 11.7 ms; how many take longer is the error rate that the outer loop holds.
#[test]
fn a_retransmission_takes_eight_milliseconds() {
    let loads: Vec<_> = (0..2000)
        .map(|n| single(0, false, 1500, Duration::from_micros(100_300 + 100_000 * n)))
        .collect();
    let ues = [(at(1000.0, 0.0), None)];
    let standard = RanConfig::default();
    let config = RanConfig {
        harq: HarqConfig {
            nack_to_ack: 0.0,
            ..standard.harq
        },
        ..standard
    };
    let mut cells = Cells::new(um(config), SITE, &ues, &loads, 1);
    cells.run(201.0);
    let ms: Vec<f64> = (0..loads.len())
        .map(|n| cells.sink(n).delays[0].as_secs_f64() * 1e3)
        .collect();
    let share = |of: f64| ms.iter().filter(|&ms| (ms - of).abs() < 0.01).count() as f64 / 2000.0;
    let (first, second) = (share(3.7), share(11.7));
    assert!(first + second > 0.99, "{first} {second}");
    assert!((second - 0.1).abs() < 0.03, "{second}");
}

/// With a single transmission nothing is repeated, and the blocks that are lost are gone.
#[test]
fn without_retransmissions_the_error_rate_is_what_goodput_lacks() {
    let config = RanConfig {
        harq: HarqConfig {
            max_transmissions: 1,
            ..RanConfig::default().harq
        },
        ..RanConfig::default()
    };
    let cells = full_buffer(config, 1000.0, 4);
    let readings = &cells.ran().ue_readings(0).downlink;
    assert_eq!(readings.retransmissions, [0; 3]);
    assert_eq!(readings.lost_blocks, readings.first_losses);
    let arrived = readings.arrived_bytes as f64 / readings.used_bytes as f64;
    assert!((arrived - 0.9).abs() < 0.02, "{arrived}");
}

/// At 200 km/h the channel of a report is gone when a block goes by it; the outer loop still holds
/// a tenth of the blocks, within its steps.
#[test]
fn the_outer_loop_holds_the_error_rate_at_any_speed() {
    let losses = |km_per_h: f64, outer_loop| {
        let standard = RanConfig::default();
        let config = RanConfig {
            fading: OrNone::Value(FadingProfile::Eva),
            adaptation: AdaptationConfig {
                outer_loop,
                ..standard.adaptation
            },
            ..standard
        };
        let line = Mobility::Line(Line {
            from: Position::new(400.0, 0.0, 1.5),
            velocity_m_per_s: [km_per_h / 3.6, 0.0, 0.0],
            begin: SimTime::ZERO,
            end: None,
        });
        let ues = [(line, None)];
        let mut cells = Cells::new(um(config), SITE, &ues, &[saturating(0, 7, 5)], 1);
        let down = cells.run(5.0).ran().ue_readings(0).downlink.clone();
        down.first_losses as f64 / down.transport_blocks as f64
    };
    for speed in [3.0, 60.0, 200.0] {
        let held = losses(speed, true);
        assert!((held - 0.1).abs() < 0.015, "{speed} km/h: {held}");
    }
    let free = losses(200.0, false);
    assert!((free - 0.1).abs() > 0.05, "{free}");
}
