//! Routing and failures over 802.11, from the file to the results.

mod common;

use backlane_world::Outcome;
use common::{floats, integers, run, texts};

const PROTOCOLS: [&str; 8] = [
    "protocol = \"shortest-path\"",
    "protocol = \"olsr\"",
    "protocol = \"olsr\"\nmetric = \"etx\"",
    "protocol = \"olsr\"\nmetric = \"airtime\"",
    "protocol = \"bp-mr\"",
    "protocol = \"bp-mr\"\ngranularity = \"packet\"",
    "protocol = \"bp\"",
    "protocol = \"bp-classic\"",
];

/// A load of 80 kb/s from one router to another for 60 s, under ns-2's radio, when routing has
/// had 20 s.
fn load(topology: &str, routing: &str, from: &str, to: &str, more: &str) -> Outcome {
    let text = format!(
        r#"
name = "mesh"
duration = "60 s"
{topology}
[wifi]
profile = "ns2"
rts_threshold = "off"
loss = 0.0
[routing]
warm_up = "20 s"
{routing}
[[flow]]
kind = "udp"
rate = "80 kbit/s"
from = "{from}"
to = "{to}"
{more}
"#
    );
    run(&text, 1, None)
}

/// Nine routers in cells of 200 m, linked to those beside, above and below.
const CELLS: &str = r#"
[topology]
kind = "cells"
rows = 3
columns = 3
link = { medium = "wifi" }
"#;

fn delivered_share(outcome: &Outcome) -> f64 {
    let bytes = integers(&outcome.flows, "delivered_bytes")[0].unwrap();
    bytes as f64 / (80e3 / 8.0 * 60.0)
}

#[test]
fn protocols_of_wired_meshes_run_over_802_11() {
    for routing in PROTOCOLS {
        let outcome = load(CELLS, routing, "n1", "n9", "");
        let share = delivered_share(&outcome);
        let hops = floats(&outcome.flows, "hops_mean")[0].unwrap();
        println!("{routing:?}: {share:.3} delivered, {hops:.2} hops");
        // Classical backpressure lets packets wander while there is little traffic, and loses
        // none of them.
        let least = if routing.contains("classic") {
            0.8
        } else {
            0.97
        };
        assert!(share > least && share <= 1.001, "{routing}: {share}");
        assert!(
            hops >= 4.0 || routing.contains("metric"),
            "{routing}: {hops}"
        );
    }
}

/// A – B – C – A; each link works regardless of its length.
fn triangle(loss: f64) -> String {
    format!(
        r#"
[topology]
kind = "graph"
[[topology.node]]
id = "A"
x = "0 m"
y = "0 m"
[[topology.node]]
id = "B"
x = "50 m"
y = "0 m"
[[topology.node]]
id = "C"
x = "25 m"
y = "40 m"
[[topology.link]]
a = "A"
b = "B"
medium = "wifi"
loss = {loss}
[[topology.link]]
a = "A"
b = "C"
medium = "wifi"
[[topology.link]]
a = "C"
b = "B"
medium = "wifi"
"#
    )
}

#[test]
fn etx_measures_a_lossy_link_and_avoids_it() {
    let hops = |metric: &str, loss: f64| {
        let routing =
            format!("protocol = \"olsr\"\nmetric = \"{metric}\"\nhello_interval = \"500 ms\"");
        let outcome = load(&triangle(loss), &routing, "A", "B", "");
        floats(&outcome.flows, "hops_mean")[0].unwrap()
    };
    // 1/(0.5 · 0.5) = 4 transmissions against 2; 1/(0.95 · 0.95) = 1.1 against 2.
    let round = hops("etx", 0.5);
    let direct = hops("etx", 0.05);
    let shortest = hops("hops", 0.5);
    println!("hops: ETX at half {round:.2}, at a twentieth {direct:.2}; without {shortest:.2}");
    assert!(round > 1.9 && direct < 1.1 && shortest < 1.5);
}

