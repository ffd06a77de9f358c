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

    /// Levels are about 17 % apart: from the eighth on each bound is 1.16 to 1.19 times the last.
    #[test]
    fn levels_rise_geometrically() {
        let mut bound = 26;
        while bound < 128_125 {
            let next = reported(bound + 1);
            let ratio = next as f64 / bound as f64;
            assert!((1.15..1.2).contains(&ratio), "{bound} {next}");
            bound = next;
        }
    }
}
