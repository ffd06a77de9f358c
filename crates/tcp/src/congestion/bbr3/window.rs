//! What follows from model and phase: pacing gain, window, and the bounds of the window (§5.6).

use super::bounds::{MIN_CWND_PKTS, UNBOUNDED};
use super::phase::{CWND_GAIN, DRAIN_GAIN, PACING_GAIN, Phase};
use super::rest::NO_RTT;
use super::{Ack, Bbr3, Window};
use crate::congestion::bbr::bandwidth::{Bandwidth, GAIN_UNIT};
use crate::recovery::CongestionState;

/// Down: the draft has 0.90.
const DOWN_GAIN: u64 = GAIN_UNIT * 91 / 100;
const UP_GAIN: u64 = GAIN_UNIT * 5 / 4;
/// While going up, the window may be larger, so that it does not limit the probe.
const UP_CWND_GAIN: u64 = CWND_GAIN + GAIN_UNIT / 4;
/// Of the pipe, during a rest: a half.
const REST_GAIN: u64 = GAIN_UNIT / 2;
/// A burst is what is paced in 2⁻¹⁰ s, and 64 KiB halved for each 512 µs of RTT more.
const BURST_SHIFT: u32 = 10;
const BURST_RTT_SHIFT: u32 = 9;
const BURST_BYTES: u64 = 65_536;
/// … at most a legacy GSO packet without the room for its headers, at least two segments.
const BURST_MAX_BYTES: u64 = BURST_BYTES - 1 - 320;
const BURST_MIN_PKTS: u64 = 2;

impl Bbr3 {
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.phase {
            Phase::Startup => (PACING_GAIN, CWND_GAIN),
            Phase::Drain => (DRAIN_GAIN, CWND_GAIN),
            Phase::Down => (DOWN_GAIN, CWND_GAIN),
            Phase::Cruise | Phase::Refill => (GAIN_UNIT, CWND_GAIN),
            Phase::Up => (UP_GAIN, UP_CWND_GAIN),
            Phase::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }

    /// Before there is a bandwidth: the window in one RTT, or in 1 ms if that is not known.
    pub(super) fn pace_by_rtt(&mut self, srtt_us: u32, cwnd_pkts: u32) {
        self.has_seen_rtt = srtt_us > 0;
        let rtt_us = if self.has_seen_rtt { srtt_us } else { 1000 };
        let bandwidth = Bandwidth::of(u64::from(cwnd_pkts), u64::from(rtt_us));
        self.pacing_bytes_per_s = bandwidth.paced_bytes_per_s(self.mss_bytes, PACING_GAIN);
    }

    /// Paces at the bandwidth times `gain`; before the pipe is full the rate does not fall.
    pub(super) fn pace(&mut self, gain: u64) {
        let bytes_per_s = self.bandwidth().paced_bytes_per_s(self.mss_bytes, gain);
        if self.full_pipe.is_reached || bytes_per_s > self.pacing_bytes_per_s {
            self.pacing_bytes_per_s = bytes_per_s.max(1);
        }
    }

    fn burst_pkts(&self) -> u32 {
        let by_rtt = BURST_BYTES
            .checked_shr(self.min_rtt_us >> BURST_RTT_SHIFT)
            .unwrap_or(0);
        let bytes = (self.pacing_bytes_per_s >> BURST_SHIFT) + by_rtt;
        let pkts = bytes.min(BURST_MAX_BYTES) / u64::from(self.mss_bytes.max(1));
        pkts.max(BURST_MIN_PKTS) as u32
    }

    fn pipe_pkts(&self, bandwidth: Bandwidth, gain: u64) -> u32 {
        if self.min_rtt_us == NO_RTT {
            return self.initial_cwnd_pkts;
        }
        bandwidth.pipe_pkts(u64::from(self.min_rtt_us), gain)
    }

    /// At least what the ends hold back; two more while going up, so that a small pipe is
    /// exceeded too.
    fn with_burst_budget(&self, pkts: u32) -> u32 {
        let pkts = pkts.max(3 * self.burst_pkts()).max(MIN_CWND_PKTS);
        pkts.saturating_add(if self.phase == Phase::Up { 2 } else { 0 })
    }

    /// Packets that fill the path `gain` times, with room for the ends.
    pub(super) fn target_pkts(&self, bandwidth: Bandwidth, gain: u64) -> u32 {
        self.with_burst_budget(self.pipe_pkts(bandwidth, gain))
    }

    /// What a rest leaves in flight.
    pub(super) fn rest_pkts(&self) -> u32 {
        self.pipe_pkts(self.bandwidth(), REST_GAIN)
            .max(MIN_CWND_PKTS)
    }

    /// Of `in_flight_pkts`, those still in the network when the next segment may leave.
    pub(super) fn in_network_pkts(&self, ack: &Ack, in_flight_pkts: u32) -> u32 {
        let delivered_pkts = self.bandwidth().pkts_in(u64::from(ack.pacing_wait_us));
        let next_pkts = if self.pacing_gain > GAIN_UNIT {
            self.burst_pkts()
        } else {
            0
        };
        u64::from(in_flight_pkts + next_pkts).saturating_sub(delivered_pkts) as u32
    }

    /// Remembers the window that recovery or a rest is about to shrink.
    pub(super) fn remember_window(&mut self, window: &Window) {
        let is_good = self.last_state < CongestionState::Recovery && self.phase != Phase::ProbeRtt;
        self.prior_cwnd_pkts = if is_good {
            window.cwnd_pkts
        } else {
            self.prior_cwnd_pkts.max(window.cwnd_pkts)
        };
    }

    pub(super) fn set_window(&mut self, ack: &Ack, window: &mut Window) {
        if ack.acked_pkts > 0 {
            let bandwidth = self.bandwidth();
            let extra_pkts = self.aggregation.extra_pkts(bandwidth);
            let pipe_pkts = self.pipe_pkts(bandwidth, self.cwnd_gain);
            let target_pkts = self.with_burst_budget(pipe_pkts.saturating_add(extra_pkts));
            let grown_pkts = window.cwnd_pkts.saturating_add(ack.acked_pkts);
            if self.full_pipe.is_reached {
                window.cwnd_pkts = grown_pkts.min(target_pkts);
            } else if window.cwnd_pkts < target_pkts
                || window.cwnd_pkts < 2 * self.initial_cwnd_pkts
            {
                window.cwnd_pkts = grown_pkts;
            }
            window.cwnd_pkts = window.cwnd_pkts.max(MIN_CWND_PKTS);
        }
        if self.phase == Phase::ProbeRtt {
            window.cwnd_pkts = window.cwnd_pkts.min(self.rest_pkts());
        }
        let bound_pkts = match self.phase {
            Phase::Startup | Phase::Drain => UNBOUNDED,
            Phase::Down | Phase::Refill | Phase::Up => self.bounds.inflight_hi_pkts,
            Phase::Cruise | Phase::ProbeRtt => self.bounds.with_headroom_pkts(),
        };
        let bound_pkts = bound_pkts.min(self.bounds.inflight_lo_pkts);
        window.cwnd_pkts = window.cwnd_pkts.min(bound_pkts.max(MIN_CWND_PKTS));
    }
}
