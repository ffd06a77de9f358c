//! Undo of a reduction that proves spurious: every retransmission was reported as a duplicate
//! (D-SACK, RFC 3708), or an echoed timestamp is older than the first retransmission (Eifel,
//! RFC 3522). The response is Linux's: window and threshold are restored.

use backlane_units::SimTime;

use crate::congestion::Window;
use crate::segment::Segment;

/// What may prove a reduction spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UndoEvidence {
    /// Nothing: reductions are never undone.
    None,
    /// D-SACKs.
    Dsack,
    /// D-SACKs and echoed timestamps.
    DsackAndTimestamps,
}

impl UndoEvidence {
    pub(crate) fn is_allowed(self) -> bool {
        self != Self::None
    }
}

/// The state before a reduction, and the retransmissions since.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    evidence: UndoEvidence,
    /// One tick of the timestamp clock.
    tick_us: u64,
    /// The first sequence number outstanding when the reduction began; `None`: nothing to undo.
    pub(super) marker: Option<u64>,
    /// Retransmissions since then that no D-SACK has reported; `None`: there was none yet.
    pub(super) unreported: Option<u32>,
    prior_cwnd_pkts: u32,
    /// `None`: the reduction answers a congestion mark and stays.
    pub(super) prior_ssthresh_pkts: Option<u32>,
    /// When the first retransmission of this episode left.
    first_retransmission_us: Option<u64>,
}

/// What an undo does with the segments marked lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossMarks {
    Keep,
    Clear,
}

impl Undo {
    pub(super) fn new(evidence: UndoEvidence, tick_us: u32) -> Self {
        Self {
            evidence,
            tick_us: u64::from(tick_us),
            marker: None,
            unreported: None,
            prior_cwnd_pkts: 0,
            prior_ssthresh_pkts: None,
            first_retransmission_us: None,
        }
    }

    pub(crate) fn is_allowed(&self) -> bool {
        self.evidence.is_allowed()
    }

    #[inline]
    pub(crate) fn on_retransmit(&mut self, now_us: u64) {
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
        self.first_retransmission_us.get_or_insert(now_us);
    }

    /// A D-SACK for data up to `end_seq` arrived.
    pub(crate) fn on_dsack(&mut self, end_seq: u64) {
        if let (Some(marker), Some(unreported)) = (self.marker, &mut self.unreported)
            && end_seq > marker
        {
            *unreported = unreported.saturating_sub(1);
        }
    }

    /// No retransmission is outstanding any more.
    pub(crate) fn forget_retransmissions(&mut self) {
        self.first_retransmission_us = None;
    }

    pub(crate) fn forget_threshold(&mut self) {
        self.prior_ssthresh_pkts = None;
    }

    /// Remembers the window before a reduction.
    pub(crate) fn remember(&mut self, window: &Window) {
        self.prior_cwnd_pkts = window.cwnd_pkts;
        let three_quarters = (window.cwnd_pkts >> 1) + (window.cwnd_pkts >> 2);
        self.prior_ssthresh_pkts = Some(window.ssthresh_pkts.max(three_quarters));
    }

    /// Whether there is a reduction that may prove spurious.
    pub(crate) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// The reduction stays.
    pub(crate) fn forbid(&mut self) {
        self.marker = None;
    }

    /// Whether no retransmission still waits for a D-SACK.
    pub(crate) fn is_answered(&self) -> bool {
        self.unreported.unwrap_or(0) == 0
    }

    pub(crate) fn has_retransmitted(&self) -> bool {
        self.first_retransmission_us.is_some()
    }

    pub(crate) fn prior_cwnd_pkts(&self) -> u32 {
        self.prior_cwnd_pkts
    }

    /// Whether D-SACKs reported every retransmission of the reduction.
    pub(crate) fn is_all_duplicate(&self) -> bool {
        self.marker.is_some() && self.unreported == Some(0)
    }

    /// The end of the tick of the timestamp clock in which the data that `segment` acknowledges
    /// was sent: data sent then or later would echo a later timestamp.
    pub(crate) fn echo_end_us(&self, now_us: u64, segment: &Segment) -> Option<u64> {
        if segment.ts_ecr == 0 {
            return None;
        }
        // The clock of the timestamps wraps after 71 minutes.
        let age_us = (now_us as u32).wrapping_sub(segment.ts_ecr);
        let sent_us = now_us.saturating_sub(u64::from(age_us));
        Some((sent_us / self.tick_us + 1) * self.tick_us)
    }

    /// Whether the timestamp shows that `segment` acknowledges data sent at least one tick before
    /// the first retransmission (Eifel detection, RFC 3522).
    pub(crate) fn is_delayed_original(&self, segment: &Segment, now: SimTime) -> bool {
        if self.evidence != UndoEvidence::DsackAndTimestamps {
            return false;
        }
        let Some(first_us) = self.first_retransmission_us else {
            return true;
        };
        self.echo_end_us(now.as_micros(), segment)
            .is_some_and(|end_us| first_us >= end_us)
    }
}
