//! Keys of the network: topology, links, queues, gateways and servers.

use super::super::Presence::{Default, Optional, Required};
use super::super::{Key, Kind, Section, Tag, Variant};
use super::capacities::{CAPACITY_BACK, CAPACITY_KEY};
use super::common::{COUNT, DELAY, HOUR_PS, MOST_NODES, NODE_KINDS, POSITION, key, words};
use super::impairments::{IMPAIRMENTS_BACK, IMPAIRMENTS_KEY, LOSS_BACK};
use super::radios::{self, FLOW_RATE, FLOW_RATE_BACK, RADIOS};

const RATE_KEY: Key = key("rate", Kind::Rate, Required, "Rate of each direction.");
const QUEUE_KEY: Key = key(
    "queue",
    Kind::Queue(&QUEUE),
    Default("\"1 bdp\""),
    "The queue before each direction; a bdp is rate × 2 · delay.",
);
const LOSS_KEY: Key = key(
    "loss",
    Kind::Number { min: 0.0, max: 1.0 },
    Default("0.0"),
    "Probability that a packet is lost on the way, independently of all others.",
);

const DELAY_KEY: Key = key("delay", DELAY, Required, "Propagation delay.");

const WIRE_KEYS: &[Key] = &[
    RATE_KEY,
    DELAY_KEY,
    QUEUE_KEY,
    LOSS_KEY,
    LOSS_BACK,
    CAPACITY_KEY,
    CAPACITY_BACK,
    IMPAIRMENTS_KEY,
    IMPAIRMENTS_BACK,
    FLOW_RATE,
    FLOW_RATE_BACK,
];

/// What a link leads over.
const fn medium(variants: &'static [Variant]) -> Tag {
    Tag {
        key: "medium",
        default: Some("wire"),
        doc: "What it leads over.",
        variants,
    }
}

const WIRE_DOC: &str = "A wire, or a microwave link that is like one: it is not shared.";
const OVER_WIFI: Variant = Variant {
    rules: None,
    name: "wifi",
    doc: "The 802.11 radios of its two ends; it needs [wifi].",
    keys: radios::LINK_KEYS,
};
const MEDIA: &[Variant] = &[
    Variant {
        rules: None,
        name: "wire",
        doc: WIRE_DOC,
        keys: WIRE_KEYS,
    },
    OVER_WIFI,
];

/// A link of a gateway or server.
pub(crate) static WIRE: Section = Section {
    rules: None,
    noun: "link",
    doc: "A full-duplex link; both directions are alike, but for keys of the direction back.",
    tag: None,
    keys: WIRE_KEYS,
};

/// A link as the generators take it.
pub(crate) static LINK: Section = Section {
    rules: None,
    noun: "link",
    doc: "A full-duplex link; both directions are alike, but for keys of the direction back.",
    tag: Some(medium(MEDIA)),
    keys: &[],
};

/// A link whose delay may follow from its length.
pub(crate) static SITE_LINK: Section = Section {
    rules: None,
    noun: "link",
    doc: "A link between two sites.",
    tag: Some(medium(&[
        Variant {
            rules: None,
            name: "wire",
            doc: WIRE_DOC,
            keys: &[
                RATE_KEY,
                key(
                    "delay",
                    Kind::OrWord("per length", &DELAY),
                    Default("\"per length\""),
                    "Propagation delay; \"per length\" is the length of the link over the speed of light in \
                     air, 299 702 547 m/s.",
                ),
                key(
                    "fixed_delay",
                    Kind::Duration {
                        min_ps: 0,
                        max_ps: HOUR_PS / 2,
                    },
                    Default("\"0 s\""),
                    "Added to a delay \"per length\".",
                ),
                QUEUE_KEY,
                LOSS_KEY,
                LOSS_BACK,
                CAPACITY_KEY,
                CAPACITY_BACK,
                IMPAIRMENTS_KEY,
                IMPAIRMENTS_BACK,
                FLOW_RATE,
                FLOW_RATE_BACK,
            ],
        },
        OVER_WIFI,
    ])),
    keys: &[],
};

