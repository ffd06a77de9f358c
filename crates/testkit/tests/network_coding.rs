//! TCP over network coding, on a dumbbell: 10 Mb/s, 20 ms each way, 42 packets of queue (one
//! bandwidth-delay product). The queue stands at the source's first router, so that what it drops
//! is dropped at the edge.

use backlane_net::{QueueConfig, QueueLimit, Simulation};
use backlane_tcp::{Config, CongestionControlConfig, Statistics};
use backlane_testkit::{Dumbbell, first_difference};
use backlane_traffic::{CodingConfig, CodingReadings, Flow, Flows, Transport};
use backlane_units::{Bytes, Duration, Rate};

const SPAN: Duration = Duration::from_secs(30);

fn tcp(control: &str) -> Config {
    Config {
        congestion_control: control.parse::<CongestionControlConfig>().unwrap(),
        ..Config::default()
    }
}

fn dumbbell(control: &str) -> Dumbbell {
    Dumbbell {
        rate: Rate::from_bps(10_000_000),
        queue: QueueConfig::DropTail(QueueLimit::Packets(42)),
        flows: vec![tcp(control)],
        coding: Some(CodingConfig {
            payload: true,
            ..CodingConfig::default()
        }),
        ..Dumbbell::default()
    }
}

/// Windows that the queue holds, so that the edge drops nothing.
fn lossy(control: &str, loss: f64) -> Dumbbell {
    Dumbbell {
        loss,
        queue: QueueConfig::DropTail(QueueLimit::Packets(1000)),
        flows: vec![Config {
            receive_buffer: Bytes::new(40 * 1448),
            initial_receive_window: Bytes::new(40 * 1448),
            ..tcp(control)
        }],
        ..dumbbell(control)
    }
}

fn only(simulation: &Simulation<Flows>) -> (&Flow, Statistics, CodingReadings) {
    let flow = &simulation.application.flows()[0];
    let Some(Transport::Tcp(tcp)) = &flow.transport else {
        panic!("the flow is TCP");
    };
    let coding = tcp
        .coding(simulation.events.now())
        .expect("the flow is coded");
    (flow, tcp.sender().statistics().clone(), coding)
}

fn goodput_bps(flow: &Flow) -> f64 {
    flow.delivered_bytes() as f64 * 8.0 / SPAN.as_secs_f64()
}

/// A full packet is 1500 bytes without the layer, of which 1448 are application data, and ten
/// more with it: 9.589 Mb/s if the bottleneck never rests.
#[test]
fn without_loss_the_layer_costs_its_header() {
    let best_bps = 10e6 * 1448.0 / 1510.0;
    for control in ["reno", "cubic", "vegas"] {
        let simulation = dumbbell(control).run(SPAN);
        let (flow, _, coding) = only(&simulation);
        let share = goodput_bps(flow) / best_bps;
        assert!((0.985..=1.0).contains(&share), "{control}: {share}");
        assert_eq!(coding.receiver.masked_losses, 0, "{control}");
        assert_eq!(coding.edge.spurious_retransmits, 0, "{control}");
    }
}

#[test]
fn each_drop_of_the_edge_is_answered_by_a_smaller_window() {
    for control in ["reno", "cubic", "vegas"] {
        let simulation = dumbbell(control).run(SPAN);
        let (_, tcp, coding) = only(&simulation);
        let drops = coding.edge.edge_drops;
        assert!(drops > 0, "{control}");
        assert_eq!(
            coding.edge_drops_answered + coding.edge_drops_open,
            drops,
            "{control}"
        );
        assert_eq!(coding.edge.resent, drops, "{control}");
        assert!(tcp.fast_retransmits > 0, "{control}");
        assert_eq!(tcp.duplicate_acks, coding.edge.duplicate_acks, "{control}");
        assert_eq!((tcp.undos, tcp.rtos), (0, 0), "{control}");
    }
}

#[test]
fn thirty_to_fifty_percent_of_loss_give_no_duplicate_acknowledgment() {
    for control in ["reno", "cubic", "vegas", "bbr"] {
        for loss in [0.3, 0.4, 0.5] {
            let simulation = lossy(control, loss).run(SPAN);
            let (_, tcp, coding) = only(&simulation);
            let what = format!("{control}, loss {loss}");
            assert_eq!(coding.edge.edge_drops, 0, "{what}");
            assert!(coding.receiver.masked_losses > 100, "{what}");
            assert_eq!((tcp.duplicate_acks, tcp.fast_retransmits), (0, 0), "{what}");
            assert!(coding.bytes_compared > 0, "{what}");
            assert_eq!(coding.bytes_unequal, 0, "{what}");
        }
    }
}

/// RACK and CUBIC without the layer against the same with it, at one loss in ten.
#[test]
fn a_lossy_path_carries_several_times_as_much_with_the_layer() {
    let coded = lossy("cubic", 0.1);
    let plain = Dumbbell {
        coding: None,
        ..coded.clone()
    };
    let [plain, coded] = [plain, coded].map(|dumbbell| {
        let simulation = dumbbell.run(SPAN);
        goodput_bps(&simulation.application.flows()[0])
    });
    assert!(coded > 2.0 * plain, "{plain} and {coded}");
}

#[test]
fn a_transfer_ends_though_packets_and_answers_are_lost() {
    for (control, seed) in [("reno", 1), ("cubic", 2), ("vegas", 3), ("bbr", 4)] {
        let dumbbell = Dumbbell {
            loss: 0.3,
            loss_back: 0.3,
            size_bytes: Some(300_000),
            seed,
            ..dumbbell(control)
        };
        let simulation = dumbbell.run(Duration::from_secs(600));
        let (flow, _, coding) = only(&simulation);
        assert!(flow.finished.is_some(), "{control}");
        assert_eq!(flow.delivered_bytes(), 300_000, "{control}");
        assert_eq!(coding.bytes_compared, 300_000, "{control}");
        assert_eq!(coding.bytes_unequal, 0, "{control}");
    }
}

/// The bytes of the payload are made and compared, and change nothing.
#[test]
fn results_are_the_same_with_payload_and_without() {
    let with = Dumbbell {
        loss: 0.05,
        ..dumbbell("cubic")
    };
    let without = Dumbbell {
        coding: Some(CodingConfig::default()),
        ..with.clone()
    };
    assert_eq!(with.run(SPAN).digest(), without.run(SPAN).digest());
}

#[test]
fn two_runs_of_one_seed_are_the_same() {
    let dumbbell = Dumbbell {
        loss: 0.1,
        loss_back: 0.1,
        ..dumbbell("bbr")
    };
    let difference = first_difference(|trace| {
        let mut simulation = dumbbell.build(Some(trace));
        simulation.run(backlane_units::SimTime::ZERO + SPAN, |_, _| false);
    });
    assert_eq!(difference, None);
}
