//! The parameters of LTE access, and their reading out of the normal form.

use backlane_units::{Bytes, Decibels, Duration, Frequency, Length, Power};

use crate::model::ChannelTrace;
use crate::phrases;
use crate::tree::Table;

/// An LTE radio access network.
#[derive(Clone, Debug, PartialEq)]
pub struct Lte {
    /// Component carriers, the primary one first.
    pub carriers: Vec<Carrier>,
    /// Spatial layers of the downlink: 1, 2 or 4.
    pub layers: u8,
    /// Ports of reference signals: 1, 2 or 4, not fewer than layers.
    pub antenna_ports: u8,
    /// 256QAM in the downlink.
    pub qam256: bool,
    /// Symbols of the control region; `None` takes as few as needed.
    pub control_symbols: Option<u8>,
    /// Whether blocks are judged by the code rate that their allocation leaves, or else by one
    /// number for each MCS.
    pub real_code_rate: bool,
    /// Highest code rate; `None` is any.
    pub code_rate_limit: Option<f64>,
    /// Whether control channel elements run out.
    pub cce_limit: bool,
    /// Whether assignments and grants are missed.
    pub control_errors: bool,
    /// Transmit power of an eNodeB on each carrier.
    pub enodeb_power: Power,
    /// Highest transmit power of a UE.
    pub ue_power: Power,
    /// Noise figure of an eNodeB.
    pub enodeb_noise_figure: Decibels,
    /// Noise figure of a UE.
    pub ue_noise_figure: Decibels,
    /// What a receiver loses against the link curves.
    pub implementation_loss: Decibels,
    /// Height of the eNodeBs.
    pub enodeb_height: Length,
    /// Height of the UEs.
    pub ue_height: Length,
    /// Loss over distance.
    pub path_loss: PathLoss,
    /// Shadowing.
    pub shadowing: Shadowing,
    /// Fast fading, if there is any.
    pub fading: Option<Fading>,
    /// Interference between cells.
    pub interference: Interference,
    /// The downlink scheduler.
    pub scheduler: Scheduler,
    /// Subframes from a decision to its transmission.
    pub decision_to_air_ms: u32,
    /// Subframes from a transport block's end to its data above.
    pub decoding_ms: u32,
    /// Whether MAC headers take bytes.
    pub mac_headers: bool,
    /// Bytes that a tunnel adds in the backhaul.
    pub tunnel_bytes: u32,
    /// Channel quality reports.
    pub cqi: Cqi,
    /// Link adaptation.
    pub adaptation: Adaptation,
    /// Hybrid ARQ.
    pub harq: Harq,
    /// The uplink.
    pub uplink: Uplink,
    /// Radio link control.
    pub rlc: Rlc,
    /// The buffer of a bearer in one direction.
    pub buffer: BufferLimit,
    /// CoDel on it: target and interval.
    pub codel: Option<(Duration, Duration)>,
    /// Packet data convergence.
    pub pdcp: Pdcp,
    /// What it takes to attach; `None`: UEs are connected at the start.
    pub attach: Option<Attach>,
    /// Handover, if there is any.
    pub handover: Option<Handover>,
    /// Radio link monitoring.
    pub radio_link: RadioLink,
    /// UEs are within ± this of their eNodeB, where [`Lte::ues`] is empty.
    pub spread: Length,
    /// UEs placed one by one.
    pub ues: Vec<LteUe>,
    /// Ways from traces.
    pub ways: Vec<Vec<Place>>,
    /// The index in `channels` of the trace of what UEs hear; `None` is the model of the radio.
    pub channel: Option<usize>,
    /// Traces of what UEs hear, in place of the model of the radio.
    pub channels: Vec<ChannelTrace>,
}

/// A component carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// Resource blocks: 6, 15, 25, 50, 75 or 100.
    pub resource_blocks: u16,
    /// Centre of the downlink.
    pub frequency: Frequency,
    /// Centre of the uplink.
    pub uplink_frequency: Frequency,
}

/// A law of path loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Measurements at 2.6 GHz.
    Kun2600,
    /// Okumura-Hata.
    OkumuraHata(Environment),
    /// COST231-Hata.
    Cost231Hata {
        /// A metropolitan centre, or else a medium city.
        metropolitan: bool,
    },
    /// A power of the distance.
    LogDistance {
        /// The power.
        exponent: f64,
        /// Where the loss is known.
        reference_distance: Length,
        /// The loss there.
        reference_loss: Decibels,
    },
    /// Free space.
    Friis,
    /// TR 38.901, urban macro cell.
    UrbanMacro,
    /// TR 38.901, urban street canyon.
    UrbanMicro,
}

