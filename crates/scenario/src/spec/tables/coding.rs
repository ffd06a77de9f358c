//! Network coding below TCP.

use super::super::Presence::Default;
use super::super::{Kind, Section};
use super::{MESSAGE_INTERVAL, key, words};

/// The network coding layer.
pub(crate) static CODING: Section = Section {
    rules: None,
    noun: "coding",
    doc: "Network coding below every TCP flow, from the source to the destination: packets that the network loses are made good without TCP's knowledge, those that the queue of the source's first router drops are not. UDP goes uncoded. The paper (Seferoglu and Modiano) gives no numbers; the defaults are choices.",
    tag: None,
    keys: &[
        key(
            "enabled",
            Kind::Boolean,
            Default("true"),
            "Whether TCP flows are coded; `false` is as if the section were not there.",
        ),
        key(
            "max_generation",
            Kind::Integer { min: 1, max: 255 },
            Default("64"),
            "The most packets that are mixed with each other. A generation takes as many as TCP's \
             congestion window has when it opens, up to this; a byte counts them.",
        ),
        key(
            "request_timer",
            MESSAGE_INTERVAL,
            Default("\"50 ms\""),
            "The shortest silence of a generation after which its missing packets are requested; \
             half the round trip, if that is longer.",
        ),
        key(
            "coefficients",
            words(&["seed", "explicit"]),
            Default("\"seed\""),
            "Whether both ends draw the coefficients from the packet's number, or the header lists \
             them, a byte for each packet mixed.",
        ),
        key(
            "payload",
            Kind::Boolean,
            Default("false"),
            "Whether bytes of application data are made, coded, decoded and compared. It changes no \
             result and costs time.",
        ),
    ],
};
