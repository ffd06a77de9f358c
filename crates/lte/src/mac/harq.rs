//! Hybrid ARQ: transport blocks under way, and the record of what was sent when.

use crate::phy::error_model::SoftBits;
use crate::rlc::Pdu;

/// Stop-and-wait processes of a UE, in each direction and on each carrier (TS 36.213 §7, §8).
pub(crate) const PROCESSES: usize = 8;
const _: () = assert!(
    PROCESSES == u8::BITS as usize,
    "sets of processes are bytes"
);
/// Codewords of a downlink process (TS 36.211 §6.3).
pub(crate) const CODEWORDS: usize = 2;

/// A transport block under way.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) state: BlockState,
    pub(crate) pdus: Vec<Pdu>,
    pub(crate) rlc_bytes: u32,
    pub(crate) bytes: u32,
    pub(crate) mcs: u8,
    /// Resource blocks and control symbols of the first transmission: with the MCS, what the
    /// block is.
    pub(crate) n_prb: u16,
    pub(crate) symbols: u8,
    pub(crate) transmissions: u8,
    pub(crate) soft: SoftBits,
}

/// Where a transport block is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BlockState {
    /// There is none.
    #[default]
    Empty,
    /// Sent, and not yet judged.
    OnAir,
    /// The receiver has it.
    Decoded,
    /// The receiver has not.
    Failed,
    /// It waits for its next transmission.
    Due,
}

/// A downlink process: one transport block for each codeword.
#[derive(Debug)]
pub(crate) struct Process {
    /// The TTI of its last transmission.
    pub(crate) air: u64,
    /// Its groups in that transmission.
    pub(crate) groups: u32,
    pub(crate) n_prb: u16,
    pub(crate) symbols: u8,
    pub(crate) blocks: [Block; CODEWORDS],
}

impl Default for Process {
    fn default() -> Self {
        Self {
            air: u64::MAX,
            groups: 0,
            n_prb: 0,
            symbols: 1,
            blocks: Default::default(),
        }
    }
}

impl Block {
    /// Forgets the block; its memory stays.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.state = BlockState::Empty;
        self.pdus.clear();
        self.transmissions = 0;
        self.soft = SoftBits::default();
    }
}

/// Lists of something, one for each of the last and next TTIs.
#[derive(Debug)]
pub(crate) struct Calendar<T> {
    days: Vec<(u64, Vec<T>)>,
}

impl<T: Copy> Calendar<T> {
    /// With room for this many TTIs, past and future together.
    pub(crate) fn new(ttis: u32) -> Self {
        let n = ttis.next_power_of_two() as usize;
        Self {
            days: (0..n).map(|_| (u64::MAX, Vec::new())).collect(),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, tti: u64, item: T) {
        let at = tti as usize & (self.days.len() - 1);
        let (day, items) = &mut self.days[at];
        if *day != tti {
            *day = tti;
            items.clear();
        }
        items.push(item);
    }

    /// How many there are for a TTI.
    #[inline]
    pub(crate) fn len(&self, tti: u64) -> usize {
        let (day, items) = &self.days[tti as usize & (self.days.len() - 1)];
        if *day == tti { items.len() } else { 0 }
    }

    /// One of a TTI's.
    #[inline]
    pub(crate) fn get(&self, tti: u64, index: usize) -> T {
        self.days[tti as usize & (self.days.len() - 1)].1[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_keeps_days_apart_and_forgets_old_ones() {
        let mut calendar = Calendar::new(5);
        calendar.push(3, 'a');
        calendar.push(4, 'b');
        calendar.push(3, 'c');
        assert_eq!(
            [calendar.len(3), calendar.len(4), calendar.len(5)],
            [2, 1, 0]
        );
        assert_eq!([calendar.get(3, 0), calendar.get(3, 1)], ['a', 'c']);
        assert_eq!(calendar.len(11), 0);
        calendar.push(11, 'd');
        assert_eq!([calendar.len(3), calendar.len(11)], [0, 1]);
    }
}
