//! The state machine of loss recovery, as in Linux: exits first, then what the present state makes
//! of the acknowledgment, then the search for losses.
//!
//! Generic over the policy, so that each has a machine of its own without the branches of others.

use backlane_units::SimTime;

use super::policy::{AckEvent, LossPolicy};
use super::timeout;
use crate::readings::SlowStartEnd;
use crate::recovery::undo::LossMarks;
use crate::recovery::{CongestionState, Recovery};

/// How a policy goes through the state machine. The defaults are the functions of this file, and
/// that of [`timeout`].
pub(super) trait StateMachine: LossPolicy {
    /// An acknowledgment out of the ordinary arrived, or one in a state other than Open.
    fn on_ack(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        on_ack(self, r, now, ack);
    }

    /// The acknowledgment in state Open, Disorder or CWR.
    fn in_open(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        in_open(self, r, now, ack);
    }

    /// The acknowledgment in state Recovery.
    fn in_recovery(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        in_recovery(self, r, now, ack);
    }

    /// The acknowledgment in state Loss.
    fn in_loss(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        in_loss(self, r, now, ack);
    }

    fn on_retransmission_timeout(&mut self, r: &mut Recovery, now: SimTime) {
        timeout::on_retransmission_timeout(self, r, now);
    }
}

/// Takes an acknowledgment through the state machine.
pub(super) fn on_ack<L: StateMachine>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    ack: &AckEvent,
) {
    if ack.has_ece {
        r.undo.forget_threshold();
    }
    if r.state == CongestionState::Open {
        r.undo.forget_retransmissions();
    } else if r.is_recovered() && !leave_reduction(loss, r, now, ack) {
        return;
    }
    match r.state {
        CongestionState::Recovery => loss.in_recovery(r, now, ack),
        CongestionState::Loss => loss.in_loss(r, now, ack),
        CongestionState::Open | CongestionState::Disorder | CongestionState::Cwr => {
            loss.in_open(r, now, ack);
        }
    }
}

/// Everything that was outstanding at the reduction is acknowledged. Returns whether the
/// acknowledgment is to be processed further.
fn leave_reduction<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    ack: &AckEvent,
) -> bool {
    match r.state {
        CongestionState::Cwr if r.space.snd_una > r.high_seq => {
            loss.end_reduction(r, now);
            r.set_state(now, CongestionState::Open);
        }
        CongestionState::Recovery => {
            let ends = loss.ends_episode(r);
            try_undo_at_end(loss, r, now, ack);
            if !ends {
                return false;
            }
            loss.end_reduction(r, now);
            r.set_state(now, CongestionState::Open);
        }
        CongestionState::Disorder => loss.leave_disorder(r, now),
        _ => {}
    }
    true
}

/// Open, Disorder or CWR.
pub(super) fn in_open<L: LossPolicy>(loss: &mut L, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
    loss.count_duplicate_acks(r, ack);
    if r.state <= CongestionState::Disorder {
        try_undo_by_dsack(loss, r);
    }
    loss.detect_losses(r, now, ack);
    if r.scoreboard.lost_out() > 0 {
        enter_recovery(loss, r, now, Some(ack));
        return;
    }
    if ack.has_ece {
        enter_cwr(loss, r, now, SlowStartEnd::Mark);
    }
    forget_old_retransmissions(loss, r);
    if r.state != CongestionState::Cwr {
        set_open_or_disorder(loss, r, now);
    }
}

pub(super) fn in_recovery<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    ack: &AckEvent,
) {
    if ack.advanced() && try_undo_partial(loss, r, now, ack) {
        return;
    }
    loss.count_duplicate_acks(r, ack);
    if try_undo_by_dsack(loss, r) {
        forget_old_retransmissions(loss, r);
        set_open_or_disorder(loss, r, now);
    }
    loss.detect_losses(r, now, ack);
    if r.state != CongestionState::Recovery && r.scoreboard.lost_out() > 0 {
        enter_recovery(loss, r, now, Some(ack));
    }
}

pub(super) fn in_loss<L: LossPolicy>(loss: &mut L, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
    let recovered = r.is_recovered();
    let undone = if ack.advanced() && loss.may_undo(r, now, ack.segment) {
        undo_timeout(loss, r, now);
        true
    } else {
        detect_spurious_timeout(loss, r, now, ack)
    };
    if !undone && !r.frto.tries_new_data {
        if recovered {
            if !loss.ends_episode(r) {
                return;
            }
            try_undo_at_end(loss, r, now, ack);
            r.set_state(now, CongestionState::Open);
        } else {
            loss.count_duplicate_acks(r, ack);
        }
    }
    let retrans_out = r.scoreboard.retrans_out();
    loss.detect_losses(r, now, ack);
    let retransmission_lost = r.scoreboard.retrans_out() < retrans_out;
    if r.state == CongestionState::Open {
        set_open_or_disorder(loss, r, now);
    }
    if (r.state <= CongestionState::Disorder && r.scoreboard.lost_out() > 0) || retransmission_lost
    {
        enter_recovery(loss, r, now, Some(ack));
    }
}

