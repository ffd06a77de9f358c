//! What the routings do to flows on the published grid.

mod common;

use backlane_world::Ended;
use common::{ROUTINGS, floats, grid, integers, run, texts};

#[test]
fn every_download_finishes_under_every_routing() {
    for routing in ROUTINGS {
        let outcome = run(&grid(routing, 25), 1, None);
        assert_eq!(outcome.summary.ended, Ended::FlowsFinished, "{routing}");
        assert!(
            floats(&outcome.flows, "finish_time_s")
                .iter()
                .all(Option::is_some),
            "{routing}"
        );
        assert!(
            integers(&outcome.flows, "delivered_bytes")
                .iter()
                .all(|&b| b == Some(1_000_000)),
            "{routing}"
        );
    }
}

#[test]
fn one_path_for_each_flow_never_reorders() {
    for routing in [ROUTINGS[0], ROUTINGS[3]] {
        let outcome = run(&grid(routing, 50), 1, None);
        assert!(
            floats(&outcome.flows, "reordered_ratio")
                .iter()
                .all(|&ratio| ratio == Some(0.0)),
            "{routing}"
        );
        assert!(
            integers(&outcome.flows, "path_changes")
                .iter()
                .all(|&changes| changes == Some(0)),
            "{routing}"
        );
    }
}

#[test]
fn per_packet_backpressure_spreads_a_flow_over_paths_and_reorders_it() {
    let outcome = run(&grid(ROUTINGS[2], 50), 1, None);
    let changes: u64 = integers(&outcome.flows, "path_changes")
        .into_iter()
        .flatten()
        .sum();
    let ratios: Vec<f64> = floats(&outcome.flows, "reordered_ratio")
        .into_iter()
        .flatten()
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(changes > 50 * 100, "{changes} changes of path");
    assert!(mean > 0.005, "{mean} reordered on average");
}

/// A UE at h hops from its nearest gateway passes h + 1 links from the core network to its
/// eNodeB, and as many routers and one more.
#[test]
fn shortest_paths_have_the_lengths_of_the_grid() {
    let outcome = run(&grid(ROUTINGS[0], 25), 1, None);
    let hops: Vec<f64> = floats(&outcome.flows, "hops_mean")
        .into_iter()
        .flatten()
        .collect();
    let expected: Vec<f64> = (0..25)
        .map(|index| {
            let (row, column) = (index / 5, index % 5);
            let to_gateway_row = [0, 2, 4]
                .iter()
                .map(|g: &i32| (g - row).abs())
                .min()
                .unwrap();
            f64::from(4 - column + to_gateway_row + 2)
        })
        .collect();
    assert_eq!(hops, expected);
}

/// Without other traffic, the first sample of a flow is the SYN's: the delays of all links
/// there and back, plus the time to send 60 bytes on each.
#[test]
fn the_rtt_of_an_empty_network_is_the_sum_of_its_delays() {
    let text = grid(ROUTINGS[0], 5).replace("\"1 MB\"", "\"1 B\"");
    let outcome = run(&text, 1, None);
    // UE 5 at gateway enb5: 5 + 0.5 + 10 ms each way; UE 1 four mesh links further.
    for (ue, one_way_ms) in [(4, 15.5), (0, 15.5 + 4.0 * 4.0)] {
        let rtt_ms = 1e3 * floats(&outcome.flows, "rtt_p50_s")[ue].unwrap();
        assert!(
            (rtt_ms - 2.0 * one_way_ms).abs() < 0.02 * rtt_ms,
            "UE {}: {rtt_ms} ms",
            ue + 1
        );
    }
}

/// Two paths of one length but unequal delay behind a router that sprays.
const TWO_PATHS: &str = r#"
duration = "20 s"
[topology]
kind = "graph"
node = [
  { id = "from", kind = "server" },
  { id = "near", kind = "router" },
  { id = "low", kind = "router" },
  { id = "high", kind = "router" },
  { id = "far", kind = "router" },
  { id = "to", kind = "server" },
]
link = [
  { a = "from", b = "near", rate = "10 Mbit/s", delay = "1 ms" },
  { a = "near", b = "high", rate = "10 Mbit/s", delay = "9 ms" },
  { a = "near", b = "low", rate = "10 Mbit/s", delay = "4 ms" },
  { a = "low", b = "far", rate = "10 Mbit/s", delay = "1 ms" },
  { a = "high", b = "far", rate = "10 Mbit/s", delay = "1 ms" },
  { a = "far", b = "to", rate = "10 Mbit/s", delay = "1 ms" },
]
[routing]
spray = ["near"]
[[flow]]
kind = "transfer"
from = "from"
to = "to"
size = "1 MB"
"#;

#[test]
fn a_router_that_sprays_shares_packets_evenly_and_the_way_back_keeps_to_one_path() {
    let outcome = run(TWO_PATHS, 1, None);
    let ends = |name| texts(&outcome.links, name).into_iter().flatten();
    let packets = integers(&outcome.links, "packets");
    let carried = |from: &str, to: &str| {
        let link = ends("from")
            .zip(ends("to"))
            .position(|(a, b)| a == from && b == to);
        packets[link.unwrap()].unwrap()
    };
    let (low, high) = (carried("near", "low"), carried("near", "high"));
    assert!(high.abs_diff(low) <= 1 && low > 300, "{low} and {high}");
    assert_eq!(carried("far", "high"), 0);
    assert!(carried("far", "low") > 300);
}

