//! Who gets how many resource blocks of an uplink subframe.

use super::grant::sizes;
use crate::config::UplinkScheduler;

/// A UE that has something to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Its index among the UEs of the network.
    pub(super) ue: u32,
    /// Resource blocks that it can use: as many as its data fills, or as its power reaches for.
    pub(super) needed: u16,
    /// Control channel elements of its grant.
    pub(super) cces: u16,
    /// Its rate over its average throughput.
    pub(super) value: f32,
    /// What it gets.
    pub(super) n_prb: u16,
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

impl Supply {
    /// Takes one more UE in with the fewest blocks; false if there is no room for it.
    fn admits(self, admitted: &mut Self, candidate: &Candidate) -> bool {
        let cces = admitted.cces + candidate.cces;
        let n_prb = admitted.n_prb + self.least_prb;
        let fits = cces <= self.cces && n_prb <= self.n_prb;
        if fits {
            (admitted.cces, admitted.n_prb) = (cces, n_prb);
        }
        fits
    }
}

/// Shares resource blocks among the candidates, which come in the order of UEs.
pub(super) fn share(
    kind: UplinkScheduler,
    supply: Supply,
    candidates: &mut Vec<Candidate>,
    turn: &mut u32,
) {
    match kind {
        UplinkScheduler::RoundRobin => round_robin(supply, candidates, turn),
        UplinkScheduler::ProportionalFair => proportional_fair(supply, candidates),
    }
}

/// Equal shares; what some do not need goes to the others. If not all can be served, the next
/// subframe begins with the first that was not.
fn round_robin(supply: Supply, candidates: &mut Vec<Candidate>, turn: &mut u32) {
    if candidates.is_empty() {
        return;
    }
    let start = candidates.partition_point(|candidate| candidate.ue < *turn);
    let n = candidates.len();
    candidates.rotate_left(start % n);
    *turn = candidates[0].ue + 1;
    let mut admitted = Supply {
        n_prb: 0,
        cces: 0,
        ..supply
    };
    let mut all = true;
    candidates.retain(|candidate| {
        let fits = supply.admits(&mut admitted, candidate);
        if !fits && all {
            all = false;
            *turn = candidate.ue;
        }
        fits
    });
    let mut left = supply.n_prb;
    let mut waiting = candidates.len() as u16;
    candidates.sort_unstable_by_key(|candidate| (candidate.needed, candidate.ue));
    for candidate in candidates {
        let share = largest(supply.least_prb, left / waiting);
        candidate.n_prb = candidate.needed.min(share);
        left = left.saturating_sub(candidate.n_prb);
        waiting -= 1;
    }
}

/// All that it needs to the UE of the highest value, then to the next.
fn proportional_fair(supply: Supply, candidates: &mut [Candidate]) {
    candidates.sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then(a.ue.cmp(&b.ue)));
    let (mut left, mut cces) = (supply.n_prb, supply.cces);
    for candidate in candidates {
        if left < supply.least_prb || cces < candidate.cces {
            continue;
        }
        candidate.n_prb = candidate.needed.min(largest(supply.least_prb, left));
        left = left.saturating_sub(candidate.n_prb);
        cces -= candidate.cces;
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

    const ALL: Supply = Supply {
        n_prb: 100,
        least_prb: 1,
        cces: 84,
    };

    fn candidates(needed: &[u16]) -> Vec<Candidate> {
        let candidate = |(ue, &needed): (usize, &u16)| Candidate {
            ue: ue as u32,
            needed,
            cces: 2,
            value: 1.0,
            n_prb: 0,
        };
        needed.iter().enumerate().map(candidate).collect()
    }

    fn given(candidates: &[Candidate], n: usize) -> Vec<u16> {
        let mut given = vec![0; n];
        for candidate in candidates {
            given[candidate.ue as usize] = candidate.n_prb;
        }
        given
    }

    #[test]
    fn what_one_does_not_need_goes_to_the_others() {
        let mut ues = candidates(&[100, 3, 100, 10]);
        round_robin(ALL, &mut ues, &mut 0);
        // 100 − 3 − 10 = 87: 43 is no size, so 40 and then 47, of which 45 is one.
        assert_eq!(given(&ues, 4), [40, 3, 45, 10]);
    }

    #[test]
    fn more_ues_than_control_elements_are_served_in_turn() {
        let mut turn = 0;
        let supply = Supply { cces: 7, ..ALL };
        let mut served = [0; 5];
        for _ in 0..5 {
            let mut ues = candidates(&[100; 5]);
            round_robin(supply, &mut ues, &mut turn);
            assert_eq!(ues.len(), 3);
            for ue in ues {
                served[ue.ue as usize] += 1;
            }
        }
        assert_eq!(served, [3; 5]);
    }

    #[test]
    fn more_ues_than_resource_blocks_are_served_in_turn() {
        let mut turn = 0;
        let supply = Supply {
            n_prb: 6,
            least_prb: 3,
            cces: u16::MAX,
        };
        let mut served = [0; 3];
        for _ in 0..3 {
            let mut ues = candidates(&[6; 3]);
            round_robin(supply, &mut ues, &mut turn);
            assert_eq!(ues.iter().map(|ue| ue.n_prb).collect::<Vec<_>>(), [3, 3]);
            for ue in ues {
                served[ue.ue as usize] += 1;
            }
        }
        assert_eq!(served, [2; 3]);
    }

    #[test]
    fn proportional_fair_serves_the_highest_value_first() {
        let mut ues = candidates(&[100, 60, 100]);
        ues[1].value = 3.0;
        ues[2].value = 2.0;
        proportional_fair(ALL, &mut ues);
        assert_eq!(given(&ues, 3), [0, 60, 40]);
    }
}
