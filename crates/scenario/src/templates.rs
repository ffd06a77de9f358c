//! Scenario templates; the files of the examples.

/// The templates by name, the one for beginners first.
const TEMPLATES: &[(&str, &str)] = &[
    ("grid", include_str!("../../../examples/grid.toml")),
    ("chain", include_str!("../../../examples/chain.toml")),
    ("graph", include_str!("../../../examples/graph.toml")),
    ("lte", include_str!("../../../examples/lte_cell.toml")),
    ("wifi", include_str!("../../../examples/wifi_cells.toml")),
];

/// The names of the templates.
pub fn template_names() -> Vec<&'static str> {
    TEMPLATES.iter().map(|(name, _)| *name).collect()
}

/// The text of a template, or `None` for an unknown name.
pub fn template(name: &str) -> Option<&'static str> {
    TEMPLATES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
