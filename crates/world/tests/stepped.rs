//! A run that pauses has the events and the outcome of one that does not.

mod common;

use backlane_tcp::congestion::external::Command;
use backlane_units::{Duration, SimTime};
use backlane_world::{Ended, Models, Outcome, Stepped, Supplied, World};
use common::{resolve, run};

/// A world, in which `command` sets the window of the flow a-c, if there is one.
fn stepped(text: &str, command: Option<&Command>) -> Stepped {
    let control = command.map(|command| command.control("external"));
    let instead = |flow: &str| control.clone().filter(|_| flow == "a-c");
    let supplied = Supplied {
        instead: Some(&instead),
        ..Supplied::default()
    };
    let models = Models::standard();
    let world = World::watched(models, supplied, &resolve(text), 1, None, |_, _| Ok(()));
    Stepped::new(world.unwrap().unwrap())
}

fn run_until(run: &mut Stepped, at: SimTime) {
    run.run_until(at, |_, _| Ok(())).unwrap();
}

/// The outcome of a run that pauses at multiples of `step`.
fn paused(text: &str, step: Duration) -> Outcome {
    let mut run = stepped(text, None);
    let mut at = SimTime::ZERO;
    while run.ended().is_none() {
        at = at.saturating_add(step);
        run_until(&mut run, at);
    }
    run.finish(|_, _| Ok(())).unwrap().unwrap()
}

/// A square of routers: a – b – c and a – d – c. `rest` has the routing and the flows.
fn square(rest: &str) -> String {
    format!(
        r#"
duration = "4 s"
[topology]
kind = "graph"
node = [
  {{ id = "a", kind = "router" }}, {{ id = "b", kind = "router" }},
  {{ id = "c", kind = "router" }}, {{ id = "d", kind = "router" }},
]
link = [
  {{ a = "a", b = "b", rate = "20 Mbit/s", delay = "5 ms", queue = "100 packets", loss = 0.002 }},
  {{ a = "b", b = "c", rate = "20 Mbit/s", delay = "5 ms", queue = "100 packets" }},
  {{ a = "a", b = "d", rate = "10 Mbit/s", delay = "5 ms", queue = "100 packets" }},
  {{ a = "d", b = "c", rate = "10 Mbit/s", delay = "5 ms", queue = "100 packets" }},
]
{rest}
"#
    )
}

const FLOW: &str = r#"
[[flow]]
kind = "transfer"
from = "a"
to = "c"
size = "endless"
"#;

#[test]
fn pauses_change_neither_the_events_nor_the_results_of_a_run() {
    let rest = |routing: &str, size: &str| {
        format!(
            r#"
[routing]
{routing}
[record]
interval = "70 ms"
series = ["cwnd", "goodput", "queue"]
[[failure]]
link = "a-b"
at = "1 s"
until = "1500 ms"
[[flow]]
kind = "transfer"
from = "a"
to = "c"
size = "{size}"
[[flow]]
kind = "udp"
from = "d"
to = "b"
rate = "1 Mbit/s"
packet_size = "972 B"
size = "100 kB"
"#
        )
    };
    for (routing, size, ended) in [
        ("protocol = \"shortest-path\"", "endless", Ended::TimeLimit),
        (
            "protocol = \"olsr\"\nwarm_up = \"5 s\"",
            "1 MB",
            Ended::FlowsFinished,
        ),
        (
            "protocol = \"bp-mr\"\nwarm_up = \"1 s\"",
            "endless",
            Ended::FlowsFinished,
        ),
    ] {
        let text = square(&rest(routing, size));
        let whole = run(&text, 1, None);
        assert_eq!(whole.summary.ended, ended, "{routing}");
        for step_us in [317, 10_000, 70_000, 1_000_000, 60_000_000] {
            let paused = paused(&text, Duration::from_micros(step_us));
            assert_eq!(paused.summary, whole.summary, "{routing}, {step_us} µs");
            assert_eq!(paused.flows, whole.flows);
            assert_eq!(paused.links, whole.links);
            assert_eq!(paused.series, whole.series);
        }
    }
}

