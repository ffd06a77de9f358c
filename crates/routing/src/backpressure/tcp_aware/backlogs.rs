//! The backlogs of the flows that cross a node, in the form of its reports.

use super::Entry;
use super::report::ENTRY_BYTES;

/// The entries of all flows that cross a node, in the order of their slots.
#[derive(Default)]
pub(super) struct Backlogs {
    entries: Vec<[u8; ENTRY_BYTES]>,
    /// The slot of the flow of each entry.
    slots: Vec<u32>,
    /// By slot, the place of its entry, or of the next one.
    places: Vec<u32>,
}

/// A part of the backlogs, for one report.
pub(super) struct Part<'a> {
    /// The entries, in two pieces.
    pub(super) entries: [&'a [[u8; ENTRY_BYTES]]; 2],
    /// Whether these are all entries.
    pub(super) complete: bool,
    /// The slot with which the next report begins.
    pub(super) next: usize,
}

impl Backlogs {
    /// Replaces all entries. The arguments are by slot; `None` where no flow crosses the node.
    pub(super) fn replace(&mut self, entries: impl Iterator<Item = Option<Entry>>) {
        self.entries.clear();
        self.slots.clear();
        self.places.clear();
        for (slot, entry) in (0..).zip(entries) {
            self.places.push(self.entries.len() as u32);
            if let Some(entry) = entry {
                self.entries.push(entry.encode());
                self.slots.push(slot);
            }
        }
    }

    /// Changes the entry of the flow in `slot`, if it has one.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, entry: Entry) {
        let Some(&place) = self.places.get(slot) else {
            return;
        };
        let place = place as usize;
        if self.slots.get(place) == Some(&(slot as u32)) {
            self.entries[place] = entry.encode();
        }
    }

    /// At most `most` entries, cyclically from the first one at or after `slot`.
    pub(super) fn part(&self, slot: usize, most: usize) -> Part<'_> {
        let count = self.entries.len();
        let first = self.places.get(slot).map_or(0, |&place| place as usize);
        let (before, after) = self.entries.split_at(first);
        let behind = after.len().min(most);
        let complete = count <= most;
        let next = if complete {
            0
        } else {
            self.slots[(first + most) % count] as usize
        };
        Part {
            entries: [&after[..behind], &before[..before.len().min(most - behind)]],
            complete,
            next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(slot: usize) -> Entry {
        Entry {
            key: slot as u32,
            pkts: 7,
        }
    }

    proptest! {
        #[test]
        fn a_part_is_a_run_of_the_crossing_flows_in_their_cyclic_order(
            crossing in prop::collection::vec(any::<bool>(), 0..20),
            slot in 0usize..25,
            most in 1usize..20,
        ) {
            let mut backlogs = Backlogs::default();
            let entries = crossing.iter().enumerate();
            backlogs.replace(entries.map(|(slot, &crosses)| crosses.then(|| entry(slot))));
            let from = slot.min(crossing.len());
            let mut expected = (from..crossing.len()).chain(0..from).filter(|&slot| crossing[slot]);
            let part = backlogs.part(slot, most);
            let found: Vec<_> = part.entries.concat();
            let first: Vec<_> = expected.by_ref().take(most).map(|slot| entry(slot).encode()).collect();
            prop_assert_eq!(found, first);
            let next = expected.next();
            prop_assert_eq!(part.complete, next.is_none());
            prop_assert_eq!(part.next, next.unwrap_or(0));
        }
    }

    #[test]
    fn only_a_flow_that_crosses_the_node_has_an_entry_to_change() {
        let mut backlogs = Backlogs::default();
        backlogs.replace([Some(entry(0)), None, Some(entry(2))].into_iter());
        let changed = Entry { key: 2, pkts: 9 };
        for slot in [1, 2, 3] {
            backlogs.set(slot, changed);
        }
        let entries = backlogs.part(0, 16).entries.concat();
        assert_eq!(entries, [entry(0).encode(), changed.encode()]);
    }
}
