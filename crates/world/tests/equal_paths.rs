//! OSPF's equal paths: how flows, flowlets and packets are divided among them.

mod common;

use backlane_world::Outcome;
use common::{floats, integers, run, texts};

/// Two equal paths from a to d, by b and by c.
fn diamond(routing: &str, flows: &str) -> String {
    format!(
        r#"
name = "diamond"
duration = "5 s"
[topology]
kind = "graph"
node = [{{ id = "a" }}, {{ id = "b" }}, {{ id = "c" }}, {{ id = "d" }}]
link = [
  {{ a = "a", b = "b", rate = "10 Mbit/s", delay = "1 ms", queue = "100 packets" }},
  {{ a = "a", b = "c", rate = "10 Mbit/s", delay = "1 ms", queue = "100 packets" }},
  {{ a = "b", b = "d", rate = "10 Mbit/s", delay = "1 ms", queue = "100 packets" }},
  {{ a = "c", b = "d", rate = "10 Mbit/s", delay = "1 ms", queue = "100 packets" }},
]
[routing]
protocol = "ospf"
{routing}
[[flow]]
from = "a"
to = "d"
{flows}
"#
    )
}

const DOWNLOADS: &str = "kind = \"transfer\"\nsize = \"endless\"\ncount = 8";
const STREAMS: &str = "kind = \"udp\"\nrate = \"400 kbit/s\"\npacket_size = \"1000 B\"\ncount = 8";

/// Packets of data that left a for b and for c.
fn by_b_and_c(outcome: &Outcome) -> [u64; 2] {
    let [from, to] = ["from", "to"].map(|column| texts(&outcome.links, column));
    let packets = integers(&outcome.links, "packets");
    ["b", "c"].map(|next| {
        let is_it =
            |&at: &usize| from[at].as_deref() == Some("a") && to[at].as_deref() == Some(next);
        packets[(0..from.len()).find(is_it).unwrap()].unwrap()
    })
}

/// Two downloads between the same hosts share one of two equal paths by their addresses, and with
/// ports some keys divide them.
#[test]
fn equal_paths_divide_flows_by_ports_and_not_by_addresses_of_one_pair() {
    let goodput = |routing: &str, seed| {
        let outcome = run(&diamond(routing, DOWNLOADS), seed, None);
        floats(&outcome.flows, "goodput_bps")
            .iter()
            .flatten()
            .sum::<f64>()
            / 1e6
    };
    for seed in 1..=5 {
        let shared = goodput("", seed);
        assert!((9.0..10.0).contains(&shared), "{shared}");
    }
    // All eight on one side have a probability of 1/128 for a key.
    let divided: Vec<f64> = (1..=5)
        .map(|seed| goodput("hash = \"ports\"", seed))
        .collect();
    assert!(
        divided.iter().filter(|sum| **sum > 18.0).count() >= 4,
        "{divided:?}"
    );
    let one = goodput("hash = \"ports\"\npaths = 1", 1);
    assert!((9.0..10.0).contains(&one), "{one}");
}

/// With streams of one rate the packets of the links are those of the flows that the table counts.
#[test]
fn the_table_of_divisions_has_the_flows_of_each_link() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..=5 {
        let outcome = run(&diamond("hash = \"ports\"", STREAMS), seed, None);
        let (_, divisions) = (outcome.more.iter())
            .find(|(name, _)| *name == "divisions")
            .unwrap();
        let [node, to] = ["node", "to"].map(|column| texts(divisions, column));
        assert_eq!(
            (node[0].as_deref(), to[0].as_deref()),
            (Some("a"), Some("b"))
        );
        let [paths, flows] = ["paths", "data_flows"].map(|column| integers(divisions, column));
        let [b, c] = [flows[0].unwrap(), flows[1].unwrap()];
        assert_eq!((paths[0], b + c), (Some(2), 8));
        // Each stream has 250 packets, and its HELLOs a few more.
        let packets = by_b_and_c(&outcome);
        assert_eq!(packets.map(|sum| (sum + 100) / 250), [b, c], "{packets:?}");
        seen.insert(b);
    }
    assert!(seen.len() > 1, "each router draws its key: {seen:?}");
}

/// One stream keeps its path by a hash, and is halved in turns; DRILL leaves no queue beside an
/// empty one.
#[test]
fn packets_of_one_stream_are_divided_in_turns_and_by_queues() {
    let one = STREAMS
        .replace("count = 8", "count = 1")
        .replace("400 kbit/s", "8 Mbit/s");
    let divided = |spread: &str| {
        let routing = format!("hash = \"ports\"\nspread = \"{spread}\"");
        by_b_and_c(&run(&diamond(&routing, &one), 1, None))
    };
    let [b, c] = divided("hash");
    assert!(b.min(c) < 10 && b.max(c) > 4_900, "{b}, {c}");
    let [b, c] = divided("round-robin");
    assert!(b.abs_diff(c) <= 2 && b > 2_490, "{b}, {c}");
    let [b, c] = divided("drill");
    assert!(b.min(c) > 1_000, "{b}, {c}");
    // A packet each millisecond: gaps beyond twice 400 µs divide all, and 2 ms none.
    let letflow = |gap: &str| divided(&format!("letflow\"\nflowlet_gap = \"{gap}"));
    let [b, c] = letflow("400 us");
    assert!(b.min(c) > 2_300, "{b}, {c}");
    let [b, c] = letflow("2 ms");
    assert!(b.min(c) < 10, "{b}, {c}");
}
