//! The congestion controls over one bottleneck against ns-3 3.37, with `profile = "ns3"`.
//!
//! The reference is `validation/ns3/truth/dumbbell.csv`, recorded by
//! `validation/ns3/programs/dumbbell.cc`: 50 Mb/s, 173 packets waiting and one in service,
//! drop-tail, 40 ms of round trip. Means are over the time from 10 s to the end, which is 60 s, and
//! for Vegas 20 s: it compares RTTs in whole milliseconds, so that the phase of its start in a
//! millisecond decides where its window stops, in ns-3 between 87 and 102 packets. Eight phases are
//! compared in the mean.

mod dumbbell;

use backlane_tcp::{
    Config, CongestionControlConfig, CongestionState, ControlRtt, Growth, OrUnlimited, RttSamples,
    Stack,
};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

const TRUTH: &str = include_str!("../../../validation/ns3/truth/dumbbell.csv");

/// One transfer.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    start: Duration,
    end: Duration,
    goodput_mbps: f64,
    window_pkts: f64,
    /// As many as drops: neither repeats anything that arrived.
    retransmits: f64,
    recoveries: f64,
}

/// The transfers of a control on record.
fn of_ns3(control: &str) -> Vec<Transfer> {
    let mut lines = TRUTH.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter(|row| row[0] == control)
        .map(|row| {
            let field = |name: &str| {
                let index = names.iter().position(|known| *known == name).unwrap();
                row[index].parse::<f64>().unwrap()
            };
            assert_eq!(field("drops"), field("retransmits"));
            assert_eq!(field("timeouts"), 0.0);
            Transfer {
                start: Duration::from_micros((field("start_ms") * 1e3) as u64),
                end: Duration::from_secs(field("end_s") as u64),
                goodput_mbps: field("goodput_mbps"),
                window_pkts: field("window_pkts"),
                retransmits: field("retransmits"),
                recoveries: field("recoveries"),
            }
        })
        .collect()
}

fn config(control: &str) -> Config {
    let buffer = Bytes::new(16 << 20);
    let control: CongestionControlConfig = control.parse().unwrap();
    Config {
        congestion_control: control.of(Stack::Ns3),
        send_buffer: OrUnlimited::Value(buffer),
        receive_buffer: buffer,
        initial_receive_window: buffer,
        ..Config::ns3()
    }
}

/// The same transfer here.
fn measured(config: &Config, start: Duration, end: Duration) -> Transfer {
    // The wires beside the bottleneck: 1502 and 54 bytes at 10 Gb/s, and two of those.
    let path = Path {
        delay: Duration::from_millis(20) + Duration::from_ps(1_201_600),
        return_delay: Duration::from_millis(20) + Duration::from_ps(2 * 43_200),
        ..Path::clean()
    };
    let mut run = Dumbbell::starting_at(config, path, SimTime::ZERO + start);
    let warm_up = Duration::from_secs(10);
    run.run_until(SimTime::ZERO + warm_up);
    let start_bytes = run.receiver.received_bytes();
    let span_s = end.as_secs_f64() - warm_up.as_secs_f64();
    let samples = (span_s * 100.0) as u64;
    let mut window_pkts = 0.0;
    for i in 1..=samples {
        run.run_until(SimTime::ZERO + warm_up + Duration::from_millis(i * 10));
        window_pkts += f64::from(run.sender.readings().cwnd_pkts) / samples as f64;
    }
    let statistics = run.sender.statistics();
    let bits = (run.receiver.received_bytes() - start_bytes) as f64 * 8.0;
    Transfer {
        start,
        end,
        goodput_mbps: bits / span_s / 1e6,
        window_pkts,
        retransmits: statistics.retransmits as f64,
        recoveries: statistics.fast_retransmits as f64,
    }
}

fn mean(transfers: &[Transfer], of: impl Fn(&Transfer) -> f64) -> f64 {
    transfers.iter().map(of).sum::<f64>() / transfers.len() as f64
}