/// One link at 6 Mbit/s, or two at 54, of 802.11a without losses: by hops 1 against 2, by ETX too, and by
/// the directional airtime metric of RFC 7779 349.5 against 2 · 38.8.
///
/// A packet of 1500 bytes occupies the air for DIFS, the mean back-off, the frame, SIFS and the
/// acknowledgment (Jun, Peddabachagari and Sichitiu, "Theoretical maximum throughput of IEEE 802.11 and its
/// applications", NCA 2003, with 802.11a's numbers): 34 + 67.5 + 2072 + 16 + 44 µs at 6 Mbit/s and
/// 34 + 67.5 + 248 + 16 + 28 µs at 54. Two hops within one range take turns: half of the latter.
#[test]
fn airtime_takes_two_fast_links_where_hops_and_etx_take_a_slow_one() {
    let goodput = |metric: &str| {
        let text = format!(
            r#"
name = "rates"
duration = "20 s"
{}
[wifi]
standard = "802.11a"
rate = "54 Mbit/s"
rts_threshold = "off"
routing_first = true
loss = 0.0
[routing]
protocol = "olsr"
metric = "{metric}"
warm_up = "20 s"
[[flow]]
kind = "udp"
rate = "25 Mbit/s"
packet_size = "1500 B"
from = "A"
to = "B"
"#,
            triangle(0.0).replacen("loss = 0", "rate = \"6 Mbit/s\"\nloss = 0", 1)
        );
        let outcome = run(&text, 1, None);
        let bytes = integers(&outcome.flows, "delivered_bytes")[0].unwrap();
        let hops = floats(&outcome.flows, "hops_mean")[0].unwrap();
        (bytes as f64 * 8.0 / 20e6, hops)
    };
    let payload_bits = 8.0 * (1500.0 - 28.0);
    let slow = payload_bits / (34.0 + 67.5 + 2072.0 + 16.0 + 44.0);
    let fast = payload_bits / (34.0 + 67.5 + 248.0 + 16.0 + 28.0);
    let [by_hops, by_etx, by_airtime] = ["hops", "etx", "airtime"].map(goodput);
    println!(
        "{by_hops:?} {by_etx:?} {by_airtime:?}; {slow:.2} {:.2}",
        fast / 2.0
    );
    for (goodput, hops) in [by_hops, by_etx] {
        assert!(
            (goodput / slow - 1.0).abs() < 0.02 && hops < 1.01,
            "{goodput} {hops}"
        );
    }
    let (goodput, hops) = by_airtime;
    assert!(
        (goodput / (fast / 2.0) - 1.0).abs() < 0.1 && hops > 1.99,
        "{goodput} {hops}"
    );
}

#[test]
fn aodv_by_etx_avoids_a_lossy_link_too() {
    let hops = |loss: f64| {
        let routing = "protocol = \"aodv\"\nmetric = \"etx\"";
        let outcome = load(&triangle(loss), routing, "A", "B", "");
        floats(&outcome.flows, "hops_mean")[0].unwrap()
    };
    // 1/(0.4 · 0.4) = 6 transmissions against 2; 1/(0.95 · 0.95) = 1.1 against 2.
    let (round, direct) = (hops(0.6), hops(0.05));
    println!("hops at a loss of 0.6 {round:.2}, of 0.05 {direct:.2}");
    assert!(round > 1.9 && direct < 1.1);
}

#[test]
fn a_failed_link_lets_nothing_through_and_its_sender_gives_up() {
    let failure = "[[failure]]\nlink = \"A-B\"\nat = \"10 s\"\nuntil = \"40 s\"";
    let routing = "protocol = \"shortest-path\"";
    let outcome = load(&triangle(0.0), routing, "A", "B", failure);
    // 30 of 60 s, at ten packets a second.
    assert!((delivered_share(&outcome) - 0.5).abs() < 0.01);
    let dropped = outcome.summary.dropped_by_cause;
    let radio = dropped.iter().find(|(cause, _)| *cause == "radio");
    assert!((299..=301).contains(&radio.unwrap().1), "{dropped:?}");
    let (from, to) = (texts(&outcome.links, "from"), texts(&outcome.links, "to"));
    let drops = integers(&outcome.links, "drops");
    let row =
        (0..from.len()).find(|&i| from[i].as_deref() == Some("A") && to[i].as_deref() == Some("B"));
    assert_eq!(drops[row.unwrap()], Some(radio.unwrap().1));
}

#[test]
fn olsr_avoids_a_node_whose_radio_has_failed() {
    let failure = "[[failure]]\nnode = \"C\"\nat = \"10 s\"";
    let diamond = triangle(0.0).replace("a = \"A\"\nb = \"B\"", "a = \"A\"\nb = \"D\"")
        + "[[topology.node]]\nid = \"D\"\nx = \"25 m\"\ny = \"-40 m\"\n\
           [[topology.link]]\na = \"D\"\nb = \"B\"\nmedium = \"wifi\"\n";
    let routing = "protocol = \"olsr\"";
    for (failure, least, most) in [("", 0.999, 1.001), (failure, 0.898, 0.935)] {
        let outcome = load(&diamond, routing, "A", "B", failure);
        let share = delivered_share(&outcome);
        println!("{failure:?}: {share:.3} delivered");
        // A considers C a neighbour for 6 s after its last HELLO, which came up to 2 s before the
        // failure; A knows that D leads to B as well.
        assert!((least..=most).contains(&share), "{share}");
    }
}
