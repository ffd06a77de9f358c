//! Loss recovery of Linux 4.4 (2016): forward acknowledgment and a threshold that grows with the
//! reordering seen find the first loss, as before; RACK, new in this version, finds what is lost
//! once a recovery has begun, lost retransmissions above all. It has no timer of its own yet.
//!
//! Around it are proportional rate reduction (since 3.2), tail loss probes and F-RTO by RFC 5682
//! (since 3.10), and a ceiling of 300 for the threshold (since 3.18).

use backlane_units::SimTime;

use super::fack::Fack;
use super::machine::StateMachine;
use super::policy::{AckEvent, LossPolicy};
use super::profile::Profile;
use crate::config::Config;
use crate::recovery::undo::UndoEvidence;
use crate::recovery::{CongestionState, Recovery};

/// The ceiling of the threshold (`tcp_max_reordering`).
const MAX_THRESHOLD_PKTS: u32 = 300;
/// RACK's shortest reordering window.
const MIN_WINDOW_US: u64 = 1000;

#[derive(Clone, Debug)]
pub(crate) struct FackRack {
    fack: Fack,
    initial_threshold_pkts: u32,
    has_seen_reordering: bool,
}

impl FackRack {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            fack: Fack::with_ceiling(config, MAX_THRESHOLD_PKTS),
            initial_threshold_pkts: config.duplicate_threshold.max(1),
            has_seen_reordering: false,
        }
    }

    /// A millisecond, and a quarter of the smallest RTT where reordering was seen or nothing is
    /// lost yet.
    fn window_us(&self, r: &Recovery) -> u64 {
        if self.has_seen_reordering || r.scoreboard.lost_out() == 0 {
            let min_rtt_us = r.rtt.min_rtt_us().unwrap_or(0);
            return (min_rtt_us >> 2).max(MIN_WINDOW_US);
        }
        MIN_WINDOW_US
    }

    /// RACK, in Recovery and Loss only.
    fn mark_overtaken(&self, r: &mut Recovery, now: SimTime) {
        if r.state >= CongestionState::Recovery && r.scoreboard.take_advance() {
            let window_us = self.window_us(r);
            r.scoreboard.mark_overtaken_lost(now.as_micros(), window_us);
        }
    }
}

impl LossPolicy for FackRack {
    const PROFILE: Profile = Profile {
        undo: UndoEvidence::DsackAndTimestamps,
        ..Profile::PLAIN
    };

    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.fack.threshold_pkts()
    }

    fn detect_losses(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        self.mark_overtaken(r, now);
        match r.state {
            CongestionState::Loss => {}
            CongestionState::Recovery => {
                if self.fack.shows_loss(r, ack) {
                    let high_seq = r.high_seq;
                    self.fack.mark_counted(r, high_seq);
                }
            }
            CongestionState::Open | CongestionState::Disorder | CongestionState::Cwr => {
                if self.fack.reaches_threshold(r) {
                    self.fack.mark_counted(r, u64::MAX);
                    r.scoreboard.mark_head_lost();
                }
            }
        }
    }

    /// Detects reordering: an original delivered behind later ones.
    fn on_delivery(&mut self, r: &Recovery, _now: SimTime, ack: &AckEvent) {
        let high = r.scoreboard.highest_sacked_end().max(r.space.snd_una);
        let is_trusted = r.state != CongestionState::Loss || r.undo.is_possible();
        if let Some(seq) = ack.delivery.reordered_seq.filter(|_| is_trusted) {
            self.on_reordered(high.saturating_sub(seq));
        }
        let filled_seq = ack.delivery.filled_seq;
        if let Some(seq) = filled_seq.filter(|seq| *seq < ack.prior_highest_sacked_end) {
            self.on_reordered(high.saturating_sub(seq));
        }
    }

    fn on_reordered(&mut self, span_bytes: u64) {
        self.has_seen_reordering |= span_bytes > 0;
        self.fack.on_reordered(span_bytes);
    }

    /// A timeout although the threshold was reached means that it was too large.
    fn before_timeout(&mut self, r: &mut Recovery) {
        if r.state <= CongestionState::Disorder
            && r.scoreboard.sacked_out() >= self.initial_threshold_pkts
        {
            self.fack.reset_threshold();
        }
    }

    fn timeout_spares_us(&self, _r: &Recovery) -> u64 {
        0
    }

    /// With more reordering than expected, SACKs count as progress.
    fn counts_sacks_as_progress(&self) -> bool {
        self.threshold_pkts() > self.initial_threshold_pkts
    }
}

impl StateMachine for FackRack {}

#[cfg(test)]
mod tests {
    use backlane_units::Bytes;

    use super::*;

    #[test]
    fn the_threshold_is_at_most_300() {
        let mut policy = FackRack::new(&Config {
            mss: Bytes::new(1000),
            ..Config::default()
        });
        policy.on_reordered(1_000_000);
        assert_eq!(policy.threshold_pkts(), 300);
    }
}