/// A queue with its discipline.
pub(crate) static QUEUE: Section = Section {
    rules: None,
    noun: "queue",
    doc: "A queue before a link direction.",
    keys: &[
        key(
            "limit",
            Kind::Text,
            Default("\"1 bdp\""),
            "What it holds: \"1 bdp\", \"500 kB\" or \"340 packets\".",
        ),
        key(
            "routing_first",
            Kind::Boolean,
            Default("false"),
            "Whether routing messages have a queue of their own, first in, first out with the same limit, that is served before the other, as in Linux's pfifo_fast. Backpressure protocols keep their own queues and ignore the one of a link.",
        ),
    ],
    tag: Some(Tag {
        key: "discipline",
        default: Some("drop-tail"),
        doc: "What the queue drops and when.",
        variants: &[
            Variant {
                rules: None,
                name: "drop-tail",
                doc: "What arrives at a full queue is dropped.",
                keys: &[key(
                    "mark_above",
                    Kind::Text,
                    Optional,
                    "A packet that understands congestion marks (RFC 3168) is marked if more than this waits when it arrives: \"30 packets\", \"45 kB\" or \"0.17 bdp\".",
                )],
            },
            Variant::slot("codel"),
            Variant::slot("fq-codel"),
        ],
    }),
};

const SPACING: Key = key(
    "spacing",
    Kind::Length { min_um: 1 },
    Default("\"200 m\""),
    "Distance between neighbours (BP-MR paper: 200 m).",
);
const LINK_KEY: Key = key("link", Kind::Table(&LINK), Required, "Every link.");
const PLACEMENT_SEED: Key = key(
    "placement_seed",
    Kind::OrWord(
        "run",
        &Kind::Integer {
            min: 0,
            max: i64::MAX,
        },
    ),
    Default("1"),
    "Draws the places. With a number they are the same in every run; with \"run\" each run draws its own, by its seed.",
);
const SITE_LINKS: Key = key(
    "links",
    Kind::TableOrTag(&SITE_RULE),
    Required,
    "The rule that joins the sites.",
);
const SITE_LINK_KEY: Key = key(
    "link",
    Kind::Table(&SITE_LINK),
    Optional,
    "Every link; required unless the rule is \"none\".",
);

