//! The same scenario, seed and version give the same bytes.

mod common;

use backlane_testkit::first_difference;
use common::{ROUTINGS, grid, run, texts};

#[test]
fn a_second_run_does_the_same_things_in_the_same_order() {
    for routing in ROUTINGS {
        let text = grid(routing, 4);
        let difference = first_difference(|log| {
            run(&text, 1, Some(log));
        });
        assert_eq!(difference, None, "{routing}");
    }
}

#[test]
fn tracing_and_threads_change_nothing() {
    let text = grid(ROUTINGS[3], 8);
    let alone = run(&text, 1, None);
    let traced = run(&text, 1, Some(backlane_engine::Trace::new()));
    assert_eq!(alone, traced);
    let together: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| run(&text, 1, None)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    assert!(together.iter().all(|outcome| *outcome == alone));
}

#[test]
fn another_seed_is_another_run() {
    let text = grid(ROUTINGS[3], 8);
    assert_ne!(
        run(&text, 1, None).summary.digest,
        run(&text, 2, None).summary.digest
    );
}

/// A site without UEs hung onto the far corner: no flow passes it, so no flow may notice it.
#[test]
fn a_node_that_no_flow_touches_changes_no_flow() {
    for routing in [ROUTINGS[0], ROUTINGS[2], ROUTINGS[3]] {
        let text = grid(routing, 8);
        let plan = backlane_scenario::plan(&text, "test.toml", &[], None).unwrap();
        let resolved = &plan.cells[0].resolved;
        let spare = "  { id = \"spare\", kind = \"router\" },\n]\nlink = [\n  \
                     { a = \"enb21\", b = \"spare\", rate = \"500 Mbit/s\", delay = \"4 ms\" },\n";
        let extended = resolved.replacen("]\nlink = [\n", spare, 1);
        let (without, with) = (run(resolved, 1, None), run(&extended, 1, None));
        assert_eq!(
            texts(&without.flows, "digest"),
            texts(&with.flows, "digest"),
            "{routing}"
        );
        assert_eq!(with.nodes.rows(), without.nodes.rows() + 1);
    }
}

/// What these scenarios do is pinned. If this fails, results of all users move: raise
/// `MODEL_VERSION`, say in the changelog what changed, and run with `BLESS=1`.
#[test]
fn digests_are_those_on_record() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/digests.txt"
    );
    let mut lines = format!("model version {}\n", backlane_scenario::MODEL_VERSION);
    for (name, routing) in [
        "shortest path",
        "olsr",
        "bp-mr per packet",
        "bp-mr per flow",
    ]
    .into_iter()
    .zip(ROUTINGS)
    {
        for control in ["reno", "cubic", "vegas"] {
            let text = format!(
                "{}[tcp]\ncongestion_control = \"{control}\"\n",
                grid(routing, 25).replace("1 MB", "4 MB")
            );
            let digest = run(&text, 1, None).summary.digest;
            lines += &format!("{name}, {control}: {digest:016x}\n");
        }
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &lines).unwrap();
    }
    let on_record = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(lines, on_record, "results moved");
}
