//! What a radio access network is built from: one value for the network, one for each cell and
//! each UE.
//!
//! [`RanConfig::default`] is a network as the standard and operators have it; [`RanConfig::lena`]
//! has the artefacts of ns-3's LENA, each as the switch that it is here.

use std::sync::Arc;

use backlane_net::NodeId;
use backlane_radio::path_loss::Kun2600;
use backlane_radio::{FadingProfile, Mobility, PathLoss, Position, Shadowing};
use backlane_units::{Frequency, Power};

use crate::pdcp::PdcpConfig;
use crate::phy::error_model::{CodeRate, Combining};
use crate::phy::link_adaptation::Adaptation;
use crate::rlc::{BufferConfig, RlcConfig};
use crate::rrc::RrcConfig;
use crate::trace::ChannelTrace;

/// The most component carriers that a UE can use (TS 36.331: `maxServCell-r10` is 5).
pub const MAX_CARRIERS: usize = 5;
/// TTIs from a downlink transport block to its feedback, from an uplink grant to its PUSCH, and
/// from a PUSCH to its feedback, in FDD (TS 36.213 §7.3, §8.0, §9.1.2).
pub const FEEDBACK_TTIS: u32 = 4;

/// The centre of band 7's downlink (TS 36.101 table 5.5-1: 2620 to 2690 MHz).
const BAND_7_DOWNLINK: Frequency = Frequency::from_hz(2_655_000_000);

/// A radio access network: what all its cells and UEs have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct RanConfig {
    /// Component carriers, the primary one first. The uplink uses the primary one.
    pub carriers: Vec<CarrierConfig>,
    /// Spatial layers of the downlink: 1, 2 or 4.
    pub layers: u8,
    /// Ports of cell-specific reference signals: 1, 2 or 4, not fewer than layers.
    pub ports: u8,
    /// Downlink with 256QAM, by the second tables of CQI and MCS.
    pub qam256: bool,
    /// Symbols of the control region.
    pub cfi: Cfi,
    /// The code rate that a transport block is judged by.
    pub code_rate: CodeRate,
    /// Highest code rate of a transport block that is sent; [`None`] sends any (LENA).
    pub code_rate_limit: Option<f64>,
    /// A subframe holds no more assignments and grants than its control channel elements (LENA:
    /// any number).
    pub cce_limit: bool,
    /// UEs miss assignments and grants at low SINR, as LENA has it. Otherwise aggregation of
    /// control channel elements is taken to be enough.
    pub control_errors: bool,
    /// Transmit power of an eNodeB, on each carrier.
    pub enodeb_power: Power,
    /// Highest transmit power of a UE.
    pub ue_power: Power,
    /// Noise figure of an eNodeB's receiver.
    pub enodeb_noise_figure_db: f64,
    /// Noise figure of a UE's receiver.
    pub ue_noise_figure_db: f64,
    /// What a real receiver loses against the link curves, on every SINR.
    pub implementation_loss_db: f64,
    /// Correlated log-normal shadowing.
    pub shadowing: Shadowing,
    /// Fast fading of the serving link.
    pub fading: Option<FadingProfile>,
    /// Who disturbs whom.
    pub interference: Interference,
    /// Who is served next in the downlink.
    pub scheduler: SchedulerConfig,
    /// TTIs from a scheduler's decision to its transmission on the air: 1 to 3.
    pub decision_to_air_ttis: u32,
    /// TTIs from the end of a transport block to its data in the layer above; at most 3, since
    /// the feedback needs the decoder's result.
    pub decoding_ttis: u32,
    /// Bytes of MAC headers and control elements are sent (LENA has none).
    pub mac_headers: bool,
    /// What UEs report of the downlink.
    pub cqi: CqiConfig,
    /// How an MCS follows from the reports.
    pub adaptation: AdaptationConfig,
    /// Retransmissions in the MAC.
    pub harq: HarqConfig,
    /// Requests and grants.
    pub uplink: UplinkConfig,
    /// The radio bearer's RLC, both directions.
    pub rlc: RlcConfig,
    /// The transmission buffer of each bearer and direction.
    pub buffer: BufferConfig,
    /// PDCP, both directions.
    pub pdcp: PdcpConfig,
    /// Attaching, handover and radio link failure.
    pub rrc: RrcConfig,
}

