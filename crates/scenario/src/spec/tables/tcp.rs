//! Keys of the TCP endpoints.
//!
//! The profile is the tag of the section, so that each profile has the same keys with defaults of
//! its own. That these are what `backlane_tcp` means by the profile, a test in `world` holds. The
//! tables of the congestion controls come from the catalogue.

use super::super::Presence::{Default, Optional};
use super::super::{Key, Kind, Section, Tag, Variant};
use super::{CONGESTION_CONTROL, EXABYTE, INTERVAL, key, words};

/// RR-TCP.
pub(crate) static RR: Section = Section {
    rules: None,
    noun: "tcp.rr",
    doc: "RR-TCP (reordering = \"rr\"): a threshold from how late segments were.",
    tag: None,
    keys: &[
        key(
            "avoided",
            Kind::Number { min: 0.0, max: 1.0 },
            Default("0.9"),
            "The share of late segments that shall not be taken for lost, at the beginning.",
        ),
        key(
            "step",
            Kind::Number { min: 0.0, max: 1.0 },
            Default("0.01"),
            "How much that share moves for a mistake that cost one window of packets; 0 holds it.",
        ),
    ],
};

/// TCP-PR.
pub(crate) static PR: Section = Section {
    rules: None,
    noun: "tcp.pr",
    doc: "TCP-PR (reordering = \"pr\"): a segment is lost when its deadline has passed.",
    tag: None,
    keys: &[
        key(
            "alpha",
            Kind::Number { min: 0.5, max: 1.0 },
            Default("0.995"),
            "What is left of the envelope of the RTT after one RTT without a higher sample.",
        ),
        key(
            "beta",
            Kind::Number {
                min: 1.0,
                max: 100.0,
            },
            Default("3.0"),
            "The deadline in envelopes.",
        ),
    ],
};

/// The TCP endpoints.
pub(crate) static TCP: Section = Section {
    rules: None,
    noun: "tcp",
    doc: "The TCP endpoints, and in a table for each congestion control its parameters ([tcp.cubic], …). A resolved scenario has the tables of what its flows use or the file names.",
    tag: Some(Tag {
        key: "profile",
        default: Some("linux"),
        doc: "Whose behaviour the defaults are.",
        variants: &[
            Variant {
                rules: None,
                name: "linux",
                doc: "Linux 6.1.",
                keys: &LINUX,
            },
            Variant {
                rules: None,
                name: "ns3",
                doc: "ns-3 as it comes, except for the segment size, which is 536 bytes there.",
                keys: &NS3,
            },
        ],
    }),
    keys: &[
        key(
            "congestion_control",
            CONGESTION_CONTROL,
            Default("\"cubic\""),
            "The congestion control, by its Linux name; a class in a Python file, whose path \
             counts from the folder of the scenario; or one that the running program brings.",
        ),
        key(
            "mss",
            Kind::Bytes {
                min: 88,
                max: 65_495,
            },
            Default("\"1448 B\""),
            "Payload of a full segment.",
        ),
        key(
            "initial_window_pkts",
            Kind::Integer {
                min: 1,
                max: 10_000,
            },
            Default("10"),
            "Initial congestion window (RFC 6928).",
        ),
        key(
            "initial_ssthresh_pkts",
            Kind::OrWord(
                "infinite",
                &Kind::Integer {
                    min: 2,
                    max: 1_000_000_000,
                },
            ),
            Default("\"infinite\""),
            "Initial slow-start threshold.",
        ),
        key(
            "initial_rto",
            INTERVAL,
            Default("\"1 s\""),
            "Retransmission timeout before the first RTT sample (RFC 6298 §2.1).",
        ),
        key(
            "max_rto",
            INTERVAL,
            Default("\"120 s\""),
            "Upper bound of the retransmission timeout.",
        ),
        key(
            "syn_retries",
            Kind::Integer { min: 0, max: 127 },
            Default("6"),
            "How often a SYN is sent again.",
        ),
        key(
            "retries",
            Kind::Integer { min: 1, max: 1000 },
            Default("15"),
            "Timeouts in a row before a connection fails.",
        ),
        key(
            "delayed_ack_segments",
            Kind::Integer { min: 1, max: 255 },
            Default("2"),
            "Segments acknowledged together; 1 acknowledges each at once (RFC 1122 §4.2.3.2).",
        ),
        key(
            "delayed_ack_max",
            INTERVAL,
            Default("\"200 ms\""),
            "Longest wait of an acknowledgement; equal to delayed_ack_min for a fixed one.",
        ),
        key(
            "sack",
            Kind::Boolean,
            Default("true"),
            "Selective acknowledgements (RFC 2018). Without them reordering is \"fixed\", and there is no probe and no F-RTO.",
        ),
        key(
            "timestamps",
            Kind::Boolean,
            Default("true"),
            "Timestamps (RFC 7323).",
        ),
        key(
            "timestamp_tick",
            Kind::Duration {
                min_ps: 1_000_000,
                max_ps: 1_000_000_000_000,
            },
            Default("\"1 ms\""),
            "One tick of the clock of the timestamps, which PAWS and the undo by timestamps see: 1 ms in Linux 6.1, 1/HZ before 4.13 (\"4 ms\" for HZ = 250). RFC 7323 allows up to 1 s.",
        ),
        key(
            "limited_transmit",
            Kind::Boolean,
            Default("true"),
            "Limited transmit (RFC 3042).",
        ),
        key(
            "duplicate_threshold",
            Kind::Integer { min: 1, max: 255 },
            Default("3"),
            "Duplicate acknowledgements that start a recovery.",
        ),
        key(
            "ecn",
            words(&["off", "classic", "exact"]),
            Default("\"off\""),
            "Congestion marks: not asked for, echoed until the sender has reduced its window (RFC 3168), or echoed one by one (RFC 8257 §3.2).",
        ),
        key(
            "receive_autotuning_max",
            Kind::OrWord("off", &RECEIVE_WINDOW),
            Default("\"off\""),
            "What receive_buffer may grow to when a round trip brings enough data, as Linux tunes it (half of the third value of tcp_rmem).",
        ),
        key("rr", Kind::Table(&RR), Optional, RR.doc),
        key("pr", Kind::Table(&PR), Optional, PR.doc),
    ],
};