/// Hata's kinds of area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// A large city.
    LargeCity,
    /// A small or medium city.
    MediumCity,
    /// A suburb.
    Suburban,
    /// Open land.
    Open,
}

/// Shadowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shadowing {
    /// None.
    Off,
    /// That of the path loss.
    OfPathLoss,
    /// A deviation of one's own.
    Fixed {
        /// Standard deviation.
        deviation: Decibels,
        /// Where the correlation has fallen to 1/e.
        correlation_distance: Length,
    },
}

/// Profiles of fast fading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fading {
    /// Extended pedestrian A.
    Epa,
    /// Extended vehicular A.
    Eva,
    /// Extended typical urban.
    Etu,
}

/// Interference between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interference {
    /// None.
    Off,
    /// From what is sent.
    LoadCoupled,
    /// From all resource blocks at all times.
    Full,
}

/// The downlink scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// Who is served next.
    pub rule: SchedulerRule,
    /// Most UEs with new data in a subframe.
    pub max_ues: u8,
    /// Whether averages count what was acknowledged, or else what was sent.
    pub counts_acknowledged: bool,
    /// Whether the MCS follows from the worst resource block group.
    pub worst_rbg_mcs: bool,
}

/// The rule of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerRule {
    /// Highest ratio of possible rate to average throughput.
    ProportionalFair,
    /// In turn.
    RoundRobin,
    /// Highest rate.
    MaxCqi,
    /// Lowest throughput.
    BlindEqualThroughput,
}

/// Channel quality reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqi {
    /// Subframes between reports.
    pub period_ms: u32,
    /// Subframes from the measurement to the scheduler.
    pub delay_ms: u32,
    /// Whether resource block groups are reported.
    pub sub_band: bool,
}

/// Link adaptation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// How a UE finds the CQI.
    pub rule: AdaptationRule,
    /// Block error rate aimed at.
    pub target_bler: f64,
    /// Step up and limit of the outer loop.
    pub outer_loop: Option<(Decibels, Decibels)>,
}

/// How a UE finds the CQI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdaptationRule {
    /// From the mean mutual information.
    EffectiveInformation,
    /// As LENA's `MiErrorModel`.
    LenaMi,
    /// As LENA's `PiroEW2010`.
    LenaPiro,
}

/// Hybrid ARQ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Harq {
    /// Subframes to the earliest retransmission.
    pub round_trip_ms: u32,
    /// Transmissions of a block.
    pub max_transmissions: u8,
    /// How the receiver combines them.
    pub combining: Combining,
    /// Probability of a NACK read as an ACK.
    pub nack_to_ack: f64,
}

/// How transmissions are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// Incremental redundancy.
    IncrementalRedundancy,
    /// The same bits each time.
    Chase,
    /// As LENA.
    Lena {
        /// With its sums of 16 bits.
        sixteen_bits: bool,
    },
}

/// The uplink.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uplink {
    /// Requests; `None` is ideal.
    pub requests: Option<UplinkRequests>,
    /// Power control: P0 and α.
    pub power_control: Option<(Power, f64)>,
    /// Subframes between sounding signals.
    pub sounding_period_ms: u32,
    /// Fewest resource blocks of a grant.
    pub min_prb: u16,
    /// 64QAM upwards.
    pub qam64: bool,
}

/// Scheduling requests and buffer status reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkRequests {
    /// Subframes between chances to send a request.
    pub sr_period_ms: u32,
    /// Subframes from a request to its grant.
    pub sr_to_grant_ms: u32,
    /// Grants by rate over throughput, or else in turn.
    pub is_proportional_fair: bool,
    /// Bytes of the first grant.
    pub first_grant_bytes: u32,
    /// periodicBSR-Timer.
    pub periodic_bsr_ms: u32,
    /// retxBSR-Timer.
    pub retransmit_bsr_ms: u32,
}

/// Radio link control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rlc {
    /// Acknowledged mode.
    Am(RlcAm),
    /// Unacknowledged mode.
    Um(RlcUm),
}

/// Acknowledged mode; `None` is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RlcAm {
    /// PDUs after which one polls.
    pub poll_pdus: Option<u32>,
    /// Bytes after which one polls.
    pub poll_bytes: Option<u64>,
    /// How long an answer is waited for.
    pub t_poll_retransmit: Duration,
    /// Whether all PDUs are sent then, or else the newest.
    pub poll_retransmits_all: bool,
    /// How long a PDU is waited for.
    pub t_reordering: Duration,
    /// Shortest time between reports.
    pub t_status_prohibit: Duration,
    /// Retransmissions before the link has failed.
    pub max_retransmissions: Option<u32>,
    /// Whether PDUs are cut in retransmission.
    pub resegmentation: bool,
    /// One PDU in a transport block.
    pub one_pdu_per_block: bool,
}