/// Goodput within 1 %, the mean window within 1 %, drops within 10 %.
fn follows_ns3(control: &str) {
    let ns3 = of_ns3(control);
    assert!(!ns3.is_empty());
    let ours: Vec<_> = ns3
        .iter()
        .map(|transfer| measured(&config(control), transfer.start, transfer.end))
        .collect();
    for (ours, ns3) in ours.iter().zip(&ns3) {
        println!("{control}\n  ns-3 {ns3:?}\n  ours {ours:?}");
    }
    let close = |name: &str, share: f64, of: fn(&Transfer) -> f64| {
        let (ours, ns3) = (mean(&ours, of), mean(&ns3, of));
        assert!(
            (ours - ns3).abs() <= share * ns3,
            "{name}: {ours}, ns-3: {ns3}"
        );
    };
    close("goodput", 0.01, |transfer| transfer.goodput_mbps);
    close("mean window", 0.01, |transfer| transfer.window_pkts);
    close("drops", 0.1, |transfer| transfer.retransmits);
    close("recoveries", 0.1, |transfer| transfer.recoveries);
}

#[test]
fn reno_follows_ns3() {
    follows_ns3("reno");
}

#[test]
fn highspeed_follows_ns3() {
    follows_ns3("highspeed");
}

#[test]
fn illinois_follows_ns3() {
    follows_ns3("illinois");
}

#[test]
fn scalable_follows_ns3() {
    follows_ns3("scalable");
}

#[test]
fn westwood_follows_ns3() {
    follows_ns3("westwood");
}

#[test]
fn vegas_follows_ns3() {
    follows_ns3("vegas");
}

#[test]
fn cubic_follows_ns3() {
    follows_ns3("cubic");
}

/// Behaviours of Linux in place of ns-3's, one at a time, over the first 20 s.
#[test]
fn without_its_keys_ns3_is_not_followed() {
    let run = |config: &Config| measured(config, Duration::ZERO, Duration::from_secs(20));
    let by_packets = Config {
        growth: Growth::Packets,
        ..config("reno")
    };
    let (of_packets, of_acks) = (run(&by_packets), run(&config("reno")));
    println!("growth {of_packets:?} {of_acks:?}");
    assert!(of_packets.retransmits > 1.8 * of_acks.retransmits);

    let illinois = Config {
        congestion_control: "illinois".parse().unwrap(),
        ..config("illinois")
    };
    let (grown, stands) = (run(&illinois), run(&config("illinois")));
    println!("illinois {grown:?} {stands:?}");
    assert!(grown.recoveries > stands.recoveries);

    let samples = Config {
        rtt_samples: RttSamples::Segments,
        control_rtt: ControlRtt::Sample,
        ..config("vegas")
    };
    let (exact, whole) = (run(&samples), run(&config("vegas")));
    println!("samples {exact:?} {whole:?}");
    assert!(exact.goodput_mbps > 1.8 * whole.goodput_mbps);
}

/// The first two transmissions of segment 60 are lost. ns-3 (`dumbbell --control=TcpNewReno
/// --queue=1000 --lose=60 --duration=3`) enters recovery at 205.06 ms with a threshold of 19
/// segments and has a timeout at 1204.10 ms, a second after the last acknowledgment that advanced,
/// with a threshold of 9.5. It repeats the segment twice and, of 460 that were SACKed, nothing else.
#[test]
fn a_lost_retransmission_costs_a_timeout_which_keeps_the_sacks() {
    let config = config("reno");
    let path = Path {
        queue_pkts: 1001,
        lost_twice_seq: Some(1 + 59 * 1448),
        ..Path::clean()
    };
    let mut run = Dumbbell::new(&config, path);
    let until = |run: &mut Dumbbell, us: u64| {
        run.run_until(SimTime::ZERO + Duration::from_micros(us));
        let readings = run.sender.readings();
        (readings.state, readings.ssthresh_pkts)
    };
    assert_eq!(until(&mut run, 205_000).0, CongestionState::Disorder);
    assert_eq!(until(&mut run, 205_100), (CongestionState::Recovery, 19));
    assert_eq!(until(&mut run, 1_204_000), (CongestionState::Recovery, 19));
    assert_eq!(until(&mut run, 1_204_200), (CongestionState::Loss, 9));
    assert_eq!(until(&mut run, 1_244_400), (CongestionState::Open, 9));
    until(&mut run, 3_000_000);
    let statistics = run.sender.statistics();
    assert_eq!((statistics.rtos, statistics.retransmits), (1, 2));
}
