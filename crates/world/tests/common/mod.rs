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
    backlane_testkit::scenes::grid(routing, ues, "1 MB", "uniform 1 s 2 s")
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
