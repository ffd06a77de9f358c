//! Greedy maximal scheduling.

use crate::conflicts::Conflicts;

/// Takes the heaviest link, then the heaviest of those that do not conflict with it, and so on.
///
/// Under primary interference the set has at least half the largest weight (Lin and Shroff 2005).
#[derive(Clone, Debug)]
pub struct Greedy {
    conflicts: Conflicts,
    order: Vec<u32>,
    blocked: Vec<bool>,
}

impl Greedy {
    /// For a conflict graph.
    pub fn new(conflicts: Conflicts) -> Self {
        Self {
            blocked: vec![false; conflicts.links()],
            order: Vec::new(),
            conflicts,
        }
    }

    /// Writes the set into `chosen`, heaviest first. Of equals the first in the list is taken.
    pub fn choose(&mut self, weights: &[u64], chosen: &mut Vec<u32>) {
        chosen.clear();
        self.order.clear();
        let heavy = |&link: &u32| weights[link as usize] > 0;
        self.order.extend((0..weights.len() as u32).filter(heavy));
        self.order
            .sort_unstable_by_key(|&link| (std::cmp::Reverse(weights[link as usize]), link));
        self.blocked.fill(false);
        for &link in &self.order {
            if !self.blocked[link as usize] {
                chosen.push(link);
                for &other in self.conflicts.of(link as usize) {
                    self.blocked[other as usize] = true;
                }
            }
        }
    }
}
