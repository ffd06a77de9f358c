//! Loss recovery of Linux 2.6.26 (2008) to 3.1 (2011), before RACK, tail loss probes and
//! proportional rate reduction.
//!
//! A threshold in segments, three at first, grows with the reordering seen. Until it has grown,
//! every hole below the highest SACK counts towards it (forward acknowledgment, FACK) and
//! overtaken retransmissions are detected; from then on only SACKed segments count, and a lost
//! retransmission waits for the timeout, which resets the threshold to three. The window falls by
//! rate halving, and outside Open bursts are limited to the threshold.

use backlane_units::SimTime;

use super::machine::{self, StateMachine, try_undo_by_dsack};
use super::policy::{AckEvent, LossPolicy};
use super::profile::Profile;
use crate::choices::{BurstLimit, RttSamples};
use crate::config::Config;
use crate::recovery::undo::UndoEvidence;
use crate::recovery::{CongestionState, Recovery};
use crate::scoreboard::Delivery;
use crate::segment::Segment;
use crate::window::ReductionLaw;

/// The ceiling of the threshold (`TCP_MAX_REORDERING` before 3.18).
const MAX_THRESHOLD_PKTS: u32 = 127;

#[derive(Clone, Debug)]
pub(crate) struct Fack {
    mss_bytes: u64,
    initial_threshold_pkts: u32,
    max_threshold_pkts: u32,
    threshold_pkts: u32,
    /// Reordering raises the threshold, and reductions are undone.
    is_protected: bool,
    burst_limit: BurstLimit,
    /// Holes below the highest SACK count towards the threshold: until more reordering than the
    /// threshold was seen, and never again after that.
    counts_holes: bool,
}

impl Fack {
    pub(super) fn new(config: &Config) -> Self {
        Self::with_ceiling(config, MAX_THRESHOLD_PKTS)
    }

    /// The same with another ceiling of the threshold.
    pub(super) fn with_ceiling(config: &Config, max_threshold_pkts: u32) -> Self {
        let threshold_pkts = config.duplicate_threshold.max(1);
        Self {
            mss_bytes: u64::from(config.mss_bytes().max(1)),
            initial_threshold_pkts: threshold_pkts,
            max_threshold_pkts,
            is_protected: true,
            burst_limit: config.burst_limit,
            threshold_pkts,
            counts_holes: true,
        }
    }

    /// The same stack without protection against reordering: the threshold stays, holes count for
    /// good, and nothing is undone.
    pub(super) fn unprotected(config: &Config) -> Self {
        Self {
            is_protected: false,
            ..Self::new(config)
        }
    }

    /// The fixed properties: those of the type, but for the undo.
    pub(super) fn profile(&self) -> Profile {
        Profile {
            undo: if self.is_protected {
                Self::PROFILE.undo
            } else {
                UndoEvidence::None
            },
            ..Self::PROFILE
        }
    }

    pub(super) fn reset_threshold(&mut self) {
        self.threshold_pkts = self.threshold_pkts.min(self.initial_threshold_pkts);
    }

    /// Whether Recovery begins (`tcp_time_to_recover`).
    fn is_time_to_recover(&self, r: &Recovery, now: SimTime) -> bool {
        self.is_head_overdue(r, now) || self.reaches_threshold(r)
    }

    /// Whether something is lost, or enough has arrived above the first hole.
    pub(super) fn reaches_threshold(&self, r: &Recovery) -> bool {
        let threshold_pkts = self.threshold_pkts;
        let sacked_out = r.scoreboard.sacked_out();
        let counted = if self.counts_holes {
            r.scoreboard.forward_out()
        } else {
            sacked_out + 1
        };
        if r.scoreboard.lost_out() > 0 || counted > threshold_pkts {
            return true;
        }
        // Too little is out to reach the threshold, and nothing can be added.
        let packets_out = r.scoreboard.packets_out();
        packets_out <= threshold_pkts
            && sacked_out >= (packets_out / 2).max(self.initial_threshold_pkts)
            && !(r.space.can_send_new() && r.scoreboard.in_flight() < r.window.cwnd_pkts)
    }

    /// With FACK: whether the first segment was sent more than a timeout ago, while
    /// acknowledgments have restarted the timer.
    fn is_head_overdue(&self, r: &Recovery, now: SimTime) -> bool {
        let overdue_us = now.as_micros().saturating_sub(r.rtt.rto().as_micros());
        self.counts_holes
            && r.scoreboard
                .head_sent_us()
                .is_some_and(|sent_us| sent_us < overdue_us)
    }

    /// Marks lost the segments below `limit_seq` that the threshold covers.
    fn mark_lost(&self, r: &mut Recovery, now: SimTime, limit_seq: u64) {
        self.mark_counted(r, limit_seq);
        if self.is_head_overdue(r, now) {
            let overdue_us = now.as_micros() - r.rtt.rto().as_micros();
            r.scoreboard.mark_lost_sent_before(overdue_us);
        }
    }

