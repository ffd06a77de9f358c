//! Keys of carriers, propagation and the places of UEs.

use super::super::super::Presence::{Default, Optional, Required};
use super::super::super::{Kind, Section, Tag, Variant};
use super::super::{CHANNEL, POSITION, TIME, key, words};
use super::{DISTANCE, db};

const FREQUENCY: Kind = Kind::Frequency {
    min_hz: 100_000_000,
    max_hz: 100_000_000_000,
};

/// A component carrier.
pub(crate) static CARRIER: Section = Section {
    rules: None,
    noun: "carrier",
    doc: "A component carrier, downlink and uplink of one width.",
    tag: None,
    keys: &[
        key(
            "bandwidth",
            words(&["1.4 MHz", "3 MHz", "5 MHz", "10 MHz", "15 MHz", "20 MHz"]),
            Default("\"20 MHz\""),
            "Width: 6, 15, 25, 50, 75 or 100 resource blocks.",
        ),
        key("frequency", FREQUENCY, Required, "Centre of the downlink."),
        key(
            "uplink_frequency",
            FREQUENCY,
            Optional,
            "Centre of the uplink; left out, it is that of the downlink.",
        ),
    ],
};

/// A law of path loss.
pub(crate) static PATH_LOSS: Section = Section {
    rules: None,
    noun: "path_loss",
    doc: "A law of path loss, for each carrier at its frequency. Outside the range in which a law holds it is extrapolated, and a warning says so.",
    keys: &[],
    tag: Some(Tag {
        key: "model",
        default: Some("kun2600"),
        doc: "The law.",
        variants: &[
            Variant {
                rules: None,
                name: "kun2600",
                doc: "Measurements at 2.6 GHz: 36 + 26 log₁₀ d.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "okumura-hata",
                doc: "Okumura and Hata, 150 to 1500 MHz.",
                keys: &[key(
                    "environment",
                    words(&["large-city", "medium-city", "suburban", "open"]),
                    Default("\"medium-city\""),
                    "What is built around.",
                )],
            },
            Variant {
                rules: None,
                name: "cost231-hata",
                doc: "COST 231's extension of it, 1500 to 2000 MHz.",
                keys: &[key(
                    "city",
                    words(&["medium", "metropolitan"]),
                    Default("\"medium\""),
                    "The size of the city.",
                )],
            },
            Variant {
                rules: None,
                name: "log-distance",
                doc: "A power of the distance.",
                keys: &[
                    key(
                        "exponent",
                        Kind::Number { min: 1.0, max: 8.0 },
                        Required,
                        "2 is free space, 3 to 4 a city.",
                    ),
                    key(
                        "reference_distance",
                        Kind::Length { min_um: 1 },
                        Default("\"1 m\""),
                        "Where the loss is known.",
                    ),
                    key("reference_loss", db(0, 300), Required, "The loss there."),
                ],
            },
            Variant {
                rules: None,
                name: "friis",
                doc: "Free space.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "urban-macro",
                doc: "TR 38.901, urban macro cell, with and without line of sight.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "urban-micro",
                doc: "TR 38.901, urban street canyon, with and without line of sight.",
                keys: &[],
            },
        ],
    }),
};

/// Shadowing.
pub(crate) static SHADOWING: Section = Section {
    rules: None,
    noun: "shadowing",
    doc: "Log-normal shadowing, alike at places near each other.",
    keys: &[],
    tag: Some(Tag {
        key: "model",
        default: Some("none"),
        doc: "Where its deviation comes from.",
        variants: &[
            Variant {
                rules: None,
                name: "none",
                doc: "No shadowing.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "path-loss",
                doc: "The deviation that the source of the path loss gives; only urban-macro and urban-micro have one.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "fixed",
                doc: "A deviation of one's own.",
                keys: &[
                    key("deviation", db(0, 30), Required, "Standard deviation."),
                    key(
                        "correlation_distance",
                        Kind::Length { min_um: 1 },
                        Required,
                        "Where the correlation has fallen to 1/e.",
                    ),
                ],
            },
        ],
    }),
};

/// A UE placed by hand.
pub(crate) static UE: Section = Section {
    rules: None,
    noun: "ue",
    doc: "A UE. It stands at `distance` from the eNodeB `near`, or at `x` and `y`, or goes the way of a `trace`.",
    tag: None,
    keys: &[
        key(
            "near",
            Kind::Id,
            Optional,
            "The eNodeB that `distance` counts from.",
        ),
        key(
            "distance",
            DISTANCE,
            Optional,
            "How far from it, at the start.",
        ),
        key(
            "bearing",
            Kind::Angle,
            Optional,
            "In which direction: counter-clockwise from the x axis. Left out: along it.",
        ),
        key("x", POSITION, Optional, "Where it stands at the start."),
        key("y", POSITION, Optional, "Where it stands at the start."),
        key(
            "speed",
            Kind::Speed,
            Optional,
            "How fast it moves; left out, it stands still.",
        ),
        key(
            "heading",
            Kind::OrWord("outward", &Kind::OrWord("inward", &Kind::Angle)),
            Optional,
            "Where to: away from the eNodeB `near`, towards it, or an angle as for `bearing`.",
        ),
        key(
            "until",
            DISTANCE,
            Optional,
            "With \"outward\" or \"inward\": the distance from the eNodeB at which it stops.",
        ),
        key(
            "start",
            TIME,
            Default("\"0 s\""),
            "When it begins to move, on the clock of the flows.",
        ),
        key(
            "trace",
            Kind::Text,
            Optional,
            "Where it is over time, in place of all the above: a CSV of time_s, x_m and y_m, times on the clock of the flows. It goes straight from place to place, and stands still before the first and after the last.",
        ),
        key(
            "serving",
            Kind::Id,
            Optional,
            "The eNodeB that serves it from the start; left out, the one that it receives strongest.",
        ),
        key(
            "channel",
            Kind::Table(&CHANNEL),
            Optional,
            "A trace of what it hears, in place of the model of the radio.",
        ),
    ],
};
