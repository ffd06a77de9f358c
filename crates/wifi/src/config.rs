//! What an 802.11 network is built from: one value for the network, one for each station and each
//! link.
//!
//! [`WifiConfig::new`] is a network as the standard has it; [`WifiConfig::ns2`] has the ways of
//! ns-2's `Mac/802_11`, each as the switch that it is here.

use std::fmt;

use backlane_engine::Interrupt;
use backlane_net::{NodeId, QueueConfig, QueueLimit};
use backlane_radio::path_loss::{LogDistance, TwoRay};
use backlane_radio::{FrameFading, PathLoss, Position};
use backlane_units::{Decibels, Duration, Frequency, Power, Rate};

use crate::phy::{Preamble, Standard};

/// Bytes of a data frame beyond the IP packet: MAC header 24 and frame check sequence 4
/// (IEEE 802.11), LLC and SNAP 8 (RFC 1042).
pub const DATA_OVERHEAD_BYTES: u32 = 36;
/// An RTS threshold that no frame exceeds.
pub const RTS_NEVER: u32 = u32::MAX;

/// An 802.11 network: what all its stations have in common.
#[derive(Clone, Debug)]
pub struct WifiConfig {
    /// Times and rates.
    pub standard: Standard,
    /// The preamble of DSSS and CCK frames.
    pub preamble: Preamble,
    /// Unicast data, where the link says nothing else.
    pub data_rate: Rate,
    /// Broadcasts.
    pub basic_rate: Rate,
    /// RTS, CTS and ACK; [`None`] is the standard's rule: the highest mandatory rate that is not
    /// above the data rate.
    pub control_rate: Option<Rate>,
    /// Bytes of a data frame beyond the IP packet.
    pub overhead_bytes: u32,
    /// Data frames above so many bytes (headers included) are sent with RTS and CTS: 0 all,
    /// [`RTS_NEVER`] none.
    pub rts_threshold_bytes: u32,
    /// Attempts of an RTS, and of a data frame not above the RTS threshold; at least 1.
    pub short_retry: u8,
    /// Attempts of a data frame above the RTS threshold; at least 1.
    pub long_retry: u8,
    /// In place of the standard's slot.
    pub slot: Option<Duration>,
    /// In place of the standard's SIFS.
    pub sifs: Option<Duration>,
    /// In place of the standard's least contention window (15, 31, …).
    pub cw_min: Option<u16>,
    /// In place of the standard's greatest contention window (1023).
    pub cw_max: Option<u16>,
    /// After a frame that could not be decoded a station waits EIFS in place of DIFS.
    pub eifs: bool,
    /// How long after the beginning of a frame another station can still begin one since it has
    /// not sensed the first; [`None`] is the standard's time to sense and to turn around.
    pub sensing_delay: Option<Duration>,
    /// The carrier, for the laws that need it.
    pub frequency: Frequency,
    /// Transmit power.
    pub power: Power,
    /// Gain of each antenna, at the sender and at the receiver.
    pub antenna_gain: Decibels,
    /// Loss over distance.
    pub path_loss: PathLoss,
    /// Fading, drawn for each frame and receiver.
    pub fading: FrameFading,
    /// A station senses whatever is at least so strong: the channel is busy.
    pub carrier_sense: Power,
    /// Which frames are decoded.
    pub reception: Reception,
    /// A receiver leaves the frame that it receives for a later one that is so much stronger than
    /// all else on the channel; [`None`]: never.
    pub recapture: Option<Decibels>,
    /// The given loss of a link ([`WifiLinkConfig::loss`]) is drawn for RTS, CTS and ACK also.
    pub control_loss: bool,
    /// Neighbours read the routing messages that ride on frames meant for others.
    pub promiscuous: bool,
    /// The queue before each radio; the frame in service does not count. A bandwidth-delay
    /// product has no meaning here.
    pub queue: QueueConfig,
    /// Routing messages have a queue of their own before each radio, of the same kind, and it is
    /// served first.
    pub routing_first: bool,
}

