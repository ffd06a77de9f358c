//! The exact max-weight schedule: a heaviest independent set of the conflict graph.

use crate::conflicts::{bits, maximal_independent_sets};

/// With more maximal sets than this, branching is quicker than going through all of them.
const MOST_SETS: usize = 256;

/// Finds a heaviest set of links without a conflict.
#[derive(Clone, Debug)]
pub struct Exact {
    /// For each link, a word with those that conflict with it.
    conflicts: Vec<u64>,
    /// All maximal sets, if they are few.
    sets: Option<Sets>,
}

/// Sets of links, one after another.
#[derive(Clone, Debug)]
struct Sets {
    links: Vec<u32>,
    /// Where each set ends in `links`.
    ends: Vec<u32>,
}

impl Exact {
    /// For each link, a word with a bit for each link that conflicts with it. The maximal sets
    /// are enumerated if they are few.
    pub fn new(conflicts: Vec<u64>) -> Self {
        let sets = maximal_independent_sets(&conflicts, MOST_SETS).map(|sets| {
            let mut lists = Sets {
                links: Vec::new(),
                ends: Vec::new(),
            };
            for set in sets {
                lists.links.extend(bits(set).map(|link| link as u32));
                lists.ends.push(lists.links.len() as u32);
            }
            lists
        });
        Self { conflicts, sets }
    }

    /// The same without enumeration.
    pub fn branching(conflicts: Vec<u64>) -> Self {
        Self {
            conflicts,
            sets: None,
        }
    }

    /// Writes a heaviest set into `chosen`, without links of weight zero. The sum of all weights
    /// must fit into 64 bits.
    #[inline]
    pub fn choose(&mut self, weights: &[u64], chosen: &mut Vec<u32>) {
        chosen.clear();
        let Some(sets) = &self.sets else {
            self.branch(weights, chosen);
            return;
        };
        let (mut best, mut best_range, mut start) = (0, 0..0, 0);
        for &end in &sets.ends {
            let range = start..end as usize;
            start = end as usize;
            let links = &sets.links[range.clone()];
            let sum = links.iter().map(|&link| weights[link as usize]).sum();
            if sum > best {
                (best, best_range) = (sum, range);
            }
        }
        let heavy = |&&link: &&u32| weights[link as usize] > 0;
        chosen.extend(sets.links[best_range].iter().filter(heavy));
    }

    fn branch(&self, weights: &[u64], chosen: &mut Vec<u32>) {
        let mut open = 0;
        for (link, &weight) in weights.iter().enumerate() {
            open |= u64::from(weight > 0) << link;
        }
        let mut search = Search {
            conflicts: &self.conflicts,
            weights,
            best: 0,
            best_set: 0,
        };
        search.expand(open, 0, 0);
        chosen.extend(bits(search.best_set).map(|link| link as u32));
    }
}

/// Branch and bound. The open links are covered by cliques of the conflict graph, of each of which
/// at most one link can be taken; so the heaviest of each, added up, bound what can be gained.
struct Search<'a> {
    conflicts: &'a [u64],
    weights: &'a [u64],
    best: u64,
    best_set: u64,
}

impl Search<'_> {
    fn expand(&mut self, mut open: u64, weight: u64, set: u64) {
        if weight > self.best {
            (self.best, self.best_set) = (weight, set);
        }
        // The bound of each link holds for it and all that stand before it.
        let mut order = [0u8; 64];
        let mut bounds = [0u64; 64];
        let (mut count, mut covered, mut rest) = (0, 0, open);
        while rest != 0 {
            let (mut clique, mut heaviest) = (rest, 0);
            while clique != 0 {
                let link = clique.trailing_zeros() as usize;
                clique &= self.conflicts[link];
                rest &= !(1 << link);
                heaviest = self.weights[link].max(heaviest);
                order[count] = link as u8;
                bounds[count] = covered + heaviest;
                count += 1;
            }
            covered += heaviest;
        }
        for (&link, &bound) in order[..count].iter().zip(&bounds[..count]).rev() {
            if weight + bound <= self.best {
                return;
            }
            let link = usize::from(link);
            open &= !(1 << link);
            let compatible = open & !self.conflicts[link];
            self.expand(compatible, weight + self.weights[link], set | 1 << link);
        }
    }
}
