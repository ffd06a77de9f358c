//! Round robin: equal shares in turn, regardless of the channel.

use super::Demand;

/// Shares the free groups equally among as many UEs as can be served, beginning with the first
/// UE not before `turn`, who gets one more if they do not divide. The next TTI begins after the
/// last served, or with the second if all were.
pub(super) fn share(demand: &mut Demand<'_>, turn: &mut u32) {
    let n = demand.candidates.len();
    let first = demand.candidates.partition_point(|c| c.ue < *turn);
    let served = n.min(demand.max_ues).min(demand.free.count_ones() as usize);
    for step in 0..served {
        let index = (first + step) % n;
        let left = demand.free.count_ones() as usize;
        let share = left.div_ceil(served - step);
        for _ in 0..share.min(usize::from(demand.candidates[index].wanted)) {
            let Some(group) = demand.next_free() else {
                return;
            };
            demand.give(group, index);
        }
    }
    let after = if served < n { served } else { 1 };
    *turn = demand.candidates[(first + after) % n].ue;
}
