//! Extended limited transmit of TCP-NCR (RFC 4653 §3): while duplicates come, new segments
//! leave in their stead, and what was disorder and not loss costs no window.

use super::Sender;
use super::state::Step;
use crate::config::Reordering;

/// One phase of extended limited transmit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ncr {
    /// FlightSizePrev: packets out when the first duplicate came.
    prior_flight_pkts: u32,
    /// Skipped: segments not sent for the sake of care.
    skipped_pkts: u32,
}

impl Sender {
    /// Begins, continues or ends extended limited transmit.
    pub(super) fn step_over_reordering(&mut self, step: &Step) {
        if !matches!(
            self.reordering.policy(),
            Reordering::NcrCareful | Reordering::NcrAggressive
        ) {
            return;
        }
        let flight_pkts = self.scoreboard.packets_out();
        let disorder = self.scoreboard.sacked_out() > 0;
        if step.segment.ack > step.prior_una
            && let Some(ncr) = self.ncr.take()
        {
            // Steps T.1 to T.3: it was reordering.
            self.window.cwnd_pkts = (flight_pkts + 1).min(ncr.prior_flight_pkts).max(1);
            self.window.ssthresh_pkts = ncr.prior_flight_pkts.max(2);
            self.ncr = disorder.then_some(Ncr {
                skipped_pkts: 0,
                ..ncr
            });
        } else if disorder && self.ncr.is_none() {
            self.ncr = Some(Ncr {
                prior_flight_pkts: flight_pkts,
                skipped_pkts: 0,
            });
        }
        self.reordering.on_flight(flight_pkts);
    }

    /// How many packets may be in flight in extended limited transmit; `None`: it is not on.
    pub(super) fn ncr_limit_pkts(&self) -> Option<u32> {
        self.ncr
            .map(|ncr| ncr.prior_flight_pkts.saturating_sub(ncr.skipped_pkts))
    }

    /// New data left: the careful variant skips as much.
    pub(super) fn on_ncr_sent(&mut self) {
        if self.reordering.policy() == Reordering::NcrCareful
            && let Some(ncr) = &mut self.ncr
        {
            ncr.skipped_pkts += 1;
        }
    }
}
