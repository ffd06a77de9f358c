//! When and why the first slow start ended: for the records only, nothing follows from it.

use backlane_units::SimTime;

use super::Sender;
use crate::readings::{SlowStartEnd, SlowStartExit};

impl Sender {
    /// Looks whether a hook of the congestion control ended slow start.
    #[inline]
    pub(super) fn watch_slow_start(&mut self, now: SimTime) {
        if self.statistics.slow_start_exit.is_none() && !self.window.in_slow_start() {
            let cause = self.window.end_of_slow_start().unwrap_or(
                if self.window.ssthresh_pkts == self.initial_ssthresh_pkts {
                    SlowStartEnd::Threshold
                } else {
                    SlowStartEnd::Control
                },
            );
            self.note_end_of_slow_start(now, cause);
        }
    }

    /// A reduction begins for `cause`; the window is still untouched.
    pub(super) fn end_slow_start(&mut self, now: SimTime, cause: SlowStartEnd) {
        if self.statistics.slow_start_exit.is_none() && self.window.in_slow_start() {
            self.note_end_of_slow_start(now, cause);
        }
    }

    fn note_end_of_slow_start(&mut self, now: SimTime, cause: SlowStartEnd) {
        // A control that owns its window has phases of its own.
        if !self.owns_window {
            self.statistics.slow_start_exit = Some(SlowStartExit {
                at: now,
                cause,
                cwnd_pkts: self.window.cwnd_pkts,
                segments_sent: self.statistics.segments_sent,
            });
        }
    }
}
