//! 3GPP TR 38.901: urban macro cells and urban micro cells in street canyons.
//!
//! Path loss after Table 7.4.1-1, the probability of a line of sight after Table 7.4.2-1,
//! correlation distances of shadowing after Table 7.5-6. The numbers are not read from the report
//! itself but from ns-3's restatement of these tables, with which SEAMCAT's of the macro path
//! loss agrees. f in GHz, distances and heights in m, d over the ground where it is not
//! written d₃:
//!
//! | | macro | micro |
//! |---|---|---|
//! | clear, d ≤ d_BP | 28 + 22 log d₃ + 20 log f | 32.4 + 21 log d₃ + 20 log f |
//! | clear, beyond | 28 + 40 log d₃ + 20 log f − 9 log(d_BP² + Δh²) | 32.4 + 40 log d₃ + 20 log f − 9.5 log(d_BP² + Δh²) |
//! | blocked: the clear loss, or if more | 13.54 + 39.08 log d₃ + 20 log f − 0.6 (h − 1.5) | 22.4 + 35.3 log d₃ + 21.3 log f − 0.3 (h − 1.5) |
//! | P(clear) beyond 18 m | 18/d + (1 − 18/d) exp(−d/63), more above 13 m of height | 18/d + (1 − 18/d) exp(−d/36) |
//! | σ clear, blocked | 4 dB, 6 dB | 4 dB, 7.82 dB |
//! | correlation | 37 m, 50 m | 10 m, 13 m |
//!
//! d_BP = 4 (h_b − 1 m)(h − 1 m) f/c. The environment's height of 1 m is that of users below
//! 13 m; the report draws a larger one for some users above, which is left out.

use backlane_units::Frequency;
use libm::{exp, log10, sqrt};

use super::{Deviation, Path, Range, Sight};
use crate::level::wavelength_m;

/// An urban macro cell: antennas above the roofs, nominally at 25 m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrbanMacro {
    /// The carrier.
    pub frequency: Frequency,
}

/// An urban micro cell in a street canyon: antennas below the roofs, nominally at 10 m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrbanMicro {
    /// The carrier.
    pub frequency: Frequency,
}

/// The height at which the ground wave is reflected, in metres (Table 7.4.1-1, note 1).
const ENVIRONMENT_M: f64 = 1.0;

impl UrbanMacro {
    pub(super) const NAME: &str = "38.901 urban macro";

    pub(super) fn loss_db(self, path: &Path, sight: Sight) -> f64 {
        let log_f = log_ghz(self.frequency);
        let clear = dual_slope_db(self.frequency, path, 28.0, 22.0, 9.0);
        match sight {
            Sight::Clear => clear,
            Sight::Blocked => clear.max(
                13.54 + 39.08 * log10(path.distance_m) + 20.0 * log_f
                    - 0.6 * (path.user_height_m - 1.5),
            ),
        }
    }

    pub(super) fn clear_sight_probability(path: &Path) -> f64 {
        let away = path.ground_distance_m;
        // C′ of Table 7.4.2-1; the table ends at 23 m.
        let above = (path.user_height_m.min(23.0) - 13.0).max(0.0) / 10.0;
        let height = above * sqrt(above);
        let cube = (away / 100.0) * (away / 100.0) * (away / 100.0);
        let more = 1.0 + height * 1.25 * cube * exp(-away / 150.0);
        // The table leaves it to the reader that a probability ends at one.
        (clear_within(away, 63.0) * more).min(1.0)
    }

    pub(super) fn deviation(sight: Sight) -> Deviation {
        match sight {
            Sight::Clear => Deviation {
                sigma_db: 4.0,
                correlation_m: 37.0,
            },
            Sight::Blocked => Deviation {
                sigma_db: 6.0,
                correlation_m: 50.0,
            },
        }
    }

    pub(super) fn validity(self, path: &Path) -> Vec<Range> {
        ranges(self.frequency, path, 25.0, 13.0)
    }
}

impl UrbanMicro {
    pub(super) const NAME: &str = "38.901 urban micro";

    pub(super) fn loss_db(self, path: &Path, sight: Sight) -> f64 {
        let log_f = log_ghz(self.frequency);
        let clear = dual_slope_db(self.frequency, path, 32.4, 21.0, 9.5);
        match sight {
            Sight::Clear => clear,
            Sight::Blocked => clear.max(
                22.4 + 35.3 * log10(path.distance_m) + 21.3 * log_f
                    - 0.3 * (path.user_height_m - 1.5),
            ),
        }
    }

    pub(super) fn clear_sight_probability(path: &Path) -> f64 {
        clear_within(path.ground_distance_m, 36.0)
    }

    pub(super) fn deviation(sight: Sight) -> Deviation {
        match sight {
            Sight::Clear => Deviation {
                sigma_db: 4.0,
                correlation_m: 10.0,
            },
            Sight::Blocked => Deviation {
                sigma_db: 7.82,
                correlation_m: 13.0,
            },
        }
    }

    pub(super) fn validity(self, path: &Path) -> Vec<Range> {
        ranges(self.frequency, path, 10.0, 22.5)
    }
}

