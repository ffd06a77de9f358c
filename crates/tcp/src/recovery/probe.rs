//! Tail loss probe (RFC 8985 §7, Linux's timing): when no acknowledgment has come for two round
//! trips after the last segment, one more segment is sent to draw one.

use backlane_units::Duration;

/// A tail loss probe that is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DueProbe {
    #[default]
    None,
    /// New data, even beyond the congestion window.
    New,
    /// A retransmission of the last segment.
    Last,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TailLossProbe {
    pub(super) is_enabled: bool,
    pub(super) min_rto: Duration,
    pub(crate) due: DueProbe,
    /// SND.NXT when the last probe left; `None` once it is answered.
    pub(crate) end_seq: Option<u64>,
    pub(crate) is_retransmission: bool,
}

impl TailLossProbe {
    pub(super) const fn new(is_enabled: bool, min_rto: Duration) -> Self {
        Self {
            is_enabled,
            min_rto,
            due: DueProbe::None,
            end_seq: None,
            is_retransmission: false,
        }
    }
}

/// From when the retransmission timeout runs that a probe must not outlast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutFrom {
    /// From now: an acknowledgment restarts the timer.
    Now,
    /// From when the first outstanding segment left.
    HeadSent,
}