    /// As [`mark_lost`](Self::mark_lost), without regard to time.
    pub(super) fn mark_counted(&self, r: &mut Recovery, limit_seq: u64) {
        let threshold_pkts = self.threshold_pkts;
        if self.counts_holes {
            let lost_pkts = r.scoreboard.forward_out().saturating_sub(threshold_pkts);
            r.scoreboard.mark_first_lost(lost_pkts.max(1), limit_seq);
        } else {
            r.scoreboard.mark_lost_by_count(threshold_pkts, limit_seq);
        }
    }

    /// Whether in Recovery the acknowledgment asks for a search for losses.
    pub(super) fn shows_loss(&self, r: &Recovery, ack: &AckEvent) -> bool {
        let reaches_far = r.scoreboard.forward_out() > self.threshold_pkts;
        if ack.advanced() {
            reaches_far
        } else {
            ack.is_duplicate || (ack.delivery.newly_sacked && reaches_far)
        }
    }

    fn detect_losses_in_recovery(&self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        if self.counts_holes {
            r.scoreboard.mark_overtaken_retransmissions_lost();
        }
        if self.shows_loss(r, ack) || self.is_head_overdue(r, now) {
            self.mark_lost(r, now, r.high_seq);
        }
    }

    /// After a partial acknowledgment in Recovery for an original that was only delayed, the
    /// window is restored as far as the flight allows; Recovery continues and the slow-start
    /// threshold stays. Returns whether it was.
    fn try_undo_partial(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) -> bool {
        if !self.may_undo(r, now, ack.segment) {
            return false;
        }
        if r.scoreboard.retrans_out() == 0 {
            r.undo.forget_retransmissions();
        }
        let span_pkts = r.scoreboard.forward_out() + ack.delivery.covered_pkts;
        self.on_reordered(u64::from(span_pkts) * self.mss_bytes);
        r.restore_cwnd();
        self.limit_burst(r);
        true
    }

    /// F-RTO (RFC 4138 appendix B, as in Linux then): the first acknowledgment that advances
    /// after the retransmission releases two new segments; the next one decides whether the
    /// timeout was spurious. Returns whether the acknowledgment needs no further processing.
    fn check_timeout(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) -> bool {
        let recovered = r.is_recovered();
        if !r.frto.tries_new_data {
            if !ack.advanced() {
                return true;
            }
            if recovered || !r.space.can_send_new() {
                self.confirm_timeout(r, 2);
                return false;
            }
            r.frto.tries_new_data = true;
            r.window.cwnd_pkts = r.scoreboard.in_flight() + 2;
            return true;
        }
        let newly_sacked = ack.delivery.newly_sacked;
        let progress = ack.advanced() || newly_sacked;
        if !progress && !ack.is_duplicate {
            return true;
        }
        let original_end = ack.delivery.original_end;
        let original = original_end.is_some_and(|end_seq| end_seq <= r.high_seq);
        if recovered || !progress || (newly_sacked && !original) {
            self.confirm_timeout(r, 3);
            return false;
        }
        r.frto.is_checking = false;
        r.frto.tries_new_data = false;
        r.statistics.spurious_rtos += 1;
        halve_after_spurious_timeout(r, now);
        true
    }

    /// The timeout was no mistake: slow start continues with `room_pkts`.
    fn confirm_timeout(&mut self, r: &mut Recovery, room_pkts: u32) {
        r.frto.is_checking = false;
        r.frto.tries_new_data = false;
        self.reset_threshold();
        r.window.cwnd_pkts = r.scoreboard.in_flight() + room_pkts;
        r.high_seq = r.space.snd_nxt;
    }
}

/// The response to a spurious timeout: the slow-start threshold stays, and rate halving takes the
/// window there (the first of `tcp_frto_response`).
fn halve_after_spurious_timeout(r: &mut Recovery, now: SimTime) {
    r.scoreboard.forget_losses();
    r.undo.forbid();
    r.timers.timeouts_in_a_row = 0;
    let limit_pkts = r.scoreboard.in_flight() + 1;
    r.window.cwnd_pkts = r.undo.prior_cwnd_pkts().clamp(1, limit_pkts);
    r.reduction
        .start(r.window.cwnd_pkts, r.scoreboard.packets_out());
    r.set_state(now, CongestionState::Cwr);
}

