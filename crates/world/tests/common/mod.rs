//! Scenarios that the tests share.
#![allow(dead_code, reason = "each test file uses some of these")]

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
    format!(
        r#"
name = "grid"
duration = "60 s"
[topology]
kind = "grid"
rows = 5
columns = 5
spacing = "200 m"
link = {{ rate = "500 Mbit/s", delay = "4 ms", queue = "1 bdp" }}
[[gateway]]
node = "epc"
attach = ["enb5", "enb15", "enb25"]
link = {{ rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 bdp" }}
[[server]]
node = "server"
attach = "epc"
link = {{ rate = "10 Gbit/s", delay = "5 ms" }}
[access]
kind = "ideal"
rate = "350 Mbit/s"
delay = "10 ms"
ues = {ues}
[routing]
{routing}
[[flow]]
kind = "download"
from = "server"
to = "ues"
size = "1 MB"
start = "uniform 1 s 2 s"
"#
    )
}

pub fn resolve(text: &str) -> Scenario {
    let plan = backlane_scenario::plan(text, "test.toml", &[], None)
        .unwrap_or_else(|report| panic!("{report}"));
    Scenario::from_resolved(&plan.cells[0].resolved).unwrap_or_else(|report| panic!("{report}"))
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