/// The nodes and links of the backhaul.
pub(crate) static TOPOLOGY: Section = Section {
    rules: None,
    noun: "topology",
    doc: "The nodes and links of the backhaul. Generators name their eNodeBs enb1, enb2, ….",
    keys: &[],
    tag: Some(Tag {
        key: "kind",
        default: None,
        doc: "The generator, or \"graph\" for nodes and links in the file.",
        variants: &[
            Variant {
                rules: None,
                name: "grid",
                doc: "Rows and columns, numbered row by row from the top left; each node is joined to its right and lower neighbour.",
                keys: &[
                    key("rows", COUNT, Required, "Number of rows."),
                    key("columns", COUNT, Required, "Number of columns."),
                    SPACING,
                    LINK_KEY,
                ],
            },
            Variant {
                rules: None,
                name: "chain",
                doc: "A line of nodes.",
                keys: &[
                    key("nodes", COUNT, Required, "Number of nodes."),
                    SPACING,
                    LINK_KEY,
                ],
            },
            Variant {
                rules: None,
                name: "tree",
                doc: "A complete tree, numbered level by level from the root.",
                keys: &[
                    key(
                        "branching",
                        Kind::Integer { min: 1, max: 1000 },
                        Required,
                        "Children of each inner node.",
                    ),
                    key(
                        "depth",
                        Kind::Integer { min: 0, max: 1000 },
                        Required,
                        "Links from the root to a leaf.",
                    ),
                    SPACING,
                    LINK_KEY,
                ],
            },
            Variant {
                rules: None,
                name: "ring_tree",
                doc: "A jittered lattice, joined by a tree with few children per node and then by short extra links, which close rings (BP-MR paper, §6.1).",
                keys: &[
                    key("rows", COUNT, Default("5"), "Rows of the lattice."),
                    key("columns", COUNT, Default("5"), "Columns of the lattice."),
                    key(
                        "spacing",
                        Kind::Length { min_um: 1 },
                        Default("\"690 m\""),
                        "Pitch of the lattice (BP-MR paper: 25 nodes on 12 km²).",
                    ),
                    key(
                        "jitter",
                        Kind::Length { min_um: 0 },
                        Default("\"200 m\""),
                        "Largest displacement of a node along each axis.",
                    ),
                    PLACEMENT_SEED,
                    key(
                        "root",
                        COUNT,
                        Default("13"),
                        "Number of the node that the tree grows from.",
                    ),
                    key(
                        "centre",
                        Kind::List(&COUNT),
                        Default("[]"),
                        "Numbers given to the nodes nearest the centre; the others are numbered row by row.",
                    ),
                    key(
                        "children",
                        Kind::Integer { min: 1, max: 1000 },
                        Default("2"),
                        "Most children of a node in the tree.",
                    ),
                    key(
                        "extra_degree",
                        Kind::Integer { min: 0, max: 1000 },
                        Default("4"),
                        "Extra links end at nodes that have this many links; the root is exempt.",
                    ),
                    key(
                        "extra_links",
                        Kind::Integer {
                            min: 0,
                            max: MOST_NODES,
                        },
                        Default("18"),
                        "Most extra links, the shortest first; 0 leaves the plain tree.",
                    ),
                    LINK_KEY,
                ],
            },
            Variant {
                rules: None,
                name: "diamond",
                doc: "Four nodes: source, top, bottom and sink, with two equal paths.",
                keys: &[SPACING, LINK_KEY],
            },
            Variant {
                rules: None,
                name: "cells",
                doc: "Rows and columns of square cells with routers n1, n2, … at random places.",
                keys: &[
                    key("rows", COUNT, Required, "Number of rows."),
                    key("columns", COUNT, Required, "Number of columns."),
                    key(
                        "nodes",
                        Kind::OrWord("one in each", &COUNT),
                        Default("\"one in each\""),
                        "The routers: one in each cell, numbered row by row from the top left, or this many anywhere in the area, numbered as they are drawn; those are drawn again until they are connected.",
                    ),
                    key(
                        "spacing",
                        Kind::Length { min_um: 1 },
                        Default("\"200 m\""),
                        "Width of a cell (TCP-aware paper: 200 m).",
                    ),
                    PLACEMENT_SEED,
                    key(
                        "joined",
                        Kind::Choice(&[4, 8]),
                        Default("4"),
                        "Whether a node is linked to those of its own cell and the four beside it, or also of the four at its corners.",
                    ),
                    LINK_KEY,
                ],
            },
            Variant {
                rules: None,
                name: "sites",
                doc: "Sites from a CSV file, joined by a rule.",
                keys: &[
                    key(
                        "file",
                        Kind::Text,
                        Required,
                        "CSV with id and either latitude_deg, longitude_deg or x_m, y_m; relative to the scenario.",
                    ),
                    SITE_LINKS,
                    SITE_LINK_KEY,
                ],
            },
            Variant {
                rules: None,
                name: "scattered",
                doc: "Sites at random places of a square, joined by a rule.",
                keys: &[
                    key("nodes", COUNT, Required, "Number of sites."),
                    key(
                        "spacing",
                        Kind::Length { min_um: 1 },
                        Required,
                        "The square has one site in each spacing × spacing on average.",
                    ),
                    PLACEMENT_SEED,
                    SITE_LINKS,
                    SITE_LINK_KEY,
                ],
            },
            Variant {
                rules: None,
                name: "graph",
                doc: "Nodes and links listed in the file.",
                keys: &[
                    key("node", Kind::Tables(&NODE), Required, "The nodes."),
                    key("link", Kind::Tables(&GRAPH_LINK), Optional, "The links."),
                ],
            },
        ],
    }),
};

