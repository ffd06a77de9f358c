//! The pages and the schema that are made from the table of keys are up to date.
//!
//! `UPDATE_GOLDEN=1 cargo test` rewrites them.

mod catalogue;

use catalogue::{reference_page, schema};
use std::path::PathBuf;

use backlane_scenario::{errors_page, template, template_names};

fn is_up_to_date(file: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "{file} is out of date: UPDATE_GOLDEN=1 cargo test -p backlane-scenario"
    );
}

#[test]
fn the_reference_of_the_file_names_every_key() {
    is_up_to_date("docs/reference/scenario.md", &reference_page());
}

#[test]
fn the_page_of_errors_explains_every_code() {
    is_up_to_date("docs/errors.md", &errors_page());
}

#[test]
fn the_schema_beside_the_examples_is_that_of_the_program() {
    is_up_to_date("examples/scenario.schema.json", &(schema() + "\n"));
}

#[test]
fn the_schema_knows_the_sections_and_refuses_unknown_keys() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let profiles = schema["properties"]["tcp"]["oneOf"].as_array().unwrap();
    let min_rto = profiles
        .iter()
        .map(|profile| &profile["properties"]["min_rto"]["default"]);
    assert_eq!(
        min_rto.collect::<Vec<_>>(),
        ["200 ms", "200 ms", "200 ms", "1 s", "1 s"]
    );
    let variants = schema["properties"]["routing"]["oneOf"].as_array().unwrap();
    assert!(
        variants
            .iter()
            .any(|variant| variant["properties"]["protocol"]["const"] == "bp-mr")
    );
}

#[test]
fn every_template_can_be_had_by_its_name() {
    for name in template_names() {
        assert!(template(name).unwrap().starts_with("#:schema"), "{name}");
    }
    assert_eq!(template("none"), None);
}
