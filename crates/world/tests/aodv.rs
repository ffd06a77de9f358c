//! AODV over 802.11, from the file to the results.

mod common;

use backlane_record::Table;
use backlane_world::{Ended, Outcome};
use common::{floats, integers, run, texts};

fn chain(nodes: usize, routing: &str, more: &str) -> String {
    format!(
        r#"
name = "chain"
duration = "60 s"
[topology]
kind = "chain"
nodes = {nodes}
spacing = "200 m"
link = {{ medium = "wifi" }}
[wifi]
profile = "ns2"
rate = "2 Mbit/s"
[routing]
protocol = "aodv"
{routing}
{more}
"#
    )
}

fn routing_table(outcome: &Outcome) -> &Table {
    let mut more = outcome.more.iter();
    &more.find(|(name, _)| *name == "routing").unwrap().1
}

fn total(outcome: &Outcome, column: &str) -> u64 {
    let values = integers(routing_table(outcome), column);
    values.into_iter().flatten().sum()
}

#[test]
fn a_route_over_802_11_is_there_within_the_rings_and_a_round_trip() {
    // Waits before the ring that reaches the destination, by hops, in milliseconds.
    let rfc = [0, 0, 240, 240, 640, 640, 1200, 1200, 1920];
    let ns2 = [0, 0, 0, 0, 0, 0, 300, 300, 720];
    for (profile, before) in [("rfc", rfc), ("ns2", ns2)] {
        for (hops, waited_ms) in before.into_iter().enumerate().skip(1) {
            let flow = format!(
                "[[flow]]\nkind = \"transfer\"\nsize = \"1 kB\"\nfrom = \"enb1\"\nto = \"enb{}\"\nstart = \"1 s\"",
                hops + 1
            );
            let text = chain(hops + 1, &format!("profile = \"{profile}\""), &flow);
            for seed in 0..5 {
                let outcome = run(&text, seed, None);
                assert_eq!(outcome.summary.ended, Ended::FlowsFinished);
                let finish_s = floats(&outcome.flows, "finish_time_s")[0].unwrap();
                let waited_s = f64::from(waited_ms) / 1e3;
                // There with up to 10 ms of jitter at each hop, and five ways (the reply, the
                // handshake, the data and its acknowledgment) of 8 ms for the largest packet.
                let most_s = waited_s + hops as f64 * (0.010 + 5.0 * 0.008);
                assert!(
                    (waited_s..most_s).contains(&finish_s),
                    "{profile}, {hops} hops, seed {seed}: {finish_s}"
                );
            }
        }
    }
}

#[test]
fn a_station_that_dies_is_avoided_without_hellos() {
    // Two rows of four: the way of three hops along the first row, and others round by the second.
    let text = |repair: bool| {
        format!(
            r#"
name = "ladder"
duration = "60 s"
[topology]
kind = "cells"
rows = 2
columns = 4
link = {{ medium = "wifi" }}
[wifi]
profile = "ns2"
rate = "2 Mbit/s"
loss = 0.0
[routing]
protocol = "aodv"
local_repair = {repair}
[[flow]]
kind = "udp"
rate = "40 kbit/s"
from = "n1"
to = "n4"
start = "1 s"
[[failure]]
node = "n3"
at = "20 s"
until = "40 s"
"#
        )
    };
    for repair in [true, false] {
        for seed in 0..5 {
            let outcome = run(&text(repair), seed, None);
            let sent = 40e3 / 8.0 * 59.0;
            let share = integers(&outcome.flows, "delivered_bytes")[0].unwrap() as f64 / sent;
            // 5 packets/s; at most the packets of a second are lost with the station.
            assert!(share > 0.98, "repair {repair}, seed {seed}: {share}");
            let searches = total(&outcome, "route_discoveries");
            assert!((1..=6).contains(&searches), "{searches}");
            if !repair {
                assert_eq!(total(&outcome, "route_repairs"), 0);
            }
            // Without HELLOs there are no messages while no link fails.
            let messages = total(&outcome, "messages");
            assert!(messages < 150, "{messages}");
            assert_eq!(texts(routing_table(&outcome), "node").len(), 8);
        }
    }
}

