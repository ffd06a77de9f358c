//! The family of congestion controls over the "clean" path against the real Linux 6.1 stack.
//!
//! The reference numbers were recorded from Linux 6.1.192 (User Mode Linux on simulated time)
//! over the same path: 50 Mb/s, 173 packets waiting and one in service, drop-tail, 40 ms of
//! round trip. Means are over 10..60 s, in samples of 100 ms.

mod dumbbell;

use backlane_tcp::Config;
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

/// What Linux did.
struct Reference {
    goodput_mbps: f64,
    mean_cwnd_pkts: f64,
    mean_srtt_ms: f64,
    /// The largest window of the first two seconds, sampled every 10 ms.
    peak_cwnd_pkts: f64,
    /// Falls of the window by more than 5 packets between 10 and 60 s.
    reductions: u32,
}

fn close(name: &str, measured: f64, reference: f64, share: f64) {
    assert!(
        (measured / reference - 1.0).abs() <= share,
        "{name}: {measured}, Linux: {reference}"
    );
}

fn follows_linux(name: &str, linux: &Reference) {
    let config = Config {
        congestion_control: name.parse().unwrap(),
        // Half of the 8 MB the receiver had for its buffer.
        receive_buffer: Bytes::new(4 << 20),
        ..Config::default()
    };
    let mut run = Dumbbell::new(&config, Path::clean());
    let mut peak_cwnd_pkts = 0;
    for i in 5..=200 {
        run.run_until(SimTime::ZERO + Duration::from_millis(i * 10));
        peak_cwnd_pkts = peak_cwnd_pkts.max(run.sender.readings().cwnd_pkts);
    }
    run.run_until(SimTime::ZERO + Duration::from_secs(10));
    let start_bytes = run.sender.acked_bytes();
    let (mut last_cwnd_pkts, mut falls) = (run.sender.readings().cwnd_pkts, false);
    let (mut cwnd_pkts, mut srtt_ms, mut reductions) = (0.0, 0.0, 0);
    for i in 101..=600 {
        run.run_until(SimTime::ZERO + Duration::from_millis(i * 100));
        let readings = run.sender.readings();
        cwnd_pkts += f64::from(readings.cwnd_pkts) / 500.0;
        srtt_ms += readings.srtt.as_secs_f64() * 1000.0 / 500.0;
        let fell = falls;
        falls = readings.cwnd_pkts + 5 < last_cwnd_pkts;
        reductions += u32::from(falls && !fell);
        last_cwnd_pkts = readings.cwnd_pkts;
    }
    let goodput_mbps = (run.sender.acked_bytes() - start_bytes) as f64 * 8.0 / 50e6;
    close("goodput", goodput_mbps, linux.goodput_mbps, 0.001);
    close("mean window", cwnd_pkts, linux.mean_cwnd_pkts, 0.005);
    close("mean RTT", srtt_ms, linux.mean_srtt_ms, 0.005);
    close(
        "peak of slow start",
        f64::from(peak_cwnd_pkts),
        linux.peak_cwnd_pkts,
        0.01,
    );
    assert!(
        reductions.abs_diff(linux.reductions) <= 1,
        "{reductions} reductions, Linux: {}",
        linux.reductions
    );
    assert_eq!(run.sender.statistics().rtos, 0);
}

#[test]
fn scalable_follows_linux() {
    follows_linux(
        "scalable",
        &Reference {
            goodput_mbps: 48.267,
            mean_cwnd_pkts: 321.1,
            mean_srtt_ms: 77.18,
            peak_cwnd_pkts: 673.0,
            reductions: 42,
        },
    );
}

#[test]
fn highspeed_follows_linux() {
    follows_linux(
        "highspeed",
        &Reference {
            goodput_mbps: 48.267,
            mean_cwnd_pkts: 280.4,
            mean_srtt_ms: 67.42,
            peak_cwnd_pkts: 671.0,
            reductions: 11,
        },
    );
}

#[test]
fn hybla_follows_linux() {
    follows_linux(
        "hybla",
        &Reference {
            goodput_mbps: 48.266,
            mean_cwnd_pkts: 275.6,
            mean_srtt_ms: 66.32,
            peak_cwnd_pkts: 834.0,
            reductions: 4,
        },
    );
}

#[test]
fn illinois_follows_linux() {
    follows_linux(
        "illinois",
        &Reference {
            goodput_mbps: 48.266,
            mean_cwnd_pkts: 293.1,
            mean_srtt_ms: 70.45,
            peak_cwnd_pkts: 672.0,
            reductions: 3,
        },
    );
}

#[test]
fn westwood_follows_linux() {
    follows_linux(
        "westwood",
        &Reference {
            goodput_mbps: 48.265,
            mean_cwnd_pkts: 267.8,
            mean_srtt_ms: 64.48,
            peak_cwnd_pkts: 670.0,
            reductions: 5,
        },
    );
}
