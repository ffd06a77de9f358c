//! A congestion control that the program brings runs as one that the simulator has.

use backlane_world::tcp::congestion::{Ack, CongestionControl, Custom, Window};
use backlane_world::units::SimTime;
use backlane_world::{Outcome, Scenario, World};

/// Reno from outside, with what a control can see of it.
#[derive(Debug)]
struct Outside;

impl CongestionControl for Outside {
    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let left = if window.in_slow_start() {
            window.slow_start(ack.acked_pkts)
        } else {
            ack.acked_pkts
        };
        if left > 0 {
            window.increase_additively(window.cwnd_pkts, left);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        (window.cwnd_pkts / 2).max(2)
    }
}

fn scenario(first: &str, second: &str) -> Scenario {
    let text = format!(
        r#"
duration = "30 s"
topology = {{ kind = "chain", nodes = 3, link = {{ rate = "10 Mbit/s", delay = "10 ms", queue = "1 bdp" }} }}
tcp = {{ congestion_control = "{first}" }}
flow = [
    {{ kind = "transfer", from = "enb1", to = "enb3", size = "endless" }},
    {{ kind = "transfer", from = "enb1", to = "enb3", size = "5 MB", start = "1 s", congestion_control = "{second}" }},
]
"#
    );
    backlane_world::catalogue()
        .parse(&text, "test.toml")
        .unwrap_or_else(|report| panic!("{report}"))
}

fn run(scenario: &Scenario, controls: &[Custom]) -> Outcome {
    World::with_controls(scenario, 1, None, controls)
        .unwrap()
        .run(|_, _| Ok(()))
        .unwrap()
}

#[test]
fn reno_from_outside_gives_the_run_of_reno() {
    let outside = Custom::new("outside", |_| Box::new(Outside));
    let own = run(&scenario("custom:outside", "cubic"), &[outside]);
    let reno = run(&scenario("reno", "cubic"), &[]);
    let retransmits = reno.flows.integers("retransmits").unwrap();
    assert!(retransmits[0].unwrap() > 0, "there is loss to react to");
    assert_eq!(own.summary, reno.summary);
    let names: Vec<_> = own.flows.texts("congestion_control").unwrap().to_vec();
    assert_eq!(
        names,
        [Some("outside".to_owned()), Some("cubic".to_owned())]
    );
}

#[test]
fn a_control_that_the_program_does_not_bring_is_missed_before_the_run() {
    let scenario = scenario("reno", "custom:other");
    let outside = Custom::new("outside", |_| Box::new(Outside));
    let Err(error) = World::with_controls(&scenario, 1, None, &[outside]) else {
        panic!("built");
    };
    assert!(error.to_string().contains("\"other\""), "{error}");
}

/// A window that never moves.
#[derive(Debug)]
struct Still;

impl CongestionControl for Still {
    fn on_ack(&mut self, _now: SimTime, _ack: &Ack, window: &mut Window) {
        window.cwnd_pkts = 10;
    }

    fn ssthresh(&mut self, _now: SimTime, _window: &Window, _in_flight_pkts: u32) -> u32 {
        10
    }
}

/// What never moves is its own mean, and an endless transfer keeps the window full. A segment takes
/// 0.12 µs at 100 Gbit/s.
#[test]
fn the_mean_of_a_window_that_never_moves_is_that_window_at_any_rate() {
    for rate in ["10 Mbit/s", "10 Gbit/s", "100 Gbit/s"] {
        let text = format!(
            r#"
duration = "5 ms"
topology = {{ kind = "chain", nodes = 2, link = {{ rate = "{rate}", delay = "100 ns", queue = "100 packets" }} }}
tcp = {{ congestion_control = "custom:still" }}
flow = [{{ kind = "transfer", from = "enb1", to = "enb2", size = "endless" }}]
"#
        );
        let scenario = backlane_world::catalogue()
            .parse(&text, "still.toml")
            .unwrap_or_else(|r| panic!("{r}"));
        let outcome = run(&scenario, &[Custom::new("still", |_| Box::new(Still))]);
        for column in ["cwnd_mean_pkts", "in_flight_mean_pkts"] {
            let mean_pkts = outcome.flows.floats(column).unwrap()[0].unwrap();
            assert!(
                (mean_pkts - 10.0).abs() < 1e-9,
                "{rate}: {column} {mean_pkts}"
            );
        }
    }
}
