//! The record of what the models do: a promise that runs of one `MODEL_VERSION` are alike.
//!
//! `tests/golden/digests.txt` has a line for each scene: its name, the digest of its run, and one
//! over all that its tables, series and captures hold, bit for bit. A scene is one of the networks
//! in `bases`, or a choice made in one of them: every word, number and switch of
//! [`backlane_scenario::choices`] that no base makes is made in the first base in which it changes
//! something. A choice without a scene fails the test, so that no model is forgotten.
//!
//! If the record no longer holds, results of all users move. To renew it: raise `MODEL_VERSION` in
//! `crates/scenario/src/lib.rs`, say in the changelog under "Behaviour changed" what moved, and run
//!
//! ```text
//! BLESS=1 cargo test -p backlane-world --test golden
//! ```
//!
//! A new scene adds its line, and a new column renews the digests of tables; neither is a new
//! version, as long as no run has another digest.

#[path = "../common/mod.rs"]
mod common;

mod bases;
mod meshes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use backlane_engine::Digest;
use backlane_record::{Column, Table};
use backlane_world::{Described, Outcome, World, slotted};
use bases::Base;
use common::scenes;

/// A choice: the path of a key, and the value.
type Choice = (String, String);

/// What is on record of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digests {
    run: u64,
    tables: u64,
}

impl Digests {
    fn of(outcome: &Outcome) -> Self {
        let mut all = Digest::default();
        let summary = &outcome.summary;
        for count in [
            summary.simulated_s.to_bits(),
            summary.events,
            summary.packets_injected,
            summary.packets_delivered,
            summary.packets_in_flight,
            summary.packet_hops,
        ] {
            all.add(count);
        }
        for &(cause, count) in &summary.dropped_by_cause {
            add_text(&mut all, cause);
            all.add(count);
        }
        add_text(&mut all, summary.ended.name());
        let tables = [
            ("flows", &outcome.flows),
            ("links", &outcome.links),
            ("nodes", &outcome.nodes),
            ("radio", &outcome.radio),
            ("mcs", &outcome.mcs),
        ];
        let further = outcome.more.iter().chain(&outcome.series);
        let further = further.map(|(name, table)| (*name, table));
        for (name, table) in tables.into_iter().chain(further) {
            add_text(&mut all, name);
            add_table(&mut all, table);
        }
        for (node, file) in &outcome.captures {
            add_text(&mut all, node);
            // The first block names the version of the program.
            let head = u32::from_le_bytes([file[4], file[5], file[6], file[7]]) as usize;
            add_bytes(&mut all, &file[head..]);
        }
        Self {
            run: summary.digest,
            tables: all.value(),
        }
    }
}

fn add_bytes(digest: &mut Digest, bytes: &[u8]) {
    digest.add(bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        digest.add(u64::from_le_bytes(word));
    }
}

fn add_text(digest: &mut Digest, text: &str) {
    add_bytes(digest, text.as_bytes());
}

fn add_table(digest: &mut Digest, table: &Table) {
    digest.add(table.rows() as u64);
    let columns = table.columns().iter().filter(|_| table.rows() > 0);
    for (field, column) in columns {
        add_text(digest, field.name);
        match column {
            Column::Text(values) => {
                for value in values {
                    digest.add(u64::from(value.is_some()));
                    add_text(digest, value.as_deref().unwrap_or_default());
                }
            }
            Column::Integer(values) => add_words(digest, values.iter().copied()),
            Column::Float(values) => add_words(digest, values.iter().map(|v| v.map(f64::to_bits))),
        }
    }
}

fn add_words(digest: &mut Digest, words: impl Iterator<Item = Option<u64>>) {
    for word in words {
        digest.add(u64::from(word.is_some()));
        digest.add(word.unwrap_or_default());
    }
}

/// The resolved text of a base with more keys set, if that can be.
fn resolved(base: &Base, more: Option<&Choice>) -> Result<String, String> {
    let set: Vec<Choice> = base.set.iter().chain(more).cloned().collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/real_backhaul/");
    let file = format!("{folder}golden.toml");
    let plan = backlane_world::catalogue().plan(&base.text, &file, &set, None);
    let mut plan = plan.map_err(|report| report.to_string())?;
    Ok(plan.cells.swap_remove(0).resolved)
}

fn outcome(resolved: &str) -> Outcome {
    match backlane_world::catalogue().described(resolved) {
        Ok(Described::Network(scenario)) => {
            let world = World::new(&scenario, 1, None).unwrap();
            world.run(|_, _| Ok(())).unwrap()
        }
        Ok(Described::Slotted(model)) => {
            slotted::run(&model, 1, |_| Ok(()), None).unwrap().unwrap()
        }
        Err(report) => panic!("{report}"),
    }
}

/// The choices that a text makes.
fn made(text: &str) -> BTreeSet<Choice> {
    fn walk(path: &str, value: &toml::Value, all: &mut BTreeSet<Choice>) {
        match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    let path = match path {
                        "" => key.clone(),
                        path => format!("{path}.{key}"),
                    };
                    walk(&path, value, all);
                }
            }
            toml::Value::Array(values) => {
                for value in values {
                    walk(path, value, all);
                }
            }
            toml::Value::String(text) => {
                all.insert((path.to_owned(), text.clone()));
            }
            value => {
                all.insert((path.to_owned(), value.to_string()));
            }
        }
    }
    let table: toml::Table = text.parse().unwrap();
    let mut all = BTreeSet::new();
    walk("", &toml::Value::Table(table), &mut all);
    all
}

