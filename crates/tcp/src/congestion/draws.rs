//! The random numbers of a congestion control.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers of its own for each connection.
#[derive(Clone, Debug)]
pub(crate) struct Draws(Xoshiro256PlusPlus);

impl Draws {
    pub(crate) fn new(random_seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(random_seed))
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform among 0, 1, …, `n` − 1, as Linux's `get_random_u32_below` up to a bias of 2⁻³².
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.0.next_u64() as u32) * u64::from(n)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_numbers_and_another_seed_others() {
        let draw = |seed| {
            let mut draws = Draws::new(seed);
            [draws.uniform(), draws.uniform(), draws.uniform()]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn draws_below_seven_take_each_value_about_equally_often() {
        let mut draws = Draws::new(1);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[draws.below(7) as usize] += 1;
        }
        // Standard deviation 93.
        assert!(
            counts.iter().all(|count| count.abs_diff(10_000) < 400),
            "{counts:?}"
        );
    }
}
