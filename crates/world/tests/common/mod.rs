//! Scenarios that the tests share.
#![allow(dead_code, reason = "each test file uses some of these")]

pub mod scenes;

use backlane_engine::Trace;
use backlane_record::{Column, Table};
use backlane_scenario::Scenario;
use backlane_world::{Outcome, World};

pub const ROUTINGS: [&str; 4] = [
    "protocol = \"shortest-path\"",
    "protocol = \"olsr\"",
    "protocol = \"bp-mr\"\ngranularity = \"packet\"",
    "protocol = \"bp-mr\"\ngranularity = \"flow\"",
];

/// The published grid with `ues` UEs of 1 MB each.
pub fn grid(routing: &str, ues: usize) -> String {
    backlane_testkit::scenes::grid(routing, ues, "1 MB", "uniform 1 s 2 s")
}

/// Links of [`three_ways`] over 802.11, each on a channel of its own.
pub const RADIO: &str = "medium = \"wifi\", channel = {}";
/// Their radios.
pub const WIFI: &str =
    "[wifi]\nstandard = \"802.11a\"\nrate = \"54 Mbit/s\"\nrts_threshold = \"off\"\nloss = 0.0\n";

/// L2.5R from S to R over a1; b1 and b2; or c1, c2 and c3. `link` is what each link is, `{}` in it
/// its number.
pub fn three_ways(link: &str, routing: &str, more: &str) -> String {
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

pub fn resolve(text: &str) -> Scenario {
    let plan = backlane_world::catalogue()
        .plan(text, "test.toml", &[], None)
        .unwrap_or_else(|report| panic!("{report}"));
    backlane_world::catalogue()
        .from_resolved(&plan.cells[0].resolved)
        .unwrap_or_else(|report| panic!("{report}"))
}

pub fn run(text: &str, seed: u64, trace: Option<Trace>) -> Outcome {
    let world = World::new(&resolve(text), seed, trace).unwrap();
    let Ok(outcome) = world.run(|_, _| Ok(())) else {
        unreachable!("nothing interrupts")
    };
    outcome
}

pub fn floats(table: &Table, name: &str) -> Vec<Option<f64>> {
    match table.column(name) {
        Some(Column::Float(values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

pub fn integers(table: &Table, name: &str) -> Vec<Option<u64>> {
    match table.column(name) {
        Some(Column::Integer(values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

pub fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    match table.column(name) {
        Some(Column::Text(values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}
