//! BBR in closed loop: its laws, and Linux 6.1 over the same paths.
//!
//! The reference numbers were recorded from Linux 6.1.192 (User Mode Linux on simulated time)
//! with TCP's own pacing and no segmentation offload, over 50 Mb/s, 173 packets waiting and one
//! in service, 40 ms of round trip ("clean"), and with three delays of 18, 20 and 22 ms in turn
//! behind the bottleneck ("paths3").

mod dumbbell;

use backlane_tcp::congestion::bbr;
use backlane_tcp::{Config, CongestionState, Seed};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

/// Packets that the clean path holds at 50 Mb/s and 40 ms, and the one that is being sent.
const PIPE_PKTS: f64 = 40_000.0 / 240.0 + 1.0;

fn config(name: &str, random_seed: u64) -> Config {
    Config {
        congestion_control: name.parse().unwrap(),
        receive_buffer: Bytes::new(4 << 20),
        random_seed: Seed(random_seed),
        ..Config::default()
    }
}

fn at_ms(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

fn control(run: &Dumbbell) -> &bbr::Bbr {
    run.sender.congestion_control().downcast_ref().unwrap()
}

/// Over 10..60 s in samples of 100 ms: goodput in Mb/s, mean window, mean smoothed RTT in ms,
/// and the largest window of the first two seconds in samples of 10 ms.
fn measure(config: &Config, path: Path) -> (f64, f64, f64, u32) {
    let mut run = Dumbbell::new(config, path);
    let mut peak_pkts = 0;
    for i in 5..=200 {
        run.run_until(at_ms(i * 10));
        peak_pkts = peak_pkts.max(run.sender.readings().cwnd_pkts);
    }
    run.run_until(at_ms(10_000));
    let start_bytes = run.sender.acked_bytes();
    let (mut cwnd_pkts, mut srtt_ms) = (0.0, 0.0);
    for i in 101..=600 {
        run.run_until(at_ms(i * 100));
        let readings = run.sender.readings();
        cwnd_pkts += f64::from(readings.cwnd_pkts) / 500.0;
        srtt_ms += readings.srtt.as_secs_f64() * 1000.0 / 500.0;
    }
    assert_eq!(run.sender.statistics().rtos, 0);
    let goodput_mbps = (run.sender.acked_bytes() - start_bytes) as f64 * 8.0 / 50e6;
    (goodput_mbps, cwnd_pkts, srtt_ms, peak_pkts)
}

fn close(name: &str, measured: f64, linux: f64, share: f64) {
    assert!(
        (measured / linux - 1.0).abs() <= share,
        "{name}: {measured}, Linux: {linux}"
    );
}

#[test]
fn the_clean_path_is_used_as_linux_uses_it() {
    // Where the gain cycles begin is drawn: four draws must all be near Linux's one.
    for seed in 1..=4 {
        let (goodput, cwnd, srtt, peak) = measure(&config("bbr", seed), Path::clean());
        close("goodput", goodput, 47.117, 0.002);
        close("mean window", cwnd, 343.1, 0.01);
        close("mean RTT", srtt, 43.36, 0.01);
        assert_eq!(peak, 516);
    }
}

#[test]
fn three_paths_in_turn_are_used_as_linux_uses_them() {
    for seed in 1..=4 {
        let (goodput, cwnd, srtt, peak) = measure(&config("bbr", seed), Path::three());
        close("goodput", goodput, 46.869, 0.005);
        close("mean window", cwnd, 326.1, 0.02);
        close("mean RTT", srtt, 41.91, 0.02);
        close("peak of startup", f64::from(peak), 496.0, 0.02);
    }
}

#[test]
fn startup_is_linuxs_sample_by_sample() {
    // Every 20 ms from 60 ms on, before anything random is drawn.
    const LINUX_CWND_PKTS: [u32; 24] = [
        10, 10, 20, 20, 35, 40, 55, 71, 100, 130, 182, 255, 338, 422, 505, 516, 516, 442, 359, 340,
        340, 405, 489, 516,
    ];
    let mut run = Dumbbell::new(&config("bbr", 1), Path::clean());
    for (i, linux) in LINUX_CWND_PKTS.iter().enumerate() {
        run.run_until(at_ms(60 + 20 * i as u64));
        assert_eq!(run.sender.readings().cwnd_pkts, *linux, "sample {i}");
    }
}

#[test]
fn startup_doubles_the_rate_in_each_round() {
    let mut run = Dumbbell::new(&config("bbr", 1), Path::clean());
    let mut last_bps = 0.0;
    // From the first round with the rate of paced segments until the pipe is full.
    for ms in [172, 212, 252, 292] {
        run.run_until(at_ms(ms));
        let bps = run.sender.readings().pacing_rate.unwrap().as_bps() as f64;
        if last_bps > 0.0 {
            let growth = bps / last_bps;
            assert!((1.75..2.25).contains(&growth), "{growth} at {ms} ms");
        }
        last_bps = bps;
    }
    // 2/ln 2 of the bottleneck's rate, which is known then.
    assert!(
        (last_bps / (2.885 * 48.267e6) - 1.0).abs() < 0.15,
        "{last_bps}"
    );
}

#[test]
fn no_more_than_twice_the_pipe_and_the_added_bursts_is_in_flight() {
    let mut run = Dumbbell::new(&config("bbr", 1), Path::clean());
    run.run_until(at_ms(2000));
    let mut most_pkts = 0;
    for ms in 2000..12_000 {
        run.run_until(at_ms(ms));
        let readings = run.sender.readings();
        most_pkts = most_pkts.max(readings.in_flight_pkts);
        // Twice the pipe, three bursts of four and the excess of a burst of acknowledgments.
        assert!(f64::from(readings.cwnd_pkts) < 2.0 * PIPE_PKTS + 24.0);
    }
    // A quarter of the pipe is queued by probing, and nothing is lost.
    let peak = f64::from(most_pkts) / PIPE_PKTS;
    assert!((1.2..1.4).contains(&peak), "{peak}");
}

#[test]
fn one_rest_of_200_ms_in_ten_seconds_costs_two_percent() {
    let mut run = Dumbbell::new(&config("bbr", 1), Path::clean());
    run.run_until(at_ms(1000));
    let start_pkts = run.sender.readings().delivered_pkts;
    let mut rests: Vec<(u64, u64)> = Vec::new();
    for ms in 1000..61_000 {
        run.run_until(at_ms(ms));
        if control(&run).phase() == bbr::Phase::ProbeRtt {
            match rests.last_mut() {
                Some((_, end)) if *end + 1 == ms => *end = ms,
                _ => rests.push((ms, ms)),
            }
        }
    }
    assert!((5..=6).contains(&rests.len()), "{rests:?}");
    for pair in rests.windows(2) {
        // Ten seconds after the last time that the RTT was as small.
        let period_ms = pair[1].0 - pair[0].0;
        assert!((10_000..11_000).contains(&period_ms), "{rests:?}");
    }
    for (start, end) in &rests {
        // A round trip to drain, 200 ms, and up to a round trip until an acknowledgment comes.
        assert!((200..300).contains(&(end - start)), "{rests:?}");
    }
    let delivered = (run.sender.readings().delivered_pkts - start_pkts) as f64;
    let share = delivered * 240e-6 / 60.0;
    assert!((0.97..0.99).contains(&share), "{share}");
}

#[test]
fn the_bandwidth_and_the_rtt_found_are_those_of_the_path() {
    let mut run = Dumbbell::new(&config("bbr", 1), Path::clean());
    run.run_until(at_ms(5000));
    let found = control(&run);
    // 1448 of each 1500 bytes are payload; the RTT of the SYN, 60 bytes.
    close(
        "bandwidth",
        found.bandwidth_estimate().as_bps() as f64,
        48.267e6,
        0.001,
    );
    assert_eq!(found.min_rtt(), Some(Duration::from_micros(40_009)));
    assert_eq!(run.sender.readings().state, CongestionState::Open);
}
