//! Every section and key of the file.
//!
//! A default is a value of a standard, of a paper or of Linux; the sentence beside it says which.

use super::Presence::{Default, Optional, Required, Section as Filled};
use super::{Key, Kind, Presence, Section, Tag, Variant};

const PS_PER_S: u64 = 1_000_000_000_000;
const HOUR_PS: u64 = 3_600 * PS_PER_S;
/// The longest run; leaves room for sums in 64 bits.
pub(crate) const LONGEST_PS: u64 = 30 * 24 * HOUR_PS;
const EXABYTE: u64 = 1_000_000_000_000_000_000;
pub(crate) const MOST_NODES: i64 = 1_000_000;

const DELAY: Kind = Kind::Duration {
    min_ps: 0,
    max_ps: HOUR_PS,
};
const TIME: Kind = Kind::Duration {
    min_ps: 0,
    max_ps: LONGEST_PS,
};
const SPAN: Kind = Kind::Duration {
    min_ps: 1,
    max_ps: LONGEST_PS,
};
const INTERVAL: Kind = Kind::Duration {
    min_ps: 1,
    max_ps: HOUR_PS,
};
const SIZE: Kind = Kind::Bytes {
    min: 1,
    max: EXABYTE,
};
const COUNT: Kind = Kind::Integer {
    min: 1,
    max: MOST_NODES,
};
const POSITION: Kind = Kind::Length { min_um: i64::MIN };
const NODE_KINDS: &[&str] = &["enodeb", "epc", "server", "router"];
const CONGESTION_CONTROL: Kind = Kind::Words {
    words: crate::protocols::CongestionControl::NAMES,
    aliases: &[],
};

const fn words(words: &'static [&'static str]) -> Kind {
    Kind::Words {
        words,
        aliases: &[],
    }
}

const fn key(name: &'static str, kind: Kind, presence: Presence, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        presence,
        doc,
    }
}

/// The whole file.
pub(crate) static FILE: Section = Section {
    noun: "",
    doc: "The keys at the top of the file.",
    tag: None,
    keys: &[
        key(
            "name",
            Kind::Text,
            Default("\"scenario\""),
            "The name shown in reports.",
        ),
        key(
            "duration",
            SPAN,
            Required,
            "Hard stop, counted from the end of the warm-up; a run ends earlier when all finite \
             flows have finished.",
        ),
        key(
            "seed",
            Kind::Integer {
                min: 0,
                max: i64::MAX,
            },
            Default("1"),
            "The seed of a single run and the first seed of a sweep with `seeds = N`.",
        ),
        key(
            "topology",
            Kind::Table(&TOPOLOGY),
            Required,
            "The nodes and links of the backhaul.",
        ),
        key(
            "gateway",
            Kind::Tables(&GATEWAY),
            Optional,
            "Gateways of the core network.",
        ),
        key(
            "server",
            Kind::Tables(&SERVER),
            Optional,
            "Hosts outside the core network.",
        ),
        key(
            "access",
            Kind::Table(&ACCESS),
            Filled,
            "The radio network of the UEs.",
        ),
        key(
            "routing",
            Kind::Table(&ROUTING),
            Filled,
            "The routing protocol of the backhaul.",
        ),
        key("tcp", Kind::Table(&TCP), Filled, "The TCP endpoints."),
        key("flow", Kind::Tables(&FLOW), Optional, "Groups of flows."),
        key(
            "record",
            Kind::Table(&RECORD),
            Filled,
            "Series that are sampled during the run.",
        ),
        key(
            "sweep",
            Kind::Sweep,
            Optional,
            "Swept keys by their path, each with a list of values, and `seeds`: a number of seeds \
             or a list. Its presence makes the file a campaign.",
        ),
    ],
};

const RATE_KEY: Key = key("rate", Kind::Rate, Required, "Rate of each direction.");
const QUEUE_KEY: Key = key(
    "queue",
    Kind::Queue,
    Default("\"1 bdp\""),
    "The queue before each direction; a bdp is rate × 2 · delay.",
);
const LOSS_KEY: Key = key(
    "loss",
    Kind::Number { min: 0.0, max: 1.0 },
    Default("0.0"),
    "Probability that a packet is lost on the way, independently of all others.",
);

