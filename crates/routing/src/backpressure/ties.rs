//! Ties, broken at random.

use backlane_engine::Stream;

/// The smallest of some keys, and how many are equal to it.
#[inline]
pub(super) fn least<K: Copy + PartialOrd>(keys: impl Iterator<Item = K>) -> Option<(K, usize)> {
    keys.fold(None, |least, key| match least {
        Some((smallest, _)) if smallest < key => least,
        Some((smallest, count)) if smallest == key => Some((smallest, count + 1)),
        _ => Some((key, 1)),
    })
}

/// A number below `count`, without a draw if it is one.
#[inline]
pub(super) fn draw(ties: &mut Stream, count: usize) -> usize {
    match count {
        1 => 0,
        _ => ties.uniform_below(count as u64) as usize,
    }
}

/// One of the items with the smallest key.
#[inline]
pub(super) fn pick_least<T, K: Copy + PartialOrd>(
    ties: &mut Stream,
    items: impl Iterator<Item = T> + Clone,
    key: impl Fn(&T) -> K,
) -> Option<T> {
    let (smallest, count) = least(items.clone().map(|item| key(&item)))?;
    let place = draw(ties, count);
    items.filter(|item| key(item) == smallest).nth(place)
}

#[cfg(test)]
mod tests {
    use backlane_engine::Streams;

    use super::*;

    #[test]
    fn equal_keys_are_picked_equally_often() {
        let mut ties = Streams::new(1).stream("n0", "ties");
        let mut picked = [0; 5];
        for _ in 0..3000 {
            let keys = [3, 1, 2, 1, 1];
            let place = pick_least(&mut ties, 0..5, |&place| keys[place]);
            picked[place.expect("five items")] += 1;
        }
        assert_eq!((picked[0], picked[2]), (0, 0));
        // Binomial with n = 3000 and p = 1/3: σ = 26.
        for place in [1, 3, 4] {
            assert!((picked[place] - 1000_i32).abs() < 110, "{picked:?}");
        }
    }

    #[test]
    fn a_single_smallest_key_takes_no_draw() {
        let stream = || Streams::new(1).stream("n0", "ties");
        let mut ties = stream();
        assert_eq!(pick_least(&mut ties, 0..3, |&place| place), Some(0));
        assert_eq!(pick_least(&mut ties, 0..0, |&place| place), None);
        assert_eq!(ties.next_u64(), stream().next_u64());
    }
}
