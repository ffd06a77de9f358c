//! The page of the tables of results is that of the declarations, and names keep the rules.

use std::collections::BTreeMap;
use std::path::PathBuf;

use backlane_world::outcome;

#[test]
fn the_reference_of_tables_names_every_column() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/tables.md");
    let page = outcome::reference();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == page,
        "docs/reference/tables.md is out of date: \
         UPDATE_GOLDEN=1 cargo test -p backlane-world --test documents"
    );
}

#[test]
fn the_end_of_a_columns_name_is_its_unit() {
    let units = [
        ("_s", "s"),
        ("_m", "m"),
        ("_bps", "bit/s"),
        ("_bytes", "B"),
        ("_pkts", "packets"),
        ("_db", "dB"),
        ("_ratio", "1"),
        ("_share", "1"),
    ];
    for table in outcome::tables() {
        for column in table.columns {
            let name = column.name;
            if let Some((_, unit)) = units.iter().find(|(end, _)| name.ends_with(end)) {
                assert_eq!(column.unit, *unit, "{name} of {}", table.name);
            }
        }
    }
}

#[test]
fn every_column_stands_once_in_its_table_and_has_a_sentence() {
    let mut names = BTreeMap::new();
    for table in outcome::tables() {
        assert!(table.doc.ends_with('.'), "{}", table.name);
        for column in table.columns {
            assert!(
                column.doc.ends_with('.'),
                "{} of {}",
                column.name,
                table.name
            );
            let before = names.insert((table.name, column.name), column.kind);
            assert_eq!(
                before, None,
                "{} stands twice in {}",
                column.name, table.name
            );
        }
    }
}
