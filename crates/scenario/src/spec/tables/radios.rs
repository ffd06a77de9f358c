//! Keys of nodes with 802.11 radios and of links over them.

use super::super::Presence::Optional;
use super::super::{Key, Kind};
use super::common::key;

/// Channel numbers of 802.11 in all bands up to 5 GHz.
pub(super) const CHANNEL_NUMBER: Kind = Kind::Integer { min: 1, max: 196 };
const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };
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

/// The keys of a link over 802.11.
pub(super) const LINK_KEYS: &[Key] = &[
    key(
        "channel",
        Kind::OrWord("none", &CHANNEL_NUMBER),
        Optional,
        "Its channel; left out, the first of one end's channels that the other has too. \"none\" is a link that is not there, since an assignment left no radios for it.",
    ),
    key(
        "rate",
        Kind::Rate,
        Optional,
        "Rate of its data frames, in place of that of [wifi].",
    ),
    key(
        "loss",
        SHARE,
        Optional,
        "Probability that an attempt is lost, in place of propagation: the link then works regardless of its length. Left out, that of [wifi], or propagation decides.",
    ),
    FLOW_RATE,
    FLOW_RATE_BACK,
];
