//! Keys of attaching, handover and radio link failure.

use super::super::super::Presence::Default;
use super::super::super::{Key, Kind, Section, Tag, Variant};
use super::super::{PS_PER_S, key};
use super::db;

/// Up to a minute.
const TIME: Kind = Kind::Duration {
    min_ps: 0,
    max_ps: 60 * PS_PER_S,
};

const fn time(name: &'static str, default: &'static str, doc: &'static str) -> Key {
    key(name, TIME, Default(default), doc)
}

/// What a UE goes through before its first data.
pub(crate) static ATTACH: Section = Section {
    rules: None,
    noun: "attach",
    doc: "What a UE goes through before its first data.",
    keys: &[],
    tag: Some(Tag {
        key: "procedure",
        default: Some("none"),
        doc: "Whether it takes time.",
        variants: &[
            Variant {
                rules: None,
                name: "none",
                doc: "UEs are connected at the start.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "standard",
                doc: "UEs switch on at the start; packets for them wait.",
                keys: &[
                    time(
                        "system_information_period",
                        "\"80 ms\"",
                        "A UE waits for a share of this that is drawn uniformly.",
                    ),
                    time("random_access", "\"25 ms\"", "Random access."),
                    time(
                        "setup",
                        "\"20 ms\"",
                        "Setting up the connection and the bearer.",
                    ),
                ],
            },
        ],
    }),
};

/// Handover.
pub(crate) static HANDOVER: Section = Section {
    rules: None,
    noun: "handover",
    doc: "When a UE that moves goes to another cell, and what it takes. Packets follow it over the backhaul.",
    keys: &[],
    tag: Some(Tag {
        key: "event",
        default: Some("a3"),
        doc: "What a UE reports for it.",
        variants: &[
            Variant {
                rules: None,
                name: "a3",
                doc: "A neighbour has become better than its own cell.",
                keys: &[
                    key(
                        "offset",
                        db(-15, 15),
                        Default("\"0 dB\""),
                        "How much better the neighbour must be.",
                    ),
                    key(
                        "hysteresis",
                        db(0, 15),
                        Default("\"3 dB\""),
                        "Added to the offset for entering the event, taken off it for leaving.",
                    ),
                    time(
                        "time_to_trigger",
                        "\"256 ms\"",
                        "How long the neighbour must have been better.",
                    ),
                    key(
                        "filter_coefficient",
                        Kind::Integer { min: 0, max: 19 },
                        Default("4"),
                        "k of the filter: a measurement weighs 2^(−k/4).",
                    ),
                    time(
                        "preparation",
                        "\"30 ms\"",
                        "From the report to the command; data flows meanwhile.",
                    ),
                    time(
                        "interruption",
                        "\"45 ms\"",
                        "From the command to data in the new cell.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "none",
                doc: "A UE stays in its cell until its radio link fails.",
                keys: &[],
            },
        ],
    }),
};

/// Radio link monitoring.
pub(crate) static RADIO_LINK: Section = Section {
    rules: None,
    noun: "radio_link",
    doc: "When the radio link of a UE that moves has failed.",
    tag: None,
    keys: &[
        key(
            "measurement_period",
            Kind::Duration {
                min_ps: PS_PER_S / 100,
                max_ps: 60 * PS_PER_S,
            },
            Default("\"200 ms\""),
            "Between two measurements of a UE that moves; 200 ms average fading out.",
        ),
        key(
            "out_of_sync",
            db(-30, 30),
            Default("\"-5 dB\""),
            "Q_out: a SINR below it is out of sync. A cell whose SNR is below it is out of reach.",
        ),
        key(
            "in_sync",
            db(-30, 30),
            Default("\"-3.9 dB\""),
            "Q_in: a SINR above it is in sync.",
        ),
        key(
            "n310",
            Kind::Integer { min: 1, max: 20 },
            Default("6"),
            "Indications out of sync, 10 ms apart, that start T310.",
        ),
        time("t310", "\"1 s\"", "How long a link may be out of sync."),
        key(
            "n311",
            Kind::Integer { min: 1, max: 10 },
            Default("2"),
            "Indications in sync that stop T310.",
        ),
        time(
            "reestablishment",
            "\"200 ms\"",
            "From a failure to data in the cell that the UE finds.",
        ),
    ],
};
