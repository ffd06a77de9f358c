//! Keys of LTE access that refer to the network and to files: how many UEs there are and where, and
//! recorded channels. Those of the radio network stand beside the model.

use super::super::Presence::{Default, Optional};
use super::super::{Key, Kind, Section};
use super::common::{PER_ENODEB, PLACEMENT, POSITION, TIME, UES, key};
use super::traces::{CHANNEL, FADING_TRACE};

const DISTANCE: Kind = Kind::Length { min_um: 0 };

/// The keys of `[access]` with `kind = "lte"`, around those of the model.
pub(super) const KEYS: &[Key] = &[
    UES,
    PLACEMENT,
    PER_ENODEB,
    key(
        "spread",
        DISTANCE,
        Default("\"0 m\""),
        "Each UE stands within ± this of its eNodeB in x and in y, drawn uniformly in every run.",
    ),
    key(
        "ue",
        Kind::Tables(&UE),
        Optional,
        "UEs placed one by one, in place of `ues`; their names are ue1, ue2, ….",
    ),
    key(
        "channel",
        Kind::Table(&CHANNEL),
        Optional,
        "A trace of what every UE hears that has none of its own, in place of the model of the radio.",
    ),
    key(
        "fading_trace",
        Kind::Table(&FADING_TRACE),
        Optional,
        "Fading of all links from a file, in place of the model `fading`.",
    ),
    Key::SLOT,
];

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
