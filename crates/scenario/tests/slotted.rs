//! Files with the slotted model.

mod catalogue;

use backlane_param::{Value, Values};
use backlane_scenario::Described;
use catalogue::{check, plan};

const DOWNLINK: &str = "[slotted]\nslots = 100\ninterference = \"collision-domain\"\n\
    link = [{ from = \"I\", to = \"R1\", on = 0.5 }, { from = \"I\", to = \"R2\" }]\n\
    flow = [{ from = \"I\", to = \"R1\", rate = 0.25 }, { from = \"I\", to = \"R2\", \
    arrivals = \"utility\" }]\n";

fn read(text: &str) -> Values {
    match catalogue::described(text) {
        Ok(Described::Slotted(slotted)) => slotted.values,
        other => panic!("{other:?}"),
    }
}

fn row<'a>(values: &'a Values, key: &str, index: usize) -> &'a Values {
    match values.get(key) {
        Some(Value::List(rows)) => match &rows[index] {
            Value::Table(row) => row,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// The codes of what is wrong with a file, each with its message.
fn problems(text: &str) -> Vec<(&'static str, String)> {
    let report = check(text, "s.toml", &[]).unwrap_err();
    let shown = report.diagnostics.iter();
    shown
        .map(|d| {
            (
                d.code,
                format!("{}; {}", d.message, d.label.as_deref().unwrap_or_default()),
            )
        })
        .collect()
}

fn refused(from: &str, to: &str) -> (&'static str, String) {
    assert!(DOWNLINK.contains(from));
    let found = problems(&DOWNLINK.replace(from, to));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn a_slotted_model_needs_neither_duration_nor_topology() {
    let slotted = read(DOWNLINK);
    assert_eq!(row(&slotted, "link", 1).text("to"), Some("R2"));
    let flow = row(&slotted, "flow", 0);
    assert_eq!(flow.text("arrivals"), Some("bernoulli"));
    assert_eq!(flow.get("rate"), Some(&Value::Number(0.25)));
    assert_eq!(slotted.get("k_pkts"), Some(&Value::Integer(0)));
    assert_eq!(slotted.get("buffer_pkts"), None);
}

#[test]
fn what_belongs_to_a_network_is_refused_beside_it() {
    let (code, message) = refused("[slotted]", "duration = \"1 s\"\n[slotted]");
    assert_eq!(code, "S010", "{message}");
    let report = catalogue::from_resolved(DOWNLINK).unwrap_err();
    assert_eq!(
        report.diagnostics[0].message,
        "a slotted model is no network"
    );
}

#[test]
fn values_out_of_range_and_unknown_names_are_told_with_their_mend() {
    let negative = refused("slots = 100", "slots = 100\nk_pkts = -1");
    assert!(negative.1.contains("k_pkts"), "{negative:?}");
    let certain = refused("on = 0.5", "on = 1.5");
    assert!(certain.1.contains("from 0 to 1"), "{certain:?}");
    let (code, message) = refused("to = \"R2\", arrivals", "to = \"R3\", arrivals");
    assert_eq!(code, "S031");
    assert!(message.contains("name an end of a link"), "{message}");
    assert_eq!(
        refused(
            "from = \"I\", to = \"R2\" }",
            "from = \"I\", to = \"R1\" }, { from = \"I\", to = \"R2\" }"
        )
        .0,
        "S036"
    );
    assert_eq!(
        refused(
            "to = \"R2\" }",
            "to = \"R2\" }, { from = \"I\", to = \"I\" }"
        )
        .0,
        "S032"
    );
    assert_eq!(
        refused("to = \"R2\", arrivals", "to = \"R1\", arrivals").0,
        "S030"
    );
    assert_eq!(
        refused("to = \"R2\", arrivals", "to = \"I\", arrivals").0,
        "S055"
    );
}

#[test]
fn what_would_not_fit_into_memory_is_refused() {
    let often = refused("slots = 100", "slots = 500_000_000\nsample_slots = 10");
    assert_eq!(often.0, "S017");
    assert!(often.1.contains("write 51 or more"), "{often:?}");
    let seldom = "slots = 500_000_000\nsample_slots = 51";
    assert_eq!(
        read(&DOWNLINK.replace("slots = 100", seldom)).get("sample_slots"),
        Some(&Value::Integer(51))
    );
    let flow = |n: usize| format!("{{ name = \"f{n}\", from = \"I\", to = \"R1\", rate = 0 }}");
    let flows: Vec<_> = (0..1025).map(flow).collect();
    let text = DOWNLINK.split("flow = [").next().unwrap();
    let found = problems(&format!("{text}flow = [{}]\n", flows.join(", ")));
    assert_eq!((found.len(), found[0].0), (1, "S059"), "{found:?}");
}

#[test]
fn a_region_is_over_two_flows_with_a_rate() {
    let with = |region: &str| DOWNLINK.replace("flow = [", &format!("{region}\nflow = ["));
    let text = with("region = { flows = [\"I-R2\", \"I-R1\"], points = 10 }")
        .replace("arrivals = \"utility\"", "rate = 0.1");
    let points = read(&text);
    let points = points.table("region").unwrap().get("points");
    assert_eq!(points, Some(&Value::Integer(10)));
    for (names, expected) in [
        ("\"I-R1\"", "two different flows"),
        ("\"I-R1\", \"I-R1\"", "two different flows"),
        ("\"I-R1\", \"I-R2\"", "has no rate"),
        ("\"I-R1\", \"I-R\"", "did you mean"),
    ] {
        let found = problems(&with(&format!("region = {{ flows = [{names}] }}")));
        assert_eq!((found.len(), found[0].0), (1, "S143"), "{found:?}");
        assert!(found[0].1.contains(expected), "{found:?}");
    }
    let all = refused(
        "from = \"I\", to = \"R1\", rate",
        "name = \"all\", from = \"I\", to = \"R1\", rate",
    );
    assert_eq!(all.0, "S024");
}

#[test]
fn a_sweep_reaches_the_keys_of_one_flow_or_link() {
    let text = format!(
        "{DOWNLINK}[sweep]\n\"slotted.flow.0.rate\" = [0.1, 0.2]\n\"slotted.k_pkts\" = [0, 50]\n"
    );
    let plan = plan(&text, "s.toml", &[], None).unwrap();
    let cells: Vec<_> = plan.cells.iter().map(|cell| read(&cell.resolved)).collect();
    let rates = cells
        .iter()
        .map(|cell| [row(cell, "flow", 0).get("rate"), cell.get("k_pkts")]);
    let expected = [(0.1, 0), (0.1, 50), (0.2, 0), (0.2, 50)];
    for (found, (rate, k)) in rates.zip(expected) {
        assert_eq!(
            found,
            [Some(&Value::Number(rate)), Some(&Value::Integer(k))]
        );
    }
}
