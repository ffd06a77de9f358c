//! One bulk flow over three paths in turn, packet by packet, against the real Linux 6.1 stack.
//!
//! The bottleneck is that of the "clean" path (50 Mb/s, 173 packets waiting and one in
//! service); behind it the packets take paths of 18, 20 and 22 ms in turn. Nothing but the
//! queue loses packets. Which of the packets that a retransmission overtakes the receiver
//! refuses as too old (PAWS) depends on fractions of a millisecond, and so does every window
//! thereafter: with the three paths longer by 70, 130, … 450 µs Linux itself, with Reno,
//! reaches between 40.9 and 48.3 Mb/s. So both are compared in the mean over the same seven lengths; Linux 6.1.192 ran as User
//! Mode Linux on simulated time. Figures are over 10..60 s, in samples of 100 ms.

mod dumbbell;

use backlane_tcp::Config;
use backlane_tcp::congestion::{CongestionControlConfig, HyStart, cubic};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

/// Means over the seven lengths.
#[derive(Debug, Default)]
struct Means {
    goodput_mbps: f64,
    cwnd_pkts: f64,
    retransmits: f64,
    duplicates: f64,
    reordering_pkts: f64,
}

/// One minute with all paths longer by `longer_us`. Sender at the end, goodput in Mbit/s and
/// mean window in packets.
fn run(congestion_control: &CongestionControlConfig, longer_us: u64) -> (Dumbbell, f64, f64) {
    let config = Config {
        congestion_control: congestion_control.clone(),
        receive_buffer: Bytes::new(4 << 20),
        ..Config::default()
    };
    let mut path = Path::three();
    path.delay += Duration::from_micros(longer_us);
    let mut run = Dumbbell::new(&config, path);
    run.run_until(SimTime::ZERO + Duration::from_secs(10));
    let start_bytes = run.sender.acked_bytes();
    let mut cwnd_pkts = 0.0;
    for i in 101..=600 {
        run.run_until(SimTime::ZERO + Duration::from_millis(i * 100));
        cwnd_pkts += f64::from(run.sender.readings().cwnd_pkts) / 500.0;
    }
    let goodput_mbps = (run.sender.acked_bytes() - start_bytes) as f64 * 8.0 / 50e6;
    (run, goodput_mbps, cwnd_pkts)
}

fn means(congestion_control: &CongestionControlConfig) -> Means {
    let longer_us = [0, 70, 130, 210, 290, 370, 450];
    let share = 1.0 / longer_us.len() as f64;
    let mut means = Means::default();
    for us in longer_us {
        let (run, goodput_mbps, cwnd_pkts) = run(congestion_control, us);
        let statistics = run.sender.statistics();
        assert_eq!(statistics.rtos, 0);
        means.goodput_mbps += goodput_mbps * share;
        means.cwnd_pkts += cwnd_pkts * share;
        means.retransmits += statistics.retransmits as f64 * share;
        means.duplicates += statistics.spurious_retransmits as f64 * share;
        means.reordering_pkts += f64::from(run.sender.readings().reordering_pkts) * share;
    }
    means
}

/// What Linux did, in the mean over the seven lengths.
struct Linux {
    goodput_mbps: f64,
    cwnd_pkts: f64,
    retransmits: f64,
    /// The duplicates that the receiver reported.
    duplicates: f64,
    reordering_pkts: f64,
}

fn close(name: &str, measured: f64, linux: f64, share: f64) {
    assert!(
        (measured / linux - 1.0).abs() <= share,
        "{name}: {measured}, Linux: {linux}"
    );
}

fn follows_linux(congestion_control: &CongestionControlConfig, linux: &Linux) {
    let means = means(congestion_control);
    close("goodput", means.goodput_mbps, linux.goodput_mbps, 0.05);
    close("mean window", means.cwnd_pkts, linux.cwnd_pkts, 0.08);
    close("retransmits", means.retransmits, linux.retransmits, 0.15);
    assert!(
        (means.duplicates - linux.duplicates).abs() <= 1.0,
        "{means:?}"
    );
    let degree = means.reordering_pkts / linux.reordering_pkts;
    assert!((0.5..=2.0).contains(&degree), "{means:?}");
}

