//! TCP-NCR (RFC 4653): while segments arrive out of order, new ones are sent in their place
//! (extended limited transmit), about a window's worth of them before a loss is declared, and
//! reordering that was no loss costs no window.
//!
//! The RFC's rules have labels: I begins a phase, E sends in it, T ends it. Counts are in packets.

use backlane_units::SimTime;

use super::machine::{self, StateMachine};
use super::policy::{AckEvent, LossPolicy};
use crate::config::Config;
use crate::readings::SlowStartEnd;
use crate::recovery::{CongestionState, Recovery};

/// How much new data extended limited transmit sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// One new segment for two that arrived; loss after two thirds of the flight.
    Careful,
    /// One new segment for each that arrived; loss after half of the flight.
    Aggressive,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ncr {
    variant: Variant,
    initial_threshold_pkts: u32,
    threshold_pkts: u32,
    /// Extended limited transmit, while it is on.
    phase: Option<Phase>,
}

/// One phase of extended limited transmit.
#[derive(Clone, Copy, Debug)]
struct Phase {
    /// FlightSizePrev: the flight when the first duplicate arrived.
    prior_flight_pkts: u32,
    /// Skipped: arrivals for which the careful variant sent nothing.
    skipped_pkts: u32,
}

impl Ncr {
    pub(super) fn new(config: &Config, variant: Variant) -> Self {
        let threshold_pkts = config.duplicate_threshold.max(1);
        Self {
            variant,
            initial_threshold_pkts: threshold_pkts,
            threshold_pkts,
            phase: None,
        }
    }

    /// The least number of packets that is two thirds, or half, of a flight of `flight_pkts`
    /// (I.3 and E.6), and at least three.
    fn set_threshold(&mut self, flight_pkts: u32) {
        let share_pkts = match self.variant {
            Variant::Careful => (2 * flight_pkts).div_ceil(3),
            Variant::Aggressive => flight_pkts.div_ceil(2),
        };
        self.threshold_pkts = share_pkts.max(3);
    }

    /// Begins, continues or ends extended limited transmit.
    fn step(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        let flight_pkts = r.scoreboard.packets_out();
        let is_disordered = r.scoreboard.sacked_out() > 0;
        if ack.advanced()
            && let Some(phase) = self.phase.take()
        {
            r.end_slow_start(now, SlowStartEnd::Reordering);
            if !r.owns_window {
                // T.1: no more than one segment leaves at once.
                r.window.cwnd_pkts = (flight_pkts + 1).min(phase.prior_flight_pkts).max(1);
                // T.2: it was reordering; slow start may return to the flight before it.
                r.window.ssthresh_pkts = phase.prior_flight_pkts.max(2);
            }
            // T.4: there is more of it. I.2 and I.3 again, but not I.1.
            self.phase = is_disordered.then_some(Phase {
                skipped_pkts: 0,
                ..phase
            });
        } else if is_disordered && self.phase.is_none() && r.state <= CongestionState::Disorder {
            // I.1 and I.2. What the same acknowledgment took off has not been replaced yet and
            // belongs to the flight; where the window is below the flight, the window counts.
            let before_pkts = flight_pkts + ack.delivery.covered_pkts;
            self.phase = Some(Phase {
                prior_flight_pkts: before_pkts.min(r.window.cwnd_pkts),
                skipped_pkts: 0,
            });
        }
        // I.3, and E.6 of the acknowledgment before this one.
        self.set_threshold(flight_pkts);
    }
}

impl LossPolicy for Ncr {
    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.threshold_pkts
    }

    fn detect_losses(&mut self, r: &mut Recovery, _now: SimTime, ack: &AckEvent) {
        detect_by_count(self.threshold_pkts, r, ack);
    }

    fn on_disorder_end(&mut self) {
        self.phase = None;
    }

    /// A loss ends the phase: the flight from before it is reduced, not the one that extended
    /// limited transmit has built.
    fn reduce_for_loss(&mut self, r: &mut Recovery, now: SimTime) {
        if let Some(phase) = self.phase.take()
            && !r.owns_window
        {
            r.window.cwnd_pkts = phase.prior_flight_pkts.max(1);
        }
        r.start_reduction(now);
    }

    fn before_timeout(&mut self, r: &mut Recovery) {
        if r.state <= CongestionState::Disorder
            && r.scoreboard.sacked_out() >= self.initial_threshold_pkts
        {
            self.threshold_pkts = self.threshold_pkts.min(self.initial_threshold_pkts);
        }
        self.phase = None;
    }

    /// The window does not grow within a phase, nor when one phase follows another (T.4).
    fn holds_window(&self, _r: &Recovery) -> bool {
        self.phase.is_some()
    }

    fn releases_window(&self) -> bool {
        self.phase.is_none()
    }

    /// E.2.
    #[inline]
    fn new_data_limit_pkts(&self, _r: &Recovery) -> Option<u32> {
        self.phase
            .map(|phase| phase.prior_flight_pkts.saturating_sub(phase.skipped_pkts))
    }

    /// E.4: the careful variant skips one segment for each new one.
    #[inline]
    fn on_new_data(&mut self) {
        if self.variant == Variant::Careful
            && let Some(phase) = &mut self.phase
        {
            phase.skipped_pkts += 1;
        }
    }
}

impl StateMachine for Ncr {
    fn in_open(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        self.step(r, now, ack);
        machine::in_open(self, r, now, ack);
    }
}

/// Marks lost what has `threshold_pkts` SACKed segments above it. In Recovery a partial
/// acknowledgment alone marks nothing, for the next hole may be late too, unless there is no new
/// data to draw duplicates (RFC 6675 §4: NextSeg, rules 2 and 3).
pub(super) fn detect_by_count(threshold_pkts: u32, r: &mut Recovery, ack: &AckEvent) {
    r.scoreboard.mark_lost_by_count(threshold_pkts, u64::MAX);
    if r.state == CongestionState::Recovery
        && ack.advanced()
        && !r.space.can_send_new()
        && !r.scoreboard.has_retransmissions()
        && r.scoreboard.highest_sacked_end() > r.space.snd_una
    {
        r.scoreboard.mark_head_lost();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ncr_follows_the_flight_and_never_falls_below_three() {
        let threshold_pkts = |variant, flight_pkts| {
            let mut ncr = Ncr::new(&Config::default(), variant);
            ncr.set_threshold(flight_pkts);
            ncr.threshold_pkts()
        };
        assert_eq!(threshold_pkts(Variant::Careful, 30), 20);
        // Two thirds of three would be two.
        assert_eq!(threshold_pkts(Variant::Careful, 3), 3);
        assert_eq!(threshold_pkts(Variant::Aggressive, 30), 15);
        assert_eq!(threshold_pkts(Variant::Aggressive, 31), 16);
        assert_eq!(threshold_pkts(Variant::Aggressive, 2), 3);
    }
}
