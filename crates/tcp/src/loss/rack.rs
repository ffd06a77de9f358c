//! RACK (RFC 8985) as in Linux 6.1: a segment is lost when one sent after it was delivered and it
//! is overdue by the reordering window.
//!
//! The window is a quarter of the smallest RTT. It grows by a quarter for each round trip with a
//! D-SACK, and is zero while no reordering was seen and there are signs of a loss. Lost
//! retransmissions are detected in the same way. Reductions are undone by D-SACKs and timestamps.

use backlane_units::SimTime;

use super::machine::{StateMachine, enter_recovery};
use super::policy::{AckEvent, LossPolicy};
use super::profile::Profile;
use crate::config::Config;
use crate::recovery::timer::Timer;
use crate::recovery::undo::UndoEvidence;
use crate::recovery::{CongestionState, Recovery};

/// The ceiling of the degree of reordering (`tcp_max_reordering`).
const MAX_DEGREE_PKTS: u32 = 300;
/// Recoveries for which a widened window is kept (`TCP_RACK_RECOVERY_THRESH`).
const PERSISTENT_RECOVERIES: u32 = 16;
/// The most quarters of the smallest RTT (`reo_wnd_steps` is a byte).
const MAX_STEPS: u32 = 255;

#[derive(Clone, Debug)]
pub(crate) struct Rack {
    mss_bytes: u64,
    initial_degree_pkts: u32,
    /// The largest distance, in packets, by which a segment was overtaken.
    degree_pkts: u32,
    has_seen_reordering: bool,
    /// The window in quarters of the smallest RTT.
    steps: u32,
    /// Recoveries until the window is reset.
    persists_for: u32,
    dsack_seen: bool,
    /// When the window last grew.
    grown_us: u64,
}

impl Rack {
    pub(super) fn new(config: &Config) -> Self {
        let degree_pkts = config.duplicate_threshold.max(1);
        Self {
            mss_bytes: u64::from(config.mss_bytes().max(1)),
            initial_degree_pkts: degree_pkts,
            degree_pkts,
            has_seen_reordering: false,
            steps: 1,
            persists_for: 0,
            dsack_seen: false,
            grown_us: 0,
        }
    }

    /// Grows the window once per round trip with a D-SACK (RFC 8985 §6.2 step 4).
    /// `newest_sent_us`: when the newest segment delivered was sent.
    fn adapt_window(&mut self, now_us: u64, newest_sent_us: u64) {
        if newest_sent_us < self.grown_us {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = (self.steps + 1).min(MAX_STEPS);
            self.dsack_seen = false;
            self.grown_us = now_us;
            self.persists_for = PERSISTENT_RECOVERIES;
        } else if self.persists_for == 0 {
            self.steps = 1;
        }
    }

    /// The reordering window: min(min_RTT/4 · steps, SRTT), or zero.
    fn window_us(
        &self,
        is_recovering: bool,
        sacked_pkts: u32,
        min_rtt_us: u64,
        srtt_us: u64,
    ) -> u64 {
        if !self.has_seen_reordering && (is_recovering || sacked_pkts >= self.degree_pkts) {
            return 0;
        }
        ((min_rtt_us >> 2) * u64::from(self.steps)).min(srtt_us)
    }

    /// Marks lost what is overdue; the timer is set for what is not overdue yet.
    fn mark_overdue(&self, r: &mut Recovery, now: SimTime) {
        let window_us = self.window_us(
            r.state >= CongestionState::Recovery,
            r.scoreboard.sacked_out(),
            r.rtt.min_rtt_us().unwrap_or(0),
            r.rtt.srtt_us(),
        );
        let wait_us = r.scoreboard.mark_overtaken_lost(now.as_micros(), window_us);
        if let Some(wait_us) = wait_us {
            r.arm_reordering_timer(now, wait_us);
        }
    }
}

