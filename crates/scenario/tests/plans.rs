//! From a file to its cells and runs.

mod catalogue;

use backlane_scenario::model::Law;
use backlane_scenario::{Compare, Plan};
use catalogue::plan;

const CHAIN: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
    link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n\
    [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n";

fn swept(sweep: &str) -> Plan {
    plan(&format!("{CHAIN}[sweep]\n{sweep}"), "s.toml", &[], None)
        .unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn the_last_parameter_varies_fastest_and_seeds_count_from_the_scenarios() {
    let plan =
        swept("\"topology.nodes\" = [3, 4]\n\"tcp.mss\" = [\"1000 B\", \"1448 B\"]\nseeds = 2\n");
    let labels: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            format!(
                "{} {}",
                cell.parameters["topology.nodes"], cell.parameters["tcp.mss"]
            )
        })
        .collect();
    assert_eq!(
        labels,
        [
            "3 \"1000 B\"",
            "3 \"1448 B\"",
            "4 \"1000 B\"",
            "4 \"1448 B\""
        ]
    );
    assert_eq!(plan.seeds, [1, 2]);
    let ids: std::collections::BTreeSet<_> = plan.runs.iter().map(|run| &run.run_id).collect();
    assert_eq!(ids.len(), 8);
}

#[test]
fn what_is_compared_is_in_the_plan_and_in_no_run() {
    let sweep = "topology.link.rate = [\"5 Mbit/s\", \"8 Mbit/s\"]\nseeds = 2\n";
    let plain = swept(sweep);
    assert_eq!(plain.compare, None);
    let compare = "[compare]\nkeys = [\"topology.link.rate\"]\nmeasure = \"rtt\"\n";
    let mut compared = swept(&format!("{sweep}{compare}equal_within = \"2.5 %\"\n"));
    let expected = Compare {
        keys: vec!["topology.link.rate".to_owned()],
        measure: Some("rtt".to_owned()),
        equal_within: Some(0.025),
    };
    assert_eq!(compared.compare.take(), Some(expected));
    assert_eq!(compared, plain);
    let default = swept(&format!("{sweep}[compare]\n")).compare.unwrap();
    assert_eq!(
        default,
        Compare {
            equal_within: Some(0.05),
            ..Compare::default()
        }
    );
}

#[test]
fn the_hash_sees_values_and_neither_comments_nor_seeds_nor_spelling() {
    let hash = |text: &str| plan(text, "s.toml", &[], None).unwrap().scenario_hash;
    let base = hash(CHAIN);
    assert_eq!(hash(&format!("# hello\nseed = 7\n{CHAIN}")), base);
    assert_eq!(
        hash(
            &CHAIN
                .replace("10 Mbit/s", "10000 kbit/s")
                .replace("\"4 ms\"", "\"0.004 s\"")
        ),
        base
    );
    assert_ne!(hash(&CHAIN.replace("4 ms", "5 ms")), base);
    let stated = "[tcp]\nretries = 15\n[record]\ninterval = \"10 ms\"\n";
    assert_eq!(hash(&format!("{CHAIN}{stated}")), base);
    assert_ne!(hash(&format!("{CHAIN}[tcp]\nretries = 14\n")), base);
}

/// A key at its default is not hashed, so a new one leaves finished runs valid.
#[test]
fn what_is_hashed_is_what_differs_from_the_defaults() {
    let queue = |keys: &str| {
        let queue = format!("queue = {{ discipline = \"codel\"{keys} }}");
        let text = CHAIN.replace("delay =", &format!("{queue}, delay ="));
        plan(&text, "s.toml", &[], None).unwrap().scenario_hash
    };
    assert_eq!(queue(", target = \"5 ms\""), queue(""));
    assert_ne!(queue(", target = \"6 ms\""), queue(""));
}

#[test]
fn a_given_seed_replaces_that_of_the_file() {
    let text = format!("seed = 5\n{CHAIN}");
    assert_eq!(plan(&text, "s.toml", &[], None).unwrap().seeds, [5]);
    assert_eq!(plan(&text, "s.toml", &[], Some(9)).unwrap().seeds, [9]);
}

#[test]
fn an_override_comes_before_the_sweep_and_drops_the_old_protocols_keys() {
    let text = format!("{CHAIN}[routing]\nprotocol = \"bp-mr\"\ngranularity = \"packet\"\n");
    let set = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    let overrides = set("routing.protocol", "olsr");
    let plan = plan(&text, "s.toml", &overrides, None);
    let plan = plan.unwrap();
    assert!(plan.cells[0].resolved.contains("protocol = \"olsr\""));
    assert!(!plan.cells[0].resolved.contains("granularity"));
    let text = format!("{CHAIN}[sweep]\n\"topology.nodes\" = [3, 4]\n");
    let plan = catalogue::plan(&text, "s.toml", &set("sweep.seeds", "3"), None).unwrap();
    assert_eq!(plan.runs.len(), 6);
}

#[test]
fn a_path_reaches_every_row_or_the_numbered_one() {
    let both = format!(
        "{CHAIN}[[flow]]\nkind = \"transfer\"\nfrom = \"enb2\"\nto = \"enb3\"\nsize = \"1 MB\"\n"
    );
    let sizes = |key: &str| {
        let overrides = vec![(key.to_owned(), "2 MB".to_owned())];
        let plan = plan(&both, "s.toml", &overrides, None).unwrap();
        let scenario = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
        scenario
            .flows
            .iter()
            .map(|flow| flow.size.unwrap())
            .collect::<Vec<_>>()
    };
    let [one, two] = [1_000_000, 2_000_000].map(Law::Fixed);
    assert_eq!(sizes("flow.size"), [two, two]);
    assert_eq!(sizes("flow.1.size"), [one, two]);
}
