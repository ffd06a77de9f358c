//! What HELLOs and TCs report of a link beside the neighbour's address.

use super::message::{AIRTIME_HELLO, AIRTIME_TC, LQ_HELLO, LQ_TC};
use crate::airtime::LinkMetric;
use crate::etx::Quality;

/// A share of packets as messages carry it: this number of 65535.
const WHOLE: u16 = u16::MAX;

/// The quality of a link by the directional airtime metric, in four bytes: the share of the
/// neighbour's packets that arrive at the reporting node, and the metric of the direction to the
/// neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// The share of the neighbour's packets that arrive, of 65535.
    pub heard: u16,
    /// The metric of the direction from the reporting node to the neighbour.
    pub outgoing: LinkMetric,
}

impl Airtime {
    /// A link over which nothing has arrived.
    pub const UNKNOWN: Self = Self {
        heard: 0,
        outgoing: LinkMetric::MAXIMUM,
    };

    /// A share between 0 and 1 as messages carry it.
    pub fn of_share(share: f64) -> u16 {
        (share * f64::from(WHOLE)) as u16
    }

    /// The share of the neighbour's packets that arrive, between 0 and 1.
    pub fn share(self) -> f64 {
        f64::from(self.heard) / f64::from(WHOLE)
    }
}

/// The quality of a link in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkReport {
    /// The message reports links alone.
    None,
    /// The shares of packets that arrive, both ways (olsrd's link quality extension).
    Etx(Quality),
    /// The directional airtime metric.
    Airtime(Airtime),
}

impl LinkReport {
    /// The cost of the link from the reporting node to the neighbour; `None` where nothing gets
    /// through one way.
    pub fn cost(self) -> Option<u64> {
        match self {
            Self::None => Quality::PERFECT.cost(),
            Self::Etx(quality) => quality.cost(),
            Self::Airtime(airtime) => Some(airtime.outgoing.value().into()),
        }
    }

    /// Bytes after each address in a message of this type.
    pub(super) fn bytes(kind: u8) -> usize {
        match kind {
            LQ_HELLO | LQ_TC | AIRTIME_HELLO | AIRTIME_TC => Quality::BYTES,
            _ => 0,
        }
    }

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Etx(quality) => out.extend(quality.encode()),
            Self::Airtime(Airtime { heard, outgoing }) => {
                out.extend(heard.to_be_bytes());
                out.extend(outgoing.to_bits().to_be_bytes());
            }
        }
    }

    pub(super) fn decode(kind: u8, bytes: &[u8]) -> Self {
        match (kind, bytes) {
            (LQ_HELLO | LQ_TC, &[heard, reached, ..]) => Self::Etx(Quality { heard, reached }),
            (AIRTIME_HELLO | AIRTIME_TC, &[h0, h1, m0, m1]) => Self::Airtime(Airtime {
                heard: u16::from_be_bytes([h0, h1]),
                outgoing: LinkMetric::from_bits(u16::from_be_bytes([m0, m1])),
            }),
            _ => Self::None,
        }
    }
}
