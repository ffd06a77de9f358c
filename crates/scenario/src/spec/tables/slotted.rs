//! Keys of the slotted model of backpressure.

use super::super::Presence::{Default, Optional, Required};
use super::super::{Key, Kind, Section, Tag, Variant};
use super::{NAME, SEED, SWEEP, key, words};

const PROBABILITY: Kind = Kind::Number { min: 0.0, max: 1.0 };
/// The model takes as many in a slot.
const RATE: Kind = Kind::Number {
    min: 0.0,
    max: 100.0,
};
const PACKETS: Kind = Kind::Integer {
    min: 1,
    max: 1_000_000,
};
const MANY_SLOTS: i64 = 1_000_000_000;

/// The whole file of a slotted model.
pub(crate) static SLOTTED_FILE: Section = Section {
    rules: None,
    noun: "",
    doc: "The keys at the top of a file with [slotted].",
    tag: None,
    keys: &[
        NAME,
        SEED,
        key(
            "slotted",
            Kind::Table(&SLOTTED),
            Required,
            "The slotted model.",
        ),
        SWEEP,
    ],
};

/// The slotted model.
pub(crate) static SLOTTED: Section = Section {
    rules: None,
    noun: "slotted",
    doc: "The slotted model of backpressure, in place of a network: with it the file has no \
          duration, topology, routing, TCP, or flows but those in it. Time counts in slots and \
          amounts in packets.",
    keys: &[
        key(
            "slots",
            Kind::Integer {
                min: 1,
                max: MANY_SLOTS / 2,
            },
            Required,
            "Slots that are measured.",
        ),
        key(
            "warm_up_slots",
            Kind::Integer {
                min: 0,
                max: MANY_SLOTS / 2,
            },
            Default("0"),
            "Slots before those; queues and windows live on.",
        ),
        key(
            "k_pkts",
            Kind::Integer {
                min: 0,
                max: 1_000_000,
            },
            Default("0"),
            "K of TCP-aware backpressure: a shorter queue counts as K before its own links. 0 is \
             classical backpressure.",
        ),
        key(
            "rule",
            words(&["work-conserving", "literal"]),
            Default("\"work-conserving\""),
            "Whether a link serves the best of the flows that have packets, or as printed the \
             best of all, which may have none and waste the slot.",
        ),
        key(
            "ties",
            words(&["round-robin", "random"]),
            Default("\"round-robin\""),
            "What decides between equals: who has waited longest, up to 63 slots, or chance.",
        ),
        key(
            "scheduler",
            words(&["exact", "greedy"]),
            Default("\"exact\""),
            "Whether the links that send are a set of largest weight, of at most 64 links, or are \
             taken one by one, the heaviest first.",
        ),
        key(
            "buffer_pkts",
            PACKETS,
            Optional,
            "Packets that a node holds; what is too much is dropped from its largest queue. \
             Without it nothing is dropped.",
        ),
        key(
            "m",
            Kind::Number {
                min: 0.001,
                max: 1e9,
            },
            Default("50.0"),
            "M of the flow control: how much utility weighs against backlog (P2: 50).",
        ),
        key(
            "r_max_pkts",
            Kind::Number {
                min: 0.001,
                max: 100.0,
            },
            Default("1.0"),
            "The most packets per slot that the flow control lets in at a node.",
        ),
        key(
            "sample_slots",
            Kind::Integer {
                min: 1,
                max: MANY_SLOTS,
            },
            Optional,
            "Slots between two samples of windows and queues, from the first slot on.",
        ),
        key(
            "region",
            Kind::Table(&SLOTTED_REGION),
            Optional,
            "A map of stability over the rates of two flows.",
        ),
        key("link", Kind::Tables(&SLOTTED_LINK), Required, "The links."),
        key("flow", Kind::Tables(&SLOTTED_FLOW), Required, "The flows."),
    ],
    tag: Some(Tag {
        key: "interference",
        default: None,
        doc: "Which links may not send in the same slot.",
        variants: &[
            Variant {
                rules: None,
                name: "none",
                doc: "All links may.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "primary",
                doc: "A node sends to or receives from one other at a time.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "collision-domain",
                doc: "One link sends in the whole network; a downlink from one node is this.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "conflicts",
                doc: "As listed.",
                keys: &[key(
                    "conflicts",
                    Kind::List(&Kind::List(&Kind::Text)),
                    Required,
                    "Pairs of links, each link as \"A-B\" from A to B.",
                )],
            },
        ],
    }),
};

