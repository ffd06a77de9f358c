//! What shrinks or limits the congestion window beside the congestion control.
//!
//! [`prr`], [`prr_of_ns3`] and [`rate_halving`] shrink it during a reduction;
//! [`validation`] keeps it from growing or persisting unused; [`pacing`] spreads the segments that it allows.

pub(crate) mod pacing;
mod prr;
mod prr_of_ns3;
mod rate_halving;
pub(crate) mod validation;

use crate::congestion::Window;
use prr::Prr;
use prr_of_ns3::PrrOfNs3;
use rate_halving::RateHalving;

/// How a reduction proceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReductionLaw {
    /// Proportional rate reduction.
    Proportional,
    /// The same in 32 bits.
    ProportionalOfNs3,
    /// One segment for every second acknowledgment.
    Halving,
}

/// A reduction of the window in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    Proportional(Prr),
    ProportionalOfNs3(PrrOfNs3),
    Halving(RateHalving),
}

impl Reduction {
    /// No reduction yet, of segments of `mss_bytes`.
    pub(crate) fn new(law: ReductionLaw, mss_bytes: u32) -> Self {
        match law {
            ReductionLaw::Proportional => Self::Proportional(Prr::default()),
            ReductionLaw::ProportionalOfNs3 => Self::ProportionalOfNs3(PrrOfNs3::new(mss_bytes)),
            ReductionLaw::Halving => Self::Halving(RateHalving::default()),
        }
    }

    /// Begins a reduction from a window of `cwnd_pkts`, with `outstanding_pkts` sent and not
    /// cumulatively acknowledged.
    pub(crate) fn start(&mut self, cwnd_pkts: u32, outstanding_pkts: u32) {
        *self = match self {
            Self::Proportional(_) => Self::Proportional(Prr::start(cwnd_pkts)),
            Self::ProportionalOfNs3(prr) => Self::ProportionalOfNs3(prr.started(outstanding_pkts)),
            Self::Halving(_) => Self::Halving(RateHalving::default()),
        };
    }

    /// A segment left.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        match self {
            Self::Proportional(prr) => prr.on_sent(),
            Self::ProportionalOfNs3(prr) => prr.on_sent(),
            Self::Halving(_) => {}
        }
    }

    /// The window after an acknowledgment that delivered `delivered_pkts`, `advanced` the
    /// cumulative one and revealed `newly_lost_pkts`.
    pub(crate) fn cwnd_pkts(
        &mut self,
        window: &Window,
        in_flight_pkts: u32,
        delivered_pkts: u32,
        advanced: bool,
        newly_lost_pkts: u32,
    ) -> u32 {
        let ssthresh_pkts = window.ssthresh_pkts;
        match self {
            Self::Proportional(prr) => prr
                .cwnd_pkts(
                    delivered_pkts,
                    in_flight_pkts,
                    ssthresh_pkts,
                    advanced && newly_lost_pkts == 0,
                )
                .max(1),
            Self::ProportionalOfNs3(prr) => prr
                .cwnd_pkts(delivered_pkts, in_flight_pkts, ssthresh_pkts, advanced)
                .max(1),
            Self::Halving(halving) => {
                halving.cwnd_pkts(window.cwnd_pkts, in_flight_pkts, ssthresh_pkts)
            }
        }
    }
}
