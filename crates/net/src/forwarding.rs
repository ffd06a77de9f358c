//! Forwarding tables: by which link packets for an exit leave a node.

use crate::packet::{LinkId, NodeId};

/// Values by exit: a hash table with linear probing, at most half full.
#[derive(Clone, Debug)]
pub struct ByExit<T> {
    slots: Vec<(NodeId, T)>,
    entries: usize,
}

impl<T> Default for ByExit<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            entries: 0,
        }
    }
}

impl<T: Copy + Default> ByExit<T> {
    /// The slot where the search for an exit starts: the upper bits of a product with 2³²/φ.
    #[inline]
    fn home(&self, exit: NodeId) -> usize {
        let hash = u64::from(exit.0.wrapping_mul(0x9e37_79b9));
        ((hash * self.slots.len() as u64) >> 32) as usize
    }

    /// The value of an exit.
    #[inline]
    pub fn get(&self, exit: NodeId) -> Option<T> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(exit);
        loop {
            let (key, value) = self.slots[at];
            if key == exit {
                return Some(value);
            }
            if key == NodeId::NONE {
                return None;
            }
            at = (at + 1) % self.slots.len();
        }
    }

    /// Sets the value of an exit.
    pub fn insert(&mut self, exit: NodeId, value: T) {
        if self.slots.len() < 2 * (self.entries + 1) {
            let larger = vec![(NodeId::NONE, T::default()); (2 * self.slots.len()).max(4)];
            let old = std::mem::replace(&mut self.slots, larger);
            self.entries = 0;
            for (exit, value) in old.into_iter().filter(|(exit, _)| *exit != NodeId::NONE) {
                self.insert(exit, value);
            }
        }
        let mut at = self.home(exit);
        while self.slots[at].0 != NodeId::NONE && self.slots[at].0 != exit {
            at = (at + 1) % self.slots.len();
        }
        self.entries += usize::from(self.slots[at].0 == NodeId::NONE);
        self.slots[at] = (exit, value);
    }

    /// Removes an exit. What a search may have passed over it is inserted again.
    pub fn remove(&mut self, exit: NodeId) {
        if self.get(exit).is_none() {
            return;
        }
        let others: Vec<_> = self.iter().filter(|(other, _)| *other != exit).collect();
        *self = Self::default();
        for (exit, value) in others {
            self.insert(exit, value);
        }
    }

    /// All exits with their values, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, T)> {
        let taken = self.slots.iter().filter(|(exit, _)| *exit != NodeId::NONE);
        taken.copied()
    }
}

/// Routes in the node's own record: with the pointer to the others they fill two cache
/// lines, the exits the first.
const NEAR: usize = 15;

/// The forwarding table of a node. It holds the routes by which packets are forwarded without a
/// call of the node's router.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct ForwardingTable {
    exits: [NodeId; NEAR],
    links: [LinkId; NEAR],
    /// All routes if there are more than [`NEAR`].
    all: Option<Box<ByExit<LinkId>>>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<ForwardingTable>() == 128);

impl Default for ForwardingTable {
    fn default() -> Self {
        Self {
            exits: [NodeId::NONE; NEAR],
            links: [LinkId::NONE; NEAR],
            all: None,
        }
    }
}

impl ForwardingTable {
    /// The link for an exit.
    #[inline]
    pub(crate) fn get(&self, exit: NodeId) -> Option<LinkId> {
        if let Some(all) = &self.all {
            return all.get(exit);
        }
        let at = self.exits.iter().position(|&known| known == exit)?;
        Some(self.links[at])
    }

    /// Sets the link for an exit.
    pub(crate) fn insert(&mut self, exit: NodeId, link: LinkId) {
        if let Some(all) = &mut self.all {
            return all.insert(exit, link);
        }
        let known = |&known: &NodeId| known == exit || known == NodeId::NONE;
        if let Some(at) = self.exits.iter().position(known) {
            (self.exits[at], self.links[at]) = (exit, link);
            return;
        }
        let mut all = ByExit::default();
        for (&exit, &link) in self.exits.iter().zip(&self.links) {
            all.insert(exit, link);
        }
        all.insert(exit, link);
        self.all = Some(Box::new(all));
    }

    /// Removes an exit.
    pub(crate) fn remove(&mut self, exit: NodeId) {
        if let Some(all) = &mut self.all {
            return all.remove(exit);
        }
        let Some(at) = self.exits.iter().position(|&known| known == exit) else {
            return;
        };
        let is_free = |&known: &NodeId| known == NodeId::NONE;
        let last = self.exits.iter().position(is_free).unwrap_or(NEAR) - 1;
        (self.exits[at], self.links[at]) = (self.exits[last], self.links[last]);
        (self.exits[last], self.links[last]) = (NodeId::NONE, LinkId::NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_found_before_and_after_the_table_outgrows_its_lines() {
        let mut table = ForwardingTable::default();
        for round in [0, 1000] {
            for exit in 0..40 {
                table.insert(NodeId(exit), LinkId(round + exit));
                assert_eq!(table.get(NodeId(0)), Some(LinkId(round)));
                assert_eq!(table.get(NodeId(exit)), Some(LinkId(round + exit)));
                assert_eq!(table.get(NodeId(40)), None);
            }
        }
    }

    #[test]
    fn a_removed_route_is_gone_and_the_others_stay() {
        for exits in [1, NEAR as u32, 40] {
            let mut table = ForwardingTable::default();
            (0..exits).for_each(|exit| table.insert(NodeId(exit), LinkId(exit)));
            for removed in 0..exits {
                table.remove(NodeId(removed));
                table.remove(NodeId(1000));
                for exit in 0..exits {
                    let left = (exit > removed).then_some(LinkId(exit));
                    assert_eq!(table.get(NodeId(exit)), left, "{exits} {removed} {exit}");
                }
            }
            table.insert(NodeId(7), LinkId(3));
            assert_eq!(table.get(NodeId(7)), Some(LinkId(3)));
        }
    }
}
