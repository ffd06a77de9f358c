//! What a radio access network is built from: one value for the network, one for each cell and
//! each UE.
//!
//! The defaults are a network as the standard and operators have it; [`lena`] lists those that
//! ns-3's LENA has otherwise, each as the switch that it is here.

use std::ops::RangeInclusive;
use std::sync::Arc;

use backlane_net::NodeId;
use backlane_param::{
    BufferLimit, Int, Issue, Milliseconds, Mismatch, OrAuto, OrInfinite, OrNone, changed_defaults,
    choice, params, words,
};
use backlane_radio::mobility::{MobilityModel, UeMobility};
use backlane_radio::path_loss::{CellPathLoss, PathLossModel};
use backlane_radio::{FadingProfile, Mobility, Named, Position, Shadowing};
use backlane_units::{Bytes, Decibels, Duration, Frequency, Length, Power, Speed};

use crate::fading_trace::FadingTrace;
use crate::pdcp::PdcpConfig;
use crate::phy::error_model::{CodeRate, Combining};
use crate::phy::link_adaptation::Adaptation;
use crate::rlc::{PollRetransmission, RlcConfig};
use crate::rrc::RrcConfig;
use crate::trace::ChannelTrace;

/// TTIs from a downlink transport block to its feedback, from an uplink grant to its PUSCH, and
/// from a PUSCH to its feedback, in FDD (TS 36.213 §7.3, §8.0, §9.1.2).
pub const FEEDBACK_TTIS: u32 = 4;

const POWER: RangeInclusive<Power> = Power::from_mdbm(-150_000)..=Power::from_mdbm(100_000);
const FREQUENCY: RangeInclusive<Frequency> =
    Frequency::from_hz(100_000_000)..=Frequency::from_hz(100_000_000_000);
const GROUND: Length = Length::from_um(0);

/// Up to `db` decibels.
const fn up_to(db: i64) -> RangeInclusive<Decibels> {
    Decibels::from_mdb(0)..=Decibels::from_mdb(1000 * db)
}

