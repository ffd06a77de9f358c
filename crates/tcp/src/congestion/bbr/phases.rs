//! The phases of BBR and the state of each.

use super::bandwidth::{Bandwidth, GAIN_UNIT};

/// 2/ln 2 in 256ths, rounded up: the least gain that doubles the rate in each round.
pub(super) const HIGH_GAIN: u64 = GAIN_UNIT * 2885 / 1000 + 1;
/// The pipe is full when the bandwidth has not grown by a quarter …
const FULL_GROWTH: u64 = GAIN_UNIT * 5 / 4;
/// … for this many rounds.
const FULL_ROUNDS: u32 = 3;
/// The window while the smallest RTT is measured, and the smallest of all.
pub(super) const MIN_CWND_PKTS: u32 = 4;

/// What BBR is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Looking for the bandwidth, twice as fast in each round.
    Startup,
    /// Draining the queue that this left behind.
    Drain,
    /// At the bandwidth, probing now and then whether there is more (`PROBE_BW`).
    ProbeBandwidth,
    /// Nearly silent, to see the RTT without a queue (`PROBE_RTT`).
    ProbeRtt,
}

/// Whether startup has filled the pipe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    is_reached: bool,
    bandwidth: Bandwidth,
    rounds: u32,
}

impl FullPipe {
    pub(super) fn is_reached(&self) -> bool {
        self.is_reached
    }

    /// What was seen so far was spoilt by a needless reduction.
    pub(super) fn forget(&mut self) {
        self.forget_bandwidth();
        self.rounds = 0;
    }

    pub(super) fn forget_bandwidth(&mut self) {
        self.bandwidth = Bandwidth::default();
    }

    /// A round has ended, with the largest bandwidth so far.
    pub(super) fn on_round(&mut self, bandwidth: Bandwidth) {
        if self.is_reached {
            return;
        }
        if bandwidth >= self.bandwidth.scaled(FULL_GROWTH) {
            self.bandwidth = bandwidth;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.is_reached = self.rounds >= FULL_ROUNDS;
    }
}

/// The rest that the path is given to measure the smallest RTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    /// When it may end; `None`: the queue is still being drained.
    pub(super) until_ms: Option<u64>,
    pub(super) has_had_round: bool,
}
