//! Bounds, kinds and keys that several tables share.

use super::super::Presence::{Default, Optional};
use super::super::{Key, Kind, Presence};

const PS_PER_S: u64 = 1_000_000_000_000;
pub(super) const HOUR_PS: u64 = 3_600 * PS_PER_S;
/// The longest run; leaves room for sums in 64 bits.
pub(crate) const LONGEST_PS: u64 = 30 * 24 * HOUR_PS;
/// Shorter intervals would dominate a run's events.
const US_PS: u64 = 1_000_000;
const EXABYTE: u64 = 1_000_000_000_000_000_000;
pub(crate) const MOST_NODES: i64 = 1_000_000;

pub(super) const DELAY: Kind = Kind::Duration {
    min_ps: 0,
    max_ps: HOUR_PS,
};
pub(super) const TIME: Kind = Kind::Duration {
    min_ps: 0,
    max_ps: LONGEST_PS,
};
pub(super) const SPAN: Kind = Kind::Duration {
    min_ps: 1,
    max_ps: LONGEST_PS,
};
pub(super) const INTERVAL: Kind = Kind::Duration {
    min_ps: US_PS,
    max_ps: HOUR_PS,
};
/// Mean of a random time.
pub(super) const MEAN: Kind = Kind::Duration {
    min_ps: US_PS,
    max_ps: LONGEST_PS,
};
pub(super) const SIZE: Kind = Kind::Bytes {
    min: 1,
    max: EXABYTE,
};
pub(super) const COUNT: Kind = Kind::Integer {
    min: 1,
    max: MOST_NODES,
};
pub(super) const POSITION: Kind = Kind::Length { min_um: i64::MIN };
pub(super) const NODE_KINDS: &[&str] = &["enodeb", "epc", "server", "router"];
pub(super) const CONGESTION_CONTROL: Kind = Kind::CongestionControl {
    // The catalogue fills them in.
    words: &[],
    forms: crate::custom::FORMS,
};

pub(super) const fn words(words: &'static [&'static str]) -> Kind {
    Kind::Words {
        words,
        aliases: &[],
    }
}

pub(super) const fn key(
    name: &'static str,
    kind: Kind,
    presence: Presence,
    doc: &'static str,
) -> Key {
    Key {
        name,
        kind,
        presence,
        doc,
    }
}

pub(super) const UES: Key = key(
    "ues",
    Kind::Integer {
        min: 0,
        max: MOST_NODES,
    },
    Optional,
    "Number of UEs; their names are ue1, ue2, …. May be left out beside per_enodeb.",
);

pub(super) const PLACEMENT: Key = key(
    "placement",
    Kind::Words {
        words: &["round-robin", "random"],
        aliases: &[("uniform", "round-robin")],
    },
    Default("\"round-robin\""),
    "Which eNodeB serves which UE: \"round-robin\" (or \"uniform\") puts UE k at eNodeB ((k − 1) mod n) + 1, \"random\" draws it in every run.",
);

pub(super) const PER_ENODEB: Key = key(
    "per_enodeb",
    Kind::Map(&Kind::Integer {
        min: 0,
        max: MOST_NODES,
    }),
    Optional,
    "Number of UEs at each eNodeB named, in place of a placement.",
);

pub(super) const AT_END_DOC: &str = "What follows the end of the trace: it begins again, its last value stays, or nothing comes any more.";
pub(super) const MAX_GAP: Key = key(
    "max_gap",
    SPAN,
    Default("\"10 s\""),
    "The longest time between two rows of a table; more is taken for a hole in the recording.",
);
