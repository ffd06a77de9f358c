//! LEDBAT and TCP-LP alone, beside themselves and beside Reno.

use backlane_net::{QueueConfig, QueueLimit, Simulation};
use backlane_tcp::Config;
use backlane_tcp::congestion::{CongestionControlConfig, lp};
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
    run_flows(names.iter().map(tcp).collect(), 1000)
}

fn run_flows(flows: Vec<Config>, queue_pkts: u32) -> Simulation<Flows> {
    let dumbbell = Dumbbell {
        queue: QueueConfig::DropTail(QueueLimit::Packets(queue_pkts)),
        flows,
        ..Dumbbell::default()
    };
    dumbbell.run(Duration::from_secs(SECONDS))
}

/// TCP-LP by the paper's rules to a receiver that waits so long for a second segment.
fn lp_with_wait(wait: Duration) -> Config {
    let mut config = Config {
        congestion_control: "lp".parse().unwrap(),
        ..Config::default()
    };
    config.delayed_ack_min = wait;
    config.delayed_ack_max = wait;
    config
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

/// A cut at pipe and 15 % of the queue leaves half of that. Of a queue of 1000 packets 15 % is
/// 0.9 of the pipe: half is 0.95 of it. Of a queue of 173 it is 0.15: the window goes from 0.58
/// of the pipe to 1.15, and the link is idle for 16 % of that; 18 % with the first descent.
#[test]
fn lp_alone_uses_as_much_of_the_path_as_a_cut_at_15_percent_of_the_queue_leaves() {
    for (queue_pkts, expected) in [(1000, 0.975), (173, 0.83)] {
        let flows = vec![lp_with_wait(Duration::from_millis(40))];
        let (share, ..) = outcome(&run_flows(flows, queue_pkts), 0);
        assert!((share - expected).abs() < 0.025, "{queue_pkts}: {share}");
    }
}

#[test]
fn lp_leaves_the_path_to_reno() {
    let simulation = run(&["lp", "reno"]);
    let (lp, ..) = outcome(&simulation, 0);
    let (reno, ..) = outcome(&simulation, 1);
    assert!(lp < 0.01 && reno > 0.98, "{lp} {reno}");
}

/// The acknowledgment of a single packet in flight is delayed, and TCP-LP takes the wait for a
/// delay of the path: 15 % of 240 ms is 36 ms.
#[test]
fn two_lp_flows_share_unless_the_receiver_waits_longer_than_15_percent_of_the_queue() {
    let shares = |wait_ms| {
        let config = lp_with_wait(Duration::from_millis(wait_ms));
        let simulation = run_flows(vec![config; 2], 1000);
        let (first, ..) = outcome(&simulation, 0);
        let (second, ..) = outcome(&simulation, 1);
        (first, second)
    };
    let (first, second) = shares(1);
    assert!((first / second - 1.0).abs() < 0.05, "{first} {second}");
    assert!(first + second > 0.95, "{first} {second}");
    let (first, second) = shares(40);
    assert!(first < 0.1 && second > 0.85, "{first} {second}");
}

/// The first sample is a sign, and the range is then one delay of 20 ms wide: 3 ms are a sign, and
/// the wait for a second segment is 40 ms.
#[test]
fn linuxs_rules_leave_a_lone_lp_flow_one_packet_in_flight() {
    let config = Config {
        congestion_control: CongestionControlConfig::Lp(lp::Config {
            rules: lp::Rules::Linux,
            ..lp::Config::default()
        }),
        ..Config::default()
    };
    let simulation = run_flows(vec![config], 1000);
    let (share, _, retransmits) = outcome(&simulation, 0);
    assert!(share < 0.01, "{share}");
    assert_eq!(retransmits, 0);
}
