//! Resource blocks of an uplink subframe.

/// Sizes that a UE can transform: products of twos, threes and fives (TS 36.211 §5.3.3).
const SIZES: [u16; 34] = [
    1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 27, 30, 32, 36, 40, 45, 48, 50, 54, 60,
    64, 72, 75, 80, 81, 90, 96, 100,
];

/// Which resource blocks of a subframe are free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    free: u128,
}

impl Room {
    /// All of them.
    pub(super) fn of(n_rb: u16) -> Self {
        Self {
            free: (1 << n_rb) - 1,
        }
    }

    pub(super) fn free(self) -> u16 {
        self.free.count_ones() as u16
    }

    pub(super) fn take(&mut self, first_prb: u16, n_prb: u16) {
        self.free &= !(((1 << n_prb) - 1) << first_prb);
    }

    /// The first run of `wanted` free resource blocks, or else the longest run: its begin and
    /// length.
    pub(super) fn run(self, wanted: u16) -> (u16, u16) {
        let mut best = (0, 0);
        let mut at = 0;
        let mut left = self.free;
        while left != 0 {
            let gap = left.trailing_zeros();
            left >>= gap;
            at += gap as u16;
            let length = left.trailing_ones() as u16;
            if length >= wanted {
                return (at, wanted);
            }
            if length > best.1 {
                best = (at, length);
            }
            left >>= length;
            at += length;
        }
        best
    }
}

/// The sizes from `least` to `most`, or the lowest above `least` if there are none.
pub(super) fn sizes(least: u16, most: u16) -> &'static [u16] {
    let first = SIZES.partition_point(|&size| size < least);
    let first = first.min(SIZES.len() - 1);
    let end = SIZES.partition_point(|&size| size <= most);
    &SIZES[first..end.max(first + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_around_what_is_taken() {
        let mut room = Room::of(100);
        assert_eq!(room.run(100), (0, 100));
        room.take(10, 20);
        assert_eq!(room.free(), 80);
        assert_eq!(room.run(10), (0, 10));
        assert_eq!(room.run(11), (30, 11));
        assert_eq!(room.run(90), (30, 70));
        room.take(0, 10);
        room.take(30, 70);
        assert_eq!(room.run(1), (0, 0));
    }

    #[test]
    fn sizes_have_no_prime_factor_above_five() {
        let smooth = |&n: &u16| {
            let mut left = n;
            for prime in [2, 3, 5] {
                while left.is_multiple_of(prime) {
                    left /= prime;
                }
            }
            left == 1
        };
        let expected: Vec<u16> = (1..=100).filter(smooth).collect();
        assert_eq!(SIZES.to_vec(), expected);
        assert_eq!(sizes(1, 7), [1, 2, 3, 4, 5, 6]);
        assert_eq!(sizes(7, 9), [8, 9]);
        assert_eq!(sizes(7, 7), [8]);
    }
}