/// Which frames a station decodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reception {
    /// Frames of at least a given power, if they are `capture` stronger than all else on the
    /// channel together, throughout; [`None`]: if nothing else can be sensed.
    Threshold {
        /// The least power.
        sensitivity: Power,
        /// The least ratio to the sum of all others.
        capture: Option<Decibels>,
    },
    /// ns-2's rule: a station takes up the first frame that it senses, and loses it if another
    /// comes that is not `capture` weaker; the later one is lost in any case. Powers are compared
    /// in pairs and not added up. A frame taken up is good if it has the least power.
    Pairwise {
        /// The least power.
        sensitivity: Power,
        /// The least ratio to each later one.
        capture: Decibels,
    },
    /// Errors drawn by the ratio of signal to interference and noise, over all parts of the
    /// frame between which the interference changes.
    ErrorRate {
        /// The least power at which a preamble is found.
        sensitivity: Power,
        /// Noise figure of the receiver.
        noise_figure: Decibels,
    },
}

/// A station: a node with a radio for each of its channels.
#[derive(Clone, Debug, PartialEq)]
pub struct StationConfig {
    /// The router.
    pub node: NodeId,
    /// Names its random streams.
    pub name: String,
    /// Where it is.
    pub position: Position,
    /// The channel of each radio; no channel twice. Channels do not disturb each other.
    pub channels: Vec<u8>,
}

/// A link between two stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WifiLinkConfig {
    /// Index of one station.
    pub a: usize,
    /// Index of the other.
    pub b: usize,
    /// A channel that both have.
    pub channel: u8,
    /// The share of data frames that is lost between the two, either way, each attempt by itself,
    /// whatever the distance: propagation then decides only what is sensed and what disturbs.
    /// [`None`]: propagation decides.
    pub loss: Option<f64>,
    /// In place of the network's rate of data frames.
    pub rate: Option<Rate>,
}

impl WifiConfig {
    /// A network of this standard at this data rate. Path loss is a power of the distance with
    /// exponent 3 and free space over the first metre.
    pub fn new(standard: Standard, data_rate: Rate) -> Self {
        let (frequency_hz, reference_loss_db, basic_bps) = match standard {
            Standard::A => (5_180_000_000, 46.73, 6_000_000),
            Standard::G => (2_437_000_000, 40.18, 6_000_000),
            Standard::B | Standard::Dsss => (2_437_000_000, 40.18, 1_000_000),
        };
        Self {
            standard,
            preamble: Preamble::Long,
            data_rate,
            basic_rate: Rate::from_bps(basic_bps),
            control_rate: None,
            overhead_bytes: DATA_OVERHEAD_BYTES,
            rts_threshold_bytes: RTS_NEVER,
            short_retry: 7,
            long_retry: 4,
            slot: None,
            sifs: None,
            cw_min: None,
            cw_max: None,
            eifs: true,
            sensing_delay: None,
            frequency: Frequency::from_hz(frequency_hz),
            power: Power::from_mdbm(16_000),
            antenna_gain: Decibels::from_mdb(0),
            path_loss: PathLoss::LogDistance(LogDistance {
                exponent: 3.0,
                reference_m: 1.0,
                reference_loss_db,
            }),
            fading: FrameFading::None,
            carrier_sense: Power::from_mdbm(-82_000),
            reception: Reception::ErrorRate {
                sensitivity: Power::from_mdbm(-82_000),
                noise_figure: Decibels::from_mdb(7_000),
            },
            recapture: None,
            control_loss: false,
            promiscuous: true,
            queue: QueueConfig::DropTail(QueueLimit::Packets(100)),
            routing_first: false,
        }
    }
    /// A network as ns-2.35's `Mac/802_11` and `Phy/WirelessPhy` have it by default, but for the
    /// data rate (`tcl/lib/ns-default.tcl`): RTS before every unicast frame, two-ray ground at
    /// 914 MHz with antennas of 1.5 m and 0.28183815 W, frames decoded to 250 m and sensed to
    /// 550 m, capture at 10 dB, no LLC header, control frames and broadcasts at 1 Mbit/s; and with
    /// the queue that its wireless scripts use, `PriQueue` with `Prefer_Routing_Protocols`.
    pub fn ns2(data_rate: Rate) -> Self {
        let frequency = Frequency::from_hz(914_000_000);
        Self {
            overhead_bytes: 28,
            rts_threshold_bytes: 0,
            frequency,
            power: Power::from_mdbm(24_500),
            path_loss: PathLoss::TwoRay(TwoRay {
                frequency,
                antenna_height_m: 1.5,
            }),
            carrier_sense: Power::from_mdbm(-78_072),
            reception: Reception::Pairwise {
                sensitivity: Power::from_mdbm(-64_375),
                capture: Decibels::from_mdb(10_000),
            },
            queue: QueueConfig::DropTail(QueueLimit::Packets(50)),
            routing_first: true,
            ..Self::new(Standard::Dsss, data_rate)
        }
    }
}

