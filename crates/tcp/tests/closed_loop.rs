//! One bulk flow over the "clean" path against the real Linux 6.1 stack.
//!
//! The reference numbers were recorded from Linux 6.1.192 (User Mode Linux on simulated time)
//! over the same path: 50 Mb/s, 173 packets waiting and one in service, drop-tail, 40 ms of
//! round trip. Window figures are over 10..60 s, in samples of 100 ms.

mod dumbbell;

use backlane_tcp::congestion::{CongestionControlConfig, HyStart, cubic, reno};
use backlane_tcp::{Config, CongestionState};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

struct Summary {
    goodput_mbps: f64,
    mean_cwnd_pkts: f64,
    min_cwnd_pkts: u32,
    max_cwnd_pkts: u32,
    /// The largest window of the first two seconds, sampled every 10 ms.
    peak_cwnd_pkts: u32,
    retransmits: u64,
    rtos: u64,
    /// The window at 0.3, 1, 2, 5 and 9 s.
    cwnd_pkts: [u32; 5],
}

fn run(congestion_control: CongestionControlConfig) -> Summary {
    let config = Config {
        congestion_control,
        // Half of the 8 MB the receiver had for its buffer.
        receive_buffer: Bytes::new(4 << 20),
        ..Config::default()
    };
    let mut run = Dumbbell::new(&config, Path::clean());
    let mut at = |ms: u64| {
        run.run_until(SimTime::ZERO + Duration::from_millis(ms));
        let readings = run.sender.readings();
        assert_ne!(readings.state, CongestionState::Loss, "at {ms} ms");
        (readings.cwnd_pkts, run.sender.acked_bytes())
    };
    let mut cwnd_pkts = [0; 5];
    let mut peak_cwnd_pkts = 0;
    for i in 5..200 {
        let (cwnd, _) = at(i * 10);
        peak_cwnd_pkts = peak_cwnd_pkts.max(cwnd);
        match i {
            30 => cwnd_pkts[0] = cwnd,
            100 => cwnd_pkts[1] = cwnd,
            _ => {}
        }
    }
    cwnd_pkts[2] = at(2_000).0;
    cwnd_pkts[3] = at(5_000).0;
    cwnd_pkts[4] = at(9_000).0;
    let (first, start_bytes) = at(10_000);
    let mut sampled = vec![first];
    sampled.extend((101..=600).map(|i| at(i * 100).0));
    let (_, end_bytes) = at(60_000);
    let statistics = run.sender.statistics();
    Summary {
        goodput_mbps: (end_bytes - start_bytes) as f64 * 8.0 / 50e6,
        mean_cwnd_pkts: sampled.iter().map(|c| f64::from(*c)).sum::<f64>() / sampled.len() as f64,
        min_cwnd_pkts: *sampled.iter().min().unwrap(),
        max_cwnd_pkts: *sampled.iter().max().unwrap(),
        peak_cwnd_pkts,
        retransmits: statistics.retransmits,
        rtos: statistics.rtos,
        cwnd_pkts,
    }
}

fn close(name: &str, measured: f64, reference: f64, tolerance: f64) {
    assert!(
        (measured - reference).abs() <= tolerance,
        "{name}: {measured}, Linux: {reference}"
    );
}

#[test]
fn reno_follows_linux() {
    let s = run("reno".parse().unwrap());
    assert_eq!(s.cwnd_pkts, [398, 175, 197, 253, 312]);
    close("goodput", s.goodput_mbps, 48.265, 0.001);
    close("mean window", s.mean_cwnd_pkts, 262.7, 0.2);
    close("smallest window", f64::from(s.min_cwnd_pkts), 171.0, 1.0);
    assert_eq!(s.max_cwnd_pkts, 341);
    assert_eq!(s.peak_cwnd_pkts, 670);
    close("retransmits", s.retransmits as f64, 350.0, 2.0);
    assert_eq!(s.rtos, 0);
}

#[test]
fn cubic_leaves_slow_start_where_linux_does_and_follows_it() {
    let s = run("cubic".parse().unwrap());
    assert_eq!(s.cwnd_pkts, [253, 252, 294, 262, 290]);
    assert_eq!(s.peak_cwnd_pkts, 357);
    close("goodput", s.goodput_mbps, 48.267, 0.001);
    close("mean window", s.mean_cwnd_pkts, 294.8, 0.3);
    close("smallest window", f64::from(s.min_cwnd_pkts), 238.0, 1.0);
    close("largest window", f64::from(s.max_cwnd_pkts), 342.0, 1.0);
    assert_eq!(s.retransmits, 35);
    assert_eq!(s.rtos, 0);
}

#[test]
fn cubic_without_hystart_overshoots_like_linux() {
    let s = run(CongestionControlConfig::Cubic(cubic::Config {
        hystart: HyStart::Off,
        ..cubic::Config::default()
    }));
    assert_eq!(s.cwnd_pkts[0], 398);
    // At 1 s it still differs by 2 %: which retransmissions the full queue drops is decided by
    // single packets.
    assert_eq!(s.cwnd_pkts[2..], [263, 291, 301]);
    assert_eq!(s.peak_cwnd_pkts, 672);
    close("goodput", s.goodput_mbps, 48.267, 0.001);
    close("mean window", s.mean_cwnd_pkts, 296.1, 0.3);
    close("smallest window", f64::from(s.min_cwnd_pkts), 238.0, 1.0);
    close("largest window", f64::from(s.max_cwnd_pkts), 342.0, 1.0);
    assert_eq!(s.rtos, 0);
}

/// The smallest RTT of a round shows a queue too late here: slow start still ends by loss, with
/// fewer losses than without. No kernel has been recorded for it.
#[test]
fn hystart_plus_plus_overshoots_less_than_plain_slow_start() {
    let s = run(CongestionControlConfig::Cubic(cubic::Config {
        hystart: HyStart::Rfc9406,
        ..cubic::Config::default()
    }));
    assert!(s.peak_cwnd_pkts < 672 && s.retransmits < 495);
    assert!(s.peak_cwnd_pkts > 341, "it did not overflow the queue");
    close("goodput", s.goodput_mbps, 48.267, 0.001);
    assert_eq!(s.rtos, 0);
}

#[test]
fn hystart_plus_plus_overshoots_less_for_reno_too() {
    let s = run(CongestionControlConfig::Reno(reno::Config {
        hystart: reno::HyStart::Rfc9406,
    }));
    assert!(s.peak_cwnd_pkts < 670 && s.retransmits < 348);
    assert!(s.peak_cwnd_pkts > 341, "it did not overflow the queue");
    // Afterwards it is Reno.
    close("goodput", s.goodput_mbps, 48.265, 0.001);
    assert_eq!(s.max_cwnd_pkts, 341);
    assert_eq!(s.rtos, 0);
}

#[test]
fn vegas_is_linux_packet_for_packet() {
    let s = run("vegas".parse().unwrap());
    close("goodput", s.goodput_mbps, 48.267, 0.001);
    assert_eq!((s.min_cwnd_pkts, s.max_cwnd_pkts), (173, 173));
    assert_eq!(s.peak_cwnd_pkts, 637);
    assert_eq!(s.retransmits, 300);
    assert_eq!(s.rtos, 0);
}
