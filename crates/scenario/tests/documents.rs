//! The pages and the schema that are made from the table of keys are up to date.
//!
//! `UPDATE_GOLDEN=1 cargo test` rewrites them.

mod catalogue;

use catalogue::{reference_page, schema, template};
use std::path::PathBuf;

use backlane_scenario::{errors_page, template_names};

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
    // The default differs from profile to profile.
    let min_rto = &schema["properties"]["tcp"]["properties"]["min_rto"];
    assert!(min_rto.get("default").is_none());
    let sentence = min_rto["description"].as_str().unwrap();
    assert!(
        sentence.contains("Default: \"200 ms\" (linux, ") && sentence.contains("\"1 s\" (ns3, "),
        "{sentence}"
    );
    let protocol = &schema["properties"]["routing"]["properties"]["protocol"];
    assert!(
        protocol["enum"]
            .as_array()
            .unwrap()
            .contains(&"bp-mr".into())
    );
}

#[test]
fn the_keys_of_a_word_are_those_that_the_file_takes() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let rules = schema["then"]["allOf"].as_array().unwrap();
    let routing = rules
        .iter()
        .find_map(|rule| rule["then"]["properties"]["routing"]["allOf"].as_array())
        .unwrap();
    let names = |word: &str| {
        let rule = routing
            .iter()
            .find(|rule| rule["if"]["properties"]["protocol"]["const"] == word)
            .unwrap();
        rule["then"]["propertyNames"]["enum"]
            .as_array()
            .unwrap()
            .clone()
    };
    assert!(names("olsr").contains(&"hello_interval".into()));
    assert!(!names("shortest-path").contains(&"hello_interval".into()));
    assert!(names("bp-mr").contains(&"granularity".into()));
    // The default word needs no key.
    let default = routing
        .iter()
        .find(|rule| rule["if"]["required"].is_null())
        .unwrap();
    assert_eq!(
        default["if"]["properties"]["protocol"]["const"],
        "shortest-path"
    );
}

#[test]
fn a_sweep_takes_the_paths_of_keys_and_of_rows() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let sweep = &schema["properties"]["sweep"];
    let paths = sweep["properties"].as_object().unwrap();
    for path in [
        "seeds",
        "routing",
        "routing.protocol",
        "access.ues",
        "flow.size",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    for path in ["seed", "name", "compare", "sweep", "routing.protcol"] {
        assert!(!paths.contains_key(path), "{path}");
    }
    let patterns = sweep["patternProperties"].as_object().unwrap();
    assert!(
        patterns
            .keys()
            .any(|pattern| pattern.contains(r"flow(\.[0-9]+)?(\.("))
    );
}

#[test]
fn every_template_can_be_had_by_its_name() {
    for (name, about) in template_names() {
        let text = template(name).unwrap().text;
        assert!(
            text.starts_with("#:schema ./scenario.schema.json\n"),
            "{name}"
        );
        assert_eq!(text.matches("#:schema").count(), 1, "{name}");
        assert!(about.len() > 10, "{name}");
    }
    assert_eq!(template("none"), None);
}

#[test]
fn every_kind_of_topology_and_access_has_a_template() {
    let texts: Vec<String> = template_names()
        .into_iter()
        .map(|(name, _)| template(name).unwrap().text)
        .collect();
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    for section in ["topology", "access"] {
        let words = schema["properties"][section]["properties"]["kind"]["enum"].clone();
        for word in words.as_array().unwrap() {
            let line = format!("\nkind = {word}");
            let has = |text: &String| {
                let table = text.split(&format!("\n[{section}]")).nth(1);
                table.is_some_and(|table| table.split("\n[").next().unwrap().contains(&line))
            };
            // No access is the network alone.
            assert!(word == "none" || texts.iter().any(has), "{section} {word}");
        }
    }
    assert!(texts.iter().any(|text| text.contains("\n[slotted]")));
    assert!(texts.iter().any(|text| text.contains("\n[wifi]")));
    assert!(texts.iter().all(|text| !text.contains('@')));
}

#[test]
fn a_template_lists_the_words_of_its_keys_as_the_catalogue_knows_them() {
    let text = template("grid").unwrap().text;
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    for (section, key, chosen) in [
        ("topology", "kind", "grid"),
        ("access", "kind", "ideal"),
        ("routing", "protocol", "bp-mr"),
        ("flow", "kind", "download"),
    ] {
        let section = &schema["properties"][section];
        let table = section.get("items").unwrap_or(section);
        let words = table["properties"][key]["enum"].as_array().unwrap();
        let others: Vec<_> = words
            .iter()
            .map(|word| word.as_str().unwrap())
            .filter(|word| *word != chosen)
            .collect();
        let others = others.join(", ");
        let behind = format!("{key} = \"{chosen}\" # or {others}\n");
        let above = format!("# {key}, other than \"{chosen}\": {others}\n");
        let unwrapped = text.replace("\n#   ", " ");
        assert!(
            text.contains(&behind) || unwrapped.contains(&above),
            "{above}{text}"
        );
    }
    // A long list stands above its key.
    let above = text
        .find("# congestion_control, other than \"cubic\": reno,")
        .unwrap();
    assert!(above < text.find("congestion_control = \"cubic\"\n").unwrap());
    // The words are those of the protocol.
    assert!(text.contains("granularity = \"flow\" # or packet, burst\n"));
    assert!(text.lines().all(|line| line.chars().count() <= 120));
}
