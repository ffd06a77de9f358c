//! Who gets which resource block groups of a downlink subframe.
//!
//! A scheduler is asked for one cell and carrier in one TTI, after retransmissions have taken
//! their groups. It sees a [`Candidate`] for each UE that has new data and says who owns which
//! of the free groups. A UE gets no more groups than its backlog fills.

mod blind_equal_throughput;
mod demand;
mod max_cqi;
mod proportional_fair;
mod round_robin;

pub use demand::{Average, Candidate, Demand, MAX_GROUPS, NOBODY};

use crate::config::SchedulerRule;

/// A scheduler of one cell and carrier.
#[derive(Clone, Debug)]
pub struct Scheduler {
    kind: SchedulerRule,
    turn: u32,
}

impl Scheduler {
    /// A scheduler that has not served a UE yet.
    pub fn new(kind: SchedulerRule) -> Self {
        Self { kind, turn: 0 }
    }

    /// Shares the free groups among the candidates.
    pub fn share(&mut self, demand: &mut Demand<'_>) {
        demand.owners.fill(NOBODY);
        if demand.candidates.is_empty() || demand.max_ues == 0 {
            return;
        }
        match self.kind {
            SchedulerRule::RoundRobin => round_robin::share(demand, &mut self.turn),
            SchedulerRule::ProportionalFair => proportional_fair::share(demand),
            SchedulerRule::MaxCqi => max_cqi::share(demand),
            SchedulerRule::BlindEqualThroughput => blind_equal_throughput::share(demand),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(ue: u32, group_bits: f32, wanted: u8, average: f32) -> Candidate {
        Candidate {
            ue,
            group_bits,
            wanted,
            average,
            given: 0,
        }
    }

    fn share(
        scheduler: &mut Scheduler,
        groups: u32,
        max_ues: usize,
        candidates: &mut [Candidate],
    ) -> [u8; MAX_GROUPS] {
        let mut owners = [NOBODY; MAX_GROUPS];
        for candidate in candidates.iter_mut() {
            candidate.given = 0;
        }
        scheduler.share(&mut Demand {
            free: (1 << groups) - 1,
            first: 0,
            max_ues,
            candidates,
            sub_band_bits: &[],
            owners: &mut owners,
        });
        owners
    }

    #[test]
    fn round_robin_gives_equal_shares_and_goes_on_after_the_last_served() {
        let mut scheduler = Scheduler::new(SchedulerRule::RoundRobin);
        let mut all: Vec<_> = (0..3).map(|ue| candidate(ue, 100.0, 25, 1.0)).collect();
        let owners = share(&mut scheduler, 25, 2, &mut all);
        assert_eq!(all.iter().map(|c| c.given).collect::<Vec<_>>(), [13, 12, 0]);
        assert_eq!(owners[12], 0);
        assert_eq!(owners[13], 1);
        share(&mut scheduler, 25, 2, &mut all);
        assert_eq!(all.iter().map(|c| c.given).collect::<Vec<_>>(), [12, 0, 13]);
        share(&mut scheduler, 25, 2, &mut all);
        assert_eq!(all.iter().map(|c| c.given).collect::<Vec<_>>(), [0, 13, 12]);
    }

    #[test]
    fn what_does_not_divide_goes_around() {
        let mut scheduler = Scheduler::new(SchedulerRule::RoundRobin);
        let mut all: Vec<_> = (0..3).map(|ue| candidate(ue, 100.0, 25, 1.0)).collect();
        for given in [[9, 8, 8], [8, 9, 8], [8, 8, 9], [9, 8, 8]] {
            share(&mut scheduler, 25, 10, &mut all);
            assert_eq!(all.iter().map(|c| c.given).collect::<Vec<_>>(), given);
        }
    }

    #[test]
    fn what_a_short_backlog_leaves_over_goes_to_the_others() {
        for kind in [
            SchedulerRule::RoundRobin,
            SchedulerRule::ProportionalFair,
            SchedulerRule::MaxCqi,
            SchedulerRule::BlindEqualThroughput,
        ] {
            let mut all = [candidate(0, 100.0, 1, 1.0), candidate(1, 90.0, 25, 1.0)];
            share(&mut Scheduler::new(kind), 25, 10, &mut all);
            assert_eq!([all[0].given, all[1].given], [1, 24], "{kind:?}");
        }
    }

    #[test]
    fn proportional_fair_serves_the_highest_ratio_and_max_cqi_the_highest_rate() {
        let mut all = [candidate(0, 100.0, 25, 50.0), candidate(1, 40.0, 25, 10.0)];
        let owners = share(
            &mut Scheduler::new(SchedulerRule::ProportionalFair),
            25,
            10,
            &mut all,
        );
        assert!(owners.iter().all(|&owner| owner == 1));
        let owners = share(&mut Scheduler::new(SchedulerRule::MaxCqi), 25, 10, &mut all);
        assert!(owners.iter().all(|&owner| owner == 0));
    }

    #[test]
    fn blind_equal_throughput_gives_until_the_averages_meet() {
        let averages = [1_000.0, 13_000.0];
        let mut all = [
            candidate(0, 800.0, 25, averages[0]),
            candidate(1, 800.0, 25, averages[1]),
        ];
        share(
            &mut Scheduler::new(SchedulerRule::BlindEqualThroughput),
            25,
            10,
            &mut all,
        );
        // A group adds 100 bytes / 1 ms / 99 = 1010 bytes/s: 12 of them more than make up for the
        // lead of 12 000, and of the other 13 the one that is then behind gets 7.
        assert_eq!([all[0].given, all[1].given], [18, 7]);
    }

    #[test]
    fn each_group_goes_to_the_ue_that_is_best_there() {
        let mut owners = [NOBODY; MAX_GROUPS];
        let mut all = [candidate(0, 100.0, 25, 1.0), candidate(1, 100.0, 25, 1.0)];
        let mut bits = vec![100.0; 2 * MAX_GROUPS];
        bits[3] = 110.0;
        bits[MAX_GROUPS + 7] = 120.0;
        Scheduler::new(SchedulerRule::ProportionalFair).share(&mut Demand {
            free: (1 << 25) - 1,
            first: 0,
            max_ues: 10,
            candidates: &mut all,
            sub_band_bits: &bits,
            owners: &mut owners,
        });
        assert_eq!(owners[3], 0);
        assert_eq!(owners[7], 1);
        assert_eq!(all[0].given + all[1].given, 25);
    }

    #[test]
    fn an_average_decays_alike_whether_it_is_asked_or_not() {
        let mut asked = Average::default();
        let mut left = Average::default();
        asked.count(0, 100_000);
        left.count(0, 100_000);
        for tti in 1..=300 {
            asked.at(tti);
        }
        let (asked, left) = (asked.at(300), left.at(300));
        assert!((asked / left - 1.0).abs() < 1e-4, "{asked} {left}");
        assert!((left / (100_000_000.0 / 99.0 * 0.989_899_f32.powi(300)) - 1.0).abs() < 1e-3);
    }

    /// Ten groups each for the two with the highest ratio; the five that are left stay empty.
    #[test]
    fn no_more_ues_are_served_in_a_tti_than_may_be() {
        for kind in [SchedulerRule::ProportionalFair, SchedulerRule::MaxCqi] {
            let mut all: Vec<_> = [80.0, 100.0, 90.0]
                .into_iter()
                .zip(0..)
                .map(|(bits, ue)| candidate(ue, bits, 10, 1.0))
                .collect();
            let owners = share(&mut Scheduler::new(kind), 25, 2, &mut all);
            let given: Vec<u8> = all.iter().map(|c| c.given).collect();
            assert_eq!(given, [0, 10, 10], "{kind:?}");
            assert!(owners[20..25].iter().all(|&owner| owner == NOBODY));
        }
    }
}