/// 20 packets of 1448 bytes in a round trip of 20 ms and the time of transmission, in which the
/// wire loses one of 500: between 20 · 1448 · 8 / 23 ms, and that in 20 ms.
#[test]
fn a_window_that_is_set_holds_through_losses() {
    let command = Command::default();
    command.set(20);
    let mut run = stepped(&square(FLOW), Some(&command));
    run_until(&mut run, SimTime::ZERO + Duration::from_secs(2));
    let there = run.flow(0).unwrap();
    let tcp = there.tcp.unwrap();
    assert_eq!(tcp.cwnd_pkts, 20);
    assert!(tcp.retransmits > 0);
    let mbps = there.delivered_bytes as f64 * 8.0 / 2e6;
    assert!((10.0..11.6).contains(&mbps), "{mbps}");
    command.set(5);
    run_until(&mut run, SimTime::ZERO + Duration::from_secs(4));
    assert_eq!(run.ended(), Some(Ended::TimeLimit));
    let later = run.flow(0).unwrap();
    assert_eq!(later.tcp.unwrap().cwnd_pkts, 5);
    let mbps = (later.delivered_bytes - there.delivered_bytes) as f64 * 8.0 / 2e6;
    assert!((2.5..2.9).contains(&mbps), "{mbps}");
    let outcome = run.finish(|_, _| Ok(())).unwrap().unwrap();
    let names = outcome.flows.texts("congestion_control").unwrap();
    assert_eq!(names[0].as_deref(), Some("external"));
}

#[test]
fn flows_take_the_path_of_the_least_cost_from_the_moment_it_is_set() {
    let mut run = stepped(&square(FLOW), None);
    let wires = run.wires();
    assert_eq!(wires, [[0, 1], [2, 3], [4, 5], [6, 7]]);
    let sent = |run: &mut Stepped, wire: usize| run.link(wires[wire][0]).unwrap().sent_bytes;
    run_until(&mut run, SimTime::ZERO + Duration::from_secs(1));
    assert!(sent(&mut run, 0) > 1_000_000);
    assert_eq!(sent(&mut run, 2), 0);
    run.set_costs(&[3, 1, 1, 2]).unwrap();
    let before = sent(&mut run, 0);
    run_until(&mut run, SimTime::ZERO + Duration::from_secs(2));
    // What was in the queue of the first link leaves by it.
    assert!(sent(&mut run, 0) - before < 100 * 1500);
    assert!(sent(&mut run, 2) > 500_000);
    assert!(run.set_costs(&[1, 1]).is_err());
    let text = square(&format!("[routing]\nprotocol = \"olsr\"\n{FLOW}"));
    let refused = stepped(&text, None).set_costs(&[1; 4]).unwrap_err();
    assert!(refused.to_string().contains("olsr"), "{refused}");
}

/// Among equal paths routers take the one of hops too.
#[test]
fn equal_costs_leave_the_events_of_a_run() {
    let text = square(FLOW);
    let mut run = stepped(&text, None);
    for ms in [5, 500, 1000, 5000] {
        run.set_costs(&[7; 4]).unwrap();
        run_until(&mut run, SimTime::ZERO + Duration::from_millis(ms));
    }
    assert_eq!(run.digest(), common::run(&text, 1, None).summary.digest);
}

#[test]
fn a_run_that_has_not_ended_has_no_outcome_and_goes_on_after_an_interruption() {
    let text = square(FLOW);
    let mut run = stepped(&text, None);
    let second = SimTime::ZERO + Duration::from_secs(1);
    let stopped = run.run_until(second, |_, _| Err(backlane_world::Interrupt));
    assert!(stopped.is_err());
    run_until(&mut run, SimTime::MAX);
    assert_eq!(run.digest(), common::run(&text, 1, None).summary.digest);
    let early = stepped(&text, None).finish(|_, _| Ok(()));
    assert!(matches!(early, Ok(None)));
}
