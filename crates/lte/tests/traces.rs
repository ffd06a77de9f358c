//! What a UE hears may be a trace.

mod common;

use std::sync::Arc;

use backlane_lte::ChannelTrace;
use backlane_lte::config::{RanConfig, UeChannel};
use backlane_lte::rlc::{RlcConfig, UmConfig};
use backlane_net::AtEnd;
use backlane_units::{Duration, SimTime};

use common::{Cells, at, saturating};

fn trace(values: &[(u64, f64)], period_ms: u64, at_end: AtEnd) -> Arc<ChannelTrace> {
    let times = values.iter().map(|&(ms, _)| Duration::from_millis(ms));
    let trace = ChannelTrace::new(
        times.collect(),
        values.iter().map(|&(_, value)| value).collect(),
        Duration::from_millis(period_ms),
        at_end,
        SimTime::ZERO,
    );
    Arc::new(trace.unwrap())
}

/// A saturated cell with these UEs for two seconds.
fn cells(channels: &[UeChannel]) -> Cells {
    let config = RanConfig {
        rlc: RlcConfig::from(UmConfig::default()),
        ..RanConfig::default()
    };
    let ues = vec![(at(300.0, 0.0), None); channels.len()];
    let loads: Vec<_> = (0..channels.len()).map(|ue| saturating(ue, 8, 2)).collect();
    let channel = |ue: usize| channels[ue].clone();
    let mut cells =
        Cells::with_channels(config, &[(0.0, 0.0)], &ues, &loads, 1, |cell| cell, channel);
    cells.run(2.0);
    cells
}

fn mbps(channel: UeChannel) -> f64 {
    cells(&[channel]).goodput_bps(0, 2.0) / 1e6
}

#[test]
fn a_recorded_sinr_gives_what_the_recorded_ue_had() {
    let recorded = mbps(UeChannel::Radio);
    let sinr_db = cells(&[UeChannel::Radio]).ran().ue_readings(0).sinr_db;
    let trace = trace(&[(0, sinr_db), (1000, sinr_db)], 2000, AtEnd::Repeat);
    let replayed = mbps(UeChannel::Sinr(trace));
    assert!(
        (replayed / recorded - 1.0).abs() < 1e-3,
        "{replayed} {recorded}"
    );
}

#[test]
fn the_rate_follows_the_trace_and_ends_with_it() {
    let good = trace(&[(0, 25.0)], 2000, AtEnd::Hold);
    let good = mbps(UeChannel::Sinr(good));
    let bad = trace(&[(0, 2.0)], 2000, AtEnd::Hold);
    let bad = mbps(UeChannel::Sinr(bad));
    assert!(bad < 0.3 * good && bad > 1.0, "{bad} {good}");
    let half = trace(&[(0, 25.0), (500, 2.0)], 1000, AtEnd::Repeat);
    let half = mbps(UeChannel::Sinr(half));
    let mean = f64::midpoint(good, bad);
    // What was learnt of the channel is late at each of the four changes.
    assert!((half / mean - 1.0).abs() < 0.05, "{half} {mean}");
    let ended = trace(&[(0, 25.0)], 1000, AtEnd::Stop);
    let ended = mbps(UeChannel::Sinr(ended));
    assert!((ended / (good / 2.0) - 1.0).abs() < 0.02, "{ended} {good}");
}

#[test]
fn a_cqi_of_a_trace_is_reported_and_one_ue_hears_another_trace() {
    let of = |cqi| UeChannel::Cqi(trace(&[(0, cqi)], 1000, AtEnd::Hold));
    let cells = cells(&[of(15.0), of(5.0)]);
    for (ue, cqi) in [(0, 15), (1, 5)] {
        assert_eq!(cells.ran().ue_readings(ue).cqi, cqi);
    }
    assert!(cells.goodput_bps(0, 2.0) > 3.0 * cells.goodput_bps(1, 2.0));
}