#[test]
fn what_waits_for_a_station_that_died_is_dropped_or_sent_round_or_tried() {
    // A full queue for n2 when it dies; the other way from n1 to n3 leads over n4.
    let dies = |waiting: &str| {
        let text = format!(
            r#"
name = "square"
duration = "12 s"
[topology]
kind = "graph"
node = [
  {{ id = "n1", x = "0 m", y = "0 m" }},
  {{ id = "n2", x = "200 m", y = "0 m" }},
  {{ id = "n3", x = "200 m", y = "200 m" }},
  {{ id = "n4", x = "0 m", y = "200 m" }},
]
link = [
  {{ a = "n1", b = "n2", medium = "wifi" }},
  {{ a = "n2", b = "n3", medium = "wifi" }},
  {{ a = "n3", b = "n4", medium = "wifi" }},
  {{ a = "n4", b = "n1", medium = "wifi" }},
]
[wifi]
profile = "ns2"
loss = 0.0
queue = "100 packets"
[routing]
protocol = "aodv"
{waiting}
[[flow]]
kind = "udp"
rate = "1.5 Mbit/s"
packet_size = "1000 B"
from = "n1"
to = "n3"
start = "1 s"
stop = "10 s"
[[failure]]
node = "n2"
at = "10 s"
[[failure]]
node = "n4"
at = "1 s"
until = "10 s"
"#
        );
        let outcome = run(&text, 1, None);
        let dropped = outcome.summary.dropped_by_cause.iter();
        let radio = dropped.filter(|(cause, _)| *cause == "radio");
        radio.map(|(_, count)| *count).sum::<u64>()
    };
    let tried = dies("waiting = \"stay\"");
    let sent_round = dies("waiting = \"reroute\"");
    let dropped = dies("waiting = \"drop\"");
    // The first packet at its limit, and the one in service by then, were lost as messages or are
    // searched a way for; a hundred waited.
    assert!(tried < 10, "{tried}");
    assert!(sent_round < 10, "{sent_round}");
    assert!((95..=101).contains(&dropped), "{dropped}");
    let as_ns2 = dies("profile = \"ns2\"");
    assert!((95..=103).contains(&as_ns2), "{as_ns2}");
}

#[test]
fn with_half_of_all_frames_lost_aodv_searches_all_the_time() {
    let flow = "[[flow]]\nkind = \"udp\"\nrate = \"80 kbit/s\"\nfrom = \"enb1\"\nto = \"enb4\"\nstart = \"1 s\"";
    let measure = |loss: f64| {
        let text = chain(4, "profile = \"ns2\"", flow).replace(
            "rate = \"2 Mbit/s\"",
            &format!("rate = \"2 Mbit/s\"\nloss = {loss}"),
        );
        let outcome = run(&text, 1, None);
        let bytes = integers(&outcome.flows, "delivered_bytes")[0].unwrap();
        let share = bytes as f64 / (80e3 / 8.0 * 59.0);
        let lost = total(&outcome, "link_failures");
        println!(
            "loss {loss}: {share:.3} delivered, {lost} links lost, {} searches",
            total(&outcome, "route_discoveries")
        );
        (share, lost)
    };
    let (share, lost) = measure(0.0);
    assert!(share > 0.98 && lost == 0, "{share}, {lost}");
    let (lossy_share, lossy_lost) = measure(0.5);
    assert!(lossy_lost > 0);
    assert!(lossy_share < 0.2, "{lossy_share}");
}

/// Their first requests collide; what is repeated has jitter.
#[test]
fn stations_that_search_at_one_instant_find_their_routes() {
    let flow = |from: u32, to: u32| {
        format!(
            "[[flow]]\nkind = \"transfer\"\nsize = \"1 kB\"\nfrom = \"enb{from}\"\nto = \"enb{to}\"\n"
        )
    };
    let flows = flow(1, 3) + &flow(2, 1) + &flow(3, 1);
    for profile in ["rfc", "ns2"] {
        for seed in 0..5 {
            let text = chain(3, &format!("profile = \"{profile}\""), &flows);
            let outcome = run(&text, seed, None);
            let ended = outcome.summary.ended;
            assert_eq!(ended, Ended::FlowsFinished, "{profile}, seed {seed}");
        }
    }
}
