//! Keys of the impairments of a wire.

use super::super::Presence::{Default, Optional, Required};
use super::super::{Key, Kind, Section};
use super::common::{HOUR_PS, key, words};

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };

/// The model of Gilbert and Elliott.
static BURSTS: Section = Section {
    rules: None,
    noun: "bursts",
    doc: "Losses in bursts, by the model of Gilbert and Elliott (`loss gemodel` of netem): a chain of a good and a bad state, which starts in the good one and steps with each packet.",
    tag: None,
    keys: &[
        key(
            "p",
            SHARE,
            Required,
            "Probability of a step from the good state to the bad one.",
        ),
        key(
            "r",
            SHARE,
            Required,
            "Probability of a step from the bad state to the good one; a stay in the bad state has 1 / r packets on average.",
        ),
        key(
            "loss_good",
            SHARE,
            Default("0.0"),
            "Probability that a packet is lost in the good state; netem's 1 − k.",
        ),
        key(
            "loss_bad",
            SHARE,
            Default("1.0"),
            "Probability that a packet is lost in the bad state; netem's 1 − h.",
        ),
    ],
};

/// The impairments of a direction.
static IMPAIRMENTS: Section = Section {
    rules: None,
    noun: "impairments",
    doc: "What a wire does to packets beside independent losses, as Linux's netem does. Each impairment draws from a random stream of its own.",
    tag: None,
    keys: &[
        key(
            "bursts",
            Kind::Table(&BURSTS),
            Optional,
            "Losses in bursts, beside those of `loss`.",
        ),
        key(
            "jitter",
            Kind::Duration {
                min_ps: 0,
                max_ps: HOUR_PS,
            },
            Default("\"0 s\""),
            "A random part of the delay of each packet, around zero: its largest deviation if uniform, its standard deviation if normal.",
        ),
        key(
            "jitter_law",
            words(&["uniform", "normal"]),
            Default("\"uniform\""),
            "The law of the jitter. The normal one is cut at four standard deviations.",
        ),
        key(
            "in_order",
            Kind::Boolean,
            Default("true"),
            "A packet waits for those before it; if not, jitter lets packets overtake each other.",
        ),
        key(
            "reorder",
            SHARE,
            Default("0.0"),
            "Probability that a packet skips the delay and overtakes those on the wire.",
        ),
        key(
            "duplicate",
            SHARE,
            Default("0.0"),
            "Probability that a packet that is not lost arrives twice.",
        ),
    ],
};

/// The other direction's independent losses.
pub(super) const LOSS_BACK: Key = key(
    "loss_back",
    SHARE,
    Optional,
    "`loss` of the direction from its second end to its first, where it is another one.",
);

pub(super) const IMPAIRMENTS_KEY: Key = key(
    "impairments",
    Kind::Table(&IMPAIRMENTS),
    Optional,
    "Losses in bursts, jitter, reordering and duplicates.",
);

pub(super) const IMPAIRMENTS_BACK: Key = key(
    "impairments_back",
    Kind::Table(&IMPAIRMENTS),
    Optional,
    "Those of the direction from its second end to its first, where they are other ones; an empty table for none.",
);
