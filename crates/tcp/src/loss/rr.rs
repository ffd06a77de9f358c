//! RR-TCP (Zhang, Karp, Floyd and Peterson, ICNP 2003): the threshold follows from how late
//! segments were before, so that a chosen share of late segments is not taken for lost.
//!
//! The share adapts to the cost of mistakes: a spurious recovery raises it; a timeout, or a loss
//! detected late, that a smaller threshold would have avoided lowers it. Reductions are undone by
//! D-SACKs alone.

use std::collections::VecDeque;

use backlane_units::SimTime;

use super::machine::{self, StateMachine};
use super::ncr::detect_by_count;
use super::policy::{AckEvent, LossPolicy};
use super::profile::Profile;
use crate::config::{Config, RrConfig};
use crate::recovery::undo::UndoEvidence;
use crate::recovery::{CongestionState, Recovery};
use crate::scoreboard::Scoreboard;
use crate::segment::SackBlock;

/// Reordering lengths in the histogram.
const HISTORY: usize = 1000;
/// Segments delivered after their retransmission that may wait for a D-SACK.
const UNCONFIRMED: usize = 1000;
/// The threshold of RFC 5681, the smallest.
const SMALLEST_PKTS: u32 = 3;

#[derive(Clone, Debug)]
pub(crate) struct Rr {
    step: f64,
    /// The share of late segments that is not taken for lost (the paper's FA ratio).
    avoided: f64,
    threshold_pkts: u32,
    /// The last lengths, the newest last, and how often each occurs among them.
    lengths: VecDeque<usize>,
    counts: Vec<u32>,
    /// Ends and lengths of segments that arrived after they had been retransmitted. A D-SACK
    /// shows that the original arrived first.
    unconfirmed: VecDeque<(u64, usize)>,
    /// The last reduction, unless it proved spurious.
    reduction: Option<CostedReduction>,
}

/// A reduction and what it costs if it is spurious or not, in windows.
#[derive(Clone, Copy, Debug)]
struct CostedReduction {
    since: SimTime,
    /// The share of the window that it took, a cost for as long as it lasts.
    taken: f64,
    /// The cost of detecting the loss late to tolerate reordering.
    owed: f64,
}

impl Rr {
    pub(super) fn new(config: RrConfig, endpoint: &Config) -> Self {
        Self {
            step: config.step,
            avoided: config.avoided,
            threshold_pkts: endpoint.duplicate_threshold.max(1),
            lengths: VecDeque::new(),
            counts: Vec::new(),
            unconfirmed: VecDeque::new(),
            reduction: None,
        }
    }

    /// A segment was late: `length` segments sent after it had arrived.
    fn on_late(&mut self, length: usize) {
        if self.lengths.len() == HISTORY
            && let Some(oldest) = self.lengths.pop_front()
        {
            self.counts[oldest] -= 1;
        }
        self.lengths.push_back(length);
        if self.counts.len() <= length {
            self.counts.resize(length + 1, 0);
        }
        self.counts[length] += 1;
    }

    /// One more than what the chosen share of lengths does not exceed.
    fn quantile_pkts(&self) -> u32 {
        if self.avoided <= 0.0 {
            return SMALLEST_PKTS;
        }
        let wanted = self.avoided * self.lengths.len() as f64;
        let mut below = 0;
        for (length, count) in self.counts.iter().enumerate() {
            below += count;
            if below > 0 && f64::from(below) >= wanted {
                return (length as u32 + 1).max(SMALLEST_PKTS);
            }
        }
        SMALLEST_PKTS
    }

    fn update_threshold(&mut self) {
        self.threshold_pkts = self.quantile_pkts();
    }

    /// Moves the share by the cost of a mistake, in windows of packets not sent.
    fn adapt(&mut self, windows: f64) {
        self.avoided = (self.avoided + self.step * windows).clamp(0.0, 1.0);
    }

    /// The reduction was spurious: it cost what it took of the window for as many round trips as
    /// it lasted.
    fn on_spurious_reduction(&mut self, r: &Recovery, now: SimTime) {
        if let Some(last) = self.reduction.take() {
            let rtt_us = r.rtt.srtt_us().max(1) as f64;
            let lasted_us = now.saturating_since(last.since).as_micros() as f64;
            self.adapt(last.taken * lasted_us / rtt_us);
            self.update_threshold();
        }
    }
}

impl LossPolicy for Rr {
    const PROFILE: Profile = Profile {
        undo: UndoEvidence::Dsack,
        ..Profile::PLAIN
    };

    #[inline]
    fn threshold_pkts(&self) -> u32 {
        self.threshold_pkts
    }