impl LossPolicy for Fack {
    const PROFILE: Profile = Profile {
        undo: UndoEvidence::DsackAndTimestamps,
        reduction: ReductionLaw::Halving,
        rtt_samples: Some(RttSamples::Timestamps),
        ..Profile::PLAIN
    };

    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.threshold_pkts
    }

    fn detect_losses(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        match r.state {
            CongestionState::Loss => {}
            CongestionState::Recovery => self.detect_losses_in_recovery(r, now, ack),
            CongestionState::Open | CongestionState::Disorder | CongestionState::Cwr => {
                if self.is_time_to_recover(r, now) {
                    self.mark_lost(r, now, u64::MAX);
                    r.scoreboard.mark_head_lost();
                }
            }
        }
    }

    /// Detects reordering: an original delivered behind later ones.
    fn on_delivery(&mut self, r: &Recovery, _now: SimTime, ack: &AckEvent) {
        let high = r.scoreboard.highest_sacked_end();
        let is_trusted =
            r.state != CongestionState::Loss || (r.undo.is_possible() && !r.frto.is_checking);
        if let Some(seq) = ack.delivery.reordered_seq.filter(|_| is_trusted) {
            self.on_reordered(high.saturating_sub(seq));
        }
        let filled_seq = ack.delivery.filled_seq;
        if let Some(seq) = filled_seq.filter(|seq| *seq < ack.prior_highest_sacked_end) {
            self.on_reordered(high.saturating_sub(seq));
        }
    }

    /// Disorder is left when everything that was outstanding at its start is acknowledged; one
    /// segment more must be, while a D-SACK could still undo the last reduction.
    fn leave_disorder(&mut self, r: &mut Recovery, now: SimTime) {
        try_undo_by_dsack(self, r);
        if !self.is_protected || !r.undo.is_possible() || r.space.snd_una != r.high_seq {
            r.undo.forbid();
            r.set_state(now, CongestionState::Open);
        }
    }

    fn is_disordered(&self, r: &Recovery) -> bool {
        let scoreboard = &r.scoreboard;
        scoreboard.sacked_out() + scoreboard.lost_out() + scoreboard.retrans_out() > 0
            || scoreboard.is_head_retransmitted()
            || (self.is_protected && r.undo.is_possible())
    }

    fn has_no_retransmission_out(&self, r: &Recovery) -> bool {
        r.scoreboard.retrans_out() == 0
    }

    /// An undone reduction has restored the threshold, so that the window is not cut to it.
    fn end_reduction(&self, r: &mut Recovery, now: SimTime) {
        r.window.cwnd_pkts = r.window.cwnd_pkts.min(r.window.ssthresh_pkts).max(1);
        r.control.on_recovery_exit(now, &mut r.window);
    }

    fn may_undo(&self, r: &Recovery, now: SimTime, segment: &Segment) -> bool {
        self.is_protected
            && r.undo.is_possible()
            && (r.undo.is_answered() || r.undo.is_delayed_original(segment, now))
    }

    fn on_reordered(&mut self, span_bytes: u64) {
        let span_pkts = span_bytes.div_ceil(self.mss_bytes);
        let degree_pkts = span_pkts.min(u64::from(self.max_threshold_pkts)) as u32;
        if self.is_protected && degree_pkts > self.threshold_pkts {
            self.counts_holes = false;
            self.threshold_pkts = degree_pkts;
        }
    }

    /// F-RTO keeps the threshold until the timeout is confirmed.
    fn before_timeout(&mut self, r: &mut Recovery) {
        if !r.frto.is_enabled {
            self.reset_threshold();
        }
    }

    fn after_timeout(&mut self, r: &mut Recovery) {
        if r.scoreboard.has_ever_retransmitted() {
            r.undo.forbid();
        }
        r.frto.is_checking = r.frto.is_enabled;
    }

    fn timeout_spares_us(&self, _r: &Recovery) -> u64 {
        0
    }

    fn restarts_timer(&self, delivery: &Delivery, _before_head: bool) -> bool {
        delivery.covered_pkts > 0
    }

    /// A reduction and F-RTO set the window alone, and the acknowledgment that ends either grows
    /// nothing.
    fn holds_window(&self, r: &Recovery) -> bool {
        r.is_reducing() || r.frto.is_checking
    }

    /// No burst of more than the threshold, or three (`tcp_moderate_cwnd`).
    fn limit_burst(&self, r: &mut Recovery) {
        let burst_pkts = match self.burst_limit {
            BurstLimit::Threshold => self.threshold_pkts,
            BurstLimit::Three => 3,
        };
        let limit_pkts = r.scoreboard.in_flight() + burst_pkts;
        r.window.cwnd_pkts = r.window.cwnd_pkts.min(limit_pkts);
    }
}

impl StateMachine for Fack {
    fn in_recovery(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        if !(ack.advanced() && self.try_undo_partial(r, now, ack)) {
            self.detect_losses(r, now, ack);
        }
    }

    fn in_loss(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        if !(r.frto.is_checking && self.check_timeout(r, now, ack)) {
            machine::in_loss(self, r, now, ack);
        }
    }
}

#[cfg(test)]
mod tests {
    use backlane_units::Bytes;

    use super::*;

    #[test]
    fn the_threshold_is_at_most_127() {
        let mut fack = Fack::new(&Config {
            mss: Bytes::new(1000),
            ..Config::default()
        });
        fack.on_reordered(1_000_000);
        assert_eq!(fack.threshold_pkts(), 127);
    }
}
