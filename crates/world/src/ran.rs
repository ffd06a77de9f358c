//! The radio access network of a world.

use std::any::Any;

use backlane_lte::Ran;
use backlane_net::{MediumId, NodeId, Simulation};
use backlane_traffic::Flows;

/// A radio network within the world: its nodes in the order in which it counts them.
pub(crate) struct Radio {
    pub(crate) medium: MediumId,
    pub(crate) enodebs: Vec<NodeId>,
    pub(crate) ues: Vec<NodeId>,
    /// Resource blocks of each carrier.
    pub(crate) carrier_prbs: Vec<u64>,
}

impl Radio {
    /// The network itself.
    pub(crate) fn ran<'a>(&self, simulation: &'a Simulation<Flows>) -> Option<&'a Ran> {
        let medium: &dyn Any = simulation.medium(self.medium)?;
        medium.downcast_ref()
    }
}
