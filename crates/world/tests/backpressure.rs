//! Backpressure with one queue per node, and with one for each destination.

mod common;

use backlane_world::{Ended, Outcome};
use common::{floats, grid, integers, run, texts};

const CLASSIC: &str = "protocol = \"bp-classic\"";

/// Two ways of 100 Mbit/s from west to east and a load in packets of 1440 bytes between them.
fn two_ways(routing: &str, load: &str) -> String {
    let link = |a: &str, b: &str| {
        format!("{{ a = \"{a}\", b = \"{b}\", rate = \"100 Mbit/s\", delay = \"1 ms\" }}")
    };
    format!(
        r#"
name = "two ways"
duration = "10 s"
[topology]
kind = "graph"
node = [{{ id = "west" }}, {{ id = "north" }}, {{ id = "south" }}, {{ id = "east" }}]
link = [{}, {}, {}, {}]
[routing]
warm_up = "1 s"
{routing}
[[flow]]
kind = "udp"
from = "west"
to = "east"
rate = "{load}"
packet_size = "1412 B"
"#,
        link("west", "north"),
        link("north", "east"),
        link("west", "south"),
        link("south", "east"),
    )
}

fn delivered(outcome: &Outcome) -> f64 {
    let column = |name: &str| integers(&outcome.flows, name)[0].unwrap() as f64;
    column("packets_received") / column("segments_sent")
}

fn bytes(outcome: &Outcome, from: &str, to: &str) -> u64 {
    let [froms, tos] = ["from", "to"].map(|name| texts(&outcome.links, name));
    let is = |names: &[Option<String>], i: usize, name: &str| names[i].as_deref() == Some(name);
    let row = (0..froms.len()).find(|&i| is(&froms, i, from) && is(&tos, i, to));
    integers(&outcome.links, "bytes")[row.unwrap()].unwrap()
}

fn backlog_pkts(outcome: &Outcome) -> u64 {
    let most = integers(&outcome.nodes, "queue_max_bytes");
    most[0].unwrap() / 1440
}

/// A load of 160 Mbit/s is below what both ways carry and above what one does.
#[test]
fn classical_backpressure_is_stable_below_capacity_and_uses_both_ways() {
    let outcome = run(&two_ways(CLASSIC, "160 Mbit/s"), 1, None);
    // Packets not delivered are in flight at the end.
    assert!(delivered(&outcome) > 0.999, "{}", delivered(&outcome));
    assert_eq!(outcome.summary.dropped_by_cause[0], ("queue", 0));
    let [north, south] = ["north", "south"].map(|way| bytes(&outcome, way, "east"));
    let share = north as f64 / (north + south) as f64;
    assert!((share - 0.5).abs() < 0.05, "{share} over north");
    // Four times as long, the largest backlog is about the same.
    let longer = two_ways(CLASSIC, "160 Mbit/s").replace("\"10 s\"", "\"40 s\"");
    let [short, long] = [outcome, run(&longer, 1, None)].map(|outcome| backlog_pkts(&outcome));
    assert!(long <= short.max(10) * 2, "{short} packets, then {long}");

    let one_way = run(
        &two_ways("protocol = \"shortest-path\"", "160 Mbit/s"),
        1,
        None,
    );
    assert!(delivered(&one_way) < 0.65);
}

#[test]
fn beyond_capacity_the_backlog_of_classical_backpressure_grows_to_its_limit() {
    let unlimited = format!("{CLASSIC}\nqueue_limit_pkts = 1000000");
    let after = |seconds: u32| {
        let text = two_ways(&unlimited, "240 Mbit/s");
        run(
            &text.replace("\"10 s\"", &format!("\"{seconds} s\"")),
            1,
            None,
        )
    };
    // 240 Mbit/s of payload are 244.8 on the links: 44.8 Mbit/s too much, 3889 packets a second.
    for seconds in [2, 4] {
        let backlog = backlog_pkts(&after(seconds)) as f64;
        let expected = 44.8e6 / (1440.0 * 8.0) * f64::from(seconds);
        assert!(
            (backlog / expected - 1.0).abs() < 0.05,
            "{backlog} of {expected}"
        );
    }
    let limited = run(&two_ways(CLASSIC, "240 Mbit/s"), 1, None);
    assert!(backlog_pkts(&limited) <= 340);
    assert!(limited.summary.dropped_by_cause[0].1 > 30_000);
}