/// One component carrier, downlink and uplink of one width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarrierConfig {
    /// Resource blocks: 6, 15, 25, 50, 75 or 100.
    pub n_rb: u16,
    /// Centre of the downlink.
    pub downlink: Frequency,
    /// Centre of the uplink.
    pub uplink: Frequency,
    /// Loss over distance, in both directions.
    pub path_loss: PathLoss,
}

/// Symbols of the control region in each subframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cfi {
    /// As few as the assignments and grants of the subframe need.
    Auto,
    /// Always so many: 1, 2 or 3.
    Fixed(u8),
}

/// Interference between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interference {
    /// None.
    Off,
    /// From the resource block groups that other cells really use in the subframe.
    LoadCoupled,
    /// From all other cells on all downlink resource blocks at all times; the uplink as with
    /// [`Interference::LoadCoupled`].
    Full,
}

/// The downlink scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchedulerConfig {
    /// The rule.
    pub kind: SchedulerKind,
    /// Most UEs that one subframe serves with new data in one cell and carrier; what the control
    /// region holds limits them further.
    pub max_ues: u8,
    /// What the throughput averages of proportional fair and blind equal throughput count:
    /// what arrived, or what was sent (LENA).
    pub counts: Counts,
    /// With sub-band reports, the MCS of a block follows from the mean information over its
    /// resource block groups, or from the worst of them (LENA, whose round robin goes by the
    /// wideband report instead).
    pub worst_rbg_mcs: bool,
}

/// The rule of a downlink scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerKind {
    /// Equal shares in turn.
    RoundRobin,
    /// Highest ratio of possible rate to average throughput, for each resource block group.
    ProportionalFair,
    /// Highest possible rate.
    MaxCqi,
    /// Lowest average throughput.
    BlindEqualThroughput,
}

/// What a throughput average counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Bytes whose reception was acknowledged.
    Acknowledged,
    /// Bytes of first transmissions.
    Sent,
}

/// Channel quality reports. They reach the eNodeB without error and take no uplink capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqiConfig {
    /// TTIs between two reports of one UE.
    pub period_ttis: u32,
    /// TTIs from the subframe that is measured until the scheduler knows.
    pub delay_ttis: u32,
    /// Reports for each resource block group beside the wideband one.
    pub sub_band: bool,
}

/// Link adaptation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptationConfig {
    /// How a UE finds the CQI that it reports.
    pub rule: Adaptation,
    /// Block error rate of first transmissions that is aimed at.
    pub target_bler: f64,
    /// Correction of the reports by the feedback; [`None`] is LENA.
    pub outer_loop: Option<OuterLoopConfig>,
}

/// Outer-loop link adaptation: the offset on the reported quality rises by `step_up_db` with
/// each acknowledged first transmission and falls by `step_up_db · (1 − target) / target` with
/// each lost one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OuterLoopConfig {
    /// Rise with each acknowledged first transmission.
    pub step_up_db: f64,
    /// Largest offset, up and down.
    pub limit_db: f64,
}

/// Hybrid ARQ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarqConfig {
    /// TTIs from a transmission to the earliest retransmission: 8 in FDD, 7 in LENA.
    pub round_trip_ttis: u32,
    /// Transmissions of one transport block, the first included: 1 to 4.
    pub max_transmissions: u8,
    /// How the receiver uses earlier transmissions.
    pub combining: Combining,
    /// Probability that a negative acknowledgement of a downlink block is read as a positive one.
    pub nack_to_ack: f64,
}

