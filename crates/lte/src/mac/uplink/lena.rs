//! Grants as ns-3's LENA gives them: each UE the same number of resource blocks, whether it needs
//! them or not, with an MCS by the worst of them.

use super::scheduler::{Candidate, Supply};
use crate::phy::link_adaptation::{Adaptation, LinkAdaptation};
use crate::phy::tables::CqiTable;

/// LENA goes from an uplink SINR to a CQI by the law of Piro et al., regardless of its rule in
/// the downlink.
pub(super) fn adaptation() -> LinkAdaptation {
    LinkAdaptation::new(Adaptation::Piro, CqiTable::Qam64, 100, 1, 1, 0.1)
}

/// The MCS at this SINR; none out of range.
pub(super) fn mcs(adaptation: &LinkAdaptation, worst_sinr: f32) -> Option<u8> {
    let cqi = adaptation.step_at(worst_sinr);
    (cqi != 0).then(|| LinkAdaptation::lena_mcs(cqi))
}

/// Shares a subframe of `n_rb` resource blocks, in which some UEs repeat a PUSCH, in turn.
pub(super) fn share(
    n_rb: u16,
    repeating: u16,
    supply: Supply,
    candidates: &mut [Candidate],
    turn: &mut u32,
    mut give: impl FnMut(&Candidate, u16) -> u16,
) {
    if candidates.is_empty() {
        return;
    }
    let start = candidates.partition_point(|candidate| candidate.ue < *turn) % candidates.len();
    candidates.rotate_left(start);
    *turn = candidates[0].ue;
    let per_flow = (n_rb / (candidates.len() as u16 + repeating)).max(supply.least_prb);
    let (mut left, mut cces) = (supply.n_prb, supply.cces);
    for candidate in candidates {
        let n_prb = per_flow.min(left);
        if n_prb < supply.least_prb || cces < candidate.cces {
            // The next subframe begins with the first that this one has no room for.
            *turn = candidate.ue;
            return;
        }
        left -= give(candidate, n_prb).min(left);
        cces -= candidate.cces;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(ues: u32, repeating: u16, free: u16, turn: &mut u32) -> Vec<u16> {
        let candidate = |ue| Candidate {
            ue,
            wanted_bytes: 1,
            needed_prb: 1,
            cces: 1,
            value: 0.0,
        };
        let mut candidates: Vec<Candidate> = (0..ues).map(candidate).collect();
        let supply = Supply {
            n_prb: free,
            least_prb: 3,
            cces: u16::MAX,
        };
        let mut given = vec![0; ues as usize];
        share(
            100,
            repeating,
            supply,
            &mut candidates,
            turn,
            |ue, n_prb| {
                given[ue.ue as usize] = n_prb;
                n_prb
            },
        );
        given
    }

    #[test]
    fn everybody_gets_the_same_number_needed_or_not() {
        assert_eq!(shared(1, 0, 100, &mut 0), [100]);
        assert_eq!(shared(3, 0, 100, &mut 0), [33; 3]);
        assert_eq!(shared(2, 2, 60, &mut 0), [25, 25]);
    }

    #[test]
    fn a_subframe_serves_33_ues_and_the_next_the_others() {
        let mut turn = 0;
        let first = shared(40, 0, 100, &mut turn);
        assert_eq!(first.iter().filter(|&&n| n == 3).count(), 33);
        let second = shared(40, 0, 100, &mut turn);
        assert_eq!(
            [second[32], second[33], second[39], second[0]],
            [0, 3, 3, 3]
        );
    }
}