/// RFC 7323 §2.3 allows windows of 1 GiB.
const RECEIVE_WINDOW: Kind = Kind::Bytes {
    min: 2048,
    max: 1 << 30,
};

static LINUX: [Key; 13] = keys(0);
static NS3: [Key; 13] = keys(1);

/// The keys whose defaults a profile sets.
const fn keys(profile: usize) -> [Key; 13] {
    [
        key(
            "rto",
            words(&["linux", "rfc6298"]),
            Default(["\"linux\"", "\"rfc6298\""][profile]),
            "Whether min_rto bounds the variance term, as in Linux, or the whole timeout (RFC 6298 §2.4).",
        ),
        key(
            "min_rto",
            INTERVAL,
            Default(["\"200 ms\"", "\"1 s\""][profile]),
            "Lower bound of the retransmission timeout.",
        ),
        key(
            "delayed_ack_min",
            INTERVAL,
            Default(["\"40 ms\"", "\"200 ms\""][profile]),
            "Shortest wait of an acknowledgement for the next segment; Linux adapts it to the arrivals.",
        ),
        key(
            "quick_ack",
            Kind::Boolean,
            Default(["true", "false"][profile]),
            "Whether the first segments of a connection are acknowledged at once.",
        ),
        key(
            "sack_compression",
            Kind::Boolean,
            Default(["true", "false"][profile]),
            "Whether duplicate acknowledgements of a hole are merged, as Linux does.",
        ),
        key(
            "paws",
            Kind::Boolean,
            Default(["true", "false"][profile]),
            "Whether what left more than a timestamp_tick before the newest data in order is refused (PAWS, RFC 7323); needs timestamps.",
        ),
        key(
            "reordering",
            words(&[
                "fixed",
                "linux-legacy",
                "rack",
                "ncr-careful",
                "ncr-aggressive",
                "rr",
                "pr",
            ]),
            Default(["\"rack\"", "\"fixed\""][profile]),
            "How much reordering is borne: a fixed threshold (RFC 6675), Linux of 2008 to 2011 (a threshold that grows), RACK as in Linux 6.1 (RFC 8985), TCP-NCR (RFC 4653), careful or aggressive, RR-TCP, or TCP-PR, which has deadlines and no threshold.",
        ),
        key(
            "tail_loss_probe",
            Kind::Boolean,
            Default(["true", "false"][profile]),
            "Whether the tail of a flight is probed before the timeout (RFC 8985 §7).",
        ),
        key(
            "frto",
            Kind::Boolean,
            Default(["true", "false"][profile]),
            "Whether needless timeouts are recognised (F-RTO, RFC 5682); not with reordering = \"fixed\", which undoes nothing.",
        ),
        key(
            "receive_buffer",
            RECEIVE_WINDOW,
            Default(["\"6 MiB\"", "\"131072 B\""][profile]),
            "Receive window offered; RFC 7323 §2.3 allows 1 GiB.",
        ),
        key(
            "initial_receive_window",
            RECEIVE_WINDOW,
            Default(["\"65535 B\"", "\"131072 B\""][profile]),
            "Receive window offered at first; it grows by two segments for each that arrives.",
        ),
        key(
            "send_buffer",
            Kind::OrWord(
                "unlimited",
                &Kind::Bytes {
                    min: 2048,
                    max: EXABYTE,
                },
            ),
            Default(["\"unlimited\"", "\"131072 B\""][profile]),
            "Most bytes sent and not yet acknowledged.",
        ),
        key(
            "slow_start_after_idle",
            Kind::Boolean,
            Default(["true", "false"][profile]),
            "Whether an idle connection shrinks its window (RFC 2861).",
        ),
    ]
}
