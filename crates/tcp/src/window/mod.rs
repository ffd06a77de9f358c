//! What shrinks or limits the congestion window beside the congestion control.
//!
//! [`prr`] and [`rate_halving`] shrink it during a reduction; [`validation`] keeps it from growing
//! or persisting unused; [`pacing`] spreads the segments that it allows.

pub(crate) mod pacing;
mod prr;
mod rate_halving;
pub(crate) mod validation;

use crate::congestion::Window;
use prr::Prr;
use rate_halving::RateHalving;

/// How a reduction proceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReductionLaw {
    /// Proportional rate reduction.
    Proportional,
    /// One segment for every second acknowledgment.
    Halving,
}

/// A reduction of the window in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    Proportional(Prr),
    Halving(RateHalving),
}

impl Reduction {
    pub(crate) fn new(law: ReductionLaw) -> Self {
        match law {
            ReductionLaw::Proportional => Self::Proportional(Prr::default()),
            ReductionLaw::Halving => Self::Halving(RateHalving::default()),
        }
    }

    /// Begins a reduction from a window of `cwnd_pkts`.
    pub(crate) fn start(&mut self, cwnd_pkts: u32) {
        *self = match self {
            Self::Proportional(_) => Self::Proportional(Prr::start(cwnd_pkts)),
            Self::Halving(_) => Self::Halving(RateHalving::default()),
        };
    }

    /// A segment left.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        if let Self::Proportional(prr) = self {
            prr.on_sent();
        }
    }

    /// The window after an acknowledgment; see [`Prr::cwnd_pkts`].
    pub(crate) fn cwnd_pkts(
        &mut self,
        window: &Window,
        in_flight_pkts: u32,
        delivered_pkts: u32,
        is_safe_ack: bool,
    ) -> u32 {
        let ssthresh_pkts = window.ssthresh_pkts;
        match self {
            Self::Proportional(prr) => prr
                .cwnd_pkts(delivered_pkts, in_flight_pkts, ssthresh_pkts, is_safe_ack)
                .max(1),
            Self::Halving(halving) => {
                halving.cwnd_pkts(window.cwnd_pkts, in_flight_pkts, ssthresh_pkts)
            }
        }
    }
}
