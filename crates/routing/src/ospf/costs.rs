//! The costs of links.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_net::{Interface, LinkId};

use super::config::Config;

/// Costs by hand, by the direction of a link. All routers share one copy.
#[derive(Clone, Debug, Default)]
pub struct Costs(Arc<BTreeMap<LinkId, u16>>);

impl Costs {
    /// These costs; what is beyond 65 535 counts as that, and zero as one.
    pub fn new(costs: impl IntoIterator<Item = (LinkId, u32)>) -> Self {
        let within = |(link, cost): (LinkId, u32)| (link, cost.clamp(1, u16::MAX.into()) as u16);
        Self(Arc::new(costs.into_iter().map(within).collect()))
    }

    /// The cost of leaving by an interface: that by hand, else the one that `config` gives.
    pub fn of(&self, interface: &Interface, config: &Config) -> u16 {
        let by_hand = self.0.get(&interface.outgoing);
        by_hand.map_or_else(|| config.cost(interface.rate), |cost| *cost)
    }
}
