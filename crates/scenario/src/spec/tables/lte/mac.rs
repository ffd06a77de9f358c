//! Keys of the scheduler, of link adaptation, HARQ and the uplink.

use super::super::super::Presence::Default;
use super::super::super::{Kind, Section, Tag, Variant};
use super::super::{key, words};
use super::{POWER, db, ms};

/// The downlink scheduler.
pub(crate) static SCHEDULER: Section = Section {
    rules: None,
    noun: "scheduler",
    doc: "The downlink scheduler.",
    keys: &[
        key(
            "max_ues",
            Kind::Integer { min: 1, max: 255 },
            Default("10"),
            "Most UEs with new data in one subframe, cell and carrier; the control region limits them further.",
        ),
        key(
            "counts",
            words(&["acknowledged", "sent"]),
            Default("\"acknowledged\""),
            "What the averages of proportional fair and blind equal throughput count.",
        ),
        key(
            "worst_rbg_mcs",
            Kind::Boolean,
            Default("false"),
            "With sub-band reports, whether the MCS follows from the worst resource block group (round robin then goes by the wideband report), or else from the mean information.",
        ),
    ],
    tag: Some(Tag {
        key: "rule",
        default: Some("proportional-fair"),
        doc: "Who is served next.",
        variants: &[
            Variant {
                rules: None,
                name: "proportional-fair",
                doc: "The highest ratio of possible rate to average throughput.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "round-robin",
                doc: "Equal shares in turn.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "max-cqi",
                doc: "The highest possible rate.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "blind-equal-throughput",
                doc: "The lowest average throughput.",
                keys: &[],
            },
        ],
    }),
};

/// Channel quality reports.
pub(crate) static CQI: Section = Section {
    rules: None,
    noun: "cqi",
    doc: "Channel quality reports.",
    tag: None,
    keys: &[
        key(
            "period",
            ms(1, 160),
            Default("\"5 ms\""),
            "Time between two reports of a UE.",
        ),
        key(
            "delay",
            ms(1, 100),
            Default("\"6 ms\""),
            "From the subframe that is measured until the scheduler knows.",
        ),
        key(
            "sub_band",
            Kind::Boolean,
            Default("false"),
            "Reports for each resource block group beside the wideband one.",
        ),
    ],
};

/// Link adaptation.
pub(crate) static ADAPTATION: Section = Section {
    rules: None,
    noun: "adaptation",
    doc: "How an MCS follows from the channel.",
    tag: None,
    keys: &[
        key(
            "rule",
            words(&["effective-information", "lena-mi", "lena-piro"]),
            Default("\"effective-information\""),
            "How a UE finds the CQI that it reports: from the mean mutual information over all resource blocks (TS 36.213 §7.2.3), or as LENA's MiErrorModel or PiroEW2010.",
        ),
        key(
            "target_bler",
            Kind::Number {
                min: 0.001,
                max: 0.5,
            },
            Default("0.1"),
            "Block error rate of first transmissions that is aimed at.",
        ),
        key(
            "outer_loop",
            Kind::Boolean,
            Default("true"),
            "Whether the reports are corrected by what was acknowledged.",
        ),
        key(
            "outer_loop_step",
            Kind::Decibels {
                min_mdb: 1,
                max_mdb: 5000,
            },
            Default("\"0.05 dB\""),
            "Rise with each acknowledged first transmission; the fall with a lost one follows from the target.",
        ),
        key(
            "outer_loop_limit",
            db(0, 30),
            Default("\"6 dB\""),
            "Largest correction, up and down.",
        ),
    ],
};

/// Hybrid ARQ.
pub(crate) static HARQ: Section = Section {
    rules: None,
    noun: "harq",
    doc: "Retransmissions in the MAC: eight processes for each UE, carrier and direction.",
    tag: None,
    keys: &[
        key(
            "round_trip",
            ms(5, 40),
            Default("\"8 ms\""),
            "From a transmission to the earliest retransmission.",
        ),
        key(
            "max_transmissions",
            Kind::Integer { min: 1, max: 4 },
            Default("4"),
            "Transmissions of a transport block, the first included.",
        ),
        key(
            "combining",
            words(&["incremental-redundancy", "chase", "lena", "lena-16-bit"]),
            Default("\"incremental-redundancy\""),
            "How the receiver uses earlier transmissions: other coded bits each time, the same ones, as LENA, or as LENA with its sums of 16 bits.",
        ),
        key(
            "nack_to_ack",
            Kind::Number { min: 0.0, max: 0.5 },
            Default("0.001"),
            "Probability that a negative acknowledgement is read as a positive one.",
        ),
    ],
};

/// The uplink.
pub(crate) static UPLINK: Section = Section {
    rules: None,
    noun: "uplink",
    doc: "The uplink.",
    keys: &[
        key(
            "power_control",
            Kind::Boolean,
            Default("true"),
            "Open-loop power control (TS 36.213 §5.1.1), or else full power.",
        ),
        key(
            "p0",
            POWER,
            Default("\"-80 dBm\""),
            "Target level of a resource block at the eNodeB.",
        ),
        key(
            "alpha",
            Kind::Number { min: 0.0, max: 1.0 },
            Default("1.0"),
            "Share of the path loss that is made up for.",
        ),
        key(
            "sounding_period",
            ms(1, 320),
            Default("\"10 ms\""),
            "Time between two sounding signals of a UE.",
        ),
        key(
            "min_prb",
            Kind::Integer { min: 1, max: 100 },
            Default("1"),
            "Fewest resource blocks of a grant.",
        ),
        key(
            "qam64",
            Kind::Boolean,
            Default("false"),
            "Whether UEs send 64QAM; many categories do not (TS 36.306).",
        ),
    ],
    tag: Some(Tag {
        key: "requests",
        default: Some("scheduled"),
        doc: "How the eNodeB learns what UEs have to send.",
        variants: &[
            Variant {
                rules: None,
                name: "scheduled",
                doc: "Scheduling requests and buffer status reports (TS 36.321 §5.4.4, §5.4.5).",
                keys: &[
                    key(
                        "sr_period",
                        ms(1, 80),
                        Default("\"10 ms\""),
                        "Time between a UE's chances to send a scheduling request.",
                    ),
                    key(
                        "sr_to_grant",
                        ms(1, 20),
                        Default("\"4 ms\""),
                        "From a scheduling request to its grant on the air.",
                    ),
                    key(
                        "scheduler",
                        words(&["round-robin", "proportional-fair"]),
                        Default("\"round-robin\""),
                        "Who is granted what: equal shares in turn, what some do not need to the others; or all that it needs to the UE with the highest ratio of possible rate to average throughput, then to the next.",
                    ),
                    key(
                        "first_grant",
                        Kind::Bytes {
                            min: 8,
                            max: 100_000,
                        },
                        Default("\"64 B\""),
                        "Granted to a UE of which no more than its request is known: a TCP acknowledgement with its headers.",
                    ),
                    key(
                        "periodic_bsr",
                        ms(5, 2560),
                        Default("\"5 ms\""),
                        "periodicBSR-Timer.",
                    ),
                    key(
                        "retransmit_bsr",
                        ms(320, 10_240),
                        Default("\"320 ms\""),
                        "retxBSR-Timer.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "ideal",
                doc: "A buffer status report in each subframe that costs nothing.",
                keys: &[],
            },
        ],
    }),
};
