//! Encoding and decoding of one generation.
//!
//! A coded packet is a combination of the first `covered` originals. As the last of these always
//! has a coefficient other than zero, packets that each cover one original more form a
//! lower-triangular matrix that is never singular: with nothing lost, every packet is decoded
//! when it arrives, and no packet waits for a generation to fill.

use crate::gf256::{inverse, multiply_add, scale};

/// The most originals of a generation: as many as one byte counts.
pub const MAX_GENERATION: u8 = u8::MAX;

/// Fills `coefficients` with those of packet `number` of generation `generation`; both ends derive
/// the same ones from the flow's `key`. Each is uniform over the field, the last one over the
/// field without zero.
pub fn draw_coefficients(key: u64, generation: u32, number: u32, coefficients: &mut [u8]) {
    let (low, high) = (u64::from(number & 0xFFFF), u64::from(number >> 16));
    let mut state = key ^ (high << 48 | u64::from(generation) << 16 | low);
    let mut word = 0;
    for (index, coefficient) in coefficients.iter_mut().enumerate() {
        if index % 8 == 0 {
            word = split_mix(&mut state);
        }
        *coefficient = word as u8;
        word >>= 8;
    }
    if let Some(last) = coefficients.last_mut() {
        while *last == 0 {
            *last = split_mix(&mut state) as u8;
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Writes the combination of `originals`, each of `width` bytes, into `symbol`.
pub fn combine(originals: &[u8], width: usize, coefficients: &[u8], symbol: &mut Vec<u8>) {
    symbol.clear();
    symbol.resize(width, 0);
    if width > 0 {
        for (original, &coefficient) in originals.chunks_exact(width).zip(coefficients) {
            multiply_add(symbol, original, coefficient);
        }
    }
}

const NO_ROW: u16 = u16::MAX;

/// Decodes one generation, by Gauss-Jordan elimination as packets arrive.
///
/// Every packet is one equation: coefficients and the resulting bytes. With a width of zero the
/// decoder works on coefficients alone and reports which originals could be decoded. An original is
/// decoded as soon as the received equations determine it, even if others are missing.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    columns: usize,
    width: usize,
    /// The row that has its pivot in this column.
    row_of: Vec<u16>,
    /// The pivot of each row.
    pivots: Vec<u8>,
    /// Rows of `columns` coefficients and `width` bytes, with a 1 at the pivot, zeros beyond it
    /// and zeros in the columns of all other pivots.
    rows: Vec<u8>,
    /// The packet that is being worked in.
    work: Vec<u8>,
}

impl Decoder {
    /// A decoder of a generation of up to `columns` originals, each of `width` bytes.
    pub fn new(columns: u8, width: usize) -> Self {
        let mut decoder = Self::default();
        decoder.reset(columns, width);
        decoder
    }

    /// Forgets everything and keeps the memory: a new generation.
    pub fn reset(&mut self, columns: u8, width: usize) {
        self.columns = usize::from(columns);
        self.width = width;
        self.row_of.clear();
        self.row_of.resize(self.columns, NO_ROW);
        self.pivots.clear();
        self.rows.clear();
    }

    /// Independent packets that came: the originals that they will give when as many are mixed.
    pub fn rank(&self) -> u8 {
        self.pivots.len() as u8
    }

    /// Adds a packet that covers the first `coefficients.len()` originals. Returns whether it was
    /// innovative: linearly independent of those before it.
    ///
    /// # Panics
    /// If it covers more originals than there are columns, or its symbol has not the width.
    pub fn add(&mut self, coefficients: &[u8], symbol: &[u8]) -> bool {
        assert_eq!(symbol.len(), self.width, "a symbol has the width of all");
        let stride = self.columns + self.width;
        self.work.clear();
        self.work.resize(stride, 0);
        self.work[..coefficients.len()].copy_from_slice(coefficients);
        self.work[self.columns..].copy_from_slice(symbol);
        let mut pivot = None;
        for column in (0..coefficients.len()).rev() {
            let factor = self.work[column];
            if factor == 0 {
                continue;
            }
            let row = self.row_of[column];
            if row == NO_ROW {
                pivot = pivot.or(Some(column));
            } else {
                // This changes columns before this one alone, and of those no other pivot's.
                let at = usize::from(row) * stride;
                multiply_add(&mut self.work, &self.rows[at..at + stride], factor);
            }
        }
        let Some(pivot) = pivot else {
            return false;
        };
        let factor = inverse(self.work[pivot]);
        scale(&mut self.work, factor);
        for row in self.rows.chunks_exact_mut(stride) {
            let factor = row[pivot];
            multiply_add(row, &self.work, factor);
        }
        self.row_of[pivot] = self.pivots.len() as u16;
        self.pivots.push(pivot as u8);
        self.rows.extend_from_slice(&self.work);
        true
    }

    /// The bytes of an original, as soon as they are known.
    pub fn decoded(&self, index: u8) -> Option<&[u8]> {
        let column = usize::from(index);
        let row = *self.row_of.get(column)?;
        if row == NO_ROW {
            return None;
        }
        let at = usize::from(row) * (self.columns + self.width);
        let row = &self.rows[at..at + self.columns + self.width];
        let (coefficients, symbol) = row.split_at(self.columns);
        let alone = coefficients
            .iter()
            .enumerate()
            .all(|(other, &c)| c == 0 || other == column);
        alone.then_some(symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: u64 = 0x0123_4567_89AB_CDEF;

    fn originals(size: u8, width: usize) -> Vec<u8> {
        let mut bytes = vec![0; usize::from(size) * width];
        let mut state = 7;
        for byte in &mut bytes {
            *byte = split_mix(&mut state) as u8;
        }
        bytes
    }

    /// Packet `number`, which covers `covered` originals.
    fn packet(originals: &[u8], width: usize, number: u32, covered: u8) -> (Vec<u8>, Vec<u8>) {
        let mut coefficients = vec![0; usize::from(covered)];
        draw_coefficients(KEY, 3, number, &mut coefficients);
        let mut symbol = Vec::new();
        combine(originals, width, &coefficients, &mut symbol);
        (coefficients, symbol)
    }

    #[test]
    fn without_loss_every_packet_is_decoded_when_it_arrives() {
        let (size, width) = (255, 20);
        let originals = originals(size, width);
        let mut decoder = Decoder::new(size, width);
        for index in 0..size {
            assert_eq!(decoder.decoded(index), None);
            let (coefficients, symbol) = packet(&originals, width, index.into(), index + 1);
            assert!(decoder.add(&coefficients, &symbol));
            let at = usize::from(index) * width;
            assert_eq!(decoder.decoded(index), Some(&originals[at..at + width]));
        }
        assert_eq!(decoder.rank(), size);
    }

    /// A lower-triangular matrix with a diagonal of non-zeros is not singular.
    #[test]
    fn packets_that_each_cover_one_more_are_innovative_in_any_order() {
        let mut decoder = Decoder::new(64, 0);
        for index in (0..64).rev() {
            let (coefficients, symbol) = packet(&[], 0, index.into(), index + 1);
            assert!(decoder.add(&coefficients, &symbol));
        }
        assert!((0..64).all(|index| decoder.decoded(index).is_some()));
    }

    #[test]
    fn a_packet_that_came_before_is_not_innovative() {
        let originals = originals(4, 8);
        let mut decoder = Decoder::new(4, 8);
        let (coefficients, symbol) = packet(&originals, 8, 0, 4);
        assert!(decoder.add(&coefficients, &symbol));
        assert!(!decoder.add(&coefficients, &symbol));
        assert_eq!(decoder.rank(), 1);
    }

    /// A combination of which the last coefficient is not zero lies in a given hyperplane with
    /// probability at most 1/256, so that of 2000 at most 7.8 are expected not to innovate and
    /// more than 24 come with probability below 10⁻⁵.
    #[test]
    fn one_more_combination_is_nearly_always_innovative() {
        let mut wasted = 0;
        for generation in 0..2000 {
            let mut decoder = Decoder::new(20, 0);
            let mut coefficients = [0; 20];
            for number in 0..19u32 {
                let covered = number as usize + 1 + usize::from(number >= 7);
                draw_coefficients(KEY, generation, number, &mut coefficients[..covered]);
                decoder.add(&coefficients[..covered], &[]);
            }
            draw_coefficients(KEY, generation, 100, &mut coefficients);
            wasted += u32::from(!decoder.add(&coefficients, &[]));
        }
        assert!((1..=24).contains(&wasted), "{wasted} of 2000");
    }

    #[test]
    fn coefficients_are_uniform_and_the_last_is_never_zero() {
        let mut counts = [0u32; 256];
        let mut coefficients = [0; 16];
        for number in 0..16_000 {
            draw_coefficients(KEY, 1, number, &mut coefficients);
            assert_ne!(coefficients[15], 0);
            for &c in &coefficients[..15] {
                counts[usize::from(c)] += 1;
            }
        }
        // 937.5 of each, standard deviation 30.6.
        assert!(
            counts.iter().all(|&n| (780..1100).contains(&n)),
            "{counts:?}"
        );
    }

    proptest! {
        /// Any subset of the first packets in any order, then combinations of all until the rank
        /// is full: what comes out is what went in, and nothing was ever decoded wrongly.
        #[test]
        fn whatever_is_lost_or_late_the_originals_come_out(
            size in 1u8..=40,
            width in 0usize..40,
            order in prop::collection::vec(any::<u8>(), 0..60),
            seed in 0u32..1000,
        ) {
            let originals = originals(size, width);
            let mut decoder = Decoder::new(size, width);
            let arrivals = order.iter().map(|&o| (u32::from(o % size), o % size + 1));
            let repairs = (0..400).map(|n| (1000 + seed + n, size));
            for (number, covered) in arrivals.chain(repairs) {
                let before = decoder.rank();
                let (coefficients, symbol) = packet(&originals, width, number, covered);
                let innovative = decoder.add(&coefficients, &symbol);
                prop_assert_eq!(decoder.rank(), before + u8::from(innovative));
                for index in 0..size {
                    if let Some(bytes) = decoder.decoded(index) {
                        let at = usize::from(index) * width;
                        prop_assert_eq!(bytes, &originals[at..at + width]);
                    }
                }
            }
            prop_assert_eq!(decoder.rank(), size);
            prop_assert!((0..size).all(|index| decoder.decoded(index).is_some()));
        }
    }
}
