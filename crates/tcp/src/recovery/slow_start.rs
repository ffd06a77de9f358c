//! The record of when and why the first slow start ended. It influences nothing.

use backlane_units::SimTime;

use super::Recovery;
use crate::readings::{SlowStartEnd, SlowStartExit};

impl Recovery {
    /// Records that a hook of the congestion control ended slow start, if it did.
    #[inline]
    pub(crate) fn watch_slow_start(&mut self, now: SimTime) {
        if self.statistics.slow_start_exit.is_none() && !self.window.in_slow_start() {
            let cause = self.window.end_of_slow_start().unwrap_or(
                if self.window.ssthresh_pkts == self.initial_ssthresh_pkts {
                    SlowStartEnd::Threshold
                } else {
                    SlowStartEnd::Control
                },
            );
            self.record_end_of_slow_start(now, cause);
        }
    }

    /// A reduction begins for `cause`; the window is still unchanged.
    pub(crate) fn end_slow_start(&mut self, now: SimTime, cause: SlowStartEnd) {
        if self.statistics.slow_start_exit.is_none() && self.window.in_slow_start() {
            self.record_end_of_slow_start(now, cause);
        }
    }

    fn record_end_of_slow_start(&mut self, now: SimTime, cause: SlowStartEnd) {
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
