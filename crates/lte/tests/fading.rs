//! Fading at every resource block, and its sources.

mod common;

use std::sync::Arc;

use backlane_engine::Streams;
use backlane_lte::config::{RanConfig, UeChannel};
use backlane_lte::phy::link_adaptation::{Adaptation, LinkAdaptation};
use backlane_lte::phy::mutual_information::MutualInformation;
use backlane_lte::phy::tables::CqiTable;
use backlane_lte::rlc::{RlcConfig, UmConfig};
use backlane_lte::{ChannelTrace, FadingTrace};
use backlane_net::AtEnd;
use backlane_param::{OrAuto, OrNone};
use backlane_radio::fading::group_offsets_hz;
use backlane_radio::{Fading, FadingProfile, FrequencyResponse};
use backlane_units::{Duration, Power, SimTime, Speed};

use common::{Cells, at, saturating};

const BLOCK_HZ: f64 = 180e3;
const KM_PER_H: u64 = 1_000_000_000;

/// The mean, over links with EVA, of the MCS of LENA's worst group of four resource blocks.
fn worst_group_mcs(adaptation: Adaptation, mean_db: f64) -> f64 {
    let adaptation = LinkAdaptation::new(adaptation, CqiTable::Qam64, 100, 1, 1, 0.1);
    let offsets = group_offsets_hz(100, 1, BLOCK_HZ);
    let response = Arc::new(FrequencyResponse::new(FadingProfile::Eva, &offsets));
    let mean = libm::pow(10.0, mean_db / 10.0) as f32;
    let links = 20_000;
    let curves = MutualInformation::curves();
    let streams = Streams::new(1);
    let sum: f64 = (0..links)
        .map(|link| {
            let mut stream = streams.stream(&format!("ue{link}"), "fading");
            let mut fading = Fading::new(response.clone(), &mut stream);
            let sinr: Vec<f32> = fading.gains(0.0).iter().map(|gain| gain * mean).collect();
            let cqis = sinr.chunks(4).map(|group| {
                let sums = curves.sums(group);
                adaptation.group_cqi(group, &sums)
            });
            f64::from(LinkAdaptation::lena_mcs(cqis.min().unwrap_or(0)))
        })
        .sum();
    sum / f64::from(links)
}

/// The expected values are of a computation in numpy with complex Gaussian taps, 20 000 draws, with
/// a standard error of 0.04 at most; ours has as much.
#[test]
fn the_worst_group_of_eva_has_the_mcs_of_an_independent_computation() {
    for (mean_db, mean_information, mean_cqi) in [
        (20.0, 13.09, 8.51),
        (25.0, 17.86, 13.77),
        (30.0, 21.82, 18.90),
        (35.0, 24.69, 22.78),
    ] {
        let got = worst_group_mcs(Adaptation::LenaErrorModel, mean_db);
        assert!((got - mean_information).abs() < 0.2, "{mean_db} dB: {got}");
        let got = worst_group_mcs(Adaptation::Piro, mean_db);
        assert!((got - mean_cqi).abs() < 0.2, "{mean_db} dB: {got}");
    }
}

fn config() -> RanConfig {
    RanConfig {
        rlc: RlcConfig::from(UmConfig::default()),
        ..RanConfig::default()
    }
}

fn eva(speed: Option<u64>) -> RanConfig {
    RanConfig {
        fading: OrNone::Value(FadingProfile::Eva),
        fading_speed: speed.map_or(OrAuto::Auto, |km_per_h| {
            OrAuto::Value(Speed::from_um_per_h(km_per_h * KM_PER_H))
        }),
        ..config()
    }
}

/// A saturated cell for two seconds, with one UE at rest.
fn cell(config: RanConfig, channel: UeChannel, trace: Option<Arc<FadingTrace>>) -> Cells {
    let ues = vec![(at(900.0, 0.0), None)];
    let loads = [saturating(0, 8, 2)];
    let channel = |_: usize| channel.clone();
    let mut cells = Cells::with_fading(config, &[(0.0, 0.0)], &ues, &loads, channel, trace);
    cells.run(2.0);
    cells
}

fn mbps(cells: &Cells) -> f64 {
    cells.goodput_bps(0, 2.0) / 1e6
}

fn flat(sinr_db: f64) -> Arc<ChannelTrace> {
    let trace = ChannelTrace::new(
        vec![Duration::ZERO],
        vec![sinr_db],
        Duration::from_secs(1),
        AtEnd::Hold,
        SimTime::ZERO,
    );
    Arc::new(trace.unwrap())
}

#[test]
fn fading_on_a_mean_sinr_is_that_of_the_radio_at_this_mean() {
    let mean_db = cell(config(), UeChannel::Radio, None)
        .ran()
        .ue_readings(0)
        .sinr_db;
    let radio = mbps(&cell(eva(Some(60)), UeChannel::Radio, None));
    let trace = UeChannel::MeanSinr(flat(mean_db));
    let traced = mbps(&cell(eva(Some(60)), trace.clone(), None));
    assert!((traced / radio - 1.0).abs() < 2e-3, "{traced} {radio}");
    // Without fading a mean is the value, and fading costs more than a tenth of it here.
    let without = mbps(&cell(config(), trace, None));
    let value = mbps(&cell(config(), UeChannel::Sinr(flat(mean_db)), None));
    assert_eq!(without, value);
    assert!(traced < 0.9 * without, "{traced} {without}");
}

#[test]
fn a_speed_of_fading_moves_what_surrounds_a_ue_at_rest() {
    let spread_db = |config: RanConfig| {
        let cells = cell(config, UeChannel::Radio, None);
        let readings = cells.ran().ue_readings(0).clone();
        let mean = readings.sinr_db_sum / readings.reports as f64;
        (readings.sinr_db - mean).abs()
    };
    assert!(spread_db(eva(None)) < 1e-6);
    assert!(spread_db(eva(Some(60))) > 0.05);
}

/// A trace that says −3 dB at all times is 3 dB less power in both directions.
#[test]
fn an_even_trace_is_a_change_of_power() {
    let even = |db: f64| {
        let rows = vec![vec![db; 700]; 100];
        Some(Arc::new(
            FadingTrace::new(&rows, Duration::from_millis(500)).unwrap(),
        ))
    };
    let traced = mbps(&cell(config(), UeChannel::Radio, even(-3.0)));
    let power = RanConfig {
        enodeb_power: Power::from_mdbm(27_000),
        ue_power: Power::from_mdbm(20_000),
        ..config()
    };
    let weaker = mbps(&cell(power, UeChannel::Radio, None));
    assert!((traced / weaker - 1.0).abs() < 5e-3, "{traced} {weaker}");
    let full = mbps(&cell(config(), UeChannel::Radio, None));
    assert!(traced < 0.95 * full, "{traced} {full}");
    // It takes the place of a profile.
    let both = mbps(&cell(eva(Some(60)), UeChannel::Radio, even(-3.0)));
    assert_eq!(both, traced);
}

/// Half of the carrier 30 dB down: no more than half of its information is left.
#[test]
fn a_trace_fades_each_resource_block_by_its_own_line() {
    let row = |block: usize| vec![if block < 50 { 0.0 } else { -30.0 }; 600];
    let rows: Vec<_> = (0..100).map(row).collect();
    let half = FadingTrace::new(&rows, Duration::from_millis(500)).unwrap();
    let full = mbps(&cell(config(), UeChannel::Radio, None));
    let wideband = mbps(&cell(config(), UeChannel::Radio, Some(Arc::new(half))));
    assert!(wideband < 0.5 * full, "{wideband} {full}");
}
