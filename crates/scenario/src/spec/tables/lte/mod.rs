//! Keys of LTE access: the network here, propagation and places in `radio`, the MAC in `mac`, the
//! layers above it in `rlc`, cells that change in `rrc`.
//!
//! A profile sets defaults: `lena` lists every key whose default is another one there. That these
//! and the defaults here are what `backlane_lte` means by its two sets, a test in `world` holds.

mod mac;
mod radio;
mod rlc;
mod rrc;

use backlane_param::changed_defaults;

use super::super::Presence::{Default, Optional, Section as Filled};
use super::super::{Key, Kind};
use super::behaviour::{PER_ENODEB, PLACEMENT, UES};
use super::{CHANNEL, key, words};

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

changed_defaults! {
    /// What LENA does otherwise, tags first.
    pub(crate) fn lena() = "lena" {
        antenna_ports = 1_u8;
        control_symbols = 3_u8;
        code_rate = "nominal".to_owned();
        code_rate_limit = "none".to_owned();
        cce_limit = false;
        control_errors = true;
        implementation_loss = "0 dB".to_owned();
        decision_to_air = "2 ms".to_owned();
        decoding = "0 ms".to_owned();
        mac_headers = false;
        tunnel = "40 B".to_owned();
        scheduler.max_ues = 255_u8;
        scheduler.counts = "sent".to_owned();
        scheduler.worst_rbg_mcs = true;
        cqi.period = "1 ms".to_owned();
        cqi.delay = "5 ms".to_owned();
        cqi.sub_band = true;
        adaptation.rule = "lena-mi".to_owned();
        adaptation.outer_loop = false;
        harq.round_trip = "7 ms".to_owned();
        harq.combining = "lena".to_owned();
        harq.nack_to_ack = 0.0;
        handover.event = "none".to_owned();
        uplink.requests = "ideal".to_owned();
        uplink.sounding_period = "40 ms".to_owned();
        uplink.min_prb = 3_u8;
        uplink.qam64 = true;
        rlc.buffer = "10240 B".to_owned();
        rlc.one_pdu_per_block = true;
        rlc["um"].t_reordering = "100 ms".to_owned();
        rlc["am"].poll_pdus = 1_u8;
        rlc["am"].poll_bytes = "50 B".to_owned();
        rlc["am"].t_poll_retransmit = "20 ms".to_owned();
        rlc["am"].poll_retransmission = "all".to_owned();
        rlc["am"].t_reordering = "10 ms".to_owned();
        rlc["am"].t_status_prohibit = "10 ms".to_owned();
        rlc["am"].max_retransmissions = "infinite".to_owned();
        rlc["am"].resegmentation = false;
    }
}
