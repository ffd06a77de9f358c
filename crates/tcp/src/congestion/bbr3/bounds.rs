//! The bounds of the model. The long-term one (`inflight_hi`; the draft's
//! `inflight_longterm`) is what probing found to be safe. The short-term ones (`bw_lo`,
//! `inflight_lo`) follow what was delivered in rounds with losses, and are dropped when
//! probing begins again.

use super::sample::Sample;
use crate::congestion::LostPacket;
use crate::congestion::bbr::bandwidth::{Bandwidth, GAIN_UNIT};

/// No bound.
pub(super) const UNBOUNDED: u32 = u32::MAX;
/// What a loss leaves of a bound: 1 − 30 %, in 256ths.
pub(super) const LOSS_CUT: u64 = GAIN_UNIT - GAIN_UNIT * 30 / 100;
/// What is left free of the long-term bound, in 256ths: 15 %.
const HEADROOM: u64 = GAIN_UNIT * 15 / 100;
/// The smallest bound and the smallest window.
pub(super) const MIN_CWND_PKTS: u32 = 4;

/// No bound of the bandwidth.
const UNBOUNDED_BANDWIDTH: Bandwidth = Bandwidth(u64::MAX);

/// `pkts` times `share` in 256ths.
pub(super) fn part_of(pkts: u32, share: u64) -> u32 {
    (u64::from(pkts) * share / GAIN_UNIT) as u32
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) inflight_hi_pkts: u32,
    pub(super) inflight_lo_pkts: u32,
    pub(super) bandwidth_lo: Bandwidth,
    /// The best of the last round: what the path delivers now.
    bandwidth_latest: Bandwidth,
    inflight_latest_pkts: u32,
    /// Rounds for losses: one restarts with its first loss.
    pub(super) loss_round_end_pkts: u64,
    pub(super) starts_loss_round: bool,
    pub(super) loss_in_round: bool,
    /// Before the present recovery: `inflight_hi`, `inflight_lo`, `bw_lo`.
    before: (u32, u32, Bandwidth),
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            inflight_hi_pkts: UNBOUNDED,
            inflight_lo_pkts: UNBOUNDED,
            bandwidth_lo: UNBOUNDED_BANDWIDTH,
            bandwidth_latest: Bandwidth::default(),
            inflight_latest_pkts: 0,
            loss_round_end_pkts: 0,
            starts_loss_round: false,
            loss_in_round: false,
            before: (0, 0, Bandwidth::default()),
        }
    }
}

impl Bounds {
    /// A packet was marked lost: the round of losses begins with the first.
    pub(super) fn on_loss(&mut self, delivered_pkts: u64) {
        if !self.loss_in_round {
            self.loss_round_end_pkts = delivered_pkts;
        }
        self.loss_in_round = true;
    }

    pub(super) fn update_latest(
        &mut self,
        sample: &Sample,
        prior_delivered_pkts: u64,
        delivered_pkts: u64,
    ) {
        self.starts_loss_round = false;
        if !sample.is_valid {
            return;
        }
        self.bandwidth_latest = self.bandwidth_latest.max(sample.bandwidth);
        self.inflight_latest_pkts = self.inflight_latest_pkts.max(sample.delivered_pkts);
        if prior_delivered_pkts >= self.loss_round_end_pkts {
            self.loss_round_end_pkts = delivered_pkts;
            self.starts_loss_round = true;
        }
    }

    /// At the end of an acknowledgment: a round that ended leaves only this sample.
    pub(super) fn end_latest(&mut self, sample: &Sample) {
        if self.starts_loss_round {
            self.bandwidth_latest = sample.bandwidth;
            self.inflight_latest_pkts = sample.delivered_pkts;
        }
    }

    pub(super) fn inflight_latest_pkts(&self) -> u32 {
        self.inflight_latest_pkts
    }

    /// A round without probing is over. `marked_share`: what its marks leave of the bound, in
    /// 256ths, if there were any.
    pub(super) fn adapt(
        &mut self,
        max_bandwidth: Bandwidth,
        cwnd_pkts: u32,
        marked_share: Option<u64>,
    ) {
        if !self.loss_in_round && marked_share.is_none() {
            return;
        }
        if self.inflight_lo_pkts == UNBOUNDED {
            self.inflight_lo_pkts = cwnd_pkts;
        }
        let by_marks = marked_share.map(|share| part_of(self.inflight_lo_pkts, share));
        if self.loss_in_round {
            if self.bandwidth_lo == UNBOUNDED_BANDWIDTH {
                self.bandwidth_lo = max_bandwidth;
            }
            self.bandwidth_lo = self.bandwidth_lo.scaled(LOSS_CUT);
            self.bandwidth_lo = self.bandwidth_lo.max(self.bandwidth_latest);
            self.bandwidth_lo.0 = self.bandwidth_lo.0.max(1);
            self.inflight_lo_pkts =
                part_of(self.inflight_lo_pkts, LOSS_CUT).max(self.inflight_latest_pkts);
        }
        if let Some(pkts) = by_marks {
            self.inflight_lo_pkts = self.inflight_lo_pkts.min(pkts);
        }
    }

    /// Forgets the short-term bounds, so that what is in flight may rise.
    pub(super) fn reset_lo(&mut self) {
        self.bandwidth_lo = UNBOUNDED_BANDWIDTH;
        self.inflight_lo_pkts = UNBOUNDED;
    }

    /// Probing is over; losses that it caused do not lower the short-term bounds.
    pub(super) fn reset_signals(&mut self) {
        self.loss_in_round = false;
        self.bandwidth_latest = Bandwidth::default();
        self.inflight_latest_pkts = 0;
    }

    /// The long-term bound with room for others.
    pub(super) fn with_headroom_pkts(&self) -> u32 {
        if self.inflight_hi_pkts == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom_pkts = part_of(self.inflight_hi_pkts, HEADROOM).max(1);
        (self.inflight_hi_pkts.saturating_sub(headroom_pkts)).max(MIN_CWND_PKTS)
    }

    /// Recovery begins.
    pub(super) fn remember(&mut self) {
        self.before = (
            self.inflight_hi_pkts,
            self.inflight_lo_pkts,
            self.bandwidth_lo,
        );
    }

    /// The recovery was spurious (§5.5.11.2).
    pub(super) fn undo(&mut self) {
        self.loss_in_round = false;
        self.inflight_hi_pkts = self.inflight_hi_pkts.max(self.before.0);
        self.inflight_lo_pkts = self.inflight_lo_pkts.max(self.before.1);
        self.bandwidth_lo = self.bandwidth_lo.max(self.before.2);
    }
}

/// How much was in flight when losses passed `threshold`, in 256ths (§5.5.10.2): the packets
/// before the lost one, and the part of it that was still tolerated.
pub(super) fn in_flight_at_loss(lost: &LostPacket, threshold: u64) -> u32 {
    let before_pkts = u64::from(lost.tx_in_flight_pkts.saturating_sub(1));
    let lost_before_pkts = lost.lost_since_sent_pkts.saturating_sub(1);
    let borne_pkts = (before_pkts * threshold).div_ceil(GAIN_UNIT);
    let prefix_pkts = borne_pkts.saturating_sub(lost_before_pkts) * GAIN_UNIT
        / (GAIN_UNIT - threshold.min(GAIN_UNIT - 1));
    (before_pkts + prefix_pkts) as u32
}
