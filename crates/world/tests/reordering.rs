//! How far packets are out of order, in whole networks.

mod common;

use backlane_record::Table;
use backlane_world::Outcome;
use common::{ROUTINGS, floats, grid, integers, run, texts};

fn measured(text: &str) -> Outcome {
    run(&format!("{text}\n[record]\nreordering = true\n"), 1, None)
}

fn table(outcome: &Outcome) -> &Table {
    let (_, table) = (outcome.more.iter())
        .find(|(name, _)| *name == "reordering")
        .unwrap();
    table
}

fn mean(values: &[Option<f64>]) -> f64 {
    values.iter().flatten().sum::<f64>() / values.len() as f64
}

/// Displacement, density and occupancy of a flow.
fn rows(outcome: &Outcome, flow: &str) -> Vec<(f64, f64, Option<f64>)> {
    let table = table(outcome);
    let [displacements, densities, occupancies] =
        ["displacement_pkts", "density", "occupancy"].map(|column| floats(table, column));
    texts(table, "flow")
        .iter()
        .zip(displacements.iter().zip(densities.iter().zip(&occupancies)))
        .filter(|(name, _)| name.as_deref() == Some(flow))
        .map(|(_, (displacement, (density, occupancy)))| {
            (displacement.unwrap(), density.unwrap(), *occupancy)
        })
        .collect()
}

#[test]
fn backpressure_by_packets_displaces_and_by_flows_does_not() {
    let [packet, flow] = [ROUTINGS[2], ROUTINGS[3]].map(|routing| measured(&grid(routing, 25)));
    for name in texts(&flow.flows, "flow").into_iter().flatten() {
        assert_eq!(rows(&flow, &name), [(0.0, 1.0, Some(1.0))], "{name}");
        let rows = rows(&packet, &name);
        let density: f64 = rows.iter().map(|row| row.1).sum();
        let occupancy: f64 = rows.iter().filter_map(|row| row.2).sum();
        assert!((density - 1.0).abs() < 1e-9, "{name}: {density}");
        assert!((occupancy - 1.0).abs() < 1e-9, "{name}: {occupancy}");
    }
    assert_eq!(
        mean(&floats(&flow.flows, "reorder_displacement_mean_pkts")),
        0.0
    );
    assert!(mean(&floats(&packet.flows, "reorder_displacement_mean_pkts")) > 0.5);
    let triple = floats(&packet.flows, "n_reordered_3_ratio");
    let reordered = floats(&packet.flows, "reordered_ratio");
    assert!(
        triple
            .iter()
            .zip(&reordered)
            .all(|(triple, any)| triple <= any)
    );
    assert!(mean(&triple) > 0.0);
    let extents = floats(&packet.flows, "reorder_extent_mean_pkts");
    let largest = floats(&packet.flows, "reorder_extent_max_pkts");
    assert!(extents.iter().zip(&largest).all(|(mean, max)| mean <= max));
    assert!(extents.iter().flatten().all(|&extent| extent >= 1.0));
}

#[test]
fn measuring_changes_no_result_and_adds_no_column_when_off() {
    let text = grid(ROUTINGS[2], 10);
    let (off, on) = (run(&text, 1, None), measured(&text));
    assert_eq!(off.summary, on.summary);
    let columns = off.flows.columns();
    assert_eq!(columns, &on.flows.columns()[..columns.len()]);
    assert_eq!(on.flows.columns().len(), columns.len() + 7);
    assert!(off.more.iter().all(|(name, _)| *name != "reordering"));
}

/// One way of 2 ms and one of 10 ms, and a packet each 80 µs that takes either: the first that
/// overtakes one on the longer way leaves within some packets after it and comes 8 ms earlier.
#[test]
fn two_ways_of_a_udp_load_displace_by_the_difference_of_their_delays() {
    let outcome = measured(
        r#"
name = "two ways"
duration = "10 s"
[topology]
kind = "graph"
node = [
  { id = "west", kind = "router" },
  { id = "north", kind = "router" },
  { id = "south", kind = "router" },
  { id = "east", kind = "router" },
]
link = [
  { a = "west", b = "north", rate = "500 Mbit/s", delay = "1 ms" },
  { a = "north", b = "east", rate = "500 Mbit/s", delay = "1 ms" },
  { a = "west", b = "south", rate = "500 Mbit/s", delay = "5 ms" },
  { a = "south", b = "east", rate = "500 Mbit/s", delay = "5 ms" },
]
[routing]
protocol = "bp-mr"
granularity = "packet"
warm_up = "1 s"
[[flow]]
kind = "udp"
from = "west"
to = "east"
packet_size = "1000 B"
rate = "100 Mbit/s"
"#,
    );
    assert!(integers(&outcome.flows, "packets_received")[0].unwrap() > 100_000);
    let reordered = floats(&outcome.flows, "reordered_ratio")[0].unwrap();
    assert!(reordered > 0.01, "{reordered}");
    // What is late is late by the 8 ms at most: nothing waits in queues at a tenth of the rate.
    let late = floats(&outcome.flows, "reorder_late_max_s")[0].unwrap();
    assert!((0.0079..0.0081).contains(&late), "{late}");
    // A packet arrives each 80 µs on average while one is late, and never more than one on each
    // way, or 200 in 8 ms.
    let late = floats(&outcome.flows, "reorder_late_mean_s")[0].unwrap();
    let extent = floats(&outcome.flows, "reorder_extent_mean_pkts")[0].unwrap();
    assert!(
        (extent * 80e-6 / late - 1.0).abs() < 0.02,
        "{extent}, {late}"
    );
    let extent = floats(&outcome.flows, "reorder_extent_max_pkts")[0].unwrap();
    assert!(extent <= 200.0, "{extent}");
    assert_eq!(
        floats(&outcome.flows, "reorder_discarded_pkts")[0],
        Some(0.0)
    );
}

/// RFC 5236: a displacement beyond DT is not counted, and its packet is lost to both densities.
#[test]
fn no_displacement_exceeds_the_threshold() {
    let text = grid(ROUTINGS[2], 25);
    let with = |threshold: &str| {
        run(
            &format!("{text}\n[record]\nreordering = true\n{threshold}\n"),
            1,
            None,
        )
    };
    let (wide, narrow) = (with(""), with("reordering_threshold_pkts = 2"));
    let largest = |outcome: &Outcome| {
        let displacements = floats(table(outcome), "displacement_pkts");
        displacements
            .iter()
            .flatten()
            .fold(0.0, |a: f64, b| a.max(b.abs()))
    };
    assert!(largest(&wide) > 2.0);
    assert_eq!(largest(&narrow), 2.0);
    let discarded = |outcome: &Outcome| mean(&floats(&outcome.flows, "reorder_discarded_pkts"));
    assert_eq!(discarded(&wide), 0.0);
    assert!(discarded(&narrow) > 0.0);
}
