//! How much a coded bit tells after the channel, by modulation and SINR.
//!
//! Mutual information averages over resource blocks that fade differently where SINR does not: the
//! mean information of a block decides whether it is decoded (MIESM, "received bit information
//! rate"). The curves are those of bit-interleaved coded modulation with Gray labels on AWGN.

use std::sync::LazyLock;

use super::tables::{Modulation, rows};

/// Cells for each doubling of SINR: 0.1 dB.
const CELL_BITS: u32 = 5;
const LOWEST_OCTAVE: i32 = -7;
const HIGHEST_OCTAVE: i32 = 12;
const CELLS: usize = ((HIGHEST_OCTAVE - LOWEST_OCTAVE) as usize) << CELL_BITS;
/// Bits of a float's mantissa below the cell's number.
const FRACTION_BITS: u32 = 23 - CELL_BITS;
const FIRST_CELL: u32 = ((127 + LOWEST_OCTAVE) as u32) << CELL_BITS;
const LOWEST_SINR: f32 = 1.0 / (1 << -LOWEST_OCTAVE) as f32;
const HIGHEST_SINR: f32 = (1 << HIGHEST_OCTAVE) as f32;

/// Information per coded bit over SINR, −21 to +36 dB; proportional to SINR below, constant above.
#[derive(Debug)]
pub struct MutualInformation {
    /// Values at the edges of the cells, for each modulation.
    curves: [Vec<f32>; 4],
}

impl MutualInformation {
    /// The curves; one copy serves all.
    pub fn curves() -> &'static Self {
        static CURVES: LazyLock<MutualInformation> = LazyLock::new(MutualInformation::read);
        &CURVES
    }

    fn read() -> Self {
        let table: Vec<Vec<f64>> =
            rows(include_str!("../../data/mutual_information.csv")).collect();
        let at = |column: usize, sinr: f64| {
            let decibel = 10.0 * libm::log10(sinr);
            let step = table[1][0] - table[0][0];
            let place = (decibel - table[0][0]) / step;
            if place <= 0.0 {
                return table[0][column] * sinr / libm::pow(10.0, table[0][0] / 10.0);
            }
            let cell = (place as usize).min(table.len() - 2);
            let part = (place - cell as f64).min(1.0);
            table[cell][column] + part * (table[cell + 1][column] - table[cell][column])
        };
        let curve = |column: usize| {
            (0..=CELLS)
                .map(|cell| f64::from(edge(cell)))
                .map(|sinr| at(column, sinr) as f32)
                .collect()
        };
        Self {
            curves: [curve(1), curve(2), curve(3), curve(4)],
        }
    }

    /// Information per coded bit, 0 to 1, at a SINR that is a ratio and not decibels. Nothing for
    /// what is no number.
    #[inline]
    pub fn information(&self, modulation: Modulation, sinr: f32) -> f32 {
        let curve = &self.curves[modulation.index()];
        // A float's exponent and first mantissa bits are the number of the cell, so that no
        // logarithm is needed.
        if sinr >= HIGHEST_SINR {
            curve[CELLS]
        } else if sinr >= LOWEST_SINR {
            let bits = sinr.to_bits();
            let cell = ((bits >> FRACTION_BITS) - FIRST_CELL) as usize;
            let part = (bits & ((1 << FRACTION_BITS) - 1)) as f32 / (1 << FRACTION_BITS) as f32;
            curve[cell] + part * (curve[cell + 1] - curve[cell])
        } else {
            curve[0] * sinr.max(0.0) / LOWEST_SINR
        }
    }

    /// Mean information over resource blocks, or groups of equal size. Nothing of nothing.
    pub fn mean(&self, modulation: Modulation, sinr: &[f32]) -> f32 {
        let sum: f32 = sinr.iter().map(|&s| self.information(modulation, s)).sum();
        sum / sinr.len().max(1) as f32
    }

    /// The SINR, as a ratio, that gives this information; the lowest where the curve is flat, and
    /// at most 36 dB.
    pub fn sinr(&self, modulation: Modulation, information: f32) -> f32 {
        let curve = &self.curves[modulation.index()];
        let above = curve.partition_point(|&value| value < information);
        if above == 0 {
            return LOWEST_SINR * information.max(0.0) / curve[0];
        }
        if above > CELLS {
            return HIGHEST_SINR;
        }
        let (low, high) = (curve[above - 1], curve[above]);
        let (from, to) = (edge(above - 1), edge(above));
        from + (to - from) * (information - low) / (high - low)
    }
}

/// SINR at the lower edge of a cell.
fn edge(cell: usize) -> f32 {
    f32::from_bits((FIRST_CELL + cell as u32) << FRACTION_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_is_that_of_the_quadrature() {
        let curves = MutualInformation::curves();
        for row in rows(include_str!("../../data/mutual_information.csv")) {
            let sinr = libm::pow(10.0, row[0] / 10.0) as f32;
            for (modulation, expected) in Modulation::ALL.into_iter().zip(&row[1..]) {
                let got = f64::from(curves.information(modulation, sinr));
                assert!((got - expected).abs() < 2e-4, "{row:?} {got}");
            }
        }
    }

    /// Below −10 dB a bit tells SNR / (2 ln 2) bits per real dimension, whatever the modulation
    /// puts on it together: m I → SNR / ln 2.
    #[test]
    fn a_weak_signal_tells_what_shannon_says() {
        let curves = MutualInformation::curves();
        for sinr in [1e-5, 1e-3, 0.01] {
            let qpsk = 2.0 * curves.information(Modulation::Qpsk, sinr);
            let shannon = libm::log2f(1.0 + sinr);
            assert!((qpsk / shannon - 1.0).abs() < 0.01, "{qpsk} {shannon}");
        }
        assert_eq!(curves.information(Modulation::Qpsk, 0.0), 0.0);
        assert_eq!(curves.information(Modulation::Qpsk, -1.0), 0.0);
        assert_eq!(curves.information(Modulation::Qam64, f32::NAN), 0.0);
        assert_eq!(curves.information(Modulation::Qam64, f32::INFINITY), 1.0);
    }

    #[test]
    fn the_inverse_gives_the_signal_back() {
        let curves = MutualInformation::curves();
        for modulation in Modulation::ALL {
            for decibel in -30..=8 {
                let sinr = libm::powf(10.0, decibel as f32 / 10.0);
                let back = curves.sinr(modulation, curves.information(modulation, sinr));
                assert!((back / sinr - 1.0).abs() < 1e-3, "{modulation:?} {decibel}");
            }
            assert!(curves.sinr(modulation, 1.1) <= HIGHEST_SINR);
            assert_eq!(curves.sinr(modulation, -1.0), 0.0);
        }
    }

    #[test]
    fn more_signal_never_tells_less() {
        let curves = MutualInformation::curves();
        for modulation in Modulation::ALL {
            let mut last = 0.0;
            for step in 0..6000 {
                let sinr = libm::powf(10.0, (step as f32 / 100.0 - 25.0) / 10.0);
                let here = curves.information(modulation, sinr);
                assert!(here >= last - 1e-7);
                last = here;
            }
        }
    }
}
