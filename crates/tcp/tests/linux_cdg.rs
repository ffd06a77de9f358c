//! CDG against the real Linux 6.1 stack, over the "clean" path and over three paths in turn.
//!
//! The reference numbers were recorded from Linux 6.1.192 (User Mode Linux on simulated time)
//! over the same path: 50 Mb/s, 173 packets waiting and one in service, drop-tail, 40 ms of
//! round trip; means are over 10..60 s, in samples of 100 ms. CDG draws random numbers and
//! Linux's are one realisation: here ten seeds are averaged. The peak of slow start has two modes,
//! by what ends it, and is compared by mode.

mod dumbbell;

use backlane_tcp::{Config, Seed, SlowStartEnd};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

const SEEDS: u64 = 10;

#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    goodput_mbps: f64,
    mean_cwnd_pkts: f64,
    mean_srtt_ms: f64,
    /// The largest window of the first two seconds, sampled every 10 ms.
    peak_cwnd_pkts: u32,
    /// HyStart ended slow start, and not a draw.
    by_hystart: bool,
    retransmits: u64,
}

fn run(path: Path, random_seed: u64) -> Summary {
    let config = Config {
        congestion_control: "cdg".parse().unwrap(),
        random_seed: Seed(random_seed),
        // Half of the 8 MB the receiver had for its buffer.
        receive_buffer: Bytes::new(4 << 20),
        ..Config::default()
    };
    let mut run = Dumbbell::new(&config, path);
    let mut summary = Summary::default();
    for i in 5..=200 {
        run.run_until(SimTime::ZERO + Duration::from_millis(i * 10));
        let cwnd_pkts = run.sender.readings().cwnd_pkts;
        summary.peak_cwnd_pkts = summary.peak_cwnd_pkts.max(cwnd_pkts);
    }
    run.run_until(SimTime::ZERO + Duration::from_secs(10));
    let start_bytes = run.sender.acked_bytes();
    for i in 101..=600 {
        run.run_until(SimTime::ZERO + Duration::from_millis(i * 100));
        let readings = run.sender.readings();
        summary.mean_cwnd_pkts += f64::from(readings.cwnd_pkts) / 500.0;
        summary.mean_srtt_ms += readings.srtt.as_secs_f64() * 1000.0 / 500.0;
    }
    summary.goodput_mbps = (run.sender.acked_bytes() - start_bytes) as f64 * 8.0 / 50e6;
    summary.retransmits = run.sender.statistics().retransmits;
    let cause = run
        .sender
        .statistics()
        .slow_start_exit
        .map(|exit| exit.cause);
    summary.by_hystart = matches!(cause, Some(SlowStartEnd::AckTrain | SlowStartEnd::Delay));
    assert_eq!(run.sender.statistics().rtos, 0);
    summary
}

fn seeds(path: &Path) -> Vec<Summary> {
    (1..=SEEDS).map(|seed| run(path.clone(), seed)).collect()
}

fn close(runs: &[Summary], value: fn(&Summary) -> f64, linux: f64, share: f64) {
    let mean = runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    assert!(
        (mean / linux - 1.0).abs() <= share,
        "{mean}, Linux: {linux}; {runs:?}"
    );
}

#[test]
fn cdg_follows_linux_in_the_mean_of_ten_seeds() {
    let runs = seeds(&Path::clean());
    close(&runs, |run| run.goodput_mbps, 44.809, 0.05);
    close(&runs, |run| run.mean_cwnd_pkts, 162.8, 0.05);
    close(&runs, |run| run.mean_srtt_ms, 42.13, 0.05);
    assert!(runs.iter().all(|run| run.retransmits == 0));
}

/// Where no draw ended slow start before HyStart did, it ends where Linux's does, at 247 packets,
/// give or take what one acknowledgment adds in the few round trips before; a draw ends it well
/// below. Linux's mode is that of most seeds.
#[test]
fn the_peak_of_slow_start_has_two_modes_and_linux_is_in_the_larger() {
    let (by_hystart, by_draw): (Vec<_>, Vec<_>) = (1..=40)
        .map(|seed| run(Path::clean(), seed))
        .partition(|run| run.by_hystart);
    assert!(by_hystart.len() >= 30, "{}", by_hystart.len());
    assert!(!by_draw.is_empty());
    for run in &by_hystart {
        assert!(run.peak_cwnd_pkts.abs_diff(247) <= 6, "{run:?}");
    }
    for run in &by_draw {
        assert!(run.peak_cwnd_pkts < 200, "{run:?}");
    }
}

#[test]
fn seeds_differ_and_the_same_seed_does_not() {
    let seconds = |seed| {
        let summary = run(Path::clean(), seed);
        summary.goodput_mbps.to_bits()
    };
    assert_eq!(seconds(1), seconds(1));
    assert_ne!(seconds(1), seconds(2));
}

#[test]
fn over_three_paths_cdg_follows_linux_in_the_mean_of_ten_seeds() {
    let runs = seeds(&Path::three());
    close(&runs, |run| run.goodput_mbps, 42.598, 0.10);
    close(&runs, |run| run.mean_cwnd_pkts, 150.5, 0.10);
    // Linux: 1.
    assert!(runs.iter().all(|run| run.retransmits <= 2), "{runs:?}");
}
