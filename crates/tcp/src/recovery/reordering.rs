//! How much reordering is borne before a segment counts as lost: one seam, four policies.

use crate::config::Reordering;

/// Linux's ceiling of the learned degree (`tcp_max_reordering`).
const MAX_DEGREE: u32 = 300;
/// The ceiling of kernels before 3.18 (`TCP_MAX_REORDERING`).
const LEGACY_MAX_DEGREE: u32 = 127;
/// Recoveries for which a widened window is kept (`TCP_RACK_RECOVERY_THRESH`).
const PERSISTENT_RECOVERIES: u32 = 16;
/// The most quarters of the smallest RTT (`reo_wnd_steps` is a byte).
const MAX_STEPS: u32 = 255;

/// What was learned about reordering.
#[derive(Clone, Debug)]
pub(crate) struct ReorderingState {
    policy: Reordering,
    mss_bytes: u64,
    initial_degree: u32,
    degree: u32,
    has_seen: bool,
    /// RACK's window in quarters of the smallest RTT.
    steps: u32,
    persists_for: u32,
    duplicate_seen: bool,
    adjusted_us: u64,
}

impl ReorderingState {
    pub(crate) fn new(policy: Reordering, mss_bytes: u32, degree: u32) -> Self {
        let degree = degree.max(1);
        Self {
            policy,
            mss_bytes: u64::from(mss_bytes.max(1)),
            initial_degree: degree,
            degree,
            has_seen: false,
            steps: 1,
            persists_for: 0,
            duplicate_seen: false,
            adjusted_us: 0,
        }
    }

    pub(crate) fn degree(&self) -> u32 {
        self.degree
    }

    pub(crate) fn initial_degree(&self) -> u32 {
        self.initial_degree
    }

    /// Whether the holes below the highest SACK count towards the degree (FACK): until more
    /// reordering was seen than the degree, for good.
    pub(crate) fn counts_holes(&self) -> bool {
        self.policy == Reordering::LinuxLegacy && !self.has_seen
    }

    /// Whether more reordering was seen than is expected: SACKs then count as progress.
    #[inline]
    pub(crate) fn has_learned(&self) -> bool {
        match self.policy {
            Reordering::Rack => self.has_seen && self.degree > self.initial_degree,
            // Every packet that arrives counts, in whatever order.
            Reordering::Pr => true,
            _ => false,
        }
    }

    pub(crate) fn policy(&self) -> Reordering {
        self.policy
    }

    /// A segment arrived `span_bytes` behind the highest that had arrived before it.
    pub(crate) fn on_reordered(&mut self, span_bytes: u64) {
        let limit = match self.policy {
            Reordering::Rack => MAX_DEGREE,
            Reordering::LinuxLegacy => LEGACY_MAX_DEGREE,
            Reordering::Fixed
            | Reordering::NcrCareful
            | Reordering::NcrAggressive
            | Reordering::Pr
            | Reordering::Rr => return,
        };
        let degree = span_bytes.div_ceil(self.mss_bytes).min(u64::from(limit)) as u32;
        self.has_seen |= self.policy == Reordering::Rack || degree > self.degree;
        self.degree = self.degree.max(degree);
    }

    /// NCR: the least number of packets that is two thirds, or half, of a flight of
    /// `flight_pkts` (RFC 4653, I.3 and E.6).
    pub(crate) fn on_flight(&mut self, flight_pkts: u32) {
        self.degree = match self.policy {
            Reordering::NcrCareful => (2 * flight_pkts).div_ceil(3).max(3),
            Reordering::NcrAggressive => flight_pkts.div_ceil(2).max(3),
            _ => return,
        };
    }

    /// RR-TCP: the threshold that its histogram gives.
    pub(crate) fn set_degree(&mut self, degree: u32) {
        self.degree = degree;
    }

    /// A retransmission timeout, with `sacked_pkts` SACKed; `was_open`: no reduction was on.
    pub(crate) fn on_timeout(&mut self, sacked_pkts: u32, was_open: bool) {
        if self.policy == Reordering::Rr {
            return;
        }
        let is_legacy = self.policy == Reordering::LinuxLegacy;
        if is_legacy || (was_open && sacked_pkts >= self.initial_degree) {
            self.degree = self.degree.min(self.initial_degree);
        }
    }

    /// A D-SACK arrived.
    pub(crate) fn on_duplicate(&mut self) {
        self.duplicate_seen = true;
    }

