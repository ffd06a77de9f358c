//! Keys of AODV.

use super::super::Presence::Default;
use super::super::{Key, Kind};
use super::{SPAN, key, words};

/// The keys of `protocol = "aodv"`.
pub(super) const KEYS: &[Key] = &[
    key(
        "profile",
        words(&["rfc", "ns2"]),
        Default("\"rfc\""),
        "Whose timers and limits: those of RFC 3561 §10, or those of ns-2.35.",
    ),
    key(
        "hello",
        words(&["auto", "on", "off"]),
        Default("\"auto\""),
        "Whether nodes send HELLOs, by which they notice lost neighbours. \"auto\" does where there are wires: over 802.11 the link layer tells. With metric \"etx\" they are sent in any case.",
    ),
    key(
        "local_repair",
        Kind::Boolean,
        Default("true"),
        "Whether the node before a lost link looks for a way round it: with profile \"rfc\" if the destination is at most 10 hops away, with \"ns2\" if it is nearer than the source.",
    ),
    key(
        "buffer_pkts",
        Kind::Integer {
            min: 1,
            max: 1_000_000,
        },
        Default("64"),
        "Packets that wait for routes in one node (ns-2: 64); the oldest makes room for a new one.",
    ),
    key(
        "metric",
        words(&["hops", "etx"]),
        Default("\"hops\""),
        "What is shortest: links, or the expected number of transmissions, measured by HELLOs as probes. With \"etx\" requests go through the whole network, and only the destination answers.",
    ),
    key(
        "quality_window",
        SPAN,
        Default("\"10 s\""),
        "With \"etx\": losses are counted over so long, at least two HELLOs (De Couto et al.: 10 s).",
    ),
];
