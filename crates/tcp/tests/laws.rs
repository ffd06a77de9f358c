//! The mean window under periodic loss, against the closed formulas.

mod dumbbell;

use backlane_tcp::{Config, DelayedAck};
use backlane_units::{Duration, Rate, SimTime};
use dumbbell::{Dumbbell, Path};

/// The mean window over 100 ms of round trip, losing one packet in `lose_every`: packets
/// delivered per round trip over `seconds` from the tenth second on.
fn mean_window_pkts(name: &str, lose_every: u64, seconds: u64) -> f64 {
    let config = Config {
        congestion_control: name.parse().unwrap(),
        receive_buffer_bytes: 64 << 20,
        delayed_ack: DelayedAck {
            segments: 1,
            ..DelayedAck::default()
        },
        ..Config::default()
    };
    let path = Path {
        rate: Rate::from_bps(1_000_000_000_000),
        queue_pkts: 1_000_000,
        delay: Duration::from_millis(50),
        return_delay: Duration::from_millis(50),
        spread: [Duration::ZERO; 3],
        lose_every,
    };
    let mut run = Dumbbell::new(&config, path);
    run.run_until(SimTime::ZERO + Duration::from_secs(10));
    let before = run.sender.readings().delivered_pkts;
    run.run_until(SimTime::ZERO + Duration::from_secs(10 + seconds));
    assert_eq!(run.sender.statistics().rtos, 0);
    (run.sender.readings().delivered_pkts - before) as f64 / (seconds as f64 * 10.0)
}

#[test]
fn reno_follows_the_square_root_law() {
    // Mathis et al. 1997: W = √(3/2p), with every packet acknowledged; 122.5 at 10⁻⁴. Rounding
    // the window down to whole packets when it is halved costs up to half a packet.
    let window_pkts = mean_window_pkts("reno", 10_000, 600);
    assert!((window_pkts / 122.47 - 1.0).abs() < 0.015, "{window_pkts}");
}