params! {
    /// An LTE radio access network: each eNodeB has a cell on each carrier.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RanConfig {
        /// Whose behaviour the defaults are: that of the standard and of operators, or that of
        /// ns-3's LENA with its artefacts.
        profile: Profile = Profile::Standard;
        /// Component carriers of every cell, the primary one first; the uplink uses the primary
        /// one.
        carrier: Vec<CarrierConfig> = vec![CarrierConfig::band_7()];
        /// Spatial layers of the downlink.
        layers: Int = Int(1), in &[1, 2, 4];
        /// Ports of cell-specific reference signals, which take resource elements from the data;
        /// "auto" is 2, or the number of layers if that is more.
        antenna_ports: OrAuto<Int> = OrAuto::Auto, in &[1, 2, 4];
        /// 256QAM in the downlink, by the second tables of CQI and MCS (TS 36.213 §7.1.7, §7.2.3).
        qam256: bool = false;
        /// Symbols of the control region; "auto" takes as few as the assignments and grants of the
        /// subframe need.
        control_symbols: OrAuto<Int> = OrAuto::Auto, in &[1, 2, 3];
        /// The code rate that a transport block is judged by: what its allocation leaves, or one
        /// number for each MCS.
        code_rate: CodeRate = CodeRate::Real;
        /// Highest code rate of a transport block (TS 36.213 §7.1.7: a UE may skip what is above
        /// 0.931).
        code_rate_limit: OrNone<f64> = OrNone::Value(0.931), in 0.5..=1.0;
        /// Whether a subframe holds no more assignments and grants than it has control channel
        /// elements.
        cce_limit: bool = true;
        /// Whether UEs miss assignments and grants at low SINR.
        ///
        /// If not, the aggregation of control channel elements is enough for every UE.
        control_errors: bool = false;
        /// Transmit power of an eNodeB on each carrier: a small cell; a macro cell has 43 to 46
        /// dBm.
        enodeb_power: Power = Power::from_mdbm(30_000), in POWER;
        /// Highest transmit power of a UE (power class 3).
        ue_power: Power = Power::from_mdbm(23_000), in POWER;
        /// Noise figure of an eNodeB's receiver.
        enodeb_noise_figure: Decibels = Decibels::from_mdb(5_000), in up_to(40);
        /// Noise figure of a UE's receiver.
        ue_noise_figure: Decibels = Decibels::from_mdb(9_000), in up_to(40);
        /// What a real receiver loses against the link curves.
        ///
        /// It is taken off every SINR.
        implementation_loss: Decibels = Decibels::from_mdb(1_000), in up_to(20);
        /// Height of the eNodeBs' antennas.
        enodeb_height: Length = Length::from_um(30_000_000), in GROUND..;
        /// Height of the UEs.
        ue_height: Length = Length::from_um(1_500_000), in GROUND..;
        /// How UEs move whose own row gives neither a speed above zero nor a trace.
        mobility: Named<UeMobility, dyn MobilityModel> = Named::Known(UeMobility::Static);
        /// Loss over distance.
        path_loss: Named<CellPathLoss, dyn PathLossModel> = Named::Known(CellPathLoss::Kun2600);
        /// Correlated log-normal shadowing.
        shadowing: Shadowing = Shadowing::Off;
        /// Fast fading of a serving link (TS 36.104 annex B.2), at the Doppler frequency of the
        /// UE's speed.
        fading: OrNone<FadingProfile> = OrNone::None;
        /// Speed of the fading: that of each UE ("auto"), or one for all UEs regardless of their
        /// own, as where what surrounds a UE at rest moves.
        fading_speed: OrAuto<Speed> = OrAuto::Auto;
        /// From other cells: none, from what they really send, or from all of their resource
        /// blocks at all times.
        interference: Interference = Interference::LoadCoupled;
        /// The downlink scheduler.
        scheduler: SchedulerConfig = SchedulerConfig::default();
        /// From a scheduler's decision to its transmission.
        decision_to_air: Milliseconds = Milliseconds(1), in 1..=3;
        /// From the end of a transport block to its data in the layer above.
        ///
        /// At most 3 TTIs, since the feedback needs the decoder's result.
        decoding: Milliseconds = Milliseconds(1), in 0..=3;
        /// Whether MAC headers and control elements take bytes.
        mac_headers: bool = true;
        /// What GTP-U adds to a packet of a UE in the backhaul: 8 bytes, with UDP and IPv4.
        tunnel: Bytes = Bytes::new(36), in Bytes::new(0)..=Bytes::new(1000);
        /// Channel quality reports.
        cqi: CqiConfig = CqiConfig::default();
        /// Link adaptation.
        adaptation: AdaptationConfig = AdaptationConfig::default();
        /// Hybrid ARQ.
        harq: HarqConfig = HarqConfig::default();
        /// Requests, grants and power of the uplink.
        uplink: UplinkConfig = UplinkConfig::default();
        /// Radio link control of each UE's bearer, the same in both directions.
        rlc: RlcConfig = RlcConfig::default();
        /// Packet data convergence.
        pdcp: PdcpConfig = PdcpConfig::default();
        /// Attaching, handover and radio link failure.
        rrc: RrcConfig = RrcConfig::default();
    }
    rules RanConfig::beyond_the_standard;
}

words! {
    /// Whose behaviour the defaults are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Profile {
        /// That of the standard and of operators.
        Standard = "standard",
        /// That of ns-3's LENA.
        Lena = "lena",
    }
}

params! {
    /// A component carrier, downlink and uplink of one width.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CarrierConfig as "carrier" {
        /// Width: 6, 15, 25, 50, 75 or 100 resource blocks.
        bandwidth: Bandwidth = Bandwidth::Mhz20;
        /// Centre of the downlink.
        frequency: Frequency, in FREQUENCY;
        /// Centre of the uplink; left out, it is that of the downlink.
        uplink_frequency: Option<Frequency> = None, in FREQUENCY;
    }
}

words! {
    /// The width of a carrier (TS 36.101 table 5.6-1).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Bandwidth {
        /// 6 resource blocks.
        Mhz1_4 = "1.4 MHz",
        /// 15 resource blocks.
        Mhz3 = "3 MHz",
        /// 25 resource blocks.
        Mhz5 = "5 MHz",
        /// 50 resource blocks.
        Mhz10 = "10 MHz",
        /// 75 resource blocks.
        Mhz15 = "15 MHz",
        /// 100 resource blocks.
        Mhz20 = "20 MHz",
    }
}

words! {
    /// Interference between cells.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Interference {
        /// None.
        Off = "off",
        /// From the resource block groups that other cells use in the subframe.
        LoadCoupled = "load-coupled",
        /// From all other cells on all downlink resource blocks at all times; the uplink as with
        /// [`Interference::LoadCoupled`].
        Full = "full",
    }
}