#[test]
fn a_flow_that_is_sprayed_over_unequal_paths_is_reordered() {
    let ratio = |text: &str| floats(&run(text, 1, None).flows, "reordered_ratio")[0].unwrap();
    assert!(ratio(TWO_PATHS) > 0.3);
    assert_eq!(ratio(&TWO_PATHS.replace("spray = [\"near\"]", "")), 0.0);
}

/// Three paths: the two of `TWO_PATHS`, and one over both middle routers, which no shortest path has.
/// `low` and `high` send to each other's neighbour, depending on the path.
fn three_paths(more: &str) -> String {
    TWO_PATHS
        .replace(
            "  { a = \"far\", b = \"to\"",
            "  { a = \"low\", b = \"high\", rate = \"10 Mbit/s\", delay = \"1 ms\" },\n  \
             { a = \"far\", b = \"to\"",
        )
        .replace("spray = [\"near\"]", more)
}

#[test]
fn packets_follow_explicit_paths_in_the_shares_of_the_weights_and_return_by_the_shortest() {
    let path = |nodes: &str, weight: u32| {
        format!("{{ from = \"near\", to = \"far\", nodes = [{nodes}], weight = {weight} }}")
    };
    let paths = [
        path("\"near\", \"low\", \"far\"", 5),
        path("\"near\", \"high\", \"low\", \"far\"", 3),
        path("\"near\", \"low\", \"high\", \"far\"", 2),
    ];
    let more = format!(
        "spread = \"round-robin\"\nexplicit_paths = [{}]",
        paths.join(", ")
    );
    let outcome = run(&three_paths(&more), 1, None);
    assert_eq!(outcome.summary.ended, Ended::FlowsFinished);
    let ends = |name| texts(&outcome.links, name).into_iter().flatten();
    let packets = integers(&outcome.links, "packets");
    let carried = |from: &str, to: &str| {
        let mut links = ends("from").zip(ends("to"));
        packets[links.position(|(a, b)| a == from && b == to).unwrap()].unwrap() as f64
    };
    let all = carried("from", "near");
    for (from, to, share) in [
        ("near", "low", 0.7),
        ("near", "high", 0.3),
        ("high", "low", 0.3),
        ("low", "high", 0.2),
        ("low", "far", 0.8),
        ("high", "far", 0.2),
    ] {
        // Turns are exact to a few packets.
        let error = (carried(from, to) - share * all).abs();
        assert!(error < 4.0, "{from}-{to}: {error} of {all}");
    }
    // Among equal paths back, that over the router with the lower number.
    assert_eq!(carried("far", "high"), 0.0);
}

#[test]
fn packets_on_an_explicit_path_are_lost_while_one_of_its_links_is_cut() {
    let more = "explicit_paths = [{ from = \"near\", to = \"far\", nodes = [\"near\", \"high\", \"far\"] }]";
    let cut = "[[failure]]\nlink = \"high-far\"\nat = \"0 s\"\nuntil = \"2 s\"\n";
    let finish = |text: &str| floats(&run(text, 1, None).flows, "finish_time_s")[0].unwrap();
    let (intact, failed) = (three_paths(more), three_paths(more) + cut);
    assert!(finish(&intact) < 1.5);
    assert!(finish(&failed) > 2.0);
}

#[test]
fn downloads_finish_over_routes_that_aodv_finds_when_they_begin() {
    for routing in [
        "protocol = \"aodv\"",
        "protocol = \"aodv\"\nprofile = \"ns2\"",
    ] {
        let outcome = run(&grid(routing, 25), 1, None);
        assert_eq!(outcome.summary.ended, Ended::FlowsFinished, "{routing}");
        let hops = floats(&outcome.flows, "hops_mean");
        let shortest = floats(&run(&grid(ROUTINGS[0], 25), 1, None).flows, "hops_mean");
        let total = |hops: &[Option<f64>]| hops.iter().flatten().sum::<f64>();
        // The first answer wins, be it a hop longer.
        assert!(total(&hops) >= total(&shortest) - 1e-9, "{hops:?}");
        assert!(
            total(&hops) < 1.25 * total(&shortest),
            "{hops:?} {shortest:?}"
        );
    }
}

/// Four radios in a row, each in range of the next alone. Probes, OGMs and packets with their header
/// share the channel.
#[test]
fn batman_carries_a_flow_over_a_chain_of_radios() {
    for version in ["V", "IV"] {
        let text = format!(
            r#"
name = "radios"
duration = "20 s"
[topology]
kind = "chain"
nodes = 4
spacing = "40 m"
link = {{ medium = "wifi" }}
[wifi]
standard = "802.11a"
rate = "6 Mbit/s"
[routing]
protocol = "batman"
version = "{version}"
warm_up = "40 s"
[[flow]]
kind = "udp"
from = "enb1"
to = "enb4"
rate = "100 kbit/s"
packet_size = "1000 B"
"#
        );
        let flows = run(&text, 1, None).flows;
        let [sent, received] =
            ["segments_sent", "packets_received"].map(|column| integers(&flows, column)[0]);
        // The last packet leaves at the end.
        assert!(
            sent >= Some(250) && received >= sent.map(|sent| sent - 5),
            "{sent:?} {received:?}"
        );
    }
}
