//! Integer cube roots: exact, and as Linux computes CUBIC's K (`cubic_root` of `tcp_cubic.c`).

/// Linux's first guesses: 64 times the cube root of 8, 9, … 63, less 10, each adjusted by hand there
/// so that the step that follows errs least.
const GUESSES: [u8; 56] = [
    123, 129, 134, 138, 143, 147, 151, 156, // 8
    157, 161, 164, 168, 170, 173, 176, 179, // 16
    181, 185, 187, 190, 192, 194, 197, 199, // 24
    200, 202, 204, 206, 209, 211, 213, 215, // 32
    217, 219, 221, 222, 224, 225, 227, 229, // 40
    231, 232, 234, 236, 237, 239, 240, 242, // 48
    244, 245, 246, 248, 250, 251, 252, 254, // 56
];
/// The first number of which [`GUESSES`] has the root; a leading part of a number has three bits
/// more than it, at the most.
const GUESSES_FROM: u64 = 8;
const GUESS_OFFSET: u64 = 10;
/// Guesses are in 64ths.
const GUESS_SHIFT: u32 = 6;

/// The cube root as Linux has it from 64 on: a guess from the leading three to six bits, then one
/// step of Newton's method, `x ← (2x + cube/(x(x − 1)))/3`, with 341/1024 for the third. With the
/// usual C, CUBIC's cubes are above 2³¹; from there on it is at most 0.16 % off. Below 64, where CUBIC
/// has no cubes, it is the exact one.
pub(super) fn linux(cube: u64) -> u64 {
    let Some(bits) = cube.checked_ilog2().map(|log| log + 1).filter(|&b| b > 6) else {
        return exact(cube);
    };
    // A third of the bits, less one, as 84/256 of them: a leading part of 8 to 63 is left.
    let thirds = ((bits * 84) >> 8) - 1;
    let leading = cube >> (3 * thirds);
    let guess = u64::from(GUESSES[(leading - GUESSES_FROM) as usize]) + GUESS_OFFSET;
    let root = (guess << thirds) >> GUESS_SHIFT;
    let sum = 2 * root + cube / (root * (root - 1));
    (sum * 341) >> 10
}

/// The integer part of the cube root.
pub(super) fn exact(cube: u64) -> u64 {
    let mut root = libm::cbrt(cube as f64) as u64;
    while u128::from(root).pow(3) > u128::from(cube) {
        root -= 1;
    }
    while u128::from(root + 1).pow(3) <= u128::from(cube) {
        root += 1;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_roots_are_exact() {
        for root in [0, 1, 2, 9, 1000, 65_535, 2_000_000] {
            assert_eq!(exact(root * root * root), root);
        }
        assert_eq!(exact(26), 2);
    }

    /// CUBIC's cubes for a window this many packets below its peak, with C = 410/1024. The roots
    /// were computed from the published rule by another program; the exact ones are 1389, 4316,
    /// 6226, 6448, 6491 and 11 027.
    #[test]
    fn linux_s_root_errs_where_linux_s_does() {
        let of = |pkts: u64| linux(((1 << 40) / 410) * pkts);
        let roots = [1, 30, 90, 100, 102, 500].map(of);
        assert_eq!(roots, [1388, 4316, 6228, 6451, 6490, 11_027]);
    }

    #[test]
    fn linux_s_root_is_within_a_sixth_of_a_percent_for_cubic() {
        for pkts in 1..200_000 {
            let cube = ((1 << 40) / 410) * pkts;
            let error = linux(cube) as f64 / libm::cbrt(cube as f64) - 1.0;
            assert!(error.abs() < 0.0016, "{pkts}: {error}");
        }
    }

    /// The fewer bits, the coarser is the guess: seven have a root between 4 and 5.
    #[test]
    fn small_and_large_numbers_have_a_root() {
        assert_eq!([0, 7, 8, 63].map(linux), [0, 1, 2, 3]);
        for shift in 0..58 {
            for cube in [64 << shift, u64::MAX >> (57 - shift)] {
                let error = linux(cube) as f64 / libm::cbrt(cube as f64) - 1.0;
                assert!(error.abs() < 0.2, "{cube}: {error}");
            }
        }
    }
}
