//! Draws for places that are the same in every run.

use backlane_units::Length;

/// SplitMix64 (Steele, Lea and Flood 2014): enough for positions, and the same everywhere.
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
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
        self.below(width) - bound.as_um()
    }

    /// Uniform from zero to `width`, in whole micrometres.
    pub(super) fn within(&mut self, width: Length) -> i64 {
        self.below(width.as_um() as u128)
    }

    fn below(&mut self, width: u128) -> i64 {
        ((u128::from(self.next()) * width) >> 64) as i64
    }
}
