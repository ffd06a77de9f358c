//! Maximum CQI: each group goes to the UE that it carries most bits for, whoever starves.

use super::Demand;

/// Shares the free groups by `R`.
pub(super) fn share(demand: &mut Demand<'_>) {
    demand.highest_bidder(|_, bits| bits);
}