/// A link as the generators take it.
pub(crate) static LINK: Section = Section {
    noun: "link",
    doc: "A full-duplex link; both directions are alike.",
    tag: None,
    keys: &[
        RATE_KEY,
        key("delay", DELAY, Required, "Propagation delay."),
        QUEUE_KEY,
        LOSS_KEY,
    ],
};

/// A link whose delay may follow from its length.
pub(crate) static SITE_LINK: Section = Section {
    noun: "link",
    doc: "A link between two sites.",
    tag: None,
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
    ],
};

/// A queue with its discipline.
pub(crate) static QUEUE: Section = Section {
    noun: "queue",
    doc: "A queue before a link direction.",
    keys: &[key(
        "limit",
        Kind::Text,
        Default("\"1 bdp\""),
        "What it holds: \"1 bdp\", \"500 kB\" or \"340 packets\".",
    )],
    tag: Some(Tag {
        key: "discipline",
        default: Some("drop-tail"),
        doc: "What the queue drops and when.",
        variants: &[
            Variant {
                name: "drop-tail",
                doc: "What arrives at a full queue is dropped.",
                keys: &[],
            },
            Variant {
                name: "codel",
                doc: "Controlled delay (RFC 8289).",
                keys: &[CODEL_TARGET, CODEL_INTERVAL],
            },
            Variant {
                name: "fq-codel",
                doc: "Controlled delay per flow (RFC 8290).",
                keys: &[
                    CODEL_TARGET,
                    CODEL_INTERVAL,
                    key(
                        "quantum",
                        Kind::Bytes {
                            min: 1,
                            max: 1_000_000,
                        },
                        Default("\"1500 B\""),
                        "Bytes a flow may send per round: one full packet, without the 14 bytes of Ethernet that RFC 8290 §5.2.3 adds.",
                    ),
                    key(
                        "flows",
                        Kind::Integer {
                            min: 1,
                            max: 65_536,
                        },
                        Default("1024"),
                        "Hash buckets (RFC 8290 §5.2.2).",
                    ),
                ],
            },
        ],
    }),
};
const CODEL_TARGET: Key = key(
    "target",
    INTERVAL,
    Default("\"5 ms\""),
    "Acceptable standing queue delay (RFC 8289 §4.4).",
);
const CODEL_INTERVAL: Key = key(
    "interval",
    INTERVAL,
    Default("\"100 ms\""),
    "Time in which the delay must fall below the target (RFC 8289 §4.3).",
);

const SPACING: Key = key(
    "spacing",
    Kind::Length { min_um: 1 },
    Default("\"200 m\""),
    "Distance between neighbours (P1: 200 m).",
);
const LINK_KEY: Key = key("link", Kind::Table(&LINK), Required, "Every link.");

/// The nodes and links of the backhaul.
pub(crate) static TOPOLOGY: Section = Section {
    noun: "topology",
    doc: "The nodes and links of the backhaul. Generators name their eNodeBs enb1, enb2, ….",
    keys: &[],
    tag: Some(Tag {
        key: "kind",
        default: None,
        doc: "The generator, or \"graph\" for nodes and links in the file.",
        variants: &[
            Variant {
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
                name: "chain",
                doc: "A line of nodes.",
                keys: &[
                    key("nodes", COUNT, Required, "Number of nodes."),
                    SPACING,
                    LINK_KEY,
                ],
            },
            Variant {
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
                name: "ring_tree",
                doc: "A jittered lattice, joined by a tree with few children per node and then by short extra links, which close rings (P1 §6.1).",
                keys: &[
                    key("rows", COUNT, Default("5"), "Rows of the lattice."),
                    key("columns", COUNT, Default("5"), "Columns of the lattice."),
                    key(
                        "spacing",
                        Kind::Length { min_um: 1 },
                        Default("\"690 m\""),
                        "Pitch of the lattice (P1: 25 nodes on 12 km²).",
                    ),
                    key(
                        "jitter",
                        Kind::Length { min_um: 0 },
                        Default("\"200 m\""),
                        "Largest displacement of a node along each axis.",
                    ),
                    key(
                        "placement_seed",
                        Kind::Integer {
                            min: 0,
                            max: i64::MAX,
                        },
                        Default("1"),
                        "Draws the displacements; the same in every run.",
                    ),
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
                        "Extra links end where a node has so many links; the root is exempt.",
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
                name: "diamond",
                doc: "Four nodes: source, top, bottom and sink, with two equal paths.",
                keys: &[SPACING, LINK_KEY],
            },
            Variant {
                name: "sites",
                doc: "Sites from a CSV file, joined by a rule.",
                keys: &[
                    key(
                        "file",
                        Kind::Text,
                        Required,
                        "CSV with id and either latitude_deg, longitude_deg or x_m, y_m; relative to the scenario.",
                    ),
                    key(
                        "links",
                        Kind::TableOrTag(&SITE_RULE),
                        Required,
                        "The rule that joins the sites.",
                    ),
                    key("link", Kind::Table(&SITE_LINK), Required, "Every link."),
                ],
            },
            Variant {
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
                name: "gabriel",
                doc: "Two sites are joined when no other site lies in the circle that has their link as its diameter.",
                keys: &[],
            },
            Variant {
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
                ],
            },
            Variant {
                name: "recorded",
                doc: "The links of a CSV file.",
                keys: &[key(
                    "file",
                    Kind::Text,
                    Required,
                    "CSV with site_a, site_b and, if known, length_km; relative to the scenario.",
                )],
            },
        ],
    }),
};