    /// Widens the window after a round trip with a D-SACK (RFC 8985 §6.2 step 4).
    /// `newest_sent_us`: when the newest segment delivered left.
    pub(crate) fn adjust(&mut self, now_us: u64, newest_sent_us: u64) {
        if newest_sent_us < self.adjusted_us {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = (self.steps + 1).min(MAX_STEPS);
            self.duplicate_seen = false;
            self.adjusted_us = now_us;
            self.persists_for = PERSISTENT_RECOVERIES;
        } else if self.persists_for == 0 {
            self.steps = 1;
        }
    }

    /// A recovery ended that was not needless.
    pub(crate) fn on_recovery_end(&mut self) {
        self.persists_for = self.persists_for.saturating_sub(1);
    }

    /// D-SACKs proved a recovery needless.
    pub(crate) fn on_undo(&mut self) {
        self.persists_for = (self.persists_for + 1).min(PERSISTENT_RECOVERIES);
    }

    /// RACK's reordering window: none while no reordering was seen and there are signs of a
    /// loss, else a part of the smallest RTT, and never more than the smoothed one.
    pub(crate) fn window_us(
        &self,
        recovering: bool,
        sacked_pkts: u32,
        min_rtt_us: u64,
        srtt_us: u64,
    ) -> u64 {
        if !self.has_seen && (recovering || sacked_pkts >= self.degree) {
            return 0;
        }
        ((min_rtt_us >> 2) * u64::from(self.steps)).min(srtt_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_has_its_ceiling() {
        for (policy, degree) in [
            (Reordering::Fixed, 3),
            (Reordering::LinuxLegacy, 127),
            (Reordering::Rack, 300),
        ] {
            let mut state = ReorderingState::new(policy, 1000, 3);
            state.on_reordered(1_000_000);
            assert_eq!(state.degree(), degree);
        }
    }

    #[test]
    fn ncr_follows_the_flight_and_never_falls_below_three() {
        let mut state = ReorderingState::new(Reordering::NcrCareful, 1000, 3);
        state.on_flight(30);
        assert_eq!(state.degree(), 20);
        // Two thirds of three would be two.
        state.on_flight(3);
        assert_eq!(state.degree(), 3);
        let mut state = ReorderingState::new(Reordering::NcrAggressive, 1000, 3);
        state.on_flight(30);
        assert_eq!(state.degree(), 15);
        state.on_flight(31);
        assert_eq!(state.degree(), 16);
        state.on_flight(2);
        assert_eq!(state.degree(), 3);
    }

    #[test]
    fn the_window_widens_once_per_round_trip_with_a_duplicate() {
        let mut state = ReorderingState::new(Reordering::Rack, 1000, 3);
        let window_us = |state: &ReorderingState| state.window_us(false, 0, 40_000, 100_000);
        assert_eq!(window_us(&state), 10_000);
        state.on_duplicate();
        state.adjust(100_000, 60_000);
        assert_eq!(window_us(&state), 20_000);
        // Still the same round trip.
        state.on_duplicate();
        state.adjust(110_000, 70_000);
        assert_eq!(window_us(&state), 20_000);
        state.on_duplicate();
        state.adjust(150_000, 101_000);
        assert_eq!(window_us(&state), 30_000);
        for _ in 0..16 {
            state.on_recovery_end();
        }
        state.adjust(200_000, 160_000);
        assert_eq!(window_us(&state), 10_000);
    }

    #[test]
    fn without_reordering_the_third_sacked_segment_closes_the_window() {
        let mut state = ReorderingState::new(Reordering::Rack, 1000, 3);
        assert_eq!(state.window_us(false, 2, 40_000, 100_000), 10_000);
        assert_eq!(state.window_us(false, 3, 40_000, 100_000), 0);
        assert_eq!(state.window_us(true, 0, 40_000, 100_000), 0);
        state.on_reordered(2_000);
        assert_eq!(state.window_us(true, 3, 40_000, 100_000), 10_000);
    }

    /// RFC 8985 §6.2 step 4: min(min_RTT/4 · reo_wnd_mult, SRTT).
    #[test]
    fn the_window_is_never_longer_than_the_smoothed_rtt() {
        let mut state = ReorderingState::new(Reordering::Rack, 1000, 3);
        for round in 1..=30 {
            state.on_duplicate();
            state.adjust(round * 100_000, round * 100_000 - 1);
        }
        assert_eq!(state.window_us(false, 0, 40_000, 1_000_000), 310_000);
        assert_eq!(state.window_us(false, 0, 40_000, 100_000), 100_000);
    }
}
