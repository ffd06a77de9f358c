//! Keys of L2.5R.

use super::super::Presence::Default;
use super::super::{Key, Kind};
use super::{SPAN, key, words};

/// The keys of `protocol = "l2.5r"`.
pub(super) const KEYS: &[Key] = &[
    key(
        "allocation",
        words(&["packet", "data+ack", "data", "ack"]),
        Default("\"packet\""),
        "What stays with the neighbour that the first packet of its flow chose, at every node: nothing; data and acknowledgments; only what goes from a flow's source to its destination; only what comes back.",
    ),
    key(
        "burst_gap",
        Kind::OrWord("off", &SPAN),
        Default("\"off\""),
        "Packets that are not pinned choose only when the last one of their flow left longer ago than this, and else follow it; \"off\": every packet chooses.",
    ),
    key(
        "repin_period",
        Kind::OrWord("off", &SPAN),
        Default("\"off\""),
        "A pinned flow chooses anew when its choice is so old; \"off\": never while it is in use.",
    ),
    key(
        "extra_hops",
        Kind::Integer { min: 0, max: 32 },
        Default("2"),
        "A packet may take so many links more than the shortest way from where it enters the backhaul has: 2 opens ways of 4 links beside one of 2. The paper limits them and has no number.",
    ),
    key(
        "deliver_directly",
        Kind::Boolean,
        Default("true"),
        "Whether a packet always goes to its last router where that is a neighbour. Else it may pass through others, as its budget allows.",
    ),
    key(
        "failure_threshold",
        Kind::Integer { min: 1, max: 255 },
        Default("3"),
        "A neighbour to which the link layer gave up so many frames in a row is left out. The paper has no number; one or two are given up where stations collide, too.",
    ),
    key(
        "blacklist",
        SPAN,
        Default("\"5 s\""),
        "For how long; then one packet tries it. The paper has no number: a station that starts again takes seconds.",
    ),
    key(
        "aging",
        Kind::OrWord("off", &SPAN),
        Default("\"10 s\""),
        "Time constant with which the bytes sent to a neighbour are forgotten, so that what was long ago decides nothing; \"off\" keeps them all, as published.",
    ),
    key(
        "flow_idle",
        SPAN,
        Default("\"60 s\""),
        "A pinned flow that was silent for longer than this chooses anew. The paper has no number either; a TCP that retries is seldom silent for a minute.",
    ),
];
