//! The parameters of TCP, and their reading out of the normal form.

use std::sync::Arc;

use backlane_param::Values;
use backlane_units::{Bytes, Duration};

use crate::custom;
use crate::plain;
use crate::tree::Table;

/// The parameters of the TCP endpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// The congestion control.
    pub congestion_control: CongestionControl,
    /// Payload of a full segment, in bytes.
    pub mss_bytes: u32,
    /// Initial congestion window, in segments.
    pub initial_window_pkts: u32,
    /// Initial slow-start threshold, in segments; `None` is infinite.
    pub initial_ssthresh_pkts: Option<u32>,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Duration,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Duration,
    /// Upper bound of the retransmission timeout.
    pub max_rto: Duration,
    /// How the retransmission timeout follows the samples.
    pub rto_rule: RtoRule,
    /// How often a SYN is sent again.
    pub syn_retries: u32,
    /// Timeouts in a row before a connection fails.
    pub retries: u32,
    /// Segments acknowledged together; 1 acknowledges each at once.
    pub delayed_ack_segments: u32,
    /// Shortest wait of an acknowledgement for a further segment.
    pub delayed_ack_min: Duration,
    /// Longest wait; equal to the shortest for a fixed one.
    pub delayed_ack_max: Duration,
    /// Whether the first segments are acknowledged at once.
    pub quick_ack: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Whether duplicate acknowledgements of a hole are merged.
    pub sack_compression: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether old timestamps are refused (PAWS).
    pub paws: bool,
    /// One tick of the timestamp clock.
    pub timestamp_tick: Duration,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Duplicate acknowledgements that start a recovery.
    pub duplicate_threshold: u32,
    /// Receive window offered at most, in bytes.
    pub receive_buffer_bytes: u32,
    /// Most bytes sent and not yet acknowledged; `u64::MAX` is unlimited.
    pub send_buffer_bytes: u64,
    /// Whether an idle connection shrinks its window.
    pub slow_start_after_idle: bool,
    /// How much reordering is borne.
    pub reordering: Reordering,
    /// Parameters of [`Reordering::Rr`], if they are stated.
    pub rr: Option<RrParameters>,
    /// Parameters of [`Reordering::Pr`], if they are stated.
    pub pr: Option<PrParameters>,
    /// Whether the tail of a flight is probed before the timeout.
    pub tail_loss_probe: bool,
    /// Whether needless timeouts are recognised.
    pub frto: bool,
    /// Whether congestion marks are used.
    pub ecn: Ecn,
    /// What tuning may raise the receive buffer to, in bytes; `None` is no tuning.
    pub receive_autotuning_max_bytes: Option<u32>,
    /// Receive window offered at first, in bytes.
    pub initial_receive_window_bytes: u32,
    /// The checked values of the section, with a table for each congestion control in use.
    pub values: Values,
}

/// A congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// One of the catalogue.
    Known(Arc<str>),
    /// One that the simulator does not have; see [`crate::model::CustomControl::name`].
    Custom(Arc<str>),
}

impl CongestionControl {
    /// The name used in files; for one's own, [`crate::model::CustomControl::name`].
    pub fn name(&self) -> &str {
        match self {
            Self::Known(name) | Self::Custom(name) => name,
        }
    }
}

/// A congestion control as the file states it.
pub(crate) fn congestion_control(text: &str) -> Option<CongestionControl> {
    match custom::Stated::of(text) {
        Some(stated) => Some(CongestionControl::Custom(stated.ok()?.name().into())),
        None => Some(CongestionControl::Known(text.into())),
    }
}

/// How much reordering is borne before a segment counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reordering {
    /// A fixed threshold (RFC 6675).
    Fixed,
    /// A threshold that grows, as in Linux of 2008 to 2011.
    LinuxLegacy,
    /// RACK (RFC 8985), as in Linux 6.1.
    Rack,
    /// TCP-NCR (RFC 4653), careful.
    NcrCareful,
    /// TCP-NCR (RFC 4653), aggressive.
    NcrAggressive,
    /// RR-TCP: a threshold from a histogram of lateness.
    Rr,
    /// TCP-PR: deadlines.
    Pr,
}

