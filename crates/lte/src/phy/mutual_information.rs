//! How much a coded bit tells after the channel, by modulation and SINR.
//!
//! Mutual information averages over resource blocks that fade differently where SINR does not: the
//! mean information of a block decides whether it is decoded (MIESM, "received bit information
//! rate"). The curves are those of bit-interleaved coded modulation with Gray labels on AWGN.

use std::sync::LazyLock;

use super::tables::{Modulation, rows};

/// Cells for each doubling of SINR: 0.1 dB.
const CELL_BITS: u32 = 5;
const LOWEST_OCTAVE: i32 = -20;
const HIGHEST_OCTAVE: i32 = 12;
const CELLS: usize = ((HIGHEST_OCTAVE - LOWEST_OCTAVE) as usize) << CELL_BITS;
/// Bits of a float's mantissa below the cell's number.
const FRACTION_BITS: u32 = 23 - CELL_BITS;
const FIRST_CELL: u32 = ((127 + LOWEST_OCTAVE) as u32) << CELL_BITS;

/// Information per coded bit over SINR, −60 to +36 dB; beyond, that of the end.
#[derive(Debug)]
pub struct MutualInformation {
    curves: [Curve; 4],
    /// The four of them side by side.
    cells: Box<[Cell]>,
}

/// Value at the lower edge and rise within a cell, for each modulation.
#[derive(Debug, Clone, Copy)]
struct Cell {
    value: [f32; 4],
    rise: [f32; 4],
}

/// Value at the lower edge and rise within each cell, of one modulation.
type Curve = Box<[[f32; 2]; CELLS]>;

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
                // Information of a weak signal is proportional to it.
                return table[0][column] * sinr / libm::pow(10.0, table[0][0] / 10.0);
            }
            let cell = (place as usize).min(table.len() - 2);
            let part = (place - cell as f64).min(1.0);
            table[cell][column] + part * (table[cell + 1][column] - table[cell][column])
        };
        let curve = |column: usize| -> Curve {
            let value = |cell| at(column, f64::from(edge(cell))) as f32;
            let cell = |cell| [value(cell), value(cell + 1) - value(cell)];
            Box::new(std::array::from_fn(cell))
        };
        let curves = [curve(1), curve(2), curve(3), curve(4)];
        let cell = |at: usize| Cell {
            value: std::array::from_fn(|modulation| curves[modulation][at][0]),
            rise: std::array::from_fn(|modulation| curves[modulation][at][1]),
        };
        Self {
            cells: (0..CELLS).map(cell).collect(),
            curves,
        }
    }

    /// Information per coded bit, 0 to 1, at a SINR that is a ratio and not decibels. As good as
    /// nothing for what is no number.
    #[inline]
    pub fn information(&self, modulation: Modulation, sinr: f32) -> f32 {
        Place::of(sinr).read(&self.curves[modulation.index()])
    }

    /// Mean information over resource blocks, or groups of equal size. Nothing of nothing.
    pub fn mean(&self, modulation: Modulation, sinr: &[f32]) -> f32 {
        let curve = &self.curves[modulation.index()];
        // Four sums, so that one addition does not wait for the other.
        let mut sums = [0.0f32; 4];
        let (fours, rest) = sinr.as_chunks::<4>();
        for four in fours {
            let places = four.map(Place::of);
            for lane in 0..4 {
                sums[lane] += places[lane].read(curve);
            }
        }
        for (sum, sinr) in sums.iter_mut().zip(rest) {
            *sum += Place::of(*sinr).read(curve);
        }
        sums.iter().sum::<f32>() / sinr.len().max(1) as f32
    }

    /// The sum of the information over resource blocks, for each modulation in the order of
    /// [`Modulation::ALL`].
    #[inline]
    pub fn sums(&self, sinr: &[f32]) -> [f32; 4] {
        let mut sums = [0.0f32; 4];
        for &sinr in sinr {
            let Place { cell, part } = Place::of(sinr);
            let cell = &self.cells[cell as usize];
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum += cell.value[lane] + part * cell.rise[lane];
            }
        }
        sums
    }

    /// The SINR, as a ratio, that gives this information; the lowest where the curve is flat, and
    /// within −60 to +36 dB.
    pub fn sinr(&self, modulation: Modulation, information: f32) -> f32 {
        let curve = &self.curves[modulation.index()];
        let above = curve.partition_point(|[value, _]| *value < information);
        if above == 0 {
            return edge(0);
        }
        let [low, rise] = curve[above - 1];
        let (from, to) = (edge(above - 1), edge(above));
        let part = if rise > 0.0 {
            ((information - low) / rise).min(1.0)
        } else {
            1.0
        };
        from + (to - from) * part
    }
}

/// Where on a curve a SINR is. A float's exponent and first mantissa bits are the number of the
/// cell, so that no logarithm is needed.
#[derive(Clone, Copy)]
struct Place {
    cell: u32,
    /// How far into the cell, 0 to 1.
    part: f32,
}

impl Place {
    #[inline]
    fn of(sinr: f32) -> Self {
        let lowest = f32::from_bits(FIRST_CELL << FRACTION_BITS);
        let highest = f32::from_bits(((FIRST_CELL + CELLS as u32) << FRACTION_BITS) - 1);
        // One instruction each, unlike `max` and `min`; what is no number becomes `lowest`.
        let above = if sinr > lowest { sinr } else { lowest };
        let within = if above < highest { above } else { highest };
        let bits = within.to_bits();
        Self {
            cell: (bits >> FRACTION_BITS) - FIRST_CELL,
            part: (bits & ((1 << FRACTION_BITS) - 1)) as i32 as f32 / (1 << FRACTION_BITS) as f32,
        }
    }

    #[inline]
    fn read(self, curve: &[[f32; 2]; CELLS]) -> f32 {
        let [value, rise] = curve[self.cell as usize % CELLS];
        value + self.part * rise
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

    /// Below −10 dB a bit tells SNR / (2 ln 2) bits per real dimension, regardless of the
    /// modulation: over all bits of the dimension m I → SNR / ln 2.
    #[test]
    fn a_weak_signal_tells_what_shannon_says() {
        let curves = MutualInformation::curves();
        for sinr in [1e-5, 1e-3, 0.01] {
            let qpsk = 2.0 * curves.information(Modulation::Qpsk, sinr);
            let shannon = libm::log2f(1.0 + sinr);
            assert!((qpsk / shannon - 1.0).abs() < 0.01, "{qpsk} {shannon}");
        }
        for nothing in [0.0, -1.0, f32::NAN] {
            assert!(curves.information(Modulation::Qpsk, nothing) < 1e-6);
        }
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
            assert_eq!(curves.sinr(modulation, 1.1), 4096.0);
            assert!(curves.sinr(modulation, -1.0) < 1e-6);
        }
    }

    #[test]
    fn sums_of_all_modulations_are_those_of_each() {
        let curves = MutualInformation::curves();
        let sinr = [1e-9, 0.3, 2.0, 17.0, 150.0, 4e4, f32::INFINITY];
        for (modulation, sum) in Modulation::ALL.into_iter().zip(curves.sums(&sinr)) {
            let alone: f32 = sinr
                .iter()
                .map(|s| curves.information(modulation, *s))
                .sum();
            assert!((sum - alone).abs() < 1e-6, "{modulation:?} {sum} {alone}");
        }
        assert_eq!(curves.sums(&[]), [0.0; 4]);
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
