//! The parameters of 802.11 radios, and their reading out of the normal form.

use backlane_units::{Bytes, Decibels, Duration, Frequency, Length, Power, Rate};

use super::QueueConfig;
use crate::tree::Table;

/// The 802.11 radios of the backhaul.
#[derive(Clone, Debug, PartialEq)]
pub struct Wifi {
    /// Frame formats and timing.
    pub standard: Standard,
    /// Rate of data frames to one station; one of the standard's.
    pub rate: Rate,
    /// Rate of broadcasts; one of the standard's.
    pub basic_rate: Rate,
    /// Rate of control frames; `None` follows from the rate of data.
    pub control_rate: Option<Rate>,
    /// What a data frame has beyond the IP packet.
    pub overhead_bytes: u32,
    /// Larger frames to one station are announced; `None`: none is.
    pub rts_threshold_bytes: Option<u32>,
    /// Attempts of a frame within the threshold, and of an RTS.
    pub short_retry: u8,
    /// Attempts of a frame above the threshold.
    pub long_retry: u8,
    /// Length of a slot; `None` is that of the standard.
    pub slot: Option<Duration>,
    /// Short interframe space; `None` is that of the standard.
    pub sifs: Option<Duration>,
    /// How long a frame is not sensed by others; `None` is that of the standard.
    pub sensing_delay: Option<Duration>,
    /// First contention window; `None` is that of the standard.
    pub cw_min: Option<u16>,
    /// Largest contention window; `None` is that of the standard.
    pub cw_max: Option<u16>,
    /// Whether DSSS and CCK have the short preamble.
    pub short_preamble: bool,
    /// Whether a frame that could not be decoded is followed by the extended interframe space.
    pub eifs: bool,
    /// The queue before each radio.
    pub queue: QueueConfig,
    /// Routing messages have a queue of their own, served first.
    pub routing_first: bool,
    /// Whether messages on data frames for others are heard.
    pub promiscuous: bool,
    /// Transmit power.
    pub power: Power,
    /// Gain of each antenna.
    pub antenna_gain: Decibels,
    /// Height of the antennas.
    pub antenna_height: Length,
    /// Carrier frequency; `None` is that of the standard's band.
    pub frequency: Option<Frequency>,
    /// Loss over distance.
    pub path_loss: PathLoss,
    /// Fading of each frame at each receiver.
    pub fading: FrameFading,
    /// When a frame is decoded.
    pub reception: Reception,
    /// A receiver turns to a later frame that is so much stronger than all else.
    pub recapture: Option<Decibels>,
    /// What is received with at least so much makes the channel busy.
    pub carrier_sense: Power,
    /// Whether all pairs within range are linked besides the listed links.
    pub in_range: bool,
    /// What the listed links lose; `None`: propagation decides.
    pub loss: Option<GivenLoss>,
    /// Whether RTS, CTS and ACK of a lossy link are lost as its data is.
    pub control_loss: bool,
}

/// A standard of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// OFDM at 5 GHz.
    A,
    /// CCK and DSSS at 2.4 GHz.
    B,
    /// OFDM at 2.4 GHz.
    G,
    /// 802.11b as ns-2 has it.
    Dsss,
}

impl Standard {
    /// The word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "802.11a",
            Self::B => "802.11b",
            Self::G => "802.11g",
            Self::Dsss => "802.11-dsss",
        }
    }

    /// The rates, in rising order, in bit/s.
    pub const fn rates_bps(self) -> &'static [u64] {
        match self {
            Self::A => &[
                6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000,
                54_000_000,
            ],
            Self::B | Self::Dsss => &[1_000_000, 2_000_000, 5_500_000, 11_000_000],
            Self::G => &[
                1_000_000, 2_000_000, 5_500_000, 6_000_000, 9_000_000, 11_000_000, 12_000_000,
                18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000,
            ],
        }
    }

    /// The first contention window and the largest.
    pub(crate) const fn contention_windows(self) -> (u16, u16) {
        match self {
            Self::A | Self::G => (15, 1023),
            Self::B | Self::Dsss => (31, 1023),
        }
    }

    /// The rate of broadcasts where nothing else is said: the lowest of its own kind.
    const fn lowest_bps(self) -> u64 {
        match self {
            Self::A | Self::G => 6_000_000,
            Self::B | Self::Dsss => 1_000_000,
        }
    }
}

/// A law of path loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// A power of the distance.
    LogDistance {
        /// The power.
        exponent: f64,
        /// Where the loss is known.
        reference_distance: Length,
        /// The loss there; `None` is that of free space.
        reference_loss: Option<Decibels>,
    },
    /// Two rays, the direct one and that reflected by the ground.
    TwoRay,
    /// Free space.
    Friis,
}