/// A map of stability.
pub(crate) static SLOTTED_REGION: Section = Section {
    rules: None,
    noun: "region",
    doc: "Besides the run, the model is run anew with each pair of rates on a square grid, for \
          `warm_up_slots` and `slots` each, with the same channels; `region.parquet` has a row \
          for each pair.",
    tag: None,
    keys: &[
        key(
            "flows",
            Kind::List(&Kind::Id),
            Required,
            "The names of two flows with a rate.",
        ),
        key(
            "points",
            Kind::Integer { min: 2, max: 500 },
            Default("100"),
            "Points along each side, in the middle of as many equal parts.",
        ),
        key(
            "most_rate",
            Kind::Number {
                min: 0.001,
                max: 100.0,
            },
            Default("1.0"),
            "Where both sides end, in packets per slot; they begin at 0.",
        ),
    ],
};

/// A link of the slotted model.
pub(crate) static SLOTTED_LINK: Section = Section {
    rules: None,
    noun: "link",
    doc: "A link in one direction. What it names are nodes.",
    tag: None,
    keys: &[
        key("from", Kind::Id, Required, "The node that sends."),
        key("to", Kind::Id, Required, "The node that receives."),
        key(
            "rate_pkts",
            Kind::Integer { min: 1, max: 100 },
            Default("1"),
            "Packets in a slot in which the channel is ON.",
        ),
        key(
            "on",
            PROBABILITY,
            Default("1.0"),
            "Probability that the channel is ON in a slot, independently of all else.",
        ),
    ],
};

const ARRIVAL_RATE: Key = key("rate", RATE, Required, "Packets per slot on average.");

/// A flow of the slotted model.
pub(crate) static SLOTTED_FLOW: Section = Section {
    rules: None,
    noun: "flow",
    doc: "A flow. It takes any link that lies on a way from its source to its destination.",
    keys: &[
        key(
            "name",
            Kind::Id,
            Optional,
            "What tables call it; without it \"FROM-TO\".",
        ),
        key("from", Kind::Id, Required, "The node where packets arrive."),
        key("to", Kind::Id, Required, "The node where they leave."),
        key(
            "backlog_pkts",
            Kind::Integer {
                min: 0,
                max: 1_000_000,
            },
            Default("0"),
            "Packets in the queue of the source at the beginning; they are part of a window.",
        ),
    ],
    tag: Some(Tag {
        key: "arrivals",
        default: Some("bernoulli"),
        doc: "What brings packets.",
        variants: &[
            Variant {
                rules: None,
                name: "bernoulli",
                doc: "The whole part of the rate in each slot, one more by chance.",
                keys: &[ARRIVAL_RATE],
            },
            Variant {
                rules: None,
                name: "constant",
                doc: "The rate, as evenly as whole packets can.",
                keys: &[ARRIVAL_RATE],
            },
            Variant {
                rules: None,
                name: "window",
                doc: "As many as a window allows, like TCP.",
                keys: &[
                    key(
                        "window_pkts",
                        PACKETS,
                        Default("1"),
                        "The window at the beginning.",
                    ),
                    key(
                        "growth",
                        words(&["additive", "fixed"]),
                        Default("\"additive\""),
                        "Whether it grows by 1/W with each acknowledgment and is halved after a \
                         drop, once for each window, or stays.",
                    ),
                    key(
                        "most_window_pkts",
                        PACKETS,
                        Default("1000000"),
                        "It grows no further.",
                    ),
                    key(
                        "ack_delay_slots",
                        Kind::Integer {
                            min: 0,
                            max: 10_000,
                        },
                        Default("0"),
                        "Slots until the source knows of a delivery; with 0 it knows before the \
                         next slot. Of a drop it knows a slot later.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "utility",
                doc: "What the flow control of Seferoglu and Modiano (2014), equation (5), lets \
                      in for the utility log x.",
                keys: &[],
            },
        ],
    }),
};
