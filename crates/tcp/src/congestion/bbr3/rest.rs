//! The state of the rest at half the pipe that measures the smallest RTT.

/// No RTT sample yet.
pub(super) const NO_RTT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// The smallest RTT since the last rest, and when it was seen.
    pub(super) rtt_us: u32,
    pub(super) rtt_at_ms: u64,
    /// When the smallest RTT in use was seen.
    pub(super) min_rtt_at_ms: u64,
    /// When the rest may end; `None`: there is more than half the pipe in flight yet.
    pub(super) until_ms: Option<u64>,
    pub(super) has_had_round: bool,
}

impl Default for Rest {
    fn default() -> Self {
        Self::starting(NO_RTT, 0)
    }
}

impl Rest {
    pub(super) fn starting(rtt_us: u32, now_ms: u64) -> Self {
        Self {
            rtt_us,
            rtt_at_ms: now_ms,
            min_rtt_at_ms: now_ms,
            until_ms: None,
            has_had_round: false,
        }
    }
}
