//! Scenario templates: examples, and small networks of the other kinds, with the choices of each key
//! in comments.

mod comments;

use crate::catalogue::Catalogue;

/// A scenario to begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The scenario.
    pub text: String,
    /// The files that it names, with their texts.
    pub files: &'static [(&'static str, &'static str)],
}

/// A template before the choices are written into it.
struct Source {
    name: &'static str,
    about: &'static str,
    text: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// What takes the places in the text.
    generator: Option<Generator>,
}

/// A generator of networks, and the node to which the gateway is attached.
struct Generator {
    topology: &'static str,
    root: &'static str,
}

const PLAIN: Source = Source {
    name: "",
    about: "",
    text: "",
    files: &[],
    generator: None,
};

const GENERATED: Source = Source {
    text: include_str!("generated.toml"),
    ..PLAIN
};

/// The templates, the one for beginners first.
const TEMPLATES: &[Source] = &[
    Source {
        name: "grid",
        about: "a lattice of cells with gateways and UEs; compares routing protocols",
        text: include_str!("../../../../examples/grid.toml"),
        ..PLAIN
    },
    Source {
        name: "chain",
        about: "nodes in a line, and the window of one download",
        text: include_str!("../../../../examples/chain.toml"),
        ..PLAIN
    },
    Source {
        name: "graph",
        about: "nodes and links listed one by one",
        text: include_str!("../../../../examples/graph.toml"),
        ..PLAIN
    },
    Source {
        name: "sites",
        about: "places from a table, joined by radio links",
        text: include_str!("sites.toml"),
        files: &[("sites.csv", include_str!("sites.csv"))],
        ..PLAIN
    },
    Source {
        name: "tree",
        about: "a complete tree of eNodeBs below a gateway",
        generator: Some(Generator {
            topology: "kind = \"tree\"\nbranching = 3\ndepth = 2",
            root: "enb1",
        }),
        ..GENERATED
    },
    Source {
        name: "ring-tree",
        about: "a tree of sites with short extra links, which close rings",
        generator: Some(Generator {
            topology: "kind = \"ring_tree\"\nrows = 4\ncolumns = 4\nroot = 6",
            root: "enb6",
        }),
        ..GENERATED
    },
    Source {
        name: "diamond",
        about: "four nodes with two equal paths",
        generator: Some(Generator {
            topology: "kind = \"diamond\"",
            root: "source",
        }),
        ..GENERATED
    },
    Source {
        name: "scattered",
        about: "random places, linked with their neighbours",
        generator: Some(Generator {
            topology: "kind = \"scattered\"\nnodes = 16\nspacing = \"300 m\"\n\
                       links = { rule = \"gabriel\" }",
            root: "enb1",
        }),
        ..GENERATED
    },
    Source {
        name: "lte",
        about: "an LTE cell with three UEs",
        text: include_str!("../../../../examples/lte_cell.toml"),
        ..PLAIN
    },
    Source {
        name: "wifi",
        about: "routers with 802.11 radios at random places",
        text: include_str!("../../../../examples/wifi_cells.toml"),
        ..PLAIN
    },
    Source {
        name: "wifi-mesh",
        about: "rooftop 802.11 routers at places from a table",
        text: include_str!("../../../../examples/wifi_mesh/scenario.toml"),
        files: &[(
            "sites.csv",
            include_str!("../../../../examples/wifi_mesh/sites.csv"),
        )],
        ..PLAIN
    },
    Source {
        name: "multipath",
        about: "a mesh with several radios a node, and traffic over many paths",
        text: include_str!("../../../../examples/multipath_mesh/scenario.toml"),
        ..PLAIN
    },
    Source {
        name: "trace",
        about: "a phone whose link follows a recorded trace",
        text: include_str!("trace.toml"),
        files: &[("rates.csv", include_str!("rates.csv"))],
        ..PLAIN
    },
    Source {
        name: "slotted",
        about: "the slotted model of backpressure, without packets on wires",
        text: include_str!("../../../../examples/slotted_downlink.toml"),
        ..PLAIN
    },
];

/// The line that names the schema for editors.
const SCHEMA_LINE: &str = "#:schema ./scenario.schema.json";

/// The names of the templates, each with what it describes.
pub fn template_names() -> Vec<(&'static str, &'static str)> {
    TEMPLATES
        .iter()
        .map(|source| (source.name, source.about))
        .collect()
}

/// A template, or `None` for an unknown name. A key that has one of several words has them all in a
/// comment, as the catalogue knows them. The first line names the schema beside the file.
pub fn template(catalogue: Catalogue, name: &str) -> Option<Template> {
    let source = TEMPLATES.iter().find(|source| source.name == name)?;
    let mut lines = source.text.lines();
    let first = lines.next().filter(|line| !line.starts_with("#:schema"));
    let mut text: String = [SCHEMA_LINE]
        .into_iter()
        .chain(first)
        .chain(lines)
        .flat_map(|line| [line, "\n"])
        .collect();
    if let Some(Generator { topology, root }) = source.generator {
        text = text
            .replace("@NAME", name)
            .replace("@TOPOLOGY", topology)
            .replace("@ROOT", root);
    }
    text = comments::with_choices(catalogue, &text);
    let files = source.files;
    Some(Template { text, files })
}
