//! Keys of RLC and PDCP.

use super::super::super::Presence::{Default, Section as Filled};
use super::super::super::{Key, Kind, Section, Tag, Variant};
use super::super::network::{CODEL_INTERVAL, CODEL_TARGET};
use super::super::{PS_PER_S, key, words};

/// Timers of RLC: up to a minute.
const TIMER: Kind = Kind::Duration {
    min_ps: PS_PER_S / 1000,
    max_ps: 60 * PS_PER_S,
};

const REORDERING: Key = key(
    "t_reordering",
    TIMER,
    Default("\"35 ms\""),
    "How long a missing PDU is waited for; HARQ with four transmissions spans 32 ms.",
);

/// Radio link control.
pub(crate) static RLC: Section = Section {
    rules: None,
    noun: "rlc",
    doc: "Radio link control (TS 36.322).",
    keys: &[
        key(
            "buffer",
            Kind::Buffer,
            Default("\"750 packets\""),
            "What may wait for its first transmission in one direction; what does not fit is dropped on arrival.",
        ),
        key(
            "aqm",
            Kind::TableOrTag(&AQM),
            Filled,
            "Active queue management of what waits.",
        ),
        key(
            "one_pdu_per_block",
            Kind::Boolean,
            Default("false"),
            "At most one PDU in a transport block, or else as many as fit.",
        ),
    ],
    tag: Some(Tag {
        key: "mode",
        default: Some("am"),
        doc: "Whether what HARQ lost is sent again.",
        variants: &[
            Variant {
                rules: None,
                name: "am",
                doc: "Acknowledged mode.",
                keys: &[
                    key(
                        "poll_pdus",
                        Kind::OrWord(
                            "infinite",
                            &Kind::Integer {
                                min: 1,
                                max: 1_000_000,
                            },
                        ),
                        Default("32"),
                        "New PDUs after which the next one polls.",
                    ),
                    key(
                        "poll_bytes",
                        Kind::OrWord(
                            "infinite",
                            &Kind::Bytes {
                                min: 1,
                                max: 1_000_000_000,
                            },
                        ),
                        Default("\"125 kB\""),
                        "New bytes after which the next PDU polls.",
                    ),
                    key(
                        "t_poll_retransmit",
                        TIMER,
                        Default("\"45 ms\""),
                        "How long an answer to a poll is waited for.",
                    ),
                    key(
                        "poll_retransmission",
                        words(&["newest", "all"]),
                        Default("\"newest\""),
                        "What is sent then if nothing else waits: the newest PDU, or all that are not acknowledged.",
                    ),
                    REORDERING,
                    key(
                        "t_status_prohibit",
                        Kind::Duration {
                            min_ps: 0,
                            max_ps: 60 * PS_PER_S,
                        },
                        Default("\"20 ms\""),
                        "Shortest time from one status report to the next.",
                    ),
                    key(
                        "max_retransmissions",
                        Kind::OrWord("infinite", &Kind::Integer { min: 1, max: 1000 }),
                        Default("32"),
                        "Retransmissions of a PDU before the radio link has failed.",
                    ),
                    key(
                        "resegmentation",
                        Kind::Boolean,
                        Default("true"),
                        "A PDU that no longer fits is retransmitted in segments, or else waits for a larger grant.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "um",
                doc: "Unacknowledged mode.",
                keys: &[
                    key(
                        "sequence_number",
                        words(&["5 bits", "10 bits"]),
                        Default("\"10 bits\""),
                        "Its length, which sets the header and the window.",
                    ),
                    REORDERING,
                ],
            },
        ],
    }),
};

/// Active queue management of an RLC buffer.
pub(crate) static AQM: Section = Section {
    rules: None,
    noun: "aqm",
    doc: "Active queue management of an RLC buffer.",
    keys: &[],
    tag: Some(Tag {
        key: "discipline",
        default: Some("none"),
        doc: "What it drops and when.",
        variants: &[
            Variant {
                rules: None,
                name: "none",
                doc: "Nothing.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "codel",
                doc: "Controlled delay (RFC 8289).",
                keys: &[CODEL_TARGET, CODEL_INTERVAL],
            },
        ],
    }),
};

/// Packet data convergence.
pub(crate) static PDCP: Section = Section {
    rules: None,
    noun: "pdcp",
    doc: "Packet data convergence (TS 36.323).",
    tag: None,
    keys: &[
        key(
            "sequence_number",
            words(&["7 bits", "12 bits"]),
            Default("\"12 bits\""),
            "Its length: a header of one byte or of two.",
        ),
        key(
            "discard_timer",
            Kind::OrWord("infinite", &TIMER),
            Default("\"infinite\""),
            "A packet of which nothing was sent after this time is discarded.",
        ),
    ],
};
