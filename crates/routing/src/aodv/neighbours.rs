//! The neighbours of a node: when each was last heard.

use backlane_units::SimTime;

/// What was heard of a neighbour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbour {
    /// The last message.
    pub(super) heard: SimTime,
    /// It sends HELLOs, so that silence means something.
    pub(super) greets: bool,
}

/// Neighbours, by interface.
#[derive(Debug, Default)]
pub(super) struct Neighbours(pub(super) Vec<Neighbour>);

impl Neighbours {
    pub(super) fn at(&mut self, interface: usize) -> &mut Neighbour {
        if self.0.len() <= interface {
            self.0.resize(interface + 1, Neighbour::default());
        }
        &mut self.0[interface]
    }
}