/// F-RTO with SACK (RFC 5682 §3.1). Returns whether the timeout was spurious and is undone.
fn detect_spurious_timeout<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    ack: &AckEvent,
) -> bool {
    r.frto.tries_new_data = false;
    if !r.frto.is_checking {
        return false;
    }
    // Step 3b: data sent before the timeout, and never again, arrived.
    let original = ack
        .delivery
        .original_end
        .is_some_and(|end_seq| end_seq <= r.high_seq);
    if original {
        undo_timeout(loss, r, now);
        r.statistics.spurious_rtos += 1;
        return true;
    }
    if r.space.snd_nxt > r.high_seq {
        // Step 3a; a D-SACK alone says that an acknowledgment was lost (`FLAG_DSACKING_ACK`).
        if ack.delivery.newly_sacked || (ack.is_duplicate && !ack.has_dsack) {
            r.frto.is_checking = false;
        }
    } else if ack.advanced() && !r.is_recovered() {
        // Step 2b: send new data before anything else is retransmitted.
        r.high_seq = r.space.snd_nxt;
        r.frto.tries_new_data = r.space.has_unsent() && r.space.is_window_open();
        r.frto.is_checking = r.frto.tries_new_data;
    }
    false
}

/// The state is Open or Disorder.
pub(super) fn set_open_or_disorder<L: LossPolicy>(loss: &mut L, r: &mut Recovery, now: SimTime) {
    let state = if loss.is_disordered(r) {
        CongestionState::Disorder
    } else {
        CongestionState::Open
    };
    if r.state != state {
        r.set_state(now, state);
        if state == CongestionState::Open {
            loss.on_disorder_end();
        }
        r.high_seq = r.space.snd_nxt;
    }
}

/// Reduces the window once without a loss: for a congestion mark, or on request of the congestion
/// control.
pub(super) fn enter_cwr<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    cause: SlowStartEnd,
) {
    if r.state < CongestionState::Cwr {
        r.end_slow_start(now, cause);
        loss.on_disorder_end();
        r.undo.forget_threshold();
        r.undo.forbid();
        r.start_reduction(now);
        r.set_state(now, CongestionState::Cwr);
    }
}

/// Begins fast recovery. `ack`: the acknowledgment that revealed the loss; `None`: RACK's timer.
pub(super) fn enter_recovery<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    ack: Option<&AckEvent>,
) {
    r.statistics.fast_retransmits += 1;
    r.end_slow_start(now, SlowStartEnd::Loss);
    forget_old_retransmissions(loss, r);
    r.undo.forget_threshold();
    r.mark_undo();
    if !r.is_reducing() {
        if !ack.is_some_and(|ack| ack.has_ece) {
            r.undo.remember(&r.window);
        }
        loss.reduce_for_loss(r, now);
    }
    r.control.on_loss(now, &mut r.window);
    r.set_state(now, CongestionState::Recovery);
}

/// Takes an acknowledgment at or above the tail loss probe. If only the probe can have drawn it,
/// a segment was lost, which costs the window once (RFC 8985 §7.4).
pub(super) fn on_probe_answer<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    ack: &AckEvent,
) {
    let Some(probe_end) = r.probe.end_seq else {
        return;
    };
    let acked = ack.segment.ack;
    if acked < probe_end {
        return;
    }
    if !r.probe.is_retransmission || ack.has_dsack {
        r.probe.end_seq = None;
    } else if acked > probe_end {
        r.start_reduction(now);
        r.undo.forget_threshold();
        r.set_state(now, CongestionState::Cwr);
        loss.end_reduction(r, now);
        set_open_or_disorder(loss, r, now);
    } else if ack.is_duplicate && !ack.delivery.newly_sacked {
        r.probe.end_seq = None;
    }
}

// Undo.

fn undo_reduction<L: LossPolicy>(loss: &L, r: &mut Recovery, marks: LossMarks) {
    r.undo_reduction(marks);
    loss.limit_burst(r);
}

/// The next retransmission is the first of its episode, if none is out.
fn forget_old_retransmissions<L: LossPolicy>(loss: &L, r: &mut Recovery) {
    if loss.has_no_retransmission_out(r) {
        r.undo.forget_retransmissions();
    }
}

/// Undoes the reduction if D-SACKs reported every retransmission.
pub(super) fn try_undo_by_dsack<L: LossPolicy>(loss: &mut L, r: &mut Recovery) -> bool {
    let is_spurious = r.undo.is_allowed() && r.undo.is_all_duplicate();
    if is_spurious {
        loss.on_undo();
        undo_reduction(loss, r, LossMarks::Keep);
    }
    is_spurious
}

/// Recovery or Loss ends: undoes the reduction if it was spurious.
fn try_undo_at_end<L: LossPolicy>(loss: &mut L, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
    if loss.may_undo(r, now, ack.segment) {
        undo_reduction(loss, r, LossMarks::Keep);
    } else {
        loss.on_recovery_end();
    }
}

/// Undoes the reduction if a partial acknowledgment in Recovery is for an original that was only
/// delayed, and no retransmission is out. Returns whether nothing more is marked lost.
fn try_undo_partial<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
    ack: &AckEvent,
) -> bool {
    let is_delayed = r.undo.is_allowed()
        && r.undo.is_possible()
        && r.undo.has_retransmitted()
        && r.undo.is_delayed_original(ack.segment, now);
    if !is_delayed {
        return false;
    }
    let high = r.scoreboard.highest_sacked_end().max(r.space.snd_una);
    loss.on_reordered(high - ack.prior_una);
    if r.scoreboard.retrans_out() == 0 {
        forget_old_retransmissions(loss, r);
        undo_reduction(loss, r, LossMarks::Clear);
        set_open_or_disorder(loss, r, now);
        return !L::PROFILE.searches_after_undo;
    }
    true
}

/// The timeout was spurious: undoes it.
fn undo_timeout<L: LossPolicy>(loss: &mut L, r: &mut Recovery, now: SimTime) {
    undo_reduction(loss, r, LossMarks::Clear);
    r.timers.timeouts_in_a_row = 0;
    r.set_state(now, CongestionState::Open);
}
