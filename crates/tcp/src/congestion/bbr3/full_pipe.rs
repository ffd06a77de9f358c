//! Whether the bandwidth still grows.

use crate::congestion::bbr::bandwidth::Bandwidth;

/// Whether the pipe is full: ever, and since the last restart of the check.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) is_reached: bool,
    pub(super) is_reached_now: bool,
    pub(super) bandwidth: Bandwidth,
    pub(super) rounds: u32,
    pub(super) loss_events_in_round: u32,
}

impl FullPipe {
    /// Restarts the check from `bandwidth`.
    pub(super) fn restart(&mut self, bandwidth: Bandwidth) {
        self.bandwidth = bandwidth;
        self.rounds = 0;
        self.is_reached_now = false;
    }
}
