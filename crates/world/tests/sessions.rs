//! Flows that go one after another, sizes that are drawn, and sources that stop.

mod common;

use common::{floats, integers, run, texts};

fn pair(duration: &str, flow: &str) -> String {
    format!(
        r#"
name = "pair"
duration = "{duration}"
[topology]
kind = "chain"
nodes = 2
link = {{ rate = "100 Mbit/s", delay = "5 ms" }}
[[flow]]
kind = "transfer"
from = "enb1"
to = "enb2"
{flow}
"#
    )
}

#[test]
fn a_flow_has_its_turn_a_gap_after_the_one_before_has_finished() {
    let flow = "size = \"100 kB\"\ncount = 4\ngap = \"300 ms\"\nstart = \"1 s\"";
    let outcome = run(&pair("60 s", flow), 1, None);
    let starts = floats(&outcome.flows, "start_s");
    let finishes = floats(&outcome.flows, "finish_s");
    assert_eq!(starts.len(), 4);
    assert_eq!(starts[0], Some(1.0));
    for turn in 1..4 {
        let gap = starts[turn].unwrap() - finishes[turn - 1].unwrap();
        assert!((gap - 0.3).abs() < 1e-9, "{gap}");
    }
    // Each is a connection of its own: handshake and slow start again, so that all take as long.
    let times = floats(&outcome.flows, "finish_time_s");
    for time in &times[1..] {
        assert!((time.unwrap() - times[0].unwrap()).abs() < 1e-9);
    }
    assert_eq!(
        texts(&outcome.flows, "flow").last().unwrap().as_deref(),
        Some("enb1-enb2#4")
    );
    let last = finishes[3].unwrap();
    // A run ends at the next multiple of 10 ms.
    assert_eq!(outcome.summary.simulated_s, (last * 100.0).ceil() / 100.0);
}

#[test]
fn no_flow_has_its_turn_at_the_stop_or_after_it() {
    let flow = "size = \"10 kB\"\ncount = 1000\ngap = \"100 ms\"\nstop = \"2 s\"";
    let outcome = run(&pair("60 s", flow), 1, None);
    let starts = floats(&outcome.flows, "start_s");
    assert!((10..20).contains(&starts.len()), "{}", starts.len());
    assert!(starts.iter().all(|start| start.unwrap() < 2.0));
    // Those that had no turn do not keep the run going.
    assert!(outcome.summary.simulated_s < 2.5);
}

#[test]
fn drawn_sizes_and_gaps_differ_from_flow_to_flow_and_come_from_the_seed() {
    let flow = "size = \"uniform 50 kB 60 kB\"\ncount = 5\ngap = \"exponential 100 ms\"";
    let sizes = |seed| integers(&run(&pair("60 s", flow), seed, None).flows, "size_bytes");
    let first = sizes(1);
    assert_eq!(first, sizes(1));
    assert_ne!(first, sizes(2));
    let mut distinct = first.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 5);
    assert!(
        first
            .iter()
            .all(|size| (50_000..=60_000).contains(&size.unwrap()))
    );
}

/// Arrivals of 50 ms on average until 10 s: 200 with a standard deviation of 14.
#[test]
fn drawn_starts_go_on_until_the_stop() {
    let flow = "size = \"1 kB\"\ncount = 1000\nstart = \"every exponential 50 ms from 0 s\"\nstop = \"10 s\"";
    let outcome = run(&pair("60 s", flow), 1, None);
    let starts = floats(&outcome.flows, "start_s");
    assert!((140..260).contains(&starts.len()), "{}", starts.len());
    assert!(starts.last().unwrap().unwrap() < 10.0);
}

#[test]
fn a_stopped_tcp_source_brings_over_what_it_has_sent_and_no_more() {
    let long = "size = \"endless\"\nstop = \"2 s\"\n[[flow]]\nkind = \"transfer\"\nfrom = \"enb2\"\nto = \"enb1\"\nsize = \"1 B\"\nstart = \"4 s\"";
    let outcome = run(&pair("60 s", long), 1, None);
    let at_4_s = integers(&outcome.flows, "delivered_bytes")[0].unwrap();
    // Two seconds of 100 Mbit/s less headers, slow start and what queues; a window at most later.
    assert!((18_000_000..25_000_000).contains(&at_4_s), "{at_4_s}");
    let goodput = floats(&outcome.flows, "goodput_bps")[0].unwrap();
    assert!(
        (goodput - at_4_s as f64 * 8.0 / 2.0).abs() < 1.0,
        "{goodput}"
    );
}

#[test]
fn a_finite_flow_that_is_stopped_does_not_finish_and_ends_its_turn() {
    let flow = "size = \"100 MB\"\nstop = \"1 s\"";
    let outcome = run(&pair("60 s", flow), 1, None);
    assert_eq!(floats(&outcome.flows, "finish_s"), [None]);
    assert!(outcome.summary.simulated_s < 2.0);
}
