//! The same scenario, seed and version give the same bytes.

mod common;

use backlane_testkit::first_difference;
use backlane_world::{Outcome, World};
use common::scenes::{fading_cell, fading_mesh, lossy_diamond, many_ways, two_cells};
use common::{ROUTINGS, floats, grid, integers, resolve, run, texts};

#[test]
fn a_second_run_does_the_same_things_in_the_same_order() {
    for routing in ROUTINGS {
        let text = grid(routing, 4);
        let difference = first_difference(|log| {
            run(&text, 1, Some(log));
        });
        assert_eq!(difference, None, "{routing}");
    }
    for text in [
        fading_cell(),
        two_cells(),
        lossy_diamond(),
        fading_mesh(),
        many_ways(),
    ] {
        let difference = first_difference(|log| {
            run(&text, 1, Some(log));
        });
        assert_eq!(difference, None);
    }
}

#[test]
fn tracing_and_threads_change_nothing() {
    for text in [
        grid(ROUTINGS[3], 8),
        fading_cell(),
        two_cells(),
        lossy_diamond(),
        fading_mesh(),
        many_ways(),
    ] {
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
}

#[test]
fn looking_ahead_changes_nothing() {
    let grids = ROUTINGS.map(|routing| grid(routing, 8));
    let others = [
        fading_cell(),
        two_cells(),
        lossy_diamond(),
        fading_mesh(),
        many_ways(),
    ];
    for text in grids.into_iter().chain(others) {
        let mut world = World::new(&resolve(&text), 1, None).unwrap();
        world.simulation.look_ahead();
        let Ok(ahead) = world.run(|_, _| Ok(())) else {
            unreachable!("nothing interrupts")
        };
        assert_eq!(ahead, run(&text, 1, None));
    }
}

/// What the LTE scenarios are here for happens in them: blocks sent again, and a handover.
#[test]
fn the_lte_scenarios_retransmit_and_hand_over() {
    let outcome = run(&fading_cell(), 1, None);
    assert_eq!(outcome.summary.ended.name(), "flows finished");
    for retransmissions in integers(&outcome.radio, "harq_retransmissions") {
        assert!(retransmissions > Some(0), "{retransmissions:?}");
    }
    let outcome = run(&two_cells(), 1, None);
    assert_eq!(outcome.summary.ended.name(), "flows finished");
    assert_eq!(integers(&outcome.radio, "handovers"), [Some(1), Some(0)]);
}

/// What the scenarios of 802.11 are here for happens in them: losses that are given, collisions,
/// frames that fade, and more than one channel.
#[test]
fn the_wifi_scenarios_lose_collide_and_fade() {
    let total = |outcome: &Outcome, column: &str| -> u64 {
        let radios = outcome
            .more
            .iter()
            .find(|(name, _)| *name == "wifi")
            .unwrap();
        integers(&radios.1, column).into_iter().flatten().sum()
    };
    for text in [lossy_diamond(), fading_mesh()] {
        let outcome = run(&text, 1, None);
        assert!(total(&outcome, "failures") > 100, "{outcome:?}");
        assert!(total(&outcome, "undecoded") > 100, "{outcome:?}");
        for delivered in integers(&outcome.flows, "delivered_bytes") {
            assert!(delivered > Some(10_000), "{:?}", outcome.flows);
        }
        assert_ne!(run(&text, 2, None).summary.digest, outcome.summary.digest);
    }
    let channels = integers(&run(&fading_mesh(), 1, None).links, "channel");
    assert!(channels.contains(&Some(1)) && channels.contains(&Some(6)));
}

/// A router out of range of all others exists, and must not change any flow.
#[test]
fn a_radio_out_of_range_changes_no_flow() {
    let text = fading_mesh();
    let far = "{ id = \"far\", kind = \"router\", x = \"90 km\", y = \"0 m\" },]\n[wifi]";
    let with = text.replacen("]\n[wifi]", far, 1);
    let (without, with) = (run(&text, 1, None), run(&with, 1, None));
    assert_eq!(with.nodes.rows(), without.nodes.rows() + 1);
    assert_eq!(
        texts(&without.flows, "digest"),
        texts(&with.flows, "digest")
    );
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
        let plan = backlane_world::catalogue()
            .plan(&text, "test.toml", &[], None)
            .unwrap();
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

#[test]
fn a_ue_without_a_flow_changes_no_other() {
    for (text, near) in [(fading_cell(), "enb1"), (two_cells(), "enb2")] {
        let idle = format!(
            "{text}[[access.ue]]\nnear = \"{near}\"\ndistance = \"150 m\"\nspeed = \"30 km/h\"\n\
             heading = \"outward\"\n"
        );
        let (without, with) = (run(&text, 1, None), run(&idle, 1, None));
        assert_eq!(
            texts(&without.flows, "digest"),
            texts(&with.flows, "digest")
        );
        assert_eq!(with.radio.rows(), without.radio.rows() + 1);
        for name in ["granted_bytes", "harq_retransmissions", "uplink_used_bytes"] {
            let (before, after) = (integers(&without.radio, name), integers(&with.radio, name));
            assert_eq!(before[..], after[..2], "{name}");
            assert_eq!(after[2], Some(0), "{name}");
        }
        let sinr_db = |outcome| floats(outcome, "sinr_mean_db");
        assert_eq!(sinr_db(&without.radio)[..], sinr_db(&with.radio)[..2]);
    }
}
