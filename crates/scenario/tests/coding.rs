//! The section [coding].

mod catalogue;

use backlane_param::Value;
use backlane_scenario::Scenario;
use catalogue::{check, plan};

const CHAIN: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
                     link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n";

fn resolve(coding: &str) -> Scenario {
    let plan = plan(&format!("{CHAIN}{coding}"), "test.toml", &[], None).unwrap();
    catalogue::from_resolved(&plan.cells[0].resolved).unwrap()
}

#[test]
fn a_generation_larger_than_255_or_empty_is_refused() {
    for size in ["256", "0", "-1"] {
        let text = format!("{CHAIN}[coding]\nmax_generation = {size}\n");
        let report = check(&text, "test.toml", &[]).unwrap_err().to_string();
        assert!(report.starts_with("error[S"), "{report}");
        assert!(
            report.contains("max_generation") && report.contains("255"),
            "{report}"
        );
    }
}

#[test]
fn coding_is_on_where_its_section_is_unless_it_says_otherwise() {
    assert_eq!(resolve("").coding, None);
    assert_eq!(resolve("[coding]\nenabled = false\n").coding, None);
    let coding = resolve("[coding]\nmax_generation = 255\npayload = true\n")
        .coding
        .unwrap();
    assert_eq!(coding.get("max_generation"), Some(&Value::Integer(255)));
    assert_eq!(coding.boolean("payload"), Some(true));
    assert_eq!(coding.text("coefficients"), Some("seed"));
}
