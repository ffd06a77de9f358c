//! Undo of a reduction that proves needless: every retransmission was reported as a duplicate
//! (D-SACK, RFC 3708), or an echoed timestamp is older than the first retransmission (Eifel,
//! RFC 3522). The response is Linux's: the window and the threshold of before come back.

use backlane_units::SimTime;

use super::Sender;
use crate::congestion::INFINITE_SSTHRESH_PKTS;
use crate::recovery::CongestionState;
use crate::segment::Segment;

/// What is remembered of the time before a reduction.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// The first sequence number outstanding when the reduction began; `None`: nothing to undo.
    marker: Option<u64>,
    /// Retransmissions since then that no D-SACK has answered; `None`: there was none yet.
    unanswered: Option<u32>,
    prior_cwnd_pkts: u32,
    /// `None`: the reduction answers a congestion mark and stays.
    prior_ssthresh_pkts: Option<u32>,
    /// When the first retransmission of this episode left.
    first_retransmission_us: Option<u64>,
}

impl Undo {
    #[inline]
    pub(super) fn on_retransmit(&mut self, now_us: u64) {
        self.unanswered = Some(self.unanswered.unwrap_or(0) + 1);
        self.first_retransmission_us.get_or_insert(now_us);
    }

    /// A D-SACK for data up to `end_seq` arrived.
    pub(super) fn on_duplicate(&mut self, end_seq: u64) {
        if let (Some(marker), Some(unanswered)) = (self.marker, &mut self.unanswered)
            && end_seq > marker
        {
            *unanswered = unanswered.saturating_sub(1);
        }
    }

    /// No retransmission is outstanding any more.
    pub(super) fn forget_retransmissions(&mut self) {
        self.first_retransmission_us = None;
    }

    pub(super) fn forget_threshold(&mut self) {
        self.prior_ssthresh_pkts = None;
    }

    /// Whether there is a reduction that may prove needless.
    pub(super) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// The reduction stays.
    pub(super) fn forbid(&mut self) {
        self.marker = None;
    }

    /// Whether no retransmission waits for the D-SACK that would prove it needless.
    pub(super) fn is_answered(&self) -> bool {
        self.unanswered.unwrap_or(0) == 0
    }

    pub(super) fn prior_cwnd_pkts(&self) -> u32 {
        self.prior_cwnd_pkts
    }

    fn is_all_duplicate(&self) -> bool {
        self.marker.is_some() && self.unanswered == Some(0)
    }
}

impl Sender {
    /// Recovery or Loss begins. `remembers`: the reduction begins too, and may be undone.
    pub(super) fn mark_undo(&mut self, remembers: bool) {
        self.undo.marker = Some(self.snd_una);
        let out_pkts = self.scoreboard.retrans_out();
        self.undo.unanswered = (out_pkts > 0).then_some(out_pkts);
        if remembers {
            self.undo.prior_cwnd_pkts = self.window.cwnd_pkts;
            let cwnd_pkts = self.window.cwnd_pkts;
            let three_quarters = (cwnd_pkts >> 1) + (cwnd_pkts >> 2);
            let ssthresh_pkts = self.window.ssthresh_pkts.max(three_quarters);
            self.undo.prior_ssthresh_pkts = Some(ssthresh_pkts);
        }
    }

    /// Whether what `segment` acknowledges left before the first retransmission, a tick at
    /// the least.
    pub(super) fn is_delayed_original(&self, segment: &Segment, now: SimTime) -> bool {
        if self.is_rr() {
            // RR-TCP goes by D-SACKs alone.
            return false;
        }
        let Some(first_us) = self.undo.first_retransmission_us else {
            return true;
        };
        self.echo_end_us(now.as_micros(), segment)
            .is_some_and(|end_us| first_us >= end_us)
    }

    fn may_undo(&self, now: SimTime, segment: &Segment) -> bool {
        if self.is_legacy() {
            return self.may_undo_by_degree(now, segment);
        }
        self.undoes
            && self.undo.marker.is_some()
            && (self.undo.unanswered == Some(0) || self.is_delayed_original(segment, now))
    }

