//! What a node knows of an originator, in both versions.

use backlane_units::{Duration, SimTime};

use super::message::Address;
use super::window::Protection;

/// The address of a neighbour's port, and the own port on which it is.
pub(super) type Link = (Address, usize);

/// A neighbour by which an originator may be reached. `M` is the metric in one table.
#[derive(Debug)]
pub(super) struct Neighbour<M> {
    pub(super) link: Link,
    pub(super) seen: SimTime,
    /// By table.
    pub(super) metrics: Vec<M>,
}

/// One table's entry for an originator. Table 0 is the default one; table n + 1 is for what arrives
/// on port n.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// The newest sequence number.
    pub(super) sequence: u32,
    /// IV: the TTL with which it arrived first. V: the last one that was forwarded.
    pub(super) last: u32,
    pub(super) protection: Protection,
    pub(super) next: Option<Link>,
}

/// An originator.
#[derive(Debug)]
pub(super) struct Originator<M> {
    pub(super) seen: SimTime,
    pub(super) entries: Vec<Entry>,
    pub(super) neighbours: Vec<Neighbour<M>>,
}

impl<M: Clone + Default> Originator<M> {
    pub(super) fn new(now: SimTime, ports: usize) -> Self {
        Self {
            seen: now,
            entries: vec![Entry::default(); ports + 1],
            neighbours: Vec::new(),
        }
    }

    pub(super) fn neighbour(&self, link: Link) -> Option<&Neighbour<M>> {
        self.neighbours.iter().find(|other| other.link == link)
    }

    /// The place of a neighbour, which is created if it is new.
    pub(super) fn place(&mut self, now: SimTime, link: Link) -> usize {
        let mut known = self.neighbours.iter();
        known
            .position(|other| other.link == link)
            .unwrap_or_else(|| {
                self.neighbours.push(Neighbour {
                    link,
                    seen: now,
                    metrics: vec![M::default(); self.entries.len()],
                });
                self.neighbours.len() - 1
            })
    }

    /// Forgets neighbours without a sign since `timeout`, and chooses the best of the others, by
    /// `value`, where one was the next hop. Returns whether the originator itself is to be kept.
    ///
    /// In Linux all tables choose again as soon as one neighbour is forgotten.
    pub(super) fn purge(
        &mut self,
        now: SimTime,
        timeout: Duration,
        value: impl Fn(&M) -> u32,
    ) -> bool {
        if self.seen.saturating_add(timeout.saturating_mul(2)) < now {
            return false;
        }
        let before = self.neighbours.len();
        self.neighbours
            .retain(|neighbour| now <= neighbour.seen.saturating_add(timeout));
        if self.neighbours.len() < before {
            for (table, entry) in self.entries.iter_mut().enumerate() {
                let mut best: Option<(u32, Link)> = None;
                for neighbour in &self.neighbours {
                    let value = value(&neighbour.metrics[table]);
                    if best.is_none_or(|(other, _)| value > other) {
                        best = Some((value, neighbour.link));
                    }
                }
                entry.next = best.map(|(_, link)| link);
            }
        }
        true
    }
}