/// How UEs ask for the uplink and what they are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UplinkConfig {
    /// How the eNodeB learns what UEs have to send.
    pub requests: UplinkRequests,
    /// Open-loop power control; [`None`] sends at full power (LENA's default is `P0` −80 dBm per
    /// resource block and a factor of 1, which is ours as well).
    pub power_control: Option<PowerControlConfig>,
    /// TTIs between two sounding signals of one UE.
    pub sounding_period_ttis: u32,
    /// Fewest resource blocks of a grant (LENA: 3).
    pub min_prb: u16,
    /// UEs send 64QAM; many categories do not (TS 36.306 table 4.1-2).
    pub qam64: bool,
}

/// The rule of an uplink scheduler. A UE gets no more resource blocks than its data needs and its
/// power reaches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UplinkScheduler {
    /// Equal shares in turn; what some do not need goes to the others.
    RoundRobin,
    /// As much as it needs to the UE with the highest ratio of possible rate to average throughput,
    /// then to the next.
    ProportionalFair,
}

/// How the eNodeB learns what UEs have to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UplinkRequests {
    /// Scheduling requests and buffer status reports, as the standard has them.
    Scheduled(ScheduledUplink),
    /// Buffer status reports that cost nothing and reach the eNodeB after four TTIs, one as soon as
    /// something comes to the buffer; grants in turn (LENA).
    Ideal,
}

/// Scheduling requests and buffer status reports (TS 36.321 §5.4.4, §5.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledUplink {
    /// TTIs between a UE's chances to send a scheduling request; each UE has an offset of its own.
    pub sr_period_ttis: u32,
    /// TTIs from a scheduling request to its grant on the air.
    pub sr_to_grant_ttis: u32,
    /// Who is served next.
    pub scheduler: UplinkScheduler,
    /// Bytes granted to a UE of which no more than its request is known.
    pub first_grant_bytes: u32,
    /// `periodicBSR-Timer`.
    pub periodic_bsr_ttis: u32,
    /// `retxBSR-Timer`.
    pub retransmit_bsr_ttis: u32,
}

/// Open-loop uplink power control (TS 36.213 §5.1.1): a resource block is sent with
/// `p0 + alpha · path loss`, as far as the UE's power goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerControlConfig {
    /// Target level of one resource block at the eNodeB when `alpha` is one.
    pub p0: Power,
    /// Share of the path loss that is made up for, 0 to 1.
    pub alpha: f64,
}

/// An eNodeB with one cell on each carrier.
#[derive(Clone, Debug, PartialEq)]
pub struct CellConfig {
    /// Its router. Its name in random streams is `enb` and this node's number.
    pub node: NodeId,
    /// Where its antenna is.
    pub position: Position,
}

/// A UE.
#[derive(Clone, Debug, PartialEq)]
pub struct UeConfig {
    /// Its host.
    pub node: NodeId,
    /// Its name in random streams.
    pub name: String,
    /// Where it is when.
    pub mobility: Mobility,
    /// The cell that serves it, an index among the cells; [`None`]: the one that is received
    /// strongest at the start.
    pub serving: Option<usize>,
    /// Where its downlink quality comes from.
    pub channel: UeChannel,
}

/// Where a UE's downlink quality comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum UeChannel {
    /// From the model: geometry, fading, interference.
    Radio,
    /// The SINR in decibels of each layer on every carrier and resource block, whatever cell serves
    /// it; losses of the receiver are in it.
    Sinr(Arc<ChannelTrace>),
    /// The CQI that it would report.
    Cqi(Arc<ChannelTrace>),
}