/// Unacknowledged mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RlcUm {
    /// Whether the sequence number has 10 bits, or else 5.
    pub long_sequence_number: bool,
    /// How long a PDU is waited for.
    pub t_reordering: Duration,
    /// One PDU in a transport block.
    pub one_pdu_per_block: bool,
}

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(Bytes),
    /// Packets as long as the oldest has not waited longer.
    Time(Duration),
}

/// Packet data convergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pdcp {
    /// Whether the sequence number has 12 bits, or else 7.
    pub long_sequence_number: bool,
    /// Time after which a packet is discarded.
    pub discard_timer: Option<Duration>,
}

/// What a UE goes through before its first data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attach {
    /// A UE waits for a share of it.
    pub system_information_period: Duration,
    /// Random access.
    pub random_access: Duration,
    /// Connection and bearer.
    pub setup: Duration,
}

/// Handover by event A3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// How much better a neighbour must be.
    pub offset: Decibels,
    /// On both sides of it.
    pub hysteresis: Decibels,
    /// For how long.
    pub time_to_trigger: Duration,
    /// Of the filter.
    pub filter_coefficient: u8,
    /// From report to command.
    pub preparation: Duration,
    /// From command to data.
    pub interruption: Duration,
}

/// Radio link monitoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioLink {
    /// Between measurements.
    pub measurement_period: Duration,
    /// Q_out.
    pub out_of_sync: Decibels,
    /// Q_in, not below Q_out.
    pub in_sync: Decibels,
    /// Indications that start T310.
    pub n310: u32,
    /// How long a link may be out of sync.
    pub t310: Duration,
    /// Indications that stop T310.
    pub n311: u32,
    /// From failure to data.
    pub reestablishment: Duration,
}

/// A UE placed by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LteUe {
    /// Where it is at the start: east and north, in metres.
    pub position_m: (f64, f64),
    /// How it moves.
    pub motion: Option<Motion>,
    /// The way that it goes instead, an index into [`Lte::ways`].
    pub way: Option<usize>,
    /// The node that serves it; `None` is the strongest.
    pub serving: Option<usize>,
    /// The index in [`Lte::channels`] of the trace of what it hears; `None` is that of all UEs.
    pub channel: Option<usize>,
}

/// A place on the way of a UE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// When it is there, after the warm-up.
    pub at: Duration,
    /// East and north, in metres.
    pub position_m: (f64, f64),
}

/// A straight way at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Metres per second east and north.
    pub velocity_m_per_s: (f64, f64),
    /// When it begins, after the warm-up.
    pub start: Duration,
    /// How long it lasts; `None` is to the end.
    pub time: Option<Duration>,
}

/// The traces of what UEs hear.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    pub(crate) traces: Vec<ChannelTrace>,
    /// The index of the one for UEs that have none of their own.
    pub(crate) of_all: Option<usize>,
}

