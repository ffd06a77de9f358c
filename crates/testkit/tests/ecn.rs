//! Congestion marks from the queue to the sender and back.

use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{QueueConfig, QueueLimit, Simulation};
use backlane_tcp::congestion::{CongestionControlConfig, bbr3, dctcp};
use backlane_tcp::{Config, Ecn};
use backlane_testkit::Dumbbell;
use backlane_traffic::tcp_flow::TcpFlow;
use backlane_traffic::{Flows, Transport};
use backlane_units::{Duration, Rate, SimTime};

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
        QueueConfig::new(limit, codel),
        QueueConfig::new(limit, FqCoDelConfig::default()),
    ] {
        let simulation = through(queue.clone(), Ecn::Classic);
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
    let queue = QueueConfig::new(QueueLimit::Packets(1000), FqCoDelConfig::default());
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

struct Marked {
    alpha: f64,
    mean_cwnd_pkts: f64,
    queue_pkts: (usize, usize),
    goodput_bps: f64,
}

/// One DCTCP flow from 5 to 25 s: 60 Mb/s and 9.6 ms carry 48 packets of 200 µs.
fn dctcp(k_pkts: u32, ecn: Ecn, segments: u32) -> (Marked, Simulation<Flows>) {
    let mut config = tcp("dctcp", ecn);
    config.delayed_ack_segments = segments;
    let dumbbell = Dumbbell {
        rate: Rate::from_bps(60_000_000),
        delay: Duration::from_micros(4_800),
        queue: QueueConfig::Marking {
            limit: QueueLimit::Packets(200),
            mark_above: QueueLimit::Packets(k_pkts),
        },
        flows: vec![config],
        ..Dumbbell::default()
    };
    let mut simulation = dumbbell.build(None);
    let mut marked = Marked {
        alpha: 0.0,
        mean_cwnd_pkts: 0.0,
        queue_pkts: (usize::MAX, 0),
        goodput_bps: 0.0,
    };
    simulation.run(SimTime::ZERO + Duration::from_secs(5), |_, _| false);
    let before = simulation.application.flows()[0].delivered_bytes();
    for i in 1..=20_000 {
        let at = SimTime::ZERO + Duration::from_millis(5000 + i);
        simulation.run(at, |_, _| false);
        let readings = flow(&simulation, 0).sender().readings();
        let control = flow(&simulation, 0).sender().congestion_control();
        if let Some(dctcp) = control.downcast_ref::<dctcp::Dctcp>() {
            marked.alpha += dctcp.alpha() / 20_000.0;
        }
        marked.mean_cwnd_pkts += f64::from(readings.cwnd_pkts) / 20_000.0;
        let backlog = simulation
            .network
            .link_mut(Dumbbell::BOTTLENECK)
            .backlog_pkts(at);
        let (least, most) = marked.queue_pkts;
        marked.queue_pkts = (least.min(backlog), most.max(backlog));
    }
    let bytes = simulation.application.flows()[0].delivered_bytes() - before;
    marked.goodput_bps = bytes as f64 * 8.0 / 20.0;
    (marked, simulation)
}

/// α is the share of packets that are marked, and falls with the root of the window, as Alizadeh
/// et al. (2010) say. It is a fifth below their √(2/W): a reduction by PRR takes a round trip, in
/// which the queue goes on marking for a while; those marks arrive when the reduction is over and
/// bring about a second one, so that a cycle is longer than theirs with one cut.
#[test]
fn alpha_of_dctcp_is_the_share_of_marks_and_falls_with_the_root_of_the_window() {
    for (k_pkts, segments, error) in [(16, 1, -0.21), (40, 1, -0.21), (16, 2, -0.31)] {
        let (marked, simulation) = dctcp(k_pkts, Ecn::Exact, segments);
        let (marks, drops, retransmits) = signals(&simulation);
        assert_eq!((drops, retransmits), (0, 0));
        let packets = simulation.network.links()[0].counters().packets;
        let share = marks as f64 / packets as f64;
        assert!(
            (marked.alpha / share - 1.0).abs() < 0.05,
            "{} {share}",
            marked.alpha
        );
        let law = (2.0 / (48.0 + f64::from(k_pkts))).sqrt();
        let off = marked.alpha / law - 1.0;
        assert!((off - error).abs() < 0.03, "{off}");
        // The queue swings about K and neither empties nor fills.
        let (least, most) = marked.queue_pkts;
        let k_pkts = k_pkts as usize;
        assert!(
            least > k_pkts / 2 && most <= k_pkts + 4,
            "{least} to {most}"
        );
        let full = marked.goodput_bps / (60e6 * 1448.0 / 1500.0);
        assert!(full > 0.999, "{full}");
    }
}

#[test]
fn dctcp_without_ecn_is_reno() {
    let bytes = |name: &str| {
        let dumbbell = Dumbbell {
            flows: vec![tcp(name, Ecn::Off)],
            ..Dumbbell::default()
        };
        let simulation = dumbbell.run(Duration::from_secs(60));
        let retransmits = signals(&simulation).2;
        assert!(retransmits > 0);
        (
            simulation.application.flows()[0].delivered_bytes(),
            retransmits,
        )
    };
    assert_eq!(bytes("dctcp"), bytes("reno"));
}

/// Two flows of BBRv3 from 2 to 22 s over 100 Mb/s and 4 ms, 33 packets, marked above 10: the mean
/// queue in packets, the goodput of each in Mb/s, and the smoothed share of marks of the first.
fn marked_bbr3(ecn_max_rtt: Duration) -> (f64, [f64; 2], f64) {
    let config = Config {
        congestion_control: CongestionControlConfig::Bbr3(bbr3::Config {
            ecn_max_rtt,
            ..bbr3::Config::default()
        }),
        ecn: Ecn::Exact,
        ..Config::default()
    };
    let dumbbell = Dumbbell {
        rate: Rate::from_bps(100_000_000),
        delay: Duration::from_millis(2),
        queue: QueueConfig::Marking {
            limit: QueueLimit::Packets(400),
            mark_above: QueueLimit::Packets(10),
        },
        flows: vec![config; 2],
        ..Dumbbell::default()
    };
    let mut simulation = dumbbell.build(None);
    simulation.run(SimTime::ZERO + Duration::from_secs(2), |_, _| false);
    let delivered = |simulation: &Simulation<Flows>| {
        [0, 1].map(|index: usize| simulation.application.flows()[index].delivered_bytes())
    };
    let before = delivered(&simulation);
    let mut queue_pkts = 0.0;
    for i in 1..=20_000 {
        let at = SimTime::ZERO + Duration::from_millis(2000 + i);
        simulation.run(at, |_, _| false);
        let link = simulation.network.link_mut(Dumbbell::BOTTLENECK);
        queue_pkts += link.backlog_pkts(at) as f64 / 20_000.0;
    }
    let after = delivered(&simulation);
    let goodput = [0, 1].map(|index| (after[index] - before[index]) as f64 * 8e-6 / 20.0);
    let (marks, drops, retransmits) = signals(&simulation);
    assert!(marks > 10_000, "{marks}");
    assert_eq!((drops, retransmits), (0, 0));
    let control = flow(&simulation, 0).sender().congestion_control();
    let bbr3: &bbr3::Bbr3 = control.downcast_ref().unwrap();
    (queue_pkts, goodput, bbr3.marked_share())
}

/// Without marks two flows of BBR keep what the windows exceed the pipe by in the queue; the marks
/// hold it where they begin. A smallest RTT of 4 ms is above 3 ms and below 5.
#[test]
fn marks_hold_the_queue_of_bbr3_at_their_threshold_on_a_path_shorter_than_its_limit() {
    let (queue_pkts, goodput, share) = marked_bbr3(Duration::from_millis(5));
    assert!((7.0..12.0).contains(&queue_pkts), "{queue_pkts}");
    assert!(goodput[0] + goodput[1] > 0.97 * 96.53, "{goodput:?}");
    assert!((0.1..0.5).contains(&share), "{share}");
    let (queue_pkts, goodput, share) = marked_bbr3(Duration::from_millis(3));
    assert!(queue_pkts > 30.0, "{queue_pkts}");
    assert!(goodput[0] + goodput[1] > 0.97 * 96.53, "{goodput:?}");
    // Not one round has been counted.
    assert!(share >= 1.0, "{share}");
}
