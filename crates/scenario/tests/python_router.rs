//! A router in Python is part of the scenario that names it.

mod catalogue;

use catalogue::{check, from_resolved, plan};
use std::path::PathBuf;

use backlane_param::Value;
use backlane_scenario::Plan;

const CLASS: &str = "class Hot:\n    period_s = 1.0\n";

fn scenario(routing: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"4 ms\" }}\n\
         [routing]\nprotocol = \"python\"\nrouter = \"hot.py:Hot\"\n{routing}\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n{more}"
    )
}

/// A folder of its own with `hot.py`.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("hot.py"), CLASS).unwrap();
    folder
}

fn planned(folder: &std::path::Path, text: &str) -> Plan {
    let path = folder.join("scenario.toml");
    plan(text, &path.to_string_lossy(), &[], None).unwrap_or_else(|report| panic!("{report}"))
}

const EMBEDDED: &str = "[[python]]\nfile = \"hot.py\"\nsource = \"class Hot: pass\"\n";

#[test]
fn a_resolved_scenario_holds_the_class_and_its_parameters_in_order() {
    let routing = "parameters = { period_s = 0.5, mode = \"fast\", count = 3, quiet = false }";
    let plan = planned(&folder("router"), &scenario(routing, ""));
    let resolved = &plan.cells[0].resolved;
    assert!(
        resolved.contains(
            "[routing.parameters]\ncount = 3\nmode = \"fast\"\nperiod_s = 0.5\nquiet = false\n"
        ),
        "{resolved}"
    );
    let read = from_resolved(resolved).unwrap();
    let router = read.python_router.unwrap();
    let class = &router.class;
    assert_eq!(
        (
            class.file.as_str(),
            class.class.as_str(),
            class.source.as_str()
        ),
        ("hot.py", "Hot", CLASS)
    );
    assert!(class.embedded);
    assert_eq!(router.parameters.get("count"), Some(&Value::Integer(3)));
    let again = plan_of(resolved);
    assert_eq!(again.cells[0].resolved, *resolved);
    assert_eq!(again.scenario_hash, plan.scenario_hash);
}

fn plan_of(text: &str) -> Plan {
    plan(text, "no/such/folder/scenario.toml", &[], None)
        .unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn another_text_or_parameter_is_another_run_in_the_cells_that_use_it() {
    let sweep = "[sweep]\n\"routing.parameters.period_s\" = [1.0, 2.0]\n";
    let text = scenario("", &format!("{EMBEDDED}{sweep}"));
    let plan = plan_of(&text);
    assert_eq!(plan.parameters, ["routing.parameters.period_s"]);
    assert_ne!(plan.cells[0].hash, plan.cells[1].hash);
    let edited = plan_of(&text.replace("pass", "x = 1"));
    assert_ne!(plan.cells[0].hash, edited.cells[0].hash);
    let sweep = "[sweep]\nrouting = [{ protocol = \"olsr\" }, { router = \"hot.py:Hot\" }]\n";
    let text = scenario("", &format!("{EMBEDDED}{sweep}"));
    let (plan, edited) = (plan_of(&text), plan_of(&text.replace("pass", "x = 1")));
    assert_eq!(plan.cells[0].hash, edited.cells[0].hash);
    assert_ne!(plan.cells[1].hash, edited.cells[1].hash);
    assert!(!plan.cells[0].resolved.contains("[[python]]"));
}

#[test]
fn a_plan_lists_every_class_with_its_parameters() {
    let sweep = "[sweep]\n\"routing.parameters.period_s\" = [1.0, 2.0]\nseeds = 3\n";
    let plan = plan_of(&scenario("", &format!("{EMBEDDED}{sweep}")));
    let json = serde_json::to_value(&plan).unwrap();
    let parameters: Vec<_> = (json["python_routers"].as_array().unwrap().iter())
        .map(|router| router["parameters"]["period_s"].as_f64().unwrap())
        .collect();
    assert_eq!(parameters, [1.0, 2.0]);
    assert_eq!(json["python_routers"][0]["class"]["embedded"], true);
}

#[test]
fn a_text_serves_a_router_and_a_congestion_control() {
    let tcp = "[tcp]\ncongestion_control = \"python:hot.py:Reno\"\n";
    let plan = plan_of(&scenario("", &format!("{EMBEDDED}{tcp}")));
    let resolved = &plan.cells[0].resolved;
    assert_eq!(resolved.matches("[[python]]").count(), 1, "{resolved}");
    let read = from_resolved(resolved).unwrap();
    assert_eq!(read.custom_controls.len(), 1);
    assert!(read.python_router.is_some());
}

#[test]
fn what_is_no_parameter_is_refused_where_it_stands() {
    for (parameters, code, message) in [
        ("3", "S012", "routing parameters is an integer"),
        ("{ a = [1] }", "S012", "routing parameters a is a list"),
        ("{ a.b = 1 }", "S012", "routing parameters a is a table"),
        (
            "{ \"a b\" = 1 }",
            "S024",
            "\"a b\" cannot be the name of a parameter",
        ),
        ("{ a = nan }", "S017", "routing parameters a is not finite"),
    ] {
        let text = scenario(&format!("parameters = {parameters}"), EMBEDDED);
        let report = check(&text, "s.toml", &[]).unwrap_err();
        let problem = &report.diagnostics[0];
        assert_eq!(
            (problem.code, problem.message.as_str()),
            (code, message),
            "{report}"
        );
        assert_eq!(problem.line, Some(9), "{report}");
    }
}

#[test]
fn a_class_is_required_and_its_file_must_exist() {
    let text = scenario("", "");
    let report = check(&text, "s.toml", &[]).unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S002");
    assert_eq!(report.diagnostics[0].line, Some(8));
    let text = text.replace("router = \"hot.py:Hot\"\n", "");
    let report = check(&text, "s.toml", &[]).unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S011");
}
