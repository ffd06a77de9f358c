//! Keys of the assignment of channels, rates and flow rates.

use super::super::Presence::{Default, Optional, Required, Section as Filled};
use super::super::{Key, Kind, Section, Tag, Variant};
use super::{key, wifi, words};

const FLOW_RATE_KIND: Kind = Kind::OrWord("none", &Kind::Rate);

/// The flow rate of a link.
pub(super) const FLOW_RATE: Key = key(
    "flow_rate",
    FLOW_RATE_KIND,
    Optional,
    "L2.5R sends over links in proportion to it; \"none\" is not used. Either every link between routers has one, or none and all are alike.",
);

/// The flow rate of a link's other direction.
pub(super) const FLOW_RATE_BACK: Key = key(
    "flow_rate_back",
    FLOW_RATE_KIND,
    Optional,
    "That of the direction from its second end to its first, where it is another one.",
);

/// The radios of a node.
pub(super) const RADIOS: Key = key(
    "radios",
    Kind::Integer { min: 0, max: 64 },
    Optional,
    "Its 802.11 radios, in place of those that [assignment] says for every node.",
);

/// The assignment.
pub(crate) static ASSIGNMENT: Section = Section {
    rules: None,
    noun: "assignment",
    doc: "Gives the links over 802.11 their channels, rates and flow rates before the run.",
    tag: None,
    keys: &[
        key(
            "channels",
            words(&["given", "fcra"]),
            Default("\"given\""),
            "Whether nodes and links say the channels, or the flow-based channel and rate assignment (FCRA) finds them.",
        ),
        key(
            "available",
            Kind::List(&wifi::CHANNEL_NUMBER),
            Default("[1, 2, 3]"),
            "The channels that FCRA may use. Different channels do not hear each other; 802.11b and 802.11g have three that do not overlap.",
        ),
        key(
            "radios",
            Kind::Integer { min: 1, max: 64 },
            Default("2"),
            "Radios of every node that does not say how many it has, for FCRA.",
        ),
        key(
            "rates",
            words(&["fixed", "adjusted"]),
            Default("\"fixed\""),
            "Whether links keep their rates, or FCRA lowers a rate where that makes fewer links disturb each other.",
        ),
        key(
            "flow_rates",
            words(&["throughput", "equal", "paths", "given"]),
            Default("\"throughput\""),
            "Where the flow rates of the links come from: a linear program that gives the worst demand as much as possible and then all of them together; all links alike; the number of paths of the demands over each; or the links' own `flow_rate`.",
        ),
        key(
            "demands",
            Kind::Tables(&DEMAND),
            Optional,
            "Who sends to whom. Left out, the ends of the flows, each pair once.",
        ),
        key(
            "ack_share",
            Kind::Number { min: 0.0, max: 1.0 },
            Default("0.05"),
            "What goes back for a TCP flow, as a share of what goes there. With 60 bytes for every second or every packet of 1500 it is 0.03 to 0.06 of the bytes on the air.",
        ),
        key(
            "extra_hops",
            Kind::Integer { min: 0, max: 8 },
            Default("1"),
            "Paths are at most so many links longer than the shortest.",
        ),
        key(
            "interference",
            Kind::TableOrTag(&INTERFERENCE),
            Filled,
            "Which links of a channel cannot be used at the same time.",
        ),
        key(
            "scale",
            Kind::Number { min: 0.0, max: 1.0 },
            Optional,
            "Written out in a resolved scenario: what all flow rates were multiplied by so that they fit on the channels. Where it stands, nodes and links say all that was found, and nothing is computed.",
        ),
    ],
};

/// Who sends to whom.
pub(crate) static DEMAND: Section = Section {
    rules: None,
    noun: "demand",
    doc: "Who sends to whom.",
    tag: None,
    keys: &[
        key("from", Kind::Id, Required, "Where it begins."),
        key("to", Kind::Id, Required, "Where it ends."),
        key(
            "rate",
            Kind::Rate,
            Optional,
            "What must fit; left out, as much as does.",
        ),
    ],
};

/// Which links of a channel cannot be used at the same time.
pub(crate) static INTERFERENCE: Section = Section {
    rules: None,
    noun: "interference",
    doc: "Which links of a channel cannot be used at the same time.",
    keys: &[],
    tag: Some(Tag {
        key: "model",
        default: Some("hops"),
        doc: "What decides.",
        variants: &[
            Variant {
                rules: None,
                name: "hops",
                doc: "Links whose ends are near each other in the network.",
                keys: &[key(
                    "hops",
                    Kind::Integer { min: 1, max: 16 },
                    Default("2"),
                    "Two links disturb each other when fewer hops than this lie between their nearest ends. 1: links with a common end; 2: also those with neighbouring ends, which is as far as RTS and CTS reach.",
                )],
            },
            Variant {
                rules: None,
                name: "sinr",
                doc: "Links whose senders disturb each other's receivers at their rates, by distance.",
                keys: &[key(
                    "exponent",
                    Kind::Number { min: 1.0, max: 8.0 },
                    Default("3.0"),
                    "Power of the distance with which a signal weakens.",
                )],
            },
            Variant {
                rules: None,
                name: "all",
                doc: "All links of a channel.",
                keys: &[],
            },
        ],
    }),
};