/// `work` done with every item by as many threads as there are processors.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let result = work(item);
                    done.lock().unwrap().insert(index, result);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// Where a choice has its scene.
enum Found {
    /// It changes what happens in this base.
    Changed(String, Digests),
    /// It can be made, and nothing that is on record comes of it.
    NothingChanged,
    /// No base takes it.
    Refused(String),
}

/// A base, what comes of it, and the choices that it makes.
struct Scene {
    base: Base,
    of: Digests,
    made: BTreeSet<Choice>,
}

/// Looks for a base in which a choice makes a difference, among those that have its section; bases
/// that are named after it come first.
fn find(choice: &Choice, all: &[Scene]) -> Found {
    let (path, value) = choice;
    let mut words: Vec<&str> = path.split('.').skip(1).collect();
    words.push(value);
    let section = path.split_inclusive('.').next().unwrap_or_default();
    let has_section = |scene: &&Scene| scene.made.iter().any(|(path, _)| path.starts_with(section));
    let mut order: Vec<_> = all.iter().filter(has_section).collect();
    order.sort_by_key(|scene| {
        let name = &scene.base.name;
        let named = words.iter().filter(|word| name.contains(**word)).count();
        (
            usize::MAX - named,
            !section.starts_with(name.split(',').next().unwrap_or_default()),
        )
    });
    let mut found = Found::Refused(String::new());
    for Scene { base, of, .. } in order {
        match resolved(base, Some(choice)) {
            Err(report) => {
                if let Found::Refused(why) = &mut found
                    && why.is_empty()
                {
                    *why = format!("{}: {report}", base.name);
                }
            }
            Ok(text) => {
                let with = Digests::of(&outcome(&text));
                if with != *of {
                    return Found::Changed(base.name.clone(), with);
                }
                found = Found::NothingChanged;
            }
        }
    }
    found
}

#[test]
fn digests_are_those_on_record() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/digests.txt"
    );
    let mut lines = format!("model version {}\n", backlane_scenario::MODEL_VERSION);
    let mut add = |name: &str, of: Digests| {
        lines += &format!("{name}: run {:016x}, tables {:016x}\n", of.run, of.tables);
    };
    let scenes = scenes::all();
    let of_scenes = in_parallel(&scenes, |(_, text)| {
        Digests::of(&common::run(text, 1, None))
    });
    for ((name, _), of) in scenes.iter().zip(of_scenes) {
        add(name, of);
    }
    let bases = bases::all();
    let resolve = |base| resolved(base, None).unwrap_or_else(|report| panic!("{report}"));
    let texts: Vec<String> = bases.iter().map(resolve).collect();
    let of_bases = in_parallel(&texts, |text| {
        let outcome = outcome(text);
        let received = outcome.flows.integers("packets_received").unwrap();
        // A scene in which nothing arrives shows nothing.
        assert!(received.iter().flatten().sum::<u64>() > 20, "{text}");
        Digests::of(&outcome)
    });
    let mut all = Vec::new();
    for ((base, text), of) in bases.into_iter().zip(&texts).zip(of_bases) {
        add(&base.name, of);
        let made = made(text).into_iter().chain(made(&base.text)).collect();
        all.push(Scene { base, of, made });
    }
    let is_made = |choice: &Choice| all.iter().any(|scene| scene.made.contains(choice));
    let mut open = backlane_scenario::choices(backlane_world::catalogue());
    open.retain(|choice| !is_made(choice));
    // The program supplies these routers; tests/python/test_python_router.py has their digests.
    open.remove(&("routing.protocol".to_owned(), "python".to_owned()));
    let open: Vec<Choice> = open.into_iter().collect();
    let found = in_parallel(&open, |choice| find(choice, &all));
    let mut missing = String::new();
    for ((path, value), found) in open.iter().zip(found) {
        let choice = format!("{path} = {value}");
        let without_effect = WITHOUT_EFFECT.contains(&choice.as_str());
        match found {
            Found::Changed(base, of) if !without_effect => add(&format!("{base}; {choice}"), of),
            Found::NothingChanged if without_effect => {}
            Found::Changed(base, _) => missing += &format!("{choice} does change {base}\n"),
            Found::NothingChanged => missing += &format!("{choice} changes no scene\n"),
            Found::Refused(why) => missing += &format!("no scene takes {choice}\n{why}\n"),
        }
    }
    assert!(missing.is_empty(), "choices without a scene:\n{missing}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &lines).unwrap();
    }
    let on_record = std::fs::read_to_string(path).unwrap_or_default();
    let moved: Vec<&str> = lines
        .lines()
        .filter(|line| !on_record.lines().any(|other| other == *line))
        .collect();
    assert!(lines == on_record, "results moved:\n{}", moved.join("\n"));
}

/// Choices that stand for what is there without them; and a queue for routing messages where none come.
const WITHOUT_EFFECT: [&str; 5] = [
    "access.antenna_ports = 2",
    "access.queue.routing_first = true",
    "gateway.link.queue.routing_first = false",
    "server.link.queue.routing_first = false",
    "topology.link.medium = wire",
];
