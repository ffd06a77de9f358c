//! A congestion control of one's own is part of the scenario that names it.

mod catalogue;

use catalogue::plan;
use std::path::PathBuf;

use backlane_scenario::Plan;

const CLASS: &str = "class Aimd:\n    \"\"\"a = \\\"1\\\"\"\"\"\n";

/// A folder of its own with `aimd.py`.
fn folder(test: &str, source: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(folder.join("controls")).unwrap();
    std::fs::write(folder.join("controls/aimd.py"), source).unwrap();
    folder
}

fn scenario(tcp: &str, flow: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"4 ms\" }}\n\
         [tcp]\ncongestion_control = \"{tcp}\"\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n\
         congestion_control = \"{flow}\"\n{more}"
    )
}

const AIMD: &str = "python:controls/aimd.py:Aimd";

fn planned(folder: &std::path::Path, text: &str) -> Plan {
    let path = folder.join("scenario.toml");
    plan(text, &path.to_string_lossy(), &[], None).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn a_resolved_scenario_holds_the_class_and_needs_no_file() {
    let folder = folder("holds", CLASS);
    let plan = planned(&folder, &scenario("reno", AIMD, ""));
    let resolved = &plan.cells[0].resolved;
    let read = catalogue::from_resolved(resolved).unwrap();
    assert_eq!(&*read.tcp.congestion_control, "reno");
    assert_eq!(read.flows[0].congestion_control.as_deref(), Some(AIMD));
    let [control] = read.custom_controls.as_slice() else {
        panic!("{:?}", read.custom_controls);
    };
    let class = &control.python;
    assert_eq!(control.name, AIMD);
    assert_eq!(
        (
            class.file.as_str(),
            class.class.as_str(),
            class.source.as_str()
        ),
        ("controls/aimd.py", "Aimd", CLASS)
    );
    let again = plan_of_resolved(resolved);
    assert_eq!(again.cells[0].resolved, *resolved);
    assert_eq!(again.scenario_hash, plan.scenario_hash);
}

fn plan_of_resolved(resolved: &str) -> Plan {
    plan(resolved, "no/such/folder/scenario.toml", &[], None)
        .unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn a_plan_says_whether_a_class_came_with_the_scenario_or_from_which_file() {
    let folder = folder("whence", CLASS);
    let plan = planned(&folder, &scenario("reno", AIMD, ""));
    let of = |plan: &Plan| {
        let class = plan.custom_controls[0].python.clone();
        (class.embedded, class.path)
    };
    let file = folder
        .join(".")
        .with_file_name("whence")
        .join("controls/aimd.py");
    let file = file.to_string_lossy().into_owned();
    assert_eq!(of(&plan), (false, Some(file)));
    let again = plan_of_resolved(&plan.cells[0].resolved);
    assert_eq!(of(&again), (true, None));
    let json = serde_json::to_value(&again).unwrap();
    assert_eq!(json["custom_controls"][0]["python"]["embedded"], true);
    assert!(json["custom_controls"][0]["python"]["path"].is_null());
}

#[test]
fn a_plan_lists_every_text_that_a_sweep_brings_for_one_file() {
    let row = |number: u8| format!("[{{ file = \"a.py\", source = \"class A: {number}\" }}]");
    let sweep = format!("[sweep]\npython = [{}, {}]\n", row(1), row(2));
    let text = scenario("reno", "python:a.py:A", &sweep);
    let plan = plan(&text, "s.toml", &[], None).unwrap();
    let sources = plan.custom_controls.iter();
    let sources: Vec<_> = sources
        .map(|control| control.python.source.as_str())
        .collect();
    assert_eq!(sources, ["class A: 1", "class A: 2"]);
}

#[test]
fn another_text_of_the_class_is_another_run_in_the_cells_that_use_it() {
    let sweep = format!("[sweep]\n\"flow.congestion_control\" = [\"cubic\", \"{AIMD}\"]\n");
    let text = scenario("reno", "reno", &sweep);
    let folder = folder("another", CLASS);
    let before = planned(&folder, &text);
    std::fs::write(
        folder.join("controls/aimd.py"),
        format!("{CLASS}# edited\n"),
    )
    .unwrap();
    let after = planned(&folder, &text);
    assert_eq!(before.runs[0].run_id, after.runs[0].run_id);
    assert_ne!(before.runs[1].run_id, after.runs[1].run_id);
}

#[test]
fn a_file_that_is_not_there_is_a_problem_of_the_line_that_names_it() {
    let text = scenario("reno", "python:missing.py:Aimd", "");
    let report = plan(&text, "scenario.toml", &[], None).unwrap_err();
    let problem = &report.diagnostics[0];
    assert_eq!(problem.code, "S002");
    assert_eq!(problem.line, Some(13));
}

#[test]
fn a_resolved_scenario_without_the_text_does_not_go_looking_for_it() {
    let report = catalogue::from_resolved(&scenario("reno", AIMD, "")).unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S002");
}

#[test]
fn a_text_that_stands_twice_is_refused() {
    let row = "[[python]]\nfile = \"a.py\"\nsource = \"x = 1\"\n";
    let text = scenario("reno", "python:a.py:A", &format!("{row}{row}"));
    let report = plan(&text, "s.toml", &[], None).unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S030");
}