/// The network of a normal `[access]`; `ues` are those of its tables.
pub(crate) fn read(
    table: &Table,
    ues: Vec<LteUe>,
    ways: Vec<Vec<Place>>,
    channels: Channels,
) -> Option<Lte> {
    let rlc = table.table("rlc")?;
    let aqm = rlc.table("aqm")?;
    let attach = table.table("attach")?;
    let handover = table.table("handover")?;
    let layers = table.integer("layers")?;
    let tunnel = table.quantity::<Bytes>("tunnel")?.get();
    Some(Lte {
        carriers: carriers(table)?,
        layers,
        antenna_ports: table.integer("antenna_ports").unwrap_or(2.max(layers)),
        qam256: table.boolean("qam256")?,
        control_symbols: table.integer("control_symbols"),
        real_code_rate: table.text("code_rate")? == "real",
        code_rate_limit: table.number("code_rate_limit"),
        cce_limit: table.boolean("cce_limit")?,
        control_errors: table.boolean("control_errors")?,
        enodeb_power: table.quantity("enodeb_power")?,
        ue_power: table.quantity("ue_power")?,
        enodeb_noise_figure: table.quantity("enodeb_noise_figure")?,
        ue_noise_figure: table.quantity("ue_noise_figure")?,
        implementation_loss: table.quantity("implementation_loss")?,
        enodeb_height: table.quantity("enodeb_height")?,
        ue_height: table.quantity("ue_height")?,
        path_loss: path_loss(table.table("path_loss")?)?,
        shadowing: shadowing(table.table("shadowing")?)?,
        fading: match table.text("fading")? {
            "epa" => Some(Fading::Epa),
            "eva" => Some(Fading::Eva),
            "etu" => Some(Fading::Etu),
            _ => None,
        },
        interference: match table.text("interference")? {
            "off" => Interference::Off,
            "full" => Interference::Full,
            _ => Interference::LoadCoupled,
        },
        scheduler: scheduler(table.table("scheduler")?)?,
        decision_to_air_ms: milliseconds(table, "decision_to_air")?,
        decoding_ms: milliseconds(table, "decoding")?,
        mac_headers: table.boolean("mac_headers")?,
        tunnel_bytes: u32::try_from(tunnel).ok()?,
        cqi: cqi(table.table("cqi")?)?,
        adaptation: adaptation(table.table("adaptation")?)?,
        harq: harq(table.table("harq")?)?,
        uplink: uplink(table.table("uplink")?)?,
        rlc: self::rlc(rlc)?,
        buffer: phrases::buffer(rlc.text("buffer")?)?,
        codel: match aqm.text("discipline")? {
            "codel" => Some((aqm.quantity("target")?, aqm.quantity("interval")?)),
            _ => None,
        },
        pdcp: pdcp(table.table("pdcp")?)?,
        attach: match attach.text("procedure")? {
            "standard" => Some(self::attach(attach)?),
            _ => None,
        },
        handover: match handover.text("event")? {
            "a3" => Some(self::handover(handover)?),
            _ => None,
        },
        radio_link: radio_link(table.table("radio_link")?)?,
        spread: table.quantity("spread")?,
        ues,
        ways,
        channel: channels.of_all,
        channels: channels.traces,
    })
}

/// A time that is a whole number of milliseconds.
fn milliseconds(table: &Table, key: &str) -> Option<u32> {
    let time: Duration = table.quantity(key)?;
    u32::try_from(time.as_ps() / Duration::from_millis(1).as_ps()).ok()
}

fn carriers(table: &Table) -> Option<Vec<Carrier>> {
    let rows = table.tables("carrier").into_iter();
    rows.map(|(row, _)| {
        let frequency = row.quantity("frequency")?;
        Some(Carrier {
            resource_blocks: match row.text("bandwidth")? {
                "1.4 MHz" => 6,
                "3 MHz" => 15,
                "5 MHz" => 25,
                "10 MHz" => 50,
                "15 MHz" => 75,
                _ => 100,
            },
            frequency,
            uplink_frequency: row.quantity("uplink_frequency").unwrap_or(frequency),
        })
    })
    .collect()
}

fn path_loss(table: &Table) -> Option<PathLoss> {
    Some(match table.text("model")? {
        "okumura-hata" => PathLoss::OkumuraHata(match table.text("environment")? {
            "large-city" => Environment::LargeCity,
            "suburban" => Environment::Suburban,
            "open" => Environment::Open,
            _ => Environment::MediumCity,
        }),
        "cost231-hata" => PathLoss::Cost231Hata {
            metropolitan: table.text("city")? == "metropolitan",
        },
        "log-distance" => PathLoss::LogDistance {
            exponent: table.number("exponent")?,
            reference_distance: table.quantity("reference_distance")?,
            reference_loss: table.quantity("reference_loss")?,
        },
        "friis" => PathLoss::Friis,
        "urban-macro" => PathLoss::UrbanMacro,
        "urban-micro" => PathLoss::UrbanMicro,
        _ => PathLoss::Kun2600,
    })
}

fn shadowing(table: &Table) -> Option<Shadowing> {
    Some(match table.text("model")? {
        "path-loss" => Shadowing::OfPathLoss,
        "fixed" => Shadowing::Fixed {
            deviation: table.quantity("deviation")?,
            correlation_distance: table.quantity("correlation_distance")?,
        },
        _ => Shadowing::Off,
    })
}

fn scheduler(table: &Table) -> Option<Scheduler> {
    Some(Scheduler {
        rule: match table.text("rule")? {
            "round-robin" => SchedulerRule::RoundRobin,
            "max-cqi" => SchedulerRule::MaxCqi,
            "blind-equal-throughput" => SchedulerRule::BlindEqualThroughput,
            _ => SchedulerRule::ProportionalFair,
        },
        max_ues: table.integer("max_ues")?,
        counts_acknowledged: table.text("counts")? == "acknowledged",
        worst_rbg_mcs: table.boolean("worst_rbg_mcs")?,
    })
}

fn cqi(table: &Table) -> Option<Cqi> {
    Some(Cqi {
        period_ms: milliseconds(table, "period")?,
        delay_ms: milliseconds(table, "delay")?,
        sub_band: table.boolean("sub_band")?,
    })
}