params! {
    /// The downlink scheduler.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SchedulerConfig as "scheduler" or rule {
        /// The rule.
        rule: SchedulerRule = SchedulerRule::ProportionalFair;
        /// Most UEs with new data in one subframe, cell and carrier; the control region limits
        /// them further.
        max_ues: u8 = 10, in 1..=255;
        /// What the averages of proportional fair and blind equal throughput count.
        counts: Counts = Counts::Acknowledged;
        /// With sub-band reports, whether the MCS follows from the worst resource block group
        /// (round robin then goes by the wideband report), or else from the mean information.
        worst_rbg_mcs: bool = false;
        /// Where the resource block groups of a subframe are given out from, and a retransmission's
        /// are looked for.
        first_group: FirstGroup = FirstGroup::Drawn;
    }
}

words! {
    /// The resource block group that a cell gives out first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FirstGroup {
        /// One drawn in each cell and subframe, so that neighbours that send little seldom meet on
        /// the same blocks, and do not meet again where they did (randomised interference, TR 25.814
        /// §7.1.2.6; retransmissions of the downlink are adaptive, TS 36.300 §9.1).
        Drawn = "drawn",
        /// The lowest; a retransmission goes where the block was, as in LENA.
        Lowest = "lowest",
    }
}

choice! {
    /// The rule of a downlink scheduler.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SchedulerRule {
        /// Who is served next.
        rule = ProportionalFair;

        /// The highest ratio of possible rate to average throughput.
        ///
        /// For each resource block group.
        ProportionalFair = "proportional-fair";
        /// Equal shares in turn.
        RoundRobin = "round-robin";
        /// The highest possible rate.
        MaxCqi = "max-cqi";
        /// The lowest average throughput.
        BlindEqualThroughput = "blind-equal-throughput";
    }
}

words! {
    /// What a throughput average counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Counts {
        /// Bytes whose reception was acknowledged.
        Acknowledged = "acknowledged",
        /// Bytes of first transmissions.
        Sent = "sent",
    }
}

params! {
    /// Channel quality reports.
    ///
    /// They reach the eNodeB without error and take no uplink capacity.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CqiConfig as "cqi" {
        /// Time between two reports of a UE.
        period: Milliseconds = Milliseconds(5), in 1..=160;
        /// From the subframe that is measured until the scheduler knows.
        delay: Milliseconds = Milliseconds(6), in 1..=100;
        /// Reports for each resource block group beside the wideband one.
        sub_band: bool = false;
    }
}

params! {
    /// How an MCS follows from the channel.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AdaptationConfig as "adaptation" {
        /// How a UE finds the CQI that it reports: from the mean mutual information over all
        /// resource blocks (TS 36.213 §7.2.3), or as LENA's MiErrorModel or PiroEW2010.
        rule: Adaptation = Adaptation::EffectiveInformation;
        /// Block error rate of first transmissions that is aimed at.
        target_bler: f64 = 0.1, in 0.001..=0.5;
        /// Whether the reports are corrected by what was acknowledged.
        outer_loop: bool = true;
        /// Rise with each acknowledged first transmission; the fall with a lost one follows from
        /// the target.
        ///
        /// It is `step · (1 − target) / target`.
        outer_loop_step: Decibels = Decibels::from_mdb(50),
            in Decibels::from_mdb(1)..=Decibels::from_mdb(5_000);
        /// Largest correction, up and down.
        outer_loop_limit: Decibels = Decibels::from_mdb(6_000), in up_to(30);
    }
}

params! {
    /// Retransmissions in the MAC: eight processes for each UE, carrier and direction.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HarqConfig as "harq" {
        /// From a transmission to the earliest retransmission.
        round_trip: Milliseconds = Milliseconds(8), in 5..=40;
        /// Transmissions of a transport block, the first included.
        max_transmissions: u8 = 4, in 1..=4;
        /// How the receiver uses earlier transmissions: other coded bits each time, the same ones,
        /// as LENA, or as LENA with its sums of 16 bits.
        combining: Combining = Combining::IncrementalRedundancy;
        /// Probability that a negative acknowledgement is read as a positive one.
        ///
        /// That of a downlink transport block.
        nack_to_ack: f64 = 0.001, in 0.0..=0.5;
    }
}