/// With one packet at a time, the differential is the same towards every neighbour.
#[test]
fn at_light_load_classical_backpressure_walks_at_random() {
    let hops = |routing: &str| {
        let outcome = run(&two_ways(routing, "100 kbit/s"), 1, None);
        floats(&outcome.flows, "hops_mean")[0].unwrap()
    };
    assert_eq!(hops("protocol = \"bp\""), 2.0);
    // From north it goes on to east or back to west with the same chance: 2, 4, 6 … routers
    // with chances ½, ¼, ⅛ …, on average 4.
    let walked = hops(CLASSIC);
    assert!((walked - 4.0).abs() < 0.6, "{walked}");
}

#[test]
fn every_kind_of_backpressure_conserves_packets_and_repeats_itself() {
    for routing in [
        "protocol = \"bp\"",
        "protocol = \"bp\"\npenalty = \"shadow\"\nqueue_info = \"oracle\"",
        "protocol = \"bs\"\nanticipate = true",
        "protocol = \"bs\"\nv = 50",
        CLASSIC,
        "protocol = \"bp-classic\"\nqueue_info = \"hello\"",
    ] {
        let text = grid(routing, 8);
        let outcome = run(&text, 1, None);
        assert_eq!(outcome, run(&text, 1, None), "{routing}");
        let dropped: u64 = outcome.summary.dropped_by_cause.iter().map(|c| c.1).sum();
        assert_eq!(
            outcome.summary.packets_injected,
            outcome.summary.packets_delivered + dropped + outcome.summary.packets_in_flight
        );
    }
}

#[test]
fn downloads_finish_over_one_queue_per_node() {
    for routing in ["protocol = \"bp\"", "protocol = \"bs\""] {
        let outcome = run(&grid(routing, 25), 1, None);
        assert_eq!(outcome.summary.ended, Ended::FlowsFinished, "{routing}");
    }
}

/// The straight way from start to goal ends at a node that leads nowhere else.
fn dead_end(routing: &str, stop_s: u32) -> Outcome {
    let node =
        |id: &str, x: u32, y: u32| format!("{{ id = \"{id}\", x = \"{x} m\", y = \"{y} m\" }}");
    let link = |a: &str, b: &str| {
        format!("{{ a = \"{a}\", b = \"{b}\", rate = \"100 Mbit/s\", delay = \"4 ms\" }}")
    };
    let text = format!(
        r#"
name = "dead end"
duration = "6 s"
[topology]
kind = "graph"
node = [{}, {}, {}, {}, {}]
link = [{}, {}, {}, {}]
[routing]
warm_up = "1 s"
distance = "euclidean"
{routing}
[[flow]]
kind = "udp"
from = "start"
to = "goal"
rate = "1 Mbit/s"
stop = "{stop_s} s"
"#,
        node("start", 0, 0),
        node("trap", 200, 0),
        node("up", 0, 200),
        node("over", 400, 200),
        node("goal", 400, 0),
        link("start", "trap"),
        link("start", "up"),
        link("up", "over"),
        link("over", "goal"),
    );
    run(&text, 1, None)
}

#[test]
fn packets_leave_a_dead_end_by_the_previous_hop_or_by_virtual_backlog_and_not_by_greed() {
    // 250 packets in 2 s are too few: V is 200 at an empty queue, and nothing is pushed away
    // from the goal until more than half of 200 wait.
    let plain = dead_end("protocol = \"bp\"", 2);
    assert!(delivered(&plain) < 0.7, "{}", delivered(&plain));
    assert!(integers(&plain.nodes, "queue_max_bytes")[1].unwrap() > 90 * 1028);
    let sparse = dead_end("protocol = \"bs\"", 2);
    assert_eq!(delivered(&sparse), 1.0);
    // start, trap, start, up, over.
    assert_eq!(floats(&sparse.flows, "hops_mean")[0], Some(5.0));
    let shadow = |stop_s| dead_end("protocol = \"bp\"\npenalty = \"shadow\"", stop_s);
    let [short, long] = [shadow(2), shadow(4)];
    assert!(delivered(&short) > 0.8, "{}", delivered(&short));
    // Once a HELLO has reported the dead end, no more packets go there.
    assert_eq!(
        bytes(&short, "start", "trap"),
        bytes(&long, "start", "trap")
    );
}