/// A node of a graph.
pub(crate) static NODE: Section = Section {
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
    ],
};

/// A link of a graph.
pub(crate) static GRAPH_LINK: Section = Section {
    noun: "link",
    doc: "A link of a graph.",
    tag: None,
    keys: &[
        key("a", Kind::Id, Required, "One end."),
        key("b", Kind::Id, Required, "The other end."),
        RATE_KEY,
        key("delay", DELAY, Required, "Propagation delay."),
        QUEUE_KEY,
        LOSS_KEY,
    ],
};

/// A gateway of the core network.
pub(crate) static GATEWAY: Section = Section {
    noun: "gateway",
    doc: "A gateway of the core network (EPC), with wired links into the backhaul.",
    tag: None,
    keys: &[
        key("node", Kind::Id, Default("\"epc\""), "Its name."),
        key(
            "attach",
            Kind::OneOrMany(&Kind::Id),
            Required,
            "The nodes that it is wired to.",
        ),
        key("link", Kind::Table(&LINK), Required, "Each of these links."),
        key("x", POSITION, Optional, "Position on maps."),
        key("y", POSITION, Optional, "Position on maps."),
    ],
};

/// A host outside the core network.
pub(crate) static SERVER: Section = Section {
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
        key("link", Kind::Table(&LINK), Required, "Each of these links."),
        key("x", POSITION, Optional, "Position on maps."),
        key("y", POSITION, Optional, "Position on maps."),
    ],
};

/// The radio network of the UEs.
pub(crate) static ACCESS: Section = Section {
    noun: "access",
    doc: "The radio network between UEs and eNodeBs.",
    keys: &[],
    tag: Some(Tag {
        key: "kind",
        default: Some("none"),
        doc: "The model of the radio network.",
        variants: &[
            Variant {
                name: "none",
                doc: "There are no UEs.",
                keys: &[],
            },
            Variant {
                name: "ideal",
                doc: "Each eNodeB shares a fixed rate among its UEs, without errors.",
                keys: &[
                    key(
                        "rate",
                        Kind::Rate,
                        Default("\"350 Mbit/s\""),
                        "Rate of an eNodeB in each direction, shared by its UEs (P1: 350 Mbit/s).",
                    ),
                    key(
                        "delay",
                        DELAY,
                        Default("\"10 ms\""),
                        "One-way delay; about what LTE adds.",
                    ),
                    key(
                        "queue",
                        SIZE,
                        Default("\"375 kB\""),
                        "Queue of one UE in one direction (P1: RLC buffer of 375 000 B).",
                    ),
                    key(
                        "ues",
                        Kind::Integer {
                            min: 0,
                            max: MOST_NODES,
                        },
                        Optional,
                        "Number of UEs; their names are ue1, ue2, …. May be left out beside per_enodeb.",
                    ),
                    key(
                        "placement",
                        Kind::Words {
                            words: &["round-robin", "random"],
                            aliases: &[("uniform", "round-robin")],
                        },
                        Default("\"round-robin\""),
                        "Which eNodeB serves which UE: \"round-robin\" (or \"uniform\") puts UE k at eNodeB ((k − 1) mod n) + 1, \"random\" draws it in every run.",
                    ),
                    key(
                        "per_enodeb",
                        Kind::Map(&Kind::Integer {
                            min: 0,
                            max: MOST_NODES,
                        }),
                        Optional,
                        "Number of UEs at each eNodeB named, in place of a placement.",
                    ),
                ],
            },
        ],
    }),
};

