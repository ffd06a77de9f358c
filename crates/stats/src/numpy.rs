//! What numpy draws and sums, so that intervals are those of `scipy.stats.bootstrap`: the seed
//! sequence of its generators, PCG64, whole numbers below a bound, and its pairwise sum.

/// The generator of `numpy.random.default_rng(seed)`: PCG XSL RR 128/64 (O'Neill 2014), seeded
/// through a seed sequence.
pub(crate) struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of the last draw, not yet used.
    half: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl Pcg64 {
    pub(crate) fn new(seed: u64) -> Self {
        let [a, b, c, d] = seed_words(seed);
        let join = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let mut generator = Self {
            state: 0,
            increment: join(c, d) << 1 | 1,
            half: None,
        };
        generator.step();
        generator.state = generator.state.wrapping_add(join(a, b));
        generator.step();
        generator
    }

    fn step(&mut self) {
        self.state = self
            .state
            .wrapping_mul(MULTIPLIER)
            .wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let both = self.next_u64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// A whole number below `bound`, which is at least 1 (Lemire 2019).
    pub(crate) fn below(&mut self, bound: u32) -> usize {
        if bound == 1 {
            return 0;
        }
        loop {
            let product = u64::from(self.next_u32()) * u64::from(bound);
            let left = product as u32;
            if left >= bound || left >= bound.wrapping_neg() % bound {
                return (product >> 32) as usize;
            }
        }
    }
}

/// The state that `numpy.random.SeedSequence(seed)` generates for PCG64.
fn seed_words(seed: u64) -> [u64; 4] {
    const POOL: usize = 4;
    let mut constant = 0x43b0_d7e5_u32;
    let mut hash = |value: u32| {
        let mixed = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let mixed = mixed.wrapping_mul(constant);
        mixed ^ mixed >> 16
    };
    let entropy = [seed as u32, (seed >> 32) as u32, 0, 0];
    let mut pool = entropy.map(&mut hash);
    for source in 0..POOL {
        for target in 0..POOL {
            if source != target {
                let hashed = hash(pool[source]).wrapping_mul(0x4973_f715);
                let mixed = pool[target].wrapping_mul(0xca01_f9dd).wrapping_sub(hashed);
                pool[target] = mixed ^ mixed >> 16;
            }
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    let words: [u32; 8] = std::array::from_fn(|index| {
        let mixed = pool[index % POOL] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let mixed = mixed.wrapping_mul(constant);
        mixed ^ mixed >> 16
    });
    std::array::from_fn(|index| u64::from(words[2 * index + 1]) << 32 | u64::from(words[2 * index]))
}

/// numpy's sum of a contiguous array, to the bit.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let count = values.len();
    if count < 8 {
        // numpy begins with −0.
        return values.iter().fold(-0.0, |sum, value| sum + value);
    }
    if count > 128 {
        let half = count / 2 - count / 2 % 8;
        return sum(&values[..half]) + sum(&values[half..]);
    }
    let (blocks, rest) = values.split_at(count - count % 8);
    let mut lanes = [0.0; 8];
    lanes.copy_from_slice(&blocks[..8]);
    for block in blocks[8..].chunks_exact(8) {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += value;
        }
    }
    let pair = |index: usize| lanes[index] + lanes[index + 1];
    let whole = (pair(0) + pair(2)) + (pair(4) + pair(6));
    rest.iter().fold(whole, |sum, value| sum + value)
}

/// numpy's mean of a contiguous array.
pub(crate) fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.random.default_rng(20170601).integers(0, 10, 12)`, and `default_rng(2**64 - 1)` below 3.
    #[test]
    fn whole_numbers_are_those_of_numpy() {
        let mut generator = Pcg64::new(20_170_601);
        let tens: Vec<usize> = (0..12).map(|_| generator.below(10)).collect();
        assert_eq!(tens, TENS);
        let mut generator = Pcg64::new(u64::MAX);
        let threes: Vec<usize> = (0..12).map(|_| generator.below(3)).collect();
        assert_eq!(threes, THREES);
    }

    const TENS: [usize; 12] = [6, 7, 0, 8, 5, 0, 6, 9, 1, 7, 0, 3];
    const THREES: [usize; 12] = [1, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, 0];
}
