//! Keys of the 802.11 radios of the backhaul.
//!
//! A profile sets defaults: `ns2` lists every key whose default is another one there. That these
//! and the defaults here are what `backlane_wifi` means by its two sets, a test in `world` holds.

use backlane_param::changed_defaults;

use super::super::Presence::{Default, Optional, Required, Section as Filled};
use super::super::{Key, Kind, Section, Tag, Variant};
use super::radios::CHANNEL_NUMBER;
use super::{US_PS, key, words};

const POWER: Kind = Kind::Power {
    min_mdbm: -150_000,
    max_mdbm: 100_000,
};
const GAIN: Kind = Kind::Decibels {
    min_mdb: -50_000,
    max_mdb: 100_000,
};
const RATIO: Kind = Kind::Decibels {
    min_mdb: 0,
    max_mdb: 100_000,
};
const OR_OFF: Kind = Kind::OrWord("off", &RATIO);
const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };
const SHORT: Kind = Kind::Duration {
    min_ps: US_PS,
    max_ps: 1_000 * US_PS,
};
const WINDOW: Kind = Kind::Integer {
    min: 0,
    max: 32_767,
};
const RETRIES: Kind = Kind::Integer { min: 1, max: 255 };

/// The radios.
pub(crate) static WIFI: Section = Section {
    rules: None,
    noun: "wifi",
    doc: "The 802.11 radios of the backhaul. Routers and eNodeBs have one radio for each of their channels; links with `medium = \"wifi\"` lead over them.",
    tag: None,
    keys: &[
        key(
            "profile",
            words(&["standard", "ns2"]),
            Default("\"standard\""),
            "Whose behaviour the defaults are: that of the standard, or that of ns-2's Mac/802_11 with its 250 m and 550 m.",
        ),
        key(
            "standard",
            words(&["802.11a", "802.11b", "802.11g", "802.11-dsss"]),
            Default("\"802.11a\""),
            "Rates and times: OFDM at 5 GHz, CCK and DSSS at 2.4 GHz, OFDM at 2.4 GHz without 802.11b beside it, or 802.11b as ns-2 has it, with all control frames at 1 Mbit/s.",
        ),
        key(
            "rate",
            Kind::OrWord("highest", &Kind::Rate),
            Default("\"highest\""),
            "Rate of data frames to one station.",
        ),
        key(
            "basic_rate",
            Kind::OrWord("lowest", &Kind::Rate),
            Default("\"lowest\""),
            "Rate of broadcasts; \"lowest\" is 6 Mbit/s with OFDM and 1 Mbit/s without.",
        ),
        key(
            "control_rate",
            Kind::OrWord("standard", &Kind::Rate),
            Default("\"standard\""),
            "Rate of RTS, CTS and ACK; \"standard\" is the highest mandatory rate that is not above that of the frame that they answer or announce.",
        ),
        key(
            "overhead",
            Kind::Bytes { min: 0, max: 1000 },
            Default("\"36 B\""),
            "What a data frame has beyond the IP packet: MAC header and checksum of 28 bytes (IEEE 802.11), LLC and SNAP of 8 (RFC 1042).",
        ),
        key(
            "rts_threshold",
            Kind::OrWord(
                "off",
                &Kind::Bytes {
                    min: 0,
                    max: 65_535,
                },
            ),
            Default("\"off\""),
            "Frames to one station that are larger, headers included, are announced by RTS and CTS; \"0 B\" announces all.",
        ),
        key(
            "short_retry",
            RETRIES,
            Default("7"),
            "Attempts of a frame within the RTS threshold, and of an RTS (dot11ShortRetryLimit).",
        ),
        key(
            "long_retry",
            RETRIES,
            Default("4"),
            "Attempts of a frame above the RTS threshold (dot11LongRetryLimit).",
        ),
        key(
            "slot",
            Kind::OrWord("standard", &SHORT),
            Default("\"standard\""),
            "Length of a slot: 9 µs with 802.11a, 20 µs with 802.11b.",
        ),
        key(
            "sifs",
            Kind::OrWord("standard", &SHORT),
            Default("\"standard\""),
            "Short interframe space: 16 µs with 802.11a, 10 µs with 802.11b.",
        ),
        key(
            "sensing_delay",
            Kind::OrWord(
                "standard",
                &Kind::Duration {
                    min_ps: 0,
                    max_ps: 1_000 * US_PS,
                },
            ),
            Default("\"standard\""),
            "How long after the beginning of a frame another station may still begin one, since it has not sensed the first.",
        ),
        key(
            "cw_min",
            Kind::OrWord("standard", &WINDOW),
            Default("\"standard\""),
            "First contention window, in slots: 15 with OFDM, 31 with 802.11b.",
        ),
        key(
            "cw_max",
            Kind::OrWord("standard", &WINDOW),
            Default("\"standard\""),
            "Largest contention window, in slots: 1023.",
        ),
        key(
            "preamble",
            words(&["long", "short"]),
            Default("\"long\""),
            "Preamble and header of DSSS and CCK: 192 µs or 96 µs; frames at 1 Mbit/s are always long.",
        ),
        key(
            "eifs",
            Kind::Boolean,
            Default("true"),
            "Whether a frame that could not be decoded is followed by the extended interframe space.",
        ),
        key(
            "queue",
            Kind::Queue(&super::QUEUE),
            Default("\"100 packets\""),
            "The queue before each radio.",
        ),
        key(
            "routing_first",
            Kind::Boolean,
            Default("false"),
            "Whether routing messages have a queue of their own before each radio, served first.",
        ),
        key(
            "promiscuous",
            Kind::Boolean,
            Default("true"),
            "Whether messages that ride on data frames for others are heard.",
        ),
        key(
            "power",
            POWER,
            Default("\"16 dBm\""),
            "Transmit power of a radio: 40 mW.",
        ),
        key(
            "antenna_gain",
            GAIN,
            Default("\"0 dB\""),
            "Gain of each antenna, in all directions.",
        ),
        key(
            "antenna_height",
            Kind::Length { min_um: 1 },
            Default("\"1.5 m\""),
            "Height of the antennas.",
        ),
        key(
            "frequency",
            Kind::OrWord(
                "standard",
                &Kind::Frequency {
                    min_hz: 100_000_000,
                    max_hz: 100_000_000_000,
                },
            ),
            Default("\"standard\""),
            "Carrier frequency for path loss; \"standard\" is 5.18 GHz with 802.11a and 2.437 GHz else.",
        ),
        key(
            "path_loss",
            Kind::TableOrTag(&PATH_LOSS),
            Filled,
            "Loss over distance.",
        ),
        key(
            "fading",
            Kind::TableOrTag(&FADING),
            Filled,
            "Fading, drawn for each frame and receiver.",
        ),
        key(
            "reception",
            Kind::TableOrTag(&RECEPTION),
            Filled,
            "When a frame is decoded.",
        ),
        key(
            "recapture",
            OR_OFF,
            Default("\"off\""),
            "A receiver leaves the frame that it receives for a later one that is so much stronger than all else on the channel; not with reception \"pairwise\".",
        ),
        key(
            "carrier_sense",
            POWER,
            Default("\"-82 dBm\""),
            "What is received with at least so much makes the channel busy.",
        ),
        key(
            "channels",
            Kind::List(&CHANNEL_NUMBER),
            Default("[1]"),
            "The channels of every node that has none of its own, with a radio on each. Different channels do not hear each other.",
        ),
        key(
            "neighbours",
            words(&["listed", "in-range"]),
            Default("\"listed\""),
            "Who is linked: the links of the topology with `medium = \"wifi\"`, or besides them all pairs on a common channel that decode each other's frames at least once in a hundred without interference.",
        ),
        key(
            "loss",
            SHARE,
            Optional,
            "Probability that an attempt on a lossy link is lost. Given, all listed links work whatever their length, and those that are not lossy lose nothing but by collisions.",
        ),
        key(
            "lossy_links",
            Kind::OneOrMany(&Kind::Text),
            Default("\"all\""),
            "Which listed links are lossy: \"all\", or links \"a-b\".",
        ),
        key(
            "lossy_share",
            SHARE,
            Default("1.0"),
            "So many of them are, drawn in every run.",
        ),
        key(
            "control_loss",
            Kind::Boolean,
            Default("false"),
            "Whether RTS, CTS and ACK of a lossy link are lost as its data is.",
        ),
    ],
};

