//! Runs every target on its corpus, and on bytes generated from fixed seeds.

use std::fs;
use std::path::{Path, PathBuf};

use backlane_fuzzing::{Choices, Ran, TARGETS, dictionary, run};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The files of a corpus in the order of their names, each with its name.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(folder) = fs::read_dir(fuzz().join("corpus").join(target)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let file = |path: &PathBuf| (path.display().to_string(), fs::read(path).unwrap());
    paths.iter().map(file).collect()
}

macro_rules! replays {
    ($($test:ident: $target:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            replay($target);
        })*

        #[test]
        fn every_target_is_replayed_and_has_a_program_and_a_corpus() {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, [$($target),*]);
            for name in names {
                let program = fuzz().join("fuzz_targets").join(format!("{name}.rs"));
                let program = fs::read_to_string(program).unwrap();
                assert!(program.contains(&format!("backlane_fuzzing::{name}(")), "{name}");
                assert!(!corpus(name).is_empty(), "{name}");
            }
        }
    };
}

replays!(
    every_file_of_assignments_replays: "assignment",
    every_file_of_coded_packets_replays: "coding",
    every_file_of_messages_replays: "messages",
    every_file_of_captures_replays: "pcapng",
    every_file_of_babbling_replays: "routers",
    every_file_of_runs_replays: "runs",
    every_file_of_scenarios_replays: "scenario",
    every_file_of_sites_replays: "sites",
    every_file_of_slotted_models_replays: "slotted",
    every_file_of_segments_replays: "tcp",
    every_file_of_traces_replays: "traces",
    every_file_of_units_replays: "units",
);

fn replay(name: &str) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    for (path, bytes) in corpus(name) {
        // The name of a failing file is printed before the failure.
        eprintln!("{path}");
        target(&bytes);
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn drawn(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    };
    let mut bytes: Vec<u8> = std::iter::repeat_with(word)
        .take(length / 8 + 1)
        .flatten()
        .collect();
    bytes.truncate(length);
    bytes
}

/// The number of cases of a test: `FUZZING_CASES` times the default.
fn cases(usual: u64) -> u64 {
    let times = std::env::var("FUZZING_CASES").ok();
    usual * times.and_then(|times| times.parse().ok()).unwrap_or(1)
}

#[test]
fn drawn_scenarios_run_and_nearly_all_of_them_to_the_end() {
    let mut counts = [0u64; 4];
    let all = cases(120);
    for seed in 0..all {
        eprintln!("seed {seed}");
        counts[run(&drawn(seed, 160)) as usize] += 1;
    }
    let ran = counts[Ran::Finished as usize] + counts[Ran::Interrupted as usize];
    assert!(
        2 * ran > all && 3 * counts[Ran::Finished as usize] > all,
        "{counts:?}"
    );
}

#[test]
fn drawn_bytes_break_no_promise_of_the_other_targets() {
    for (name, target) in TARGETS {
        if ["runs", "slotted"].contains(&name) {
            continue;
        }
        let many = if ["units", "messages", "pcapng", "coding"].contains(&name) {
            500
        } else {
            40
        };
        for seed in 0..cases(many) {
            eprintln!("{name}, seed {seed}");
            target(&drawn(seed, Choices::new(&drawn(seed, 9)).below(400)));
        }
    }
}

#[test]
fn drawn_slotted_models_run() {
    for seed in 0..cases(20) {
        eprintln!("seed {seed}");
        backlane_fuzzing::slotted(&drawn(seed, 100));
    }
}

/// `UPDATE_GOLDEN=1 cargo test` renews it.
#[test]
fn the_dictionary_has_the_keys_of_the_schema() {
    let path = fuzz().join("scenario.dict");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, dictionary()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == dictionary(),
        "UPDATE_GOLDEN=1 cargo test -p backlane-fuzzing"
    );
}
