//! Measurements at 2.6 GHz.
//!
//! L = 36 + 26 log₁₀ d, d in metres: Sun Kun, Wang Ping and Li Yingze 2008, "Path loss models for
//! suburban scenario at 2.3 GHz, 2.6 GHz and 3.5 GHz", ISAPE, as ns-3's model of this name has it
//! (2500 to 2690 MHz). Heights are not in it.

use backlane_units::Frequency;
use libm::log10;

use super::{Path, Range};

/// The law measured at 2.6 GHz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kun2600 {
    /// The carrier; the loss does not depend on it, its validity does.
    pub frequency: Frequency,
}

impl Kun2600 {
    pub(super) const NAME: &str = "kun2600";

    pub(super) fn loss_db(path: &Path) -> f64 {
        36.0 + 26.0 * log10(path.distance_m)
    }

    pub(super) fn validity(self) -> Vec<Range> {
        vec![Range::frequency(
            self.frequency.as_hz() as f64 * 1e-6,
            2500.0,
            2690.0,
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PathLoss, Sight};
    use super::*;
    use crate::position::Position;

    fn law(mhz: u64) -> PathLoss {
        PathLoss::Kun2600(Kun2600 {
            frequency: Frequency::from_hz(mhz * 1_000_000),
        })
    }

    #[test]
    fn kun2600_has_the_values_of_its_formula() {
        // 36 + 26 log d worked out by hand.
        for (metres, expected) in [
            (100.0, 88.0),
            (200.0, 95.83),
            (500.0, 106.17),
            (700.0, 109.97),
            (1000.0, 114.0),
            (2000.0, 121.83),
        ] {
            let user = Position::new(metres, 0.0, 30.0);
            let loss = law(2600).loss_db(Position::new(0.0, 0.0, 30.0), user, Sight::Blocked);
            assert!((loss - expected).abs() < 0.005, "{metres} m: {loss}");
        }
    }

    #[test]
    fn kun2600_is_for_its_band_alone() {
        let (site, user) = (Position::default(), Position::new(500.0, 0.0, 0.0));
        assert_eq!(law(2600).outside_validity(site, user), None);
        assert_eq!(
            law(2120).outside_validity(site, user).unwrap(),
            "kun2600 is extrapolated beyond the range in which it holds: frequency 2120 MHz (2500 \
             to 2690 MHz)"
        );
    }
}
