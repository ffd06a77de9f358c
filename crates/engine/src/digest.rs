//! One number for a sequence of words, and one for a set of events.

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

/// A running 64-bit digest of a multiset of events: two runs with the same digest executed the same
/// events at the same times. The order in which they are added does not matter, so that parts of a run
/// may be added apart and [merged](EventDigest::merge). It distinguishes runs and is not
/// cryptographic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventDigest(u64);

impl EventDigest {
    /// Adds an event by its time and its word.
    #[inline]
    pub fn add(&mut self, time_ps: u64, word: u64) {
        let product = u128::from(time_ps ^ K0) * u128::from(word ^ K1);
        let mixed = (product as u64 ^ (product >> 64) as u64) ^ time_ps.rotate_left(32) ^ word;
        // Mixed once more, so that no pattern of times cancels in the sum.
        let product = u128::from(mixed ^ K1) * u128::from(K0);
        self.0 = self.0.wrapping_add(product as u64 ^ (product >> 64) as u64);
    }

    /// Adds the events of another part of the run.
    pub fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// The digest so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, EventDigest};

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

    fn of_events(events: &[(u64, u64)]) -> u64 {
        let mut digest = EventDigest::default();
        for &(time_ps, word) in events {
            digest.add(time_ps, word);
        }
        digest.value()
    }

    #[test]
    fn a_set_of_events_has_one_digest_in_any_order_and_in_any_parts() {
        let all = of_events(&[(1, 7), (2, 7), (2, 9)]);
        assert_eq!(of_events(&[(2, 9), (1, 7), (2, 7)]), all);
        let mut parts = EventDigest::default();
        parts.add(2, 7);
        let mut other = EventDigest::default();
        other.add(2, 9);
        other.add(1, 7);
        parts.merge(other);
        assert_eq!(parts.value(), all);
    }

    #[test]
    fn times_words_and_numbers_of_events_all_matter() {
        let all = [
            of_events(&[]),
            of_events(&[(0, 0)]),
            of_events(&[(0, 0), (0, 0)]),
            of_events(&[(1, 2)]),
            of_events(&[(2, 1)]),
            of_events(&[(1, 1), (2, 2)]),
            of_events(&[(1, 2), (2, 1)]),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn a_million_regular_events_have_digests_of_their_own() {
        let mut seen = std::collections::BTreeSet::new();
        for time in 0..1000 {
            for word in 0..1000 {
                seen.insert(of_events(&[(time * 1_000_000, word << 32 | word)]));
            }
        }
        assert_eq!(seen.len(), 1_000_000);
    }

    const FIXED: u64 = 2_908_789_282_500_300_387;
}
