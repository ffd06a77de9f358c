//! Keys of LTE access: the network here, propagation and places in `radio`, the MAC in `mac`, the
//! layers above it in `rlc`, cells that change in `rrc`.
//!
//! A profile sets defaults: `LENA` lists every key whose default is another one there. That these
//! and the defaults here are what `backlane_lte` means by its two sets, a test in `world` holds.

mod mac;
mod radio;
mod rlc;
mod rrc;

use super::super::Presence::{Default, Optional, Section as Filled};
use super::super::{Key, Kind};
use super::behaviour::{PER_ENODEB, PLACEMENT, UES};
use super::{CHANNEL, ProfileDefault, key, words};

pub(crate) use mac::{ADAPTATION, CQI, HARQ, SCHEDULER, UPLINK};
pub(crate) use radio::{CARRIER, PATH_LOSS, SHADOWING, UE};
pub(crate) use rlc::{PDCP, RLC};
pub(crate) use rrc::{ATTACH, HANDOVER, RADIO_LINK};

const fn ms(min: u32, max: u32) -> Kind {
    Kind::Milliseconds { min, max }
}

const fn db(min: i64, max: i64) -> Kind {
    Kind::Decibels {
        min_mdb: 1000 * min,
        max_mdb: 1000 * max,
    }
}

const POWER: Kind = Kind::Power {
    min_mdbm: -150_000,
    max_mdbm: 100_000,
};
const HEIGHT: Kind = Kind::Length { min_um: 0 };
const DISTANCE: Kind = Kind::Length { min_um: 0 };

/// The keys of `[access]` with `kind = "lte"`.
pub(super) const KEYS: &[Key] = &[
    UES,
    PLACEMENT,
    PER_ENODEB,
    key(
        "spread",
        DISTANCE,
        Default("\"0 m\""),
        "Each UE stands within ± this of its eNodeB in x and in y, drawn uniformly in every run.",
    ),
    key(
        "ue",
        Kind::Tables(&UE),
        Optional,
        "UEs placed one by one, in place of `ues`; their names are ue1, ue2, ….",
    ),
    key(
        "channel",
        Kind::Table(&CHANNEL),
        Optional,
        "A trace of what every UE hears that has none of its own, in place of the model of the radio.",
    ),
    key(
        "profile",
        words(&["standard", "lena"]),
        Default("\"standard\""),
        "Whose behaviour the defaults are: that of the standard and of operators, or that of ns-3's LENA with its artefacts.",
    ),
    key(
        "carrier",
        Kind::Tables(&CARRIER),
        Default(
            "[{ bandwidth = \"20 MHz\", frequency = \"2.655 GHz\", uplink_frequency = \"2.535 GHz\" }]",
        ),
        "Component carriers of every cell, the primary one first; the uplink uses the primary one.",
    ),
    key(
        "layers",
        Kind::Choice(&[1, 2, 4]),
        Default("1"),
        "Spatial layers of the downlink.",
    ),
    key(
        "antenna_ports",
        Kind::OrWord("auto", &Kind::Choice(&[1, 2, 4])),
        Default("\"auto\""),
        "Ports of cell-specific reference signals, which take resource elements from the data; \"auto\" is 2, or the number of layers if that is more.",
    ),
    key(
        "qam256",
        Kind::Boolean,
        Default("false"),
        "256QAM in the downlink, by the second tables of CQI and MCS (TS 36.213 §7.1.7, §7.2.3).",
    ),
    key(
        "control_symbols",
        Kind::OrWord("auto", &Kind::Choice(&[1, 2, 3])),
        Default("\"auto\""),
        "Symbols of the control region; \"auto\" takes as few as the assignments and grants of the subframe need.",
    ),
    key(
        "code_rate",
        words(&["real", "nominal"]),
        Default("\"real\""),
        "The code rate that a transport block is judged by: what its allocation leaves, or one number for each MCS.",
    ),
    key(
        "code_rate_limit",
        Kind::OrWord("none", &Kind::Number { min: 0.5, max: 1.0 }),
        Default("0.931"),
        "Highest code rate of a transport block (TS 36.213 §7.1.7: a UE may skip what is above 0.931).",
    ),
    key(
        "cce_limit",
        Kind::Boolean,
        Default("true"),
        "Whether a subframe holds no more assignments and grants than it has control channel elements.",
    ),
    key(
        "control_errors",
        Kind::Boolean,
        Default("false"),
        "Whether UEs miss assignments and grants at low SINR.",
    ),
    key(
        "enodeb_power",
        POWER,
        Default("\"30 dBm\""),
        "Transmit power of an eNodeB on each carrier: a small cell; a macro cell has 43 to 46 dBm.",
    ),
    key(
        "ue_power",
        POWER,
        Default("\"23 dBm\""),
        "Highest transmit power of a UE (power class 3).",
    ),
    key(
        "enodeb_noise_figure",
        db(0, 40),
        Default("\"5 dB\""),
        "Noise figure of an eNodeB's receiver.",
    ),
    key(
        "ue_noise_figure",
        db(0, 40),
        Default("\"9 dB\""),
        "Noise figure of a UE's receiver.",
    ),
    key(
        "implementation_loss",
        db(0, 20),
        Default("\"1 dB\""),
        "What a real receiver loses against the link curves.",
    ),
    key(
        "enodeb_height",
        HEIGHT,
        Default("\"30 m\""),
        "Height of the eNodeBs' antennas.",
    ),
    key(
        "ue_height",
        HEIGHT,
        Default("\"1.5 m\""),
        "Height of the UEs.",
    ),
    key(
        "path_loss",
        Kind::TableOrTag(&PATH_LOSS),
        Filled,
        "Loss over distance.",
    ),
    key(
        "shadowing",
        Kind::TableOrTag(&SHADOWING),
        Filled,
        "Correlated log-normal shadowing.",
    ),
    key(
        "fading",
        words(&["none", "epa", "eva", "etu"]),
        Default("\"none\""),
        "Fast fading of a serving link (TS 36.104 annex B.2), at the Doppler frequency of the UE's speed.",
    ),
    key(
        "interference",
        words(&["off", "load-coupled", "full"]),
        Default("\"load-coupled\""),
        "From other cells: none, from what they really send, or from all of their resource blocks at all times.",
    ),
    key(
        "scheduler",
        Kind::TableOrTag(&SCHEDULER),
        Filled,
        "The downlink scheduler.",
    ),
    key(
        "decision_to_air",
        ms(1, 3),
        Default("\"1 ms\""),
        "From a scheduler's decision to its transmission.",
    ),
    key(
        "decoding",
        ms(0, 3),
        Default("\"1 ms\""),
        "From the end of a transport block to its data in the layer above.",
    ),
    key(
        "mac_headers",
        Kind::Boolean,
        Default("true"),
        "Whether MAC headers and control elements take bytes.",
    ),
    key(
        "tunnel",
        Kind::Bytes { min: 0, max: 1000 },
        Default("\"36 B\""),
        "What GTP-U adds to a packet of a UE in the backhaul: 8 bytes, with UDP and IPv4.",
    ),
    key("cqi", Kind::Table(&CQI), Filled, "Channel quality reports."),
    key(
        "adaptation",
        Kind::Table(&ADAPTATION),
        Filled,
        "Link adaptation.",
    ),
    key("harq", Kind::Table(&HARQ), Filled, "Hybrid ARQ."),
    key(
        "uplink",
        Kind::Table(&UPLINK),
        Filled,
        "Requests, grants and power of the uplink.",
    ),
    key(
        "rlc",
        Kind::Table(&RLC),
        Filled,
        "Radio link control of each UE's bearer, the same in both directions.",
    ),
    key(
        "pdcp",
        Kind::Table(&PDCP),
        Filled,
        "Packet data convergence.",
    ),
    key(
        "attach",
        Kind::TableOrTag(&ATTACH),
        Filled,
        "What a UE goes through before its first data.",
    ),
    key(
        "handover",
        Kind::TableOrTag(&HANDOVER),
        Filled,
        "When a UE that moves goes to another cell.",
    ),
    key(
        "radio_link",
        Kind::Table(&RADIO_LINK),
        Filled,
        "When the radio link of a UE that moves has failed.",
    ),
];

