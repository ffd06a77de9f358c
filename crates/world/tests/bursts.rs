//! Backpressure decided per packet, per burst and per flow.

mod common;

use backlane_world::Outcome;
use common::{ROUTINGS, floats, grid, integers, run, texts};

fn burst(burst: &str) -> String {
    format!("protocol = \"bp-mr\"\ngranularity = \"burst\"\nburst = {burst}")
}

/// Two ways from west to east, over north and over south.
fn two_ways(routing: &str, north: &str, south: &str, flows: &str) -> String {
    format!(
        r#"
name = "two ways"
duration = "10 s"
[topology]
kind = "graph"
node = [
  {{ id = "west", kind = "router" }},
  {{ id = "north", kind = "router" }},
  {{ id = "south", kind = "router" }},
  {{ id = "east", kind = "router" }},
]
link = [
  {{ a = "west", b = "north", {north} }},
  {{ a = "north", b = "east", {north} }},
  {{ a = "west", b = "south", {south} }},
  {{ a = "south", b = "east", {south} }},
]
[routing]
warm_up = "1 s"
{routing}
{flows}
"#
    )
}

fn sum(outcome: &Outcome, column: &str) -> u64 {
    integers(&outcome.flows, column).into_iter().flatten().sum()
}

fn reordered(outcome: &Outcome) -> f64 {
    let ratios = floats(&outcome.flows, "reordered_ratio");
    ratios.iter().flatten().sum::<f64>() / ratios.len() as f64
}

/// The way over south takes 10 ms and the one over north 2 ms, and nothing waits: a packet is
/// overtaken only by one that leaves less than 8 ms behind it.
#[test]
fn a_flowlet_gap_above_the_difference_of_the_paths_never_reorders_and_one_below_does() {
    let flows = "[[flow]]\nkind = \"on-off\"\nfrom = \"west\"\nto = \"east\"\n\
                 rate = \"10 Mbit/s\"\non = \"10 ms\"\noff = \"20 ms\"\n";
    let with_gap = |gap: &str| {
        let routing = burst(&format!("{{ kind = \"flowlet\", gap = \"{gap}\" }}"));
        let link = |delay| format!("rate = \"500 Mbit/s\", delay = \"{delay}\"");
        let text = two_ways(&routing, &link("1 ms"), &link("5 ms"), flows);
        run(&text, 1, None)
    };
    let above = with_gap("8.1 ms");
    assert_eq!(reordered(&above), 0.0);
    assert!(
        sum(&above, "bursts") > 50,
        "{} bursts",
        sum(&above, "bursts")
    );
    assert_eq!(sum(&above, "path_changes") + 1, sum(&above, "bursts"));
    assert!(reordered(&with_gap("2 ms")) > 0.001);
}

#[test]
fn bursts_reorder_less_than_packets_and_more_than_flows() {
    let outcome = |routing: &str| run(&grid(routing, 50), 1, None);
    let packet = outcome(ROUTINGS[2]);
    let flow = outcome(ROUTINGS[3]);
    assert_eq!(reordered(&flow), 0.0);
    let bursts = integers(&flow.flows, "bursts");
    assert!(bursts.iter().all(|&bursts| bursts == Some(1)));
    for kind in [
        "{ kind = \"periodic\", period = \"50 ms\" }",
        "\"flowlet\"",
        "\"reactive\"",
        "\"hybrid\"",
    ] {
        let outcome = outcome(&burst(kind));
        let [share, most] = [&outcome, &packet].map(reordered);
        assert!(share < 0.5 * most, "{kind}: {share} against {most}");
        let [bursts, most] = [&outcome, &packet].map(|outcome| sum(outcome, "bursts"));
        assert!(bursts < most / 4, "{kind}: {bursts} against {most}");
    }
    let periodic = outcome(&burst("{ kind = \"periodic\", period = \"50 ms\" }"));
    assert!(reordered(&periodic) > 0.0);
    assert!(sum(&periodic, "bursts") > 50);
}

#[test]
fn bursts_that_nothing_ends_are_flows() {
    let flow = run(&grid(ROUTINGS[3], 25), 1, None);
    for kind in [
        "{ kind = \"periodic\", period = \"1 h\" }",
        "{ kind = \"flowlet\", gap = \"1 h\" }",
        "{ kind = \"reactive\", queue_share = 1, advantage = 1e9 }",
    ] {
        let outcome = run(&grid(&burst(kind), 25), 1, None);
        assert_eq!(
            texts(&outcome.flows, "digest"),
            texts(&flow.flows, "digest"),
            "{kind}"
        );
    }
}

/// Two loads of 60 Mbit/s over two ways of 100 Mbit/s start while all queues are empty, so that
/// in half of all runs both take the same way.
#[test]
fn a_reactive_flow_leaves_a_way_that_two_have_chosen() {
    let flows = "[[flow]]\nkind = \"udp\"\nfrom = \"west\"\nto = \"east\"\ncount = 2\n\
                 rate = \"60 Mbit/s\"\npacket_size = \"1412 B\"\nstart = \"uniform 0 s 100 ms\"\n";
    let link = "rate = \"100 Mbit/s\", delay = \"1 ms\"";
    let delivered = |routing: &str, seed| {
        let outcome = run(&two_ways(routing, link, link, flows), seed, None);
        let sent = sum(&outcome, "segments_sent") as f64;
        (sum(&outcome, "packets_received") as f64 / sent, outcome)
    };
    let mut piled = 0;
    for seed in 1..=6 {
        let (flow, _) = delivered(ROUTINGS[3], seed);
        let (reactive, outcome) = delivered(&burst("\"reactive\""), seed);
        assert!(reactive > 0.999, "seed {seed}: {reactive}");
        if flow < 0.9 {
            piled += 1;
            // One of the two moved, once.
            assert_eq!(sum(&outcome, "bursts"), 3, "seed {seed}");
        }
    }
    assert!(
        (1..6).contains(&piled),
        "both on one way in {piled} of 6 runs"
    );
}
