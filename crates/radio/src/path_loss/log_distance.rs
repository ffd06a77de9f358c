//! A power of the distance.
//!
//! L = L₀ + 10 n log₁₀(d/d₀), and L₀ below d₀. With n = 2 and L₀ of free space it is Friis.

use libm::log10;

use super::{Path, Range};

/// A loss that grows with a power of the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDistance {
    /// The exponent: 2 is free space, 3 to 4 a city.
    pub exponent: f64,
    /// The distance at which the loss is known, in metres.
    pub reference_m: f64,
    /// The loss there, in decibels.
    pub reference_loss_db: f64,
}

impl LogDistance {
    pub(super) const NAME: &str = "log-distance";

    pub(super) fn loss_db(self, path: &Path) -> f64 {
        let ratio = (path.distance_m / self.reference_m).max(1.0);
        self.reference_loss_db + 10.0 * self.exponent * log10(ratio)
    }

    pub(super) fn validity(self, path: &Path) -> Vec<Range> {
        let (distance, least) = (path.distance_m, self.reference_m);
        vec![Range::new("distance", "m", distance, least, f64::INFINITY)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PathLoss, Sight};
    use super::*;
    use crate::position::Position;

    #[test]
    fn each_tenfold_distance_adds_ten_times_the_exponent() {
        let law = PathLoss::LogDistance(LogDistance {
            exponent: 3.5,
            reference_m: 10.0,
            reference_loss_db: 60.0,
        });
        let at = |x_m| Position::new(x_m, 0.0, 0.0);
        let loss = |x_m| law.loss_db(at(0.0), at(x_m), Sight::Blocked);
        for (metres, expected) in [(10.0, 60.0), (100.0, 95.0), (1000.0, 130.0), (5.0, 60.0)] {
            assert!((loss(metres) - expected).abs() < 1e-9, "{metres} m");
        }
        assert_eq!(
            law.outside_validity(at(0.0), at(5.0)).unwrap(),
            "log-distance is extrapolated beyond the range in which it holds: distance 5 m (at \
             least 10 m)"
        );
    }
}
