//! The median loss between a base station and a user, one law to a file.
//!
//! The first place is always the base station ("site"), also for the uplink: the loss is the same
//! both ways, but the empirical laws tell the two heights apart. Distances are straight ones
//! (with the heights), and not below a metre, so that no law meets the logarithm of zero. Used
//! outside the range in which it was measured, a law is extrapolated smoothly and
//! [`PathLoss::outside_validity`] says so.

mod added;
mod choices;
mod friis;
mod hata;
mod kun2600;
mod log_distance;
mod tr38901;
mod two_ray;

pub use added::{Added, PathLossModel};
pub use choices::{CellPathLoss, MeshPathLoss, ReferenceLoss};
pub use friis::Friis;
pub use hata::{City, Cost231Hata, Environment, OkumuraHata};
pub use kun2600::Kun2600;
pub use log_distance::LogDistance;
pub use tr38901::{UrbanMacro, UrbanMicro};
pub use two_ray::TwoRay;

use crate::position::Position;

/// Whether the user sees the base station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Line of sight.
    Clear,
    /// No line of sight.
    Blocked,
}

/// How much shadowing scatters around the median, and how far it is alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// The standard deviation, in decibels.
    pub sigma_db: f64,
    /// The distance at which the autocorrelation is 1/e, in metres.
    pub correlation_m: f64,
}

/// A law of path loss.
#[derive(Clone, Debug, PartialEq)]
pub enum PathLoss {
    /// Okumura's measurements in Hata's formula, 150 to 1500 MHz.
    OkumuraHata(OkumuraHata),
    /// Its extension to 2000 MHz by COST 231.
    Cost231Hata(Cost231Hata),
    /// Measurements at 2.6 GHz as ns-3 has them.
    Kun2600(Kun2600),
    /// A power of the distance.
    LogDistance(LogDistance),
    /// Free space.
    Friis(Friis),
    /// Free space, and beyond a crossover the fourth power of the distance.
    TwoRay(TwoRay),
    /// 3GPP TR 38.901, urban macro cell.
    UrbanMacro(UrbanMacro),
    /// 3GPP TR 38.901, urban micro cell in a street canyon.
    UrbanMicro(UrbanMicro),
    /// A model of the program.
    Added(Added),
}

impl PathLoss {
    /// The loss in decibels. `sight` matters to the laws that ask for it
    /// ([`PathLoss::clear_sight_probability`]).
    pub fn loss_db(&self, site: Position, user: Position, sight: Sight) -> f64 {
        let path = Path::new(site, user);
        match self {
            Self::UrbanMacro(law) => law.loss_db(&path, sight),
            Self::UrbanMicro(law) => law.loss_db(&path, sight),
            Self::OkumuraHata(law) => law.loss_db(&path),
            Self::Cost231Hata(law) => law.loss_db(&path),
            Self::Kun2600(_) => Kun2600::loss_db(&path),
            Self::LogDistance(law) => law.loss_db(&path),
            Self::Friis(law) => law.loss_db(&path),
            Self::TwoRay(law) => law.loss_db(&path),
            Self::Added(law) => law.loss_db(&path),
        }
    }

    /// How probable a line of sight is; `None` where the law knows no difference.
    pub fn clear_sight_probability(&self, site: Position, user: Position) -> Option<f64> {
        let path = Path::new(site, user);
        match self {
            Self::UrbanMacro(_) => Some(UrbanMacro::clear_sight_probability(&path)),
            Self::UrbanMicro(_) => Some(UrbanMicro::clear_sight_probability(&path)),
            _ => None,
        }
    }

    /// The shadowing that belongs to the law; `None` where its source gives none.
    pub fn deviation(&self, sight: Sight) -> Option<Deviation> {
        match self {
            Self::UrbanMacro(_) => Some(UrbanMacro::deviation(sight)),
            Self::UrbanMicro(_) => Some(UrbanMicro::deviation(sight)),
            _ => None,
        }
    }

    /// Says it in a sentence if the law is used outside the range in which it holds.
    pub fn outside_validity(&self, site: Position, user: Position) -> Option<String> {
        let path = Path::new(site, user);
        let (name, ranges) = match self {
            Self::OkumuraHata(law) => (OkumuraHata::NAME, law.validity(&path)),
            Self::Cost231Hata(law) => (Cost231Hata::NAME, law.validity(&path)),
            Self::Kun2600(law) => (Kun2600::NAME, law.validity()),
            Self::LogDistance(law) => (LogDistance::NAME, law.validity(&path)),
            Self::Friis(law) => (Friis::NAME, law.validity(&path)),
            Self::TwoRay(law) => (TwoRay::NAME, law.validity(&path)),
            Self::UrbanMacro(law) => (UrbanMacro::NAME, law.validity(&path)),
            Self::UrbanMicro(law) => (UrbanMicro::NAME, law.validity(&path)),
            Self::Added(_) => return None,
        };
        let outside: Vec<String> = ranges.iter().filter_map(Range::broken).collect();
        (!outside.is_empty()).then(|| {
            format!(
                "{name} is extrapolated beyond the range in which it holds: {}",
                outside.join("; ")
            )
        })
    }
}