/// Fading of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameFading {
    /// None.
    Off,
    /// Exponential power.
    Rayleigh,
    /// Gamma power of this shape.
    Nakagami(f64),
}

/// When a frame is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// By its error probability.
    ErrorRate {
        /// The least power at which a preamble is found.
        sensitivity: Power,
        /// Noise figure of the receivers.
        noise_figure: Decibels,
    },
    /// By its power.
    Threshold {
        /// The least power.
        sensitivity: Power,
        /// The least ratio to all others; `None`: no other may be heard.
        capture: Option<Decibels>,
    },
    /// By its power, compared with one other at a time.
    Pairwise {
        /// The least power.
        sensitivity: Power,
        /// The least ratio to each later frame.
        capture: Decibels,
    },
}

/// What listed links lose.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenLoss {
    /// Probability that an attempt on a lossy link is lost.
    pub loss: f64,
    /// The links that may be lossy, by their index; `None`: all links over 802.11.
    pub links: Option<Vec<usize>>,
    /// So many of them are, drawn in every run.
    pub share: f64,
}

/// The radios of a normal `[wifi]`; its queue and the links that may be lossy were read before.
pub(crate) fn read(
    table: &Table,
    queue: QueueConfig,
    lossy_links: Option<Vec<usize>>,
) -> Option<Wifi> {
    let standard = standard(table)?;
    let highest = *standard.rates_bps().last()?;
    let or_word = |key: &str, bps: u64| {
        let stated: Option<Rate> = table.quantity(key);
        stated.unwrap_or(Rate::from_bps(bps))
    };
    let share = table.number("lossy_share")?;
    Some(Wifi {
        standard,
        rate: or_word("rate", highest),
        basic_rate: or_word("basic_rate", standard.lowest_bps()),
        control_rate: table.quantity("control_rate"),
        overhead_bytes: u32::try_from(table.quantity::<Bytes>("overhead")?.get()).ok()?,
        rts_threshold_bytes: match table.quantity::<Bytes>("rts_threshold") {
            Some(bytes) => Some(u32::try_from(bytes.get()).ok()?),
            None => None,
        },
        short_retry: table.integer("short_retry")?,
        long_retry: table.integer("long_retry")?,
        slot: table.quantity("slot"),
        sifs: table.quantity("sifs"),
        sensing_delay: table.quantity("sensing_delay"),
        cw_min: table.integer("cw_min"),
        cw_max: table.integer("cw_max"),
        short_preamble: table.text("preamble")? == "short",
        eifs: table.boolean("eifs")?,
        queue,
        routing_first: table.boolean("routing_first")?,
        promiscuous: table.boolean("promiscuous")?,
        power: table.quantity("power")?,
        antenna_gain: table.quantity("antenna_gain")?,
        antenna_height: table.quantity("antenna_height")?,
        frequency: table.quantity("frequency"),
        path_loss: path_loss(table.table("path_loss")?)?,
        fading: fading(table.table("fading")?)?,
        reception: reception(table.table("reception")?)?,
        recapture: table.quantity("recapture"),
        carrier_sense: table.quantity("carrier_sense")?,
        in_range: table.text("neighbours")? == "in-range",
        loss: table.number("loss").map(|loss| GivenLoss {
            loss,
            links: lossy_links,
            share,
        }),
        control_loss: table.boolean("control_loss")?,
    })
}

/// The standard of a normal `[wifi]`.
pub(crate) fn standard(table: &Table) -> Option<Standard> {
    Some(match table.text("standard")? {
        "802.11b" => Standard::B,
        "802.11g" => Standard::G,
        "802.11-dsss" => Standard::Dsss,
        _ => Standard::A,
    })
}

fn path_loss(table: &Table) -> Option<PathLoss> {
    Some(match table.text("model")? {
        "two-ray" => PathLoss::TwoRay,
        "friis" => PathLoss::Friis,
        _ => PathLoss::LogDistance {
            exponent: table.number("exponent")?,
            reference_distance: table.quantity("reference_distance")?,
            reference_loss: table.quantity("reference_loss"),
        },
    })
}

fn reception(table: &Table) -> Option<Reception> {
    let sensitivity = table.quantity("sensitivity")?;
    Some(match table.text("model")? {
        "threshold" => Reception::Threshold {
            sensitivity,
            capture: table.quantity("capture"),
        },
        "pairwise" => Reception::Pairwise {
            sensitivity,
            capture: table.quantity("capture")?,
        },
        _ => Reception::ErrorRate {
            sensitivity,
            noise_figure: table.quantity("noise_figure")?,
        },
    })
}

fn fading(table: &Table) -> Option<FrameFading> {
    Some(match table.text("model")? {
        "rayleigh" => FrameFading::Rayleigh,
        "nakagami" => FrameFading::Nakagami(table.number("m")?),
        _ => FrameFading::Off,
    })
}
