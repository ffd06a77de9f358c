//! The retransmission timeout: everything outstanding counts as lost, and slow start begins with
//! one segment.

use backlane_units::SimTime;

use super::policy::LossPolicy;
use crate::choices::TimeoutMarks;
use crate::readings::SlowStartEnd;
use crate::recovery::probe::DueProbe;
use crate::recovery::{CongestionState, Recovery};

/// The retransmission timer expired.
pub(super) fn on_retransmission_timeout<L: LossPolicy>(
    loss: &mut L,
    r: &mut Recovery,
    now: SimTime,
) {
    if r.timers.may_retry() {
        r.statistics.rtos += 1;
        enter_loss(loss, r, now);
        r.timers.back_off();
        loss.arm_timer(r, now);
    }
}

fn enter_loss<L: LossPolicy>(loss: &mut L, r: &mut Recovery, now: SimTime) {
    let was_recovering = r.state >= CongestionState::Recovery;
    loss.before_timeout(r);
    r.probe.end_seq = None;
    r.probe.due = DueProbe::None;
    let flight_pkts = r.scoreboard.in_flight();
    let repeats_head = r.state == CongestionState::Loss && r.scoreboard.is_head_retransmitted();
    match r.timeout_marks {
        TimeoutMarks::Overdue => {
            let spared_us = loss.timeout_spares_us(r);
            r.scoreboard.on_timeout(now.as_micros(), spared_us);
        }
        TimeoutMarks::Unsacked => r.scoreboard.on_timeout(now.as_micros(), 0),
        TimeoutMarks::All => r.scoreboard.forget_sacks_on_timeout(),
    }
    // A timeout within a recovery, or a repeated one, is the same loss: one reduction.
    let is_new_loss = r.state <= CongestionState::Disorder
        || r.is_recovered()
        || (r.state == CongestionState::Loss && r.timers.timeouts_in_a_row == 0)
        || (r.timeout_cuts_again && !repeats_head);
    if is_new_loss {
        r.mark_undo();
        r.undo.remember(&r.window);
        r.end_slow_start(now, SlowStartEnd::Loss);
        let in_flight_pkts = r.scoreboard.in_flight();
        r.set_threshold(now, flight_pkts, in_flight_pkts);
        r.control.on_loss(now, &mut r.window);
    }
    r.report_losses(now);
    r.control.on_timeout(now, r.scoreboard.lost_total());
    r.set_state(now, CongestionState::Loss);
    r.window.cwnd_pkts = r.scoreboard.in_flight() + 1;
    r.window.drop_credit();
    r.high_seq = r.space.snd_nxt;
    r.cwr_due = true;
    r.frto.tries_new_data = false;
    r.frto.is_checking = r.frto.is_enabled && (!was_recovering || r.timers.timeouts_in_a_row > 0);
    loss.after_timeout(r);
}