#[test]
fn cubic_follows_linux_over_three_paths() {
    follows_linux(
        &"cubic".parse().unwrap(),
        &Linux {
            goodput_mbps: 41.11,
            cwnd_pkts: 171.8,
            retransmits: 245.0,
            duplicates: 3.0,
            reordering_pkts: 19.0,
        },
    );
}

#[test]
fn cubic_without_hystart_follows_linux_over_three_paths() {
    follows_linux(
        &CongestionControlConfig::Cubic(cubic::Config {
            hystart: HyStart::Off,
            ..cubic::Config::default()
        }),
        &Linux {
            goodput_mbps: 42.41,
            cwnd_pkts: 183.2,
            retransmits: 790.0,
            duplicates: 3.0,
            reordering_pkts: 109.0,
        },
    );
}

#[test]
fn reno_follows_linux_over_three_paths() {
    follows_linux(
        &"reno".parse().unwrap(),
        &Linux {
            goodput_mbps: 44.40,
            cwnd_pkts: 231.2,
            retransmits: 496.0,
            duplicates: 1.0,
            reordering_pkts: 36.0,
        },
    );
}

#[test]
fn highspeed_follows_linux_over_three_paths() {
    follows_linux(
        &"highspeed".parse().unwrap(),
        &Linux {
            goodput_mbps: 43.05,
            cwnd_pkts: 214.3,
            retransmits: 788.0,
            duplicates: 2.0,
            reordering_pkts: 37.0,
        },
    );
}

#[test]
fn hybla_follows_linux_over_three_paths() {
    follows_linux(
        &"hybla".parse().unwrap(),
        &Linux {
            goodput_mbps: 45.74,
            cwnd_pkts: 242.7,
            retransmits: 477.0,
            duplicates: 1.0,
            reordering_pkts: 36.0,
        },
    );
}

#[test]
fn illinois_follows_linux_over_three_paths() {
    follows_linux(
        &"illinois".parse().unwrap(),
        &Linux {
            goodput_mbps: 48.08,
            cwnd_pkts: 287.9,
            retransmits: 549.0,
            duplicates: 2.0,
            reordering_pkts: 77.0,
        },
    );
}

#[test]
fn scalable_follows_linux_over_three_paths() {
    follows_linux(
        &"scalable".parse().unwrap(),
        &Linux {
            goodput_mbps: 48.08,
            cwnd_pkts: 276.0,
            retransmits: 1522.0,
            duplicates: 3.0,
            reordering_pkts: 238.0,
        },
    );
}

#[test]
fn westwood_follows_linux_over_three_paths() {
    follows_linux(
        &"westwood".parse().unwrap(),
        &Linux {
            goodput_mbps: 47.98,
            cwnd_pkts: 261.6,
            retransmits: 484.0,
            duplicates: 1.3,
            reordering_pkts: 29.0,
        },
    );
}

/// Seven lengths are few. Over seventy, every 10 µs, the model tells how far the mean of any
/// seven scatters: Linux's mean with Reno lies within twice that, and so does the recorded
/// trace (48.27 Mbit/s) within the range of single runs.
#[test]
fn what_linux_reached_with_reno_is_within_the_scatter_of_the_lengths() {
    let control = "reno".parse().unwrap();
    let goodputs: Vec<f64> = (0..70).map(|step| run(&control, 10 * step).1).collect();
    let mean = goodputs.iter().sum::<f64>() / 70.0;
    let variance = goodputs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 69.0;
    let of_seven = (variance / 7.0).sqrt();
    assert!((mean - 44.40).abs() < 2.0 * of_seven, "{mean} ± {of_seven}");
    let most = goodputs.iter().copied().fold(0.0, f64::max);
    assert!(most > 48.26, "{most}");
}
