//! Channels and flow rates of links, from the file to the results.

mod common;

use backlane_world::catalogue;
use backlane_world::{Outcome, World};
use common::{floats, integers, run, texts};

/// Four nodes around a square: source, top, bottom, sink, with `flow` from source to sink.
fn diamond(links: [&str; 4], sections: &str, flow: &str) -> String {
    let node = |id: &str, x: u32, y: u32| {
        format!("{{ id = \"{id}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\" }}")
    };
    let [first, second, third, fourth] = links;
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nnode = [{}, {}, {}, {}]\n\
         link = [\n{{ a = \"source\", b = \"top\", {first} }},\n\
         {{ a = \"sink\", b = \"top\", {second} }},\n\
         {{ a = \"source\", b = \"bottom\", {third} }},\n\
         {{ a = \"bottom\", b = \"sink\", {fourth} }},\n]\n\
         {sections}\n[routing]\nprotocol = \"l2.5r\"\nallocation = \"packet\"\n[[flow]]\n{flow}\n",
        node("source", 0, 50),
        node("top", 50, 0),
        node("bottom", 50, 100),
        node("sink", 100, 50),
    )
}

const UDP: &str = "kind = \"udp\"\nfrom = \"source\"\nto = \"sink\"\nrate = \"12 Mbit/s\"\npacket_size = \"1000 B\"";
const WIFI: [&str; 4] = ["medium = \"wifi\""; 4];

/// The packets from one node to another.
fn bytes(outcome: &Outcome, from: &str, to: &str) -> f64 {
    let ends = |name| texts(&outcome.links, name).into_iter().flatten();
    let link = ends("from")
        .zip(ends("to"))
        .position(|(a, b)| a == from && b == to);
    integers(&outcome.links, "bytes")[link.unwrap()].unwrap() as f64
}

fn assigned(outcome: &Outcome) -> &backlane_record::Table {
    let mut tables = outcome.more.iter();
    &tables.find(|(name, _)| *name == "assignment").unwrap().1
}

#[test]
fn wires_carry_in_proportion_to_the_flow_rates_of_the_file() {
    let wire = |rates: &str| format!("rate = \"50 Mbit/s\", delay = \"1 ms\", {rates}");
    let up = wire("flow_rate = \"30 Mbit/s\"");
    // The second link is listed from the sink: what goes to it is its way back.
    let down = wire("flow_rate = \"none\", flow_rate_back = \"30 Mbit/s\"");
    let low = wire("flow_rate = \"10 Mbit/s\", flow_rate_back = \"none\"");
    let outcome = run(&diamond([&up, &down, &low, &low], "", UDP), 1, None);
    // 12 Mbit/s of 1000-byte packets for 20 s are 30 000 packets.
    let (top, bottom) = (
        bytes(&outcome, "source", "top"),
        bytes(&outcome, "source", "bottom"),
    );
    assert!((top / bottom - 3.0).abs() < 0.01, "{top} {bottom}");
    assert_eq!(bytes(&outcome, "sink", "top"), 0.0);
    assert!(bytes(&outcome, "top", "sink") > 2e7);
}

#[test]
fn links_over_radios_get_channels_and_carry_in_proportion_to_their_flow_rates() {
    let sections = "[wifi]\nloss = 0.0\n[assignment]\nchannels = \"fcra\"\nflow_rates = \"throughput\"\n\
         demands = [{ from = \"source\", to = \"sink\", rate = \"40 Mbit/s\" }]";
    let outcome = run(&diamond(WIFI, sections, UDP), 1, None);
    let table = assigned(&outcome);
    assert_eq!(table.rows(), 8);
    // The channels in use are those that were assigned, and no node has a link twice on one.
    let channels = integers(table, "channel");
    assert_eq!(channels, integers(&outcome.links, "channel"));
    let ends = |name| texts(table, name);
    let from_source = (ends("from").into_iter())
        .zip(channels)
        .filter(|(from, _)| from.as_deref() == Some("source"));
    let of_source: Vec<_> = from_source.map(|(_, channel)| channel).collect();
    assert_ne!(of_source[0], of_source[1]);
    let rates = floats(table, "flow_rate_bps");
    let rate = |from: &str, to: &str| {
        let mut pairs = ends("from").into_iter().zip(ends("to"));
        let row = pairs.position(|(a, b)| a.as_deref() == Some(from) && b.as_deref() == Some(to));
        rates[row.unwrap()].unwrap()
    };
    let (top, bottom) = (rate("source", "top"), rate("source", "bottom"));
    assert!((top + bottom - 40e6).abs() < 10.0, "{top} {bottom}");
    let share = bytes(&outcome, "source", "top")
        / (bytes(&outcome, "source", "top") + bytes(&outcome, "source", "bottom"));
    assert!((share - top / (top + bottom)).abs() < 0.01, "{share}");
    assert!(
        floats(table, "scale")
            .iter()
            .all(|scale| *scale == Some(1.0))
    );
    let busiest = floats(table, "utilisation").into_iter().flatten();
    let busiest = busiest.fold(0.0, f64::max);
    assert!(busiest > 0.3 && busiest <= 1.0 + 1e-6, "{busiest}");
}

/// A and D have one radio each and use it for B and for C on different channels; there is no
/// traffic between A and D.
fn without_the_fourth_link(more: &str) -> String {
    let node = |id: &str, radios: u8, x: u32, y: u32| {
        format!(
            "{{ id = \"{id}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\", radios = {radios} }}"
        )
    };
    let flow = |from: &str, to: &str| {
        format!(
            "[[flow]]\nkind = \"transfer\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"200 kB\"\n"
        )
    };
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nnode = [{}, {}, {}, {}]\n\
         link = [\n{}]\n[wifi]\nloss = 0.0\n[assignment]\nchannels = \"fcra\"\n{more}{}{}",
        node("A", 1, 0, 0),
        node("B", 2, 50, 0),
        node("C", 2, 50, 50),
        node("D", 1, 0, 50),
        ["AB", "BC", "CD", "DA"]
            .map(|ends| {
                let (a, b) = ends.split_at(1);
                format!("{{ a = \"{a}\", b = \"{b}\", medium = \"wifi\" }},\n")
            })
            .concat(),
        flow("A", "B"),
        flow("D", "C"),
    )
}

#[test]
fn a_link_that_no_radios_are_left_for_is_not_laid_and_may_fail() {
    let failure = "[[failure]]\nlink = \"D-A\"\nat = \"1 s\"\n";
    for routing in ["shortest-path", "olsr", "l2.5r"] {
        let routing = format!("[routing]\nprotocol = \"{routing}\"\n");
        let outcome = run(
            &without_the_fourth_link(&(routing.clone() + failure)),
            1,
            None,
        );
        let ends = texts(&outcome.links, "from")
            .into_iter()
            .zip(texts(&outcome.links, "to"));
        let ends: Vec<_> = ends
            .map(|(from, to)| from.unwrap() + &to.unwrap())
            .collect();
        assert_eq!(ends, ["AB", "BA", "BC", "CB", "CD", "DC"]);
        let delivered = integers(&outcome.flows, "delivered_bytes");
        assert_eq!(
            delivered,
            [Some(200_000); 2],
            "{routing} {:?}",
            outcome.summary
        );
    }
}

#[test]
fn a_resolved_assignment_is_run_as_it_stands_and_resolves_to_itself() {
    let sections = "[wifi]\n[assignment]\nchannels = \"fcra\"\nrates = \"adjusted\"\n\
                    interference = \"sinr\"";
    for text in [
        diamond(WIFI, sections, UDP),
        without_the_fourth_link("[routing]\nprotocol = \"l2.5r\"\n"),
    ] {
        let resolved = catalogue()
            .plan(&text, "test.toml", &[], None)
            .unwrap()
            .cells[0]
            .resolved
            .clone();
        let again = catalogue().plan(&resolved, "test.toml", &[], None).unwrap();
        assert_eq!(again.cells[0].resolved, resolved);
        let scenario = catalogue().parse(&text, "test.toml").unwrap();
        assert_eq!(catalogue().from_resolved(&resolved).unwrap(), scenario);
        World::new(&scenario, 1, None).unwrap();
    }
}

#[test]
fn an_assignment_over_a_resolved_file_is_not_computed_again() {
    let text = diamond(WIFI, "[wifi]\n[assignment]\nchannels = \"fcra\"", UDP);
    let resolved = catalogue()
        .plan(&text, "test.toml", &[], None)
        .unwrap()
        .cells[0]
        .resolved
        .clone();
    // A channel changed by hand stays as it was written.
    let line = resolved
        .lines()
        .find(|line| line.contains("b = \"top\""))
        .unwrap();
    let channel = if line.contains("channel = 1") {
        "1"
    } else {
        "2"
    };
    let other = resolved
        .replace("channels = [1, 2]", "channels = [1, 2, 3]")
        .replacen(&format!("channel = {channel},"), "channel = 3,", 1);
    let scenario = catalogue().from_resolved(&other).unwrap();
    assert_eq!(scenario.links[0].radio().unwrap().channel, Some(3));
}