/// A rule that joins sites.
pub(crate) static SITE_RULE: Section = Section {
    rules: None,
    noun: "links",
    doc: "The rule that joins sites. Distances are great-circle distances (haversine, mean earth radius 6 371 008.8 m) between geographic positions, and Euclidean between positions in metres.",
    keys: &[key(
        "connect",
        Kind::Boolean,
        Default("true"),
        "Whether pieces that the rule leaves are joined by the shortest links between them; a warning says so.",
    )],
    tag: Some(Tag {
        key: "rule",
        default: None,
        doc: "Which sites are joined.",
        variants: &[
            Variant {
                rules: None,
                name: "k-nearest",
                doc: "Each site is joined to its nearest sites.",
                keys: &[key(
                    "k",
                    Kind::Integer { min: 1, max: 1000 },
                    Default("3"),
                    "How many.",
                )],
            },
            Variant {
                rules: None,
                name: "gabriel",
                doc: "Two sites are joined when no other site lies in the circle that has their link as its diameter.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "mst",
                doc: "A minimum spanning tree in which no site has more links than a cap, plus redundant links.",
                keys: &[
                    key(
                        "degree_cap",
                        Kind::Integer { min: 2, max: 1000 },
                        Default("4"),
                        "Most links of a site in the tree.",
                    ),
                    key(
                        "extra_degree",
                        Kind::Integer { min: 0, max: 1000 },
                        Default("0"),
                        "Redundant links, the shortest first, are added while both ends have fewer links than this; 0 adds none.",
                    ),
                    key(
                        "extra_length",
                        Kind::Length { min_um: 0 },
                        Optional,
                        "Redundant links are at most this long.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "none",
                doc: "No site is; for radios whose neighbours are those in range.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "recorded",
                doc: "The links of a CSV file.",
                keys: &[key(
                    "file",
                    Kind::Text,
                    Required,
                    "CSV with site_a, site_b and, if known, length_km and rate_mbps, which is then the rate of the link; relative to the scenario.",
                )],
            },
        ],
    }),
};

/// A node of a graph.
pub(crate) static NODE: Section = Section {
    rules: None,
    noun: "node",
    doc: "A node of a graph.",
    tag: None,
    keys: &[
        key("id", Kind::Id, Required, "Its name."),
        key(
            "kind",
            words(NODE_KINDS),
            Default("\"enodeb\""),
            "What it is; UEs attach to eNodeBs, and a router only forwards.",
        ),
        key("x", POSITION, Optional, "East of the origin."),
        key(
            "y",
            POSITION,
            Optional,
            "North of the origin; downwards for generators in rows.",
        ),
        key(
            "latitude",
            Kind::Number {
                min: -90.0,
                max: 90.0,
            },
            Optional,
            "Latitude in degrees. Nodes without x and y are put on a plane by the equirectangular projection about their middle.",
        ),
        key(
            "longitude",
            Kind::Number {
                min: -180.0,
                max: 180.0,
            },
            Optional,
            "Longitude in degrees.",
        ),
        key(
            "channels",
            Kind::List(&radios::CHANNEL_NUMBER),
            Optional,
            "Its 802.11 channels, with a radio on each, in place of those of [wifi]; an empty list is no radio.",
        ),
        RADIOS,
    ],
};

/// A link of a graph.
pub(crate) static GRAPH_LINK: Section = Section {
    rules: None,
    noun: "link",
    doc: "A link of a graph.",
    tag: Some(medium(MEDIA)),
    keys: &[
        key("a", Kind::Id, Required, "One end."),
        key("b", Kind::Id, Required, "The other end."),
    ],
};

/// A gateway of the core network.
pub(crate) static GATEWAY: Section = Section {
    rules: None,
    noun: "gateway",
    doc: "A gateway of the core network (EPC), with wired links into the backhaul.",
    tag: None,
    keys: &[
        key("node", Kind::Id, Default("\"epc\""), "Its name."),
        key(
            "attach",
            Kind::OneOrMany(&Kind::Id),
            Optional,
            "The nodes that it is wired to.",
        ),
        key(
            "attach_each",
            COUNT,
            Optional,
            "It is also wired to the first node of the topology and to every node this many further on.",
        ),
        key("link", Kind::Table(&WIRE), Required, "Each of these links."),
        key("x", POSITION, Optional, "Position on maps."),
        key("y", POSITION, Optional, "Position on maps."),
    ],
};

/// A host outside the core network.
pub(crate) static SERVER: Section = Section {
    rules: None,
    noun: "server",
    doc: "A host outside the core network.",
    tag: None,
    keys: &[
        key("node", Kind::Id, Default("\"server\""), "Its name."),
        key(
            "attach",
            Kind::OneOrMany(&Kind::Id),
            Required,
            "The nodes that it is wired to, usually a gateway.",
        ),
        key("link", Kind::Table(&WIRE), Required, "Each of these links."),
        key("x", POSITION, Optional, "Position on maps."),
        key("y", POSITION, Optional, "Position on maps."),
    ],
};
