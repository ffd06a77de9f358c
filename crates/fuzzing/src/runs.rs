//! A run conserves packets, can be interrupted, and gives the same results when it is repeated.

use backlane_record::{Column, Table};
use backlane_scenario::model::{self, Scenario};
use backlane_units::{Duration, SimTime};
use backlane_world::catalogue;
use backlane_world::{Interrupt, Outcome, World, remarks};

use crate::choices::Choices;
use crate::keys::key_and_value;
use crate::networks::network;
use crate::pcapng::blocks;
use crate::scenario::{is_a_fixed_point, is_a_report};

/// The sections whose keys are changed.
const SECTIONS: [&str; 12] = [
    "access",
    "assignment",
    "coding",
    "failure",
    "flow",
    "gateway",
    "record",
    "routing",
    "server",
    "tcp",
    "topology",
    "wifi",
];
const MOST_CHANGES: usize = 6;
const DURATIONS: [&str; 8] = [
    "50 ms", "10 ms", "200 ms", "500 ms", "1 s", "3 s", "10 s", "60 s",
];

/// A run is interrupted after this number of calls of its watch: some 65 000 events.
const MOST_CALLS: usize = 128;
/// The largest number of events between two checks of the state of a run.
const MOST_STEPS: usize = 8192;

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It was no scenario.
    Refused,
    /// It was one, and too large for a short run.
    TooLarge,
    /// It ran until it was interrupted.
    Interrupted,
    /// It ran to its end.
    Finished,
}

/// Runs a scenario that the bytes choose.
///
/// # Panics
/// If a property is violated; see [`run`].
pub fn runs(bytes: &[u8]) {
    run(bytes);
}

/// [`runs`], with its result.
///
/// # Panics
/// If a report is incomplete; a resolved scenario is no fixed point or cannot be built; packets
/// are not conserved; a value in a table is no number; a run that is repeated, or interrupted and
/// restarted, gives other results.
pub fn run(bytes: &[u8]) -> Ran {
    let mut choices = Choices::new(bytes);
    let Some(resolved) = drawn(&mut choices) else {
        return Ran::Refused;
    };
    let described = catalogue().from_resolved(&resolved);
    let scenario = described.unwrap_or_else(|report| panic!("{report}\nof\n{resolved}"));
    if !is_small(&scenario) {
        return Ran::TooLarge;
    }
    is_a_fixed_point(&resolved);
    let chosen = choices.number(1);
    // A network that each run draws is read for one seed.
    let seed = if scenario.is_drawn {
        scenario.seed
    } else {
        chosen
    };
    let warned = remarks(&scenario, seed, "drawn.toml");
    assert!(warned.is_ok(), "{warned:?}");
    let steps = choices.below(MOST_STEPS);
    let stop = choices.below(MOST_CALLS);

    is_balanced_after(&scenario, seed, steps);
    let (first, calls) = watched(&scenario, seed, MOST_CALLS);
    if !calls.is_empty() {
        let stop_at = 1 + stop % calls.len();
        let (stopped, until) = watched(&scenario, seed, stop_at);
        assert_eq!(stopped, None, "an interrupted run gives nothing");
        assert_eq!(until, calls[..stop_at]);
    }
    let (again, calls_again) = watched(&scenario, seed, MOST_CALLS);
    assert_eq!(calls, calls_again, "of\n{resolved}");
    if let Some(outcome) = &first {
        is_sound(outcome, &resolved);
    }
    assert!(first == again, "another outcome of\n{resolved}");
    if first.is_some() {
        Ran::Finished
    } else {
        Ran::Interrupted
    }
}

/// The resolved scenario that the bytes choose, if it is one.
pub fn resolved_case(bytes: &[u8]) -> Option<String> {
    drawn(&mut Choices::new(bytes))
}

fn drawn(choices: &mut Choices) -> Option<String> {
    let base = network(choices);
    changed(&base, &SECTIONS, choices)
}

/// The resolved form of a scenario with keys of these sections changed, as long as it remains one.
pub(crate) fn changed(base: &str, sections: &[&str], choices: &mut Choices) -> Option<String> {
    let mut overrides = Vec::new();
    let mut resolved = resolved(base, &overrides)?;
    if sections.len() > 1 {
        let duration = choices.of(&DURATIONS).to_owned();
        overrides.push(("duration".to_owned(), duration));
    }
    for _ in 0..=choices.below(MOST_CHANGES) {
        // Without the change, only that of the duration remains.
        if let Some(with) = self::resolved(base, &overrides) {
            resolved = with;
        } else {
            overrides.pop();
        }
        overrides.push(key_and_value(sections, choices));
    }
    Some(self::resolved(base, &overrides).unwrap_or(resolved))
}

