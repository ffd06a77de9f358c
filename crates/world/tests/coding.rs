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

/// One way that is cut from the second on, for 20 s or for good.
fn cut(until: &str) -> Outcome {
    let text = format!(
        "duration = \"300 s\"\n\
         [topology]\nkind = \"chain\"\nnodes = 3\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"4 ms\", queue = \"100 packets\" }}\n\
         [coding]\npayload = true\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"5 MB\"\n\
         [[failure]]\nlink = \"enb2-enb3\"\nat = \"1 s\"\n{until}"
    );
    run(&text, 1, None)
}

#[test]
fn a_transfer_survives_a_cut_and_a_cut_for_good_ends_by_the_time_limit() {
    let mended = cut("until = \"21 s\"\n");
    assert_eq!(
        integers(&mended.flows, "delivered_bytes"),
        [Some(5_000_000)]
    );
    let finish_s = floats(&mended.flows, "finish_s")[0].unwrap();
    assert!((21.0..60.0).contains(&finish_s), "{finish_s}");
    let cut = cut("");
    assert_eq!(cut.summary.ended.name(), "time limit");
    let delivered_bytes = integers(&cut.flows, "delivered_bytes")[0].unwrap();
    assert!(
        (500_000..1_250_000).contains(&delivered_bytes),
        "{delivered_bytes}"
    );
    // Probes and requests grow rarer: a packet each 4.5 s at the end, and TCP's own.
    let table = &cut
        .more
        .iter()
        .find(|(name, _)| *name == "coding")
        .unwrap()
        .1;
    let probes = integers(table, "probes")[0].unwrap();
    assert!((20..100).contains(&probes), "{probes}");
}
