//! The same scenario, seed and version give the same bytes.

mod common;

use backlane_testkit::first_difference;
use backlane_world::Outcome;
use common::{RADIO, ROUTINGS, WIFI, floats, grid, integers, run, texts, three_ways};

/// Download over one LTE cell or two, 500 m apart.
fn lte(enodebs: usize, access: &str) -> String {
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"chain\"\nnodes = {enodebs}\n\
         spacing = \"500 m\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[gateway]]\nattach = \"enb1\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nattach = \"epc\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"20 ms\" }}\n\
         [[flow]]\nkind = \"download\"\nsize = \"4 MB\"\nto = [\"ue1\", \"ue2\"]\n\
         [[flow]]\nkind = \"upload\"\nsize = \"200 kB\"\nfrom = [\"ue1\", \"ue2\"]\n\
         [access]\nkind = \"lte\"\n{access}"
    )
}

/// Two UEs that fade, a near one that walks and a far one that drives.
fn fading_cell() -> String {
    lte(
        1,
        "fading = \"eva\"\nrlc = { mode = \"am\", buffer = \"100 packets\" }\n\
         [[access.ue]]\nnear = \"enb1\"\ndistance = \"100 m\"\nspeed = \"3 km/h\"\n\
         heading = \"outward\"\n\
         [[access.ue]]\nnear = \"enb1\"\ndistance = \"900 m\"\nspeed = \"60 km/h\"\n\
         heading = \"outward\"\n",
    )
}

/// Two cells that interfere, and a UE that is handed over from one to the other while the second
/// stands at the edge of both.
fn two_cells() -> String {
    lte(
        2,
        "[[access.ue]]\nnear = \"enb1\"\ndistance = \"240 m\"\nspeed = \"120 km/h\"\n\
         heading = \"outward\"\nuntil = \"500 m\"\n\
         [[access.ue]]\nx = \"200 m\"\ny = \"100 m\"\n",
    )
}

/// The diamond of P2: two flows from A over ns-2's radios, one of whose links loses three attempts
/// in ten, under TCP-aware backpressure and network coding.
fn lossy_diamond() -> String {
    let node = |id: &str, x: u32, y: u32| {
        format!("{{ id = \"{id}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\" }},")
    };
    let link = |a: &str, b: &str| format!("{{ a = \"{a}\", b = \"{b}\", medium = \"wifi\" }},");
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nnode = [{}{}{}{}]\nlink = [{}{}{}{}]\n\
         [wifi]\nprofile = \"ns2\"\nrts_threshold = \"off\"\nloss = 0.3\nlossy_links = [\"A-B\"]\n\
         [routing]\nprotocol = \"tcp-aware-bp\"\n[coding]\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"A\"\nto = [\"B\", \"D\"]\nsize = \"endless\"\n",
        node("A", 250, 430),
        node("B", 110, 250),
        node("C", 390, 250),
        node("D", 250, 70),
        link("A", "B"),
        link("A", "C"),
        link("B", "D"),
        link("C", "D"),
    )
}

/// Routers with two radios each that find their neighbours in fading, and routes by ETX.
fn fading_mesh() -> String {
    let node = |number: u32| {
        let (x, y) = (130 * (number % 4), 110 * (number / 4));
        format!("{{ id = \"n{number}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\" }},")
    };
    let nodes = (0..8).map(node).collect::<Vec<_>>().concat();
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nnode = [{nodes}]\n\
         [wifi]\nstandard = \"802.11g\"\nrate = \"12 Mbit/s\"\nantenna_gain = \"8 dB\"\n\
         fading = \"rayleigh\"\nneighbours = \"in-range\"\nchannels = [1, 6]\n\
         [routing]\nprotocol = \"olsr\"\nmetric = \"etx\"\nwarm_up = \"15 s\"\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"n0\"\nto = [\"n3\", \"n7\"]\nsize = \"1 MB\"\n\
         [[flow]]\nkind = \"udp\"\nfrom = \"n4\"\nto = \"n2\"\nrate = \"500 kbit/s\"\n"
    )
}

/// Two flows over three ways at once, and a station on one of them that dies.
fn many_ways() -> String {
    let flows = "[[flow]]\nkind = \"transfer\"\nfrom = \"S\"\nto = \"R\"\nsize = \"endless\"\n\
                 count = 2\n[[failure]]\nnode = \"a1\"\nat = \"2 s\"\n";
    three_ways(RADIO, "allocation = \"data\"", &format!("{WIFI}{flows}"))
}

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

/// A router out of everybody's hearing is there, and no flow may notice it.
#[test]
fn a_radio_that_nobody_hears_changes_no_flow() {
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
    for (name, text) in [
        ("lte, one cell, fading", fading_cell()),
        ("lte, two cells, handover", two_cells()),
        ("wifi, lossy diamond, tcp-aware-bp, coding", lossy_diamond()),
        ("wifi, fading, two channels, olsr with etx", fading_mesh()),
        ("wifi, three ways, l2.5r, a failure", many_ways()),
    ] {
        let digest = run(&text, 1, None).summary.digest;
        lines += &format!("{name}: {digest:016x}\n");
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &lines).unwrap();
    }
    let on_record = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(lines, on_record, "results moved");
}
