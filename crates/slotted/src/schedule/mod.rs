//! Schedules: the links that send in a slot.

mod exact;
mod greedy;

pub use exact::Exact;
pub use greedy::Greedy;

use crate::config::Scheduler;
use crate::conflicts::Conflicts;

/// Who looks for the schedule, with what it has computed before.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// A set of largest weight.
    Exact(Exact),
    /// The heaviest links that fit together.
    Greedy(Greedy),
}

impl Schedule {
    /// The scheduler for a conflict graph; `None` if the exact one has more than 64 links.
    pub fn new(scheduler: Scheduler, conflicts: &Conflicts) -> Option<Self> {
        Some(match scheduler {
            Scheduler::Exact => Self::Exact(Exact::new(conflicts.masks()?)),
            Scheduler::Greedy => Self::Greedy(Greedy::new(conflicts.clone())),
        })
    }

    /// Writes into `chosen` the links that send: of positive weight, without a conflict.
    #[inline]
    pub fn choose(&mut self, weights: &[u64], chosen: &mut Vec<u32>) {
        match self {
            Self::Exact(exact) => exact.choose(weights, chosen),
            Self::Greedy(greedy) => greedy.choose(weights, chosen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_engine::{Stream, Streams};

    fn network(stream: &mut Stream, nodes: u64, links: usize) -> Vec<(usize, usize)> {
        (0..links)
            .map(|_| {
                let from = stream.uniform_below(nodes);
                let to = (from + 1 + stream.uniform_below(nodes - 1)) % nodes;
                (from as usize, to as usize)
            })
            .collect()
    }

    fn weights(stream: &mut Stream, links: usize) -> Vec<u64> {
        (0..links)
            .map(|_| {
                if stream.bernoulli(0.3) {
                    0
                } else {
                    stream.uniform_below(1000)
                }
            })
            .collect()
    }

    fn sum(weights: &[u64], chosen: &[u32]) -> u64 {
        chosen.iter().map(|&link| weights[link as usize]).sum()
    }

    /// On random networks under each interference model.
    #[test]
    fn the_exact_scheduler_finds_what_trying_all_sets_finds() {
        let mut stream = Streams::new(5).stream("test", "networks");
        for round in 0..60 {
            let count = 1 + stream.uniform_below(11) as usize;
            let links = network(&mut stream, 5, count);
            let conflicts = match round % 3 {
                0 => Conflicts::of_common_ends(&links),
                1 => Conflicts::of_one_domain(count),
                _ => {
                    let mut draw = || stream.uniform_below(count as u64) as usize;
                    Conflicts::new(count, (0..count).map(|_| (draw(), 0)))
                }
            };
            let masks = conflicts.masks().unwrap();
            for mut exact in [Exact::new(masks.clone()), Exact::branching(masks.clone())] {
                for _ in 0..10 {
                    let weights = weights(&mut stream, count);
                    let best = (0u64..1 << count)
                        .filter(|&set| (0..count).all(|l| set >> l & 1 == 0 || masks[l] & set == 0))
                        .map(|set| {
                            let of = |l: usize| if set >> l & 1 == 1 { weights[l] } else { 0 };
                            (0..count).map(of).sum::<u64>()
                        })
                        .max();
                    let mut chosen = Vec::new();
                    exact.choose(&weights, &mut chosen);
                    assert_eq!(Some(sum(&weights, &chosen)), best);
                    for &link in &chosen {
                        assert!(weights[link as usize] > 0);
                        assert!(
                            !chosen
                                .iter()
                                .any(|other| conflicts.of(link as usize).contains(other))
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn branching_finds_what_enumeration_finds_on_larger_networks() {
        let mut stream = Streams::new(6).stream("test", "networks");
        for _ in 0..20 {
            let links = network(&mut stream, 12, 30);
            let masks = Conflicts::of_common_ends(&links).masks().unwrap();
            let (mut sets, mut branches) = (Exact::new(masks.clone()), Exact::branching(masks));
            for _ in 0..20 {
                let weights = weights(&mut stream, 30);
                let (mut one, mut other) = (Vec::new(), Vec::new());
                sets.choose(&weights, &mut one);
                branches.choose(&weights, &mut other);
                assert_eq!(sum(&weights, &one), sum(&weights, &other));
            }
        }
    }

    /// Each link of the best set conflicts with one of at least its weight that was taken, and
    /// that one with at most two of the best set: one at each of its ends.
    #[test]
    fn greedy_has_at_least_half_the_weight_under_primary_interference() {
        let mut stream = Streams::new(7).stream("test", "networks");
        let mut worst: f64 = 1.0;
        for _ in 0..200 {
            let links = network(&mut stream, 8, 16);
            let conflicts = Conflicts::of_common_ends(&links);
            let mut exact = Schedule::new(Scheduler::Exact, &conflicts).unwrap();
            let mut greedy = Schedule::new(Scheduler::Greedy, &conflicts).unwrap();
            let weights = weights(&mut stream, 16);
            let (mut best, mut quick) = (Vec::new(), Vec::new());
            exact.choose(&weights, &mut best);
            greedy.choose(&weights, &mut quick);
            for &link in &quick {
                assert!(
                    !quick
                        .iter()
                        .any(|other| conflicts.of(link as usize).contains(other))
                );
            }
            let (best, quick) = (sum(&weights, &best), sum(&weights, &quick));
            assert!(quick <= best && 2 * quick >= best, "{quick} of {best}");
            worst = worst.min(quick as f64 / best as f64);
        }
        assert!(worst < 0.95, "greedy is not exact: {worst}");
    }
}
