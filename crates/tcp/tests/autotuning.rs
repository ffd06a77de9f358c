//! The receive window tuned to what a round trip brings.

mod dumbbell;

use backlane_tcp::{Config, OrOff};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

/// Bytes acknowledged within ten seconds over 50 Mb/s and 40 ms.
fn acked_bytes(receive_buffer_bytes: u64, max_bytes: Option<u64>, timestamps: bool) -> f64 {
    let config = Config {
        receive_buffer: Bytes::new(receive_buffer_bytes),
        receive_autotuning_max: max_bytes
            .map_or(OrOff::Off, |bytes| OrOff::Value(Bytes::new(bytes))),
        timestamps,
        ..Config::default()
    };
    let mut run = Dumbbell::new(&config, Path::clean());
    run.run_until(SimTime::ZERO + Duration::from_secs(10));
    run.sender.acked_bytes() as f64
}

/// Linux 6.1 starts at 64 KiB and may go to 3 MiB (halves of `tcp_rmem`).
#[test]
fn a_window_that_starts_at_64_kib_and_is_tuned_does_not_hold_the_sender_back() {
    for timestamps in [true, false] {
        let wide = acked_bytes(3 << 20, None, timestamps);
        let tuned = acked_bytes(1 << 16, Some(3 << 20), timestamps);
        assert!((tuned / wide - 1.0).abs() < 0.005, "{tuned} of {wide}");
    }
}

#[test]
fn a_window_that_is_not_tuned_passes_once_per_round_trip() {
    // 45 segments per 40.24 ms, after three round trips of handshake and slow start; every
    // second segment waits for the next to be acknowledged.
    let fixed = acked_bytes(1 << 16, None, true);
    let most = 45.0 * 1448.0 * (10.0 / 0.04024 - 3.0);
    assert!(fixed < most && fixed > 0.96 * most, "{fixed} of {most}");
}

#[test]
fn tuning_ends_at_its_maximum() {
    let tuned = acked_bytes(1 << 16, Some(1 << 17), true);
    let fixed = acked_bytes(1 << 17, None, true);
    assert!((tuned / fixed - 1.0).abs() < 0.01, "{tuned} of {fixed}");
}
