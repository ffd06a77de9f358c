//! Two-ray ground reflection: free space up to the crossover d_c = 4π h₁ h₂/λ, and
//! L = 40 log₁₀ d − 20 log₁₀(h₁ h₂) beyond (Rappaport, Wireless Communications, §4.6, in the form
//! that ns-2 and ns-3 have). The two meet at d_c. The ripples before d_c, where the direct and the
//! reflected ray beat, are left out, as there.

use core::f64::consts::PI;

use backlane_units::Frequency;
use libm::log10;

use super::{Friis, Path, Range};
use crate::level::wavelength_m;

/// A direct ray and one off flat ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoRay {
    /// The carrier.
    pub frequency: Frequency,
    /// The height of an antenna above its place, in metres, at both ends. ns-2's is 1.5 m.
    pub antenna_height_m: f64,
}

impl TwoRay {
    pub(super) const NAME: &str = "two-ray";

    pub(super) fn loss_db(self, path: &Path) -> f64 {
        if path.distance_m < self.crossover_m(path) {
            return self.free_space().loss_db(path);
        }
        40.0 * log10(path.distance_m) - 20.0 * log10(self.heights_m2(path))
    }

    fn free_space(self) -> Friis {
        Friis {
            frequency: self.frequency,
        }
    }

    fn crossover_m(self, path: &Path) -> f64 {
        4.0 * PI * self.heights_m2(path) / wavelength_m(self.frequency)
    }

    /// The product of the heights.
    fn heights_m2(self, path: &Path) -> f64 {
        (path.site_height_m + self.antenna_height_m) * (path.user_height_m + self.antenna_height_m)
    }

    pub(super) fn validity(self, path: &Path) -> Vec<Range> {
        self.free_space().validity(path)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PathLoss, Sight};
    use super::*;
    use crate::level::decibels;
    use crate::position::Position;

    fn loss_db(metres: f64) -> f64 {
        PathLoss::TwoRay(TwoRay {
            frequency: Frequency::from_hz(914_000_000),
            antenna_height_m: 1.5,
        })
        .loss_db(
            Position::default(),
            Position::new(metres, 0.0, 0.0),
            Sight::Clear,
        )
    }

    /// ns-2's defaults: 0.28183815 W, a receiver's threshold of 3.652e-10 W and a carrier sense of
    /// 1.559e-11 W. Their distances are found by halving.
    #[test]
    fn levels_of_ns2_reach_250_and_550_m() {
        let reach_m = |threshold_w: f64| {
            let budget_db = decibels(0.281_838_15 / threshold_w);
            let (mut near, mut far) = (1.0, 10_000.0);
            for _ in 0..60 {
                let middle = f64::midpoint(near, far);
                if loss_db(middle) <= budget_db {
                    near = middle;
                } else {
                    far = middle;
                }
            }
            near
        };
        assert!(
            (reach_m(3.652e-10) - 250.0).abs() < 0.02,
            "{}",
            reach_m(3.652e-10)
        );
        assert!(
            (reach_m(1.559e-11) - 550.0).abs() < 0.05,
            "{}",
            reach_m(1.559e-11)
        );
    }

    /// 4π · 1.5² / 0.328 m = 86.2 m.
    #[test]
    fn free_space_ends_at_the_crossover_without_a_step() {
        let free = |metres: f64| 20.0 * log10(4.0 * PI * metres / 0.328_000_5);
        assert!((loss_db(86.1) - free(86.1)).abs() < 1e-3);
        assert!((loss_db(86.3) - free(86.3)).abs() < 0.03);
        assert!((loss_db(862.0) - free(86.2) - 40.0).abs() < 0.01);
    }
}
