//! Shadowing: a random landscape over the plane.
//!
//! A [`CorrelatedField`] is a sum of plane waves (Cai and Giannakis 2003, "A two-dimensional
//! channel simulation model for shadowing processes", IEEE Trans. Veh. Tech. 52(6)):
//!
//! v(r) = √(2/N) Σ cos(k_n · r + φ_n)
//!
//! It has mean 0, variance 1 and, if the wave vectors are drawn from the spectrum that belongs to
//! it, the autocorrelation exp(−|Δr|) of Gudmundson 1991 in every direction. In the plane that
//! spectrum has the radial density k (1 + k²)^(−3/2), whose distribution is inverted in closed
//! form: k = √(1/(1 − u)² − 1). Being a function of the place, it gives the same value whenever
//! and however often it is asked, regardless of the user's route, and neighbours share a shadow.

use core::f64::consts::TAU;

use backlane_engine::Stream;

use crate::turns::cos_sin;

/// Waves in a landscape. The fourth moment is 3 − 3/(2N) instead of a Gaussian's 3.
const WAVES: usize = 64;

/// A landscape of mean 0 and variance 1 whose autocorrelation is exp(−distance).
#[derive(Clone, Debug)]
pub(crate) struct CorrelatedField {
    waves: Box<[Wave; WAVES]>,
}

#[derive(Clone, Copy, Debug)]
struct Wave {
    /// Turns per unit of length, along x and y.
    x: f64,
    y: f64,
    /// In turns.
    phase: f64,
}

impl CorrelatedField {
    /// Draws a landscape.
    pub(crate) fn new(stream: &mut Stream) -> Self {
        let waves = core::array::from_fn(|index| {
            // One wave from each N-th of the spectrum, so that no landscape lacks the long ones.
            let u = (index as f64 + stream.uniform()) / WAVES as f64;
            let rest = 1.0 / (1.0 - u);
            let number = (rest * rest - 1.0).sqrt();
            let direction = TAU * stream.uniform();
            Wave {
                x: number / TAU * libm::cos(direction),
                y: number / TAU * libm::sin(direction),
                phase: stream.uniform(),
            }
        });
        Self {
            waves: Box::new(waves),
        }
    }

    /// Its height at a place given in correlation distances.
    pub(crate) fn at(&self, x: f64, y: f64) -> f64 {
        let heights = self
            .waves
            .each_ref()
            .map(|wave| cos_sin(wave.x * x + wave.y * y + wave.phase).0);
        f64::from(heights.iter().sum::<f32>()) * (2.0 / WAVES as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_engine::Streams;

    fn field(index: usize) -> CorrelatedField {
        let name = format!("enb{index}");
        CorrelatedField::new(&mut Streams::new(3).stream(&name, "shadowing"))
    }

    /// Over 20 000 landscapes, at five standard errors: of a correlation about 1/√20 000 each.
    #[test]
    fn places_are_as_alike_as_gudmundson_found() {
        let n = 20_000;
        let lags = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
        let mut products = [0.0; 6];
        let (mut sum, mut fourth) = (0.0, 0.0);
        for index in 0..n {
            let field = field(index);
            // A different direction for each landscape: the law is the same in all.
            let direction = TAU * index as f64 / n as f64;
            let here = field.at(2.0, -3.0);
            sum += here;
            fourth += here * here * here * here;
            for (product, lag) in products.iter_mut().zip(lags) {
                let there = field.at(
                    2.0 + lag * libm::cos(direction),
                    -3.0 + lag * libm::sin(direction),
                );
                *product += here * there;
            }
        }
        let error = 5.0 / (n as f64).sqrt();
        assert!((sum / n as f64).abs() < error);
        // A Gaussian's fourth moment has the standard error √96/√n.
        assert!((fourth / n as f64 - (3.0 - 1.5 / WAVES as f64)).abs() < error * 96f64.sqrt());
        for (product, lag) in products.iter().zip(lags) {
            let found = product / n as f64;
            // Var(xy) = 1 + ρ² of a Gaussian pair.
            let expected = libm::exp(-lag);
            let error = error * (1.0 + expected * expected).sqrt();
            assert!(
                (found - expected).abs() < error,
                "lag {lag}: {found}, not {expected}"
            );
        }
    }

    /// Kolmogorov's statistic passes 1.95/√n once in a thousand.
    #[test]
    fn heights_are_gaussian() {
        let n = 20_000;
        let mut heights: Vec<f64> = (0..n).map(|index| field(index).at(0.0, 0.0)).collect();
        heights.sort_by(f64::total_cmp);
        let farthest = heights
            .iter()
            .enumerate()
            .map(|(rank, &height)| {
                let below = 0.5 * libm::erfc(-height / core::f64::consts::SQRT_2);
                (below - (rank as f64 + 0.5) / n as f64).abs()
            })
            .fold(0.0, f64::max);
        assert!(farthest < 1.95 / (n as f64).sqrt(), "{farthest}");
    }

    #[test]
    fn a_landscape_is_the_same_however_often_it_is_asked() {
        let field = field(1);
        let first = field.at(1.0, 2.0);
        let _ = field.at(7.0, -1.0);
        assert_eq!(field.at(1.0, 2.0), first);
        assert_eq!(self::field(1).at(1.0, 2.0), first);
        assert_ne!(self::field(2).at(1.0, 2.0), first);
    }
}
