//! L2.5R over three disjoint ways of two, three and four links, from the file to the results.

mod common;

use backlane_world::Outcome;
use common::{floats, integers, run, texts};

/// S and R, and between them a1; b1 and b2; c1, c2 and c3. `link` is what each link is, `{}` in it
/// its number.
fn three_ways(link: &str, routing: &str, more: &str) -> String {
    let ways = [
        "S a1", "a1 R", "S b1", "b1 b2", "b2 R", "S c1", "c1 c2", "c2 c3", "c3 R",
    ];
    let links: Vec<String> = ways
        .iter()
        .enumerate()
        .map(|(number, ends)| {
            let (a, b) = ends.split_once(' ').unwrap();
            let link = link.replace("{}", &(number + 1).to_string());
            format!("  {{ a = \"{a}\", b = \"{b}\", {link} }},\n")
        })
        .collect();
    let links = links.concat();
    let node = |id: &str, channels: &str, x: u32, y: u32| {
        let channels = if link.contains("wifi") {
            format!(", channels = [{channels}], x = \"{x} m\", y = \"{y} m\"")
        } else {
            String::new()
        };
        format!("  {{ id = \"{id}\", kind = \"router\"{channels} }},\n")
    };
    let nodes: String = [
        node("S", "1, 3, 6", 0, 100),
        node("a1", "1, 2", 60, 100),
        node("R", "2, 5, 9", 120, 100),
        node("b1", "3, 4", 40, 150),
        node("b2", "4, 5", 80, 150),
        node("c1", "6, 7", 30, 50),
        node("c2", "7, 8", 60, 20),
        node("c3", "8, 9", 90, 50),
    ]
    .concat();
    format!(
        "duration = \"5 s\"\n[topology]\nkind = \"graph\"\nnode = [\n{nodes}]\nlink = [\n{links}]\n\
         [routing]\nprotocol = \"l2.5r\"\n{routing}\n{more}\n"
    )
}

const WIRE: &str = "rate = \"10 Mbit/s\", delay = \"1 ms\", queue = \"50 packets\"";
const RADIO: &str = "medium = \"wifi\", channel = {}";
const WIFI: &str =
    "[wifi]\nstandard = \"802.11a\"\nrate = \"54 Mbit/s\"\nrts_threshold = \"off\"\nloss = 0.0\n";

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