impl LossPolicy for Rack {
    const PROFILE: Profile = Profile {
        undo: UndoEvidence::DsackAndTimestamps,
        searches_after_undo: true,
        ..Profile::PLAIN
    };

    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.degree_pkts
    }

    /// Losses can only show when something was delivered.
    fn detect_losses(&mut self, r: &mut Recovery, now: SimTime, _ack: &AckEvent) {
        if r.scoreboard.take_advance() {
            self.mark_overdue(r, now);
        }
    }

    fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Detects reordering: an original delivered behind later ones.
    #[inline]
    fn on_delivery(&mut self, r: &Recovery, now: SimTime, ack: &AckEvent) {
        let high = r.scoreboard.highest_sacked_end().max(r.space.snd_una);
        let is_trusted = r.state != CongestionState::Loss || r.undo.is_possible();
        if let Some(seq) = ack.delivery.reordered_seq.filter(|_| is_trusted) {
            self.on_reordered(high.saturating_sub(seq));
        }
        let filled_seq = ack.delivery.filled_seq;
        if let Some(seq) = filled_seq.filter(|seq| *seq < ack.prior_highest_sacked_end) {
            self.on_reordered(high.saturating_sub(seq));
        }
        if ack.delivery.delivered_pkts > 0 {
            self.adapt_window(now.as_micros(), r.scoreboard.newest_delivered_us());
        }
    }

    fn on_reordered(&mut self, span_bytes: u64) {
        let span_pkts = span_bytes.div_ceil(self.mss_bytes);
        let degree_pkts = span_pkts.min(u64::from(MAX_DEGREE_PKTS)) as u32;
        self.has_seen_reordering = true;
        self.degree_pkts = self.degree_pkts.max(degree_pkts);
    }

    fn on_undo(&mut self) {
        self.persists_for = (self.persists_for + 1).min(PERSISTENT_RECOVERIES);
    }

    fn on_recovery_end(&mut self) {
        self.persists_for = self.persists_for.saturating_sub(1);
    }

    /// A timeout although the degree was reached means that the degree was too large.
    fn before_timeout(&mut self, r: &mut Recovery) {
        if r.state <= CongestionState::Disorder
            && r.scoreboard.sacked_out() >= self.initial_degree_pkts
        {
            self.degree_pkts = self.degree_pkts.min(self.initial_degree_pkts);
        }
    }

    /// Segments that were overtaken are overdue now.
    fn on_reordering_timeout(&mut self, r: &mut Recovery, now: SimTime) {
        let in_flight_pkts = r.scoreboard.in_flight();
        r.timers.armed = Timer::Off;
        self.mark_overdue(r, now);
        let found = r.scoreboard.in_flight() != in_flight_pkts;
        r.report_losses(now);
        if found && r.state != CongestionState::Recovery {
            enter_recovery(self, r, now, None);
            if !r.owns_window {
                r.reduce(1, false, 0);
            }
        }
        if r.timers.armed == Timer::Off {
            r.timers.armed = Timer::Reordering(now);
            r.arm_retransmission_timer(now);
        }
    }

    /// With more reordering than expected, SACKs count as progress.
    fn counts_sacks_as_progress(&self) -> bool {
        self.has_seen_reordering && self.degree_pkts > self.initial_degree_pkts
    }
}

impl StateMachine for Rack {}

#[cfg(test)]
mod tests {
    use backlane_units::Bytes;

    use super::*;

    fn rack() -> Rack {
        Rack::new(&Config {
            mss: Bytes::new(1000),
            ..Config::default()
        })
    }

    #[test]
    fn the_degree_is_at_most_300() {
        let mut rack = rack();
        rack.on_reordered(1_000_000);
        assert_eq!(rack.threshold_pkts(), 300);
    }

    #[test]
    fn the_window_widens_once_per_round_trip_with_a_duplicate() {
        let mut rack = rack();
        let window_us = |rack: &Rack| rack.window_us(false, 0, 40_000, 100_000);
        assert_eq!(window_us(&rack), 10_000);
        rack.on_dsack();
        rack.adapt_window(100_000, 60_000);
        assert_eq!(window_us(&rack), 20_000);
        // Still the same round trip.
        rack.on_dsack();
        rack.adapt_window(110_000, 70_000);
        assert_eq!(window_us(&rack), 20_000);
        rack.on_dsack();
        rack.adapt_window(150_000, 101_000);
        assert_eq!(window_us(&rack), 30_000);
        for _ in 0..16 {
            rack.on_recovery_end();
        }
        rack.adapt_window(200_000, 160_000);
        assert_eq!(window_us(&rack), 10_000);
    }

    #[test]
    fn without_reordering_the_third_sacked_segment_closes_the_window() {
        let mut rack = rack();
        assert_eq!(rack.window_us(false, 2, 40_000, 100_000), 10_000);
        assert_eq!(rack.window_us(false, 3, 40_000, 100_000), 0);
        assert_eq!(rack.window_us(true, 0, 40_000, 100_000), 0);
        rack.on_reordered(2_000);
        assert_eq!(rack.window_us(true, 3, 40_000, 100_000), 10_000);
    }

    /// RFC 8985 §6.2 step 4: min(min_RTT/4 · reo_wnd_mult, SRTT).
    #[test]
    fn the_window_is_never_longer_than_the_smoothed_rtt() {
        let mut rack = rack();
        for round in 1..=30 {
            rack.on_dsack();
            rack.adapt_window(round * 100_000, round * 100_000 - 1);
        }
        assert_eq!(rack.window_us(false, 0, 40_000, 1_000_000), 310_000);
        assert_eq!(rack.window_us(false, 0, 40_000, 100_000), 100_000);
    }
}
