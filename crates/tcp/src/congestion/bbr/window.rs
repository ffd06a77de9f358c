//! How much BBR lets be in flight.

use super::phases::{MIN_CWND_PKTS, Phase};
use super::{Ack, Bbr, Window};
use crate::congestion::bbr::bandwidth::GAIN_UNIT;
use crate::recovery::CongestionState;

/// Below this pacing rate a burst is one segment (1.2 Mbit/s).
const SINGLE_SEGMENT_BYTES_PER_S: u64 = 1_200_000 / 8;
/// A burst is what is paced in 2⁻¹⁰ s (Linux: `sk_pacing_shift`), …
const BURST_SHIFT: u32 = 10;
/// … at most a legacy GSO packet without the room for its headers, …
const BURST_MAX_BYTES: u64 = 65_536 - 1 - 320;
/// … and never more segments than this.
const BURST_MAX_PKTS: u64 = 127;
/// Until this many packets were delivered, the SYN counting as one, the window grows anyway.
const INITIAL_CWND_PKTS: u64 = 10;

/// Segments that leave at once where segmentation is offloaded; the windows leave room for
/// them whether or not it is.
pub(crate) fn burst_pkts(pacing_bytes_per_s: u64, mss_bytes: u32) -> u32 {
    let least = if pacing_bytes_per_s < SINGLE_SEGMENT_BYTES_PER_S {
        1
    } else {
        2
    };
    let bytes = (pacing_bytes_per_s >> BURST_SHIFT).min(BURST_MAX_BYTES);
    let pkts = bytes / u64::from(mss_bytes.max(1));
    pkts.max(least).min(BURST_MAX_PKTS) as u32
}

impl Bbr {
    /// Room for a burst in the sender, one in its interface and one in the receiver; even, so
    /// that delayed acknowledgments are fewer; two more while probing, so that a small pipe is
    /// exceeded too.
    pub(super) fn with_burst_budget(&self, pkts: u32) -> u32 {
        let burst_pkts = burst_pkts(self.pacing_bytes_per_s, self.mss_bytes);
        let pkts = pkts.saturating_add(3 * burst_pkts).saturating_add(1) & !1;
        pkts.saturating_add(if self.is_probing() { 2 } else { 0 })
    }

    /// Of `in_flight_pkts`, those still in the network when the next segment may leave.
    pub(super) fn in_network_pkts(&self, ack: &Ack, in_flight_pkts: u32) -> u32 {
        let wait_us = u64::from(ack.pacing_wait_us);
        let delivered_pkts = self.bandwidth().pkts_in(wait_us);
        let next_pkts = if self.pacing_gain > GAIN_UNIT {
            burst_pkts(self.pacing_bytes_per_s, self.mss_bytes)
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
            window.cwnd_pkts = self.next_window(ack, window.cwnd_pkts);
        }
        if self.phase == Phase::ProbeRtt {
            window.cwnd_pkts = window.cwnd_pkts.min(MIN_CWND_PKTS);
        }
    }

    fn next_window(&mut self, ack: &Ack, cwnd_pkts: u32) -> u32 {
        let mut cwnd_pkts = cwnd_pkts.saturating_sub(ack.newly_lost_pkts).max(1);
        let was_recovering = self.last_state >= CongestionState::Recovery;
        if ack.state == CongestionState::Recovery && self.last_state != CongestionState::Recovery {
            // The first round of recovery sends a packet for each that was delivered.
            self.conserves_packets = true;
            self.round_end_pkts = ack.delivered_pkts;
            cwnd_pkts = ack.in_flight_pkts + ack.acked_pkts;
        } else if was_recovering && ack.state < CongestionState::Recovery {
            cwnd_pkts = cwnd_pkts.max(self.prior_cwnd_pkts);
            self.conserves_packets = false;
        }
        self.last_state = ack.state;
        if self.conserves_packets {
            return cwnd_pkts.max(ack.in_flight_pkts + ack.acked_pkts);
        }
        let bandwidth = self.bandwidth();
        let mut target_pkts = self.pipe_pkts(bandwidth, self.cwnd_gain);
        if self.full_pipe.is_reached() {
            target_pkts = target_pkts.saturating_add(self.aggregation.extra_pkts(bandwidth));
        }
        let target_pkts = self.with_burst_budget(target_pkts);
        let grown_pkts = cwnd_pkts.saturating_add(ack.acked_pkts);
        if self.full_pipe.is_reached() {
            cwnd_pkts = grown_pkts.min(target_pkts);
        } else if cwnd_pkts < target_pkts || ack.delivered_pkts + 1 < INITIAL_CWND_PKTS {
            cwnd_pkts = grown_pkts;
        }
        cwnd_pkts.max(MIN_CWND_PKTS)
    }
}