impl Default for RanConfig {
    /// One carrier of 20 MHz in band 7, one layer, a small cell of 30 dBm.
    fn default() -> Self {
        Self {
            carriers: vec![CarrierConfig {
                n_rb: 100,
                downlink: BAND_7_DOWNLINK,
                uplink: Frequency::from_hz(2_535_000_000),
                path_loss: PathLoss::Kun2600(Kun2600 {
                    frequency: BAND_7_DOWNLINK,
                }),
            }],
            layers: 1,
            ports: 2,
            qam256: false,
            cfi: Cfi::Auto,
            code_rate: CodeRate::Real,
            code_rate_limit: Some(0.931),
            cce_limit: true,
            control_errors: false,
            enodeb_power: Power::from_mdbm(30_000),
            ue_power: Power::from_mdbm(23_000),
            enodeb_noise_figure_db: 5.0,
            ue_noise_figure_db: 9.0,
            implementation_loss_db: 1.0,
            shadowing: Shadowing::Off,
            fading: None,
            interference: Interference::LoadCoupled,
            scheduler: SchedulerConfig {
                kind: SchedulerKind::ProportionalFair,
                max_ues: 10,
                counts: Counts::Acknowledged,
                worst_rbg_mcs: false,
            },
            decision_to_air_ttis: 1,
            decoding_ttis: 1,
            mac_headers: true,
            cqi: CqiConfig {
                period_ttis: 5,
                delay_ttis: 6,
                sub_band: false,
            },
            adaptation: AdaptationConfig {
                rule: Adaptation::EffectiveInformation,
                target_bler: 0.1,
                outer_loop: Some(OuterLoopConfig {
                    step_up_db: 0.05,
                    limit_db: 6.0,
                }),
            },
            harq: HarqConfig {
                round_trip_ttis: 8,
                max_transmissions: 4,
                combining: Combining::IncrementalRedundancy,
                nack_to_ack: 1e-3,
            },
            uplink: UplinkConfig {
                requests: UplinkRequests::Scheduled(ScheduledUplink::default()),
                power_control: Some(PowerControlConfig {
                    p0: Power::from_mdbm(-80_000),
                    alpha: 1.0,
                }),
                sounding_period_ttis: 10,
                min_prb: 1,
                qam64: false,
            },
            rlc: RlcConfig::default(),
            buffer: BufferConfig::default(),
            pdcp: PdcpConfig::default(),
            rrc: RrcConfig::default(),
        }
    }
}

impl Default for ScheduledUplink {
    fn default() -> Self {
        Self {
            sr_period_ttis: 10,
            sr_to_grant_ttis: 4,
            scheduler: UplinkScheduler::RoundRobin,
            // One TCP acknowledgement with timestamps (52 bytes) under PDCP, RLC and MAC headers,
            // and a short buffer status report.
            first_grant_bytes: 64,
            // Shorter than the 8 TTIs from a report to the PUSCH that it is granted, so that each
            // PUSCH tells what has come since.
            periodic_bsr_ttis: 5,
            retransmit_bsr_ttis: 320,
        }
    }
}

impl RanConfig {
    /// The network that ns-3's LENA would build: one layer, three control symbols, its link
    /// adaptation, error model, HARQ, uplink and RLC.
    pub fn lena() -> Self {
        let standard = Self::default();
        Self {
            ports: 1,
            cfi: Cfi::Fixed(3),
            code_rate: CodeRate::Nominal,
            code_rate_limit: None,
            cce_limit: false,
            control_errors: true,
            implementation_loss_db: 0.0,
            scheduler: SchedulerConfig {
                counts: Counts::Sent,
                worst_rbg_mcs: true,
                max_ues: u8::MAX,
                ..standard.scheduler
            },
            decision_to_air_ttis: 2,
            decoding_ttis: 0,
            mac_headers: false,
            cqi: CqiConfig {
                period_ttis: 1,
                delay_ttis: 5,
                sub_band: true,
            },
            adaptation: AdaptationConfig {
                rule: Adaptation::LenaErrorModel,
                outer_loop: None,
                ..standard.adaptation
            },
            harq: HarqConfig {
                round_trip_ttis: 7,
                combining: Combining::Lena {
                    sixteen_bits: false,
                },
                nack_to_ack: 0.0,
                ..standard.harq
            },
            uplink: UplinkConfig {
                requests: UplinkRequests::Ideal,
                sounding_period_ttis: 40,
                min_prb: 3,
                qam64: true,
                ..standard.uplink
            },
            rlc: RlcConfig::lena(),
            buffer: BufferConfig::lena(),
            rrc: RrcConfig {
                handover: None,
                ..standard.rrc
            },
            ..standard
        }
    }
}
