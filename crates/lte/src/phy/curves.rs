//! When a code block is lost: centre and width of the turbo code's waterfall over information.
//!
//! The block error rate of one code block is Q((I − *b*)/*c*) with *b* and *c* fitted to a link
//! simulation for 9 block sizes and up to 13 (QPSK), 12 (16QAM) and 17 (64QAM) code rates. For first
//! transmissions above rate 0.37 *b* depends on size and rate and not on the modulation, so the
//! rows of one modulation go on with those of the next where they end, and 256QAM has the rows of
//! 64QAM, which ten simulated points of it confirm within 0.1 dB.

use std::sync::LazyLock;

use super::tables::{Modulation, rows};

/// Information at which half of the code blocks are lost, and the width of the waterfall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waterfall {
    /// *b*, information per coded bit.
    pub centre: f64,
    /// *c*, information per coded bit.
    pub width: f64,
}

impl Waterfall {
    /// The curve of code blocks of `size` bits sent at `code_rate`. Sizes and rates beyond the
    /// simulated ones (40 to 6144 bits, 0.05 to 0.93) keep the last distance between *b* and the
    /// rate.
    pub fn of(modulation: Modulation, size: u32, code_rate: f64) -> Self {
        static CURVES: LazyLock<Curves> = LazyLock::new(Curves::read);
        CURVES.at(modulation, size, code_rate)
    }

    /// Probability that `blocks` code blocks are not all decoded.
    pub fn error(self, information: f64, blocks: u32) -> f64 {
        let distance = (information - self.centre) / self.width;
        // Beyond these one block in 10^9 differs.
        if distance > 6.0 {
            return 0.0;
        }
        if distance < -6.0 {
            return 1.0;
        }
        let lost = 0.5 * libm::erfc(distance * core::f64::consts::FRAC_1_SQRT_2);
        let mut kept = 1.0;
        for _ in 0..blocks {
            kept *= 1.0 - lost;
        }
        1.0 - kept
    }

    /// The information at which the error is that of `distance` widths above the centre; see
    /// [`distance_for`].
    pub fn information_at(self, distance: f64) -> f64 {
        self.centre + distance * self.width
    }
}

/// How many widths above the centre `blocks` code blocks are not all decoded with probability
/// `target`, within (0, 1).
pub fn distance_for(target: f64, blocks: u32) -> f64 {
    let unit = Waterfall {
        centre: 0.0,
        width: 1.0,
    };
    let (mut lost, mut kept) = (-6.0, 6.0);
    // 12 / 2^40: far below what the curves know.
    for _ in 0..40 {
        let middle = 0.5 * (lost + kept);
        if unit.error(middle, blocks) > target {
            lost = middle;
        } else {
            kept = middle;
        }
    }
    kept
}

/// One fitted point: code rate, *b* − rate, ln *c*.
type Point = [f64; 3];

struct Curves {
    log2_sizes: Vec<f64>,
    /// By modulation and size: points in ascending code rate.
    points: [Vec<Vec<Point>>; 3],
}

impl Curves {
    fn read() -> Self {
        let fits: Vec<Vec<f64>> = rows(include_str!("../../data/block_error_fits.csv"))
            .filter(|row| row[4] == 1.0)
            .collect();
        let mut sizes: Vec<f64> = fits.iter().map(|row| row[0]).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let of = |modulation: Modulation, size: f64| {
            let mut points: Vec<Point> = Vec::new();
            for modulation in Modulation::ALL.into_iter().filter(|m| *m >= modulation) {
                let bits = f64::from(modulation.bits());
                let beyond = points.last().map_or(0.0, |last| last[0]);
                let mut next: Vec<Point> = fits
                    .iter()
                    .filter(|row| row[0] == size && row[1] == bits)
                    // The code rate is K / E; the column beside it is rounded.
                    .map(|row| [row[0] / row[2], row[7], row[8]])
                    .map(|[rate, b, c]| [rate, b - rate, libm::log(c)])
                    .filter(|point| point[0] > beyond)
                    .collect();
                next.sort_by(|a, b| a[0].total_cmp(&b[0]));
                points.extend(next);
            }
            points
        };
        let of = |modulation| sizes.iter().map(|&size| of(modulation, size)).collect();
        Self {
            points: [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64].map(of),
            log2_sizes: sizes.iter().map(|&size| libm::log2(size)).collect(),
        }
    }