    /// Takes the reduction back.
    fn undo_reduction(&mut self, forgets_losses: bool) {
        if forgets_losses {
            self.scoreboard.forget_losses();
        }
        if let Some(prior_ssthresh_pkts) = self.undo.prior_ssthresh_pkts {
            let prior_cwnd_pkts = self.undo.prior_cwnd_pkts;
            self.window.cwnd_pkts = self.control.undo_cwnd(&self.window, prior_cwnd_pkts).max(1);
            self.window.ssthresh_pkts = self.window.ssthresh_pkts.max(prior_ssthresh_pkts);
            self.statistics.undos += 1;
            if self.window.ssthresh_pkts == self.initial_ssthresh_pkts
                && self.window.in_slow_start()
            {
                // The first slow start goes on.
                self.statistics.slow_start_exit = None;
            }
        }
        self.undo.marker = None;
        self.scoreboard.look_again();
        if self.is_legacy() {
            self.moderate_window();
        }
    }

    /// The next retransmission is the first of its episode, if none is out.
    pub(super) fn forget_old_retransmissions(&mut self) {
        let head_counts = !self.is_legacy();
        if self.scoreboard.retrans_out() == 0
            && !(head_counts && self.scoreboard.is_head_retransmitted())
        {
            self.undo.forget_retransmissions();
        }
    }

    /// D-SACKs answered every retransmission.
    pub(super) fn try_undo_by_duplicates(&mut self) -> bool {
        if !self.undoes || !self.undo.is_all_duplicate() {
            return false;
        }
        self.reordering.on_undo();
        self.undo_reduction(false);
        true
    }

    /// Recovery or Loss has come to its end; whether it was needless.
    pub(super) fn try_undo_at_end(&mut self, now: SimTime, segment: &Segment) {
        if self.may_undo(now, segment) {
            self.undo_reduction(false);
        } else {
            self.reordering.on_recovery_end();
        }
    }

    /// A partial acknowledgment in Recovery for an original that was only late. Whether
    /// nothing more shall be marked lost.
    pub(super) fn try_undo_partial(
        &mut self,
        now: SimTime,
        segment: &Segment,
        prior_una: u64,
    ) -> bool {
        let late = self.undoes
            && self.undo.marker.is_some()
            && self.undo.first_retransmission_us.is_some()
            && self.is_delayed_original(segment, now);
        if !late {
            return false;
        }
        let high = self.scoreboard.highest_sacked_end().max(self.snd_una);
        self.reordering.on_reordered(high - prior_una);
        if self.scoreboard.retrans_out() > 0 {
            return true;
        }
        self.forget_old_retransmissions();
        self.undo_reduction(true);
        self.keep_open(now);
        true
    }

    /// In Loss: `original`: F-RTO saw an original delivered (RFC 5682 §3.1 step 3b).
    pub(super) fn try_undo_loss(
        &mut self,
        now: SimTime,
        segment: &Segment,
        original: bool,
    ) -> bool {
        if !self.undoes || !(original || self.may_undo(now, segment)) {
            return false;
        }
        self.undo_reduction(true);
        if original {
            self.statistics.spurious_rtos += 1;
        }
        self.timeouts_in_a_row = 0;
        if original || self.selective {
            self.set_state(now, CongestionState::Open);
        }
        true
    }

    /// The end of a reduction: the window stands at the threshold, unless it was undone.
    pub(super) fn end_reduction(&mut self, now: SimTime) {
        if self.is_legacy() {
            // What a needless reduction was has come back with the threshold.
            self.window.cwnd_pkts = (self.window.cwnd_pkts.min(self.window.ssthresh_pkts)).max(1);
        } else if !self.owns_window
            && self.window.ssthresh_pkts < INFINITE_SSTHRESH_PKTS
            && (self.state == CongestionState::Cwr || self.undo.marker.is_some())
        {
            self.window.cwnd_pkts = self.window.ssthresh_pkts;
        }
        self.control.on_recovery_exit(now, &mut self.window);
    }
}
