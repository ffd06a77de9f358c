//! The conflict graph: which links may not send in the same slot.

/// The most links whose sets fit into a word.
pub const MOST_MASKED: usize = 64;

/// For each link, the links that may not send together with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    /// In ascending order, without the link itself.
    neighbours: Vec<Vec<u32>>,
}

impl Conflicts {
    /// The conflicts of pairs of `links` links. A pair of a link with itself or with one that does
    /// not exist is left out.
    pub fn new(links: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut neighbours = vec![Vec::new(); links];
        for (a, b) in pairs {
            if a != b && a < links && b < links {
                neighbours[a].push(b as u32);
                neighbours[b].push(a as u32);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Self { neighbours }
    }

    /// Each link conflicts with each other one.
    pub fn of_one_domain(links: usize) -> Self {
        Self::new(links, (0..links).flat_map(|a| (0..a).map(move |b| (a, b))))
    }

    /// Links with a common end conflict. Each link is given by its two ends.
    pub fn of_common_ends(links: &[(usize, usize)]) -> Self {
        let ends = |link: usize| [links[link].0, links[link].1];
        let pairs = (0..links.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let common = pairs.filter(|&(a, b)| ends(a).iter().any(|node| ends(b).contains(node)));
        Self::new(links.len(), common)
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.neighbours.len()
    }

    /// The links that may not send together with `link`.
    pub fn of(&self, link: usize) -> &[u32] {
        &self.neighbours[link]
    }

    /// The same as words with a bit for each link; `None` if there are more than 64.
    pub fn masks(&self) -> Option<Vec<u64>> {
        (self.links() <= MOST_MASKED).then(|| {
            let mask = |list: &Vec<u32>| list.iter().fold(0, |mask, &link| mask | 1u64 << link);
            self.neighbours.iter().map(mask).collect()
        })
    }
}

/// All maximal sets of links without a conflict, as words; `None` if there are more than `most`.
///
/// This is the enumeration of maximal cliques by Bron and Kerbosch (1973), with a pivot, on the
/// complement of the conflict graph.
pub fn maximal_independent_sets(conflicts: &[u64], most: usize) -> Option<Vec<u64>> {
    let all = match conflicts.len() {
        0 => return Some(Vec::new()),
        MOST_MASKED => u64::MAX,
        links => (1 << links) - 1,
    };
    let mut sets = Vec::new();
    extend(conflicts, 0, all, 0, most, &mut sets).then_some(sets)
}

/// Adds to `sets` all maximal sets that contain `chosen`, any of `open` and none of `closed`;
/// whether they are at most `most`.
fn extend(
    conflicts: &[u64],
    chosen: u64,
    mut open: u64,
    mut closed: u64,
    most: usize,
    sets: &mut Vec<u64>,
) -> bool {
    if open | closed == 0 {
        sets.push(chosen);
        return sets.len() <= most;
    }
    // Every maximal set has the pivot or a link that conflicts with it.
    let branches = bits(open | closed)
        .map(|pivot| open & (conflicts[pivot] | 1 << pivot))
        .min_by_key(|branches| branches.count_ones())
        .unwrap_or(open);
    for link in bits(branches) {
        let compatible = !(conflicts[link] | 1 << link);
        if !extend(
            conflicts,
            chosen | 1 << link,
            open & compatible,
            closed & compatible,
            most,
            sets,
        ) {
            return false;
        }
        open &= !(1 << link);
        closed |= 1 << link;
    }
    true
}

/// The bits of a word that are set, lowest first.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A–B, A–C, B–D, C–D.
    const DIAMOND: [(usize, usize); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];

    fn sets(conflicts: &Conflicts) -> Vec<u64> {
        let masks = conflicts.masks().unwrap();
        let mut sets = maximal_independent_sets(&masks, 1000).unwrap();
        sets.sort_unstable();
        sets
    }

    #[test]
    fn a_diamond_has_the_sets_of_its_interference() {
        assert_eq!(sets(&Conflicts::new(4, [])), [0b1111]);
        let primary = Conflicts::of_common_ends(&DIAMOND);
        assert_eq!(sets(&primary), [0b0110, 0b1001]);
        let domain = Conflicts::of_one_domain(4);
        assert_eq!(sets(&domain), [0b0001, 0b0010, 0b0100, 0b1000]);
        let pairs = Conflicts::new(4, [(0, 1), (1, 0), (2, 3)]);
        assert_eq!(sets(&pairs), [0b0101, 0b0110, 0b1001, 0b1010]);
    }

    #[test]
    fn enumeration_finds_the_sets_that_trying_all_subsets_finds() {
        let mut stream = backlane_engine::Streams::new(3).stream("test", "graphs");
        for _ in 0..50 {
            let links = 1 + stream.uniform_below(10) as usize;
            let mut conflicts = vec![0u64; links];
            for a in 0..links {
                for b in 0..a {
                    if stream.bernoulli(0.4) {
                        conflicts[a] |= 1 << b;
                        conflicts[b] |= 1 << a;
                    }
                }
            }
            let free = |set: u64| bits(set).all(|link| conflicts[link] & set == 0);
            let maximal = |set: u64| {
                (0..links).all(|link| set >> link & 1 == 1 || conflicts[link] & set != 0)
            };
            let mut found = maximal_independent_sets(&conflicts, 2000).unwrap();
            found.sort_unstable();
            let expected: Vec<u64> = (0..1 << links)
                .filter(|&set| free(set) && maximal(set))
                .collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn enumeration_stops_where_there_are_too_many() {
        // Thirty pairs that exclude each other have 2³⁰ maximal sets.
        let conflicts: Vec<u64> = (0..60).map(|link| 1 << (link ^ 1)).collect();
        assert_eq!(maximal_independent_sets(&conflicts, 100), None);
    }
}
