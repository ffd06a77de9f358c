//! Keys of TCP-aware backpressure.

use super::super::Presence::Default;
use super::super::{Key, Kind};
use super::{INTERVAL, MESSAGE_INTERVAL, SPAN, key, words};

/// The keys of `protocol = "tcp-aware-bp"`.
pub(super) const KEYS: &[Key] = &[
    key(
        "buffer_pkts",
        Kind::Integer {
            min: 1,
            max: 1_000_000,
        },
        Default("100"),
        "B: packets that a node holds in all its queues together (the published runs: 100). When one more comes, the last packet of the longest queue is dropped.",
    ),
    key(
        "k",
        Kind::OrWord(
            "auto",
            &Kind::Integer {
                min: 0,
                max: 1_000_000,
            },
        ),
        Default("\"auto\""),
        "K: up to this many packets the flows of a node weigh alike. \"auto\" is the buffer divided by the number of flows that cross the node, as published; 0 is classical backpressure.",
    ),
    key(
        "flow_idle",
        SPAN,
        Default("\"10 s\""),
        "A flow crosses a node until it has had no packet there for this long; the paper has no number.",
    ),
    key(
        "links",
        words(&["all", "simple-paths"]),
        Default("\"simple-paths\""),
        "Links that a flow may take: those on its paths that pass no node twice, or all. The paper's rule has a set of links for each flow and does not say which; over all, packets wander while queues are short.",
    ),
    key(
        "quality",
        words(&["packets", "attempts"]),
        Default("\"attempts\""),
        "What a radio link's failures are counted in: single attempts, which show a bad link whose packets arrive in the end (and collisions), or packets that the MAC gave up.",
    ),
    key(
        "quality_window",
        INTERVAL,
        Default("\"1 s\""),
        "Time over which failures and rates of a radio link are looked at: many frames, and shorter than TCP's patience; the paper has no number.",
    ),
    key(
        "report_idle",
        MESSAGE_INTERVAL,
        Default("\"50 ms\""),
        "A node that sent nothing for this long broadcasts its queues if they have changed: about ten frames of 1000 B at 2 Mbit/s; the paper has no number.",
    ),
    key(
        "report_interval",
        MESSAGE_INTERVAL,
        Default("\"500 ms\""),
        "The same if they have not changed, since a report may be lost.",
    ),
    key(
        "neighbour_hold",
        SPAN,
        Default("\"3 s\""),
        "A neighbour of which nothing was heard for this long is sent nothing: six reports.",
    ),
    key(
        "retry",
        MESSAGE_INTERVAL,
        Default("\"10 ms\""),
        "A node whose packets have nowhere to go looks again after so long: two frames of 1000 B at 2 Mbit/s.",
    ),
    key(
        "ack_priority",
        Kind::Boolean,
        Default("false"),
        "Whether packets of acknowledgment streams go before all others.",
    ),
    key(
        "empty_flows_compete",
        Kind::Boolean,
        Default("false"),
        "Whether flows without a packet take part in the choice, as the rule is written; when one is chosen, nothing is sent until the node looks again.",
    ),
];
