//! How long a delivered segment takes in both endpoints together:
//! `cargo run --release --example speed`.
//!
//! Two endpoints exchange segments through two queues; one segment in a given number is
//! dropped. The receiver's window bounds what is in flight.

use std::collections::VecDeque;
use std::time::Instant;

use backlane_tcp::{Config, Connection, Segment};
use backlane_units::{Bytes, Duration, SimTime};

/// Delivers `segments` segments over a window of `window_pkts` at most, dropping every
/// `drop_every`th; nanoseconds per segment.
fn run(name: &str, segments: u64, window_pkts: u32, drop_every: u64) -> Option<f64> {
    let config = Config {
        congestion_control: name.parse().ok()?,
        receive_buffer: Bytes::new(u64::from(window_pkts * 1448)),
        ..Config::default()
    };
    let mut now = SimTime::ZERO;
    let mut sender = Connection::connect(&config, now);
    let mut receiver = Connection::listen(&config);
    sender.write(u64::MAX / 4);
    let mut forward: VecDeque<Segment> = VecDeque::new();
    let mut back: VecDeque<Segment> = VecDeque::new();
    let mut sent = 0;
    let started = Instant::now();
    let goal_bytes = segments * u64::from(config.mss_bytes());
    while receiver.received_bytes() < goal_bytes {
        while let Some(segment) = sender.poll_transmit(now) {
            sent += 1;
            if sent % drop_every != 0 {
                forward.push_back(segment);
            }
        }
        now = now + Duration::from_micros(100);
        if let Some(segment) = forward.pop_front() {
            receiver.on_segment(now, &segment);
        } else if let Some(at) = sender.next_timeout() {
            now = now.max(at);
        }
        if receiver.next_timeout().is_some_and(|at| at <= now) {
            receiver.on_timer(now);
        }
        while let Some(segment) = receiver.poll_transmit(now) {
            back.push_back(segment);
        }
        if let Some(segment) = back.pop_front() {
            sender.on_segment(now, &segment);
        }
        if sender.next_timeout().is_some_and(|at| at <= now) {
            sender.on_timer(now);
        }
    }
    Some(started.elapsed().as_nanos() as f64 / segments as f64)
}

fn main() {
    const SEGMENTS: u64 = 3_000_000;
    for name in ["reno", "cubic", "vegas"] {
        for (window_pkts, drop_every) in [(100, u64::MAX), (100, 1_000), (5_000, 100_000)] {
            if let Some(ns) = run(name, SEGMENTS, window_pkts, drop_every) {
                println!(
                    "{name}, window {window_pkts}, one drop in {drop_every}: \
                     {ns:.1} ns per delivered segment"
                );
            }
        }
    }
}
