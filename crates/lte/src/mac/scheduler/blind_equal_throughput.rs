//! Blind equal throughput: each group goes to the UE with the lowest throughput, counting what
//! it was given in this TTI.

use super::demand::{Demand, share_of_window};

/// Gives group by group to the lowest predicted average.
pub(super) fn share(demand: &mut Demand<'_>) {
    let mut served = 0;
    while let Some(group) = demand.next_free() {
        let mut lowest: Option<(f32, usize)> = None;
        for (index, candidate) in demand.candidates.iter().enumerate() {
            if candidate.given == candidate.wanted
                || candidate.given == 0 && served == demand.max_ues
            {
                continue;
            }
            let bytes = f32::from(candidate.given) * candidate.group_bits / 8.0;
            let predicted = candidate.average + share_of_window(bytes);
            if lowest.is_none_or(|(least, _)| predicted < least) {
                lowest = Some((predicted, index));
            }
        }
        let Some((_, index)) = lowest else { return };
        served += usize::from(demand.candidates[index].given == 0);
        demand.give(group, index);
    }
}