/// The routing protocol of the backhaul.
pub(crate) static ROUTING: Section = Section {
    noun: "routing",
    doc: "The routing protocol of the backhaul.",
    keys: &[key(
        "warm_up",
        TIME,
        Default("\"0 s\""),
        "Simulated time in which routing runs before the clock of `duration` and of the flows' `start` begins.",
    )],
    tag: Some(Tag {
        key: "protocol",
        default: Some("shortest-path"),
        doc: "The protocol.",
        variants: &[
            Variant {
                name: "shortest-path",
                doc: "Shortest paths, computed before the run.",
                keys: &[key(
                    "metric",
                    words(&["hops", "delay", "inverse-rate"]),
                    Default("\"hops\""),
                    "What is shortest.",
                )],
            },
            Variant {
                name: "olsr",
                doc: "Optimized link state routing (RFC 3626).",
                keys: &[
                    key(
                        "hello_interval",
                        INTERVAL,
                        Default("\"2 s\""),
                        "RFC 3626 §18.2.",
                    ),
                    key(
                        "tc_interval",
                        INTERVAL,
                        Default("\"5 s\""),
                        "RFC 3626 §18.2.",
                    ),
                    key(
                        "jitter",
                        DELAY,
                        Optional,
                        "Largest random reduction of an interval; a quarter of hello_interval if left out (RFC 3626 §18.3).",
                    ),
                    key(
                        "neighbour_hold",
                        SPAN,
                        Optional,
                        "Three times hello_interval if left out (RFC 3626 §18.3).",
                    ),
                    key(
                        "topology_hold",
                        SPAN,
                        Optional,
                        "Three times tc_interval if left out (RFC 3626 §18.3).",
                    ),
                ],
            },
            Variant {
                name: "bp-mr",
                doc: "Backpressure routing over multiple radios.",
                keys: &[
                    key(
                        "granularity",
                        words(&["packet", "flow"]),
                        Default("\"flow\""),
                        "What a next-hop decision holds for.",
                    ),
                    key(
                        "queue_limit_pkts",
                        Kind::Integer {
                            min: 1,
                            max: 1_000_000,
                        },
                        Default("340"),
                        "Limit of the routing queue of an interface (P1's runs: 340).",
                    ),
                    key(
                        "gateway_queue_limit_pkts",
                        Kind::Integer {
                            min: 1,
                            max: 1_000_000,
                        },
                        Default("510"),
                        "The same at the gateway (P1's runs: 1.5 times).",
                    ),
                    key(
                        "queue_info",
                        words(&["hello", "oracle"]),
                        Default("\"hello\""),
                        "How a node knows its neighbours' queues: from their last HELLO as published, or exactly as in P1's runs.",
                    ),
                    key(
                        "hello_interval",
                        INTERVAL,
                        Default("\"100 ms\""),
                        "Time between HELLO messages (P1's runs: 100 ms).",
                    ),
                    key(
                        "v",
                        Kind::OrWord("variable", &Kind::Number { min: 0.0, max: 1e9 }),
                        Default("\"variable\""),
                        "Weight of the distance to the destination.",
                    ),
                    key(
                        "device_queue_pkts",
                        Kind::Integer { min: 1, max: 1000 },
                        Default("2"),
                        "Packets handed to the device ahead of the link (P1's runs: 2).",
                    ),
                    key(
                        "flow_idle",
                        SPAN,
                        Default("\"10 s\""),
                        "A flow entry unused for so long is forgotten.",
                    ),
                    key(
                        "flow_max_age",
                        SPAN,
                        Default("\"100 s\""),
                        "A flow entry of this age is decided anew.",
                    ),
                    key(
                        "ttl_rule",
                        Kind::Boolean,
                        Default("true"),
                        "Whether a packet that wandered far is routed by distance.",
                    ),
                ],
            },
        ],
    }),
};