fn resolved(text: &str, overrides: &[(String, String)]) -> Option<String> {
    match catalogue().plan(text, "drawn.toml", overrides, None) {
        Ok(mut plan) => plan.cells.pop().map(|cell| cell.resolved),
        Err(report) => {
            is_a_report(&report);
            None
        }
    }
}

/// Whether a run of it is short, apart from its events, and has few samples.
fn is_small(scenario: &Scenario) -> bool {
    let ues = scenario.access.as_ref().map_or(0, |access| access.ues);
    let flows = scenario.flows.iter();
    let flows: usize = flows
        .map(|group| group.pairs(ues).count().saturating_mul(group.count))
        .sum();
    let samples = scenario.duration.as_ps() / scenario.record.interval.as_ps().max(1);
    let record = &scenario.record;
    let is_sampled = record.cwnd || record.goodput || record.queue || record.radio;
    let is_slotted = |group: &model::FlowGroup| {
        let control = group.udp.and_then(|udp| udp.control);
        control.is_none_or(|utility| utility.slot >= Duration::from_micros(10))
    };
    scenario.nodes.len() <= 40
        && scenario.links.len() <= 120
        && ues <= 16
        && flows <= 40
        && scenario.failures.len() <= 8
        && scenario.warm_up <= Duration::from_secs(60)
        && (!is_sampled || samples <= 2_000)
        && scenario.flows.iter().all(is_slotted)
}

/// Steps through a part of a run, and counts its packets there.
fn is_balanced_after(scenario: &Scenario, seed: u64, steps: usize) {
    let mut world = built(scenario, seed);
    let end = SimTime::ZERO + scenario.warm_up;
    let end = end.saturating_add(scenario.duration);
    for _ in 0..steps {
        if !world.simulation.step(end) {
            break;
        }
    }
    let balance = world.simulation.network.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!(balance.in_flight, world.simulation.held_pkts() as u64);
}

fn built(scenario: &Scenario, seed: u64) -> World {
    let seed = if scenario.is_drawn {
        scenario.seed
    } else {
        seed
    };
    let world = World::new(scenario, seed, None);
    world.unwrap_or_else(|error| panic!("a scenario that passed its checks: {error}"))
}

/// A run that is interrupted after `most` calls of its watch: its result, and the times and events
/// of those calls.
fn watched(scenario: &Scenario, seed: u64, most: usize) -> (Option<Outcome>, Vec<(SimTime, u64)>) {
    let mut calls = Vec::new();
    let outcome = built(scenario, seed).run(|now, events| {
        calls.push((now, events));
        if calls.len() == most {
            Err(Interrupt)
        } else {
            Ok(())
        }
    });
    assert_eq!(outcome.is_err(), calls.len() == most);
    (outcome.ok(), calls)
}

/// Checks the invariants of an outcome.
fn is_sound(outcome: &Outcome, of: &str) {
    let summary = &outcome.summary;
    let dropped: u64 = summary
        .dropped_by_cause
        .iter()
        .map(|(_, count)| count)
        .sum();
    assert_eq!(
        summary.packets_injected + summary.packets_duplicated,
        summary.packets_delivered + dropped + summary.packets_in_flight
    );
    let tables = [
        &outcome.flows,
        &outcome.links,
        &outcome.nodes,
        &outcome.radio,
        &outcome.mcs,
    ];
    let more = outcome
        .more
        .iter()
        .chain(&outcome.series)
        .map(|(_, table)| table);
    for table in tables.into_iter().chain(more) {
        is_of_numbers(table, of);
    }
    for (_, capture) in &outcome.captures {
        assert!(!blocks(capture).is_empty());
    }
}

/// Checks that all columns of a table have its length, and that values are numbers.
pub(crate) fn is_of_numbers(table: &Table, of: &str) {
    for (field, column) in table.columns() {
        let name = field.name;
        let rows = match column {
            Column::Text(values) => values.len(),
            Column::Integer(values) => values.len(),
            Column::Float(values) => {
                let odd = values.iter().flatten().find(|value| !value.is_finite());
                assert_eq!(odd, None, "{name} of\n{of}");
                values.len()
            }
        };
        assert_eq!(rows, table.rows(), "{name}");
    }
}
