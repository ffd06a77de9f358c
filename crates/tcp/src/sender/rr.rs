//! RR-TCP (Zhang, Karp, Floyd and Peterson, ICNP 2003): the threshold follows from how far
//! segments were late before, so that a chosen share of the late ones is not taken for lost.
//! What share pays is found out: a needless recovery raises it, a timeout or a late one that a
//! smaller threshold would have spared lowers it.

use std::collections::VecDeque;

use backlane_units::SimTime;

use super::Sender;
use crate::config::{Reordering, RrConfig};
use crate::recovery::CongestionState;
use crate::segment::SackBlock;

/// Lengths of reordering that are remembered.
const HISTORY: usize = 1000;
/// Segments filled after their retransmission that may wait for a report of a duplicate.
const UNCONFIRMED: usize = 1000;
/// The threshold of RFC 5681, below which none falls.
const SMALLEST_PKTS: u32 = 3;

#[derive(Clone, Debug)]
pub(super) struct Rr {
    step: f64,
    /// The share of late segments that shall not be taken for lost (the paper's FA ratio).
    avoided: f64,
    /// The last lengths, the newest last, and how often each of them is among these.
    lengths: VecDeque<usize>,
    counts: Vec<u32>,
    /// Ends and lengths of segments that arrived after they had been retransmitted: was it
    /// the original each time? A report of a duplicate says so.
    unconfirmed: VecDeque<(u64, usize)>,
    /// The last reduction, unless it proved needless.
    reduction: Option<Reduction>,
}

/// A reduction that may prove needless or not, and what it costs either way, in windows.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    since: SimTime,
    /// The share of the window that it took, to be paid for as long as it lasts.
    taken: f64,
    /// What the loss was found late for the sake of reordering.
    owed: f64,
}

impl Rr {
    pub(super) fn new(config: RrConfig) -> Self {
        Self {
            step: config.step,
            avoided: config.avoided,
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
    fn threshold_pkts(&self) -> u32 {
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

    /// Moves the share by what a mistake cost, in windows of packets not sent.
    fn weigh(&mut self, windows: f64) {
        self.avoided = (self.avoided + self.step * windows).clamp(0.0, 1.0);
    }
}

impl Sender {
    pub(super) fn is_rr(&self) -> bool {
        self.reordering.policy() == Reordering::Rr
    }

    /// Notes how late the segments of `start..end` are that only now arrive. To be called
    /// before the scoreboard takes the range.
    pub(super) fn note_late(&mut self, start: u64, end: u64) {
        let Some(rr) = &mut self.rr else { return };
        let mut noted = false;
        self.scoreboard.for_each_late(start, end, |late| {
            let length = late.sacked_above as usize;
            if late.was_retransmitted {
                if rr.unconfirmed.len() == UNCONFIRMED {
                    rr.unconfirmed.pop_front();
                }
                rr.unconfirmed.push_back((late.end_seq, length));
            } else {
                rr.on_late(length);
                noted = true;
            }
        });
        if noted {
            self.follow_lengths();
        }
    }

    /// A duplicate was reported: what arrived first was the original.
    pub(super) fn confirm_late(&mut self, duplicate: SackBlock) {
        let Some(rr) = &mut self.rr else { return };
        while let Some(position) = rr
            .unconfirmed
            .iter()
            .position(|(end_seq, _)| duplicate.start < *end_seq && *end_seq <= duplicate.end)
        {
            if let Some((_, length)) = rr.unconfirmed.remove(position) {
                rr.on_late(length);
            }
        }
        self.follow_lengths();
    }

    fn follow_lengths(&mut self) {
        if let Some(rr) = &self.rr {
            self.reordering.set_degree(rr.threshold_pkts());
        }
    }

    /// A reduction begins from a window of `prior_cwnd_pkts`. That the one before was not found
    /// needless means that its loss was real, and found as many segments late as its threshold
    /// was above the smallest: these are owed, a window's worth at most.
    pub(super) fn note_reduction(&mut self, now: SimTime, prior_cwnd_pkts: u32) {
        let late_pkts = self.reordering.degree().saturating_sub(SMALLEST_PKTS);
        let ssthresh_pkts = self.window.ssthresh_pkts;
        if let Some(rr) = &mut self.rr {
            let window = f64::from(prior_cwnd_pkts.max(1));
            let next = Reduction {
                since: now,
                taken: (1.0 - f64::from(ssthresh_pkts) / window).max(0.0),
                owed: (f64::from(late_pkts) / window).min(1.0),
            };
            if let Some(last) = rr.reduction.replace(next) {
                rr.weigh(-last.owed);
                self.follow_lengths();
            }
        }
    }

    /// The reduction was needless: it cost what it took of the window for as many round trips
    /// as it lasted.
    fn weigh_needless_reduction(&mut self, now: SimTime) {
        let rtt_us = self.rtt.srtt_us().max(1) as f64;
        if let Some(rr) = &mut self.rr
            && let Some(last) = rr.reduction.take()
        {
            let lasted_us = now.saturating_since(last.since).as_micros() as f64;
            rr.weigh(last.taken * lasted_us / rtt_us);
            self.follow_lengths();
        }
    }

    /// Learns from what an acknowledgment took back; `undos`: how often that had happened
    /// before.
    pub(super) fn learn_from_undos(&mut self, now: SimTime, undos: u64) {
        if self.statistics.undos > undos {
            self.weigh_needless_reduction(now);
        }
    }

    /// A timeout that the smallest threshold would have spared: the window stood idle for it.
    pub(super) fn weigh_timeout(&mut self, was_open: bool) {
        let rounds = self.rtt.rto().as_micros() as f64 / self.rtt.srtt_us().max(1) as f64;
        let was_spared = was_open && self.scoreboard.sacked_out() >= SMALLEST_PKTS;
        if let Some(rr) = &mut self.rr {
            rr.reduction = None;
            if was_spared {
                rr.weigh(-rounds);
                self.follow_lengths();
            }
        }
    }

    /// Limited transmit goes on for a window, and no further.
    pub(super) fn rr_holds_back(&self) -> bool {
        self.is_rr()
            && self.state == CongestionState::Disorder
            && self.scoreboard.packets_out() >= 2 * self.window.cwnd_pkts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rr(lengths: &[(usize, usize)]) -> Rr {
        let mut rr = Rr::new(RrConfig::default());
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
        assert_eq!(rr(&[(8, 90), (40, 10)]).threshold_pkts(), 9);
        assert_eq!(rr(&[(8, 89), (40, 11)]).threshold_pkts(), 41);
        assert_eq!(rr(&[(1, 100)]).threshold_pkts(), 3);
        assert_eq!(rr(&[]).threshold_pkts(), 3);
    }

    #[test]
    fn lengths_of_long_ago_are_forgotten() {
        assert_eq!(rr(&[(50, 500), (8, 1000)]).threshold_pkts(), 9);
        assert_eq!(rr(&[(50, 500), (8, 899)]).threshold_pkts(), 51);
    }

    #[test]
    fn the_share_moves_by_what_a_mistake_cost_and_stays_a_share() {
        let mut rr = rr(&[]);
        rr.weigh(0.5);
        assert!((rr.avoided - 0.905).abs() < 1e-12);
        rr.weigh(-6.0);
        assert!((rr.avoided - 0.845).abs() < 1e-12);
        rr.weigh(1000.0);
        assert_eq!(rr.avoided, 1.0);
    }
}
