//! A node's state for a neighbour.

use backlane_net::NodeId;
use backlane_units::SimTime;

use super::quality::Quality;

/// No flow has a positive D towards a neighbour with this backlog.
const CLOSED: i32 = i32::MAX / 2;

/// A neighbour, the link to it, and its reported queues.
pub(super) struct Neighbour {
    pub(super) node: NodeId,
    pub(super) valid_until: SimTime,
    pub(super) quality: Quality,
    /// Backlog as last reported, by slot of the flow; 0 where it is the flow's destination, and
    /// [`CLOSED`] where the flow may not go.
    reported_pkts: Vec<i32>,
    /// By slot, whether its reports do not count: it leaves the mesh there, or may not go there.
    fixed: Vec<bool>,
    /// By slot, the number of links from it to where the flow leaves the mesh.
    hops: Vec<u16>,
}

impl Neighbour {
    pub(super) fn new(node: NodeId, valid_until: SimTime, quality: Quality) -> Self {
        Self {
            node,
            valid_until,
            quality,
            reported_pkts: Vec::new(),
            fixed: Vec::new(),
            hops: Vec::new(),
        }
    }

    /// Adds a slot for a flow whose exit router is not known yet.
    pub(super) fn open(&mut self, slot: usize) {
        if slot >= self.reported_pkts.len() {
            self.reported_pkts.resize(slot + 1, 0);
            self.fixed.resize(slot + 1, false);
            self.hops.resize(slot + 1, u16::MAX);
        }
        self.reported_pkts[slot] = 0;
        self.fixed[slot] = false;
        self.hops[slot] = u16::MAX;
    }

    /// Sets whether a flow that leaves the mesh at `exit` may use this link, and how many links
    /// follow it.
    pub(super) fn set_exit(&mut self, slot: usize, exit: NodeId, open: bool, hops: u16) {
        self.hops[slot] = hops;
        let reported = &mut self.reported_pkts[slot];
        self.fixed[slot] = !open || self.node == exit;
        if !open {
            *reported = CLOSED;
        } else if self.node == exit || *reported == CLOSED {
            *reported = 0;
        }
    }

    /// Stores a reported backlog of a flow.
    #[inline]
    pub(super) fn on_report(&mut self, slot: usize, pkts: u32) {
        if !self.fixed[slot] {
            self.reported_pkts[slot] = pkts as i32;
        }
    }

    /// A complete report begins: flows without an entry have no packets there.
    pub(super) fn clear_backlogs(&mut self) {
        for reported in &mut self.reported_pkts {
            if *reported != CLOSED {
                *reported = 0;
            }
        }
    }

    /// The number of links from it to where a flow leaves the mesh.
    #[inline]
    pub(super) fn hops(&self, slot: usize) -> u16 {
        self.hops[slot]
    }

    /// Uⱼ by slot.
    #[inline]
    pub(super) fn reported_pkts(&self) -> &[i32] {
        &self.reported_pkts
    }
}
