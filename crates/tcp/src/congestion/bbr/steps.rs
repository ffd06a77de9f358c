//! When BBR sends faster than the bandwidth, as fast, and slower: the steps from phase to phase.

use std::cmp::Ordering;

use super::bandwidth::{Bandwidth, GAIN_UNIT};
use super::phases::{HIGH_GAIN, MIN_CWND_PKTS, Phase, Rest};
use super::{Ack, Bbr, NO_RTT, Window};

/// The inverse of the gain of startup drains in one round what a round of startup queued.
const DRAIN_GAIN: u64 = GAIN_UNIT * 1000 / 2885;
/// Room for acknowledgments that come late or together.
const CWND_GAIN: u64 = 2 * GAIN_UNIT;
/// The gain cycle, a phase lasting the smallest RTT: probe, drain, cruise.
const CYCLE: [u64; 8] = [
    GAIN_UNIT * 5 / 4,
    GAIN_UNIT * 3 / 4,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
];
/// The phases that a cycle may begin with: all but the draining one.
const CYCLE_STARTS: u32 = 7;
/// How long the queue is kept empty to measure the smallest RTT.
const REST_MS: u64 = 200;

impl Bbr {
    pub(super) fn start_gain_cycle(&mut self) {
        self.phase = Phase::ProbeBandwidth;
        self.cycle = CYCLE.len() - 1 - self.draws.below(CYCLE_STARTS) as usize;
        self.advance_cycle();
    }

    fn advance_cycle(&mut self) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_start_us = self.totals.delivered_us;
    }

    /// Whether the cycle stands at its probing phase.
    pub(super) fn is_probing(&self) -> bool {
        self.phase == Phase::ProbeBandwidth && self.cycle == 0
    }

    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if self.phase != Phase::ProbeBandwidth {
            return;
        }
        let lasted_us = self.totals.delivered_us.saturating_sub(self.cycle_start_us);
        let is_full_length = lasted_us > u64::from(self.min_rtt_us);
        let in_flight_pkts = self.in_network_pkts(ack, ack.prior_in_flight_pkts);
        let bandwidth = self.max_bandwidth();
        let is_over = match self.pacing_gain.cmp(&GAIN_UNIT) {
            // What is probed for must have been in flight, if the buffer takes it.
            Ordering::Greater => {
                is_full_length
                    && (ack.newly_lost_pkts > 0
                        || in_flight_pkts >= self.target_pkts(bandwidth, self.pacing_gain))
            }
            Ordering::Equal => is_full_length,
            Ordering::Less => {
                is_full_length || in_flight_pkts <= self.target_pkts(bandwidth, GAIN_UNIT)
            }
        };
        if is_over {
            self.advance_cycle();
        }
    }

    pub(super) fn look_for_full_pipe(&mut self, ack: &Ack) {
        if self.starts_round && !ack.rate.is_app_limited {
            let bandwidth = self.max_bandwidth();
            self.full_pipe.on_round(bandwidth);
        }
    }

    pub(super) fn look_for_drained_queue(&mut self, ack: &Ack, window: &mut Window) {
        if self.phase == Phase::Startup && self.full_pipe.is_reached() {
            self.phase = Phase::Drain;
            window.ssthresh_pkts = self.target_pkts(self.max_bandwidth(), GAIN_UNIT);
        }
        if self.phase == Phase::Drain
            && self.in_network_pkts(ack, ack.in_flight_pkts)
                <= self.target_pkts(self.max_bandwidth(), GAIN_UNIT)
        {
            self.start_gain_cycle();
        }
    }

    pub(super) fn update_min_rtt(&mut self, now_ms: u64, ack: &Ack, window: &mut Window) {
        let window_ms = self.config.min_rtt_window.as_micros() / 1000;
        let has_expired = now_ms > self.min_rtt_at_ms + window_ms;
        if let Some(rtt_us) = ack.rtt_us
            && (rtt_us < self.min_rtt_us || has_expired)
        {
            self.min_rtt_us = rtt_us;
            self.min_rtt_at_ms = now_ms;
        }
        if has_expired && !self.is_restarting && self.phase != Phase::ProbeRtt {
            self.phase = Phase::ProbeRtt;
            self.remember_window(window);
            self.rest = Rest::default();
        }
        self.holds_back = self.phase == Phase::ProbeRtt;
        if self.phase == Phase::ProbeRtt {
            if self.rest.until_ms.is_some() {
                self.rest.has_had_round |= self.starts_round;
                if self.rest.has_had_round {
                    self.look_for_end_of_rest(now_ms, window);
                }
            } else if ack.in_flight_pkts <= MIN_CWND_PKTS {
                self.rest.until_ms = Some(now_ms + REST_MS);
                self.round_end_pkts = ack.delivered_pkts;
            }
        }
        if ack.rate.delivered_pkts > 0 {
            self.is_restarting = false;
        }
    }

    pub(super) fn look_for_end_of_rest(&mut self, now_ms: u64, window: &mut Window) {
        if self.rest.until_ms.is_none_or(|until_ms| now_ms <= until_ms) {
            return;
        }
        self.min_rtt_at_ms = now_ms;
        window.cwnd_pkts = window.cwnd_pkts.max(self.prior_cwnd_pkts);
        if self.full_pipe.is_reached() {
            self.start_gain_cycle();
        } else {
            self.phase = Phase::Startup;
        }
    }

    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.phase {
            Phase::Startup => (HIGH_GAIN, HIGH_GAIN),
            Phase::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Phase::ProbeBandwidth if self.policer.bandwidth().is_some() => (GAIN_UNIT, CWND_GAIN),
            Phase::ProbeBandwidth => (CYCLE[self.cycle], CWND_GAIN),
            Phase::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }

    /// Packets that fill the path `gain` times; the initial window without an RTT.
    pub(super) fn pipe_pkts(&self, bandwidth: Bandwidth, gain: u64) -> u32 {
        const INITIAL_CWND_PKTS: u32 = 10;
        if self.min_rtt_us == NO_RTT {
            return INITIAL_CWND_PKTS;
        }
        bandwidth.pipe_pkts(u64::from(self.min_rtt_us), gain)
    }

    /// The same with what the ends hold back.
    fn target_pkts(&self, bandwidth: Bandwidth, gain: u64) -> u32 {
        self.with_burst_budget(self.pipe_pkts(bandwidth, gain))
    }
}