    fn detect_losses(&mut self, r: &mut Recovery, _now: SimTime, ack: &AckEvent) {
        detect_by_count(self.threshold_pkts, r, ack);
    }

    /// Records how late the segments of `start..end` are.
    fn before_delivery(&mut self, scoreboard: &Scoreboard, start: u64, end: u64) {
        let mut is_recorded = false;
        scoreboard.for_each_late(start, end, |late| {
            let length = late.sacked_above as usize;
            if late.was_retransmitted {
                if self.unconfirmed.len() == UNCONFIRMED {
                    self.unconfirmed.pop_front();
                }
                self.unconfirmed.push_back((late.end_seq, length));
            } else {
                self.on_late(length);
                is_recorded = true;
            }
        });
        if is_recorded {
            self.update_threshold();
        }
    }

    /// What arrived first was the original: it was late and not lost.
    fn on_duplicate(&mut self, duplicate: SackBlock) {
        while let Some(position) = self
            .unconfirmed
            .iter()
            .position(|(end_seq, _)| duplicate.start < *end_seq && *end_seq <= duplicate.end)
        {
            if let Some((_, length)) = self.unconfirmed.remove(position) {
                self.on_late(length);
            }
        }
        self.update_threshold();
    }

    /// If the reduction before was not found spurious, its loss was real, and was detected later
    /// by as many segments as the threshold was above the smallest. These are owed, at most a
    /// window's worth.
    fn reduce_for_loss(&mut self, r: &mut Recovery, now: SimTime) {
        let window = f64::from(r.window.cwnd_pkts.max(1));
        r.start_reduction(now);
        let late_pkts = self.threshold_pkts.saturating_sub(SMALLEST_PKTS);
        let next = CostedReduction {
            since: now,
            taken: (1.0 - f64::from(r.window.ssthresh_pkts) / window).max(0.0),
            owed: (f64::from(late_pkts) / window).min(1.0),
        };
        if let Some(last) = self.reduction.replace(next) {
            self.adapt(-last.owed);
            self.update_threshold();
        }
    }

    /// A timeout that the smallest threshold would have avoided cost a window per round trip.
    fn before_timeout(&mut self, r: &mut Recovery) {
        self.reduction = None;
        if r.state <= CongestionState::Disorder && r.scoreboard.sacked_out() >= SMALLEST_PKTS {
            let rounds = r.rtt.rto().as_micros() as f64 / r.rtt.srtt_us().max(1) as f64;
            self.adapt(-rounds);
            self.update_threshold();
        }
    }

    /// Limited transmit sends at most a window's worth.
    #[inline]
    fn new_data_limit_pkts(&self, r: &Recovery) -> Option<u32> {
        let is_exhausted = r.state == CongestionState::Disorder
            && r.scoreboard.packets_out() >= 2 * r.window.cwnd_pkts;
        is_exhausted.then_some(0)
    }
}

impl StateMachine for Rr {
    fn on_ack(&mut self, r: &mut Recovery, now: SimTime, ack: &AckEvent) {
        let undos = r.statistics.undos;
        machine::on_ack(self, r, now, ack);
        if r.statistics.undos > undos {
            self.on_spurious_reduction(r, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rr(lengths: &[(usize, usize)]) -> Rr {
        let mut rr = Rr::new(RrConfig::default(), &Config::default());
        for &(length, times) in lengths {
            for _ in 0..times {
                rr.on_late(length);
            }
        }
        rr
    }

    /// Nine of ten late segments are overtaken by eight at most: the ninth duplicate is the
    /// first sign of a loss.
    #[test]
    fn the_threshold_is_one_more_than_the_chosen_share_of_lengths() {
        assert_eq!(rr(&[(8, 90), (40, 10)]).quantile_pkts(), 9);
        assert_eq!(rr(&[(8, 89), (40, 11)]).quantile_pkts(), 41);
        assert_eq!(rr(&[(1, 100)]).quantile_pkts(), 3);
        assert_eq!(rr(&[]).quantile_pkts(), 3);
    }

    #[test]
    fn old_lengths_are_forgotten() {
        assert_eq!(rr(&[(50, 500), (8, 1000)]).quantile_pkts(), 9);
        assert_eq!(rr(&[(50, 500), (8, 899)]).quantile_pkts(), 51);
    }

    #[test]
    fn the_share_moves_by_the_cost_of_a_mistake_and_stays_a_share() {
        let mut rr = rr(&[]);
        rr.adapt(0.5);
        assert!((rr.avoided - 0.905).abs() < 1e-12);
        rr.adapt(-6.0);
        assert!((rr.avoided - 0.845).abs() < 1e-12);
        rr.adapt(1000.0);
        assert_eq!(rr.avoided, 1.0);
    }
}