params! {
    /// The uplink.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct UplinkConfig as "uplink" {
        /// How the eNodeB learns what UEs have to send.
        requests: UplinkRequests = UplinkRequests::default();
        /// Open-loop power control (TS 36.213 §5.1.1), or else full power.
        ///
        /// A resource block is sent with `p0 + alpha · path loss`, as far as the UE's power goes.
        power_control: bool = true;
        /// Target level of a resource block at the eNodeB.
        ///
        /// With an `alpha` of one. LENA has the same defaults.
        p0: Power = Power::from_mdbm(-80_000), in POWER;
        /// Share of the path loss that is made up for.
        alpha: f64 = 1.0, in 0.0..=1.0;
        /// Time between two sounding signals of a UE.
        sounding_period: Milliseconds = Milliseconds(10), in 1..=320;
        /// Fewest resource blocks of a grant.
        min_prb: u16 = 1, in 1..=100;
        /// Whether UEs send 64QAM; many categories do not (TS 36.306).
        qam64: bool = false;
    }
}

choice! {
    /// How the eNodeB learns what UEs have to send.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum UplinkRequests {
        /// How the eNodeB learns what UEs have to send.
        requests = Scheduled;

        /// Scheduling requests and buffer status reports (TS 36.321 §5.4.4, §5.4.5).
        Scheduled = "scheduled" (keys: ScheduledUplink = ScheduledUplink::default());
        /// A buffer status report in each subframe that costs nothing.
        ///
        /// As in LENA it reaches the eNodeB after four TTIs, one as soon as something comes to the
        /// buffer; grants are in turn.
        Ideal = "ideal";
    }
}

params! {
    /// Scheduling requests and buffer status reports (TS 36.321 §5.4.4, §5.4.5).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ScheduledUplink {
        /// Time between a UE's chances to send a scheduling request.
        ///
        /// Each UE has an offset of its own.
        sr_period: Milliseconds = Milliseconds(10), in 1..=80;
        /// From a scheduling request to its grant on the air.
        sr_to_grant: Milliseconds = Milliseconds(4), in 1..=20;
        /// Who is granted what: equal shares in turn, what some do not need to the others; or all
        /// that it needs to the UE with the highest ratio of possible rate to average throughput,
        /// then to the next.
        scheduler: UplinkScheduler = UplinkScheduler::RoundRobin;
        /// Granted to a UE of which no more than its request is known: a TCP acknowledgement with
        /// its headers.
        ///
        /// 52 bytes with timestamps, under PDCP, RLC and MAC headers, and a short buffer status
        /// report.
        first_grant: Bytes = Bytes::new(64), in Bytes::new(8)..=Bytes::new(100_000);
        /// periodicBSR-Timer.
        ///
        /// Shorter than the 8 TTIs from a report to the PUSCH that it is granted, so that each
        /// PUSCH reports what has arrived since.
        periodic_bsr: Milliseconds = Milliseconds(5), in 5..=2560;
        /// retxBSR-Timer.
        retransmit_bsr: Milliseconds = Milliseconds(320), in 320..=10_240;
    }
}

words! {
    /// The rule of an uplink scheduler. A UE gets no more resource blocks than its data needs and
    /// its power reaches for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum UplinkScheduler {
        /// Equal shares in turn; what some do not need goes to the others.
        RoundRobin = "round-robin",
        /// As much as it needs to the UE with the highest ratio of possible rate to average
        /// throughput, then to the next.
        ProportionalFair = "proportional-fair",
    }
}

changed_defaults! {
    /// The network that ns-3's LENA would build: one layer, three control symbols, its link
    /// adaptation, error model, HARQ, uplink and RLC.
    pub fn lena() = "lena" {
        antenna_ports = OrAuto::Value(Int(1));
        control_symbols = OrAuto::Value(Int(3));
        code_rate = CodeRate::Nominal;
        code_rate_limit = OrNone::<f64>::None;
        cce_limit = false;
        control_errors = true;
        implementation_loss = Decibels::from_mdb(0);
        decision_to_air = Milliseconds(2);
        decoding = Milliseconds(0);
        mac_headers = false;
        tunnel = Bytes::new(40);
        scheduler.max_ues = u8::MAX;
        scheduler.counts = Counts::Sent;
        scheduler.worst_rbg_mcs = true;
        scheduler.first_group = FirstGroup::Lowest;
        cqi.period = Milliseconds(1);
        cqi.delay = Milliseconds(5);
        cqi.sub_band = true;
        adaptation.rule = Adaptation::LenaErrorModel;
        adaptation.outer_loop = false;
        harq.round_trip = Milliseconds(7);
        harq.combining = Combining::Lena;
        harq.nack_to_ack = 0.0;
        handover.event = "none".to_owned();
        uplink.requests = "ideal".to_owned();
        uplink.sounding_period = Milliseconds(40);
        uplink.min_prb = 3_u16;
        uplink.qam64 = true;
        // Less than an initial window of TCP.
        rlc.buffer = BufferLimit::Bytes(Bytes::new(10_240));
        rlc.one_pdu_per_block = true;
        rlc["um"].t_reordering = Duration::from_millis(100);
        // Every PDU polls, PDUs are reported as missing before HARQ has had its chance, nothing is
        // segmented in retransmission, and retransmissions have no limit.
        rlc["am"].poll_pdus = 1_u32;
        rlc["am"].poll_bytes = Bytes::new(50);
        rlc["am"].t_poll_retransmit = Duration::from_millis(20);
        rlc["am"].poll_retransmission = PollRetransmission::All;
        rlc["am"].t_reordering = Duration::from_millis(10);
        rlc["am"].t_status_prohibit = Duration::from_millis(10);
        rlc["am"].max_retransmissions = OrInfinite::<u32>::Infinite;
        rlc["am"].resegmentation = false;
    }
}

