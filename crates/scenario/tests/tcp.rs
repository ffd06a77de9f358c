//! Profiles of TCP and the parameters of congestion controls: read, resolved, swept and refused.

mod catalogue;

use catalogue::{check, plan};
use std::path::PathBuf;

use backlane_param::Value;
use backlane_scenario::Plan;
use backlane_world::tcp::{CongestionControlConfig, Stack};

const CHAIN: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
                     link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n";
const FLOW: &str =
    "[[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n";

fn planned(more: &str, overrides: &[(&str, &str)]) -> Plan {
    let text = format!("{CHAIN}{FLOW}{more}");
    let overrides: Vec<_> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    plan(&text, "scenario.toml", &overrides, None).unwrap_or_else(|report| panic!("{report}"))
}

fn parameter(resolved: &str, control: &str, name: &str) -> Value {
    let tcp = catalogue::from_resolved(resolved).unwrap().tcp;
    let table = tcp.values.table(control).unwrap();
    table.get(name).unwrap().clone()
}

#[test]
fn what_tcp_refuses_is_shown_with_its_place_and_mend() {
    let cases = [
        (
            "an unknown name in [tcp]",
            "[tcp]\ncongestion_control = \"wetswood\"\n",
        ),
        (
            "an unknown name in a flow",
            "congestion_control = \"higspeed\"\n",
        ),
        (
            "an unknown name in a sweep",
            "[sweep]\n\"tcp.congestion_control\" = [\"reno\", \"scalabel\"]\n\"flow.congestion_control\" = [\"ilinois\"]\n",
        ),
        ("an unknown profile", "[tcp]\nprofile = \"ns-3\"\n"),
        ("a table of an unknown control", "[tcp.cubik]\nbeta = 0.8\n"),
        (
            "an unknown parameter",
            "[tcp.cubic]\nbetta = 0.8\n[tcp.reno]\nbeta = 0.5\n",
        ),
        (
            "parameters out of range",
            "[tcp.cubic]\nbeta = 1.5\nc = -1\n[tcp.vegas]\nalpha_pkts = 0\n[tcp.veno]\nbeta_pkts = 11\n[tcp.hybla]\nreference_rtt = \"2 s\"\n",
        ),
        (
            "policies towards reordering out of range",
            "[tcp]\nreordering = \"pr\"\n[tcp.pr]\nalpha = 1.5\nbeta = 0.5\n[tcp.rr]\navoided = 90\nstep = -0.1\n",
        ),
        (
            "a parameter of another policy",
            "[tcp]\nreordering = \"rr\"\n[tcp.rr]\nbeta = 3.0\n",
        ),
        (
            "values of another kind",
            "[tcp.cubic]\nbeta = \"0.8\"\nfast_convergence = 1\nhystart = true\n[tcp.hybla]\nreference_rtt = 25\n[tcp.vegas]\nalpha_pkts = 2.5\n",
        ),
        (
            "a word that is not known",
            "[tcp.cubic]\nhystart = \"linux-lagacy\"\n[tcp]\nreordering = \"rak\"\necn = \"on\"\n",
        ),
        (
            "thresholds out of order",
            "[tcp.vegas]\nalpha_pkts = 6\n[tcp]\ncongestion_control = \"vegas\"\n",
        ),
        (
            "a receive window that tuning would shrink",
            "[tcp]\nreceive_autotuning_max = \"1 MiB\"\n",
        ),
        (
            "an unknown parameter in a sweep",
            "[sweep]\n\"tcp.cubic.bata\" = [0.5]\n\"tcp.cubik.beta\" = [0.5]\n",
        ),
        (
            "a value out of range in a sweep",
            "[sweep]\n\"tcp.cubic.beta\" = [0.5, 5]\n",
        ),
    ];
    let mut shown = String::new();
    for (title, more) in cases {
        let text = format!("{CHAIN}{FLOW}{more}");
        let report = check(&text, "scenario.toml", &[]).expect_err(title);
        let lines: Vec<_> = report.diagnostics.iter().map(ToString::to_string).collect();
        shown += &format!("# {title}\n\n{}\n\n", lines.join("\n\n"));
    }
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics/tcp.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &shown).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(expected == shown, "shown is:\n{shown}");
}

#[test]
fn a_resolved_scenario_has_the_tables_in_use_with_the_profile_s_defaults_marked() {
    let plan = planned(
        "congestion_control = \"hybla\"\n[tcp]\nprofile = \"ns3\"\nmin_rto = \"200 ms\"\nfrto = false\n\
         [tcp.vegas]\nbeta_pkts = 5\n",
        &[],
    );
    let resolved = &plan.cells[0].resolved;
    for line in [
        "profile = \"ns3\"\n",
        "min_rto = \"200 ms\"\n",
        "frto = false # default\n",
        "reordering = \"fixed\" # default\n",
        "[tcp.cubic]\nbeta = 0.7 # default\n",
        "hystart = \"ns3\" # default\n",
        "[tcp.hybla]\nreference_rtt = \"50 ms\" # default\n",
        "[tcp.vegas]\nalpha_pkts = 2 # default\nbeta_pkts = 5\n",
    ] {
        assert!(resolved.contains(line), "no {line} in:\n{resolved}");
    }
    assert!(!resolved.contains("[tcp.scalable]"));
}

#[test]
fn every_control_under_every_profile_resolves_to_itself() {
    for control in CongestionControlConfig::NAMES {
        for profile in Stack::ALL.map(Stack::name) {
            let tcp =
                format!("[tcp]\nprofile = \"{profile}\"\ncongestion_control = \"{control}\"\n");
            let cell = planned(&tcp, &[]).cells.remove(0);
            let again = plan(&cell.resolved, "elsewhere.toml", &[], None).unwrap();
            assert_eq!(again.cells[0].resolved, cell.resolved);
            assert_eq!(again.cells[0].hash, cell.hash);
        }
    }
}

#[test]
fn profile_reordering_and_parameters_can_be_swept() {
    let plan = planned(
        "[tcp.cubic]\nc = 0.5\n[sweep]\n\"tcp.profile\" = [\"linux\", \"ns3\"]\n\
         \"tcp.reordering\" = [\"rack\", \"ncr-careful\"]\n\"tcp.cubic.beta\" = [0.5, 0.8]\n",
        &[],
    );
    assert_eq!(
        plan.parameters,
        ["tcp.profile", "tcp.reordering", "tcp.cubic.beta"]
    );
    let last = &plan.cells[7];
    assert_eq!(last.parameters["tcp.profile"], "ns3");
    assert_eq!(last.parameters["tcp.cubic.beta"], 0.8);
    let tcp = catalogue::from_resolved(&last.resolved).unwrap().tcp;
    assert_eq!(tcp.values.text("reordering"), Some("ncr-careful"));
    assert_eq!(tcp.values.boolean("tail_loss_probe"), Some(false));
    assert_eq!(
        parameter(&last.resolved, "cubic", "beta"),
        Value::Number(0.8)
    );
    assert_eq!(parameter(&last.resolved, "cubic", "c"), Value::Number(0.5));
    let mut hashes: Vec<_> = plan.cells.iter().map(|cell| &cell.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 8);
}

#[test]
fn an_override_sets_a_parameter_with_or_without_its_table() {
    for more in ["", "[tcp.cubic]\nbeta = 0.6\n"] {
        let plan = planned(more, &[("tcp.cubic.beta", "0.8")]);
        let resolved = &plan.cells[0].resolved;
        assert_eq!(parameter(resolved, "cubic", "beta"), Value::Number(0.8));
    }
}