/// A law of path loss.
pub(crate) static PATH_LOSS: Section = Section {
    rules: None,
    noun: "path_loss",
    doc: "A law of path loss.",
    keys: &[],
    tag: Some(Tag {
        key: "model",
        default: Some("log-distance"),
        doc: "The law.",
        variants: &[
            Variant {
                rules: None,
                name: "log-distance",
                doc: "A power of the distance.",
                keys: &[
                    key(
                        "exponent",
                        Kind::Number { min: 1.0, max: 8.0 },
                        Default("3.0"),
                        "2 is free space, 3 to 4 a city.",
                    ),
                    key(
                        "reference_distance",
                        Kind::Length { min_um: 1 },
                        Default("\"1 m\""),
                        "Where the loss is known.",
                    ),
                    key(
                        "reference_loss",
                        Kind::OrWord(
                            "free-space",
                            &Kind::Decibels {
                                min_mdb: 0,
                                max_mdb: 300_000,
                            },
                        ),
                        Default("\"free-space\""),
                        "The loss there; \"free-space\" is that of free space over the reference distance.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "two-ray",
                doc: "Free space up to the distance 4π·h²/λ, where the ray that the ground reflects begins to cancel the direct one; beyond it the fourth power of the distance.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "friis",
                doc: "Free space.",
                keys: &[],
            },
        ],
    }),
};

/// Fading of frames.
pub(crate) static FADING: Section = Section {
    rules: None,
    noun: "fading",
    doc: "Fading of the received power, drawn anew for each frame and receiver.",
    keys: &[],
    tag: Some(Tag {
        key: "model",
        default: Some("none"),
        doc: "The distribution.",
        variants: &[
            Variant {
                rules: None,
                name: "none",
                doc: "No fading.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "rayleigh",
                doc: "No path is stronger than the others: the power is exponential.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "nakagami",
                doc: "The power has a gamma distribution.",
                keys: &[key(
                    "m",
                    Kind::Number {
                        min: 0.5,
                        max: 100.0,
                    },
                    Required,
                    "Its shape: 1 is Rayleigh, more is less fading.",
                )],
            },
        ],
    }),
};

/// When a frame is decoded.
pub(crate) static RECEPTION: Section = Section {
    rules: None,
    noun: "reception",
    doc: "When a frame is decoded.",
    keys: &[],
    tag: Some(Tag {
        key: "model",
        default: Some("error-rate"),
        doc: "What decides.",
        variants: &[
            Variant {
                rules: None,
                name: "error-rate",
                doc: "The error probability at the frame's rate and its ratio of signal to interference and noise.",
                keys: &[
                    key(
                        "sensitivity",
                        POWER,
                        Default("\"-82 dBm\""),
                        "The least power at which a preamble is found.",
                    ),
                    key(
                        "noise_figure",
                        Kind::Decibels {
                            min_mdb: 0,
                            max_mdb: 40_000,
                        },
                        Default("\"7 dB\""),
                        "Noise figure of the receivers.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "threshold",
                doc: "The frame's power, at all rates alike.",
                keys: &[
                    SENSITIVITY,
                    key(
                        "capture",
                        OR_OFF,
                        Default("\"off\""),
                        "A frame that is so much stronger than all else on the channel together is decoded; \"off\": only one that has the channel for itself.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "pairwise",
                doc: "ns-2's rule: a station takes up the first frame that it senses and loses it if another comes that is not so much weaker; the later one is lost in any case.",
                keys: &[
                    SENSITIVITY,
                    key("capture", RATIO, Default("\"10 dB\""), "How much."),
                ],
            },
        ],
    }),
};

const SENSITIVITY: Key = key("sensitivity", POWER, Required, "The least power.");

changed_defaults! {
    /// What ns-2.35 does otherwise (its tcl/lib/ns-default.tcl), tags first.
    pub(crate) fn ns2() = "ns2" {
        standard = "802.11-dsss".to_owned();
        // The radio that these thresholds are of, WaveLAN at 914 MHz, sends 2 Mbit/s.
        rate = "2 Mbit/s".to_owned();
        overhead = "28 B".to_owned();
        rts_threshold = "0 B".to_owned();
        // 0.28183815 W.
        power = "24.5 dBm".to_owned();
        frequency = "914 MHz".to_owned();
        path_loss.model = "two-ray".to_owned();
        // 3.652e-10 W: 250 m, and 1.559e-11 W: 550 m.
        reception.model = "pairwise".to_owned();
        reception.sensitivity = "-64.375 dBm".to_owned();
        carrier_sense = "-78.072 dBm".to_owned();
        queue = "50 packets".to_owned();
        // Queue/DropTail/PriQueue with Prefer_Routing_Protocols, as its wireless scripts have it.
        routing_first = true;
    }
}