/// The clear loss: a near slope up to the breakpoint, 40 dB per decade beyond.
fn dual_slope_db(frequency: Frequency, path: &Path, base: f64, near: f64, bend: f64) -> f64 {
    // An antenna on the ground has its breakpoint at the mast, and not behind it.
    let site = (path.site_height_m - ENVIRONMENT_M).max(0.0);
    let user = (path.user_height_m - ENVIRONMENT_M).max(0.0);
    let breakpoint_m = 4.0 * site * user / wavelength_m(frequency);
    let (log_f, log_d) = (log_ghz(frequency), log10(path.distance_m));
    if path.ground_distance_m <= breakpoint_m {
        return base + near * log_d + 20.0 * log_f;
    }
    let drop = path.site_height_m - path.user_height_m;
    let corner = (breakpoint_m * breakpoint_m + drop * drop).max(1.0);
    base + 40.0 * log_d + 20.0 * log_f - bend * log10(corner)
}

/// Certain within 18 m, then falling with the distance `scale_m`.
fn clear_within(away_m: f64, scale_m: f64) -> f64 {
    let near = (18.0 / away_m).min(1.0);
    near + (1.0 - near) * exp(-away_m / scale_m)
}

fn log_ghz(frequency: Frequency) -> f64 {
    log10(frequency.as_hz() as f64 * 1e-9)
}

fn ranges(frequency: Frequency, path: &Path, site_m: f64, tallest_m: f64) -> Vec<Range> {
    let mhz = frequency.as_hz() as f64 * 1e-6;
    let (site, user) = (path.site_height_m, path.user_height_m);
    let away = path.ground_distance_m;
    vec![
        Range::frequency(mhz, 500.0, 100_000.0),
        Range::new("height of the base station", "m", site, site_m, site_m),
        Range::new("height of the user", "m", user, 1.5, tallest_m),
        Range::new("distance over the ground", "m", away, 10.0, 5000.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::PathLoss;
    use super::*;
    use crate::position::Position;

    const FREQUENCY: Frequency = Frequency::from_hz(2_600_000_000);

    /// Ground distance; macro clear, macro blocked, micro clear, micro blocked: an independent
    /// computation of the table above (Python, c = 299 792 458 m/s) at 2.6 GHz for masts of 25 m
    /// and 10 m and a user at 1.5 m. The macro breakpoint is at 416.3 m, the micro one at 156.1 m.
    const LOSSES: [[f64; 5]; 8] = [
        [10.000, 67.258, 76.833, 64.179, 70.707],
        [50.000, 74.630, 89.929, 76.508, 91.431],
        [100.000, 80.556, 100.456, 82.732, 101.894],
        [200.000, 86.988, 111.880, 91.069, 112.479],
        [400.000, 93.561, 123.557, 103.098, 123.095],
        [500.000, 97.116, 127.334, 106.973, 126.515],
        [1000.000, 109.143, 139.084, 119.013, 137.139],
        [5000.000, 137.097, 166.395, 146.971, 161.813],
    ];

    #[test]
    fn losses_are_those_of_the_table_on_both_sides_of_the_breakpoint() {
        let mast = |height| Position::new(0.0, 0.0, height);
        let macro_cell = PathLoss::UrbanMacro(UrbanMacro {
            frequency: FREQUENCY,
        });
        let micro_cell = PathLoss::UrbanMicro(UrbanMicro {
            frequency: FREQUENCY,
        });
        for [away, losses @ ..] in LOSSES {
            let user = Position::new(away, 0.0, 1.5);
            let found = [
                macro_cell.loss_db(mast(25.0), user, Sight::Clear),
                macro_cell.loss_db(mast(25.0), user, Sight::Blocked),
                micro_cell.loss_db(mast(10.0), user, Sight::Clear),
                micro_cell.loss_db(mast(10.0), user, Sight::Blocked),
            ];
            for (found, expected) in found.iter().zip(losses) {
                assert!((found - expected).abs() < 0.001, "{away} m: {found}");
            }
        }
    }

    #[test]
    fn the_clear_loss_has_no_step_at_the_breakpoint() {
        let site = Position::new(0.0, 0.0, 25.0);
        let law = UrbanMacro {
            frequency: FREQUENCY,
        };
        let loss = |x_m| law.loss_db(&Path::new(site, Position::new(x_m, 0.0, 1.5)), Sight::Clear);
        let breakpoint_m = 4.0 * 24.0 * 0.5 / wavelength_m(FREQUENCY);
        let step = loss(breakpoint_m * 1.000_001) - loss(breakpoint_m);
        assert!(step.abs() < 0.01, "{step} dB at {breakpoint_m} m");
    }

    #[test]
    fn a_line_of_sight_is_certain_near_the_mast_and_rarer_away_from_it() {
        let probability = |law: &PathLoss, away, height| {
            law.clear_sight_probability(Position::default(), Position::new(away, 0.0, height))
                .unwrap()
        };
        let macro_cell = PathLoss::UrbanMacro(UrbanMacro {
            frequency: FREQUENCY,
        });
        let micro_cell = PathLoss::UrbanMicro(UrbanMicro {
            frequency: FREQUENCY,
        });
        assert_eq!(probability(&macro_cell, 18.0, 1.5), 1.0);
        assert_eq!(probability(&micro_cell, 0.0, 1.5), 1.0);
        // 0.18 + 0.82 exp(−100/63) and 0.18 + 0.82 exp(−100/36).
        assert!((probability(&macro_cell, 100.0, 1.5) - 0.347_671).abs() < 1e-5);
        assert!((probability(&micro_cell, 100.0, 1.5) - 0.230_985).abs() < 1e-5);
        // At 23 m, C′ = 1: times 1 + 1.25 exp(−100/150).
        assert!((probability(&macro_cell, 100.0, 23.0) - 0.570_796).abs() < 1e-5);
        assert!(probability(&macro_cell, 300.0, 23.0) <= 1.0);
    }
}