/// What the models know of two places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The straight distance, at least a metre.
    pub distance_m: f64,
    /// The distance on the ground.
    pub ground_distance_m: f64,
    /// The height of the base station.
    pub site_height_m: f64,
    /// The height of the user.
    pub user_height_m: f64,
}

impl Path {
    fn new(site: Position, user: Position) -> Self {
        Self {
            distance_m: site.distance_m(user).max(1.0),
            ground_distance_m: site.ground_distance_m(user),
            site_height_m: site.z_m,
            user_height_m: user.z_m,
        }
    }
}

/// A quantity and the range in which a law holds.
struct Range {
    what: &'static str,
    unit: &'static str,
    value: f64,
    least: f64,
    most: f64,
}

impl Range {
    fn new(what: &'static str, unit: &'static str, value: f64, least: f64, most: f64) -> Self {
        Self {
            what,
            unit,
            value,
            least,
            most,
        }
    }

    fn frequency(mhz: f64, least: f64, most: f64) -> Self {
        Self::new("frequency", "MHz", mhz, least, most)
    }

    fn broken(&self) -> Option<String> {
        let Self {
            what,
            unit,
            value,
            least,
            most,
        } = self;
        if (least..=most).contains(&value) {
            return None;
        }
        let shown = libm::round(value * 10.0) / 10.0;
        Some(if most.is_infinite() {
            format!("{what} {shown} {unit} (at least {least} {unit})")
        } else if least == most {
            format!("{what} {shown} {unit} (made for {least} {unit})")
        } else {
            format!("{what} {shown} {unit} ({least} to {most} {unit})")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_units::Frequency;

    fn every_law() -> [PathLoss; 11] {
        let frequency = Frequency::from_hz(2_120_000_000);
        let hata = |environment| {
            PathLoss::OkumuraHata(OkumuraHata {
                frequency: Frequency::from_hz(900_000_000),
                environment,
            })
        };
        [
            hata(Environment::LargeCity),
            hata(Environment::MediumCity),
            hata(Environment::Suburban),
            hata(Environment::Open),
            PathLoss::Cost231Hata(Cost231Hata {
                frequency,
                city: City::Metropolitan,
            }),
            PathLoss::Kun2600(Kun2600 { frequency }),
            PathLoss::LogDistance(LogDistance {
                exponent: 3.0,
                reference_m: 1.0,
                reference_loss_db: 38.96,
            }),
            PathLoss::Friis(Friis { frequency }),
            PathLoss::TwoRay(TwoRay {
                frequency,
                antenna_height_m: 1.5,
            }),
            PathLoss::UrbanMacro(UrbanMacro { frequency }),
            PathLoss::UrbanMicro(UrbanMicro { frequency }),
        ]
    }

    #[test]
    fn every_law_loses_more_farther_away_and_is_finite_everywhere() {
        let site = Position::new(0.0, 0.0, 30.0);
        for law in every_law() {
            for sight in [Sight::Clear, Sight::Blocked] {
                let mut before = f64::NEG_INFINITY;
                // On the spot of the mast, and out to 50 km.
                for step in 0..100 {
                    let away = if step == 0 {
                        0.0
                    } else {
                        libm::exp2(f64::from(step) * 0.157)
                    };
                    let loss = law.loss_db(site, Position::new(away, 0.0, 1.5), sight);
                    assert!(loss.is_finite());
                    assert!(loss >= before - 1e-9, "{law:?} {sight:?} at {away} m");
                    before = loss;
                }
                assert!(law.loss_db(site, site, sight).is_finite());
            }
        }
    }

    #[test]
    fn a_law_beyond_its_range_says_by_what() {
        let law = PathLoss::Cost231Hata(Cost231Hata {
            frequency: Frequency::from_hz(2_600_000_000),
            city: City::Medium,
        });
        let site = Position::new(0.0, 0.0, 25.0);
        assert_eq!(
            law.outside_validity(site, Position::new(200.0, 0.0, 1.5))
                .unwrap(),
            "COST231-Hata is extrapolated beyond the range in which it holds: frequency 2600 MHz \
             (1500 to 2000 MHz); height of the base station 25 m (30 to 200 m); distance 201.4 m \
             (1000 to 20000 m)"
        );
        let law = PathLoss::Cost231Hata(Cost231Hata {
            frequency: Frequency::from_hz(1_800_000_000),
            city: City::Medium,
        });
        let site = Position::new(0.0, 0.0, 30.0);
        assert_eq!(
            law.outside_validity(site, Position::new(2000.0, 0.0, 1.5)),
            None
        );
    }
}