/// The TCP endpoints.
pub(crate) static TCP: Section = Section {
    noun: "tcp",
    doc: "The TCP endpoints. Defaults are those of Linux 6.1.",
    tag: None,
    keys: &[
        key(
            "congestion_control",
            CONGESTION_CONTROL,
            Default("\"cubic\""),
            "The congestion control, by its Linux name.",
        ),
        key(
            "hystart",
            words(&["linux", "linux-legacy", "off"]),
            Default("\"linux\""),
            "How CUBIC leaves slow start: as Linux since 5.6, as before, or only by loss.",
        ),
        key(
            "mss",
            Kind::Bytes {
                min: 88,
                max: 65_495,
            },
            Default("\"1448 B\""),
            "Payload of a full segment.",
        ),
        key(
            "initial_window_pkts",
            Kind::Integer {
                min: 1,
                max: 10_000,
            },
            Default("10"),
            "Initial congestion window (RFC 6928).",
        ),
        key(
            "initial_ssthresh_pkts",
            Kind::OrWord(
                "infinite",
                &Kind::Integer {
                    min: 2,
                    max: 1_000_000_000,
                },
            ),
            Default("\"infinite\""),
            "Initial slow-start threshold.",
        ),
        key(
            "rto",
            words(&["linux", "rfc6298"]),
            Default("\"linux\""),
            "Whether min_rto bounds the variance term, as in Linux, or the whole timeout (RFC 6298 §2.4).",
        ),
        key(
            "min_rto",
            INTERVAL,
            Default("\"200 ms\""),
            "Lower bound of the retransmission timeout.",
        ),
        key(
            "initial_rto",
            INTERVAL,
            Default("\"1 s\""),
            "Retransmission timeout before the first RTT sample (RFC 6298 §2.1).",
        ),
        key(
            "max_rto",
            INTERVAL,
            Default("\"120 s\""),
            "Upper bound of the retransmission timeout.",
        ),
        key(
            "syn_retries",
            Kind::Integer { min: 0, max: 127 },
            Default("6"),
            "How often a SYN is sent again.",
        ),
        key(
            "retries",
            Kind::Integer { min: 1, max: 1000 },
            Default("15"),
            "Timeouts in a row before a connection fails.",
        ),
        key(
            "delayed_ack_segments",
            Kind::Integer { min: 1, max: 255 },
            Default("2"),
            "Segments acknowledged together; 1 acknowledges each at once (RFC 1122 §4.2.3.2).",
        ),
        key(
            "delayed_ack_min",
            INTERVAL,
            Default("\"40 ms\""),
            "Shortest wait of an acknowledgement for the next segment; Linux adapts it to the arrivals.",
        ),
        key(
            "delayed_ack_max",
            INTERVAL,
            Default("\"200 ms\""),
            "Longest wait; equal to delayed_ack_min for a fixed one.",
        ),
        key(
            "quick_ack",
            Kind::Boolean,
            Default("true"),
            "Whether the first segments of a connection are acknowledged at once.",
        ),
        key(
            "sack",
            Kind::Boolean,
            Default("true"),
            "Selective acknowledgements (RFC 2018).",
        ),
        key(
            "sack_compression",
            Kind::Boolean,
            Default("true"),
            "Whether duplicate acknowledgements of a hole are merged, as Linux does.",
        ),
        key(
            "timestamps",
            Kind::Boolean,
            Default("true"),
            "Timestamps (RFC 7323).",
        ),
        key(
            "limited_transmit",
            Kind::Boolean,
            Default("true"),
            "Limited transmit (RFC 3042).",
        ),
        key(
            "duplicate_threshold",
            Kind::Integer { min: 1, max: 255 },
            Default("3"),
            "Duplicate acknowledgements that start a recovery.",
        ),
        key(
            "receive_buffer",
            Kind::Bytes {
                min: 2048,
                max: 1 << 30,
            },
            Default("\"6 MiB\""),
            "Receive window offered; RFC 7323 §2.3 allows 1 GiB.",
        ),
        key(
            "send_buffer",
            Kind::OrWord(
                "unlimited",
                &Kind::Bytes {
                    min: 2048,
                    max: EXABYTE,
                },
            ),
            Default("\"unlimited\""),
            "Most bytes sent and not yet acknowledged.",
        ),
        key(
            "slow_start_after_idle",
            Kind::Boolean,
            Default("true"),
            "Whether an idle connection shrinks its window (RFC 2861).",
        ),
    ],
};

