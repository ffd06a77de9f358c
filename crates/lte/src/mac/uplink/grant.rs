//! Resource blocks of an uplink subframe.

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
}

/// The first run of `wanted` free resource blocks, or else the longest run: its begin and length.
pub(super) fn runs(room: &Room, wanted: u16) -> (u16, u16) {
    let mut best = (0, 0);
    let mut at = 0;
    let mut left = room.free;
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

/// The largest number of resource blocks, up to `most`, that a UE can transform: a product of
/// twos, threes and fives (TS 36.211 §5.3.3). One at least.
pub(super) fn dft_size(most: u16) -> u16 {
    let smooth = |mut n: u16| {
        for prime in [2, 3, 5] {
            while n.is_multiple_of(prime) {
                n /= prime;
            }
        }
        n == 1
    };
    (2..=most).rev().find(|&n| smooth(n)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_around_what_is_taken() {
        let mut room = Room::of(100);
        assert_eq!(runs(&room, 100), (0, 100));
        room.take(10, 20);
        assert_eq!(room.free(), 80);
        assert_eq!(runs(&room, 10), (0, 10));
        assert_eq!(runs(&room, 11), (30, 11));
        assert_eq!(runs(&room, 90), (30, 70));
        room.take(0, 10);
        room.take(30, 70);
        assert_eq!(runs(&room, 1), (0, 0));
    }

    /// 2ᵃ·3ᵇ·5ᶜ up to 100, listed by hand.
    #[test]
    fn sizes_have_no_prime_factor_above_five() {
        let sizes: Vec<u16> = (1..=100).filter(|&n| dft_size(n) == n).collect();
        let expected = [
            1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 27, 30, 32, 36, 40, 45, 48, 50,
            54, 60, 64, 72, 75, 80, 81, 90, 96, 100,
        ];
        assert_eq!(sizes, expected);
        assert_eq!([dft_size(7), dft_size(99), dft_size(110)], [6, 96, 108]);
    }
}