/// Parameters of RR-TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RrParameters {
    /// The share of late segments not to be taken for lost, at the beginning.
    pub avoided: f64,
    /// How much it moves for one window of packets not sent.
    pub step: f64,
}

/// Parameters of TCP-PR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrParameters {
    /// What is left of the envelope of the RTT after one RTT.
    pub alpha: f64,
    /// The deadline in envelopes.
    pub beta: f64,
}

/// Whether congestion marks are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not asked for and not granted.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257 §3.2.
    Exact,
}

/// How the retransmission timeout follows the RTT samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// The minimum bounds the variance term.
    Linux,
    /// The minimum bounds the whole timeout (RFC 6298 §2.4).
    Rfc6298,
}

/// The TCP section.
pub(crate) fn read(table: &Table) -> Option<Tcp> {
    let bytes = |key: &str| table.quantity::<Bytes>(key).map(Bytes::get);
    let window = |key: &str| u32::try_from(bytes(key)?).ok();
    Some(Tcp {
        congestion_control: congestion_control(table.text("congestion_control")?)?,
        mss_bytes: window("mss")?,
        initial_window_pkts: table.integer("initial_window_pkts")?,
        initial_ssthresh_pkts: table.integer("initial_ssthresh_pkts"),
        min_rto: table.quantity("min_rto")?,
        initial_rto: table.quantity("initial_rto")?,
        max_rto: table.quantity("max_rto")?,
        rto_rule: match table.text("rto")? {
            "rfc6298" => RtoRule::Rfc6298,
            _ => RtoRule::Linux,
        },
        syn_retries: table.integer("syn_retries")?,
        retries: table.integer("retries")?,
        delayed_ack_segments: table.integer("delayed_ack_segments")?,
        delayed_ack_min: table.quantity("delayed_ack_min")?,
        delayed_ack_max: table.quantity("delayed_ack_max")?,
        quick_ack: table.boolean("quick_ack")?,
        sack: table.boolean("sack")?,
        sack_compression: table.boolean("sack_compression")?,
        timestamps: table.boolean("timestamps")?,
        paws: table.boolean("paws")?,
        timestamp_tick: table.quantity("timestamp_tick")?,
        limited_transmit: table.boolean("limited_transmit")?,
        duplicate_threshold: table.integer("duplicate_threshold")?,
        receive_buffer_bytes: window("receive_buffer")?,
        send_buffer_bytes: bytes("send_buffer").unwrap_or(u64::MAX),
        slow_start_after_idle: table.boolean("slow_start_after_idle")?,
        reordering: match table.text("reordering")? {
            "fixed" => Reordering::Fixed,
            "linux-legacy" => Reordering::LinuxLegacy,
            "ncr-careful" => Reordering::NcrCareful,
            "ncr-aggressive" => Reordering::NcrAggressive,
            "rr" => Reordering::Rr,
            "pr" => Reordering::Pr,
            _ => Reordering::Rack,
        },
        rr: table.table("rr").and_then(|rr| {
            Some(RrParameters {
                avoided: rr.number("avoided")?,
                step: rr.number("step")?,
            })
        }),
        pr: table.table("pr").and_then(|pr| {
            Some(PrParameters {
                alpha: pr.number("alpha")?,
                beta: pr.number("beta")?,
            })
        }),
        tail_loss_probe: table.boolean("tail_loss_probe")?,
        frto: table.boolean("frto")?,
        ecn: match table.text("ecn")? {
            "classic" => Ecn::Classic,
            "exact" => Ecn::Exact,
            _ => Ecn::Off,
        },
        receive_autotuning_max_bytes: window("receive_autotuning_max"),
        initial_receive_window_bytes: window("initial_receive_window")?,
        values: plain::values(table),
    })
}
