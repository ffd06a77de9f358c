//! The output of a run: tables, series, captures.

use backlane_scenario::model::{AccessKind, Capacity, Scenario};

use super::costs;
use super::ledger::{Cost, Ledger};
use super::share::Traffic;
use crate::sink::{CAPTURE_BYTES, SERIES_ROWS};

/// Counts the rows and bytes that a network's run records.
pub(super) fn count(scenario: &Scenario, traffic: &Traffic, ledger: &mut Ledger) {
    series(scenario, traffic, ledger);
    captures(scenario, traffic, ledger);
    ledger.add("points of traces", points(scenario), costs::POINT);
}

/// Points of recorded traces, whose text stands in the resolved scenario.
fn points(scenario: &Scenario) -> f64 {
    let points: usize = match scenario.access.as_ref().map(|access| &access.kind) {
        Some(AccessKind::Trace(trace)) => (trace.traces.iter())
            .map(|trace| match trace {
                Capacity::Opportunities(list) => list.len(),
                Capacity::Rates { steps, .. } => steps.len(),
            })
            .sum(),
        Some(AccessKind::Lte(lte)) => {
            let channels: usize = lte.channels.iter().map(|trace| trace.times.len()).sum();
            channels + lte.ways.iter().map(Vec::len).sum::<usize>()
        }
        _ => 0,
    };
    points as f64
}

/// Rows of series; they wait in memory only until a part of the file is full.
fn series(scenario: &Scenario, traffic: &Traffic, ledger: &mut Ledger) {
    let record = &scenario.record;
    let interval_s = record.interval.as_secs_f64();
    if interval_s <= 0.0 {
        return;
    }
    let samples = traffic.end_s / interval_s;
    let of_flows = |tcp_only: bool| {
        let bundles = traffic.bundles.iter().filter(|b| b.is_tcp || !tcp_only);
        let (mut flows, mut rows) = (0.0, 0.0);
        for bundle in bundles {
            flows += bundle.started;
            rows += bundle.started * ((bundle.active_s / interval_s) + 1.0).min(samples);
        }
        let named = record.flows.len() as f64;
        if named > 0.0 && flows > named {
            rows * named / flows
        } else {
            rows
        }
    };
    if record.cwnd {
        rows("series of windows", of_flows(true), costs::CWND_ROW, ledger);
    }
    if record.goodput {
        rows(
            "series of goodput",
            of_flows(false),
            costs::GOODPUT_ROW,
            ledger,
        );
    }
    if record.queue {
        let cells = scenario
            .access
            .as_ref()
            .map_or(0, |access| match access.kind {
                AccessKind::Trace(_) => access.ues,
                _ => scenario.nodes.len().min(access.ues),
            });
        let all = 2 * (scenario.links.len() + cells);
        let links = if record.links.is_empty() {
            all
        } else {
            record.links.len().min(all)
        };
        rows(
            "series of queues",
            samples * links as f64,
            costs::QUEUE_ROW,
            ledger,
        );
    }
    if let Some(access) = scenario.access.as_ref().filter(|_| record.radio)
        && matches!(access.kind, AccessKind::Lte(_))
    {
        let named = record.flows.len();
        let ues = if named == 0 {
            access.ues
        } else {
            named.min(access.ues)
        };
        rows(
            "series of radios",
            samples * ues as f64,
            costs::RADIO_ROW,
            ledger,
        );
    }
}

/// Adds rows of a series, which go to the disk in parts.
pub(super) fn rows(name: &str, count: f64, each: Cost, ledger: &mut Ledger) {
    let (held, memory_bytes) = (count.min(SERIES_ROWS as f64), each.memory_bytes);
    ledger.add(
        name,
        count,
        Cost {
            memory_bytes: 0.0,
            ..each
        },
    );
    let buffer = Cost {
        memory_bytes,
        ..Cost::default()
    };
    ledger.add(format!("{name}, in memory"), held, buffer);
}

/// Packets that pass a node, twice where it forwards them.
fn captures(scenario: &Scenario, traffic: &Traffic, ledger: &mut Ledger) {
    for name in &scenario.record.capture {
        let node = scenario.nodes.iter().position(|node| node.id == *name);
        let mut packets = 0.0;
        for bundle in &traffic.bundles {
            let of_flow = bundle.data_pkts + bundle.ack_pkts;
            let through = &bundle.there.through;
            let Some(node) = node else { continue };
            if let Some(at) = through.iter().position(|&there| there as usize == node) {
                let is_end = at == 0 || at + 1 == through.len();
                packets += of_flow * bundle.started * if is_end { 1.0 } else { 2.0 };
            }
        }
        let bytes = packets * costs::CAPTURED_BYTES;
        let label = format!("capture at {name}");
        ledger.add(label.as_str(), packets, costs::CAPTURED);
        let held = bytes.min(CAPTURE_BYTES as f64);
        let buffer = Cost {
            memory_bytes: 1.0,
            ..Cost::default()
        };
        ledger.add(format!("{label}, in memory"), held, buffer);
    }
}
