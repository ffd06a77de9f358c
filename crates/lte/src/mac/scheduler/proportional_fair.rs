//! Proportional fair: each group goes to the UE with the highest ratio of the rate that it would
//! have there to its average throughput.

use super::Demand;

/// Shares the free groups by `R / T`.
pub(super) fn share(demand: &mut Demand<'_>) {
    demand.highest_bidder(|candidate, bits| bits / candidate.average);
}
