//! Network coding in whole scenarios.

mod common;

use backlane_world::Outcome;
use common::{floats, integers, run};

/// Two ways of unlike length, packet by packet: half of the packets overtake the others.
fn diamond(coding: &str) -> String {
    format!(
        "duration = \"30 s\"\n\
         [topology]\nkind = \"graph\"\n\
         node = [{{ id = \"A\" }}, {{ id = \"B\" }}, {{ id = \"C\" }}, {{ id = \"D\" }}]\n\
         link = [\n\
           {{ a = \"A\", b = \"B\", rate = \"10 Mbit/s\", delay = \"2 ms\", queue = \"10 MB\" }},\n\
           {{ a = \"A\", b = \"C\", rate = \"10 Mbit/s\", delay = \"30 ms\", queue = \"10 MB\" }},\n\
           {{ a = \"B\", b = \"D\", rate = \"10 Mbit/s\", delay = \"2 ms\", queue = \"10 MB\" }},\n\
           {{ a = \"C\", b = \"D\", rate = \"10 Mbit/s\", delay = \"30 ms\", queue = \"10 MB\" }},\n\
         ]\n\
         [routing]\nprotocol = \"shortest-path\"\nspray = [\"A\"]\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"A\"\nto = \"D\"\nsize = \"10 MB\"\n{coding}"
    )
}

/// Both ways carry half of the packets, one of them 56 ms later than the other.
#[test]
fn tcp_sees_no_reordering_through_the_layer() {
    let plain = run(&diamond(""), 1, None);
    let coded = run(&diamond("[coding]\npayload = true\n"), 1, None);
    let one = |outcome: &Outcome, column| integers(&outcome.flows, column)[0].unwrap();
    assert!(one(&plain, "spurious_retransmits") > 0);
    for outcome in [&plain, &coded] {
        assert!(floats(&outcome.flows, "reordered_ratio")[0].unwrap() > 0.05);
    }
    assert_eq!(one(&coded, "delivered_bytes"), 10_000_000);
    for column in ["duplicate_acks", "retransmits", "rtos"] {
        assert_eq!(one(&coded, column), 0, "{column}");
    }
    let table = &coded
        .more
        .iter()
        .find(|(name, _)| *name == "coding")
        .unwrap()
        .1;
    let count = |column| integers(table, column)[0].unwrap();
    assert_eq!(count("bytes_compared"), 10_000_000);
    assert_eq!(count("bytes_unequal"), 0);
    assert_eq!(count("edge_drops"), 0);
    assert_eq!(
        count("originals") + count("repairs") + count("probes"),
        count("coded_packets")
    );
    assert!(plain.more.iter().all(|(name, _)| *name != "coding"));
}

#[test]
fn the_layer_is_off_without_its_section_and_where_it_says_so() {
    let without = run(&diamond(""), 1, None);
    let off = run(&diamond("[coding]\nenabled = false\n"), 1, None);
    assert_eq!(without.summary.digest, off.summary.digest);
    let on = run(&diamond("[coding]\n"), 1, None);
    assert_ne!(without.summary.digest, on.summary.digest);
}

/// A header that lists its coefficients grows with the generation.
#[test]
fn listed_coefficients_cost_a_byte_for_each_packet_mixed() {
    let bytes = |coefficients: &str| {
        let text = diamond(&format!(
            "[coding]\ncoefficients = \"{coefficients}\"\nmax_generation = 20\n"
        ));
        let outcome = run(&text, 1, None);
        let bytes: u64 = integers(&outcome.links, "bytes")
            .into_iter()
            .flatten()
            .sum();
        let packets = integers(&outcome.links, "packets")
            .into_iter()
            .flatten()
            .sum::<u64>();
        bytes as f64 / packets as f64
    };
    // 1 … 20 bytes in a full generation, 10.5 on average; packets of two hops, and as many answers.
    let more = bytes("explicit") - bytes("seed");
    assert!((4.0..5.3).contains(&more), "{more}");
}
