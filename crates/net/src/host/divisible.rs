//! Applications whose flows may have their ends in two simulations.

use super::Application;
use crate::packet::{NodeId, PacketId};

/// An application of a network whose regions may be run by several simulations.
pub trait Divisible: Application + Sized {
    /// What the transport keeps of a packet under way, beside the packet.
    type Carried: Send;

    /// What the transport keeps of a packet that leaves for another simulation.
    fn carried(&self, id: PacketId) -> Self::Carried;

    /// Stores what the transport keeps of a packet that comes from another simulation.
    fn carry(&mut self, id: PacketId, carried: Self::Carried);

    /// Takes the ends of flows that another simulation has run; `has` tells its nodes.
    fn absorb(&mut self, other: Self, has: impl Fn(NodeId) -> bool);
}