impl CarrierConfig {
    /// 20 MHz at the centres of band 7 (TS 36.101 table 5.5-1: 2620 to 2690 and 2500 to 2570 MHz).
    pub const fn band_7() -> Self {
        Self {
            bandwidth: Bandwidth::Mhz20,
            frequency: Frequency::from_hz(2_655_000_000),
            uplink_frequency: Some(Frequency::from_hz(2_535_000_000)),
        }
    }

    /// Resource blocks.
    pub const fn n_rb(&self) -> u16 {
        self.bandwidth.n_rb()
    }

    /// Centre of the uplink.
    pub fn uplink(&self) -> Frequency {
        self.uplink_frequency.unwrap_or(self.frequency)
    }
}

impl Bandwidth {
    /// All widths, the narrowest first.
    pub const ALL: [Self; 6] = [
        Self::Mhz1_4,
        Self::Mhz3,
        Self::Mhz5,
        Self::Mhz10,
        Self::Mhz15,
        Self::Mhz20,
    ];

    /// Resource blocks (TS 36.101 table 5.6-1).
    pub const fn n_rb(self) -> u16 {
        match self {
            Self::Mhz1_4 => 6,
            Self::Mhz3 => 15,
            Self::Mhz5 => 25,
            Self::Mhz10 => 50,
            Self::Mhz15 => 75,
            Self::Mhz20 => 100,
        }
    }
}

impl RanConfig {
    /// The network with the defaults of LENA in place of these values.
    ///
    /// # Errors
    ///
    /// A default of the profile is no value of its key.
    pub fn as_lena(&self) -> Result<Self, Mismatch> {
        lena().apply(self)
    }

    /// Spatial layers of the downlink.
    pub fn layers(&self) -> u8 {
        self.layers.0 as u8
    }

    /// Ports of cell-specific reference signals.
    pub fn ports(&self) -> u8 {
        let ports = self.antenna_ports.value();
        ports.map_or(self.layers().max(2), |ports| ports.0 as u8)
    }

    /// Symbols of the control region; `None` takes as few as needed.
    pub fn cfi(&self) -> Option<u8> {
        self.control_symbols.value().map(|symbols| symbols.0 as u8)
    }

    /// What the standard does not allow.
    fn beyond_the_standard(&self) -> Vec<Issue> {
        let mut issues = Vec::new();
        let (layers, ports) = (self.layers(), self.ports());
        if ports < layers {
            issues.push(Issue::sentence(
                &["antenna_ports"],
                format!("{layers} layers need as many antenna ports, not {ports}"),
                format!("write {layers}, or fewer layers"),
            ));
        }
        if self.rrc.radio_link.in_sync < self.rrc.radio_link.out_of_sync {
            issues.push(Issue::sentence(
                &["radio_link"],
                "a link would be in sync and out of sync at once",
                "in_sync must not be below out_of_sync",
            ));
        }
        issues
    }
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
    /// Fading of its links, in place of the profile of the network.
    pub fading_trace: Option<Arc<FadingTrace>>,
}

/// Where a UE's downlink quality comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum UeChannel {
    /// From the model: geometry, fading, interference.
    Radio,
    /// The SINR in decibels of each layer on every carrier and resource block, regardless of the
    /// serving cell; it includes the losses of the receiver.
    Sinr(Arc<ChannelTrace>),
    /// The same as a mean, with the fading of its link on top.
    MeanSinr(Arc<ChannelTrace>),
    /// The CQI that it would report.
    Cqi(Arc<ChannelTrace>),
}
