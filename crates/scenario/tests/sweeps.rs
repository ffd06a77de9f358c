//! Cells, seeds and runs of a sweep.

use std::collections::BTreeSet;

mod catalogue;

use backlane_scenario::{Diagnostic, Plan};
use catalogue::{check, plan};

const CHAIN: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
    link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n\
    [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n";

fn swept(sweep: &str) -> String {
    format!("{CHAIN}[sweep]\n{sweep}")
}

fn planned(sweep: &str) -> Plan {
    plan(&swept(sweep), "s.toml", &[], None).unwrap_or_else(|report| panic!("{report}"))
}

fn checked(sweep: &str) -> Vec<Diagnostic> {
    check(&swept(sweep), "s.toml", &[]).unwrap_or_else(|report| panic!("{report}"))
}

/// The runs as (cell, seed), which have different ids.
fn runs(plan: &Plan) -> Vec<(usize, u64)> {
    let ids: BTreeSet<_> = plan.runs.iter().map(|run| &run.run_id).collect();
    assert_eq!(ids.len(), plan.runs.len());
    plan.runs.iter().map(|run| (run.cell, run.seed)).collect()
}

#[test]
fn two_labels_of_one_default_are_one_run_and_a_warning_at_the_value() {
    let sweep = "routing = [{ label = \"usual\", protocol = \"bp-mr\" }, \
                 { label = \"per flow\", protocol = \"bp-mr\", granularity = \"flow\" }, \
                 { label = \"olsr\", protocol = \"olsr\" }]\nseeds = 2\n";
    let plan = planned(sweep);
    assert_eq!(plan.cells.len(), 3);
    assert_eq!(plan.cells[0].hash, plan.cells[1].hash);
    assert_eq!(runs(&plan), [(0, 1), (0, 2), (2, 1), (2, 2)]);
    assert_eq!(plan.warnings, checked(sweep));
    let [warning] = plan.warnings.as_slice() else {
        panic!("{:?}", plan.warnings);
    };
    assert_eq!(warning.code, "S068");
    assert_eq!(
        warning.message,
        "routing = \"usual\" and routing = \"per flow\" are the same scenario"
    );
    let [line, column] = [warning.line.unwrap(), warning.column.unwrap()];
    let text = swept(sweep);
    let rest = &text.lines().nth(line - 1).unwrap()[column - 1..];
    assert!(rest.starts_with("{ label = \"per flow\""), "{rest}");
}

#[test]
fn one_quantity_in_two_spellings_is_one_run() {
    let sweep = "\"flow.size\" = [\"1 kB\", \"1000 B\"]\n";
    assert_eq!(runs(&planned(sweep)), [(0, 1)]);
    assert_eq!(checked(sweep)[0].code, "S068");
}

#[test]
fn one_value_twice_is_one_run_and_told_of_once_however_many_cells_have_it() {
    let sweep = "\"topology.nodes\" = [3, 3]\n\"tcp.retries\" = [4, 5, 6]\n";
    assert_eq!(runs(&planned(sweep)), [(0, 1), (1, 1), (2, 1)]);
    let warnings = checked(sweep);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].label.as_ref().unwrap().contains("3 cells"));
}

#[test]
fn values_that_make_the_same_scenario_are_found_in_a_sweep_too_large_to_check_in_full() {
    let values: Vec<String> = (1..=300).map(|n| n.to_string()).collect();
    let list = values.join(", ");
    let sweep = format!("\"tcp.retries\" = [{list}]\n\"flow.size\" = [\"1 kB\", \"1000 B\"]\n");
    let warnings = checked(&sweep);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].code, "S068");
}

#[test]
fn seed_and_name_are_no_axes_however_they_are_written() {
    for (sweep, mend) in [
        ("seed = [1, 2, 3]\n", "write seeds = [1, 2, 3]"),
        ("\"seed\" = [1, 2]\n", "write seeds = [1, 2, 3]"),
        ("\" seed \" = [1, 2]\n", "write seeds = [1, 2, 3]"),
        ("seed = 3\n", "write seeds = [1, 2, 3]"),
        (
            "name = [\"a\", \"b\"]\n",
            "take it out; what each value is called is its `label`",
        ),
        (
            "\"'name'\" = [\"a\"]\n",
            "take it out; what each value is called is its `label`",
        ),
        ("\"sweep.seeds\" = [1, 2]\n", "name another key"),
        (
            "tcp.retries = [1]\n\"tcp.retries\" = [2]\n",
            "join the two lists",
        ),
    ] {
        let report = check(&swept(sweep), "s.toml", &[]).unwrap_err();
        assert_eq!(report.diagnostics[0].code, "S060", "{report}");
        assert_eq!(report.diagnostics[0].label.as_deref(), Some(mend));
        assert!(plan(&swept(sweep), "s.toml", &[], None).is_err());
    }
    let set = [("sweep.seed".to_owned(), "[1, 2]".to_owned())];
    let report = check(CHAIN, "s.toml", &set).unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S060");
}

#[test]
fn seeds_that_lead_beyond_the_largest_are_refused() {
    let largest = i64::MAX as u64;
    let at_the_end = format!("seed = {largest}\n{CHAIN}");
    assert_eq!(
        plan(&at_the_end, "s.toml", &[], None).unwrap().seeds,
        [largest]
    );
    let beyond = format!("seed = {largest}\n{}", swept("seeds = 3\n"));
    let report = plan(&beyond, "s.toml", &[], None).unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S063");
    let mend = "write a `seed` of at most 9223372036854775805";
    assert_eq!(report.diagnostics[0].label.as_deref(), Some(mend));
    assert_eq!(check(&beyond, "s.toml", &[]).unwrap_err(), report);
    for (seed, seeds) in [(largest + 1, 1), (u64::MAX, 1), (u64::MAX, 2), (largest, 2)] {
        let text = swept(&format!("seeds = {seeds}\n"));
        let report = plan(&text, "s.toml", &[], Some(seed)).unwrap_err();
        assert_eq!(report.diagnostics[0].code, "S063", "{seed}");
    }
    let text = swept("seeds = [1, 2]\n");
    assert!(plan(&text, "s.toml", &[], Some(u64::MAX)).is_err());
}

#[test]
fn a_long_list_of_seeds_is_planned() {
    let list: Vec<String> = (0..20_000).map(|seed| (seed * 7).to_string()).collect();
    let plan = planned(&format!("seeds = [{}]\n", list.join(", ")));
    assert_eq!((plan.seeds.len(), plan.runs.len()), (20_000, 20_000));
}
