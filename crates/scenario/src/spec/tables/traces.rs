//! Keys of recorded traces.

use super::super::Presence::{Default, Optional, Required};
use super::super::{Key, Kind, Section};
use super::common::{AT_END_DOC, DELAY, MAX_GAP, PER_ENODEB, PLACEMENT, SPAN, UES, key, words};

/// An access network of kind "trace".
pub(super) static KEYS: &[Key] = &[
    key(
        "downlink",
        Kind::OneOrMany(&Kind::Text),
        Required,
        "A file with what can be carried to the UEs: one for all, or a list whose first is that of the first UE (or eNodeB) and which begins again at its end. Either the lines of mahimahi, or a table with time_s and rate_bps, as CSV or Parquet.",
    ),
    key(
        "uplink",
        Kind::OneOrMany(&Kind::Text),
        Required,
        "The same from the UEs.",
    ),
    key(
        "per",
        words(&["ue", "enodeb"]),
        Default("\"ue\""),
        "Whether each UE has the link to itself, or the UEs of an eNodeB share it.",
    ),
    key(
        "at_end",
        words(&["repeat", "hold", "stop"]),
        Required,
        AT_END_DOC,
    ),
    key(
        "delay",
        DELAY,
        Default("\"10 ms\""),
        "One-way delay after the link; about what LTE adds.",
    ),
    key(
        "queue",
        Kind::Queue(&super::QUEUE),
        Default("\"375 kB\""),
        "The queue before each direction of a link, in bytes or packets (BP-MR paper: RLC buffer of 375 000 B).",
    ),
    MAX_GAP,
    UES,
    PLACEMENT,
    PER_ENODEB,
];

/// A trace of what a UE's receiver hears.
pub(crate) static CHANNEL: Section = Section {
    rules: None,
    noun: "channel",
    doc: "A trace of what UEs hear from the cell that serves them, on all carriers, in place of path loss, fading and interference of the downlink: a table with the column time_s and one more, as CSV or Parquet. A recorded series/radio.parquet can be named as it is.",
    tag: None,
    keys: &[
        key(
            "sinr",
            Kind::Text,
            Optional,
            "A file with the column sinr_db.",
        ),
        key(
            "cqi",
            Kind::Text,
            Optional,
            "A file with the column cqi: what the UE reports.",
        ),
        key(
            "fading",
            Kind::Boolean,
            Default("false"),
            "The SINR is a mean over fading, and the fading of the access is on top of it; if not, the trace has the fading in it.",
        ),
        key(
            "at_end",
            words(&["repeat", "hold", "stop"]),
            Required,
            AT_END_DOC,
        ),
        key(
            "entity",
            Kind::Text,
            Optional,
            "Where the file has a column entity: whose rows to take, such as \"ue1\".",
        ),
        key(
            "run",
            Kind::Text,
            Optional,
            "Where the file has a column run_id: of which run.",
        ),
        MAX_GAP,
    ],
};

/// A trace of fading.
pub(crate) static FADING_TRACE: Section = Section {
    rules: None,
    noun: "fading_trace",
    doc: "Fading as ns-3's LENA reads it: a text with one line of numbers for each resource block, from the lowest frequency on, in decibels, one number for each millisecond. Each link, of a UE and its cell in one direction, plays a window from an offset of its own, drawn at random; all windows end together, at multiples of their length.",
    tag: None,
    keys: &[
        key("file", Kind::Text, Required, "The file."),
        key(
            "window",
            SPAN,
            Default("\"500 ms\""),
            "The length of a window, in whole milliseconds (ns-3's WindowSize).",
        ),
    ],
};

/// The content of a trace.
pub(crate) static TRACE: Section = Section {
    rules: None,
    noun: "trace",
    doc: "A trace. Where it is missing, the file is read.",
    tag: None,
    keys: &[
        key(
            "file",
            Kind::Text,
            Required,
            "The file, as the scenario names it.",
        ),
        key(
            "of",
            words(&["capacity", "sinr", "cqi", "way", "fading"]),
            Required,
            "What is taken of it.",
        ),
        key(
            "entity",
            Kind::Text,
            Optional,
            "Whose rows, where the scenario says so.",
        ),
        key(
            "run",
            Kind::Text,
            Optional,
            "Of which run, where the scenario says so.",
        ),
        key("source", Kind::Content, Required, "What the file holds."),
    ],
};
