//! The slotted model conserves packets, can be interrupted, and repeats its results.

use std::fmt::Write;

use backlane_scenario::Described;
use backlane_scenario::model::Slotted;
use backlane_world::slotted::{config, run};
use backlane_world::{Interrupt, Outcome};

use crate::choices::Choices;
use crate::runs::{changed, is_of_numbers};
use crate::scenario::is_a_fixed_point;

/// All slots of all points of a map.
const MOST_SLOTS: u64 = 30_000;
/// The exact scheduler looks at all sets of links.
const MOST_LINKS: usize = 10;

/// Runs a slotted model that the bytes choose.
///
/// # Panics
/// If packets are not conserved, or a repeated run gives other results.
pub fn slotted(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let base = model(&mut choices);
    let Some(resolved) = changed(&base, &["slotted"], &mut choices) else {
        return;
    };
    let described = backlane_world::catalogue().described(&resolved);
    let described = described.unwrap_or_else(|report| panic!("{report}\nof\n{resolved}"));
    let Described::Slotted(slotted) = described else {
        return;
    };
    let of = config(&slotted).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    let every = of.sample_slots.unwrap_or(0);
    let samples = of.slots.checked_div(every).unwrap_or(0);
    if of.total_slots() > MOST_SLOTS || of.link.len() > MOST_LINKS || samples > 2_000 {
        return;
    }
    is_a_fixed_point(&resolved);
    let seed = choices.number(1);
    let first = finished(&slotted, seed);
    for table in [&first.flows, &first.links, &first.nodes] {
        is_of_numbers(table, &resolved);
    }
    for (_, table) in first.more.iter().chain(&first.series) {
        is_of_numbers(table, &resolved);
    }
    let mut calls = 0;
    let stopped = run(
        &slotted,
        seed,
        |_| {
            calls += 1;
            Err(Interrupt)
        },
        None,
    );
    let stopped = stopped.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(stopped.is_err(), calls > 0);
    assert!(
        first == finished(&slotted, seed),
        "another outcome of\n{resolved}"
    );
}

fn finished(slotted: &Slotted, seed: u64) -> Outcome {
    let outcome = run(slotted, seed, |_| Ok(()), None);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    outcome.unwrap_or_else(|_| panic!("nobody interrupted it"))
}

/// A scenario of the slotted model.
fn model(choices: &mut Choices) -> String {
    let slots = 1 + choices.below(3000);
    let interference = choices.of(&["none", "primary", "collision-domain"]);
    let scheduler = choices.of(&["exact", "greedy"]);
    let k = choices.of(&[0, 5, 50]);
    let mut text = format!(
        "[slotted]\nslots = {slots}\ninterference = \"{interference}\"\n\
         scheduler = \"{scheduler}\"\nk_pkts = {k}\nlink = [\n"
    );
    for (from, to) in [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "a")] {
        let (rate, on) = (1 + choices.below(3), choices.of(&["1.0", "0.5", "0.9"]));
        if to != "a" || choices.chance(128) {
            let _ = writeln!(
                text,
                "  {{ from = \"{from}\", to = \"{to}\", rate_pkts = {rate}, on = {on} }},"
            );
        }
    }
    text.push_str("]\n");
    for (number, (from, to)) in [("a", "b"), ("b", "c"), ("a", "d")].into_iter().enumerate() {
        let arrivals = match choices.below(4) {
            0 => "arrivals = \"bernoulli\"\nrate = 0.3",
            1 => "arrivals = \"constant\"\nrate = 0.4",
            2 => "arrivals = \"window\"\nwindow_pkts = 3",
            _ => "arrivals = \"utility\"",
        };
        let _ = writeln!(
            text,
            "[[slotted.flow]]\nname = \"f{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{arrivals}"
        );
    }
    text
}