const fn lena(
    section: &'static str,
    word: &'static str,
    key: &'static str,
    value: &'static str,
) -> ProfileDefault {
    ProfileDefault {
        section,
        word,
        key,
        value,
    }
}

/// What LENA does otherwise, tags first.
pub(crate) const LENA: &[ProfileDefault] = &[
    lena("", "", "antenna_ports", "1"),
    lena("", "", "control_symbols", "3"),
    lena("", "", "code_rate", "\"nominal\""),
    lena("", "", "code_rate_limit", "\"none\""),
    lena("", "", "cce_limit", "false"),
    lena("", "", "control_errors", "true"),
    lena("", "", "implementation_loss", "\"0 dB\""),
    lena("", "", "decision_to_air", "\"2 ms\""),
    lena("", "", "decoding", "\"0 ms\""),
    lena("", "", "mac_headers", "false"),
    lena("", "", "tunnel", "\"40 B\""),
    lena("scheduler", "", "max_ues", "255"),
    lena("scheduler", "", "counts", "\"sent\""),
    lena("scheduler", "", "worst_rbg_mcs", "true"),
    lena("cqi", "", "period", "\"1 ms\""),
    lena("cqi", "", "delay", "\"5 ms\""),
    lena("cqi", "", "sub_band", "true"),
    lena("adaptation", "", "rule", "\"lena-mi\""),
    lena("adaptation", "", "outer_loop", "false"),
    lena("harq", "", "round_trip", "\"7 ms\""),
    lena("harq", "", "combining", "\"lena\""),
    lena("harq", "", "nack_to_ack", "0.0"),
    lena("handover", "", "event", "\"none\""),
    lena("uplink", "", "requests", "\"ideal\""),
    lena("uplink", "", "sounding_period", "\"40 ms\""),
    lena("uplink", "", "min_prb", "3"),
    lena("uplink", "", "qam64", "true"),
    lena("rlc", "", "buffer", "\"10240 B\""),
    lena("rlc", "", "one_pdu_per_block", "true"),
    lena("rlc", "um", "t_reordering", "\"100 ms\""),
    lena("rlc", "am", "poll_pdus", "1"),
    lena("rlc", "am", "poll_bytes", "\"50 B\""),
    lena("rlc", "am", "t_poll_retransmit", "\"20 ms\""),
    lena("rlc", "am", "poll_retransmission", "\"all\""),
    lena("rlc", "am", "t_reordering", "\"10 ms\""),
    lena("rlc", "am", "t_status_prohibit", "\"10 ms\""),
    lena("rlc", "am", "max_retransmissions", "\"infinite\""),
    lena("rlc", "am", "resegmentation", "false"),
];
