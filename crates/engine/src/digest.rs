//! One number for a run: two runs with the same digest executed the same events in the same order.

/// Odd constants from the fractional digits of π, as in wyhash-like folded multiplication.
const K0: u64 = 0x243f_6a88_85a3_08d3;
const K1: u64 = 0x1319_8a2e_0370_7345;

/// A running 64-bit digest. It distinguishes runs and is not cryptographic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(K0)
    }
}

impl Digest {
    /// Adds a word. Order matters.
    #[inline]
    pub fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(K1);
        self.0 = (product as u64 ^ (product >> 64) as u64)
            .wrapping_add(K0)
            .rotate_left(23);
    }

    /// The digest so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    fn of(words: &[u64]) -> u64 {
        let mut digest = Digest::default();
        for &word in words {
            digest.add(word);
        }
        digest.value()
    }

    #[test]
    fn order_number_and_value_of_words_all_matter() {
        let all = [
            of(&[]),
            of(&[0]),
            of(&[0, 0]),
            of(&[1, 2]),
            of(&[2, 1]),
            of(&[1, 3]),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn the_value_is_stable() {
        assert_eq!(of(&[1, 2, 3]), FIXED);
    }

    const FIXED: u64 = 2_908_789_282_500_300_387;
}
