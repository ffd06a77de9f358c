//! The next deadline of each radio.
//!
//! A radio has one deadline at a time. Deadlines are keys in an array with the minimum of each
//! block of eight beside it, which is recomputed where one of them has changed: with many stations
//! around one sender, most deadlines change between two events, and a heap would sort entries that
//! are never read. The next radio is unpredictable, so no branch depends on it.

use std::hint::select_unpredictable;

use backlane_units::SimTime;

const BLOCK: usize = 8;
const NEVER: u64 = u64::MAX;

/// The next deadline of each radio.
#[derive(Debug)]
pub(crate) struct Deadlines {
    keys: Keys,
}

/// Keys by number, and the minimum of them.
#[derive(Debug)]
pub(crate) struct Keys {
    blocks: Vec<Block>,
}

/// The keys of consecutive numbers.
#[derive(Clone, Debug)]
struct Block {
    keys: [u64; BLOCK],
    /// The minimum and the first index that has it, unless a key has changed since.
    least: u64,
    first: usize,
    changed: bool,
}

impl Block {
    #[inline]
    fn settle(&mut self) {
        let (mut least, mut first) = (self.keys[0], 0);
        for index in 1..BLOCK {
            let key = self.keys[index];
            first = select_unpredictable(key < least, index, first);
            least = least.min(key);
        }
        (self.least, self.first, self.changed) = (least, first, false);
    }
}

/// At one instant, frames end before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    FrameEnds = 0,
    Other = 1,
}

impl Keys {
    /// No number below `count` has a key.
    pub(crate) fn new(count: usize) -> Self {
        let block = Block {
            keys: [NEVER; BLOCK],
            least: NEVER,
            first: 0,
            changed: false,
        };
        Self {
            blocks: vec![block; count.div_ceil(BLOCK)],
        }
    }

    /// Sets the key of a number, in place of the one that it had.
    #[inline]
    pub(crate) fn set(&mut self, number: usize, key: u64) {
        let block = &mut self.blocks[number / BLOCK];
        block.keys[number % BLOCK] = key;
        block.changed = true;
    }

    /// Removes the key of a number.
    #[inline]
    pub(crate) fn clear(&mut self, number: usize) {
        self.set(number, NEVER);
    }

    /// The least key and the first number that has it.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<(u64, usize)> {
        let (mut best, mut first) = (NEVER, 0);
        for (place, block) in self.blocks.iter_mut().enumerate() {
            if block.changed {
                block.settle();
            }
            let its_first = place * BLOCK + block.first;
            first = select_unpredictable(block.least < best, its_first, first);
            best = best.min(block.least);
        }
        (best != NEVER).then_some((best, first))
    }
}

impl Deadlines {
    pub(crate) fn new(radios: usize) -> Self {
        Self {
            keys: Keys::new(radios),
        }
    }

    /// Sets the deadline of a radio, in place of the one that it had.
    #[inline]
    pub(crate) fn set(&mut self, radio: usize, at: SimTime, order: Priority) {
        self.keys.set(radio, at.as_ps() << 1 | order as u64);
    }

    /// Removes the deadline of a radio.
    #[inline]
    pub(crate) fn clear(&mut self, radio: usize) {
        self.keys.clear(radio);
    }

    /// The deadline of a radio; [`SimTime::MAX`] if it has none.
    #[inline]
    pub(crate) fn at(&self, radio: usize) -> SimTime {
        time_of(self.keys.blocks[radio / BLOCK].keys[radio % BLOCK])
    }

    /// The earliest deadline and the first radio that has it.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<(SimTime, usize)> {
        let (key, radio) = self.keys.first()?;
        Some((time_of(key), radio))
    }
}

fn time_of(key: u64) -> SimTime {
    if key == NEVER {
        SimTime::MAX
    } else {
        SimTime::from_ps(key >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn at_one_instant_a_frame_ends_before_another_begins() {
        let mut deadlines = Deadlines::new(20);
        let at = SimTime::from_ps(7);
        deadlines.set(3, at, Priority::Other);
        deadlines.set(18, at, Priority::FrameEnds);
        assert_eq!(deadlines.first(), Some((at, 18)));
        deadlines.clear(18);
        assert_eq!(deadlines.first(), Some((at, 3)));
        deadlines.clear(3);
        assert_eq!(deadlines.first(), None);
        assert_eq!(deadlines.at(3), SimTime::MAX);
    }

    proptest! {
        #[test]
        fn the_first_is_that_of_a_plain_list(
            actions in prop::collection::vec((0usize..40, 0u64..30, any::<bool>()), 1..200)
        ) {
            let mut deadlines = Deadlines::new(40);
            let mut plain = [None; 40];
            for (radio, time, set) in actions {
                if set {
                    deadlines.set(radio, SimTime::from_ps(time), Priority::Other);
                    plain[radio] = Some(time);
                } else {
                    deadlines.clear(radio);
                    plain[radio] = None;
                }
                let expected = plain
                    .iter()
                    .enumerate()
                    .filter_map(|(radio, time)| Some(((*time)?, radio)))
                    .min();
                let found = deadlines.first().map(|(time, radio)| (time.as_ps(), radio));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
