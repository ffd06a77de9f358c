//! A changed default needs a new model version: values equal to their default are not part of a run
//! id, so a stored run would be taken for one with the new value.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use backlane_scenario::MODEL_VERSION;

/// The list on record: its model version, and each default by the path of its key.
fn read(text: &str) -> (Option<&str>, BTreeMap<&str, &str>) {
    let mut lines = text.lines();
    let version = lines
        .next()
        .and_then(|line| line.strip_prefix("model version "));
    (
        version,
        lines.filter_map(|line| line.split_once(" = ")).collect(),
    )
}

/// The defaults that differ between two lists; new and removed keys do not count.
fn changed<'a>(old: &BTreeMap<&'a str, &str>, new: &BTreeMap<&str, &str>) -> Vec<&'a str> {
    let differs = |path: &&str, value: &str| new.get(path).is_some_and(|other| *other != value);
    let both = old.iter().filter(|(path, value)| differs(path, value));
    both.map(|(path, _)| *path).collect()
}

#[test]
fn a_changed_default_comes_with_a_new_model_version() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/defaults.txt");
    let mut text = format!("model version {MODEL_VERSION}\n");
    for (path, default) in backlane_world::catalogue().defaults() {
        writeln!(text, "{path} = {default}").unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    let ((version, old), (now, new)) = (read(&recorded), read(&text));
    let changed = changed(&old, &new);
    assert!(
        changed.is_empty() || version != now,
        "these defaults have changed: raise MODEL_VERSION and describe it in the changelog: {changed:?}"
    );
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == text,
        "tests/golden/defaults.txt is out of date: BLESS=1 cargo test -p backlane-world --test defaults"
    );
}

#[test]
fn only_a_default_that_has_another_value_counts_as_changed() {
    let (version, old) = read("model version 5\na = 1\nb = \"x = y\"\nremoved = true\n");
    assert_eq!(version, Some("5"));
    let (_, new) = read("model version 5\na = 2\nb = \"x = y\"\nnew = 3\n");
    assert_eq!(changed(&old, &new), ["a"]);
}