fn adaptation(table: &Table) -> Option<Adaptation> {
    Some(Adaptation {
        rule: match table.text("rule")? {
            "lena-mi" => AdaptationRule::LenaMi,
            "lena-piro" => AdaptationRule::LenaPiro,
            _ => AdaptationRule::EffectiveInformation,
        },
        target_bler: table.number("target_bler")?,
        outer_loop: if table.boolean("outer_loop")? {
            let step = table.quantity("outer_loop_step")?;
            Some((step, table.quantity("outer_loop_limit")?))
        } else {
            None
        },
    })
}

fn harq(table: &Table) -> Option<Harq> {
    Some(Harq {
        round_trip_ms: milliseconds(table, "round_trip")?,
        max_transmissions: table.integer("max_transmissions")?,
        combining: match table.text("combining")? {
            "chase" => Combining::Chase,
            "lena" => Combining::Lena {
                sixteen_bits: false,
            },
            "lena-16-bit" => Combining::Lena { sixteen_bits: true },
            _ => Combining::IncrementalRedundancy,
        },
        nack_to_ack: table.number("nack_to_ack")?,
    })
}

fn uplink(table: &Table) -> Option<Uplink> {
    let bytes = |key: &str| u32::try_from(table.quantity::<Bytes>(key)?.get()).ok();
    Some(Uplink {
        requests: match table.text("requests")? {
            "ideal" => None,
            _ => Some(UplinkRequests {
                sr_period_ms: milliseconds(table, "sr_period")?,
                sr_to_grant_ms: milliseconds(table, "sr_to_grant")?,
                is_proportional_fair: table.text("scheduler")? == "proportional-fair",
                first_grant_bytes: bytes("first_grant")?,
                periodic_bsr_ms: milliseconds(table, "periodic_bsr")?,
                retransmit_bsr_ms: milliseconds(table, "retransmit_bsr")?,
            }),
        },
        power_control: if table.boolean("power_control")? {
            Some((table.quantity("p0")?, table.number("alpha")?))
        } else {
            None
        },
        sounding_period_ms: milliseconds(table, "sounding_period")?,
        min_prb: table.integer("min_prb")?,
        qam64: table.boolean("qam64")?,
    })
}

fn rlc(table: &Table) -> Option<Rlc> {
    let one_pdu_per_block = table.boolean("one_pdu_per_block")?;
    let t_reordering = table.quantity("t_reordering")?;
    Some(match table.text("mode")? {
        "um" => Rlc::Um(RlcUm {
            long_sequence_number: table.text("sequence_number")? == "10 bits",
            t_reordering,
            one_pdu_per_block,
        }),
        _ => Rlc::Am(RlcAm {
            poll_pdus: table.integer("poll_pdus"),
            poll_bytes: table.quantity::<Bytes>("poll_bytes").map(Bytes::get),
            t_poll_retransmit: table.quantity("t_poll_retransmit")?,
            poll_retransmits_all: table.text("poll_retransmission")? == "all",
            t_reordering,
            t_status_prohibit: table.quantity("t_status_prohibit")?,
            max_retransmissions: table.integer("max_retransmissions"),
            resegmentation: table.boolean("resegmentation")?,
            one_pdu_per_block,
        }),
    })
}

fn pdcp(table: &Table) -> Option<Pdcp> {
    Some(Pdcp {
        long_sequence_number: table.text("sequence_number")? == "12 bits",
        discard_timer: table.quantity("discard_timer"),
    })
}

fn attach(table: &Table) -> Option<Attach> {
    Some(Attach {
        system_information_period: table.quantity("system_information_period")?,
        random_access: table.quantity("random_access")?,
        setup: table.quantity("setup")?,
    })
}

fn handover(table: &Table) -> Option<Handover> {
    Some(Handover {
        offset: table.quantity("offset")?,
        hysteresis: table.quantity("hysteresis")?,
        time_to_trigger: table.quantity("time_to_trigger")?,
        filter_coefficient: table.integer("filter_coefficient")?,
        preparation: table.quantity("preparation")?,
        interruption: table.quantity("interruption")?,
    })
}

fn radio_link(table: &Table) -> Option<RadioLink> {
    Some(RadioLink {
        measurement_period: table.quantity("measurement_period")?,
        out_of_sync: table.quantity("out_of_sync")?,
        in_sync: table.quantity("in_sync")?,
        n310: table.integer("n310")?,
        t310: table.quantity("t310")?,
        n311: table.integer("n311")?,
        reestablishment: table.quantity("reestablishment")?,
    })
}
