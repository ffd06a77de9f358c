//! Draws of networks and flows.

use backlane_units::Length;

use crate::tree::Table;

/// SplitMix64 (Steele, Lea and Flood 2014): enough for positions, and the same everywhere.
pub(crate) struct SplitMix(u64);

impl SplitMix {
    /// The draws of a generator, by its `placement_seed` or else by the seed of the run.
    pub(super) fn of(topology: &Table, seed: u64) -> Option<Self> {
        if is_drawn(topology) {
            return Some(Self(seed));
        }
        topology.integer("placement_seed").map(Self)
    }

    /// The draws of one of the flow groups of a run.
    pub(crate) fn of_flows(group: usize, seed: u64) -> Self {
        // Apart from those of the network, and of each other.
        let mut apart = Self(!seed);
        apart.0 = apart.next() ^ group as u64;
        Self(apart.next())
    }

    /// Some of these, none twice, in the order in which they are drawn.
    pub(crate) fn some<T>(&mut self, mut of: Vec<T>, count: usize) -> Vec<T> {
        let count = count.min(of.len());
        for place in 0..count {
            let other = place + self.up_to((of.len() - place) as u128) as usize;
            of.swap(place, other);
        }
        of.truncate(count);
        of
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in ±`bound`, in whole micrometres.
    pub(super) fn displacement(&mut self, bound: Length) -> i64 {
        let width = 2 * bound.as_um() as u128 + 1;
        self.up_to(width) - bound.as_um()
    }

    /// Uniform from zero to `width`, in whole micrometres.
    pub(super) fn within(&mut self, width: Length) -> i64 {
        self.up_to(width.as_um() as u128)
    }

    /// Uniform from zero to below `count`.
    pub(super) fn below(&mut self, count: i64) -> i64 {
        self.up_to(count as u128)
    }

    fn up_to(&mut self, width: u128) -> i64 {
        ((u128::from(self.next()) * width) >> 64) as i64
    }
}

/// Whether each run draws the places of a topology.
pub(crate) fn is_drawn(topology: &Table) -> bool {
    topology.text("placement_seed") == Some("run")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 000 draws of 3 of 6: each is drawn 1 000 times, with a standard deviation of 22.
    #[test]
    fn some_are_drawn_without_repetition_and_each_equally_often() {
        let mut counts = [0_i32; 6];
        for seed in 0..2_000 {
            let mut some = SplitMix::of_flows(0, seed).some((0..6).collect(), 3);
            for one in &some {
                counts[*one] += 1;
            }
            some.sort_unstable();
            some.dedup();
            assert_eq!(some.len(), 3);
        }
        assert!(
            counts.iter().all(|count| (count - 1000).abs() < 100),
            "{counts:?}"
        );
    }

    #[test]
    fn flow_groups_of_a_run_draw_apart() {
        let draw = |group, seed| SplitMix::of_flows(group, seed).some((0..1000).collect(), 3);
        assert_eq!(draw(0, 1), draw(0, 1));
        assert_ne!(draw(0, 1), draw(1, 1));
        assert_ne!(draw(0, 1), draw(0, 2));
    }
}
