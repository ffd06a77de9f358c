//! Who gets how many resource blocks of an uplink subframe.

use super::grant::sizes;
use crate::config::UplinkScheduler;

/// A UE that has something to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Its index among the UEs of the network.
    pub(super) ue: u32,
    /// Bytes of a transport block that takes all it has.
    pub(super) wanted_bytes: u64,
    /// About how many resource blocks it can use: as many as its data fills, or as its power
    /// reaches for.
    pub(super) needed_prb: u16,
    /// Control channel elements of its grant.
    pub(super) cces: u16,
    /// Its rate over its average throughput.
    pub(super) value: f32,
}

/// What there is to share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supply {
    /// Free resource blocks.
    pub(super) n_prb: u16,
    /// Fewest of a grant.
    pub(super) least_prb: u16,
    /// Control channel elements.
    pub(super) cces: u16,
}

/// Shares resource blocks among the candidates, which come in the order of UEs. `give` is called
/// with a candidate and the most that it can have, and says how many it takes.
pub(super) fn share(
    kind: UplinkScheduler,
    supply: Supply,
    candidates: &mut Vec<Candidate>,
    turn: &mut u32,
    give: impl FnMut(&Candidate, u16) -> u16,
) {
    match kind {
        UplinkScheduler::RoundRobin => round_robin(supply, candidates, turn, give),
        UplinkScheduler::ProportionalFair => proportional_fair(supply, candidates, give),
    }
}

/// Equal shares; what some do not need goes to the others. If not all can be served, the next
/// subframe begins with the first that was not.
fn round_robin(
    supply: Supply,
    candidates: &mut Vec<Candidate>,
    turn: &mut u32,
    mut give: impl FnMut(&Candidate, u16) -> u16,
) {
    if candidates.is_empty() {
        return;
    }
    let start = candidates.partition_point(|candidate| candidate.ue < *turn);
    let n = candidates.len();
    candidates.rotate_left(start % n);
    let first = candidates[0].ue;
    *turn = first + 1;
    let mut all = true;
    let (mut left, mut cces) = (supply.n_prb, supply.cces);
    candidates.retain(|candidate| {
        let fits = candidate.cces <= cces && supply.least_prb <= left;
        if fits {
            cces -= candidate.cces;
            left -= supply.least_prb;
        } else if all {
            all = false;
            *turn = candidate.ue;
        }
        fits
    });
    let mut left = supply.n_prb;
    let mut waiting = candidates.len() as u16;
    // What sizes leave over goes to the last, each time another.
    candidates.sort_unstable_by_key(|candidate| {
        (candidate.needed_prb, candidate.ue < first, candidate.ue)
    });
    for candidate in candidates {
        let most = largest(supply.least_prb, left / waiting);
        left = left.saturating_sub(give(candidate, most));
        waiting -= 1;
    }
}

/// All that it needs to the UE of the highest value, then to the next.
fn proportional_fair(
    supply: Supply,
    candidates: &mut [Candidate],
    mut give: impl FnMut(&Candidate, u16) -> u16,
) {
    candidates.sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then(a.ue.cmp(&b.ue)));
    let (mut left, mut cces) = (supply.n_prb, supply.cces);
    for candidate in candidates {
        if left < supply.least_prb || cces < candidate.cces {
            continue;
        }
        let n_prb = give(candidate, largest(supply.least_prb, left));
        if n_prb != 0 {
            left = left.saturating_sub(n_prb);
            cces -= candidate.cces;
        }
    }
}

/// The largest size up to `most`.
pub(super) fn largest(least: u16, most: u16) -> u16 {
    let sizes = sizes(least, most);
    sizes[sizes.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use UplinkScheduler::{ProportionalFair, RoundRobin};

    const ALL: Supply = Supply {
        n_prb: 100,
        least_prb: 1,
        cces: 84,
    };

    fn candidates(needed: &[u16]) -> Vec<Candidate> {
        let candidate = |(ue, &needed_prb): (usize, &u16)| Candidate {
            ue: ue as u32,
            wanted_bytes: 1,
            needed_prb,
            cces: 2,
            value: 1.0,
        };
        needed.iter().enumerate().map(candidate).collect()
    }

    /// What each UE gets if it takes what it needs.
    fn shared(
        kind: UplinkScheduler,
        supply: Supply,
        candidates: Vec<Candidate>,
        turn: &mut u32,
    ) -> Vec<u16> {
        let mut given = vec![0; candidates.len()];
        let mut candidates = candidates;
        share(kind, supply, &mut candidates, turn, |candidate, most| {
            let n_prb = candidate.needed_prb.min(most);
            given[candidate.ue as usize] = n_prb;
            n_prb
        });
        given
    }

    #[test]
    fn what_one_does_not_need_goes_to_the_others() {
        let ues = candidates(&[100, 3, 100, 10]);
        // 100 − 3 − 10 = 87: 43 is no size, so 40 and then 47, of which 45 is one.
        assert_eq!(shared(RoundRobin, ALL, ues, &mut 0), [40, 3, 45, 10]);
    }

    /// Shares of 14 are no size: 12 each, and more for those that come last.
    #[test]
    fn what_is_left_over_goes_to_another_each_time() {
        let mut turn = 0;
        let mut sums = [0; 7];
        for _ in 0..7 {
            let given = shared(RoundRobin, ALL, candidates(&[100; 7]), &mut turn);
            for (sum, n_prb) in sums.iter_mut().zip(given) {
                *sum += n_prb;
            }
        }
        assert!(sums.iter().all(|&sum| sum == sums[0]), "{sums:?}");
        assert!(sums[0] >= 95, "{sums:?}");
    }

    fn times_served(supply: Supply, ues: usize, subframes: usize) -> Vec<usize> {
        let mut turn = 0;
        let mut served = vec![0; ues];
        for _ in 0..subframes {
            let given = shared(RoundRobin, supply, candidates(&vec![6; ues]), &mut turn);
            for (times, n_prb) in served.iter_mut().zip(given) {
                *times += usize::from(n_prb != 0);
            }
        }
        served
    }

    #[test]
    fn more_ues_than_control_elements_are_served_in_turn() {
        let supply = Supply { cces: 7, ..ALL };
        assert_eq!(times_served(supply, 5, 5), [3; 5]);
    }

    #[test]
    fn more_ues_than_resource_blocks_are_served_in_turn() {
        let supply = Supply {
            n_prb: 6,
            least_prb: 3,
            cces: u16::MAX,
        };
        assert_eq!(times_served(supply, 3, 3), [2; 3]);
    }

    #[test]
    fn proportional_fair_serves_the_highest_value_first() {
        let mut ues = candidates(&[100, 60, 100]);
        ues[1].value = 3.0;
        ues[2].value = 2.0;
        assert_eq!(shared(ProportionalFair, ALL, ues, &mut 0), [0, 60, 40]);
    }

    /// Three of five fit: the next subframe begins with the fourth.
    #[test]
    fn whoever_was_not_served_is_the_first_in_the_next_subframe() {
        let supply = Supply { cces: 7, ..ALL };
        let mut turn = 0;
        let served = [(); 3].map(|()| {
            let given = shared(RoundRobin, supply, candidates(&[6; 5]), &mut turn);
            (0..5).filter(|&ue| given[ue] != 0).collect::<Vec<_>>()
        });
        assert_eq!(served, [vec![0, 1, 2], vec![0, 3, 4], vec![1, 2, 3]]);
    }
}
