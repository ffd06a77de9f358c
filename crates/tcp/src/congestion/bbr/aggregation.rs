//! Aggregation: how much more is acknowledged at once than the bandwidth explains. The window has
//! room for links and receivers that hold acknowledgments back and release them together.

use super::bandwidth::Bandwidth;

/// Rounds in each of the two halves of the window (Linux: `bbr_extra_acked_win_rtts`).
pub(crate) const HALF_ROUNDS: u32 = 5;
/// An epoch that counted this many packets ends (Linux; ns-3: 2¹²).
const EPOCH_MAX_PKTS: u64 = 1 << 20;
/// Not more than the bandwidth brings in this time (Linux: `bbr_extra_acked_max_us`).
const MAX_US: u64 = 100_000;

/// The largest excess of the last five to ten rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aggregation {
    epoch_start_us: u64,
    epoch_pkts: u64,
    /// The largest excess of the present half of the window and of the last.
    extra_pkts: [u32; 2],
    present: usize,
    rounds: u32,
}

impl Aggregation {
    /// Restarts counting.
    pub(crate) fn restart(&mut self, now_us: u64) {
        self.epoch_start_us = now_us;
        self.epoch_pkts = 0;
    }

    /// `acked_pkts` were delivered at `now_us`, at `bandwidth` so far as is known. A half of the
    /// window lasts `half_rounds`; no excess is larger than `cwnd_pkts`.
    pub(crate) fn on_ack(
        &mut self,
        now_us: u64,
        acked_pkts: u32,
        bandwidth: Bandwidth,
        starts_round: bool,
        half_rounds: u32,
        cwnd_pkts: u32,
    ) {
        if starts_round {
            self.rounds += 1;
            if self.rounds >= half_rounds {
                self.rounds = 0;
                self.present = 1 - self.present;
                self.extra_pkts[self.present] = 0;
            }
        }
        let mut expected_pkts = bandwidth.pkts_in(now_us.saturating_sub(self.epoch_start_us));
        let acked_pkts = u64::from(acked_pkts);
        if self.epoch_pkts <= expected_pkts || self.epoch_pkts + acked_pkts >= EPOCH_MAX_PKTS {
            self.restart(now_us);
            expected_pkts = 0;
        }
        self.epoch_pkts = (self.epoch_pkts + acked_pkts).min(EPOCH_MAX_PKTS - 1);
        let extra = self.epoch_pkts.saturating_sub(expected_pkts);
        let extra_pkts = extra.min(u64::from(cwnd_pkts)) as u32;
        let half = &mut self.extra_pkts[self.present];
        *half = (*half).max(extra_pkts);
    }

    /// What the window is enlarged by.
    pub(crate) fn extra_pkts(&self, bandwidth: Bandwidth) -> u32 {
        let most = bandwidth.pkts_in(MAX_US);
        let extra_pkts = self.extra_pkts[0].max(self.extra_pkts[1]);
        u64::from(extra_pkts).min(most) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet a millisecond.
    const BANDWIDTH: Bandwidth = Bandwidth((1 << 24) / 1000 + 1);

    fn acknowledge(aggregation: &mut Aggregation, now_us: u64, pkts: u32, starts_round: bool) {
        aggregation.on_ack(now_us, pkts, BANDWIDTH, starts_round, HALF_ROUNDS, 1000);
    }

    #[test]
    fn acknowledgments_that_come_as_they_were_sent_leave_one_of_them_as_excess() {
        let mut aggregation = Aggregation::default();
        for ms in 1..=100 {
            acknowledge(&mut aggregation, ms * 1000, 1, false);
        }
        assert!(aggregation.extra_pkts(BANDWIDTH) <= 2);
    }

    #[test]
    fn twenty_acknowledgments_at_once_are_an_excess_of_twenty() {
        let mut aggregation = Aggregation::default();
        for batch in 1..=10 {
            acknowledge(&mut aggregation, batch * 20_000, 20, false);
        }
        let extra_pkts = aggregation.extra_pkts(BANDWIDTH);
        assert!((20..=21).contains(&extra_pkts), "{extra_pkts}");
    }

    #[test]
    fn the_excess_is_forgotten_after_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        acknowledge(&mut aggregation, 1000, 50, true);
        let mut now_us = 1000;
        for round in 0..10 {
            if round < 4 {
                assert_eq!(aggregation.extra_pkts(BANDWIDTH), 50, "round {round}");
            }
            now_us += 200_000;
            acknowledge(&mut aggregation, now_us, 1, true);
        }
        assert_eq!(aggregation.extra_pkts(BANDWIDTH), 1);
    }

    #[test]
    fn neither_the_window_nor_a_tenth_of_a_second_is_exceeded() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(1000, 500, BANDWIDTH, false, HALF_ROUNDS, 120);
        assert_eq!(aggregation.extra_pkts[0], 120);
        assert_eq!(aggregation.extra_pkts(BANDWIDTH), 100);
    }

    #[test]
    fn an_epoch_ends_when_it_has_counted_a_million_packets() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(1, 1 << 19, Bandwidth(0), false, HALF_ROUNDS, 10);
        assert_eq!(aggregation.epoch_pkts, 1 << 19);
        aggregation.on_ack(2, 1 << 19, Bandwidth(0), false, HALF_ROUNDS, 10);
        assert_eq!(
            (aggregation.epoch_pkts, aggregation.epoch_start_us),
            (1 << 19, 2)
        );
    }
}