/// Why a network cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum WifiError {
    /// The standard has no such rate.
    Rate {
        /// The standard.
        standard: Standard,
        /// The rate.
        rate: Rate,
    },
    /// A retry limit is zero.
    NoAttempt,
    /// The slot is zero.
    NoSlot,
    /// The least contention window is greater than the greatest.
    Windows {
        /// The least.
        cw_min: u32,
        /// The greatest.
        cw_max: u32,
    },
    /// A frame could be decoded and not sensed.
    DeafCarrierSense,
    /// A queue limited by a bandwidth-delay product.
    QueueByDelay,
    /// A loss that is no probability.
    Loss(f64),
    /// A shape of Nakagami fading below a half.
    NakagamiShape(f64),
    /// A station has two radios on one channel.
    ChannelTwice {
        /// The station.
        station: String,
        /// The channel.
        channel: u8,
    },
    /// A link between stations that do not both have its channel.
    NoRadio {
        /// The station without it.
        station: String,
        /// The channel.
        channel: u8,
    },
    /// A link to a station that there is not, or from a station to itself.
    Ends {
        /// Index of one end.
        a: usize,
        /// Index of the other.
        b: usize,
    },
    /// The caller wanted it to end before the network was built.
    Interrupted(Interrupt),
}

impl From<Interrupt> for WifiError {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupted(interrupt)
    }
}

impl fmt::Display for WifiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { standard, rate } => {
                write!(f, "802.11 {standard:?} has no rate of {rate}; it has")?;
                for (index, mode) in standard.modes().iter().enumerate() {
                    write!(f, "{} {}", if index == 0 { "" } else { "," }, mode.rate())?;
                }
                Ok(())
            }
            Self::NoAttempt => write!(f, "a retry limit counts attempts and is at least 1"),
            Self::NoSlot => write!(f, "the slot must be longer than zero"),
            Self::Windows { cw_min, cw_max } => write!(
                f,
                "the least contention window, {cw_min}, is above the greatest, {cw_max}"
            ),
            Self::DeafCarrierSense => write!(
                f,
                "the carrier-sense level is above the sensitivity: frames would be decoded and not \
                 sensed; lower it"
            ),
            Self::QueueByDelay => write!(
                f,
                "the queue of a radio has no bandwidth-delay product; give bytes or packets"
            ),
            Self::Loss(loss) => write!(f, "a loss of {loss} is not between 0 and 1"),
            Self::NakagamiShape(m) => {
                write!(f, "the shape of Nakagami fading, {m}, must be at least 0.5")
            }
            Self::ChannelTwice { station, channel } => {
                write!(f, "{station} has two radios on channel {channel}")
            }
            Self::NoRadio { station, channel } => {
                write!(f, "{station} has no radio on channel {channel}")
            }
            Self::Ends { a, b } => {
                write!(f, "a link between stations {a} and {b} cannot be")
            }
            Self::Interrupted(interrupt) => write!(f, "{interrupt}"),
        }
    }
}

impl std::error::Error for WifiError {}
