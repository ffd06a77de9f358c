//! L2.5R over three disjoint ways of two, three and four links, from the file to the results.

mod common;

use backlane_world::Outcome;
use common::{RADIO, WIFI, floats, integers, run, texts, three_ways};

const WIRE: &str = "rate = \"10 Mbit/s\", delay = \"1 ms\", queue = \"50 packets\"";
/// TCP flows from S to R.
fn flows(count: u32) -> String {
    format!(
        "[[flow]]\nkind = \"transfer\"\nfrom = \"S\"\nto = \"R\"\nsize = \"endless\"\ncount = {count}\nstart = \"uniform 0 s 1 s\"\n"
    )
}

fn carried(outcome: &Outcome, from: &str, to: &str) -> u64 {
    let ends = |name| texts(&outcome.links, name).into_iter().flatten();
    let packets = integers(&outcome.links, "packets");
    let mut pairs = ends("from").zip(ends("to"));
    let link = pairs.position(|(a, b)| a == from && b == to).unwrap();
    packets[link].unwrap()
}

/// Packets from S by the three ways.
fn out(outcome: &Outcome) -> [u64; 3] {
    ["a1", "b1", "c1"].map(|first| carried(outcome, "S", first))
}

/// Packets from R by the three ways.
fn back(outcome: &Outcome) -> [u64; 3] {
    ["a1", "b2", "c3"].map(|last| carried(outcome, "R", last))
}

fn even(ways: [u64; 3]) -> bool {
    let (least, most) = (ways.iter().min().unwrap(), ways.iter().max().unwrap());
    *least > 500 && (most - least) as f64 <= 0.01 * *most as f64
}

fn used(ways: [u64; 3]) -> usize {
    ways.iter().filter(|&&packets| packets > 0).count()
}

#[test]
fn each_allocation_spreads_what_it_does_not_pin() {
    for (link, wifi) in [(WIRE, ""), (RADIO, WIFI)] {
        for (allocation, spreads) in [
            ("packet", [true, true]),
            ("data+ack", [false, false]),
            ("data", [false, true]),
            ("ack", [true, false]),
        ] {
            let routing = format!("allocation = \"{allocation}\"");
            let text = three_ways(link, &routing, &format!("{wifi}{}", flows(1)));
            let outcome = run(&text, 1, None);
            for (ways, spread) in [out(&outcome), back(&outcome)].into_iter().zip(spreads) {
                if spread {
                    assert!(even(ways), "{allocation}: {ways:?}");
                } else {
                    assert_eq!(used(ways), 1, "{allocation}: {ways:?}");
                }
            }
        }
    }
}

#[test]
fn three_pinned_flows_take_three_ways_and_are_not_reordered() {
    for (link, wifi) in [(WIRE, ""), (RADIO, WIFI)] {
        for seed in 0..5 {
            let text = three_ways(
                link,
                "allocation = \"data+ack\"",
                &format!("{wifi}{}", flows(3)),
            );
            let outcome = run(&text, seed, None);
            assert_eq!(used(out(&outcome)), 3);
            assert_eq!(
                floats(&outcome.flows, "reordered_ratio"),
                vec![Some(0.0); 3]
            );
        }
    }
}

#[test]
fn a_station_that_dies_costs_three_packets_at_most_and_the_others_share_its_part() {
    let more = format!(
        "{WIFI}[[flow]]\nkind = \"udp\"\nrate = \"2 Mbit/s\"\nfrom = \"S\"\nto = \"R\"\n\
         packet_size = \"1000 B\"\n[[failure]]\nnode = \"a1\"\nat = \"2 s\"\n"
    );
    for seed in 0..5 {
        let outcome = run(&three_ways(RADIO, "", &more), seed, None);
        let column = |name: &str| integers(&outcome.flows, name)[0].unwrap();
        let lost = column("segments_sent") - column("packets_received");
        assert!(lost <= 3, "{lost} lost");
        let silence_s = floats(&outcome.flows, "longest_silence_s")[0].unwrap();
        assert!(silence_s < 0.05, "{silence_s} s of silence");
        let [dead, two, three] = out(&outcome);
        assert!(
            two > 2 * dead && two.abs_diff(three) <= 2,
            "{dead}, {two}, {three}"
        );
        let (_, routing) = outcome
            .more
            .iter()
            .find(|(name, _)| *name == "routing")
            .unwrap();
        let seen: u64 = integers(routing, "link_failures")
            .into_iter()
            .flatten()
            .sum();
        assert_eq!(seen, 1, "S noticed, once");
    }
}

#[test]
fn flowlets_and_new_pins_come_from_the_file() {
    for (routing, changes) in [
        ("allocation = \"data\"", false),
        ("allocation = \"data\"\nrepin_period = \"1 s\"", true),
        ("burst_gap = \"5 s\"", false),
        ("burst_gap = \"1 us\"", true),
    ] {
        let outcome = run(&three_ways(WIRE, routing, &flows(1)), 1, None);
        let ways = used(out(&outcome));
        assert_eq!(ways, if changes { 3 } else { 1 }, "{routing}");
    }
}