const ENDS: Kind = Kind::OneOrMany(&Kind::Id);
const FROM_DOC: &str =
    "Where data comes from: \"server\", \"ues\", single UEs (\"ue7\"), node ids, or a list.";
const TO_DOC: &str = "Where data goes to.";
const TCP_SIZE: Key = key(
    "size",
    Kind::OrWord("endless", &SIZE),
    Required,
    "Application data per flow.",
);
const FLOW_CC: Key = key(
    "congestion_control",
    CONGESTION_CONTROL,
    Optional,
    "In place of that of [tcp].",
);
const UDP_SIZE: Key = key(
    "size",
    Kind::OrWord("endless", &SIZE),
    Default("\"endless\""),
    "Payload per flow.",
);
const UDP_RATE: Key = key(
    "rate",
    Kind::Rate,
    Required,
    "Rate of the payload while the source is on.",
);
const UDP_PACKET: Key = key(
    "packet_size",
    Kind::Bytes {
        min: 1,
        max: 65_507,
    },
    Default("\"1000 B\""),
    "Payload of a packet (P1: 1000 B).",
);
const FROM: Key = key("from", ENDS, Required, FROM_DOC);
const TO: Key = key("to", ENDS, Required, TO_DOC);

/// A group of flows.
pub(crate) static FLOW: Section = Section {
    noun: "flow",
    doc: "A group of like flows. Lists on both sides are joined one to one; a single end is joined to each of the other side.",
    keys: &[
        key(
            "count",
            COUNT,
            Default("1"),
            "Flows between each pair of ends.",
        ),
        key(
            "start",
            Kind::Start,
            Default("\"0 s\""),
            "When the flows start: all at a time (\"4 s\"), drawn (\"uniform 0 s 5 s\"), one after another (\"every 50 ms from 4 s\"), or \"paper\": batches of 25, 4 s apart, 50 ms between the flows of a batch, the first at 4.05 s (P1's runs).",
        ),
        key(
            "stop",
            Kind::OrWord("end", &TIME),
            Default("\"end\""),
            "When the sources stop.",
        ),
    ],
    tag: Some(Tag {
        key: "kind",
        default: None,
        doc: "What the flows do.",
        variants: &[
            Variant {
                name: "download",
                doc: "TCP from a server to UEs.",
                keys: &[
                    key("from", ENDS, Default("\"server\""), FROM_DOC),
                    key("to", ENDS, Default("\"ues\""), TO_DOC),
                    TCP_SIZE,
                    FLOW_CC,
                ],
            },
            Variant {
                name: "upload",
                doc: "TCP from UEs to a server.",
                keys: &[
                    key("from", ENDS, Default("\"ues\""), FROM_DOC),
                    key("to", ENDS, Default("\"server\""), TO_DOC),
                    TCP_SIZE,
                    FLOW_CC,
                ],
            },
            Variant {
                name: "transfer",
                doc: "TCP between any nodes.",
                keys: &[FROM, TO, TCP_SIZE, FLOW_CC],
            },
            Variant {
                name: "udp",
                doc: "UDP at a constant rate.",
                keys: &[FROM, TO, UDP_RATE, UDP_PACKET, UDP_SIZE],
            },
            Variant {
                name: "on-off",
                doc: "UDP that is on at a constant rate and off, for exponential times.",
                keys: &[
                    FROM,
                    TO,
                    UDP_RATE,
                    key("on", SPAN, Required, "Mean of the on times."),
                    key("off", SPAN, Required, "Mean of the off times."),
                    UDP_PACKET,
                    UDP_SIZE,
                ],
            },
        ],
    }),
};

/// What is sampled during the run.
pub(crate) static RECORD: Section = Section {
    noun: "record",
    doc: "Series that are sampled during the run.",
    tag: None,
    keys: &[
        key(
            "series",
            Kind::List(&words(&["cwnd", "queue"])),
            Default("[]"),
            "Which series: congestion windows, queue lengths.",
        ),
        key(
            "interval",
            INTERVAL,
            Default("\"10 ms\""),
            "Time between two samples.",
        ),
        key(
            "flows",
            Kind::List(&Kind::Text),
            Default("[]"),
            "Ends of the flows whose window is sampled; none named is all.",
        ),
        key(
            "links",
            Kind::List(&Kind::Text),
            Default("[]"),
            "Links \"a-b\" whose queues are sampled, in both directions; none named is all.",
        ),
    ],
};
