//! Okumura-Hata and its extension COST231-Hata.
//!
//! Hata 1980, "Empirical formula for propagation loss in land mobile radio services", IEEE Trans.
//! Veh. Tech. 29(3); COST Action 231 final report, chapter 4.4. Distances in km, frequencies in
//! MHz, heights in m:
//!
//! - Hata, urban: L = 69.55 + 26.16 log f − 13.82 log h_b − a + (44.9 − 6.55 log h_b) log d
//! - suburban: L − 2 (log(f/28))² − 5.4; open: L − 4.78 (log f)² + 18.33 log f − 40.94
//! - COST 231: L = 46.3 + 33.9 log f − 13.82 log h_b − a + (44.9 − 6.55 log h_b) log d + C,
//!   C = 0 dB in a medium city, 3 dB in a metropolitan centre
//!
//! a corrects for the user's height. Of a small or medium city it is
//! (1.1 log f − 0.7) h_m − (1.56 log f − 0.8).

use backlane_param::words;
use backlane_units::Frequency;
use libm::log10;

use super::{Path, Range};

/// Okumura-Hata, 150 to 1500 MHz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OkumuraHata {
    /// The carrier.
    pub frequency: Frequency,
    /// What is built between the antennas.
    pub environment: Environment,
}

/// COST231-Hata, 1500 to 2000 MHz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost231Hata {
    /// The carrier.
    pub frequency: Frequency,
    /// The size of the city.
    pub city: City,
}

words! {
    /// Hata's kinds of area.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Environment {
        /// A large city, with high buildings.
        LargeCity = "large-city",
        /// A small or medium city.
        MediumCity = "medium-city",
        /// A suburb.
        Suburban = "suburban",
        /// Open land.
        Open = "open",
    }
}

words! {
    /// COST 231's kinds of area.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum City {
        /// A medium city or a suburb with some trees.
        Medium = "medium",
        /// A metropolitan centre.
        Metropolitan = "metropolitan",
    }
}

impl OkumuraHata {
    pub(super) const NAME: &str = "Okumura-Hata";

    pub(super) fn loss_db(self, path: &Path) -> f64 {
        let log_f = log10(megahertz(self.frequency));
        let height = path.user_height_m;
        let user = match self.environment {
            Environment::LargeCity if megahertz(self.frequency) >= 200.0 => {
                3.2 * square(log10(11.75 * above_ground(height))) - 4.97
            }
            Environment::LargeCity => 8.29 * square(log10(1.54 * above_ground(height))) - 1.1,
            _ => medium_city(log_f, height),
        };
        let urban = 69.55 + 26.16 * log_f + distance_db(path) - user;
        match self.environment {
            Environment::LargeCity | Environment::MediumCity => urban,
            Environment::Suburban => urban - 2.0 * square(log_f - log10(28.0)) - 5.4,
            Environment::Open => urban - 4.78 * square(log_f) + 18.33 * log_f - 40.94,
        }
    }

    pub(super) fn validity(self, path: &Path) -> Vec<Range> {
        ranges(self.frequency, 150.0, 1500.0, path)
    }
}

impl Cost231Hata {
    pub(super) const NAME: &str = "COST231-Hata";

    pub(super) fn loss_db(self, path: &Path) -> f64 {
        let log_f = log10(megahertz(self.frequency));
        let city = match self.city {
            City::Medium => 0.0,
            City::Metropolitan => 3.0,
        };
        46.3 + 33.9 * log_f + distance_db(path) - medium_city(log_f, path.user_height_m) + city
    }

    pub(super) fn validity(self, path: &Path) -> Vec<Range> {
        ranges(self.frequency, 1500.0, 2000.0, path)
    }
}

/// The correction for the user's height in a small or medium city.
fn medium_city(log_f: f64, height_m: f64) -> f64 {
    (1.1 * log_f - 0.7) * height_m - (1.56 * log_f - 0.8)
}

/// −13.82 log h_b + (44.9 − 6.55 log h_b) log d, in both laws.
fn distance_db(path: &Path) -> f64 {
    let log_height = log10(above_ground(path.site_height_m));
    -13.82 * log_height + (44.9 - 6.55 * log_height) * log10(path.distance_m * 1e-3)
}

