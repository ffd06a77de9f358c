//! The seven policies towards reordering over the same paths: 50 Mb/s, and behind that three
//! paths of 18, 20 and 22 ms that the packets take in turn. Reno; figures over 10..60 s, in the
//! mean over seven lengths of the paths (see `linux_reordering`).

mod dumbbell;

use backlane_tcp::{Config, Reordering};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

#[derive(Debug, Default)]
struct Outcome {
    goodput_mbps: f64,
    retransmits: f64,
    /// Of these, those that a D-SACK reports as needless.
    duplicates: f64,
    timeouts: f64,
}

fn run(config: &Config, path: Path) -> Outcome {
    let mut run = Dumbbell::new(config, path);
    run.run_until(SimTime::ZERO + Duration::from_secs(10));
    let start_bytes = run.sender.acked_bytes();
    run.run_until(SimTime::ZERO + Duration::from_secs(60));
    let bytes = run.sender.acked_bytes() - start_bytes;
    let statistics = run.sender.statistics();
    Outcome {
        goodput_mbps: bytes as f64 * 8.0 / 50e6,
        retransmits: statistics.retransmits as f64,
        duplicates: statistics.spurious_retransmits as f64,
        timeouts: statistics.rtos as f64,
    }
}

fn reno(policy: Reordering) -> Config {
    Config {
        reordering: policy,
        congestion_control: "reno".parse().unwrap(),
        ..Config::default()
    }
}

fn mean_over_lengths(policy: Reordering) -> Outcome {
    let longer_us = [0, 70, 130, 210, 290, 370, 450];
    let share = 1.0 / longer_us.len() as f64;
    let mut mean = Outcome::default();
    for us in longer_us {
        let mut path = Path::three();
        path.delay += Duration::from_micros(us);
        let outcome = run(&reno(policy), path);
        mean.goodput_mbps += outcome.goodput_mbps * share;
        mean.retransmits += outcome.retransmits * share;
        mean.duplicates += outcome.duplicates * share;
        mean.timeouts += outcome.timeouts * share;
    }
    mean
}

/// The table of `docs/models/tcp/reordering.md`: goodput in Mb/s, retransmissions, and those of
/// them that D-SACKs report as needless. No measurement stands behind it; a change of a policy
/// that moves it has to move the page.
#[test]
fn the_table_of_policies_is_what_comes_out() {
    let rows = [
        (Reordering::Fixed, 3.5, 690.0, 690.0),
        (Reordering::LinuxLegacy, 47.2, 130.0, 3.0),
        (Reordering::Rack, 43.6, 506.0, 1.0),
        (Reordering::NcrCareful, 8.5, 0.0, 0.0),
        (Reordering::NcrAggressive, 13.8, 0.0, 0.0),
        (Reordering::Rr, 46.5, 260.0, 96.0),
        (Reordering::Pr, 45.3, 963.0, 0.0),
    ];
    for (policy, goodput_mbps, retransmits, duplicates) in rows {
        let outcome = mean_over_lengths(policy);
        let is_close =
            |measured: f64, stated: f64| (measured - stated).abs() <= (0.03 * stated).max(0.6);
        assert!(
            (outcome.goodput_mbps / goodput_mbps - 1.0).abs() <= 0.03
                && is_close(outcome.retransmits, retransmits)
                && is_close(outcome.duplicates, duplicates),
            "{policy:?}: {outcome:?}"
        );
    }
}

/// Deadlines know no order: with paths up to 100 ms apart, which is more than two round trips
/// of the shortest, all of what a queue that never overflows lets through arrives, and nothing
/// is sent twice. A threshold of three, there, takes nearly every packet for lost.
#[test]
fn tcp_pr_repeats_nothing_and_loses_no_goodput_however_the_paths_mix() {
    let reach = |policy, apart_ms: u64| {
        let config = Config {
            receive_buffer: Bytes::new(3 << 20),
            ..reno(policy)
        };
        let path = Path {
            queue_pkts: 10_000,
            spread: [2 * apart_ms, apart_ms, 0].map(Duration::from_millis),
            ..Path::clean()
        };
        run(&config, path)
    };
    let in_order_mbps = reach(Reordering::Pr, 0).goodput_mbps;
    for apart_ms in [1, 10, 50] {
        let outcome = reach(Reordering::Pr, apart_ms);
        assert!(
            outcome.goodput_mbps > 0.999 * in_order_mbps,
            "{apart_ms} ms: {outcome:?}, in order {in_order_mbps}"
        );
        assert_eq!((outcome.retransmits, outcome.timeouts), (0.0, 0.0));
    }
    let outcome = reach(Reordering::Fixed, 10);
    assert!(outcome.goodput_mbps < 0.2 * in_order_mbps, "{outcome:?}");
}
