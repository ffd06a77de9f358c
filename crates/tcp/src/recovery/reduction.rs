//! A reduction of the window: its beginning, its steps, its end and its undo.

use backlane_units::SimTime;

use super::undo::LossMarks;
use super::{CongestionState, Recovery};
use crate::choices::ThresholdFrom;
use crate::congestion::INFINITE_SSTHRESH_PKTS;

impl Recovery {
    /// Begins a reduction of the window to the control's threshold.
    pub(crate) fn start_reduction(&mut self, now: SimTime) {
        let outstanding_pkts = self.scoreboard.packets_out();
        self.reduction
            .start(self.window.cwnd_pkts, outstanding_pkts);
        let in_flight_pkts = self.scoreboard.in_flight();
        self.set_threshold(now, in_flight_pkts, in_flight_pkts);
        self.window.drop_credit();
        self.high_seq = self.space.snd_nxt;
        self.cwr_due = true;
        self.probe.end_seq = None;
    }

    /// Sets the threshold for a loss. `flight_pkts`: in flight when it was found, of which a part
    /// may have been marked lost since, so that `in_flight_pkts` are.
    pub(crate) fn set_threshold(&mut self, now: SimTime, flight_pkts: u32, in_flight_pkts: u32) {
        self.window.ssthresh_pkts = match self.threshold_from {
            ThresholdFrom::Flight if !self.control.reduces_window() => self
                .control
                .ssthresh_of_flight(now, &self.window, flight_pkts, in_flight_pkts),
            _ => self.control.ssthresh(now, &self.window, in_flight_pkts),
        };
    }

    /// Reduces the window for an acknowledgment that delivered `delivered_pkts`, `advanced` SND.UNA
    /// and revealed `newly_lost_pkts`.
    pub(crate) fn reduce(&mut self, delivered_pkts: u32, advanced: bool, newly_lost_pkts: u32) {
        self.window.cwnd_pkts = self.reduction.cwnd_pkts(
            &self.window,
            self.scoreboard.in_flight(),
            delivered_pkts,
            advanced,
            newly_lost_pkts,
        );
    }

    /// Ends a reduction: the window is set to the threshold, unless it was undone.
    pub(crate) fn end_reduction(&mut self, now: SimTime) {
        if !self.owns_window
            && self.window.ssthresh_pkts < INFINITE_SSTHRESH_PKTS
            && (self.state == CongestionState::Cwr || self.undo.is_possible())
        {
            self.window.cwnd_pkts = self.window.ssthresh_pkts;
        }
        self.control.on_recovery_exit(now, &mut self.window);
    }

    /// Recovery or Loss begins: D-SACKs are counted from here.
    pub(crate) fn mark_undo(&mut self) {
        self.undo.marker = Some(self.space.snd_una);
        let out_pkts = self.scoreboard.retrans_out();
        self.undo.unreported = (out_pkts > 0).then_some(out_pkts);
    }

    /// Restores the window and the threshold from before the reduction.
    pub(crate) fn undo_reduction(&mut self, marks: LossMarks) {
        if marks == LossMarks::Clear {
            self.scoreboard.forget_losses();
        }
        if let Some(prior_ssthresh_pkts) = self.undo.prior_ssthresh_pkts {
            self.restore_cwnd();
            self.window.ssthresh_pkts = self.window.ssthresh_pkts.max(prior_ssthresh_pkts);
            self.statistics.undos += 1;
            if self.window.ssthresh_pkts == self.initial_ssthresh_pkts
                && self.window.in_slow_start()
            {
                // The first slow start continues.
                self.statistics.slow_start_exit = None;
            }
        }
        self.undo.marker = None;
        self.scoreboard.look_again();
    }

    /// Sets the window to what the control makes of the one before the reduction.
    pub(crate) fn restore_cwnd(&mut self) {
        let prior_cwnd_pkts = self.undo.prior_cwnd_pkts();
        self.window.cwnd_pkts = self.control.undo_cwnd(&self.window, prior_cwnd_pkts).max(1);
    }
}
