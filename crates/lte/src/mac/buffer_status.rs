//! What a buffer status report can say (TS 36.321 table 6.1.3.1-1): 64 levels.

use std::sync::LazyLock;

/// What the eNodeB takes a buffer of `bytes` for: the upper bound of its level. Beyond the last
/// bound, that bound.
pub(crate) fn reported(bytes: u64) -> u64 {
    static BOUNDS: LazyLock<Vec<u64>> = LazyLock::new(|| {
        let rows = include_str!("../../data/buffer_status.csv").lines().skip(1);
        let bounds = rows.filter_map(|row| row.split(',').nth(1)?.parse().ok());
        bounds.collect()
    });
    let level = BOUNDS.partition_point(|&bound| bound < bytes);
    BOUNDS[level.min(BOUNDS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_taken_for_the_upper_bound_of_its_level() {
        let levels = [0, 1, 10, 11, 1500, 9000, 150_000, 1_000_000].map(reported);
        assert_eq!(levels, [0, 10, 10, 12, 1552, 10_287, 150_000, 150_000]);
    }

    /// Level `k` from 1 to 62 ends at `10 · 15000^((k − 1)/61)` bytes, rounded up: 61 equal ratios
    /// from 10 to 150 000 bytes. Level 0 is an empty buffer, level 63 all beyond.
    #[test]
    fn all_levels_are_those_of_the_standard() {
        let rows: Vec<&str> = include_str!("../../data/buffer_status.csv")
            .lines()
            .skip(1)
            .collect();
        assert_eq!(rows.len(), 64);
        assert_eq!((rows[0], rows[63]), ("0,0", "63,>150000"));
        let mut below = 0;
        for level in 1..=62 {
            let exact = 10.0 * libm::pow(15_000.0, f64::from(level - 1) / 61.0);
            let bound = libm::ceil(exact - 1e-6) as u64;
            assert_eq!(rows[level as usize], format!("{level},{bound}"));
            assert_eq!(reported(below + 1), bound);
            assert_eq!(reported(bound), bound);
            below = bound;
        }
    }
}
