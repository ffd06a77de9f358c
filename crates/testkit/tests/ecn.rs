//! Congestion marks from the queue to the sender and back.

use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{QueueConfig, QueueLimit, Simulation};
use backlane_tcp::{Config, Ecn};
use backlane_testkit::Dumbbell;
use backlane_traffic::tcp_flow::TcpFlow;
use backlane_traffic::{Flows, Transport};
use backlane_units::Duration;

fn tcp(name: &str, ecn: Ecn) -> Config {
    Config {
        congestion_control: name.parse().unwrap(),
        ecn,
        ..Config::default()
    }
}

fn flow(simulation: &Simulation<Flows>, index: usize) -> &TcpFlow {
    match &simulation.application.flows()[index].transport {
        Some(Transport::Tcp(tcp)) => tcp,
        _ => panic!("the flow runs"),
    }
}

/// Marks and drops at the bottleneck, and the retransmissions of all flows.
fn signals(simulation: &Simulation<Flows>) -> (u64, u64, u64) {
    let link = &simulation.network.links()[Dumbbell::BOTTLENECK.index()];
    let retransmits = (0..simulation.application.flows().len())
        .map(|index| flow(simulation, index).sender().statistics().retransmits)
        .sum();
    (link.marks(), link.counters().drops, retransmits)
}

fn through(queue: QueueConfig, ecn: Ecn) -> Simulation<Flows> {
    let dumbbell = Dumbbell {
        queue,
        flows: vec![tcp("cubic", ecn); 2],
        ..Dumbbell::default()
    };
    dumbbell.run(Duration::from_secs(60))
}

#[test]
fn controlled_delay_marks_flows_that_understand_marks_and_drops_nothing() {
    let codel = CoDelConfig {
        ecn: true,
        ..CoDelConfig::default()
    };
    let limit = QueueLimit::Packets(1000);
    for queue in [
        QueueConfig::CoDel(limit, codel),
        QueueConfig::FqCoDel(limit, FqCoDelConfig::default()),
    ] {
        let simulation = through(queue, Ecn::Classic);
        let (marks, drops, retransmits) = signals(&simulation);
        assert!(marks > 50, "{marks} marks");
        assert_eq!((drops, retransmits), (0, 0), "{queue:?}");
        // The queue is as short as with drops: target 5 ms on a path of 40 ms.
        let rtt_ms = 1e3 * flow(&simulation, 0).rtt.mean_s().unwrap();
        assert!((40.0..50.0).contains(&rtt_ms), "{rtt_ms} ms");
        let bytes: u64 = simulation
            .application
            .flows()
            .iter()
            .map(backlane_traffic::Flow::delivered_bytes)
            .sum();
        assert!(bytes as f64 * 8.0 / 60.0 / 48.267e6 > 0.9, "{bytes} B");
    }
}

#[test]
fn controlled_delay_drops_from_flows_that_do_not_understand_marks() {
    let queue = QueueConfig::FqCoDel(QueueLimit::Packets(1000), FqCoDelConfig::default());
    let (marks, drops, retransmits) = signals(&through(queue, Ecn::Off));
    assert_eq!(marks, 0);
    assert!(drops > 0 && retransmits >= drops, "{drops} {retransmits}");
}

#[test]
fn a_threshold_marks_before_the_queue_is_full() {
    let queue = QueueConfig::Marking {
        limit: QueueLimit::Packets(700),
        mark_above: QueueLimit::Packets(100),
    };
    let (marks, drops, retransmits) = signals(&through(queue, Ecn::Classic));
    assert!(marks > 0);
    assert_eq!((drops, retransmits), (0, 0));
}
