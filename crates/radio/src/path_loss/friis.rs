//! Free space: L = 20 log₁₀(4πd/λ) (Friis 1946).

use core::f64::consts::PI;

use backlane_units::Frequency;
use libm::log10;

use super::{Path, Range};
use crate::level::wavelength_m;

/// Free space between isotropic antennas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friis {
    /// The carrier.
    pub frequency: Frequency,
}

impl Friis {
    pub(super) const NAME: &str = "Friis";

    pub(super) fn loss_db(self, path: &Path) -> f64 {
        20.0 * log10(4.0 * PI * path.distance_m / wavelength_m(self.frequency))
    }

    pub(super) fn validity(self, path: &Path) -> Vec<Range> {
        // The near field of a small antenna ends within a wavelength.
        let least = wavelength_m(self.frequency);
        vec![Range::new(
            "distance",
            "m",
            path.distance_m,
            least,
            f64::INFINITY,
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PathLoss, Sight};
    use super::*;
    use crate::position::Position;

    #[test]
    fn free_space_at_2_6_ghz_is_40_75_db_over_a_metre_and_sixty_more_over_a_kilometre() {
        let law = PathLoss::Friis(Friis {
            frequency: Frequency::from_hz(2_600_000_000),
        });
        for (metres, expected) in [(1.0, 40.75), (1000.0, 100.75)] {
            let user = Position::new(metres, 0.0, 0.0);
            let loss = law.loss_db(Position::default(), user, Sight::Clear);
            assert!((loss - expected).abs() < 0.005, "{metres} m: {loss}");
        }
    }
}