    fn at(&self, modulation: Modulation, size: u32, code_rate: f64) -> Waterfall {
        let by_size = &self.points[modulation.index().min(2)];
        let (size, part) = place(
            self.log2_sizes.len(),
            |at| self.log2_sizes[at],
            libm::log2(f64::from(size.max(1))),
        );
        let [small, large] = [size, size + 1].map(|size| {
            let points = &by_size[size];
            let (at, part) = place(points.len(), |at| points[at][0], code_rate);
            [1, 2]
                .map(|value| points[at][value] + part * (points[at + 1][value] - points[at][value]))
        });
        let value = |at: usize| small[at] + part * (large[at] - small[at]);
        Waterfall {
            centre: code_rate + value(0),
            width: libm::exp(value(1)),
        }
    }
}

/// The cell of ascending points in which `wanted` lies, and how far into it; an end if outside.
fn place(count: usize, point: impl Fn(usize) -> f64, wanted: f64) -> (usize, f64) {
    let cell = (1..count - 1).take_while(|&at| point(at) <= wanted).count();
    let part = (wanted - point(cell)) / (point(cell + 1) - point(cell));
    (cell, part.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::mutual_information::MutualInformation;
    use std::collections::BTreeMap;

    /// Points of the link simulation, by (size, bits a symbol, coded bits): SNR, blocks, errors.
    fn simulated() -> BTreeMap<[u32; 3], Vec<[f64; 3]>> {
        let text = include_str!("../../data/block_error_points.csv");
        let mut points: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in rows(text).filter(|row| row[3] == 1.0) {
            let key = [row[0] as u32, row[1] as u32, row[2] as u32];
            points
                .entry(key)
                .or_default()
                .push([row[5], row[6], row[7]]);
        }
        points
    }

    /// Where the logarithm of the simulated error rate crosses 10 %, in decibels.
    fn crossing(points: &[[f64; 3]]) -> Option<f64> {
        let target = libm::log(0.1);
        let rates: Vec<_> = points
            .iter()
            .map(|[snr, blocks, errors]| (*snr, libm::log((errors + 0.5) / (blocks + 1.0))))
            .collect();
        rates.windows(2).find_map(|pair| {
            let [(s0, e0), (s1, e1)] = [pair[0], pair[1]];
            (e0 >= target && target > e1).then(|| s0 + (s1 - s0) * (e0 - target) / (e0 - e1))
        })
    }

    #[test]
    fn ten_percent_are_lost_where_the_link_simulation_lost_them() {
        let curves = MutualInformation::curves();
        let (mut compared, mut sum) = (0, 0.0);
        for ([size, bits, coded_bits], mut points) in simulated() {
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
            let Some(expected) = crossing(&points) else {
                continue;
            };
            let modulation = Modulation::ALL[bits as usize / 2 - 1];
            let rate = f64::from(size) / f64::from(coded_bits);
            let curve = Waterfall::of(modulation, size, rate);
            let information = curve.information_at(distance_for(0.1, 1));
            let sinr = curves.sinr(modulation, information as f32);
            let difference = (10.0 * libm::log10(f64::from(sinr)) - expected).abs();
            // A waterfall of a few bits at a high rate is not Gaussian.
            let most = match (size, bits) {
                (_, 8) => 0.1,
                (256.., _) => 0.2,
                _ => 0.7,
            };
            assert!(difference < most, "{size} {bits} {rate}: {difference} dB");
            compared += 1;
            sum += difference;
        }
        assert_eq!(compared, 377);
        assert!(sum / f64::from(compared) < 0.04);
    }

    #[test]
    fn several_blocks_are_lost_when_one_is() {
        let curve = Waterfall {
            centre: 0.5,
            width: 0.01,
        };
        assert!((curve.error(0.5, 1) - 0.5).abs() < 1e-12);
        assert!((curve.error(0.5, 3) - 0.875).abs() < 1e-12);
        // Q(1.2816) = 0.1.
        assert!((curve.error(0.512_816, 1) - 0.1).abs() < 1e-5);
        for blocks in [1, 13] {
            let information = curve.information_at(distance_for(0.1, blocks));
            assert!((curve.error(information, blocks) - 0.1).abs() < 1e-9);
        }
    }

    #[test]
    fn a_higher_rate_needs_more_information_and_a_longer_block_has_a_steeper_curve() {
        for modulation in Modulation::ALL {
            for size in [40, 104, 300, 1024, 3000, 6144] {
                let mut last = 0.0;
                for rate in 10..=99 {
                    let here = Waterfall::of(modulation, size, f64::from(rate) / 100.0).centre;
                    assert!(here > last, "{modulation:?} {size} {rate}");
                    last = here;
                }
            }
            for rate in [0.2, 0.5, 0.8] {
                let widths =
                    [104, 512, 2560, 6144].map(|k| Waterfall::of(modulation, k, rate).width);
                assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
            }
        }
    }
}
