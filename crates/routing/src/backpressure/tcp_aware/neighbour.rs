//! What a node knows of a neighbour.

use backlane_net::NodeId;
use backlane_units::SimTime;

use super::quality::Quality;

/// No flow falls towards a neighbour that tells this.
const CLOSED: i32 = i32::MAX / 2;

/// A neighbour, the link to it, and what it told of its queues.
pub(super) struct Neighbour {
    pub(super) node: NodeId,
    pub(super) valid_until: SimTime,
    pub(super) quality: Quality,
    /// Backlog as last told, by slot of the flow; 0 where it is the flow's destination, and
    /// [`CLOSED`] where the flow may not go.
    told_pkts: Vec<i32>,
}

impl Neighbour {
    pub(super) fn new(node: NodeId, valid_until: SimTime, quality: Quality) -> Self {
        Self {
            node,
            valid_until,
            quality,
            told_pkts: Vec::new(),
        }
    }

    /// A flow gets a slot; where it leaves the mesh is not known yet.
    pub(super) fn open(&mut self, slot: usize) {
        if slot >= self.told_pkts.len() {
            self.told_pkts.resize(slot + 1, 0);
        }
        self.told_pkts[slot] = 0;
    }

    /// A flow leaves the mesh at `exit`, and may come this way or not.
    pub(super) fn set_exit(&mut self, slot: usize, exit: NodeId, open: bool) {
        let told = &mut self.told_pkts[slot];
        if !open {
            *told = CLOSED;
        } else if self.node == exit || *told == CLOSED {
            *told = 0;
        }
    }

    /// It tells of a flow that leaves the mesh at `exit`.
    pub(super) fn tell(&mut self, slot: usize, exit: NodeId, pkts: u32) {
        if self.node != exit && self.told_pkts[slot] != CLOSED {
            self.told_pkts[slot] = pkts as i32;
        }
    }

    /// It tells that it holds nothing but what it tells next.
    pub(super) fn tell_empty(&mut self) {
        for told in &mut self.told_pkts {
            if *told != CLOSED {
                *told = 0;
            }
        }
    }

    /// Uⱼ by slot.
    #[inline]
    pub(super) fn told_pkts(&self) -> &[i32] {
        &self.told_pkts
    }
}