/// A height that has a logarithm: an antenna on the ground counts as one metre above it.
fn above_ground(height_m: f64) -> f64 {
    height_m.max(1.0)
}

fn square(x: f64) -> f64 {
    x * x
}

fn megahertz(frequency: Frequency) -> f64 {
    frequency.as_hz() as f64 * 1e-6
}

fn ranges(frequency: Frequency, least_mhz: f64, most_mhz: f64, path: &Path) -> Vec<Range> {
    let site = path.site_height_m;
    let user = path.user_height_m;
    vec![
        Range::frequency(megahertz(frequency), least_mhz, most_mhz),
        Range::new("height of the base station", "m", site, 30.0, 200.0),
        Range::new("height of the user", "m", user, 1.0, 10.0),
        Range::new("distance", "m", path.distance_m, 1000.0, 20_000.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{PathLoss, Sight};
    use super::*;
    use crate::position::Position;

    /// The loss over `km` of straight way from a mast of `site_m` to a user at 1.5 m.
    fn over(law: &PathLoss, km: f64, site_m: f64) -> f64 {
        let drop_m = site_m - 1.5;
        let ground_m = ((km * 1e3) * (km * 1e3) - drop_m * drop_m).sqrt();
        let site = Position::new(0.0, 0.0, site_m);
        law.loss_db(site, Position::new(ground_m, 0.0, 1.5), Sight::Blocked)
    }

    #[test]
    fn cost231_hata_has_the_values_of_its_formula() {
        let law = |mhz: u64| {
            PathLoss::Cost231Hata(Cost231Hata {
                frequency: Frequency::from_hz(mhz * 1_000_000),
                city: City::Medium,
            })
        };
        // Worked out by hand for h_b = 30 m, h_m = 1.5 m at 2120 MHz.
        for (km, expected) in [
            (0.1, 103.4),
            (0.2, 114.0),
            (0.5, 128.0),
            (1.0, 138.6),
            (2.0, 149.2),
        ] {
            let loss = over(&law(2120), km, 30.0);
            assert!((loss - expected).abs() < 0.06, "{km} km: {loss}");
        }
        let higher = over(&law(2600), 1.0, 30.0) - over(&law(2120), 1.0, 30.0);
        assert!((higher - 3.0).abs() < 0.05, "2600 MHz: {higher} dB more");
        let metropolitan = PathLoss::Cost231Hata(Cost231Hata {
            frequency: Frequency::from_hz(2_120_000_000),
            city: City::Metropolitan,
        });
        let more = over(&metropolitan, 1.0, 30.0) - over(&law(2120), 1.0, 30.0);
        assert!((more - 3.0).abs() < 1e-9);
    }

    /// Values of an independent computation of the formulas (Python, double precision) at
    /// 900 MHz, 5 km, a mast of 50 m and a user at 1.5 m.
    #[test]
    fn okumura_hata_has_the_values_of_its_formula() {
        let law = |environment| {
            PathLoss::OkumuraHata(OkumuraHata {
                frequency: Frequency::from_hz(900_000_000),
                environment,
            })
        };
        for (environment, expected) in [
            (Environment::LargeCity, HATA_900[0]),
            (Environment::MediumCity, HATA_900[1]),
            (Environment::Suburban, HATA_900[2]),
            (Environment::Open, HATA_900[3]),
        ] {
            let loss = over(&law(environment), 5.0, 50.0);
            assert!((loss - expected).abs() < 1e-6, "{environment:?}: {loss}");
        }
        let below_200 = PathLoss::OkumuraHata(OkumuraHata {
            frequency: Frequency::from_hz(160_000_000),
            environment: Environment::LargeCity,
        });
        let loss = over(&below_200, 5.0, 50.0);
        assert!((loss - HATA_160_LARGE).abs() < 1e-6, "{loss}");
    }

    const HATA_900: [f64; 4] = [146.959_575, 146.942_775, 137.000_167, 118.436_356];
    const HATA_160_LARGE: f64 = 127.339_400;
}
