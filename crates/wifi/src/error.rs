//! Why a network cannot be built.

use std::fmt;

use backlane_engine::Interrupt;
use backlane_units::Rate;

use crate::phy::Standard;

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
