//! The neighbours of a node and when a message of each last arrived.

use backlane_units::SimTime;

/// The state of a neighbour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbour {
    /// When its last message arrived.
    pub(super) heard: SimTime,
    /// Whether it sends HELLOs, so that silence indicates a loss.
    pub(super) sends_hellos: bool,
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
