//! LEDBAT alone, beside itself and beside Reno.

use backlane_net::{QueueConfig, QueueLimit, Simulation};
use backlane_tcp::Config;
use backlane_testkit::Dumbbell;
use backlane_traffic::{Flows, Transport};
use backlane_units::Duration;

const SECONDS: u64 = 120;

/// Flows over 50 Mb/s and 40 ms with 240 ms of queue.
fn run(names: &[&str]) -> Simulation<Flows> {
    let tcp = |name: &&str| Config {
        congestion_control: name.parse().unwrap(),
        ..Config::default()
    };
    let dumbbell = Dumbbell {
        queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
        flows: names.iter().map(tcp).collect(),
        ..Dumbbell::default()
    };
    dumbbell.run(Duration::from_secs(SECONDS))
}

/// The share of the bottleneck that a flow got, and its smoothed RTT at the end.
fn outcome(simulation: &Simulation<Flows>, index: usize) -> (f64, f64, u64) {
    let flow = &simulation.application.flows()[index];
    let Some(Transport::Tcp(tcp)) = &flow.transport else {
        panic!("the flow runs");
    };
    let share = flow.delivered_bytes() as f64 * 8.0 / SECONDS as f64 / 48.267e6;
    let srtt_ms = 1e3 * tcp.sender().readings().srtt.as_secs_f64();
    (share, srtt_ms, tcp.sender().statistics().retransmits)
}

/// The window gains (1 − delay/target) packets per RTT: the delay comes to 100 ms as if with a
/// time constant, from below.
#[test]
fn ledbat_alone_fills_the_path_and_holds_the_queue_at_its_target() {
    let simulation = run(&["ledbat"]);
    let (share, srtt_ms, retransmits) = outcome(&simulation, 0);
    assert!(share > 0.96, "{share}");
    assert!((130.0..141.0).contains(&srtt_ms), "{srtt_ms} ms");
    assert_eq!(retransmits, 0);
}

#[test]
fn ledbat_leaves_the_path_to_reno_where_the_queue_is_longer_than_its_target() {
    let simulation = run(&["ledbat", "reno"]);
    let (ledbat, ..) = outcome(&simulation, 0);
    let (reno, ..) = outcome(&simulation, 1);
    assert!(ledbat < 0.01 && reno > 0.98, "{ledbat} {reno}");
}

#[test]
fn two_ledbat_flows_that_start_together_share_equally() {
    let simulation = run(&["ledbat", "ledbat"]);
    let (first, srtt_ms, _) = outcome(&simulation, 0);
    let (second, ..) = outcome(&simulation, 1);
    assert!((first / second - 1.0).abs() < 0.05, "{first} {second}");
    assert!((135.0..141.0).contains(&srtt_ms), "{srtt_ms} ms");
}
