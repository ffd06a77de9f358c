//! The phases, and the gains of the first two.

use crate::congestion::bbr::bandwidth::GAIN_UNIT;

/// 4·ln 2 in 256ths: the least gain that doubles the rate in each round when the window may be
/// twice the pipe.
pub(super) const PACING_GAIN: u64 = GAIN_UNIT * 277 / 100 + 1;
pub(super) const CWND_GAIN: u64 = 2 * GAIN_UNIT;
/// ln 2/2, which drains in a round what a round of startup queued; the draft has 0.5.
pub(super) const DRAIN_GAIN: u64 = GAIN_UNIT * 1000 / 2885;

/// What BBR is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Looking for the bandwidth, twice as fast in each round.
    Startup,
    /// Draining the queue that this left behind.
    Drain,
    /// Slower than the bandwidth, until queue and headroom are free (`ProbeBW_DOWN`).
    Down,
    /// At the bandwidth, with headroom (`ProbeBW_CRUISE`).
    Cruise,
    /// At the bandwidth without bounds, to fill the pipe again (`ProbeBW_REFILL`).
    Refill,
    /// Faster than the bandwidth, looking for more (`ProbeBW_UP`).
    Up,
    /// At half the pipe, to see the RTT without a queue (`ProbeRTT`).
    ProbeRtt,
}

impl Phase {
    pub(super) fn is_in_cycle(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    pub(super) fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}
