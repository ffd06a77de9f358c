//! TCP-NCR (RFC 4653): while segments arrive out of order, new ones leave in their stead
//! (extended limited transmit), about a window's worth of them before a loss is declared, and
//! what was disorder and not loss costs no window.
//!
//! The RFC's rules have labels: I begins a phase, E sends in it, T ends it. In packets, as
//! everything here.

use backlane_units::SimTime;

use super::Sender;
use super::state::Step;
use crate::config::Reordering;
use crate::readings::SlowStartEnd;
use crate::recovery::CongestionState;

/// One phase of extended limited transmit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ncr {
    /// FlightSizePrev: the flight when the first duplicate came.
    prior_flight_pkts: u32,
    /// Skipped: segments not sent for the sake of care.
    skipped_pkts: u32,
}

impl Sender {
    pub(super) fn is_ncr(&self) -> bool {
        matches!(
            self.reordering.policy(),
            Reordering::NcrCareful | Reordering::NcrAggressive
        )
    }

    /// Begins, continues or ends extended limited transmit.
    pub(super) fn step_over_reordering(&mut self, now: SimTime, step: &Step) {
        if !self.is_ncr() {
            return;
        }
        let flight_pkts = self.scoreboard.packets_out();
        let disorder = self.scoreboard.sacked_out() > 0;
        if step.segment.ack > step.prior_una
            && let Some(ncr) = self.ncr.take()
        {
            self.end_slow_start(now, SlowStartEnd::Reordering);
            if !self.owns_window {
                // T.1: no more than one segment leaves at once.
                self.window.cwnd_pkts = (flight_pkts + 1).min(ncr.prior_flight_pkts).max(1);
                // T.2: it was reordering, and the flight before it is where to go back to.
                self.window.ssthresh_pkts = ncr.prior_flight_pkts.max(2);
            }
            // T.4: there is more of it. I.2 and I.3 again, but not I.1.
            self.ncr = disorder.then_some(Ncr {
                skipped_pkts: 0,
                ..ncr
            });
        } else if disorder && self.ncr.is_none() && self.state <= CongestionState::Disorder {
            // I.1 and I.2. What the same acknowledgment took off has not been replaced yet and
            // belongs to the flight; where the window is below the flight, it counts.
            let before_pkts = flight_pkts + step.delivery.acked_pkts;
            self.ncr = Some(Ncr {
                prior_flight_pkts: before_pkts.min(self.window.cwnd_pkts),
                skipped_pkts: 0,
            });
        }
        // I.3, and E.6 of the acknowledgment before this one.
        self.reordering.on_flight(flight_pkts);
    }

    /// E.2: how many packets may be in flight in extended limited transmit; `None`: it is not
    /// on.
    pub(super) fn ncr_limit_pkts(&self) -> Option<u32> {
        self.ncr
            .map(|ncr| ncr.prior_flight_pkts.saturating_sub(ncr.skipped_pkts))
    }

    /// E.4: new data left; the careful variant skips as much.
    pub(super) fn on_ncr_sent(&mut self) {
        if self.reordering.policy() == Reordering::NcrCareful
            && let Some(ncr) = &mut self.ncr
        {
            ncr.skipped_pkts += 1;
        }
    }

    /// A loss ends the phase: the flight from before it is reduced, not the one that extended
    /// limited transmit has made of it.
    pub(super) fn end_ncr_with_loss(&mut self) {
        if let Some(ncr) = self.ncr.take()
            && !self.owns_window
        {
            self.window.cwnd_pkts = ncr.prior_flight_pkts.max(1);
        }
    }

    /// Marks lost what the threshold says. In recovery a partial acknowledgment alone tells
    /// nothing, for the next hole may be late too; it does when there is no new data to bring
    /// duplicates (RFC 6675 §4: NextSeg, rules 2 and 3).
    pub(super) fn count_losses(&mut self, advanced: bool) {
        let threshold = self.reordering.degree();
        self.scoreboard.mark_lost_by_count(threshold, u64::MAX);
        if self.state == CongestionState::Recovery
            && advanced
            && !self.may_send_new()
            && !self.scoreboard.has_retransmissions()
            && self.scoreboard.highest_sacked_end() > self.snd_una
        {
            self.scoreboard.mark_head_lost();
        }
    }
}
